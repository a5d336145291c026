"""Where injected text comes from: the store's curated files and views, as parts for `inject`.

Every item carries the project and the day it was written, and passes through `inert`. Nothing here
depends on the clock: an unchanged store gives the same bytes.
"""

from __future__ import annotations

import os

from ..base import files as store
from ..base import invocation, jsontext, neutral, settings
from ..base.redact import redact
from ..base.text import cut, passage
from ..memory import briefing as curated
from ..session.sessions import day_and_id
from .compose import Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..memory.briefing import Curated
    from ..project.identity import Project
    from ..session.capture import Capture


def health(problems: list[str]) -> Part:
    lines = [neutral.line("- " + problem) for problem in problems]
    return Part(
        "health", "Something is wrong with this memory (tell the user: %s doctor)" % invocation.own_command(), lines
    )


def briefing(project: Project, problems: list[str], limit: int = settings.BRIEFING_LINES) -> Part:
    found = curated.read(os.path.join(project.dir, settings.BRIEFING_FILE))
    lines, missing = _taken(found, limit, problems)
    title = "Briefing [%s %s]" % (project.name, found.day)
    return Part("briefing", title, lines, found.path, found.path, missing=missing, is_whole=True)


def notes(project: Project, store_root: str, known: set[str], problems: list[str], session_dir: str = "") -> Part:
    """The indexes of notes, the session's, the project's and the user's, without what the client's own memory says.

    A note of a nearer scope stands before one of the same name, and before those it says it replaces.
    """
    lines = _local_notes(session_dir) if session_dir else []
    hidden = {_pointed(text)[0] for text in lines}
    beyond = 0
    source = os.path.join(project.dir, settings.NOTES_INDEX_FILE)
    for directory, scope in ((project.dir, project.name), (os.path.join(store_root, settings.USER_DIR), "user")):
        found = curated.read(os.path.join(directory, settings.NOTES_INDEX_FILE))
        taken, missing = _taken(found, settings.NOTES_LINES, problems)
        entries = [(text, *_pointed(text)) for text in taken if text.strip() and not _is_heading(text)]
        entries = [entry for entry in entries if not hidden.intersection((entry[1], "%s/%s" % (scope, entry[1])))]
        hidden.update(word for _, slug, instead in entries for word in (slug, *instead) if word)
        texts = [text.lstrip("-* ") for text, _, _ in entries if _key(text) not in known]
        lines += ["- [%s %s] %s" % (scope, found.day, text) for text in texts]
        beyond += missing
    title = "Notes (index; read one: %s show <file>)" % invocation.own_command()
    return Part("notes", title, lines, source, source, missing=beyond)


def _pointed(line: str) -> tuple[str, list[str]]:
    """The note a line points to, and those it stands in place of."""
    if "](" not in line:
        return "", []
    from ..notes import index

    return index.read_line(line)


def _local_notes(session_dir: str) -> list[str]:
    """What is noted for this session alone."""
    if not os.path.isdir(os.path.join(session_dir, settings.LOCAL_DIR)):
        return []
    from ..notes import index, shelf

    found = shelf.Book(shelf.local_shelf(session_dir).read()).holding
    return ["- [local] " + _told(index.render_line(note)[2:]) for note in found]


def still_open(project: Project, own_ids: set[str]) -> Part:
    """Open threads and tasks, without those of the session itself."""
    path = os.path.join(project.dir, settings.STATE_DIR, settings.CURRENT_WORK_FILE)
    lines: list[str] = []
    tasks = [task for task in _active_tasks(path) if task["id"] not in own_ids]
    for task in tasks[: settings.OPEN_SHOWN]:
        lines.append(neutral.line("- [%s %s] %s" % (project.name, str(task["started"])[:10], task["description"])))
        steps = [neutral.line(str(step)) for step in task["next_steps"][: settings.NEXT_STEPS_SHOWN]]
        lines += ["  next: " + step for step in steps]
    beyond = max(0, len(tasks) - settings.OPEN_SHOWN)
    return Part("open", "Still open", lines, path, "%s status" % invocation.own_command(), missing=beyond)


def menu(project: Project, branch: str, folder: str, own_ids: set[str]) -> Part:
    """Past sessions, newest first, those of this branch and folder before the others."""
    path = os.path.join(project.dir, settings.INDEX_FILE)
    entries = [entry for entry in _menu_entries(path) if day_and_id(entry[0])[1] not in own_ids]
    ranked = sorted(entries, key=lambda entry: -_nearness(entry[1], branch, folder))
    lines = []
    for name, text in ranked[: settings.MENU_SHOWN]:
        lines.append(neutral.line("- [%s %s] %s: %s" % (project.name, *day_and_id(name), text)))
    return Part("menu", "Past sessions (id: what was done)", lines, path, "%s list" % invocation.own_command())


def state(project: Project, captured: Capture, day: str) -> Part:
    """Where the work was, for a conversation that was just compressed."""
    lines = ["- asked: " + ask for ask in captured.prompts()[-settings.STATE_ASKS_SHOWN :]]
    lines += ["- todo, open: " + todo for todo in captured.open_todos()]
    files = captured.files[-settings.STATE_FILES_SHOWN :]
    lines += ["- files changed so far: " + ", ".join(files)] if files else []
    for point in captured.checkpoints.values():
        lines += ["- decided or learnt: " + item for item in point.get("learnings", [])]
        lines += ["- left to do: " + item for item in point.get("what_remains", [])]
    lines += ["- failed: %s; worked: %s" % (failed, fixed) for failed, fixed in captured.fixed]
    title = "Where this session's work was when its conversation was compressed [%s %s]" % (project.name, day)
    return Part("state", title, [neutral.line(text) for text in lines], settings.CAPTURE_FILE)


