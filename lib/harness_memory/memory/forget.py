"""Removing sessions, notes or a text from everywhere they stand in a memory.

A tombstone without content comes first (see `forgotten`), so that a process killed at any point has
already made sure that nothing comes back; then facts, receipts and caches; the views are rebuilt last.
The audit trail in SECURITY is append-only and stays, with the commands and paths in it; whoever forgets a text that
is there is told.

A text is struck with the sentence it stands in: a fact of a note, an item of a list, a line of a page.
"""

from __future__ import annotations

import json
import os
import time
import unicodedata

from ..base import files, jsontext, neutral, settings, shape, yaml
from ..base.lock import Lock
from ..base.text import one_line
from ..inject import receipt, usefulness
from ..notes import note as notes
from ..notes import shelf as notebook
from ..session import capture, episode, liveness, sessions, tombstones
from . import rows, tasks, threads, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..notes.note import Note
    from ..notes.shelf import Shelf

_WAIT_SECONDS = 5.0
_SHORT_CHARS = 11
_UNTOUCHED = (settings.PROJECT_FILE, settings.FORGOTTEN_FILE)
_VIEWS = (settings.INDEX_FILE, settings.NOTES_INDEX_FILE, settings.CONVERSATION_FILE, settings.CURRENT_WORK_FILE) + (
    settings.ROWS_FILE,
)
# What a record is known and found by; everything else in it is content.
_NAMES = frozenset(
    ("schema", "id", "session_id", "claude_session", "started", "ended", "thread", "parent", "root", "transcript")
    + ("at", "created", "updated", "date", "task_id", "artifact", "session", "outcome", "source", "status", "project")
    + ("work", "cwd", "git_remote", "path", "file", "last_activity")
)
_META_NAMES = frozenset((*_NAMES, "pid", "channel", "model"))


class Busy(OSError):
    """A session's hooks are at work on its files."""


class Session:
    """What is left of a session, by the names of its files; "" for what is gone."""

    __slots__ = ("claude_id", "directory", "episode_name", "id")

    def __init__(self, id: str, claude_id: str, directory: str, episode_name: str) -> None:
        self.id = id
        self.claude_id = claude_id
        self.directory = directory
        self.episode_name = episode_name


# Sessions ------------------------------------------------------------------------------------------


def forget_sessions(store_root: str, project_dir: str, chosen: list[Session], now: float) -> None:
    """The caller is alone with the archives: nobody is putting them away, or bringing them back."""
    marks = _marks(store_root, project_dir, chosen)
    tombstones.add(project_dir, now, sessions=[each.claude_id for each in chosen if each.claude_id])
    ids = {each.id for each in chosen} | {each.claude_id for each in chosen if each.claude_id}
    doubt(project_dir)
    # While the sessions can still be named, should it have to be run again.
    _strike_elsewhere(project_dir, chosen, ids, marks)
    _remove_sessions(project_dir, chosen)
    try:
        drop_archived(store_root, project_dir, ids)
    finally:  # a damaged archive does not keep the rest from being done
        renew(store_root, project_dir)
        _strike_elsewhere(project_dir, chosen, ids, marks)  # what hooks have told and shown meanwhile


def _remove_sessions(project_dir: str, chosen: list[Session]) -> None:
    """All but what is archived."""
    for each in chosen:
        with _alone(project_dir, each.claude_id) as lock:
            if each.directory:
                files.remove_tree(each.directory, last=settings.META_FILE)  # by which it is found again
                files.assert_gone(each.directory)
            sessions.unmark_live(project_dir, each.claude_id)
            lock.discard()
        files.erase(threads.path(project_dir, each.id))
    episodes = [each.episode_name for each in chosen if each.episode_name]
    for name in episodes:
        files.erase(os.path.join(project_dir, settings.EPISODES_DIR, name))


def _strike_elsewhere(project_dir: str, chosen: list[Session], ids: set[str], marks: list[str]) -> None:
    _strike_tasks(project_dir, ids)
    _strike_ratings(project_dir, ids)
    strike_receipts(project_dir, marks, [each.id for each in chosen])


def doubt(project_dir: str) -> None:
    """What is derived holds words of everything: whatever becomes of us, it is made anew of what is left."""
    files.erase(rows.path(project_dir))
    drop_recall(project_dir)


