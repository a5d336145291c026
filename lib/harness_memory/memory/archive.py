"""Sessions put away: compressed archives outside the live tree, one folder a project.

    <root>/archive/<project id>/<name>.tar.gz   files of sessions, named as below the project's directory
    <root>/archive/<project id>/<name>.jsonl    one line a session: {"schema", "id", "session_id", "started", "ended",
                                                "headline", "work", "episode", "digest", "bytes"},
                                                and "dropped" while it is being taken out

An archive takes its name when it and its index are whole; only then do the live files go. A process
killed in between leaves both, and packing the same content again is told by its digest.

Whoever packs, removes what was packed, drops or restores is `Alone`: what one command deletes no other reads.
"""

from __future__ import annotations

import errno
import gzip
import os
import tarfile
import time
import zlib

from ..base import clock, jsontext, settings
from ..base import files as store
from ..base.lock import Lock
from ..base.sha256 import hexdigest
from ..session import episode, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, BinaryIO

ENDING = ".tar.gz"
INDEX_ENDING = ".jsonl"
_DROPPED = "dropped"
_LEVEL = 4  # half the time of the default, a few percent larger
_BLOCK = 512
_CHUNK = 1024 * 1024
_PADDING_BYTES = 16  # more than the check sum and the size at its end
_NAME_BYTES = 100
_LATEST = 0o77777777777  # the year 2242: a header has no room for more
_LOCK_SECONDS = 5.0
_REST = b"0" + bytes(_NAME_BYTES) + b"ustar\x0000"  # a plain file, no link, the POSIX form


class Bundle:
    """One session's files, by their path below the project's directory, and what the index says of it."""

    __slots__ = ("entry", "files")

    def __init__(self, entry: dict[str, Any], files: dict[str, bytes]) -> None:
        self.entry = entry
        self.files = files

    def prints(self) -> dict[str, str]:
        return _prints(self.files)


class Alone:
    """With a project's archives, and with the sessions that go there; TimeoutError when another command is."""

    __slots__ = ("_is_needed", "_lock")

    def __init__(self, root: str, project_dir: str) -> None:
        self._lock = Lock(os.path.join(project_dir, settings.STATE_DIR, settings.ARCHIVE_LOCK), _LOCK_SECONDS)
        # Where nothing is remembered nothing is made.
        self._is_needed = os.path.isdir(project_dir) or os.path.isdir(folder(root, project_dir))

    def __enter__(self) -> None:
        if self._is_needed and not self._lock.__enter__():
            what = "another command is at work on the archives; run this again"
            raise TimeoutError(errno.ETIMEDOUT, what, self._lock.path)

    def __exit__(self, *exc: object) -> None:
        self._lock.discard()
        self._lock.__exit__(*exc)


def folder(root: str, project_dir: str) -> str:
    return os.path.join(root, settings.ARCHIVE_DIR, os.path.basename(project_dir))


def gather(project_dir: str, session_dir: str, episode_name: str, meta: dict[str, Any]) -> Bundle:
    """Read a session's directory, its episode, or both; "" for what is not to be taken. `meta` is its record."""
    files: dict[str, bytes] = {}
    work = "/".join(session_dir.split(os.sep)[-2:]) if session_dir else ""
    if session_dir:
        _read_tree(session_dir, "%s/%s" % (settings.WORK_DIR, work), files)
    if episode_name:
        path = os.path.join(project_dir, settings.EPISODES_DIR, episode_name)
        _read_file(path, "%s/%s" % (settings.EPISODES_DIR, episode_name), files)
    value = episode.load(project_dir, episode_name) if episode_name else None
    return Bundle(describe(work, episode_name, meta, value, files), files)


def describe(
    work: str, episode_name: str, meta: dict[str, Any], value: dict[str, Any] | None, files: dict[str, bytes]
) -> dict[str, Any]:
    """What an index says of a session: of its folder `<day>/<id>`, its episode, or both."""
    known = value or {}
    return {
        "schema": settings.SCHEMA,
        "id": str(meta.get("session_id") or known.get("id") or work.rpartition("/")[2]),
        "session_id": str(meta.get("claude_session") or known.get("session_id") or ""),
        "started": str(meta.get("started") or known.get("started") or ""),
        "ended": str(meta.get("ended") or known.get("ended") or ""),
        "headline": episode.headline(value) if value else str(meta.get("summary") or "")[: settings.SUMMARY_LINE_CHARS],
        "work": work,
        "episode": episode_name,
        "digest": _digest(_prints(files)),
        "bytes": sum(map(len, files.values())),
    }


def _prints(files: dict[str, bytes]) -> dict[str, str]:
    return {name: hexdigest(data) for name, data in files.items()}


