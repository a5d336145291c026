"""Every file of the store that breaks a rule, by each format's own reader. Reads; never writes.

For all files: plain files in plain directories, private to their owner, no leftovers of killed writers.
"""

from __future__ import annotations

import os
import stat
import time
from fnmatch import fnmatchcase

from ..audit import verify as chain
from ..base import files, jsontext, settings, yaml
from ..notes import note as notes
from ..notes import shelf as notebook
from ..project import identity
from ..session import capture, episode, sessions, tombstones
from . import archive, backfill, rebuild, tasks, threads, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..notes.shelf import Shelf

    Reader = Callable[[str], str]  # path to what is wrong with the file; "" when nothing is

DAMAGED, MODE, STRAY, VIEW = "damaged", "mode", "stray", "view"
REBUILD = "run: harness memory rebuild"

_REPAIR = "correct it, or move it out of the store"
_MOVE = "move it out of the store"
_FOREIGN = (".DS_Store", "Thumbs.db", "desktop.ini", ".gitignore", ".gitattributes", ".git", ".stfolder", ".stignore")
_META_SPEC = {"session_id": "text", "date": "day", "started": "instant", "status": {*settings.STATUSES}}


class Finding:
    __slots__ = ("kind", "path", "remedy", "what")

    def __init__(self, path: str, what: str, remedy: str, kind: str = DAMAGED) -> None:
        self.path = path
        self.what = what
        self.remedy = remedy
        self.kind = kind

    def as_json(self) -> dict[str, Any]:
        return {"file": self.path, "what": self.what, "remedy": self.remedy, "kind": self.kind}


def check_store(root: str) -> Iterator[Finding]:
    """The files that belong to no project."""
    if os.path.lexists(root):
        top = os.path.realpath(root)  # the store itself may be a link
        yield from _check_directory(top, (), lambda name: not identity.is_project_id(name))
        yield from _check_notes_index(notebook.user_shelf(root))


def check_project(project_dir: str) -> Iterator[Finding]:
    yield from check_files(project_dir)
    if os.path.isdir(project_dir):
        for name, what in views.stale(project_dir):
            yield Finding(os.path.join(project_dir, name), what, REBUILD, VIEW)
        yield from _check_notes_index(notebook.project_shelf(project_dir))


def check_files(project_dir: str) -> Iterator[Finding]:
    if not os.path.lexists(project_dir):
        return
    lost = {os.path.join(project_dir, settings.EPISODES_DIR, name) for name in rebuild.lost_episodes(project_dir)}
    for finding in _check_directory(project_dir, (), lambda name: True):
        if finding.path in lost:
            finding.remedy = REBUILD
            lost.discard(finding.path)
        yield finding
    for path in sorted(lost):
        yield Finding(path, "is missing, though its session is there", REBUILD)
    yield from check_audit(project_dir)


def check_audit(project_dir: str) -> Iterator[Finding]:
    try:
        trail = chain.verify(project_dir, episode.audit_heads(project_dir))
    except OSError as error:
        path = error.filename or os.path.join(project_dir, settings.SECURITY_DIR)
        yield Finding(path, "cannot be read (%s)" % error.strerror, "make it a plain file that you may read")
        return
    if trail.problem:
        yield Finding(trail.path, "%s (line %d)" % (trail.problem, trail.line), chain.REMEDY)


def _check_notes_index(shelf: Shelf) -> Iterator[Finding]:
    wanted = notebook.expected_index(shelf)
    if wanted is not None and not files.is_same(shelf.index, wanted) and (wanted or os.path.lexists(shelf.index)):
        yield Finding(shelf.index, "is stale" if os.path.lexists(shelf.index) else "is missing", REBUILD, VIEW)


