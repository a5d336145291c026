"""A settings file of the client: our hooks, their commands and permission rules, and the document that holds them.

A command must be harmless when its files are gone: `python3 missing.py` exits with 2, which makes the client
block the prompt. So the shell tests for the script first and sets the exit code itself. Where the script is missing or
the interpreter cannot run it, the start of a session says so; the guard asks only if its script is there, because a
person who has deleted the folder wants no guard.
"""

from __future__ import annotations

import copy
import glob
import json
import os
import re
from typing import Any, Dict, Iterator, Mapping, NamedTuple

from ..base import files, invocation, settings, shape, tables
from ..base.process import PIN
from ..cli.output import Refusal

_TABLE = tables.read(__file__[: -len(".py")] + ".txt")
HOOKS = [(event, script) for event, script, *_ in _TABLE["hooks"]]
_OTHERWISE = {script: answer for _, script, *answers in _TABLE["hooks"] for answer in answers}
MANAGED = [path for (path,) in _TABLE["managed"]]
OURS = [name for (name,) in _TABLE["store"]]
Document = Dict[str, Any]  # of a settings file, and parts of it
_SPEC = {"hooks?": {event + "?": ["any"] for event, _ in HOOKS}, "permissions?": {"allow?": ["any"]}}
GUARD_EVENT = "PreToolUse"
UNGUARDED = "Skill"  # the matcher of that event without the guard: profiles are all that is left to do
MARKER = "harness-memory"  # the last word of every command of ours, a comment to the shell
_OPTIONS = "-I -S -X utf8"
_OUR_COMMAND = re.compile(
    r"[/\\](?:hooks[/\\][a-z_]+\.py|%s)(?:\b.* # |\"? (?:\"%s[^\"]*\" )?)%s\s*$" % (invocation.SCRIPT, PIN, MARKER),
    re.DOTALL,
)
_PINNED = re.compile(r"m='(?:[^']|'\"'\"')*';|\"%s[^\"]*\"" % PIN)
_OUR_RULE = re.compile(r"^Bash\(.*[/\\]%s['\"]? memory \*\)$" % invocation.SCRIPT, re.DOTALL)
SCOPES = ("user", "project", "local")
STATUS_LINE = "statusLine"
_BLANK = " \t\r\n\ufeff"  # around the document: a BOM too
_OUR_STATUS_LINE = re.compile(r"[/\\]%s['\"]? (?:['\"]?%s.* )?statusline$" % (invocation.SCRIPT, PIN), re.DOTALL)


class Entries(NamedTuple):
    """Our part of a settings file: one hook group an event, permission rules, the command of a status line or ""."""

    groups: dict[str, Document]
    rules: list[str]
    has_guard: bool
    status_line: str = ""


def entries(
    root: str,
    interpreter: str,
    stores: list[str],
    home: str,
    *,
    windows: bool = invocation.WINDOWS,
    guard: bool = True,
    auto: bool = False,
    status_line: bool = False,
) -> Entries:
    """`stores`: the path of the memory, and its real path behind links, because the client asks for both."""
    groups: dict[str, Document] = {}
    tree, python = (invocation.slashes(path) if windows else path for path in (root, interpreter))
    for event, script in HOOKS:
        command = hook_command(interpreter, "%s/hooks/%s" % (tree, script), stores[0], windows=windows)
        hook: Document = {"type": "command", "command": command, "timeout": settings.HOOK_TIMEOUT_SECONDS}
        groups[event] = {"hooks": [hook]}
        if event == GUARD_EVENT and guard:
            hook["onFailure"] = "block"  # older clients ignore it
        if event == GUARD_EVENT:
            groups[event] = {"matcher": "*" if guard else UNGUARDED, "hooks": [hook]}
        if auto and event in ("SessionStart", "SessionEnd"):
            # It detaches itself too: a client that does not know "async" would wait for it.
            path, words = "%s/%s" % (tree, invocation.SCRIPT), "memory sync --background"
            command = hook_command(interpreter, path, stores[0], words, windows=windows)
            groups[event] = {"hooks": [{**hook, "command": command, "async": True}, hook]}
    command = invocation.command(root, interpreter, windows=windows)
    # It lets every verb pass: the guard asks about those that are the user's to decide.
    rules = [*(read_rule(path, home) for path in stores), *["Bash(%s *)" % command] * guard]
    store = invocation.slashes(stores[0]) if windows else stores[0]
    parts = map(invocation.quote, (python, "%s/%s" % (tree, invocation.SCRIPT), PIN + store))
    return Entries(groups, rules, guard, "%s -I %s %s statusline" % (*parts,) if status_line else "")


