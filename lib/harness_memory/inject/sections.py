"""Sections of an injection: the store's curated files and views as parts for `injection`.

Every item carries its day and passes through `neutral`. Nothing here reads the clock: an unchanged store gives the
same bytes.
"""

from __future__ import annotations

import os

from ..base import clock, files, invocation, neutral, settings
from ..base.text import cut, from_outside, passage
from ..base.typing import Collection
from ..memory import briefing as pages
from ..session import episode
from ..session.sessions import day_and_id, live_markers, safe_id
from .injection import Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..project import Project
    from ..session.capture import Capture

_LESSONS = {"decisions?": ["text"], "learnings?": ["text"], "taint?": ["text"], "sure?": "count"}
_STATE = {"asks?": [("text", "text")], "announced?": [("text", "text")], "files?": ["text"]}  # of `capture`
_TASK = {"id": "text", "description": "text", "started": "text", "next_steps": ["text"], "blockers": ["text"]}


def health(problems: list[str]) -> Part:
    title = "Problems with this memory (tell the user; details: %s doctor)" % invocation.own_command()
    return Part("health", title, [neutral.line("- " + problem) for problem in problems])


def briefing(project: Project, problems: list[str], limit: int = settings.BRIEFING_LINES) -> Part:
    page = pages.read(os.path.join(project.dir, settings.BRIEFING_FILE))
    return _page_part("briefing", "Briefing [%s]" % page.day, page, limit, problems)


def notes(project: Project, store_root: str, problems: list[str], now: float, session_dir: str = "") -> Part:
    """The indexes of notes; a nearer note hides others of its name."""
    source = os.path.join(project.dir, settings.NOTES_INDEX_FILE)
    part = Part("notes", "Notes (index; read one: %s show NAME)" % invocation.own_command(), [], source)
    indexes = [("project", pages.read(source))]
    if os.path.isdir(os.path.join(project.root, settings.CLAUDE_DIR, settings.STORE_DIR)):
        from ..notes import index, shelf

        listed = shelf.holding(shelf.team_shelf(store_root, project.root))[: settings.NOTES_INDEX_LINES]
        lines = [index.render_line(note) + note.mark(project.root, now) for note in listed]
        indexes.append((settings.TEAM_SCOPE, pages.Curated("", lines)))
    indexes += [("user", pages.read(os.path.join(store_root, settings.USER_DIR, settings.NOTES_INDEX_FILE)))]
    if session_dir and os.path.isdir(os.path.join(session_dir, settings.LOCAL_DIR)):
        from ..notes import index, shelf

        local = [index.render_line(note) for note in shelf.holding([shelf.Shelf("local", session_dir)])]
        indexes.insert(0, ("local", pages.Curated("", local)))
    if not any(page.lines or page.problem for _, page in indexes):
        return part
    from ..notes import index

    hidden: set[str] = set()
    for scope, page in indexes:
        page_part = _page_part("notes", "", page, 200, problems)
        part.missing += page_part.missing
        for text in page_part.lines:
            slug, day, about, said, is_rule = index.read_line(text)
            is_heading = text[:1] == "#" and text.lstrip("#")[:1] in ("", " ")
            if not text.strip() or is_heading or slug in hidden:
                continue
            hidden.update([slug] if slug else [])
            home, day = os.path.dirname(page.path), day if page.path else ""
            label = (day or (page.day if page.path else ""), "" if scope == "project" else scope)
            doubt = _doubt((scope, home, slug), day, about, project.root, now) if slug and home else ""
            shown = neutral.line("- [%s] %s%s" % (" ".join(filter(None, label)), said, doubt))
            part.add(shown, slug, "rule" if is_rule else "index")
    return part


def rules(project: Project, noted: Part, own_ids: Collection[str] = ()) -> Part:
    """Rules out of the notes; and what the user ruled in other sessions, until they accept, change or reject it."""
    title = "Rules the user stated (in quotes: their words in earlier prompts; others are notes)"
    part = Part("rules", title, [], os.path.join(project.dir, settings.STATE_DIR, settings.REVIEW_FILE))
    for line in [line for line, item in noted.items.items() if item["kind"] == "rule"]:
        noted.lines.remove(line)
        part.add(line, noted.items.pop(line)["item"], "index")
    if not files.exists(part.source):
        return part
    from ..memory import review

    for rule in [rule for rule in review.stated(project.dir) if rule["session"] not in own_ids]:
        times = " (said in %d sessions)" % rule["times"] if rule["times"] > 1 else ""
        part.lines.append(neutral.line('- [%s] "%s"%s' % (rule["day"], rule["text"], times)))
    return part