def _check_directory(path: str, parts: tuple[str, ...], is_wanted: Callable[[str], bool]) -> Iterator[Finding]:
    """`parts` is where it lies below the store or the project."""
    try:
        info = os.lstat(path)
        entries = sorted(os.listdir(path)) if stat.S_ISDIR(info.st_mode) else []
    except OSError as error:
        if os.path.lexists(path):  # else a session has just removed it
            yield Finding(path, "cannot be read (%s)" % error.strerror, "make it readable for you")
        return
    is_lock = path.endswith(settings.LOCK_SUFFIX)
    if not stat.S_ISREG(info.st_mode) and (is_lock or not stat.S_ISDIR(info.st_mode)):
        yield Finding(path, "is not a plain file or directory", _MOVE)
        return
    if os.name == "posix" and info.st_mode & 0o077:
        what = "can be read by others (mode %04o)" % stat.S_IMODE(info.st_mode)
        yield Finding(path, what, "close it to others: chmod go-rwx (with -R for the whole store)", MODE)
    if stat.S_ISREG(info.st_mode):
        yield from _check_file(path, parts, info)
        return
    is_settled = info.st_mtime < time.time() - settings.STRAY_FILE_SECONDS  # a hook may be about to write META
    if len(parts) == 3 and parts[0] == settings.WORK_DIR and settings.META_FILE not in entries and is_settled:
        yield Finding(path, "has no %s" % settings.META_FILE, "move it away; its episode, if any, stays")
    for name in entries:
        if name not in _FOREIGN and is_wanted(name):
            yield from _check_directory(os.path.join(path, name), (*parts, name), lambda name: True)


def _check_file(path: str, parts: tuple[str, ...], info: os.stat_result) -> Iterator[Finding]:
    if parts[-1].startswith(".") and parts[-1].endswith(settings.TEMP_SUFFIX):
        if info.st_mtime < time.time() - settings.STRAY_FILE_SECONDS:
            yield Finding(path, "is a temporary file that nothing writes any more", "delete it", STRAY)
        return
    row = next((row for row in _FORMATS if _fits(parts, row[0].split("/"))), None)
    if row is None:
        yield Finding(path, "is not a file of the store", "move it elsewhere", STRAY)
        return
    try:
        what = row[1](path)
    except (OSError, ValueError) as error:
        what = "cannot be read (%s)" % (getattr(error, "strerror", "") or error)
    if what and os.path.lexists(path):
        yield Finding(path, what, *(row[2:] or [_REPAIR]))


def _fits(parts: tuple[str, ...], pattern: list[str]) -> bool:
    if pattern[0] == "**":
        parts = parts[-len(pattern) + 1 :]
        pattern = pattern[1:]
    return len(parts) == len(pattern) and all(map(fnmatchcase, parts, pattern))


# Readers -------------------------------------------------------------------------------------------


def _anything(path: str) -> str:
    return ""


def _json(spec: object = None) -> Reader:
    return lambda path: files.read_json(path, spec if spec is not None else {})[1]


def _episode(path: str) -> str:
    value, what = files.read_json(path, {})
    what = what or episode.problem(value)
    name = "" if what else sessions.episode_name(value["started"], value["id"])
    return what or ("" if name == os.path.basename(path) else "holds the session of %s" % name)


def _meta(path: str) -> str:
    from ..base import shape

    meta = yaml.load(files.read_text(path) or "")
    day, name = path.split(os.sep)[-3:-1]
    what = shape.problem(meta, _META_SPEC)
    if not what and (meta["date"], meta["session_id"]) != (day, name):
        what = "names another session than its folder"
    return what or ("" if sessions.load(os.path.dirname(path)) else "is incomplete")


def _lines(path: str) -> str:
    for number, line in enumerate((files.read(path, settings.ARCHIVE_MAX_BYTES) or b"").splitlines(), 1):
        try:
            is_record = isinstance(jsontext.loads(line), dict)
        except ValueError:
            is_record = False
        if not is_record:
            return "line %d is not one JSON object" % number
    return ""


