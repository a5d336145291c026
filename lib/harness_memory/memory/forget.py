"""Removing sessions, notes or a text from everywhere in a memory.

A tombstone without content comes first (`session/tombstones.py`), derived files go next, then the facts; views are
rebuilt last. A killed run is finished by running it again. The audit trail is append-only and stays.

Each format is decoded, loses the sentences that hold a text, and is encoded. Matching ignores case, blanks between
words, hidden characters, Unicode composition, and the signs that make injected text inert.
"""

from __future__ import annotations

import contextlib
import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Callable

from ..base import files, jsontext, neutral, settings, shape, yaml
from ..base.lock import Lock
from ..base.text import one_line
from ..base.typing import Fields
from ..notes import note as notes
from ..notes.shelf import Shelf, archived_slug, shelves
from ..session import episode, sessions, tombstones
from . import archive, views
from .records import Record, load_all

Matcher = Callable[[str], bool]

_WAIT_SECONDS = 3.0
_VIEWS = (*settings.VIEWS, *(settings.STATE_DIR + "/" + name for name in (settings.ROWS_FILE, settings.REVIEW_FILE)))
_RENDERED = {os.path.basename(path) for path in _VIEWS}
_UNTOUCHED = {settings.PROJECT_FILE, settings.FORGOTTEN_FILE}
_HANDED = (settings.RECEIPT_FILE, settings.INJECTED_FILE)
_LOGS = (settings.RATINGS_PATH, settings.RULES_LOG_PATH)
_NOTE_FOLDERS = (settings.TOPICS_DIR, settings.NOTES_ARCHIVE_DIR, settings.LOCAL_DIR)
# What a record is identified and found by; every other text in it is content.
_NAMES = frozenset(
    ("schema", "id", "session_id", "claude_session", "started", "ended", "thread", "parent", "root", "transcript")
    + ("at", "created", "updated", "date", "task_id", "artifact", "session", "outcome", "source", "status", "project")
    + ("work", "cwd", "git_remote", "path", "file", "last_activity", "type", "scope", "pid", "channel", "model", "by")
)
# What other sessions may have been shown of one.
_SHOWN = ("headline", "title", "asked", "decisions", "learnings", "rules", "what_remains", "tasks", "passages")
_PHRASE_CHARS = 12  # a shorter one may be of any session
_MENTIONS = ("/%s.md)", "] %s: ", " %s] ", "show %s")


def forget_sessions(project_dir: str, selected: list[Record | archive.Archived], now: float) -> None:
    """The caller holds the archive's lock. Unreadable, when all else is done, for a damaged archive."""
    claude_ids = {each.claude_id for each in selected} - {""}
    names = {*claude_ids, *(name for each in selected for name in (each.id, each.episode_name) if name)}
    episodes = [{key: value.get(key) for key in _SHOWN} for value in filter(None, (each.episode for each in selected))]
    phrases: dict[str, None] = {}
    _tree(episodes, lambda text: bool(phrases.setdefault(text[12:] if text[10:12] == ": " else text)))
    tombstones.add(project_dir, now, sessions=claude_ids)
    with _facts_changing(project_dir, _mentions(names, phrases), names):
        for each in [each for each in selected if isinstance(each, Record)]:
            files.remove_tree(each.directory, last=settings.META_FILE)
            thread = os.path.join(project_dir, settings.STATE_DIR, settings.THREADS_DIR, each.id + ".json")
            marker = sessions.marker_path(project_dir, each.claude_id or each.id)
            _erase([each.directory, marker, thread, *filter(None, [each.episode_path])])
        archive.rewrite(project_dir, lambda each: {} if names & {each.id, each.claude_id} else each.files, now)


def forget_note(shelf: Shelf, note: notes.Note, reach: list[Shelf], project_dirs: list[str]) -> None:
    """The note, its former versions in every scope, and what receipts say of it."""
    whole = shelf.note(note.slug) or note
    paths = [shelf.path(note.slug)]
    for each in (each for each in (shelf, *reach) if each.home):
        paths += [path for path in _listed(each.archive) if archived_slug(os.path.basename(path)) == note.slug]
    names, texts = {note.slug, note.ref}, [whole.description, *(fact.text for fact in whole.facts)]
    for project_dir in project_dirs:
        with _facts_changing(project_dir, _mentions(names, texts), names):
            _erase(paths)


