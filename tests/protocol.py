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
    "subagent_start": "SubagentStart",
    "stop": "Stop",
    "pre_compact": "PreCompact",
    "session_end": "SessionEnd",
}
MOST_UNITS = 9_500  # below what the client cuts at
DECISIONS = ("allow", "deny", "ask")
_TEXTS = {
    "SessionStart": {"additionalContext"},
    "UserPromptSubmit": {"additionalContext"},
    "SubagentStart": {"additionalContext"},
    "PreToolUse": {"additionalContext", "permissionDecision", "permissionDecisionReason"},
}
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def complaints(event: str, stdout: bytes) -> list[str]:
    """What is wrong with the answer to an event; nothing is wrong with silence."""
    try:
        text = stdout.decode("utf-8")
    except UnicodeDecodeError as error:
        return ["not UTF-8: %s" % error]
    if not text:
        return []
    if event == "PreCompact":
        return ["reads as JSON"] if text.lstrip()[:1] == "{" else _impurities("text", text)
    if event not in _TEXTS:
        return ["%s is answered by silence alone: %r" % (event, text[:80])]
    try:
        reply = json.loads(text, parse_constant=_refuse, object_pairs_hook=_without_doubles)
    except ValueError as error:
        return ["no JSON: %s" % error]
    if text[:1] != "{" or not isinstance(reply, dict):
        return ["no JSON object: %r" % text[:80]]
    return _reply_complaints(event, reply)


def texts(stdout: bytes) -> str:
    """All that an answer says, to the model and to the user."""
    text = stdout.decode("utf-8", "replace")
    if text[:1] != "{":
        return text
    reply = json.loads(text)
    own = reply.get("hookSpecificOutput") or {}
    said = (reply.get("systemMessage"), own.get("additionalContext"), own.get("permissionDecisionReason"))
    return "\n".join(part for part in said if part)


def _reply_complaints(event: str, reply: dict[str, Any]) -> list[str]:
    found = ["unknown key %r" % key for key in reply if key not in ("systemMessage", "hookSpecificOutput")]
    if "systemMessage" in reply:
        found += _text_complaints("systemMessage", reply["systemMessage"])
    own = reply.get("hookSpecificOutput")
    if own is None:
        return found if reply.get("systemMessage") else [*found, "says nothing"]
    if not isinstance(own, dict) or own.get("hookEventName") != event:
        return [*found, "hookSpecificOutput would be dropped: %r" % own]
    known = _TEXTS[event]
    found += ["unknown key %r in hookSpecificOutput" % key for key in own if key not in {"hookEventName", *known}]
    for key in known - {"permissionDecision"}:
        if key in own:
            found += _text_complaints(key, own[key])
    if "permissionDecision" in own:
        if own["permissionDecision"] not in DECISIONS:
            found.append("no decision the client knows: %r" % own["permissionDecision"])
        if not own.get("permissionDecisionReason"):
            found.append("a decision without a reason")
    elif len(own) < 2:
        found.append("hookSpecificOutput says nothing")
    return found


def _text_complaints(name: str, text: object) -> list[str]:
    if not isinstance(text, str) or not text:
        return ["%s is no text: %r" % (name, text)]
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    return ([] if units <= MOST_UNITS else ["%s has %d units" % (name, units)]) + _impurities(name, text)


def _impurities(name: str, text: str) -> list[str]:
    bad = [char for char in text if _is_impure(char)]
    return ["%s holds %s" % (name, ", ".join(sorted({"U+%04X" % ord(char) for char in bad})))] if bad else []


def _is_impure(char: str) -> bool:
    if char in "\n\t":
        return False
    return char < " " or "\x7f" <= char < "\xa0" or char in _BIDI or "\ud800" <= char <= "\udfff"


def _refuse(word: str) -> Any:
    raise ValueError("JSON has no %s" % word)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)