def hook_command(interpreter: str, script: str, store: str, words: str = "", *, windows: bool = False) -> str:
    """The command names the store: a project's settings may put anything into the environment of a hook."""
    words = " " + words if words else ""
    if windows:  # the client may use any of three shells there: only words that all of them read alike
        python = invocation.slashes(interpreter)
        python = '"%s"' % python if " " in python else python  # PowerShell takes a quoted first word for a string
        launch = (_TABLE["windows"][0][0], invocation.slashes(script), PIN + invocation.slashes(store), words, MARKER)
        return '%s %s -c "%s" "%s" "%s"%s %s' % (python, _OPTIONS, *launch)
    name = os.path.basename(script)
    start = '"$p" %s "$s" "%s$m"%s 2>/dev/null' % (_OPTIONS, PIN, words)
    if name in _OTHERWISE:
        missing = "" if name == "session_start.py" else '[ ! -f "$s" ] || '
        start = "%s%s || echo '%s'" % (missing, start, _OTHERWISE[name])
    else:
        start = '[ -f "$s" ] && ' + start
    command = 'p=%s; s=%s; m=%s; [ -x "$p" ] || p=python3; %s; exit 0 # %s'
    return command % (*map(invocation.single_quotes, (interpreter, script, store)), start, MARKER)


def with_store(command: str, store: str) -> str:
    """An installed command that works on another store, for a test of it."""
    quoted = ("m=%s;" % invocation.single_quotes(store), '"%s%s"' % (PIN, store))
    return _PINNED.sub(lambda match: quoted[match.group().startswith('"')], command)


def read_rule(store: str, home: str) -> str:
    """The rule that opens the store to the model's Read tool (and to `cat` and `grep`)."""
    if store == os.path.join(home, settings.CLAUDE_DIR, settings.STORE_DIR):
        return "Read(~/%s/%s/**)" % (settings.CLAUDE_DIR, settings.STORE_DIR)
    path = invocation.slashes(store) if os.name == "nt" else store
    path = "/" + path[0].lower() + path[2:] if path[1:2] == ":" else path  # C:/Users is /c/Users in a rule
    return "Read(/%s/**)" % re.sub(r"([\\\[\]*?])", r"\\\1", path)


def is_our_command(command: str, root: str) -> bool:
    """A command written by any version of ours, or by hand for this very tree."""
    script = r"(?:^|[\s\"'=])%s/[a-z_]+\.py\b" % re.escape(invocation.slashes(os.path.join(root, "hooks")))
    return bool(_OUR_COMMAND.search(command) or re.search(script, invocation.slashes(command)))


class Hook(NamedTuple):
    """One of our hooks; `matcher` is "" where it always runs."""

    event: str
    matcher: str
    command: str


def locate(scope: str, env: Mapping[str, str], home: str, cwd: str) -> str:
    config = env.get(settings.ENV_CONFIG_DIR, "") if scope == "user" else ""
    folder = os.path.abspath(config) if config else os.path.join(home if scope == "user" else cwd, settings.CLAUDE_DIR)
    return os.path.join(folder, "settings.local.json" if scope == "local" else "settings.json")


def load(path: str) -> tuple[bytes | None, Document]:
    """The bytes of the file (None without one) and its document; Refusal when our entries do not fit into it."""
    data = files.read(os.path.realpath(path), of_anyone=True)
    try:
        text = (data or b"").decode("utf-8").strip(_BLANK) or "{}"  # to the client, an empty file is an empty object
        document = json.loads(text)
        json.dumps(document, allow_nan=False)  # refuses what JavaScript could not read back
    except (RecursionError, ValueError) as error:
        place = path, getattr(error, "lineno", 1), getattr(error, "colno", 1), getattr(error, "msg", error)
        raise Refusal("%s:%d:%d: not valid JSON: %s. Correct it and try again." % place) from None
    if problem := shape.problem(document, _SPEC):
        raise Refusal("%s: %s. Correct it and try again." % (path, problem))
    return data, document


