"""Memory that comes from elsewhere, or goes there, without git.

An export is a compressed tar file of what `sync` would send. Taking one over merges by the same rules (see `merge`), as
if both had begun with nothing. What other tools remember becomes notes and episodes that name their source:

    Claude Code's auto memory    a folder of Markdown pages, with MEMORY.md as its index
    claude-mem                   a SQLite database: sdk_sessions, session_summaries, observations
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterable
from typing import IO, Any

from ..base import clock, files, jsontext, settings
from ..base.text import brief, first_sentence, passage
from ..notes import note as notes
from ..notes.note import Note
from ..notes.shelf import Shelf
from ..session import episode, sessions, tombstones
from . import archive, merge, sync

_LINK = re.compile(r"\]\([^)]+\.md\)")
_PROJECTS = "SELECT DISTINCT project FROM session_summaries ORDER BY 1"
_SUMMARIES = """SELECT m.*, s.content_session_id FROM session_summaries m LEFT JOIN sdk_sessions s
    USING (memory_session_id) WHERE m.project = ? ORDER BY m.created_at_epoch"""
_DECISIONS = """SELECT memory_session_id, title, narrative FROM observations
    WHERE project = ? AND type = 'decision' ORDER BY created_at_epoch"""


def contents(root: str, homes: Iterable[str]) -> dict[str, bytes]:
    """All that `sync` would send of these homes, by path."""
    found: dict[str, bytes] = {}
    tops = [top for home in homes for top in (home, os.path.join(settings.ARCHIVE_DIR, home))]
    for file in [file for top in tops for file in archive.walk(os.path.join(root, top))]:
        path = os.path.relpath(file, root).replace(os.sep, "/")
        if merge.rule_of(path):
            found[path] = merge.shared(path, files.read(file, settings.ARCHIVE_MAX_BYTES) or b"")
    return {**found, settings.VERSIONS_FILE: files.read(os.path.join(root, settings.VERSIONS_FILE)) or b""}


def export(root: str, homes: list[str], out: IO[bytes], now: float) -> int:
    """Write the memory of these homes; the number of files."""
    sync.prepare(root, now)
    found = contents(root, homes)
    table = jsontext.loads(found[settings.VERSIONS_FILE])["files"]
    table = {path: row for path, row in table.items() if not row[1] or merge.home(path) in homes}
    found[settings.VERSIONS_FILE] = merge.encode_versions(table)
    archive.pack(out, sorted(found.items()), now)
    return len(found) - 1


def load(path: str) -> dict[str, bytes]:
    """What an export holds, as far as it belongs in a store; Unreadable when it is none."""
    with open(path, "rb") as raw:
        found = dict(archive.unpack(raw, path, merge.rule_of))
    if settings.VERSIONS_FILE not in found:
        raise files.Unreadable(errno.EINVAL, "is not an export of a memory", path)
    return found


def moved(found: dict[str, bytes], source: str, target: str) -> dict[str, bytes]:
    """The export of one project as that of another, which is the same at another path."""
    table = jsontext.loads(found[settings.VERSIONS_FILE])["files"]
    table = {path.replace(source, target, 1): row for path, row in table.items()}
    result = {path.replace(source, target, 1): data for path, data in found.items()}
    result.pop("%s/%s" % (target, settings.PROJECT_FILE), None)
    return {**result, settings.VERSIONS_FILE: merge.encode_versions(table)}


def take(root: str, found: dict[str, bytes], now: float) -> list[str]:
    """Merge an export into the store; the paths that changed."""
    sync.prepare(root, now)
    own = contents(root, sorted({merge.home(path) for path in found if "/" in path}))
    everything = {merge.blob_id(data): data for data in (*own.values(), *found.values())}
    ours, theirs = ({path: merge.blob_id(data) for path, data in side.items()} for side in (own, found))
    merged = merge.Merged({}, ours, theirs, everything.__getitem__)
    sync.apply(root, merged, now)
    return [path for path in merged.changes if path != settings.VERSIONS_FILE]


# Other tools
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
            created = page.fields.get("created") or day
            page.fields.update(source="Claude Code auto memory", created=created, verified=day)
            changed += _put(shelf, page, now)
    return changed


def _put(shelf: Shelf, page: Note, now: float) -> list[str]:
    """Add a note, or what it says more than the one of that name."""
    note = shelf.note(page.slug) or page
    texts = [fact.text for fact in note.facts]
    new = [fact.text for fact in page.facts if note is not page and fact.text not in texts]
    if note.is_unreadable or (note is not page and not new):
        return []
    for text in new:
        note.add(text)
    note.fields.update(name=brief(note.name, settings.NOTE_NAME_CHARS), type=note.type)
    note.fields["description"] = brief(note.description, settings.NOTE_DESCRIPTION_CHARS)
    shelf.put(note, now)
    return [note.slug]


def _rows(path: str, query: str, *values: str) -> list[dict[str, Any]]:
    """From a database of claude-mem, which is only read."""
    import sqlite3

    place = "file:%s?mode=ro" % path.replace("?", "%3f").replace("#", "%23")
    try:
        with contextlib.closing(sqlite3.connect(place, uri=True)) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(query, values)]
    except sqlite3.Error as error:
        raise files.Unreadable(errno.EINVAL, "is not a database of claude-mem (%s)" % error, path) from None


def projects(path: str) -> list[str]:
    return [str(row["project"]) for row in _rows(path, _PROJECTS)]


def take_sessions(path: str, project: str, project_dir: str) -> list[str]:
    """Episodes of a project's sessions; the names of those that are new."""
    present = {sessions.day_and_id(name)[1] for name in episode.names(project_dir)}
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(path, _SUMMARIES, project):
        groups.setdefault(str(row["memory_session_id"]), []).append(row)
    decisions = _rows(path, _DECISIONS, project)
    made = []
    for id, rows in groups.items():
        value = _episode(rows, [row for row in decisions if row["memory_session_id"] == id])
        is_forgotten = tombstones.is_forgotten(project_dir, value["session_id"], value["ended"])
        if value["id"] not in present and not is_forgotten:
            made.append(sessions.episode_name(value["started"], value["id"]))
            files.write(episode.path_of(project_dir, made[-1]), episode.render(value), durable=True)
    return made


