"""How long sessions are kept: whole for a week, without artifacts for a month, then archived or deleted.

Every step is complete in itself, so that a run may be stopped anywhere: what is archived is on disk
before the live files go, and of a session's directory META.yaml goes last.
"""

from __future__ import annotations

import os
from functools import partial
from itertools import groupby

from ..base import clock, settings
from ..base import files as store
from ..base.sha256 import hexdigest
from ..session import episode, sessions, tombstones
from . import archive, threads, views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_LOCK_SECONDS = 5.0
_WENT_ON = "it went on meanwhile"
_NOT_WHOLE = "not all of it could be removed"


class Aged:
    """A session's directory, its episode (each may be ""), its record, and when the session was last at work."""

    __slots__ = ("claude_id", "directory", "episode", "meta", "seen")

    def __init__(self, directory: str, episode: str, claude_id: str, seen: float, meta: dict[str, Any]) -> None:
        self.directory = directory
        self.episode = episode
        self.claude_id = claude_id
        self.seen = seen
        self.meta = meta


class Plan:
    """What a prune would do: `stripped` lose their artifacts, `away` are archived or deleted."""

    __slots__ = ("away", "kept", "stripped", "unreadable")

    def __init__(self) -> None:
        self.kept = 0
        self.stripped: list[Aged] = []
        self.away: list[Aged] = []
        self.unreadable: list[str] = []


class Outcome:
    """The archives made, how many sessions were put away or deleted, and why which others stay."""

    __slots__ = ("archives", "left", "number")

    def __init__(self) -> None:
        self.archives: list[str] = []
        self.left: dict[str, str] = {}
        self.number = 0

    def note(self, aged: Aged, why: str) -> None:
        if why:
            self.left[_short_id(aged)] = why
        else:
            self.number += 1


def plan(project_dir: str, now: float, whole_days: float, days: float, seen: Callable[[], None]) -> Plan:
    """`seen` is called for each session looked at."""
    made = Plan()
    live = _living(project_dir)
    newest_whole = clock.iso(now - min(whole_days, days) * settings.DAY_SECONDS)[:10]
    for directory in sessions.all_directories(project_dir):
        seen()
        if os.path.basename(os.path.dirname(directory)) > newest_whole:
            made.kept += 1  # begun within the last days: no need to look when it ended
            continue
        aged = _aged(directory)
        if aged is None:
            made.unreadable.append(directory)
        elif aged.claude_id in live or now - aged.seen <= min(whole_days, days) * settings.DAY_SECONDS:
            made.kept += 1
        elif now - aged.seen > days * settings.DAY_SECONDS:
            made.away.append(aged)
        elif _has_artifacts(directory):
            made.stripped.append(aged)
        else:
            made.kept += 1
    return made


def strip(project_dir: str, aged: Aged) -> str:
    """Prune the artifacts of a session; why not, "" when it is done."""

    def act() -> None:
        for name in (settings.ARTIFACTS_DIR, settings.LOCAL_DIR):
            store.remove_tree(os.path.join(aged.directory, name))

    why = _undisturbed(project_dir, aged, partial(_is_as_seen, aged), act)
    return why or (_NOT_WHOLE if _has_artifacts(aged.directory) else "")


def put_away(root: str, project_dir: str, found: list[Aged], now: float, done: Callable[[], None]) -> Outcome:
    """Archive sessions, then remove the live files of each that is still as it was packed. The caller is alone with
    the archives."""
    archive.tidy(root, project_dir)
    made = Outcome()
    for start in range(0, len(found), settings.SESSIONS_IN_ARCHIVE):
        batch = found[start : start + settings.SESSIONS_IN_ARCHIVE]
        packed: list[tuple[Aged, dict[str, str]]] = []
        name = archive.pack(root, project_dir, _bundles(project_dir, batch, packed, made), now)
        made.archives += [name] if name else []
        _remove_packed(project_dir, packed, made, done)
    return made


def remove(project_dir: str, found: list[Aged], done: Callable[[], None]) -> Outcome:
    """Delete the directories."""
    made = Outcome()
    for aged in found:
        made.note(aged, _remove_directory(project_dir, aged, partial(_is_as_seen, aged)))
        done()
    _remove_days(found)
    return made


