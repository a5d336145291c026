"""A settings file of the client: our entries in its text, and the file itself, whose links, mode and owner stay."""

from __future__ import annotations

import os
import stat
import time
from typing import Mapping, NamedTuple

from ..base import files, settings
from ..cli.output import Refusal
from . import entries, jsonedit
from .jsonedit import Invalid, Node, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .entries import Entries

SCOPES = ("user", "project", "local")
_ALLOW = ("permissions", "allow")


class Hook(NamedTuple):
    """One of our hooks in a settings file, with its place there; `matcher` is "" where it always runs."""

    event: str
    matcher: str
    command: str
    group: int
    at: int


def locate(scope: str, env: Mapping[str, str], home: str, cwd: str) -> str:
    if scope == "user":
        config = env.get(settings.ENV_CONFIG_DIR) or os.path.join(home, settings.CLAUDE_DIR)
        return os.path.join(os.path.abspath(config), "settings.json")
    name = "settings.json" if scope == "project" else "settings.local.json"
    return os.path.join(cwd, settings.CLAUDE_DIR, name)


# The text ----------------------------------------------------------------------------------------
def hooks(text: str, root: str) -> list[Hook]:
    """Our hooks in a settings file; `root` is the folder of this installation."""
    document, ours = parse(text), []
    # Of an event that stands twice, the last one counts.
    for event in dict.fromkeys(child.key for child in document.below("hooks")):
        for group, holder in enumerate(document.below("hooks", event)):
            node = holder.find("matcher")
            matcher = "" if node is None or node.value == "*" else node.value
            for index, hook in enumerate(holder.below("hooks")):
                command = hook.find("command")
                if command is not None and entries.is_our_command(command.value, root):
                    ours.append(Hook(event, matcher, command.value, group, index))
    return ours


def disables_hooks(text: str) -> bool:
    switch = parse(text).find("disableAllHooks")
    return switch is not None and switch.kind == "t"


def merge(text: str, wanted: Entries, root: str, former_rules: tuple[str, ...], original: str | None) -> str:
    """`text` with our entries at the end; older ones are removed first."""
    text = strip(text, root, (*wanted.rules, *former_rules), original)
    items = [(("hooks", event), group) for event, group in wanted.groups.items()]
    allowed = [rule.value for rule in parse(text).below(*_ALLOW)]
    for (first, second), item in [*items, *((_ALLOW, rule) for rule in wanted.rules if rule not in allowed)]:
        if parse(text).find(first) is None:
            text = jsonedit.append(text, (), {second: [item]}, first)
        elif parse(text).find(first, second) is None:
            text = jsonedit.append(text, (first,), [item], second)
        else:
            text = jsonedit.append(text, (first, second), item)
    return text


def strip(text: str, root: str, rules: tuple[str, ...], original: str | None) -> str:
    """`text` without our entries and without the containers made for them.

    `original` is the text before the install: containers and rules that it holds stay.
    """
    before = parse(original if original is not None else "null")
    for hook in reversed(hooks(text, root)):
        path = ("hooks", hook.event, hook.group, "hooks", hook.at)
        is_alone = len(parse(text).below(*path[:-1])) == 1
        text = _pruned(jsonedit.remove(text, path[:3] if is_alone else path), path[:2], before)
    earlier = [rule.value for rule in before.below(*_ALLOW)]
    for index, rule in reversed([*enumerate(node.value for node in parse(text).below(*_ALLOW))]):
        if rule not in earlier and (entries.is_our_rule(rule) or rule in rules):
            text = _pruned(jsonedit.remove(text, (*_ALLOW, index)), _ALLOW, before)
    return text


def _pruned(text: str, path: tuple[str | int, ...], before: Node) -> str:
    """Remove the emptied container, and then its parent, unless they were there before the install."""
    while path and not parse(text).below(*path) and before.find(*path) is None:
        text, path = jsonedit.remove(text, path), path[:-1]
    return text


def check_shape(path: str, text: str) -> None:
    """Refuse valid JSON in which our entries do not fit."""
    lists = [*(("hooks", event) for event, _, _ in entries.HOOKS), _ALLOW]
    for keys in ((), ("hooks",), ("permissions",), *lists):
        node, is_list = parse(text).find(*keys), keys in lists
        if node is not None and node.kind != ("[" if is_list else "{"):
            shape = "an array […]" if is_list else "an object {…}"
            name = '"%s"' % ".".join(keys) if keys else "the whole document"
            raise Refusal("%s: %s should be %s. Correct it and try again." % (path, name, shape))


# The file ----------------------------------------------------------------------------------------
def read(path: str) -> bytes | None:
    try:
        return files.read(os.path.realpath(path), of_anyone=True)
    except OSError as error:
        raise Refusal("%s: cannot be read (%s)." % (path, error.strerror)) from None


def load(path: str) -> tuple[bytes | None, str]:
    """The bytes of the file (None without one) and the text to edit; an empty file is an empty object to the client."""
    data = read(path)
    text = (data or b"").decode("utf-8", "surrogateescape")  # other bytes pass through unchanged
    text = text if text.strip(" \t\r\n" + jsonedit.BOM) else text.rstrip(" \t\r\n") + "{}\n"
    try:
        parse(text)
    except Invalid as error:
        raise Refusal("%s:%s. Correct it and try again." % (path, error)) from None
    return data, text


def replace(path: str, before: bytes | None, after: bytes | None, like: str = "") -> None:
    """Replace `before` by `after` (None: no file), with the mode and owner of `before`, or of `like`."""
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, ".%s.%d%s" % (name, os.getpid(), settings.TEMP_SUFFIX))
    files.remove_temporaries(folder, time.time() - settings.STRAY_FILE_SECONDS, of=name)
    try:
        status = os.stat(like or target) if os.path.exists(like or target) else None
        # Replacing a file needs no right to write it, but a read-only file is meant to stay.
        if status is not None and not (status.st_mode & 0o222 and os.access(like or target, os.W_OK)):
            raise Refusal("%s: read-only. Make it writable and try again." % path)
        if after is not None:
            files.write(temporary, after, durable=True)
        if after is not None and status is not None:
            if hasattr(os, "geteuid") and os.geteuid() == 0:
                os.chown(temporary, status.st_uid, status.st_gid)
            os.chmod(temporary, stat.S_IMODE(status.st_mode))
        if read(path) != before:  # the client writes its settings at any time
            raise Refusal("%s: another program has changed it. Run it again." % path)
        if after is None:
            os.unlink(target)
        else:
            os.replace(temporary, target)
    except OSError as error:
        raise Refusal("%s: cannot be written (%s)." % (path, error.strerror)) from None
    finally:
        files.remove(temporary)
