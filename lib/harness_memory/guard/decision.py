"""From findings to an answer: the firmest rule decides, the audit trail records it, Claude reads why."""

from __future__ import annotations

import os
import time

from ..base import files, jsontext, neutral, settings
from ..base.text import cut, hexdigest
from . import rules
from .policy import Policy, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .question import Environment, Question

EVENT = "PreToolUse"
_EVENTS = {rules.DENY: "tool_blocked", rules.ASK: "confirm_prompted", rules.LOG: "tool_noted"}


# A person who has seen the change once need not be asked about the next one to the same file.
_ONCE = frozenset(("path.ci", "path.startup", "path.git-hooks", "self.project-settings", "self.settings"))


class Verdict:
    def __init__(self, rule: str, tier: str, detail: str, about: str) -> None:
        self.rule = rule
        self.tier = tier
        self.detail = detail
        self.about = about


def verdict(found: list[tuple[str, str, str]], policy: Policy) -> Verdict | None:
    """The firmest of the findings; the first among equals."""
    best: Verdict | None = None
    for rule, detail, about in found:
        name = rule.rstrip("?")
        tier = policy.tier(name)
        if name != rule and tier == rules.DENY:  # what a script may do is not certain
            tier = rules.ASK
        if tier != rules.OFF and (best is None or rules.TIERS.index(tier) > rules.TIERS.index(best.tier)):
            best = Verdict(name, tier, detail, about)
    return best


def decide(question: Question, policy: Any, found: list[tuple[str, str, str]]) -> bytes:
    files.confine(question.root)
    policy = policy if isinstance(policy, Policy) else load(question.root, question.project)
    best = verdict(found, policy)
    if best is None:
        return b""
    if best.tier == rules.ASK and best.rule in _ONCE:
        best = verdict([each for each in found if not _was_confirmed(question, each)], policy)
        best = best or Verdict(found[0][0], rules.LOG, found[0][1], found[0][2])
    if best.tier != rules.LOG and is_allowed_once(question):
        best.tier = rules.LOG
    tier = best.tier
    if tier == rules.ASK and not is_attended(question.env, question.payload):
        tier = policy.unattended
    recorded = record(question, best, tier, policy)
    if tier == rules.LOG:
        return b""
    text = sentence(best, policy)
    if tier != best.tier:
        text += " No user can confirm it in this session, so it is not done."
    text += advice(question)
    if not recorded:
        text += " (The audit trail could not be written: harness memory doctor.)"
    return reply(tier, text)


def _was_confirmed(question: Question, finding: tuple[str, str, str]) -> bool:
    """Whether this session was asked about this file before, and the file has changed since: the answer was yes."""
    rule, _, about = finding
    path = os.path.join(question.cwd, os.path.expanduser(about))
    if rule not in _ONCE or not about:
        return False
    key = "\n".join([str(question.payload.get("session_id")), rule, os.path.realpath(path)])
    mark = os.path.join(question.root, settings.GUARD_DIR, "asked", hexdigest(key)[:32])
    asked = files.modified(mark)
    if asked and files.modified(path) >= asked and time.time() - asked < settings.DAY_SECONDS:
        return True
    try:
        files.touch(mark)
        folder = os.path.dirname(mark)
        for name in files.names(folder):
            if time.time() - files.modified(os.path.join(folder, name)) > settings.DAY_SECONDS:
                files.remove(os.path.join(folder, name))
    except OSError:
        pass  # then it asks again
    return False


def sentence(best: Verdict, policy: Policy) -> str:
    """What Claude and the user read: the offending part, the rule, why, and what to do instead."""
    reason, remedy = policy.text(best.rule)
    detail, about = " ".join(best.detail.split()), " ".join(best.about.split())
    most = settings.GUARD_DETAIL_CHARS
    if len(detail) > most:
        at = detail.find(about[:most]) if about and about != detail else -1
        start = max(0, min(at - most // 3, len(detail) - most)) if at > most // 2 else 0
        detail = ("…" if start else "") + detail[start : start + most] + "…" * (start + most < len(detail))
    text = "Harness guard [%s]: `%s` %s." % (best.rule, detail.replace("`", "'"), reason)
    return text + (" Instead: " + remedy + "." * (remedy[-1] not in ".!?…") if remedy else "")


def advice(question: Question) -> str:
    command = question.given.get("command")
    is_shell = question.tool == "Bash" and isinstance(command, str)
    call = str(command) if is_shell else jsontext.compact(question.given)
    if not 0 < len(call) < (200 if is_shell else 800) or "\n" in call:  # too long to copy
        return " Do not work around this. The user can let it pass once (harness guard allow-once), or do it."
    quoted = "'%s'" % call.replace("'", "'\\''")
    option = "" if is_shell else "--tool %s --input " % question.tool
    return " Do not work around this. The user can let it pass once: harness guard allow-once " + option + quoted


def reply(tier: str, text: str) -> bytes:
    # A rule of a project's, or a command, may hold anything; this is shown in a terminal, and to the model.
    said = cut(neutral.one_line_of(text), 2000)
    answer = {"hookEventName": EVENT, "permissionDecision": tier, "permissionDecisionReason": said}
    return jsontext.compact({"hookSpecificOutput": answer}).encode("utf-8", "replace")


def is_attended(env: Environment, payload: dict[str, Any]) -> bool:
    """Whether a user can answer a question."""
    if payload.get("permission_mode") == "dontAsk":
        return False
    attended = env.get(settings.ENV_ATTENDED)
    if attended:
        return attended != "0"
    entry = env.get(settings.ENV_ENTRYPOINT)
    return not entry.startswith("sdk")


def record(question: Question, best: Verdict, tier: str, policy: Policy) -> bool:
    """True when the event is in the audit trail."""
    from ..audit import trail
    from ..project import identity

    now = time.time()
    command = question.given.get("command")
    is_path = not isinstance(command, str)
    event = _EVENTS[best.tier]
    if tier == rules.DENY and best.rule.startswith("path."):
        event = "path_access_denied"
    elif tier == rules.DENY:
        event = _EVENTS[rules.DENY]
    fields: dict[str, Any] = {
        "event": event,
        "tool": question.tool,
        "reason": policy.text(best.rule)[0],
        "session": str(question.payload.get("session_id") or ""),
        "rule": best.rule,
        "decision": tier,
    }
    if is_path or best.rule.startswith("path."):
        fields["path"] = best.about or best.detail
    if not is_path:
        fields["command"] = command
    if question.payload.get("agent_id"):
        fields["agent"] = str(question.payload["agent_id"])
    try:
        files.ensure_private(question.root)
        place = identity.locate(question.root, question.project, question.cwd)
        trail.append(place.dir, fields, now, settings.GUARD_LOCK_SECONDS)
    except Exception as error:  # noqa: BLE001  (a full disk must not turn the guard off)
        from ..base import health

        health.note_failure(question.root, EVENT, error)
        return False
    return True


def is_allowed_once(question: Question) -> bool:
    """Whether a person has let this very call pass, once; using it up."""
    from . import allowance

    return allowance.take(question.root, question.tool, question.given, question.cwd, time.time())


def failed(env: Environment, error: BaseException) -> bytes:
    """The answer without a verdict."""
    from ..base import health
    from .question import store_root

    root = store_root(env, env.get("HOME") or env.get("USERPROFILE"))
    files.confine(root)
    health.note_failure(root, EVENT, error)
    reason, remedy = Policy().text("guard.failed")
    what = "%s: %s" % (type(error).__name__, error)
    return reply(rules.ASK, "Harness guard [guard.failed]: this call %s (%s). %s" % (reason, what[:200], remedy))