def profile(project: Project, skill: str, problems: list[str]) -> list[Part]:
    """What to know when a skill starts: its profile, and what its last sessions covered."""
    name = skill_name(skill)
    if not name:
        return []
    found = curated.read(os.path.join(project.dir, settings.PROFILES_DIR, name + ".md"))
    lines, missing = _taken(found, settings.PROFILE_LINES, problems)
    day = found.day
    covered = skill_history(project, name)
    if covered:
        lines.append(neutral.line("Last sessions with /%s here: %s" % (name, "; ".join(covered))))
    lines += _poor_ratings(project, name)
    title = "Profile of /%s [%s %s]" % (name, project.name, day) if day else "/%s [%s]" % (name, project.name)
    return [Part("profile", title, lines, found.path, found.path, missing=missing)]


def skill_history(project: Project, name: str) -> list[str]:
    covered = []
    for file, text in _menu_entries(os.path.join(project.dir, settings.INDEX_FILE)):
        skill, colon, rest = text.partition(": ")
        if colon and skill_name(skill) == name and skill.startswith("/"):
            done = rest.rpartition(" (")[0] if rest.endswith(")") else rest
            covered.append("%s %s" % (day_and_id(file)[0], done.partition(" [")[0]))
    return covered[: settings.SKILL_SESSIONS_SHOWN]


def _poor_ratings(project: Project, name: str) -> list[str]:
    """One line of how the skill was rated lately, if poorly."""
    if not os.path.exists(os.path.join(project.dir, *settings.RATINGS_PATH)):
        return []
    from ..memory import ratings

    found = ratings.poor(project.dir, name)
    told = ["%s of 5 on %s" % (each["rating"], each.get("date")) for each in found]
    notes = [str(each.get("note") or "") for each in found]
    said = ["%s: %s" % (what, note) if note else what for what, note in zip(told, notes)]
    shown = "; ".join(said[: settings.POOR_NOTES_SHOWN])
    return [_told("Rated poorly lately: " + shown)] if found else []


def usage() -> Part:
    words = invocation.own_command()
    lines = [
        "Read one: %s show <id>   Search: %s search WORD" % (words, words),
        'When a piece of work is done or has to wait: %s checkpoint --done "…" --remains "…" --learned "…"' % words,
        'A fact worth knowing in later sessions: %s remember "…"' % words,
    ]
    return Part("usage", "", lines)


def skill_name(skill: str) -> str:
    """`melt` of `/melt`, `plugin:melt`; "" for what cannot be the name of a skill."""
    name = skill.strip().lstrip("/").rpartition(":")[2].lower()
    is_name = 0 < len(name) <= 64 and all(char.isalnum() or char in "-_" for char in name) and redact(skill) == skill
    return name if is_name else ""


def auto_memory(transcript_path: str) -> set[str]:
    """What the client's own memory index says, line by line: it is in the context already."""
    if not transcript_path:
        return set()
    folder = os.path.join(os.path.dirname(transcript_path), settings.AUTO_MEMORY_DIR)
    found = curated.read(os.path.join(folder, settings.NOTES_INDEX_FILE))
    return {_key(text) for text in found.lines} - {""}


def _taken(found: Curated, limit: int, problems: list[str]) -> tuple[list[str], int]:
    """As many lines as may be told, and how many there are beyond."""
    if found.problem:
        problems.append(found.problem)
    return [_told(text) for text in found.lines[:limit]], max(0, len(found.lines) - limit)


def _told(text: str) -> str:
    """A line as it may be told; of an endless one not much more is looked at."""
    words = text.lstrip(" ")
    indent = text[: len(text) - len(words)]
    return cut(neutral.line(indent + passage(words, settings.CURATED_LINE_CHARS)), settings.CURATED_LINE_CHARS)


def _is_heading(text: str) -> bool:
    return text[:1] == "#" and text.lstrip("#")[:1] in ("", " ")


def _key(text: str) -> str:
    return " ".join(text.lower().split()).strip("-*# ")


def _active_tasks(path: str) -> list[dict[str, Any]]:
    try:
        tasks = jsontext.loads(store.read(path) or b"{}").get("active_tasks", [])
    except (OSError, ValueError, AttributeError):
        return []
    needed = {"id", "description", "started", "next_steps"}
    return [
        task for task in tasks if isinstance(task, dict) and needed <= {*task} and isinstance(task["next_steps"], list)
    ]


def _menu_entries(path: str) -> list[tuple[str, str]]:
    """(episode's file name, text) of the newest entries of INDEX.md."""
    try:
        text = store.read_head(path, settings.MENU_READ_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    head = "- `%s/" % settings.EPISODES_DIR
    found = []
    for line in text.split("\n")[:-1]:
        if line.startswith(head):
            name, _, rest = line[len(head) :].partition("` - ")
            found.append((name, rest))
    return found


def _nearness(text: str, branch: str, folder: str) -> int:
    """How near a session was to here: `(branch; folders)` ends its line in the menu."""
    where = text.rpartition(" (")[2].rstrip(")") if text.endswith(")") else ""
    on, _, folders = where.partition("; ")
    near = int(bool(branch) and on == branch)
    if folder:
        near += any(each == folder or each.startswith(folder + "/") for each in folders.split(", "))
    return near