def drop_recall(project_dir: str) -> None:
    """Remove recall's index, which its next reader makes again."""
    files.remove_tree(os.path.join(project_dir, settings.STATE_DIR, settings.RECALL_DIR))


def renew(store_root: str, project_dir: str) -> None:
    """Make anew what is derived; Busy, with the rest left to the next hook, when a session is at work on it."""
    if _has_views(project_dir):
        views.rebuild(project_dir, _WAIT_SECONDS)
    drop_recall(project_dir)


def _has_views(project_dir: str) -> bool:
    state = os.path.join(project_dir, settings.STATE_DIR)
    return settings.INDEX_FILE in files.listed(project_dir) or settings.CONVERSATION_FILE in files.listed(state)


def _marks(store_root: str, project_dir: str, chosen: list[Session]) -> list[str]:
    """What other sessions may have been told of these: their ids and what stood in the menu."""
    marks = [each.id for each in chosen]
    values = [episode.load(project_dir, each.episode_name) for each in chosen if each.episode_name]
    values += _archived_episodes(store_root, project_dir, {each.id for each in chosen if not each.episode_name})
    for value in values:
        if value:
            marks += [episode.headline(value), value.get("title") or "", *value["asked"][:1], *value["what_remains"]]
            for task in value["tasks"]:
                marks += [str(task["title"]), *map(str, task.get("remaining") or ())]
    return [mark for mark in marks if mark]


def _archived_episodes(store_root: str, project_dir: str, ids: set[str]) -> list[dict[str, Any] | None]:
    from . import archive

    if not ids:
        return []
    told = archive.texts(store_root, project_dir, [])
    values = [_value(text) for _, entry, path, text in told if entry["id"] in ids and path.endswith(".json")]
    return [value for value in values if episode.problem(value) == ""]


def strike_receipts(project_dir: str, marks: list[str], names: list[str]) -> None:
    """Take the lines that hold a mark, and the items of these names, out of what other sessions were told.

    A living session may just be writing there what it found before all this was gone: its hook is waited for.
    """
    living = {str(marker.get("work")) for marker in sessions.live_markers(project_dir)}
    for directory in sessions.all_directories(project_dir):
        if "/".join(directory.split(os.sep)[-2:]) in living:
            with _guard(os.path.join(directory, settings.RECEIPT_FILE), project_dir):
                _strike_receipt(directory, marks, names)
        else:
            _strike_receipt(directory, marks, names)


def _strike_receipt(directory: str, marks: list[str], names: list[str]) -> None:
    _strike_items(directory, names)
    path = os.path.join(directory, settings.RECEIPT_FILE)
    page = _text(path)
    kept = [line for line in page.split("\n") if not any(_tells(line, mark) for mark in marks)]
    if page and "\n".join(kept) != page:
        files.write(path, "\n".join(kept).encode("utf-8", "replace"))


def _strike_items(directory: str, names: list[str]) -> None:
    told = receipt.load(directory, is_needed=True)
    kept = [item for item in told["items"] if usefulness.name_of(item) not in names]
    if len(kept) < len(told["items"]):
        told["items"] = kept
        receipt.save(directory, told)


def _tells(line: str, mark: str) -> bool:
    """A short mark may stand in any sentence: it must be all that the line says."""
    return mark in line and (
        len(mark) > _SHORT_CHARS or line.endswith(("] " + mark, "next: " + mark)) or mark + ": " in line
    )


def _strike_tasks(project_dir: str, ids: set[str]) -> None:
    folder = tasks.directory(project_dir)
    with _Held(os.path.join(project_dir, settings.STATE_DIR, settings.VIEWS_LOCK)):
        for name in files.listed(folder):
            path = os.path.join(folder, name)
            task = _object(path)
            if not task or not ids.intersection(map(str, task.get("sessions") or ())):
                continue
            task["sessions"] = [each for each in task["sessions"] if each not in ids]
            task["checkpoints"] = [each for each in task.get("checkpoints") or () if each.get("session") not in ids]
            if task["sessions"]:
                files.write(path, jsontext.pretty(task).encode("utf-8", "replace"))
            else:
                files.erase(path)


def _strike_ratings(project_dir: str, ids: set[str]) -> None:
    path = os.path.join(project_dir, *settings.RATINGS_PATH)
    _rewrite_lines(path, lambda record: None if record.get("session_id") in ids else record)