def _remove_packed(
    project_dir: str, packed: list[tuple[Aged, dict[str, str]]], made: Outcome, done: Callable[[], None]
) -> None:
    """Directories first: no session that went on loses its episode."""
    episodes = {}
    for aged, prints in packed:
        why = _remove_directory(project_dir, aged, partial(_is_as_packed, aged, prints))
        if not why and _episode_path(aged) in prints:
            episodes[aged.episode] = aged, prints[_episode_path(aged)]
        else:
            made.note(aged, why)
        done()
    _remove_days([aged for aged, _ in packed])
    if episodes:
        stay = _withdraw(project_dir, {name: told for name, (_, told) in episodes.items()})
        for name, (aged, _) in episodes.items():
            made.note(aged, _WENT_ON if name in stay else "")


def _withdraw(project_dir: str, prints: dict[str, str]) -> list[str]:
    """Delete episodes that are as they were packed, and show it in the views; those that are not."""
    stay: list[str] = []
    for name, told in prints.items():
        path = os.path.join(project_dir, settings.EPISODES_DIR, name)
        if _print(path) == told:
            store.remove(path)
        stay.extend([name] if store.is_there(path) else [])
    views.refresh(project_dir, is_full=True, wait_seconds=_LOCK_SECONDS)
    return stay


def _remove_days(found: list[Aged]) -> None:
    for day in {os.path.dirname(aged.directory) for aged in found if aged.directory}:
        try:
            os.rmdir(store.inside(day))  # if that was its last session
        except OSError:
            pass


def before(project_dir: str, instant: float, *, with_open: bool) -> tuple[list[Aged], int]:
    """Sessions last at work before an instant, with their episodes; how many were left for their open thread."""
    live = _living(project_dir)
    kept = set() if with_open else _open_sessions(project_dir)
    found, left = [], 0
    for aged in _everything(project_dir):
        if aged.seen >= instant or aged.claude_id in live:
            continue
        if _short_id(aged) in kept:
            left += 1
        else:
            found.append(aged)
    return found, left


class Restored:
    """By their ids: sessions of which something was not here, those in the way of whom one is at work here again, and
    those that were forgotten. `troubles` tell of archives that cannot be read, or not whole."""

    __slots__ = ("forgotten", "refused", "restored", "troubles")

    def __init__(self) -> None:
        self.troubles: list[OSError] = []
        self.restored: dict[str, None] = {}
        self.refused: dict[str, None] = {}
        self.forgotten: dict[str, None] = {}


def restore(root: str, project_dir: str, wanted: Callable[[dict[str, Any]], bool]) -> Restored:
    """Bring sessions back from the archives, which stay."""
    tombstones.refuse_if_damaged(project_dir)
    with archive.Alone(root, project_dir):
        return _restore(root, project_dir, wanted)


def _restore(root: str, project_dir: str, wanted: Callable[[dict[str, Any]], bool]) -> Restored:
    done = Restored()
    told = tombstones.load(project_dir)["sessions"]
    lives: dict[str, str] = {}
    chosen = _chosen(root, project_dir, wanted)
    taken = _taken(project_dir, {str(entry["id"]) for owners in chosen.values() for entry in owners.values()})
    for name in chosen:
        owners = _free(chosen[name], told, taken, done)
        held, trouble = archive.sound(root, project_dir, name) if owners else (set(), None)
        done.troubles += [trouble] if trouble else []
        for owner, entry in [*owners.items()]:
            is_whole = not trouble or entry["digest"] in held
            if not is_whole or lives.setdefault(owner, entry["started"]) != entry["started"]:
                del owners[owner]  # or it went on later as if it were another, in the same place
        for entry, files in _by_session(root, project_dir, name, owners, is_damaged=bool(trouble)) if owners else ():
            _put_back(project_dir, entry, files, done)
    views.refresh(project_dir, is_full=True, wait_seconds=_LOCK_SECONDS)
    return done


def _free(
    owners: dict[str, dict[str, Any]], told: dict[str, str], taken: dict[str, str], done: Restored
) -> dict[str, dict[str, Any]]:
    """Those that may come back."""
    free = {}
    for owner, entry in owners.items():
        if tombstones.covers(told, entry):
            done.forgotten[str(entry["id"])] = None
        elif taken.get(entry["id"], entry["started"]) != entry["started"]:
            done.refused[str(entry["id"])] = None
        else:
            free[owner] = entry
    return free


