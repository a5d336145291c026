"""Every file of the store that breaks a rule, by each format's own reader. Reads; never writes.

For all files: plain files in plain directories, private to their owner, no leftovers of killed writers.
"""

from __future__ import annotations

import os
import stat
from fnmatch import fnmatchcase

from ..audit import verify as chain
from ..base import files, jsontext, settings, shape, yaml
from ..notes import note as notes
from ..notes import shelf as notebook
from ..project import identity
from ..session import capture, episode, sessions, tombstones
from . import archive, rebuild, tasks, threads, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..notes.shelf import Shelf

    Reader = Callable[[str], str]  # path to what is wrong with the file; "" when nothing is

DAMAGED, MODE, STRAY, VIEW = "damaged", "mode", "stray", "view"
REBUILD = "run: harness memory rebuild"

_UNKNOWN = "is not a file of the store"
_REPAIR = "correct it, or move it out of the store"
_FOREIGN = (".DS_Store", "Thumbs.db", "desktop.ini", ".gitignore", ".gitattributes", ".git", ".stfolder", ".stignore")
_META = {"session_id": "text", "date": "day", "started": "instant", "status": {*settings.STATUSES}}


class Finding:
    __slots__ = ("kind", "path", "remedy", "what")

    def __init__(self, path: str, what: str, remedy: str, kind: str = DAMAGED) -> None:
        self.path = path
        self.what = what
        self.remedy = remedy
        self.kind = kind


def check_store(root: str, now: float) -> Iterator[Finding]:
    """The files that belong to no project."""
    if os.path.lexists(root):
        top = os.path.realpath(root)  # the store itself may be a link
        yield from _check(top, (), now, lambda name: not identity.is_project_id(name))
        yield from _check_notes_index(notebook.user_shelf(root))


def check_project(project_dir: str, now: float, *, with_views: bool = True) -> Iterator[Finding]:
    if not os.path.lexists(project_dir):
        return
    lost = {episode.path_of(project_dir, session.episode_name) for session in rebuild.lost(project_dir, now)}
    for finding in _check(project_dir, (), now):
        finding.remedy = REBUILD if finding.path in lost else finding.remedy
        yield finding
    for path in sorted(lost):
        if not os.path.lexists(path):
            yield Finding(path, "is missing, though its session is there", REBUILD)
    try:
        trail = chain.verify(project_dir, episode.audit_heads(project_dir))
        if trail.problem:
            yield Finding(trail.path, "%s (line %d)" % (trail.problem, trail.line), chain.REMEDY)
    except OSError as error:
        path = error.filename or os.path.join(project_dir, settings.SECURITY_DIR)
        yield Finding(path, "cannot be read (%s)" % error.strerror, "make it a plain file that you may read")
    if with_views and os.path.isdir(project_dir):
        for name, what in views.stale(project_dir):
            yield Finding(os.path.join(project_dir, name), what, REBUILD, VIEW)
        yield from _check_notes_index(notebook.Shelf("project", project_dir))


def _check_notes_index(shelf: Shelf) -> Iterator[Finding]:
    wanted = shelf.expected_index()
    if wanted is not None and not files.is_same(shelf.index, wanted) and (wanted or os.path.lexists(shelf.index)):
        yield Finding(shelf.index, "is stale" if os.path.lexists(shelf.index) else "is missing", REBUILD, VIEW)


def _check(
    path: str, parts: tuple[str, ...], now: float, is_wanted: Callable[[str], bool] = lambda name: True
) -> Iterator[Finding]:
    """A file or a directory; `parts` is its path below the store or the project."""
    try:
        info = os.lstat(path)
        entries = sorted(os.listdir(path)) if stat.S_ISDIR(info.st_mode) else []
    except OSError as error:
        if os.path.lexists(path):  # else a session has just removed it
            yield Finding(path, "cannot be read (%s)" % error.strerror, "make it readable for you")
        return
    is_file = stat.S_ISREG(info.st_mode)
    if not is_file and not stat.S_ISDIR(info.st_mode):
        yield Finding(path, "is not a plain file or directory", "move it out of the store")
        return
    if os.name == "posix" and info.st_mode & 0o077:
        what = "can be read by others (mode %04o)" % stat.S_IMODE(info.st_mode)
        yield Finding(path, what, "close it to others: chmod go-rwx (with -R for the whole store)", MODE)
    is_old = info.st_mtime < now - settings.STRAY_FILE_SECONDS  # else a hook may be writing there
    if is_file and parts[-1].startswith(".") and parts[-1].endswith(settings.TEMP_SUFFIX):
        if is_old:
            yield Finding(path, "is a temporary file that nothing writes any more", "delete it", STRAY)
    elif is_file:
        yield from _check_content(path, parts)
    elif len(parts) == 3 and parts[0] == settings.WORK_DIR and settings.META_FILE not in entries and is_old:
        yield Finding(path, "has no %s" % settings.META_FILE, "move it away; its episode, if any, stays")
    for name in entries:
        if name not in _FOREIGN and is_wanted(name):
            yield from _check(os.path.join(path, name), (*parts, name), now)


