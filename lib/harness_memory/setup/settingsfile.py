"""A settings file of the client: our entries in its text, and the file itself, whose links and mode stay."""

from __future__ import annotations

import os
from typing import Mapping, NamedTuple

from ..base import files, settings
from ..cli.output import Refusal
from . import entries, jsonedit
from .entries import Entries
from .jsonedit import Node, parse

SCOPES = ("user", "project", "local")
_ALLOW = ("permissions", "allow")


class Hook(NamedTuple):
    """One of our hooks; `matcher` is "" where it always runs, `node` what goes with it: its group, if it is alone."""

    event: str
    matcher: str
    command: str
    node: Node


def locate(scope: str, env: Mapping[str, str], home: str, cwd: str) -> str:
    config = env.get(settings.ENV_CONFIG_DIR, "") if scope == "user" else ""
    folder = os.path.abspath(config) if config else os.path.join(home if scope == "user" else cwd, settings.CLAUDE_DIR)
    return os.path.join(folder, "settings.local.json" if scope == "local" else "settings.json")


def load(path: str) -> tuple[bytes | None, str]:
    """The bytes of the file (None without one) and the text to edit; Refusal when our entries do not fit into it."""
    data = read(path)
    text = (data or b"").decode("utf-8", "surrogateescape")  # other bytes pass through unchanged
    # To the client, an empty file is an empty object.
    text = text if text.strip(" \t\r\n" + jsonedit.BOM) else text.rstrip(" \t\r\n") + "{}\n"
    try:
        document = parse(text)
    except jsonedit.Invalid as error:
        raise Refusal("%s:%s. Correct it and try again." % (path, error)) from None
    lists = [*(("hooks", event) for event, _, _ in entries.HOOKS), _ALLOW]
    for keys in ((), ("hooks",), ("permissions",), *lists):
        node, is_list = document.find(*keys), keys in lists
        if node is not None and node.kind != ("[" if is_list else "{"):
            shape = "an array […]" if is_list else "an object {…}"
            name = '"%s"' % ".".join(keys) if keys else "the whole document"
            raise Refusal("%s: %s should be %s. Correct it and try again." % (path, name, shape))
    return data, text


def hooks(text: str, root: str) -> list[Hook]:
    """Our hooks in a settings file; `root` is the folder of this installation."""
    document, ours = parse(text), []
    for event in dict.fromkeys(child.key for child in document.below("hooks")):
        for group in document.below("hooks", event):
            node = group.find("matcher")
            matcher = "" if node is None or node.value == "*" else node.value
            for hook in group.below("hooks"):
                command = hook.find("command")
                if command is not None and entries.is_our_command(command.value, root):
                    is_alone = len(group.below("hooks")) == 1
                    ours.append(Hook(event, matcher, command.value, group if is_alone else hook))
    return ours


def disables_hooks(text: str) -> bool:
    switch = parse(text).find("disableAllHooks")
    return switch is not None and switch.kind == "t"


def merge(text: str, wanted: Entries) -> str:
    """`text` with our entries at the end."""
    items = [(("hooks", event), group) for event, group in wanted.groups.items()]
    allowed = [rule.value for rule in parse(text).below(*_ALLOW)]
    for (first, second), item in [*items, *((_ALLOW, rule) for rule in wanted.rules if rule not in allowed)]:
        document = parse(text)
        outer, inner = document.find(first), document.find(first, second)
        if inner is not None:
            text = jsonedit.append(text, inner, item)
        elif outer is not None:
            text = jsonedit.append(text, outer, [item], second)
        else:
            text = jsonedit.append(text, document, {second: [item]}, first)
    return text


def strip(text: str, root: str, rules: list[str]) -> str:
    """`text` without our entries and the containers that held nothing else."""
    while True:
        allowed = parse(text).below(*_ALLOW)
        ours = [rule for rule in allowed if rule.value in rules or entries.is_our_rule(rule.value)]
        ours += [hook.node for hook in hooks(text, root)]
        if not ours:
            return text
        node = ours[-1]
        while node.parent and node.parent.parent and len(node.parent.children) == 1:
            node = node.parent
        text = jsonedit.remove(text, node)


def read(path: str) -> bytes | None:
    try:
        return files.read(os.path.realpath(path), of_anyone=True)
    except OSError as error:
        raise Refusal("%s: cannot be read (%s)." % (path, error.strerror)) from None


def replace(path: str, before: bytes | None, after: bytes | None, backup: str = "") -> None:
    """Replace `before` by `after` (None: no file), with the same mode; keep `before` in `backup`."""
    target = os.path.realpath(path)
    try:
        mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o600
        # Replacing a file needs no right to write it, but a read-only file is meant to stay.
        if before is not None and not (mode & 0o222 and os.access(target, os.W_OK)):
            raise Refusal("%s: read-only. Make it writable and try again." % path)
        if read(path) != before:  # the client writes its settings at any time
            raise Refusal("%s: another program has changed it. Run it again." % path)
        for name, data in ((backup, before), (target, after)):
            if name and data is not None:
                files.write(name, data, durable=True)
                os.chmod(name, mode)
        if after is None:
            os.unlink(target)
    except OSError as error:
        raise Refusal("%s: cannot be written (%s)." % (path, error.strerror)) from None