def drop_archived(store_root: str, project_dir: str, ids: set[str]) -> None:
    """These, and what a killed run began to drop. The caller is alone with the archives."""
    from . import archive

    archive.drop(store_root, project_dir, lambda entry: bool(ids.intersection((entry["id"], entry["session_id"]))))


def archived_with(store_root: str, project_dir: str, text: str, troubles: list[OSError]) -> list[dict[str, Any]]:
    """The archived sessions that hold a text. An archive cannot be changed within: they go from it whole."""
    from . import archive

    is_hit = hits(text)
    told = archive.texts(store_root, project_dir, troubles, is_all=True)
    return [entry for _, entry, path, text_of_it in told if _holds(path, text_of_it, is_hit)]


# Notes ---------------------------------------------------------------------------------------------


def marks_of_note(shelf: Shelf, note: Note) -> list[str]:
    """What receipts may have said of it."""
    found = shelf.note(note.slug) or note
    return ["/%s.md)" % note.slug, found.description, *(fact.text for fact in found.facts)]


def forget_note(shelf: Shelf, note: Note, reach: list[Shelf]) -> None:
    """The note and every former version of it, also from before it came to this shelf from another in `reach`."""
    with notebook.Writing(shelf):
        files.erase(shelf.path(note.slug))
    for home in {each.home for each in (shelf, *reach) if each.home}:
        folder = notebook.Shelf("", "", home).archive
        for name in files.listed(folder):
            if notebook.archived_slug(name) == note.slug:
                files.erase(os.path.join(folder, name))
        drafts = os.path.join(home, settings.STATE_DIR, settings.DRAFTS_DIR)
        for name in files.listed(drafts):
            if name.startswith("note-%s." % note.slug):
                files.erase(os.path.join(drafts, name))


# Text ----------------------------------------------------------------------------------------------


class Stroke:
    """A file that holds a text: what it will be without (None: it goes), and the lines that show where it stood."""

    __slots__ = ("after", "path", "shown")

    def __init__(self, path: str, after: bytes | None, shown: list[str]) -> None:
        self.path = path
        self.after = after
        self.shown = shown


def hits(text: str) -> Callable[[str], bool]:
    """Tells whether a passage holds the text: in whatever case, whatever blanks are between its words, and as it was
    told to a session."""
    wanted = _alike(text)
    return lambda passage: wanted in _alike(passage)


def _alike(text: str) -> str:
    flat = one_line(text).casefold()
    return flat if flat.isascii() and "'''" not in flat else neutral.undone(unicodedata.normalize("NFC", flat))


def find_text(top: str, text: str) -> Iterator[Stroke]:
    """Every file below a directory of the store that holds the text, views apart: those are rebuilt."""
    is_hit = hits(text)
    for path in _files(top):
        stroke = stroke_of(path, top, is_hit)
        if stroke:
            yield stroke


def stroke_of(path: str, top: str, is_hit: Callable[[str], bool]) -> Stroke | None:
    try:
        data = files.read(path, settings.TRANSCRIPT_LINE_MAX_BYTES)
    except OSError as error:
        _pass_over(error)
        return None
    if not data:
        return None
    text = data.decode("utf-8", "surrogateescape")
    name = os.path.basename(path)
    try:
        if name.endswith(".json"):
            return _in_json(path, name, text, is_hit)
        if name.endswith(".jsonl"):
            return _in_lines(path, text, is_hit)
    except ValueError:
        pass  # damaged: it is plain text then
    if _is_named(path, is_hit):
        return Stroke(path, None, [name])
    if not _holds(path, text, is_hit):
        return None
    if name == settings.META_FILE:
        return _in_meta(path, text, is_hit)
    if _is_note(path):
        return _in_note(path, text, is_hit)
    after = tombstones.struck(text, is_hit)
    return Stroke(path, _encoded(after) if after.strip() else None, _shown(text, is_hit))


def _is_named(path: str, is_hit: Callable[[str], bool]) -> bool:
    """A page that people named after the text: a profile, a draft."""
    folder, name = path.split(os.sep)[-2:]
    return folder in (settings.PROFILES_DIR, settings.DRAFTS_DIR) and is_hit(name.replace("-", " "))


