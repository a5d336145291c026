"""Notes that bind: the rules that a tool call meets, and steps that a session left out."""

from __future__ import annotations

from ..base import config, files, settings
from ..base.process import system
from ..base.text import cut
from ..guard import match
from ..guard.policy import Policy
from ..guard.policy import load as load_policy
from ..guard.question import Environment, Question
from ..guard.rules import TIERS
from ..notes import binding
from ..project import identity
from ..session import capture, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.capture import Capture
    from ..session.sessions import Session
    from .runner import Run

REMIND = settings.ENFORCE[0]


def met(question: Question) -> list[dict[str, Any]]:
    """The rules whose triggers a call meets, the firmest first, each with what `met` it."""
    files.confine(question.root)
    project_dir, marker = sessions.find_marker(question.root, str(question.payload.get("session_id") or ""))
    checkout = str(marker.get("root") or "")
    if not checkout:
        project = identity.locate(question.root, question.project, question.cwd)
        project_dir, checkout = project.dir, project.root
    facts, hits = match.facts(question), []
    text = str([facts.commands, facts.paths]).lower()
    for rule in binding.load(question.root, project_dir, checkout):
        near = [pattern for pattern in rule["when"] if binding.may_fit(pattern, text)]
        hit = next(filter(None, (match.matches(facts, pattern) for pattern in near)), "")
        hits += [{**rule, "met": hit}] if hit else []
    return hits


def judge(question: Question, policy: Any, hits: list[dict[str, Any]]) -> tuple[Policy, list[tuple[str, str, str]]]:
    """The rules that ask or deny as findings of the guard; the policy knows their words, and how firm they are."""
    policy = policy if isinstance(policy, Policy) else load_policy(question.root, question.project)
    findings = []
    for rule in [rule for rule in hits if rule["enforce"] != REMIND]:
        name = "note." + rule["note"].partition("/")[2]
        if name not in policy.texts:  # the firmest of two notes of one name came first
            policy.texts[name] = ('is against the rule "%s"' % rule["text"].rstrip("."), rule["remedy"])
            policy.tiers[name] = max(policy.tiers.get(name, ""), rule["enforce"], key=("", *TIERS).index)
            findings.append((name, rule["met"], ""))
    return policy, findings


def check_steps(run: Run, session: Session, state: Capture) -> str:
    """What the session still has to do after its changes, said once; a note that reminds waits for the next prompt."""
    rules = binding.load(run.store_root, run.project_dir, run.root)
    steps = [rule for rule in rules if rule["after"] and rule["require"]]
    if not steps or not state.deeds or config.load(run.store_root)["required_steps"] == "off":
        return ""
    from ..memory import review

    wanted, before = [""], dict(state.steps)
    for rule in steps:
        changed = max(_last(run, state, pattern) for pattern in rule["after"])
        done = min(_last(run, state, pattern) for pattern in rule["require"])
        what, number = ("followed", done) if done > changed else ("required", changed)
        is_known = state.steps.get(rule["note"]) == "%s %d" % (what, number)
        if not changed or is_known or (run.event.is_blocked and done < changed):
            continue
        state.steps[rule["note"]] = "%s %d" % (what, number)
        try:
            review.record(run.project_dir, what, run.now, note=rule["note"], session=session.id)
        except OSError:
            pass  # the session matters more
        if done < changed:
            missing = "; ".join(step.partition(": ")[2] for step in rule["require"])
            text = "%s. Not done after the last change: %s" % (rule["text"].rstrip("."), missing)
            (state.owed if rule["enforce"] == REMIND else wanted).append(cut(text, 2 * settings.ITEM_CHARS))
    if state.steps != before:
        capture.save(session.dir, state)
    return "\n".join(wanted).strip()


def _last(run: Run, state: Capture, pattern: str) -> int:
    """The number of the last deed that fits a pattern; 0 without one."""
    kind, _, what = pattern.partition(": ")
    for number, done, deed in reversed(state.deeds):
        is_path = kind == "path" and match.fits_path(run.root + "/" + deed, what, run.root)
        if done == kind and (is_path or (kind == "command" and _is_run(run, deed, what))):
            return int(number)
    return 0


def _is_run(run: Run, command: str, what: str) -> bool:
    if what.split()[0].strip("*?") not in command:
        return False  # cheap, and true of nearly all
    payload = {"tool_name": "Bash", "tool_input": {"command": command}, "cwd": run.root}
    return bool(match.matches(match.facts(Question(payload, Environment(system.environ), "")), "command: " + what))