def _check_content(path: str, parts: tuple[str, ...]) -> Iterator[Finding]:
    name = "/".join(parts)
    read, remedy = next(row[1:] for row in _FORMATS if any(fnmatchcase(name, each) for each in row[0].split()))
    try:
        what = read(path)
    except (OSError, ValueError) as error:
        what = "cannot be read (%s)" % (getattr(error, "strerror", "") or error)
    if what and os.path.lexists(path):
        yield Finding(path, what, remedy, STRAY if what == _UNKNOWN else DAMAGED)


def _json(spec: object) -> Reader:
    return lambda path: files.read_json(path, spec)[1]


def _episode(path: str) -> str:
    value, what = files.read_json(path, episode.SPEC)
    name = sessions.episode_name(value["started"], value["id"]) if value else os.path.basename(path)
    return what or ("" if name == os.path.basename(path) else "holds the session of %s" % name)


def _meta(path: str) -> str:
    meta = yaml.load(files.read_text(path))
    is_here = (meta.get("date"), meta.get("session_id")) == tuple(path.split(os.sep)[-3:-1])
    return shape.problem(meta, _META) or ("" if is_here else "names another session than its folder")


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
    text = (files.read(path) or b"").decode("utf-8")
    if not text.strip():
        return "is empty, as a power cut leaves a file"
    return "is binary, not Markdown" if "\0" in text else ""


def _note(path: str) -> str:
    problems = notes.parse("", (files.read(path) or b"").decode("utf-8")).problems
    return _page(path) or next(("%s (line %d)" % (what, line) for line, what in problems), "")


def _archive(path: str) -> str:
    return "".join("" for _ in archive.load(path))  # damage shows when everything is read


# The first pattern that fits decides, and a star also stands for folders.
_FORMATS: tuple[tuple[str, Reader, str], ...] = (
    ("*.lock", lambda path: "", ""),
    ("episodes/session-*.json", _episode, _REPAIR),
    ("WORK/*/*/META.yaml", _meta, "correct it by hand"),
    ("WORK/*/*/capture.json", _json(capture.SPEC), "delete it: the next run reads the transcript from its start"),
    ("WORK/*/*/injected.json health/failures/*.json", _json({}), "delete it; it is only a receipt"),
    ("WORK/*/*/summary.md WORK/*/*/session_memory_context.md", _page, "delete it; the episode has what it says"),
    ("WORK/*/*/artifacts/*.json project.json STATE/triggers.json", _json({}), _REPAIR),
    ("*.damaged", lambda path: "could not be read and was replaced", "delete it, unless you can use it"),
    ("STATE/progress/*.json", _json(tasks.SPEC), _REPAIR),
    ("STATE/threads/*.json", _json(threads.SPEC), _REPAIR),
    ("STATE/live/*.json", _json(sessions.MARKER), "delete it, if no session is running"),
    ("STATE/forgotten.json", _json(tombstones.SPEC), _REPAIR),
    ("*LEARNING/topics/*.md WORK/*/*/local/*.md", _note, "correct it: harness memory note edit NAME"),
    ("LEARNING/SIGNALS/ratings.jsonl", _lines, "correct this line; the others are not affected"),
    ("briefing.md briefing.md.[0-9] profiles/*.md profiles/*.md.[0-9] *archive/notes/*.md", _page, _REPAIR),
    ("archive/*/*.tar.gz", _archive, "take it from a backup; sessions before the damage can be restored"),
    ("WORK/*/*/artifacts/* WORK/*/*/*.md *STATE/*", lambda path: "", ""),
    ("INDEX.md MEMORY.md user/MEMORY.md archive/*/*.jsonl health/* guard/* triggers", lambda path: "", ""),
    ("SECURITY/*/*/audit.jsonl", lambda path: "", ""),  # the trail is checked as a chain
    ("config.json guard.json installs.json", _json({}), _REPAIR),
    ("*", lambda path: _UNKNOWN, "move it elsewhere"),
)