def _chosen(
    root: str, project_dir: str, wanted: Callable[[dict[str, Any]], bool]
) -> dict[str, dict[str, dict[str, Any]]]:
    """The wanted entries by archive, newest first, and by what they own there.

    The newest of a session stands before its older ones, but those may hold more: when a run is killed
    while it removes a directory, the next one packs what is left."""
    chosen: dict[str, dict[str, dict[str, Any]]] = {}
    for name, entry in reversed([*archive.entries(root, project_dir)]):
        if wanted(entry):
            chosen.setdefault(name, {}).update(dict.fromkeys(archive.owned(entry), entry))
    return chosen


def _taken(project_dir: str, ids: set[str]) -> dict[str, str]:
    """The start of every session here that has one of these short ids. One that was archived may have gone on since,
    as if it were another, or its short id be another's."""
    taken = {}
    for name in episode.names(project_dir):
        taken[sessions.day_and_id(name)[1]] = clock.unstamp(name[len(settings.EPISODE_PREFIX) :])
    for directory in sessions.all_directories(project_dir):
        session = sessions.load(directory) if os.path.basename(directory) in ids else None
        if session:
            taken[session.id] = session.started
    return taken


def _by_session(
    root: str, project_dir: str, name: str, owners: dict[str, dict[str, Any]], *, is_damaged: bool
) -> Iterator[tuple[dict[str, Any], dict[str, bytes]]]:
    """(index entry, files) of the sessions in an archive, where those of one stand together."""
    found = archive.files(root, project_dir, name, lambda path: archive.owner_of(path) in owners)
    together = groupby(_up_to_the_damage(found) if is_damaged else found, lambda file: _entry_of(file[0], owners))
    for entry, files in together:
        yield entry, dict(files)