def forget_text(project_dir: str, tops: list[str], is_hit: Matcher, transcripts: Iterable[str], now: float) -> None:
    """Strike the text from every file below `tops` and from the archives, whose lock the caller holds.

    `transcripts` are sessions of which more than the record holds it. Unreadable, when all else is done, for a damaged
    archive."""
    paths = [os.path.relpath(each["file"], project_dir) for each in find_text(tops, is_hit)]
    # What a session was handed, it did not say.
    owners = {archive.owner(path.replace(os.sep, "/")) for path in paths if not path.endswith(_HANDED)}
    held = [each.claude_id for each in load_all(project_dir) if each.owner in owners]
    tombstones.add(project_dir, now, transcripts={*transcripts, *held})
    with _facts_changing(project_dir, is_hit):
        _rewrite(_fact_files(tops, _UNTOUCHED | _RENDERED), is_hit)
        archive.rewrite(project_dir, lambda each: struck(each, is_hit), now)


def struck(session: archive.Archived, is_hit: Matcher) -> archive.Contents:
    after = {path: strike(path, data, is_hit) for path, data in session.files.items()}
    return {path: data for path, data in after.items() if data is not None}


def find_text(tops: list[str], is_hit: Matcher) -> Iterator[Fields]:
    """Every fact file below the folders that holds the text: {file, removed (the whole of it goes), passages}."""
    for path, data in _contents(_fact_files(tops, _UNTOUCHED | _RENDERED)):
        after = strike(path, data, is_hit)
        if after != data:
            shown = [*filter(is_hit, passages(path, data))] or [os.path.basename(path)]
            yield {"file": path, "removed": after is None, "passages": shown}


def holding(tops: list[str], is_hit: Matcher) -> Iterator[str]:
    """Files with the text anywhere in them: also in a name that a record is found by, or in a word made of it."""
    for path, data in _contents(_fact_files(tops, _UNTOUCHED)):
        text = "\n".join((data.decode("utf-8", "replace"), *passages(path, data)))
        if is_hit(text) or is_hit(text.replace("-", " ")):
            yield path


@contextlib.contextmanager
def writers_stopped(project_dir: str) -> Iterator[None]:
    """Hold every lock under which facts of a project are written."""
    every = shelves(os.path.dirname(project_dir), project_dir)
    live = _listed(project_dir, settings.STATE_DIR, settings.LIVE_DIR)
    paths = [path for path in live if path.endswith(settings.LOCK_SUFFIX)]
    paths += [os.path.join(project_dir, *path) + settings.LOCK_SUFFIX for path in _LOGS]
    locks = [Lock(path, _WAIT_SECONDS, "a session is writing there. Run this again") for path in paths]
    with contextlib.ExitStack() as stack:
        for lock in (*locks, views.lock(project_dir, _WAIT_SECONDS), *(shelf.lock for shelf in every)):
            if os.path.isdir(os.path.dirname(lock.path)):
                stack.enter_context(lock)
        yield


@contextlib.contextmanager
def _facts_changing(project_dir: str, is_hit: Matcher, names: Collection[str] = ()) -> Iterator[None]:
    """Stop writers. Views and caches go first, so that no crash leaves the text in them, and are rebuilt last.

    Mentions in logs, tasks and what sessions were handed go before the facts, while a second run can still find these.
    """
    recall = os.path.join(project_dir, settings.STATE_DIR, settings.RECALL_DIR)
    facts = [os.path.join(project_dir, *path) for path in _LOGS]
    facts += _listed(project_dir, settings.STATE_DIR, settings.PROGRESS_DIR)
    facts += [os.path.join(each, name) for each in sessions.all_directories(project_dir) for name in _HANDED]
    try:
        with writers_stopped(project_dir):
            _erase(os.path.join(project_dir, name) for name in (*_VIEWS, os.path.join(os.pardir, settings.VIEW_FILE)))
            files.remove_tree(recall)
            _rewrite(facts, is_hit, names)
            yield
    finally:
        files.remove_tree(recall)
        list_again(shelves(os.path.dirname(project_dir), project_dir))
        views.rebuild(project_dir, _WAIT_SECONDS)


