"""What other tools remember, as notes and episodes that name their source.

Claude Code's auto memory    a folder of Markdown pages, with MEMORY.md as its index
claude-mem                   a SQLite database: sdk_sessions, session_summaries, observations
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sqlite3
from typing import Any

from ..base import clock, files, settings
from ..base.text import brief, first_sentence, passage
from ..notes import note as notes
from ..notes.note import Note
from ..notes.shelf import Shelf
from ..session import episode, sessions, tombstones

AUTO_MEMORY, CLAUDE_MEM = "Claude Code auto memory", "claude-mem"
_LINK = re.compile(r"\]\([^)]+\.md\)")


def take_pages(folder: str, shelf: Shelf, now: float) -> list[str]:
    """Notes of a folder of pages; the slugs of those that are new or say more than before."""
    changed = []
    for name in [name for name in files.names(folder) if name.endswith(".md")]:
        data = files.read(os.path.join(folder, name), settings.CURATED_MAX_BYTES) or b""
        page = notes.parse(notes.slug_of(name[: -len(".md")]), data.decode("utf-8", "replace"))
        if name == settings.NOTES_INDEX_FILE:  # what it says beside naming the other pages
            page = Note("auto-memory", {"name": "Auto memory"}, [row for row in page.body if not _LINK.search(row)])
        if page.facts and page.slug:
            day = clock.iso(files.modified(os.path.join(folder, name)) or now)[:10]
            page.fields.update(source=AUTO_MEMORY, created=page.fields.get("created") or day, verified=day)
            changed += _put(shelf, page, now)
    return changed


def _put(shelf: Shelf, page: Note, now: float) -> list[str]:
    """Add a note, or what it says more than the one of that name."""
    former = shelf.note(page.slug)
    if former and former.is_unreadable:
        return []
    note = former or page
    known = {fact.text for fact in former.facts} if former else set()
    for fact in [fact for fact in page.facts if former and fact.text not in known]:
        note.add(fact.text)
    note.fields.update(name=brief(note.name, settings.NOTE_NAME_CHARS), type=note.type)
    note.fields["description"] = brief(note.description, settings.NOTE_DESCRIPTION_CHARS)
    if former and len(note.facts) == len(known):
        return []
    shelf.put(note, now)
    return [note.slug]


class ClaudeMem:
    """A database of claude-mem, which is only read."""

    def __init__(self, path: str) -> None:
        self.path = path
        columns = {row["name"] for row in self._rows("PRAGMA table_info(session_summaries)")}
        self.key = "memory_session_id" if "memory_session_id" in columns else "sdk_session_id"

    def _rows(self, query: str, *values: str) -> list[dict[str, Any]]:
        place = "file:%s?mode=ro" % self.path.replace("?", "%3f").replace("#", "%23")
        try:
            with contextlib.closing(sqlite3.connect(place, uri=True)) as database:
                database.row_factory = sqlite3.Row
                return [dict(row) for row in database.execute(query, values)]
        except sqlite3.Error as error:
            raise files.Unreadable(errno.EINVAL, "is not a database of claude-mem (%s)" % error, self.path) from None

    def projects(self) -> list[str]:
        return [str(row["project"]) for row in self._rows("SELECT DISTINCT project FROM session_summaries ORDER BY 1")]

    def take(self, project: str, project_dir: str, shelf: Shelf, now: float) -> tuple[list[str], list[str]]:
        """Episodes of a project's sessions and a note of its decisions: the names of those that are new."""
        own, made = "content_session_id" if self.key.startswith("memory") else "claude_session_id", []
        query = "SELECT m.*, s.%s AS claude_id FROM session_summaries m LEFT JOIN sdk_sessions s ON s.%s = m.%s"
        query = query % (own, self.key, self.key) + " WHERE m.project = ? ORDER BY m.created_at_epoch"
        rows = self._rows(query, project)
        observed = self._rows("SELECT * FROM observations WHERE project = ? ORDER BY created_at_epoch", project)
        known = {(episode.load(project_dir, name) or {}).get("session_id") for name in episode.names(project_dir)}
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            groups.setdefault(str(row[self.key]), []).append(row)
        for group in groups.values():
            value = _episode(group)
            name = sessions.episode_name(value["started"], value["id"])
            is_forgotten = tombstones.is_forgotten(project_dir, value["session_id"], value["ended"])
            if value["session_id"] not in known and not is_forgotten:
                files.write(episode.path_of(project_dir, name), episode.render(value), durable=True)
                made.append(name)
        decided = [row for row in observed if row["type"] == "decision"]
        facts = [brief("%s: %s" % (row["title"], row["narrative"] or row["subtitle"] or ""), 300) for row in decided]
        note = notes.new("Decisions from claude-mem", type="project", day=clock.iso(now)[:10])
        note.fields["source"] = CLAUDE_MEM
        for fact in facts[-settings.NOTE_LINES + 20 :]:
            note.add(fact)
        return made, _put(shelf, note, now) if facts else []


def _episode(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One session of claude-mem."""

    def said(key: str, chars: int = settings.ITEM_CHARS) -> list[str]:
        return [*dict.fromkeys(filter(None, (brief(str(row.get(key) or ""), chars) for row in rows)))]

    claude_id = str(rows[0].get("claude_id") or next(iter(rows[0].values())))
    times = [float(row["created_at_epoch"]) for row in rows]
    started, ended = (clock.iso(each / 1000 if each > 1e11 else each) for each in (min(times), max(times)))
    done = passage("\n\n".join(said("completed", settings.DONE_CHARS)), settings.DONE_CHARS)
    edited = re.findall(r"[^\[\]\",\s][^\[\]\",]*", " , ".join(str(row.get("files_edited") or "") for row in rows))
    paths = [*dict.fromkeys(path.strip() for path in edited)][: settings.FILES_IN_EPISODE]
    lists = {"asked": said("request", settings.ASK_CHARS)[-8:], "what_remains": said("next_steps")[-1:]}
    lists.update(files_changed=paths, tags=[], learnings=said("learned")[:12])
    short_id = sessions.safe_id(claude_id)[: settings.SHORT_ID_CHARS[0]]
    headline = first_sentence(done or "".join(lists["asked"][:1]), settings.SUMMARY_LINE_CHARS)
    value: dict[str, Any] = {"session_id": claude_id, "what_was_done": done, "outcome": "completed"}
    value.update(schema=settings.SCHEMA, id=short_id, started=started, ended=ended, headline=headline, **lists)
    value.update(tasks=[], commands_failed_then_fixed=[], duration_minutes=0, source=CLAUDE_MEM, thread=short_id)
    return value
