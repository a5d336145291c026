"""From findings to an answer: the firmest rule decides, the audit trail records it, Claude reads why."""

from __future__ import annotations

import os
import time

from ..audit import trail
from ..base import files, health, invocation, jsontext, neutral, settings
from ..base.text import cut, hexdigest
from ..base.typing import Any
from ..project import identity
from . import allowance, rules
from .policy import Policy, load
from .question import store_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .question import Environment, Question

EVENT = "PreToolUse"
_EVENTS = {rules.DENY: "tool_blocked", rules.ASK: "confirm_prompted", rules.LOG: "tool_noted"}
# A person who has seen the change once need not be asked about the next one to the same file.
_ONCE = frozenset("path.ci path.startup path.git-hooks path.env-write self.project-settings self.settings".split())


class Verdict:
    def __init__(self, rule: str, tier: str, detail: str, about: str) -> None:
        self.rule, self.tier, self.detail, self.about = rule, tier, detail, about


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
    if best.tier != rules.LOG and allowance.take(question.root, question.tool, question.given, question.cwd):
        best.tier = rules.LOG
    tier = best.tier
    attended = question.env.get(settings.ENV_ATTENDED)
    is_here = attended != "0" if attended else not question.env.get(settings.ENV_ENTRYPOINT).startswith("sdk")
    if tier == rules.ASK and (not is_here or question.payload.get("permission_mode") == "dontAsk"):
        tier = policy.unattended  # no user can answer
    is_recorded = _record(question, best, tier, policy)
    if tier == rules.LOG:
        return b""
    text = sentence(best, policy)
    text += " No user can confirm it in this session, so it is not done." * (tier != best.tier)
    text += advice(question)
    return reply(tier, text + " (The audit trail could not be written: harness memory doctor.)" * (not is_recorded))


def _was_confirmed(question: Question, finding: tuple[str, str, str]) -> bool:
    """Whether this session was asked about this file before, and the file has changed since: the answer was yes."""
    rule, _, about = finding
    path = os.path.join(question.cwd, os.path.expanduser(about))
    if rule not in _ONCE or not about:
        return False
    key = "\n".join([str(question.payload.get("session_id")), rule, os.path.realpath(path)])
    mark = os.path.join(question.root, settings.GUARD_DIR, "asked", hexdigest(key)[:32])
    allowance.clear(os.path.dirname(mark), settings.DAY_SECONDS)
    asked = files.modified(mark)
    if asked and files.modified(path) >= asked:
        return True
    try:
        files.write(mark, b"")
    except OSError:
        pass  # then it asks again
    return False


def sentence(best: Verdict, policy: Policy) -> str:
    """What Claude and the user read: the offending part, the rule, why, and what to do instead."""
    reason, remedy = policy.text(best.rule)
    detail, about = " ".join(best.detail.split()), " ".join(best.about.split())
    most = 120  # characters
    if len(detail) > most:
        at = detail.find(about[:most]) if about and about != detail else -1
        start = max(0, min(at - most // 3, len(detail) - most)) if at > most // 2 else 0
        detail = ("…" if start else "") + detail[start : start + most] + "…" * (start + most < len(detail))
    text = "Harness guard [%s]: `%s` %s." % (best.rule, detail.replace("`", "'"), reason)
    return text + (" Instead: " + remedy + "." * (remedy[-1] not in ".!?…") if remedy else "")


def advice(question: Question) -> str:
    command = question.given.get("command")
    is_shell = question.tool == "Bash" and isinstance(command, str)
    call = (str(command) if is_shell else jsontext.compact(question.given)).replace("'", "'\\''")
    if not 0 < len(call) < (200 if is_shell else 800) or "\n" in call:  # too long to copy
        return " Do not work around this. The user can let it pass once (harness guard allow-once), or do it."
    in_terminal = invocation.quote(question.tree + "/bin/harness") if "/plugins/cache/" in question.tree else "harness"
    words = in_terminal, "" if is_shell else "--tool %s --input " % question.tool, call
    return " Do not work around this. The user can let it pass once: %s guard allow-once %s'%s'" % words


def reply(tier: str, text: str) -> bytes:
    # A rule of a project's, or a command, may hold anything; this is shown in a terminal, and to the model.
    said = cut(neutral.one_line_of(text), 2000)
    answer = {"hookEventName": EVENT, "permissionDecision": tier, "permissionDecisionReason": said}
    return jsontext.compact({"hookSpecificOutput": answer}).encode("utf-8", "replace")


def _record(question: Question, best: Verdict, tier: str, policy: Policy) -> bool:
    """True when the event is in the audit trail."""
    command = question.given.get("command")
    is_path = not isinstance(command, str) or best.rule.startswith("path.")
    event = "path_access_denied" if tier == rules.DENY and best.rule.startswith("path.") else _EVENTS[tier]
    fields: dict[str, Any] = {
        "event": event if tier == rules.DENY else _EVENTS[best.tier],
        "tool": question.tool,
        "reason": policy.text(best.rule)[0],
        "session": str(question.payload.get("session_id") or ""),
        "rule": best.rule,
        "decision": tier,
    }
    fields.update({"path": best.about or best.detail} if is_path else {})
    fields.update({"command": command} if isinstance(command, str) else {})
    fields.update({"agent": str(question.payload["agent_id"])} if question.payload.get("agent_id") else {})
    try:
        files.ensure_private(question.root)
        place = identity.locate(question.root, question.project, question.cwd)
        trail.append(place.dir, fields, time.time(), settings.GUARD_LOCK_SECONDS)
    except Exception as error:  # noqa: BLE001  (a full disk must not turn the guard off)
        health.note_failure(question.root, EVENT, error)
        return False
    return True


def failed(env: Environment, error: BaseException) -> bytes:
    root = store_root(env, env.get("HOME") or env.get("USERPROFILE"))
    files.confine(root)
    health.note_failure(root, EVENT, error)
    reason, remedy = Policy().text("guard.failed")
    what = "%s: %s" % (type(error).__name__, str(error)[:200])
    return reply(rules.ASK, "Harness guard [guard.failed]: this call %s (%s). %s" % (reason, what, remedy))
