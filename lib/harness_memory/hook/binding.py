"""Notes that bind: steps that a session left out."""

from __future__ import annotations

from ..base import config, settings
from ..base.process import system
from ..base.text import cut
from ..guard import match
from ..guard.question import Environment, Question
from ..notes import binding
from ..session import capture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..session.capture import Capture
    from ..session.sessions import Session
    from .runner import Run


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
            (state.owed if rule["enforce"] == "remind" else wanted).append(cut(text, 2 * settings.ITEM_CHARS))
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