def render(document: Document, like: bytes | None) -> bytes:
    """A document with the indentation, line ends and surroundings of the file that it replaces."""
    text = (like or b"").decode("utf-8")
    body = text.strip(_BLANK)
    start, end = text.split(body) if body else (text.rstrip("\r\n"), "\n")
    first = re.match(r'\{\s*[\r\n]([ \t]*)"', body)
    indent = first[1] if first else None if '"' in body and "\n" not in body else "  "
    # Only escapes can hold half of a pair of surrogates.
    written = json.dumps(document, indent=indent, ensure_ascii="\\u" in body)
    return (start + written.replace("\n", "\r\n" if "\r\n" in body else "\n") + end).encode("utf-8")


def _ours(document: Document, root: str) -> Iterator[tuple[str, Document, Document]]:
    """The event, the group and the entry of each hook of ours; all else in the file is skipped."""
    for event, groups in (document.get("hooks") or {}).items():
        for group in groups if isinstance(groups, list) else ():
            inner = group.get("hooks") if isinstance(group, dict) else ()
            for hook in inner if isinstance(inner, list) else ():
                if isinstance(hook, dict) and is_our_command(str(hook.get("command")), root):
                    yield event, group, hook


def hooks(document: Document, root: str) -> list[Hook]:
    """Our hooks in a settings file; `root` is the folder of this installation."""
    ours = [(event, group.get("matcher"), hook["command"]) for event, group, hook in _ours(document, root)]
    return [Hook(event, matcher if matcher not in (None, "*") else "", command) for event, matcher, command in ours]


def disables_hooks(document: Document, *names: str) -> bool:
    return any(document.get(name) is True for name in ("disableAllHooks", *names))


def forbidden() -> str:
    """Why a policy of this computer lets no hook of ours run; "" where none does."""
    for path in [path for pattern in MANAGED for path in glob.glob(pattern)]:
        try:
            if disables_hooks(load(path)[1], "allowManagedHooksOnly"):
                return "%s allows only managed hooks, so Claude Code runs none of ours" % path
        except (OSError, Refusal):
            return "%s cannot be read: it may forbid hooks" % path
    return ""


def merge(document: Document, wanted: Entries) -> Document:
    """The document with our entries at the end."""
    merged = copy.deepcopy(document)
    groups = merged["hooks"] = merged.get("hooks") or {}
    for event, group in wanted.groups.items():
        groups[event] = [*(groups.get(event) or ()), group]
    permissions = merged["permissions"] = merged.get("permissions") or {}
    allowed = permissions.get("allow") or []
    permissions["allow"] = [*allowed, *(rule for rule in wanted.rules if rule not in allowed)]
    if wanted.status_line:
        merged.setdefault(STATUS_LINE, {"type": "command", "command": wanted.status_line})
    return merged


def strip(document: Document, root: str, rules: list[str]) -> Document:
    """The document without our entries and the containers that held nothing else."""
    left = copy.deepcopy(document)
    for event, group, hook in [*_ours(left, root)]:
        group["hooks"].remove(hook)
        if not group["hooks"]:
            _remove(left, "hooks", event, group)
    for rule in [*((left.get("permissions") or {}).get("allow") or ())]:
        if rule in rules or _OUR_RULE.match(str(rule)):
            _remove(left, "permissions", "allow", rule)
    line = left.get(STATUS_LINE)
    if isinstance(line, dict) and _OUR_STATUS_LINE.search(str(line.get("command"))):
        del left[STATUS_LINE]
    return left


def _remove(document: Document, outer: str, inner: str, item: object) -> None:
    document[outer][inner].remove(item)
    if not document[outer][inner]:
        del document[outer][inner]
    if not document[outer]:
        del document[outer]


def replace(path: str, before: bytes | None, after: bytes | None, backup: str = "") -> None:
    """Replace `before` by `after` (None: no file), with the same mode; keep `before` in `backup`."""
    target = os.path.realpath(path)
    mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o600
    # Replacing a file needs no right to write it, but a read-only file is meant to stay.
    if before is not None and not (mode & 0o222 and os.access(target, os.W_OK)):
        raise Refusal("%s: read-only. Make it writable and try again." % path)
    if files.read(target, of_anyone=True) != before:  # the client writes its settings at any time
        raise Refusal("%s: another program has changed it. Run it again." % path)
    for name, data in ((backup, before), (target, after)):
        if name and data is not None:
            files.write(name, data, durable=True)
            os.chmod(name, mode)
    if after is None:
        os.unlink(target)
