"""Our entries into the text of a settings file, and out of it again. Pure: text in, text out."""

from __future__ import annotations

from . import entries as ours
from . import jsonedit
from .jsontree import Node, equals, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .entries import Entries

_EVERY = "*"  # as good as no matcher
_EXPECTED = {"{": "an object {…}", "[": "an array […]"}


class WrongShape(ValueError):
    """Valid JSON in which our entries have no place."""


def merge(text: str, wanted: Entries, root: str, former_rules: tuple[str, ...] = ()) -> str:
    """`text` with our entries: missing ones appended, older ones brought up to date where they stand."""
    _check_shape(text, wanted)
    for event, group in wanted.groups.items():
        text = _with_group(text, event, group, root)
    for event in _events(text):
        if event not in wanted.groups:
            text = _without_event(text, event, root, None)
    return _with_rules(text, wanted.rules, former_rules)


def strip(text: str, root: str, rules: tuple[str, ...], original: str | None) -> str:
    """`text` without our entries, and without the keys that were made for them.

    `original` is the text before we came: what is empty or allowed there stays so.
    """
    before = parse(original) if original is not None and original.strip() else None
    for event in _events(text):
        text = _without_event(text, event, root, before)
    touched = _without_rules(text, rules, before)
    return _prune(touched, ("permissions", "allow"), before) if touched != text else text


def holds_ours(text: str, root: str) -> bool:
    node = parse(text)
    return any(any(_our_hooks(node, event, root)) for event in _events(text))


def commands(text: str, root: str) -> dict[str, str]:
    """Our commands by event, as they stand in the file."""
    node = parse(text)
    found = {}
    for event in _events(text):
        for group, index in _our_hooks(node, event, root):
            command = node.find(("hooks", event, group, "hooks", index, "command"))
            found[event] = command.string if command else ""
    return found


def matchers(text: str, root: str) -> dict[str, str]:
    """What each of our commands is for, as `commands` finds them; "" for every occasion."""
    node = parse(text)
    places = ((event, group) for event in _events(text) for group, _ in _our_hooks(node, event, root))
    return {event: _matcher(node.find(("hooks", event, group))) for event, group in places}


def allowed(text: str) -> list[str]:
    """The permission rules of the file."""
    return [child.string for child in _children(parse(text), ("permissions", "allow"))]


def _check_shape(text: str, wanted: Entries) -> None:
    node = parse(text)
    paths: list[tuple[tuple[str, ...], str]] = [((), "{"), (("hooks",), "{"), (("permissions",), "{")]
    paths += [(("hooks", event), "[") for event in wanted.groups]
    paths.append((("permissions", "allow"), "["))
    for path, kind in paths:
        found = node.find(path)
        if found is not None and found.kind != kind:
            name = '"%s"' % ".".join(path) if path else "the whole document"
            raise WrongShape("%s should be %s, but is %s" % (name, _EXPECTED[kind], found.describe()))


def _with_group(text: str, event: str, group: dict[str, Any], root: str) -> str:
    text = _without_hooks(text, event, root, keep=1)
    node = parse(text)
    place = next(_our_hooks(node, event, root), None)
    if place is not None:
        index, hook = place
        shared = len(_children(node, ("hooks", event, index, "hooks"))) > 1
        if not shared or _matcher(node.find(("hooks", event, index))) == _wanted_matcher(group):
            return _updated(text, event, index, hook, group)
        text = _without_hooks(text, event, root, keep=0)
        node = parse(text)
    if node.get("hooks") is None:
        return jsonedit.add_member(text, (), "hooks", {event: [group]})
    if node.find(("hooks", event)) is None:
        return jsonedit.add_member(text, ("hooks",), event, [group])
    return jsonedit.append(text, ("hooks", event), group)


