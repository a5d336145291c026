"""What Claude Code takes from a hook's standard output, event by event, and what this product may say there.

The client reads JSON only where the output begins with a brace, drops `hookSpecificOutput` that does not name its
event or holds a value it does not know, and replaces what is longer than 10,000 UTF-16 units by a preview. Nothing
that reaches a terminal or the model may hold control characters.
"""

from __future__ import annotations

import json
from typing import Any

EVENTS = {
    "session_start": "SessionStart",
    "user_prompt_submit": "UserPromptSubmit",
    "pre_tool_use": "PreToolUse",
    "post_tool_use_failure": "PostToolUseFailure",
    "subagent_start": "SubagentStart",
    "stop": "Stop",
    "pre_compact": "PreCompact",
    "session_end": "SessionEnd",
}
MOST_UNITS = 9_500  # below what the client cuts at
_CONTEXT = {"additionalContext"}
_FIELDS = {
    **dict.fromkeys(("SessionStart", "UserPromptSubmit", "PostToolUseFailure", "SubagentStart"), _CONTEXT),
    "PreToolUse": {*_CONTEXT, "permissionDecision", "permissionDecisionReason"},
}
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def complaints(event: str, stdout: bytes) -> list[str]:
    """What is wrong with the answer to an event; nothing is wrong with silence."""
    try:
        text = stdout.decode("utf-8")
        if not text:
            return []
        if event == "PreCompact":
            return ["reads as JSON"] if text.lstrip()[:1] == "{" else _problems("text", text)
        reply = json.loads(text, parse_constant=_refuse, object_pairs_hook=_without_doubles)
    except ValueError as error:
        return ["not UTF-8, or not JSON: %s" % error]
    if event not in _FIELDS or text[:1] != "{":
        return ["%s answers with %r" % (event, text[:80])]
    own = reply.pop("hookSpecificOutput", {"hookEventName": event})
    message = reply.pop("systemMessage", None)
    if reply or not isinstance(own, dict) or own.pop("hookEventName", "") != event or not {*own} <= _FIELDS[event]:
        return ["the client would drop %r" % text[:200]]
    decision = own.pop("permissionDecision", None)
    found = [] if decision in (None, "allow", "deny", "ask") else ["unknown decision %r" % decision]
    found += ["a decision without a reason"] if decision and not own.get("permissionDecisionReason") else []
    texts = {**own, **({"systemMessage": message} if message is not None else {})}
    return [*found, *(each for name, text in texts.items() for each in _problems(name, text))] if texts else ["empty"]


def _problems(name: str, text: object) -> list[str]:
    if not isinstance(text, str) or not text:
        return ["%s is not a text: %r" % (name, text)]
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    bad = sorted({"U+%04X" % ord(char) for char in text if _is_impure(char)})
    return ["%s has %d units" % (name, units)] * (units > MOST_UNITS) + ["%s holds %s" % (name, each) for each in bad]


def _is_impure(char: str) -> bool:
    is_control = (char < " " and char not in "\n\t") or "\x7f" <= char < "\xa0"
    return is_control or char in _BIDI or "\ud800" <= char <= "\udfff"


def _refuse(word: str) -> Any:
    raise ValueError("JSON has no %s" % word)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)
