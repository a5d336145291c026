"""Our entries into the text of a settings file, and out of it again. Pure: text in, text out."""

from __future__ import annotations

from typing import NamedTuple

from . import entries, jsonedit
from .jsonedit import Node, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .entries import Entries

_EXPECTED = {"{": "an object {…}", "[": "an array […]"}


class WrongShape(ValueError):
    """Valid JSON in which our entries do not fit."""


class Hook(NamedTuple):
    """One of our hooks in a settings file, with its place there; `matcher` is "" where it always runs."""

    event: str
    matcher: str
    command: str
    group: int
    at: int


def hooks(text: str, root: str) -> list[Hook]:
    """Our hooks in a settings file."""
    document, ours = parse(text), []
    # Of an event that stands twice, the last one counts.
    for event in dict.fromkeys(child.key for child in _children(document, "hooks")):
        for group, holder in enumerate(_children(document, "hooks", event)):
            node = holder.find("matcher")
            matcher = "" if node is None or node.value == "*" else node.value
            for index, hook in enumerate(_children(holder, "hooks")):
                command = hook.find("command")
                if command is not None and entries.is_our_command(command.value, root):
                    ours.append(Hook(event, matcher, command.value, group, index))
    return ours


def merge(text: str, wanted: Entries, root: str, former_rules: tuple[str, ...], original: str | None) -> str:
    """`text` with our entries at the end; older ones are removed first."""
    _check_shape(text, wanted)
    text = strip(text, root, (*wanted.rules, *former_rules), original)
    for event, group in wanted.groups.items():
        text = _with_item(text, ("hooks", event), group)
    for rule in wanted.rules:
        if rule not in allowed(text):
            text = _with_item(text, ("permissions", "allow"), rule)
    return text


def strip(text: str, root: str, rules: tuple[str, ...], original: str | None) -> str:
    """`text` without our entries and without the containers made for them.

    `original` is the text before the install: containers and rules that it holds stay.
    """
    before = parse(original) if original is not None and original.strip() else None
    for hook in reversed(hooks(text, root)):
        path = ("hooks", hook.event, hook.group, "hooks", hook.at)
        is_alone = len(_children(parse(text), *path[:-1])) == 1
        text = _pruned(jsonedit.remove(text, path[:3] if is_alone else path), ("hooks", hook.event), before)
    earlier = allowed(original) if original is not None and before is not None else []
    for index, rule in reversed([*enumerate(allowed(text))]):
        if rule not in earlier and (entries.is_our_rule(rule) or rule in rules):
            text = _pruned(jsonedit.remove(text, ("permissions", "allow", index)), ("permissions", "allow"), before)
    return text


def allowed(text: str) -> list[str]:
    """The permission rules of the file."""
    return [child.value for child in _children(parse(text), "permissions", "allow")]


def _check_shape(text: str, wanted: Entries) -> None:
    paths: list[tuple[str, ...]] = [(), ("hooks",), ("permissions",)]
    lists = [*(("hooks", event) for event in wanted.groups), ("permissions", "allow")]
    for path in [*paths, *lists]:
        node, kind = parse(text).find(*path), "[" if path in lists else "{"
        if node is not None and node.kind != kind:
            name = '"%s"' % ".".join(path) if path else "the whole document"
            raise WrongShape("%s should be %s, but is %s" % (name, _EXPECTED[kind], node.describe()))


def _with_item(text: str, path: tuple[str, str], item: object) -> str:
    """Append to the list at a path of two keys, which is made if it is missing."""
    first, second = path
    node = parse(text)
    if node.find(first) is None:
        return jsonedit.append(text, (), {second: [item]}, first)
    if node.find(first, second) is None:
        return jsonedit.append(text, (first,), [item], second)
    return jsonedit.append(text, path, item)


def _pruned(text: str, path: tuple[str, ...], before: Node | None) -> str:
    """Remove the emptied container, and then its parent, unless they were there before the install."""
    while path:
        node = parse(text).find(*path)
        if node is None or node.children or (before is not None and before.find(*path) is not None):
            return text
        text = jsonedit.remove(text, path)
        path = path[:-1]
    return text


def _children(node: Node, *path: str | int) -> list[Node]:
    holder = node.find(*path)
    return holder.children if holder is not None else []