def left(top: str, text: str) -> list[str]:
    """Files that hold the text still: in names and paths that their records are found by."""
    is_hit = hits(text)
    found = []
    for path in _files(top, with_views=True):
        try:
            data = files.read(path, settings.TRANSCRIPT_LINE_MAX_BYTES)
        except OSError as error:
            _pass_over(error)
            continue
        text_of_it = (data or b"").decode("utf-8", "replace")
        names = (word.replace("-", " ") for word in text_of_it.split() if "-" in word)  # made of it
        if _holds(path, text_of_it, is_hit) or any(map(is_hit, names)):
            found.append(path)
    return found


def _holds(path: str, text: str, is_hit: Callable[[str], bool]) -> bool:
    """Whether a file holds what is sought, as it stands there or as what it says: JSON and YAML write `"` as `\\"`."""
    is_escaped = "\\" in text or "''" in text
    return is_hit(text) or (is_escaped and any(is_hit(leaf) for leaf in _leaves(_said(path, text))))


def _said(path: str, text: str) -> Any:
    """The values of a file that has any; None for a page, and for what is damaged."""
    name = path.replace("/", os.sep).rpartition(os.sep)[2]
    try:
        if name.endswith(".json"):
            return jsontext.loads(text)
        if name.endswith(".jsonl"):
            return [_value(line) for line in text.split("\n")]
        if name == settings.META_FILE:
            return yaml.load(text)
    except ValueError:
        return None
    return notes.parse(name[: -len(".md")], text).fields if _is_note(path) else None


def in_audit_trail(project_dir: str, text: str) -> list[str]:
    """Files of the audit trail that hold a text, and keep it."""
    is_hit = hits(text)
    found = []
    for directory, folders, names in os.walk(os.path.join(project_dir, settings.SECURITY_DIR), onerror=_pass_over):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(directory, name)
            try:
                data = files.read(path, settings.ARCHIVE_MAX_BYTES) if name == settings.AUDIT_FILE else b""
            except OSError as error:
                _pass_over(error)
                continue
            lines = (data or b"").decode("utf-8", "replace").split("\n")
            if any(is_hit(leaf) for line in lines for leaf in _leaves(_value(line))):
                found.append(path)
    return found


def strike(
    strokes: list[tuple[str, Stroke]], project_dir: str, is_hit: Callable[[str], bool], busy: dict[str, Busy]
) -> None:
    """Do it, to each file as it is now, alone with it; `busy` are locks that are not waited for again."""
    for top, stroke in strokes:
        guard = _guard(stroke.path, project_dir)
        try:
            if guard.path not in busy:
                with guard:
                    _strike(stroke.path, top, is_hit)
        except Busy as error:
            busy[guard.path] = error


def _strike(path: str, top: str, is_hit: Callable[[str], bool]) -> None:
    stroke = stroke_of(path, top, is_hit)
    if stroke and stroke.after is None:
        files.erase(path)
    elif stroke and stroke.after is not None:
        files.write(path, stroke.after, durable=True)


def await_sessions(project_dir: str) -> dict[str, Busy]:
    """Let every hook finish that read something before now, and may write it yet; by their locks, those that do not."""
    folder = os.path.join(project_dir, settings.STATE_DIR, settings.LIVE_DIR)
    ends = time.monotonic() + _WAIT_SECONDS
    busy = {}
    for name in files.listed(folder):
        if name.endswith(settings.LOCK_SUFFIX):
            lock = Lock(os.path.join(folder, name), max(0.0, ends - time.monotonic()))
            with lock as held:
                if not held:
                    busy[lock.path] = Busy(11, "a session is at work, and may tell it still; run it again", lock.path)
                lock.discard()  # else those of sessions that ended meanwhile would be left
    return busy


def phrases(text: str, strokes: list[Stroke]) -> list[list[str]]:
    """The words to remember the forgetting by: the text, and the whole words it was found to be a part of.

    None where signs are most of it: of "C++" only the letter would be left to know it by.
    """
    words = tombstones.words_of(text)
    wanted = "".join(words)
    if tombstones.weight(wanted) < tombstones.LEAST_WEIGHT:
        return []
    found = [words]
    for stroke in strokes:
        for line in stroke.shown:
            told = tombstones.words_of(line)
            for at in range(len(told) - len(words) + 1):
                window = told[at : at + len(words)]
                is_part = wanted in "".join(window) and window[1:-1] == words[1:-1]
                if is_part and window not in found and len(found) < 50:
                    found.append(window)
    return found