def _digest(prints: dict[str, str]) -> str:
    """Of a session: of its files' names and digests."""
    return hexdigest("".join("%s %s\n" % each for each in sorted(prints.items())))


def pack(root: str, project_dir: str, bundles: Iterable[Bundle], now: float) -> str:
    """Write bundles into one new archive, whole and on disk when this returns; its name, "" when all were in one.

    The caller is `Alone`."""
    place = folder(root, project_dir)
    store.ensure_dir(place)
    known = _Known(root, project_dir)
    packed: list[dict[str, Any]] = []
    temporary = _temporary(place)
    try:
        with _Writing(temporary) as writing:
            for bundle in bundles:
                if not known.has(str(bundle.entry["digest"])):
                    packed.append(bundle.entry)
                    for path, data in bundle.files.items():
                        writing.add(path, data, now)
        return _publish(place, temporary, packed, now) if packed else ""
    finally:
        store.remove(temporary)


def _publish(place: str, temporary: str, packed: list[dict[str, Any]], now: float) -> str:
    name = _claim(place, packed, now)
    try:
        store.move(temporary, os.path.join(place, name + ENDING))
    except OSError:
        store.remove(os.path.join(place, name + INDEX_ENDING))
        raise
    return name


class _Known:
    """What need not be packed again: an index may tell of what its archive no longer holds."""

    __slots__ = ("_held", "_places", "_read", "_where")

    def __init__(self, root: str, project_dir: str) -> None:
        self._where = root, project_dir
        self._held: set[str] = set()
        self._read: set[str] = set()
        self._places: dict[str, list[str]] = {}
        for name, entry in entries(root, project_dir):
            self._places.setdefault(str(entry["digest"]), []).append(name)

    def has(self, digest: str) -> bool:
        """Whether it is in an archive that reads back; from now on it is in the new one at least."""
        for name in self._places.pop(digest, ()):
            if name not in self._read:
                self._read.add(name)
                held, trouble = sound(*self._where, name)
                self._held |= set() if trouble else held
        is_held = digest in self._held
        self._held.add(digest)
        return is_held


def sound(root: str, project_dir: str, name: str) -> tuple[set[str], OSError | None]:
    """The digests of the sessions that read back from an archive as they were packed, and what is wrong with it."""
    prints: dict[str, dict[str, str]] = {}
    trouble = None
    try:
        for path, data in files(root, project_dir, name, lambda _: True):
            prints.setdefault(owner_of(path), {})[path] = hexdigest(data)
    except OSError as error:
        trouble = error
    held = set()
    for entry in _index(root, project_dir, name):
        found: dict[str, str] = {}
        for owner in owned(entry):
            found.update(prints.get(owner, {}))
        if _digest(found) == entry["digest"]:
            held.add(_digest(found))
    return held, trouble


def names(root: str, project_dir: str) -> list[str]:
    """The archives of a project, oldest first: whole ones, with their index."""
    listed = {*store.listed(folder(root, project_dir))}
    stems = [name[: -len(ENDING)] for name in listed if name.endswith(ENDING)]
    stamp = len("sessions-2026-11-16T060048Z")  # those of one second are numbered: -2, … -10
    stems.sort(key=lambda stem: (stem[:stamp], len(stem), stem))
    return [stem for stem in stems if stem + INDEX_ENDING in listed]