def _entry_of(path: str, owners: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return owners[archive.owner_of(path)]


def _up_to_the_damage(found: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    try:
        yield from found
    except OSError:
        pass


def _put_back(project_dir: str, entry: dict[str, Any], files: dict[str, bytes], done: Restored) -> None:
    """Write what is not there while no hook works on the session, which may have been resumed since we looked.

    What has a record is whole, and what has an episode has its record."""
    lock = sessions.lock(project_dir, entry["session_id"], _LOCK_SECONDS)
    with lock as held:
        if not held or _is_taken(project_dir, entry):
            done.refused[str(entry["id"])] = None
            return
        for path in sorted(files, key=lambda path: (_is_episode(path), path.endswith("/" + settings.META_FILE))):
            target = os.path.join(project_dir, *path.split("/"))
            if not _is_there(target, files[path]):
                done.restored[str(entry["id"])] = None
                store.write(target, files[path])
        lock.discard()


def _is_taken(project_dir: str, entry: dict[str, Any]) -> bool:
    """Whether a session of this id has begun here at another time, as far as the directories tell, or its marker: that
    comes before any record."""
    place = "%s/%s" % (entry["started"][:10], entry["id"])
    if sessions.read_marker(project_dir, entry["session_id"]).get("work", place) != place:
        return True
    work = os.path.join(project_dir, settings.WORK_DIR)
    places = [os.path.join(work, day, entry["id"]) for day in store.listed(work)]
    found = [sessions.load(place) for place in places if store.is_directory(place)]
    return any(session.started != entry["started"] for session in found if session)


def _is_episode(path: str) -> bool:
    return path.startswith(settings.EPISODES_DIR + "/")


def _is_there(path: str, data: bytes) -> bool:
    """A file that a power cut has emptied is not."""
    try:
        return bool(os.lstat(path).st_size or not data)
    except OSError:
        return False


def _bundles(
    project_dir: str, batch: list[Aged], packed: list[tuple[Aged, dict[str, str]]], made: Outcome
) -> Iterator[archive.Bundle]:
    for aged in batch:
        if _has_gone_on(aged):
            made.note(aged, _WENT_ON)
            continue
        try:
            bundle = archive.gather(project_dir, aged.directory, aged.episode, aged.meta)
        except OSError as error:  # something in it is no plain file of ours, or cannot be read now
            if not aged.directory or store.is_there(aged.directory):
                made.note(aged, "%s: %s" % (os.path.basename(error.filename or aged.directory), error.strerror))
            continue
        if tombstones.covers(tombstones.load(project_dir)["sessions"], bundle.entry):
            made.note(aged, "it was forgotten")
            continue
        packed.append((aged, bundle.prints()))
        yield bundle


def _aged(directory: str) -> Aged | None:
    session = sessions.load(directory)
    if session is None:
        return None
    ends = (clock.parse(session.meta.get("ended")), clock.parse(session.started))
    seen = max(end for end in ends if end is not None)
    if session.meta["status"] == settings.ACTIVE:  # died, and no session has started since to find it
        seen = max(seen, store.modified(os.path.join(directory, settings.META_FILE)))
    return Aged(directory, "", str(session.meta["claude_session"]), seen, session.meta)


def _everything(project_dir: str) -> Iterator[Aged]:
    names = {sessions.day_and_id(name)[1]: name for name in episode.names(project_dir)}
    for directory in sessions.all_directories(project_dir):
        aged = _aged(directory)
        if aged:
            aged.episode = names.pop(os.path.basename(directory), "")
            value = episode.load(project_dir, aged.episode) if aged.episode else None
            aged.seen = max(aged.seen, clock.parse((value or {}).get("ended")) or 0.0)
            yield aged
    for name in names.values():
        value = episode.load(project_dir, name)
        if value:
            yield Aged("", name, str(value.get("session_id") or ""), clock.parse(value["ended"]) or 0.0, {})


def _short_id(aged: Aged) -> str:
    return os.path.basename(aged.directory) if aged.directory else sessions.day_and_id(aged.episode)[1]


def _open_sessions(project_dir: str) -> set[str]:
    return {session for thread in threads.load(project_dir) if thread.is_open for session in thread.sessions}


def _living(project_dir: str) -> set[str]:
    return {str(marker["claude_session"]) for marker in sessions.live_markers(project_dir)}


def _has_artifacts(directory: str) -> bool:
    return any(store.is_there(os.path.join(directory, name)) for name in (settings.ARTIFACTS_DIR, settings.LOCAL_DIR))


def _remove_directory(project_dir: str, aged: Aged, is_same: Callable[[], bool]) -> str:
    """Why it stays, "" when it is gone; a session of which there is but an episode has none."""

    def act() -> None:
        if aged.directory:
            store.remove_tree(aged.directory, last=settings.META_FILE)

    why = _undisturbed(project_dir, aged, is_same, act)
    return why or (_NOT_WHOLE if aged.directory and store.is_there(aged.directory) else "")


def _undisturbed(project_dir: str, aged: Aged, is_same: Callable[[], bool], act: Callable[[], None]) -> str:
    """Do it while nobody works on the session, if it is what it was; why not, "" when it is done."""
    lock = sessions.lock(project_dir, aged.claude_id, settings.SIBLING_LOCK_WAIT_SECONDS)
    with lock as held:
        if not held or sessions.read_marker(project_dir, aged.claude_id):
            return "it is at work"
        if not is_same():
            return _WENT_ON
        act()
        lock.discard()
    return ""


def _is_as_seen(aged: Aged) -> bool:
    again = _aged(aged.directory)
    return again is not None and again.seen == aged.seen


def _has_gone_on(aged: Aged) -> bool:
    """Whether it was at work since its age was told: packed now, it would be one of today that goes."""
    again = _aged(aged.directory) if aged.directory else None
    return again is not None and again.seen > aged.seen


def _is_as_packed(aged: Aged, prints: dict[str, str]) -> bool:
    """Its directory, that is; its episode is looked at when it goes."""
    if not aged.directory:
        return True
    try:
        found = archive.gather("", aged.directory, "", aged.meta).prints()
    except OSError:
        return False
    return found == {path: told for path, told in prints.items() if path != _episode_path(aged)}


def _episode_path(aged: Aged) -> str:
    return "%s/%s" % (settings.EPISODES_DIR, aged.episode)


def _print(path: str) -> str:
    try:
        return hexdigest(store.read(path) or b"")
    except OSError:
        return ""
