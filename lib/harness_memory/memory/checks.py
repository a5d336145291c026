"""Every file of the store that breaks a rule, by each format's own reader. Reads; never writes.

For all files: plain files in plain directories, private to their owner. What is not ours is left alone.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from typing import Callable, NamedTuple

from ..audit import trail as chain
from ..base import config, files, settings, shape, yaml
from ..notes import note as notes
from ..project import identity
from ..session import capture, episode, sessions, tombstones
from . import archive, backfill, merge, ratings, review, tasks, threads

Reader = Callable[[str], str]  # path to what is wrong with the file; "" when nothing is

_META = {"session_id": "text", "date": "day", "started": "instant", "status": {*settings.STATUSES}}


class Finding(NamedTuple):
    file: str
    what: str
    remedy: str


def check(root: str, project_dirs: list[str]) -> Iterator[Finding]:
    """The findings in some projects, and in what belongs to none."""
    top = os.path.realpath(root)  # the store itself may be a link
    yield from _check(top, top)
    work = backfill.Backfill(root, "", time.time(), config.load(root))
    for project_dir in project_dirs:
        yield from _check(root, project_dir)
        try:
            lost = [os.path.dirname(each.path) for each in work.kept(project_dir, []) if not work.verdict(each)]
            for path in lost:
                yield Finding(path, "has no episode that can be read", "run: harness memory backfill")
            trail = chain.verify(project_dir, episode.audit_heads(project_dir))
            if trail.problem:
                yield Finding(trail.path, "%s (line %d)" % (trail.problem, trail.line), chain.REMEDY)
        except OSError as error:
            yield Finding(str(error.filename), "cannot be read (%s)" % error.strerror, "make it readable for you")


def _check(root: str, top: str) -> Iterator[Finding]:
    """Everything below a directory; of the root, all but the projects."""
    paths = [top]
    for path in paths:  # which grows by what each directory holds
        try:
            info = os.lstat(path)
            entries = sorted(os.listdir(path)) if stat.S_ISDIR(info.st_mode) else []
        except OSError as error:
            if os.path.lexists(path):  # else a session has just removed it
                yield Finding(path, "cannot be read (%s)" % error.strerror, "make it readable for you")
            continue
        entries = [entry for entry in entries if path != root or not identity.is_project_id(entry)]
        paths += [os.path.join(path, entry) for entry in entries if entry != ".git"]
        if not stat.S_ISREG(info.st_mode) and not stat.S_ISDIR(info.st_mode):
            yield Finding(path, "is not a plain file or directory", "move it out of the store")
            continue
        if os.name == "posix" and info.st_mode & 0o077:
            what = "can be read by others (mode %04o)" % stat.S_IMODE(info.st_mode)
            yield Finding(path, what, "close it to others: chmod go-rwx (with -R for the whole store)")
        _, kind, remedy, _ = merge.row_of(os.path.relpath(path, root).replace(os.sep, "/"))
        read = _READERS[kind] if stat.S_ISREG(info.st_mode) and kind != "-" else None
        try:
            what = read(path) if read else ""
        except (OSError, ValueError) as error:
            what = "cannot be read (%s)" % (getattr(error, "strerror", "") or error)
        if what and os.path.lexists(path):
            yield Finding(path, what, remedy)


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


def _lines(path: str, problem: Callable[[object], str]) -> str:
    lines = ratings.parsed(files.read(path, settings.ARCHIVE_MAX_BYTES) or b"", problem)
    return next(("line %d: %s" % (number, wrong) for number, (_, wrong) in enumerate(lines, 1) if wrong), "")


def _page(path: str) -> str:
    text = (files.read(path) or b"").decode("utf-8")
    what = "is binary, not Markdown" if "\0" in text else ""
    return what if text.strip() else "is empty, as a power cut leaves a file"


def _note(path: str) -> str:
    problems = notes.parse("", files.read_text(path)).problems
    return _page(path) or next(("%s (line %d)" % (what, line) for line, what in problems), "")


_READERS: dict[str, Reader] = {  # by the name in `formats.txt`
    "ratings": lambda path: _lines(path, ratings.problem),
    "rules": lambda path: _lines(path, lambda event: shape.problem(event, review.EVENT)),
    "replaced": lambda path: "could not be read and was replaced",
    # Damage of an archive shows when everything is read.
    "archive": lambda path: "".join("" for _ in archive.load(path)),
}
_READERS.update(episode=_episode, meta=_meta, page=_page, note=_note, json=_json({}), marker=_json(sessions.MARKER))
_READERS.update(capture=_json(capture.SPEC), task=_json(tasks.SPEC), thread=_json(threads.SPEC))
_READERS["forgotten"] = _json(tombstones.SPEC)
