"""A skill, command or path that memory has something for: the profile or the note, once a session; steps left out."""

from __future__ import annotations

from ..base import neutral, settings
from ..base.typing import Any
from ..session.capture import Capture
from ..session.sessions import Session
from .runner import Run


def handle(run: Run) -> dict[str, Any] | None:
    with run as session:
        if session.is_new:
            return None
        if run.event.text("tool_name") == "Skill":
            return begin_skill(run, session, run.event.skill)
        from . import history

        return _notes(run, session) or history.tell(run, session)


def begin_skill(run: Run, session: Session, skill: str) -> dict[str, Any] | None:
    """The profile of a skill and its last sessions; the caller holds the session's lock."""
    from ..inject import sections
    from ..inject.injection import load_receipt
    from ..memory.briefing import skill_name

    name = skill_name(skill)
    injected, key = load_receipt(session.dir), name + _conversation(run)
    if not name or key in injected.profiles:
        return None
    problems: list[str] = []
    part = sections.profile(run.project, name, problems)
    injected.profiles.append(key)
    return run.hand_over(session, injected, [sections.health(problems), part], "skill " + name)


def _notes(run: Run, session: Session) -> dict[str, Any] | None:
    from ..inject.injection import Part, load_receipt

    mark, injected = _conversation(run), load_receipt(session.dir)
    news = [each for each in run.rules if each["note"] + mark not in injected.recalled][:3]
    if not news:
        return None
    part = Part("recall", "Rules and notes for this command or file", [])
    for each in news:
        part.add(neutral.line("- [%s] %s" % (each["note"], each["text"])), each["note"], "note")
    injected.recalled += [each["note"] + mark for each in news]
    return run.hand_over(session, injected, [part], "trigger " + news[0]["when"][0])


def _conversation(run: Run) -> str:
    """A subagent has a conversation of its own, without what was injected into the session."""
    return "@" + run.event.agent_id if run.event.agent_id else ""


def check_steps(run: Run, session: Session, state: Capture) -> str:
    """What the session still has to do after its changes, said once; a note that reminds waits for the next prompt."""
    from ..base import config
    from ..base.text import cut
    from ..notes import binding
    from ..session import capture

    rules = binding.load(run.store_root, run.project_dir, run.root)
    steps = [rule for rule in rules if rule["after"] and rule["require"]]
    if not steps or not state.deeds or config.load(run.store_root)["required_steps"] == "off":
        return ""
    from ..memory import review

    is_blocked = run.event.payload.get("stop_hook_active") is True  # this Stop follows one that was blocked
    wanted, before = [""], dict(state.steps)
    for rule in steps:
        changed = max(_last(run, state, pattern) for pattern in rule["after"])
        done = min(_last(run, state, pattern) for pattern in rule["require"])
        what, number = ("followed", done) if done > changed else ("required", changed)
        is_known = state.steps.get(rule["note"]) == "%s %d" % (what, number)
        if not changed or is_known or (done < changed and is_blocked):
            continue
        state.steps[rule["note"]] = "%s %d" % (what, number)
        try:
            review.record(run.project_dir, what, run.now, note=rule["note"], session=session.id)
        except OSError:
            pass  # the session matters more
        if done < changed:
            missing = "; ".join(step.partition(": ")[2] for step in rule["require"])
            said = rule["text"].rstrip(".")
            if rule["note"].startswith(settings.TEAM_SCOPE + "/"):  # in the repository's words, not in ours
                said, missing = ('"%s"' % words.replace('"', "'") for words in (said, missing))
                said = "A rule of this repository: " + said
            text = neutral.one_line_of("%s. Not done after the last change: %s" % (said, missing))
            (state.owed if rule["enforce"] == "remind" else wanted).append(cut(text, 2 * settings.ITEM_CHARS))
    if state.steps != before:
        capture.save(session.dir, state)
    return "\n".join(wanted).strip()


def _last(run: Run, state: Capture, pattern: str) -> int:
    """The number of the last deed that fits a pattern; 0 without one."""
    from ..base.process import system
    from ..guard import match
    from ..guard.question import Environment, Question

    kind, _, what = pattern.partition(": ")
    for number, done, deed in reversed(state.deeds):
        if done == kind == "path" and match.fits_path(run.root + "/" + deed, what, run.root):
            return int(number)
        if done == kind == "command" and what.split()[0].strip("*?") in deed:  # cheap, and false of nearly all
            payload = {"tool_name": "Bash", "tool_input": {"command": deed}, "cwd": run.root}
            if match.matches(match.facts(Question(payload, Environment(system.environ), "")), pattern):
                return int(number)
    return 0