def drop_leftovers(tops: list[str], now: float) -> None:
    """Remove what killed writers left: nobody else looks there, and it may hold anything."""
    for top in tops:
        for directory, _, names in os.walk(top, onerror=_pass_over):
            for name in names:
                path = os.path.join(directory, name)
                if name.startswith(".") and name.endswith(settings.TEMP_SUFFIX) and _is_abandoned(path, now):
                    files.erase(path)


def _is_abandoned(path: str, now: float) -> bool:
    """Whether the process that its name tells, `.<file>.<pid>.<time>.tmp` or `.<file>.<pid>.tmp`, is gone."""
    if files.modified(path) < now - settings.STRAY_FILE_SECONDS:
        return True
    parts = os.path.basename(path).split(".")
    pid = next((int(part) for part in parts[-3:-1] if part.isdecimal()), 0)
    writer = liveness.client_process(pid) if pid else {}
    return not writer or liveness.is_alive(writer) is False


def _files(top: str, *, with_views: bool = False) -> Iterator[str]:
    for directory, folders, names in os.walk(top, onerror=_pass_over):
        folders[:] = sorted(name for name in folders if not (directory == top and name == settings.SECURITY_DIR))
        if not with_views and os.path.basename(directory) == settings.STATE_DIR:
            folders[:] = [name for name in folders if name != settings.RECALL_DIR]  # made anew, too
        for name in sorted(names):
            path = os.path.join(directory, name)
            is_view = not with_views and name in _VIEWS and directory in (top, os.path.join(top, settings.STATE_DIR))
            is_skipped = name in _UNTOUCHED or name.endswith((settings.LOCK_SUFFIX, ".tar.gz")) or is_view
            if not is_skipped and not os.path.islink(path):
                yield path


def _in_json(path: str, name: str, text: str, is_hit: Callable[[str], bool]) -> Stroke | None:
    value = jsontext.loads(text)
    shown = [leaf for leaf in _leaves(value) if is_hit(leaf)]
    after = tombstones.struck_tree(value, is_hit, _NAMES)
    if after == value:
        return None
    if name == settings.CAPTURE_FILE:
        # Its next reading must go on where it was: its shape stays, empty texts and all.
        is_sound = not shape.problem(after, capture.SPEC)
        return Stroke(path, _encoded(jsontext.compact(after) + "\n") if is_sound else None, shown)
    after = _without_empty(after)
    if name.startswith(settings.EPISODE_PREFIX) and episode.problem(after):
        return Stroke(path, None, shown)
    return Stroke(path, _encoded(jsontext.pretty(after)), shown)


def _in_lines(path: str, text: str, is_hit: Callable[[str], bool]) -> Stroke | None:
    shown, lines = [], []
    for line in text.split("\n"):
        value = jsontext.loads(line) if line.strip() else None
        after = tombstones.struck_tree(value, is_hit, _NAMES)
        shown += [leaf for leaf in _leaves(value) if is_hit(leaf)] if after != value else []
        lines.append(line if after == value else jsontext.compact(after))
    return Stroke(path, _encoded("\n".join(lines)), shown) if shown else None


def _in_meta(path: str, text: str, is_hit: Callable[[str], bool]) -> Stroke | None:
    try:
        meta = yaml.load(text)
    except ValueError:
        return Stroke(path, _encoded(tombstones.struck(text, is_hit)), _shown(text, is_hit))
    after = _without_empty(tombstones.struck_tree(meta, is_hit, _META_NAMES))
    if after == meta:
        return None
    return Stroke(path, _encoded(yaml.dump(after.items())), [leaf for leaf in _leaves(meta) if is_hit(leaf)])


def _in_note(path: str, text: str, is_hit: Callable[[str], bool]) -> Stroke:
    slug = os.path.basename(path)[: -len(".md")]
    note = notes.parse(slug, text)
    shown = [leaf for leaf in _leaves(note.fields) if is_hit(leaf) and not is_hit(text)] or _shown(text, is_hit)
    note.body = notes.without(note.body, [fact for fact in note.facts if is_hit(fact.text)])
    note.body = [line for line in note.body if not is_hit(line)]
    is_named = is_hit(note.name) or is_hit(slug.replace("-", " ")) or note.problems
    if is_named or not note.facts:
        return Stroke(path, None, shown)
    if is_hit(note.description):
        note.fields["description"] = ""
        note.fields["description"] = note.description
    fields = {key: value for key, value in note.fields.items() if key not in ("name", "description")}
    note.fields.update(_without_empty(tombstones.struck_tree(fields, is_hit, frozenset(("type", "scope", "session")))))
    after = notes.render(note) if note.has_head else "\n".join(note.body) + "\n"
    return Stroke(path, None if _holds(path, after, is_hit) else _encoded(after), shown)