def _episode(rows: list[dict[str, Any]], decided: list[dict[str, Any]]) -> dict[str, Any]:
    def texts(key: str) -> list[str]:
        return [*dict.fromkeys(brief(str(row[key]), settings.ITEM_CHARS) for row in rows if row[key])]

    claude_id = str(rows[0]["content_session_id"] or rows[0]["memory_session_id"])
    short_id = sessions.safe_id(claude_id)[: settings.SHORT_ID_CHARS[0]]
    started, ended = (clock.iso(row["created_at_epoch"] / 1000) for row in (rows[0], rows[-1]))
    done = passage("\n\n".join(str(row["completed"] or "") for row in rows), settings.DONE_CHARS)
    headline = first_sentence(done or "".join(texts("request")[:1]), settings.SUMMARY_LINE_CHARS)
    edited = re.findall(r"[^\[\]\",\s][^\[\]\",]*", " ".join(texts("files_edited")))
    value: dict[str, Any] = {"schema": settings.SCHEMA, "session_id": claude_id, "id": short_id, "thread": short_id}
    value.update(started=started, ended=ended, headline=headline, what_was_done=done, outcome="completed")
    value.update(asked=texts("request")[-8:], what_remains=texts("next_steps")[-1:], learnings=texts("learned")[:12])
    value["decisions"] = [brief("%s: %s" % (row["title"], row["narrative"]), 300) for row in decided[-12:]]
    value.update(files_changed=edited[: settings.FILES_IN_EPISODE], tags=[], tasks=[], commands_failed_then_fixed=[])
    return {**value, "duration_minutes": 0, "source": "claude-mem"}