def _doubt(place: tuple[str, str, str], day: str, about: list[str], root: str, now: float) -> str:
    """A mark for a note that may no longer hold; only those that look like it are read."""
    since = (clock.parse(day + "T23:59:59Z") or 0.0) if day else 0.0
    times = [files.modified(os.path.join(root, path)) for path in about]
    if since > now - settings.NOTE_UNUSED_DAYS * settings.DAY_SECONDS and all(0 < time < since for time in times):
        return ""
    from ..notes.shelf import Shelf

    note = Shelf(*place[:2]).note(place[2])  # scope, home; slug
    return neutral.line(note.mark(root, now)) if note else ""


def still_open(project: Project, own_ids: set[str]) -> Part:
    """Open threads and tasks, without those of the session itself."""
    path = os.path.join(project.dir, settings.STATE_DIR, settings.CURRENT_WORK_FILE)
    current = files.load_json(path, {"active_tasks": [_TASK]})
    tasks = [task for task in (current["active_tasks"] if current else ()) if task["id"] not in own_ids]
    part = Part("open", "Still open", [], path, "%s open" % invocation.own_command())
    for task in tasks[:6]:
        line = "- [%s] %s: %s" % (task["started"][:10], task["id"], task["description"])
        part.add(neutral.line(line), task["id"], "open")
        steps = [step for step in task["next_steps"] if not step.startswith("Unfinished: ") or step[12:72] not in line]
        said = [("blocked", each) for each in task["blockers"]] + [("next", step) for step in steps]
        part.lines += ["  %s: %s" % (kind, neutral.line(text)) for kind, text in said[:2]]
        part.lines += ["  +%d more" % len(said[2:])] if said[2:] else []
    part.missing = max(0, len(tasks) - 6)
    return part


def running(project: Project, own_id: str) -> Part:
    """Other sessions that run in this project now, with the files that they have changed."""
    part = Part("running", "Running now beside this session (do not undo its work)", [])
    for day, _, id in [str(marker.get("work", "")).partition("/") for marker in live_markers(project.dir)]:
        if clock.is_day(day) and safe_id(id) == id != own_id:
            path = os.path.join(project.dir, settings.WORK_DIR, day, id, settings.CAPTURE_FILE)
            state = files.load_json(path, _STATE) or {}
            asks, announced, changed = (state.get(key) or [] for key in ("asks", "announced", "files"))
            ask = ["no prompt yet", *[text for _, text in asks + announced if text]][-1]
            part.lines.append(neutral.line("- %s: %s%s" % (id, ask, changed and " [%s]" % ", ".join(changed[-5:]))))
    return part


def decisions(project: Project, own_ids: set[str], elsewhere: str = "", *, is_asked: bool = False) -> Part:
    """What the last sessions decided and surely learned, or all that more decided; not what stands `elsewhere`."""
    title, sessions, most = ("Decided", 20, 9) if is_asked else ("Decided or learned lately", 5, 2)
    part = Part("decisions", title, [], os.path.join(project.dir, settings.INDEX_FILE))
    for name, *_ in _menu_entries(part.source, 8 << 10)[:sessions]:
        day, id = day_and_id(name)
        value = (files.load_json(episode.path_of(project.dir, name), _LESSONS) if id not in own_ids else None) or {}
        items = [*value.get("decisions", ()), *([] if is_asked else value.get("learnings", ())[: value.get("sure", 1)])]
        items = [item for item in items if item[12:60] not in elsewhere]  # without "I've changed", as headlines are
        if items and files.exists(os.path.join(project.dir, *settings.RULES_LOG_PATH)):
            from ..memory import review

            judged = review.settled(project.dir)
            items = [item for item in items if review.Item("", item, "", "").key not in judged]
        part.lines += [neutral.line("- [%s] %s%s" % (day, item, from_outside(value))) for item in items[:most]]
    return part