def _without_empty(value: Any) -> Any:
    """Without what is left empty in lists of texts."""
    if isinstance(value, list):
        return [_without_empty(item) for item in value if item != ""]
    if isinstance(value, dict):
        return {key: _without_empty(item) for key, item in value.items()}
    return value


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)


def _shown(text: str, is_hit: Callable[[str], bool]) -> list[str]:
    return [line.strip() for line in text.split("\n") if is_hit(line)] or [text.strip()[:200]]


def _is_note(path: str) -> bool:
    parts = path.split(os.sep)
    folders = (parts[-3:-1], parts[-2:-1])
    return path.endswith(".md") and (
        folders[0] in ([settings.LEARNING_DIR, settings.TOPICS_DIR], [settings.ARCHIVE_DIR, settings.NOTES_ARCHIVE_DIR])
        or folders[1] == [settings.LOCAL_DIR]
    )


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# Alone with a file ---------------------------------------------------------------------------------


def _guard(path: str, project_dir: str) -> Lock:
    """The lock that whoever else writes this file holds."""
    parts = os.path.relpath(path, project_dir).split(os.sep)
    if parts[0] == settings.WORK_DIR and len(parts) > 3:
        session = sessions.load(os.path.join(project_dir, *parts[:3]))
        return _alone(project_dir, str(session.meta["claude_session"]) if session else parts[2])
    if parts[0] == settings.EPISODES_DIR:
        value = episode.load(project_dir, parts[-1]) or {}
        return _alone(project_dir, str(value.get("session_id") or sessions.day_and_id(parts[-1])[1]))
    if parts[:2] == [settings.STATE_DIR, settings.PROGRESS_DIR]:
        return _Held(os.path.join(project_dir, settings.STATE_DIR, settings.VIEWS_LOCK))
    if settings.LEARNING_DIR in parts and parts[-1].endswith(".md"):
        folder = path[: path.index(settings.LEARNING_DIR)]
        return _Held(os.path.join(folder, settings.LEARNING_DIR, settings.NOTES_LOCK))
    return _Held(path + settings.LOCK_SUFFIX, is_own=True)


def _alone(project_dir: str, claude_id: str) -> _Held:
    return _Held(sessions.lock(project_dir, claude_id, 0).path)


class _Held(Lock):
    """A lock that must be had; one made for the purpose goes afterwards."""

    __slots__ = ("is_own",)

    def __init__(self, path: str, is_own: bool = False) -> None:
        super().__init__(path, _WAIT_SECONDS)
        self.is_own = is_own

    def __enter__(self) -> _Held:  # type: ignore[override]
        if not super().__enter__():
            raise Busy(11, "another process is at work on it; run this again", self.path)
        return self

    def __exit__(self, *exc: object) -> None:
        if self.is_own:
            self.discard()
        super().__exit__(*exc)


def _rewrite_lines(path: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Each record of a JSONL file as `change` leaves it; None drops it."""
    if files.read(path) is None:
        return
    with _Held(path + settings.LOCK_SUFFIX):
        kept, is_changed = [], False
        for line in (files.read(path) or b"").split(b"\n"):
            try:
                record = json.loads(line.decode("utf-8"))
            except ValueError:
                record = None
            after = change(record) if isinstance(record, dict) else record
            is_changed = is_changed or after is not record
            if after is record:
                kept.append(line)
            elif after is not None:
                kept.append(jsontext.compact(after).encode("utf-8", "replace"))
        if is_changed:
            files.write(path, b"\n".join(kept), durable=True)


def _value(text: str) -> Any:
    """What a line of JSON says; of a damaged one the line itself."""
    try:
        return jsontext.loads(text) if text else None
    except ValueError:
        return text


def _object(path: str) -> dict[str, Any]:
    value = _value(_text(path))
    return value if isinstance(value, dict) else {}


def _text(path: str) -> str:
    try:
        return files.read_text(path) or ""
    except OSError as error:
        _pass_over(error)
        return ""


def _pass_over(error: OSError) -> None:
    """What is closed to us, or was removed meanwhile, is left alone; of what fails just now nobody can tell."""
    if files.is_passing(error):
        raise error