def _updated(text: str, event: str, group: int, hook: int, wanted: dict[str, Any]) -> str:
    """Our fields set in the hook at that place; what else a person added there stays."""
    here: tuple[str | int, ...] = ("hooks", event, group)
    for key, value in wanted["hooks"][0].items():
        text = _set(text, (*here, "hooks", hook), key, value)
    if _matcher(parse(text).find(here)) != _wanted_matcher(wanted):
        text = _set(text, here, "matcher", wanted.get("matcher", ""))
    return text


def _set(text: str, path: tuple[str | int, ...], key: str, value: Any) -> str:
    node = parse(text).find((*path, key))
    if node is None:
        return jsonedit.add_member(text, path, key, value)
    return text if equals(node, text, value) else jsonedit.replace(text, (*path, key), value)


def _with_rules(text: str, rules: list[str], former: tuple[str, ...]) -> str:
    for rule in rules:
        node = parse(text)
        present = allowed(text)
        if rule in present:
            continue
        bash = ours.is_our_rule(rule)
        old = [i for i, r in enumerate(present) if r not in rules and (ours.is_our_rule(r) if bash else r in former)]
        if old:
            text = jsonedit.replace(text, ("permissions", "allow", old[0]), rule)
        elif node.get("permissions") is None:
            text = jsonedit.add_member(text, (), "permissions", {"allow": [rule]})
        elif node.find(("permissions", "allow")) is None:
            text = jsonedit.add_member(text, ("permissions",), "allow", [rule])
        else:
            text = jsonedit.append(text, ("permissions", "allow"), rule)
    return text


def _without_event(text: str, event: str, root: str, before: Node | None) -> str:
    touched = _without_hooks(text, event, root, keep=0)
    return _prune(touched, ("hooks", event), before) if touched != text else text


def _without_hooks(text: str, event: str, root: str, *, keep: int) -> str:
    """All our hooks of the event removed but the first `keep`, with the groups that held nothing else."""
    while True:
        node = parse(text)
        places = list(_our_hooks(node, event, root))[keep:]
        if not places:
            return text
        group, hook = places[-1]
        here: tuple[str | int, ...] = ("hooks", event, group)
        alone = len(_children(node, (*here, "hooks"))) == 1
        text = jsonedit.remove(text, here if alone else (*here, "hooks", hook))


def _without_rules(text: str, rules: tuple[str, ...], before: Node | None) -> str:
    kept = {child.string for child in _children(before, ("permissions", "allow"))} if before else set()
    while True:
        mine = [i for i, r in enumerate(allowed(text)) if r not in kept and (ours.is_our_rule(r) or r in rules)]
        if not mine:
            return text
        text = jsonedit.remove(text, ("permissions", "allow", mine[-1]))


def _prune(text: str, path: tuple[str | int, ...], before: Node | None) -> str:
    """Remove the emptied container, and then its parent, unless they were there before us."""
    while path:
        node = parse(text).find(path)
        if node is None or node.children or (before is not None and before.find(path) is not None):
            return text
        text = jsonedit.remove(text, path)
        path = path[:-1]
    return text


def _our_hooks(node: Node, event: str, root: str) -> Iterator[tuple[int, int]]:
    for group, holder in enumerate(_children(node, ("hooks", event))):
        for index, hook in enumerate(_children(holder, ("hooks",))):
            command = hook.get("command")
            if command is not None and command.kind == '"' and ours.is_our_command(command.string, root):
                yield group, index


def _events(text: str) -> list[str]:
    return [child.key for child in _children(parse(text), ("hooks",)) if child.key is not None]


def _matcher(group: Node | None) -> str:
    found = group.get("matcher") if group is not None else None
    return "" if found is None or found.string == _EVERY else found.string


def _wanted_matcher(group: dict[str, Any]) -> str:
    wanted = str(group.get("matcher", ""))
    return "" if wanted == _EVERY else wanted


def _children(node: Node, path: tuple[str | int, ...]) -> list[Node]:
    found = node.find(path)
    return found.children if found is not None else []