def menu(project: Project, folder: str, own_ids: set[str]) -> Part:
    """Past sessions, newest first; those of this branch or `folder`, or that changed files, before the others."""

    def distance(entry: list[str]) -> int:
        _, _, branch, folders = entry
        is_below = bool(folder) and any((each + "/").startswith(folder + "/") for each in folders.split(", "))
        return -int(branch == project.branch != "") - int(is_below) - int(" [" in entry[1])

    path = os.path.join(project.dir, settings.INDEX_FILE)
    part = Part("menu", "Past sessions", [], path, "%s list" % invocation.own_command())
    entries = [entry for entry in _menu_entries(path) if day_and_id(entry[0])[1] not in own_ids]
    for name, done, branch, _ in sorted(entries, key=distance)[:20]:
        day, id = day_and_id(name)
        where = " (on %s)" % branch if branch not in ("", project.branch) else ""
        part.add(neutral.line("- [%s] %s: %s%s" % (day, id, done, where)), id, "menu")
    return part


def state(captured: Capture) -> Part:
    """Where the work was, for a conversation that was just compacted."""
    lines = ["- asked: " + ask for ask in captured.prompts()[-3:]]
    lines += ["- todo, open: " + todo for todo in captured.open_todos()]
    lines += ["- files changed so far: " + ", ".join(captured.files[-20:])] if captured.files else []
    for point in captured.checkpoints.values():
        lines += ["- decided or learned: " + item for item in point.get("learnings", [])]
        lines += ["- left to do: " + item for item in point.get("what_remains", [])]
    lines += ["- failed: %s; worked: %s" % (failed, fixed) for failed, fixed in captured.fixed]
    lines = [neutral.line(text) for text in lines]
    return Part("state", "This session's work before its conversation was compacted", lines, settings.CAPTURE_FILE)


def profile(project: Project, name: str, problems: list[str]) -> Part:
    """What to know when a skill starts: its profile, its last sessions, poor ratings."""
    page = pages.read(os.path.join(project.dir, settings.PROFILES_DIR, name + ".md"))
    title = "Profile of /%s [%s]" % (name, page.day) if page.day else "/" + name
    part = _page_part("profile", title, page, settings.PROFILE_LINES, problems)
    covered = []
    for file, text, *_ in _menu_entries(os.path.join(project.dir, settings.INDEX_FILE)):
        skill, colon, done = text.partition(": ")
        if colon and skill.startswith("/") and pages.skill_name(skill) == name:
            covered.append("%s %s" % (day_and_id(file)[0], done.partition(" [")[0]))
    shown = "; ".join(covered[: settings.SKILL_SESSIONS_SHOWN])
    part.lines += [neutral.line("Last sessions with /%s here: %s" % (name, shown))] if shown else []
    if os.path.exists(os.path.join(project.dir, *settings.RATINGS_PATH)):
        from ..memory import ratings

        poor = ratings.poor(project.dir, name)[:3]
        texts = ["%s of 5 on %s: %s" % (each["rating"], each.get("date"), each.get("note") or "") for each in poor]
        part.lines += [_shown("Rated poorly: " + "; ".join(text.rstrip(": ") for text in texts))] if poor else []
    return part


def usage() -> Part:
    read = "Commands begin with `%s`, then: `show <id>` reads a session or note in full; `search WORD`;"
    write = '`checkpoint --done "…" --remains "…" --learned "…"` when work is done or has to wait;'
    keep = '`remember "…"` keeps a fact, or what users want from now on;'
    end = "`thread close <id>` or `task done <id>` ends an open item."
    return Part("usage", "", [read % invocation.own_command(), write, keep, end])


def _page_part(name: str, title: str, page: pages.Curated, limit: int, problems: list[str]) -> Part:
    problems += [page.problem] if page.problem else []
    part = Part(name, title, [_shown(text) for text in page.lines[:limit]], page.path)
    part.missing = max(0, len(page.lines) - limit)
    return part


def _shown(text: str) -> str:
    """A line, redacted, neutral and cut."""
    indent, limit = text[: len(text) - len(text.lstrip(" "))], settings.CURATED_LINE_CHARS
    return cut(neutral.line(indent + passage(text.lstrip(" "), limit)), limit)


def _menu_entries(path: str, size: int = 64 << 10) -> list[list[str]]:
    """[episode's file name, text, branch, folders] of the newest entries of INDEX.md, which end with the last two."""
    try:
        text = files.read_part(path, size).decode("utf-8", "replace")
    except OSError:
        return []
    head = "- `%s/" % settings.EPISODES_DIR
    lines = [line for line in text.split("\n", 110)[:-1] if line.startswith(head)][:100]
    named = [line[len(head) :].partition("` - ")[::2] for line in lines]
    parted = [(name, *(said[:-1].rpartition(" (")[::2] if said.endswith(")") else (said, ""))) for name, said in named]
    return [[name, said, *place.partition("; ")[::2]] for name, said, place in parted]
