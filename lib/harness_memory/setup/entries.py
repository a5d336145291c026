"""What we put into a settings file: the hooks, their commands, the permission rules.

A command must be harmless when its files are gone: `python3 missing.py` exits with 2, which makes the client
block the prompt. So the shell tests for the script first and sets the exit code itself.
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from ..base import invocation, settings

# (event, script in hooks/, matcher or None where an event has none). Only names that clients of 2.0 know:
# before 2.1.101 one unknown event made the client ignore the whole file.
HOOKS: tuple[tuple[str, str, str | None], ...] = (
    ("SessionStart", "session_start.py", None),
    ("UserPromptSubmit", "user_prompt_submit.py", None),
    ("PreToolUse", "pre_tool_use.py", "*"),
    ("SubagentStart", "subagent_start.py", None),
    ("Stop", "stop.py", None),
    ("PreCompact", "pre_compact.py", None),
    ("SessionEnd", "session_end.py", None),
)
GUARD_EVENT = "PreToolUse"
UNGUARDED = "Skill"  # the matcher of that event without the guard: profiles are all that is left to do
MARKER = "harness-memory"  # the last word of every command of ours, a comment to the shell
_OPTIONS = "-I -S -X utf8"
_OUR_COMMAND = re.compile(r"[/\\]hooks[/\\][a-z_]+\.py(?:\b.* # |\"? )%s\s*$" % MARKER, re.DOTALL)
_OUR_RULE = re.compile(r"^Bash\(.*[/\\]%s['\"]? memory \*\)$" % invocation.SCRIPT, re.DOTALL)
_WINDOWS_LAUNCHER = (
    "import os,sys;__file__=sys.argv[1];os.path.isfile(__file__) and "
    "exec(compile(open(__file__,encoding='utf-8').read(),__file__,'exec'))"
)


class Entries(NamedTuple):
    """Our part of a settings file: one hook group an event, and permission rules."""

    groups: dict[str, dict[str, Any]]
    rules: list[str]
    has_guard: bool


def entries(
    root: str, interpreter: str, stores: list[str], home: str, *, windows: bool = False, guard: bool = True
) -> Entries:
    """`stores`: the path of the memory, and its real path behind links, because the client asks for both."""
    groups = {}
    for event, script, matcher in HOOKS:
        path = "/".join([invocation.slashes(root) if windows else root, "hooks", script])
        command = hook_command(interpreter, path, windows=windows)
        hook = {"type": "command", "command": command, "timeout": settings.HOOK_TIMEOUT_SECONDS}
        matcher = UNGUARDED if event == GUARD_EVENT and not guard else matcher
        groups[event] = {"hooks": [hook]} if matcher is None else {"matcher": matcher, "hooks": [hook]}
    command = invocation.command(root, interpreter, windows=windows)
    rules = [*(read_rule(path, home) for path in stores), "Bash(%s *)" % command]
    return Entries(groups, rules, guard)


def hook_command(interpreter: str, script: str, *, windows: bool = False) -> str:
    if windows:  # the client may use any of three shells there: only words that all of them read alike
        python = invocation.slashes(interpreter)
        python = '"%s"' % python if " " in python else python  # PowerShell takes a quoted first word for a string
        return '%s %s -c "%s" "%s" %s' % (python, _OPTIONS, _WINDOWS_LAUNCHER, invocation.slashes(script), MARKER)
    command = 'p=%s; s=%s; [ -x "$p" ] || p=python3; [ -f "$s" ] && "$p" %s "$s" 2>/dev/null; exit 0 # %s'
    return command % (*map(invocation.single_quotes, (interpreter, script)), _OPTIONS, MARKER)


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


def is_our_rule(rule: str) -> bool:
    return _OUR_RULE.match(rule) is not None