def entries(root: str, project_dir: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(archive, what its index says of a session) of each session put away, oldest archive first."""
    for name in names(root, project_dir):
        for entry in _index(root, project_dir, name):
            yield name, entry


def _index(root: str, project_dir: str, name: str) -> list[dict[str, Any]]:
    try:
        path = os.path.join(folder(root, project_dir), name + INDEX_ENDING)
        data = store.read(path, settings.ARCHIVE_MAX_BYTES) or b""
    except OSError as error:
        if store.is_passing(error):
            raise
        return []
    found = [entry_of(line) for line in data.split(b"\n")]
    return [entry for entry in found if entry]


def files(root: str, project_dir: str, name: str, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """(path, content) of the files in an archive whose path is `wanted`; paths that are none of ours are left out."""
    path = os.path.join(folder(root, project_dir), name + ENDING)
    with os.fdopen(store.open_plain(path), "rb") as raw:
        refuse_padding(raw, path)
        try:
            with gzip.GzipFile(fileobj=raw) as packed, tarfile.open(fileobj=packed, mode="r:") as archive:
                for member in archive:
                    content = archive.extractfile(member) if member.isreg() and is_ours(member.name) else None
                    if content is not None and wanted(member.name):
                        yield member.name, content.read(settings.FILE_MAX_BYTES)
                # A garbled header passes for the end, and a garbled file for a sound one: the checksum tells.
                while packed.read(_CHUNK):
                    pass
        except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise store.Unreadable(errno.EINVAL, "is damaged (%s)" % error, path) from None


def refuse_padding(raw: BinaryIO, path: str) -> None:
    """What ends in zeros is not as it was written, and `gzip` would look at each of them."""
    raw.seek(-min(_PADDING_BYTES, os.fstat(raw.fileno()).st_size), os.SEEK_END)
    last = raw.read()
    if last and not any(last):
        raise store.Unreadable(errno.EINVAL, "is damaged (it ends in zeros)", path)
    raw.seek(0)


def texts(
    root: str, project_dir: str, troubles: list[OSError], *, is_all: bool = False
) -> Iterator[tuple[str, dict[str, Any], str, str]]:
    """(archive, index entry, path, text) of what can be searched, episodes, summaries and records, or of all.

    A damaged archive is noted in `troubles`, and the others are read all the same."""
    known: dict[str, dict[str, dict[str, Any]]] = {}
    for name, entry in entries(root, project_dir):
        known.setdefault(name, {}).update(dict.fromkeys(owned(entry), entry))
    for name, owners in known.items():
        try:
            for path, data in files(root, project_dir, name, (lambda path: True) if is_all else _is_searched):
                owner = owners.get(owner_of(path))
                if owner:
                    yield name, owner, path, data.decode("utf-8", "replace")
        except store.Unreadable as error:
            troubles.append(error)


def drop(root: str, project_dir: str, is_dropped: Callable[[dict[str, Any]], bool]) -> int:
    """Take sessions out of every archive, for good; how many copies there were. The caller is `Alone`.

    What is to go is marked in the index first, its title taken away: should we be killed, the next call finishes it.
    Unreadable, after all others, for a damaged archive that holds more than these."""
    place = folder(root, project_dir)
    number = 0
    troubles: list[OSError] = []
    listed = store.listed(place)
    # A killed run may have left an index alone: it tells what the sessions were.
    for name in [name[: -len(INDEX_ENDING)] for name in listed if name.endswith(INDEX_ENDING)]:
        index = os.path.join(place, name + INDEX_ENDING)
        known = _index(root, project_dir, name)
        kept = [entry for entry in known if not entry.get(_DROPPED) and not is_dropped(entry)]
        if len(kept) == len(known):
            continue
        try:
            if name + ENDING in listed:
                going = [{**entry, "headline": "", _DROPPED: True} for entry in known if entry not in kept]
                write_index(index, [*kept, *going])
                _rewrite(root, project_dir, name, {owner for entry in kept for owner in owned(entry)})
        except store.Unreadable as error:
            troubles.append(error)
            continue
        number += len(known) - len(kept)
        if kept:
            write_index(index, kept)
        elif not store.remove(index) and store.is_there(index):
            store.write(index, b"")  # nobody would find it again without its archive
    for trouble in troubles:
        what = "%s, and holds other sessions too: restore those, then delete it; all else is done" % trouble.strerror
        raise store.Unreadable(errno.EINVAL, what, trouble.filename)
    return number


def tidy(root: str, project_dir: str) -> None:
    """Remove what a killed run left: indexes without an archive, and temporary files.

    A young one may be of a process that packs where there are no locks."""
    place = folder(root, project_dir)
    oldest = time.time() - settings.STRAY_FILE_SECONDS
    listed = {*store.names(place)}
    for name in listed:
        if name.endswith(INDEX_ENDING) and name[: -len(INDEX_ENDING)] + ENDING not in listed:
            path = os.path.join(place, name)
            if store.modified(path) < oldest:
                store.remove(path)
    store.remove_temporaries(place, oldest)


def owner_of(path: str) -> str:
    """`<day>/<id>` or the episode's name: what an index entry knows a file by."""
    parts = path.split("/")
    return "/".join(parts[1:3]) if parts[0] == settings.WORK_DIR else parts[-1]


def owned(entry: dict[str, Any]) -> list[str]:
    """The owners of a session's files."""
    return [key for key in (entry["work"], entry["episode"]) if key]


def is_ours(path: str) -> bool:
    """A path that may be written below a project's directory: an episode, or a file in a session's own."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
        return False
    if parts[0] == settings.EPISODES_DIR:
        return len(parts) == 2 and sessions.is_episode_name(parts[1])
    is_work = parts[0] == settings.WORK_DIR and len(parts) > 3
    return is_work and clock.is_day(parts[1]) and sessions.safe_id(parts[2]) == parts[2]


class _Writing:
    """A private, compressed tar file that is on disk when it is closed without trouble."""

    __slots__ = ("_packed", "_raw")

    def __init__(self, path: str) -> None:
        store.inside(os.path.dirname(path))
        self._raw = os.fdopen(os.open(path, store.O_CREATE, settings.FILE_MODE), "wb")
        self._packed = gzip.GzipFile("", "wb", _LEVEL, self._raw)

    def __enter__(self) -> _Writing:
        return self

    def __exit__(self, kind: object, *exc: object) -> None:
        try:
            if kind is None:
                self._packed.write(bytes(2 * _BLOCK))
            self._packed.close()
            if kind is None:
                self._raw.flush()
                os.fsync(self._raw.fileno())
        finally:
            self._raw.close()

    def add(self, path: str, data: bytes, now: float) -> None:
        modified = min(max(int(now), 0), _LATEST)
        self._packed.write(_header(path, len(data), modified) + data + bytes(-len(data) % _BLOCK))


def _header(path: str, size: int, modified: int) -> bytes:
    """A member's header; `tarfile` makes the same, with ten times the work, and those of long names."""
    name = path.encode("utf-8", "surrogateescape")
    if len(name) > _NAME_BYTES:
        info = tarfile.TarInfo(path)
        info.size, info.mode, info.mtime = size, settings.FILE_MODE, modified
        return info.tobuf(tarfile.GNU_FORMAT)
    numbers = b"%07o\0%07o\0%07o\0%011o\0%011o\0" % (settings.FILE_MODE, 0, 0, size, modified)
    head = name.ljust(_NAME_BYTES, b"\0") + numbers
    check = sum(head) + 8 * 32 + sum(_REST)  # with blanks in its own place
    return (head + b"%06o\0 " % check + _REST).ljust(_BLOCK, b"\0")


def _rewrite(root: str, project_dir: str, name: str, owners: set[str]) -> None:
    path = os.path.join(folder(root, project_dir), name + ENDING)
    if not owners:
        store.erase(path)
        return
    temporary = _temporary(os.path.dirname(path))
    try:
        with _Writing(temporary) as writing:
            for member, data in files(root, project_dir, name, lambda member: owner_of(member) in owners):
                writing.add(member, data, time.time())
        store.move(temporary, path)
    finally:
        store.remove(temporary)


def _claim(place: str, packed: list[dict[str, Any]], now: float) -> str:
    """A name that no other archive has or takes: that of its index, which is put there by one process alone."""
    stem = "sessions-" + clock.stamp(clock.iso(now))
    temporary = _temporary(place)
    write_index(temporary, packed)
    try:
        for name in (stem, *("%s-%d" % (stem, number) for number in range(2, 10_000))):
            archive, index = (os.path.join(place, name + ending) for ending in (ENDING, INDEX_ENDING))
            if not os.path.lexists(archive) and _takes(temporary, index):
                return name
        raise FileExistsError(errno.EEXIST, "holds too many archives of one second", place)
    finally:
        store.remove(temporary)


def _takes(temporary: str, path: str) -> bool:
    """Whether nobody else had this path for a file, which has it now."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:
        if store.is_there(path):
            return False
        store.move(temporary, path)  # no file has two names here
    return True


def _temporary(place: str) -> str:
    return os.path.join(place, ".sessions.%d.%x%s" % (os.getpid(), time.time_ns(), settings.TEMP_SUFFIX))


def write_index(path: str, packed: list[dict[str, Any]]) -> None:
    store.write(
        path, "".join(jsontext.compact(entry) + "\n" for entry in packed).encode("utf-8", "replace"), durable=True
    )


def entry_of(line: bytes) -> dict[str, Any] | None:
    try:
        entry = jsontext.loads(line) if line else None
    except ValueError:
        return None
    keys = ("id", "session_id", "started", "ended", "headline", "work", "episode", "digest")
    is_whole = isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in keys)
    return entry if is_whole else None


def _is_searched(path: str) -> bool:
    name = path.rpartition("/")[2]
    return sessions.is_episode_name(name) or name in (settings.SUMMARY_FILE, settings.META_FILE)


def _read_tree(directory: str, name: str, files: dict[str, bytes]) -> None:
    with os.scandir(store.inside(directory)) as found:
        children = sorted(found, key=lambda child: child.name)
    for child in children:
        read = _read_tree if child.is_dir(follow_symlinks=False) else _read_file
        read(child.path, "%s/%s" % (name, child.name), files)


def _read_file(path: str, name: str, files: dict[str, bytes]) -> None:
    """OSError for what is no plain file of ours, or could not come back: such a session stays where it is."""
    if not is_ours(name):
        raise store.Unreadable(errno.EINVAL, "has a name that is not restored", path)
    data = store.read(path)
    if data is not None and not name.endswith(settings.TEMP_SUFFIX):
        files[name] = data