def list_again(places: list[Shelf]) -> None:
    """Bring the index of each shelf up to date."""
    for shelf in places:
        if os.path.isdir(shelf.folder) or files.exists(shelf.index):
            with shelf:
                pass


def _mentions(names: Collection[str], phrases: Iterable[str]) -> Matcher:
    """Matches what was handed over of something with these names and phrases."""
    marks = [mark % name for name in names for mark in _MENTIONS]
    return matcher(*marks, *(phrase for phrase in phrases if len(phrase) >= _PHRASE_CHARS))


def _fact_files(tops: list[str], skipped: set[str]) -> Iterator[str]:
    paths = (path for top in tops for path in archive.walk(top, (settings.SECURITY_DIR, settings.RECALL_DIR)))
    return (path for path in paths if os.path.basename(path) not in skipped)


def _listed(*folder: str) -> list[str]:
    return [os.path.join(*folder, name) for name in files.names(os.path.join(*folder))]


def _erase(paths: Iterable[str]) -> None:
    for path in paths:
        files.erase(path)


def _contents(paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Files that say something, with what they say; OSError for one that another attempt may read."""
    for path in paths:
        with contextlib.suppress(files.Unreadable):  # a link, for example
            data = files.read(path, settings.TRANSCRIPT_LINE_MAX_BYTES)
            if data:
                yield path, data


def _rewrite(paths: Iterable[str], is_hit: Matcher, names: Iterable[str] = ()) -> None:
    for path, data in _contents(paths):
        after = strike(path, data, is_hit, names)
        if after is None:
            files.erase(path)
        elif after != data:
            files.write(path, after, durable=True)


def matcher(*texts: str) -> Matcher:
    def normal(text: str) -> str:
        flat = one_line(text).casefold()
        return flat if flat.isascii() and "'''" not in flat else neutral.undone(unicodedata.normalize("NFC", flat))

    def is_hit(passage: str) -> bool:
        flat = normal(passage)
        return any(text in flat for text in wanted)

    wanted = [*map(normal, texts)]
    return is_hit


def strike(path: str, data: bytes, is_hit: Matcher, names: Iterable[str] = ()) -> bytes | None:
    """The file without sentences that are hit, and without items of `names`: `data` itself when there are none, None
    when nothing is left."""
    folder, name = path.replace("/", os.sep).split(os.sep)[-2:]
    text = data.decode("utf-8", "replace")
    try:
        after = _struck(folder, name, text, is_hit, frozenset(names))
    except ValueError:  # damaged: plain text then
        after = sentences(text, is_hit)
    if after == text:
        return data
    return after.encode("utf-8", "replace") if after and after.strip() else None


def passages(path: str, data: bytes) -> list[str]:
    texts: dict[str, None] = {}
    strike(path, data, lambda text: bool(texts.setdefault(text)))  # which is asked about every text
    return [line.strip() for text in texts for line in text.replace("\0", "\n").split("\n")]


def _struck(folder: str, name: str, text: str, is_hit: Matcher, names: frozenset[str]) -> str | None:
    is_named = folder in (*_NOTE_FOLDERS, settings.PROFILES_DIR)
    if is_named and is_hit(name.partition(".")[0].replace("-", " ")):
        return None
    if folder in _NOTE_FOLDERS and name.endswith(".md"):
        return _note(name[: -len(".md")], text, is_hit)
    if name == settings.RECEIPT_FILE and is_hit(text):  # an item is a line with those that are indented below it
        items = [item.replace("\0", "\n") for item in text.replace("\n  ", "\0  ").split("\n")]
        return sentences("\n".join([item for item in items if not is_hit(item)]), is_hit)
    if name.endswith(".jsonl"):
        values = [(line, jsontext.loads(line) if line.strip() else None) for line in text.split("\n")]
        rows = [(line, value, after) for line, value in values for after in _tree([value], is_hit, names)]
        return "\n".join([line if after == value else jsontext.compact(after) for line, value, after in rows])
    if name != settings.META_FILE and not name.endswith(".json"):
        return sentences(text, is_hit)
    value = yaml.load(text) if name == settings.META_FILE else jsontext.loads(text)
    after = _tree(value, is_hit, names, name != settings.CAPTURE_FILE)  # whose lists have fixed positions
    if after == value:
        return text
    if name.startswith(settings.EPISODE_PREFIX) and after.get("headline") != value.get("headline"):
        after["headline"] = next(filter(None, after.get("asked") or ()), "")  # what is left of it says little
    is_hollow = folder == settings.PROGRESS_DIR and value.get("sessions") and not after.get("sessions")
    if is_hollow or (name.startswith(settings.EPISODE_PREFIX) and shape.problem(after, episode.SPEC)):
        return None  # a task of forgotten sessions alone, or an episode that says nothing any more
    return yaml.dump(after.items()) if name == settings.META_FILE else jsontext.pretty(after)


def _note(slug: str, text: str, is_hit: Matcher) -> str | None:
    note = notes.parse(slug, text)
    if is_hit(note.name) or (note.problems and is_hit(text)):
        return None
    before = (note.body, note.fields)
    note.drop([fact for fact in note.facts if is_hit(fact.text)])
    note.body, note.fields = [line for line in note.body if not is_hit(line)], _tree(note.fields, is_hit)
    if (note.body, note.fields) == before:
        return None if is_hit(text) else text
    if note.fields:
        note.fields["description"] = note.description  # the first fact, when the description was struck
    after = notes.render(note) if note.fields else "\n".join(note.body) + "\n"
    return None if not note.facts or is_hit(after) else after


def sentences(text: str, is_hit: Matcher) -> str:
    """A text without the sentences that are hit, or the paragraphs, where a hit runs over several lines."""
    if not is_hit(text):
        return text
    lines = []
    for line in text.split("\n"):
        bare = line.lstrip(" \t-*+#>")
        kept = bare
        if is_hit(line):
            kept = "".join([each for each in split(bare) if not is_hit(each)]).rstrip()
        if kept == bare or kept.strip(" 0123456789.)"):  # more is left than the mark of a bullet
            lines.append(line[: len(line) - len(bare)] + kept)
    # A hit may run over several lines; and a paragraph of which nothing is left goes with its blank line.
    left = [each.strip("\n") for each in "\n".join(lines).split("\n\n") if each.strip() and not is_hit(each)]
    after = "\n\n".join(left) + "\n" * (text[-1:] == "\n")
    return "" if is_hit(after) else after


def split(line: str) -> list[str]:
    """The sentences of a line."""
    for end in (". ", "! ", "? ", "。", "！", "？"):
        line = line.replace(end, end + "\n")
    return line.split("\n")


def _tree(value: Any, is_hit: Matcher, names: frozenset[str] = frozenset(), drops_empty: bool = True) -> Any:
    """A JSON value with every text struck but those that name something, and no item of a list with one of `names`."""
    if isinstance(value, str):
        return sentences(value, is_hit)
    if isinstance(value, list):
        items = [item for item in value if names.isdisjoint(_named(item))]
        kept = str if not drops_empty and items and isinstance(items[-1], list) else ()  # columns, see `digest.packed`
        struck = [item if isinstance(item, kept) else _tree(item, is_hit, names, drops_empty) for item in items]
        return [after for item, after in zip(items, struck) if after == item or after != "" or not drops_empty]
    if not isinstance(value, dict):
        return value
    is_name = {key: key in _NAMES and isinstance(item, str) for key, item in value.items()}
    return {key: item if is_name[key] else _tree(item, is_hit, names, drops_empty) for key, item in value.items()}


def _named(item: Any) -> list[str]:
    """What an item of a list may name: `cart` is also the name in `cart#2`."""
    texts = item.values() if isinstance(item, dict) else (item,)
    return [text.partition("#")[0] for text in texts if isinstance(text, str)]