def _page(path: str) -> str:
    data = files.read(path) or b""
    return page_problem(data.decode("utf-8")) or ("" if data.strip() else "is empty, as a power cut leaves a file")


def page_problem(text: str) -> str:
    """What keeps a text from being a Markdown page; "" when nothing does."""
    if "\0" in text:
        return "is binary, not Markdown"
    stripped = text.strip()
    if stripped[:1] in ("{", "[") and stripped[-1:] in ("}", "]"):
        try:
            jsontext.loads(stripped)
        except ValueError:
            return ""
        return "holds JSON, not Markdown"
    return ""


def _note(path: str) -> str:
    text = (files.read(path) or b"").decode("utf-8")
    problems = notes.parse(os.path.basename(path)[: -len(".md")], text).problems
    return page_problem(text) or next(("%s (line %d)" % (what, line) for line, what in problems), "")


def _archive(path: str) -> str:
    folder, name = os.path.split(path)
    root, project = os.path.split(folder)
    for _ in archive.load(os.path.dirname(root), os.path.join("", project), name[: -len(archive.ENDING)]):
        pass
    return ""


_DELETE = "delete it; the next run writes it again"
# The first pattern that fits decides; "**" stands for any folders.
_FORMATS: tuple[tuple[Any, ...], ...] = (
    ("**/*.lock", _anything),
    ("episodes/session-*.json", _episode),
    ("WORK/*/*/META.yaml", _meta),
    (
        "WORK/*/*/capture.json",
        _json(capture.SPEC),
        "delete it: the session's next run reads its transcript from the start",
    ),
    ("WORK/*/*/injected.json", _json(), _DELETE),
    ("WORK/*/*/summary.md", _page, REBUILD),
    ("WORK/*/*/session_memory_context.md", _page, "delete it; only the session's receipt is lost"),
    ("WORK/*/*/artifacts/*.json", _json()),
    ("WORK/*/*/artifacts/*", _anything),
    ("WORK/*/*/local/*.md", _note),
    (
        "WORK/*/*/*.damaged",
        lambda path: "could not be read and was replaced",
        "look whether you need it, then delete it",
    ),
    ("STATE/*.damaged", lambda path: "could not be read and was replaced", "look whether you need it, then delete it"),
    ("STATE/progress/*.json", _json(tasks.SPEC)),
    ("STATE/threads/*.json", _json(threads.SPEC)),
    ("STATE/live/*.json", _json(sessions.MARKER), "delete it, if no session is running"),
    ("STATE/forgotten.json", _json(tombstones.SPEC)),
    ("STATE/backfill.json", _json(backfill.EMPTY_SPEC), _DELETE),
    ("STATE/*.json", _json()),
    ("**/STATE/drafts/*", _anything),
    ("**/STATE/used/*", _anything),
    ("**/STATE/recall/*", _anything),
    ("**/STATE/recall/*/*", _anything),
    ("STATE/*", _anything),
    ("**/LEARNING/topics/*.md", _note, "correct it: harness memory note edit NAME"),
    ("**/archive/notes/*.md", _page),
    ("LEARNING/SIGNALS/ratings.jsonl", _lines, "correct this line; the others are not affected"),
    ("SECURITY/*/*/audit.jsonl", _anything),  # checked as a chain
    ("profiles/*.md*", _page),
    ("briefing.md*", _page, "take the version before (.1), or delete it"),
    ("INDEX.md", _page, REBUILD),
    ("MEMORY.md", _anything),
    ("user/MEMORY.md", _anything),
    ("project.json", _json()),
    ("archive/*/*.tar.gz", _archive, "bring it back from a backup; sessions before the damage can be restored"),
    ("archive/*/*.jsonl", _anything),
    ("health/failures/*.json", _json(), "delete it"),
    ("health/*", _anything),
    ("health/*/*", _anything),
    ("guard/*/*", _anything),
    ("triggers", _anything),
    ("*.json", _json()),
)
