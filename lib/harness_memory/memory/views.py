"""Views: what is derived from the facts, kept up to date one episode at a time.

    INDEX.md                        menu of episodes, newest first
    STATE/conversation_state.json   thread ledger (see `ledger`)
    STATE/current-work.json         what is in progress, what was completed on the last day of work

The facts are the episodes, the tasks (see `progress`) and what people said of threads (see `threads`).

Each view is a pure function of them, so `rebuild` writes byte for byte what `publish` keeps
incrementally. An episode is named in `STATE/dirty/` before it is written and until the views show
it: whoever next holds the lock finishes what a killed process left. Nothing but freshness depends
on the lock.
"""

from __future__ import annotations

import errno
import os

from ..base import files as store
from ..base import jsontext, settings
from ..base.lock import Lock
from ..base.text import one_line
from ..session import episode
from ..session.sessions import day_and_id, is_episode_name
from . import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_INDEX_HEAD = "# Session Memory Index\n\n## Recent Episodes (newest first)\n\n"
_LINE_HEAD = "- `%s/" % settings.EPISODES_DIR
_EVERYTHING = "everything"  # a mark for all episodes at once
TASKS = "tasks"  # a mark for the tasks


def publish(project_dir: str, name: str, data: bytes, wait_seconds: float) -> bool:
    """Write an episode and show it in the views. False when the views must wait for the next run."""
    path = os.path.join(project_dir, settings.EPISODES_DIR, name)
    with _lock(project_dir, wait_seconds) as held:
        # Marked while holding the lock: another holder cannot take the mark for an episode not yet written.
        _mark(project_dir, name)
        store.write(path, data, durable=True)
        if held:
            _refresh(project_dir)
        else:
            _mark_anew(project_dir, name)
    return held


def stage(project_dir: str, name: str, data: bytes) -> None:
    """Write an episode, to be shown by the next `catch_up`."""
    _mark(project_dir, name)
    store.write(os.path.join(project_dir, settings.EPISODES_DIR, name), data)
    _mark_anew(project_dir, name)


def change(project_dir: str, marks: list[str], wait_seconds: float, write: Callable[[], None]) -> bool:
    """Let `write` change a fact about marked episodes, or about `TASKS`, and show it in the views.

    False when the lock was not to be had: then nothing was written."""
    with _lock(project_dir, wait_seconds) as held:
        if held:
            for mark in marks:
                _mark(project_dir, mark)
            write()
            _refresh(project_dir)
    return held


def withdraw(project_dir: str, names: list[str], wait_seconds: float) -> bool:
    """Delete episodes and show it in the views."""
    with _lock(project_dir, wait_seconds) as held:
        if held:
            for mark in names if len(names) <= settings.REBUILD_ABOVE_MARKS else [_EVERYTHING]:
                _mark(project_dir, mark)
            for name in names:
                store.remove(os.path.join(project_dir, settings.EPISODES_DIR, name))
            _refresh(project_dir)
    return held


def catch_up(project_dir: str, wait_seconds: float) -> bool:
    """Finish what earlier runs left undone."""
    if not store.names(_dirty_dir(project_dir)):
        return True
    with _lock(project_dir, wait_seconds) as held:
        if held:
            _refresh(project_dir)
    return held


def threads(project_dir: str, wait_seconds: float, *, is_all: bool = True) -> list[dict[str, Any]]:
    """The threads, or the open ones, newest first; brought up to date if a killed run left the ledger behind."""
    path = _paths(project_dir)[1]
    if not os.path.isdir(os.path.dirname(path)):
        return []
    catch_up(project_dir, wait_seconds)
    try:
        return ledger.threads(store.read_text(path), is_all=is_all)
    except ValueError:
        if rebuild(project_dir, wait_seconds) is None:
            raise OSError(errno.EAGAIN, "cannot be used and is being made anew; try again", path) from None
    return ledger.threads(store.read_text(path), is_all=is_all)


def rebuild(project_dir: str, wait_seconds: float) -> list[str] | None:
    """Make every view anew from the facts. Names what changed; None when the lock was not to be had."""
    with _lock(project_dir, wait_seconds) as held:
        return _rebuild(project_dir) if held else None


def listed(project_dir: str) -> set[str]:
    """Names of the episodes in the menu, but for those that somebody was about to change."""
    marked = _marks(project_dir)
    try:
        return set() if _EVERYTHING in marked else {*_read_index(_read_views(project_dir)[0])} - {*marked}
    except ValueError:
        return set()


def doubt(project_dir: str) -> None:
    """Have every view made anew by whoever next holds the lock."""
    _mark_anew(project_dir, _EVERYTHING)


def refresh(project_dir: str, *, changed: Iterable[str] = (), wait_seconds: float = settings.LOCK_WAIT_SECONDS) -> bool:
    """Show the `changed` episodes in the views; False when the lock was busy and the next run does it."""
    for name in changed:
        _mark_anew(project_dir, name)
    return catch_up(project_dir, wait_seconds)


def _refresh(project_dir: str) -> None:
    """Bring the views up to date for every marked episode; the caller holds the lock."""
    old = _read_views(project_dir)
    try:
        index, lines = _read_index(old[0]), ledger.read(old[1])
        marked = _marks(project_dir)
        if _EVERYTHING in marked or len(marked) > settings.REBUILD_ABOVE_MARKS:
            raise ValueError("much has changed")
        _update(project_dir, [name for name in marked if is_episode_name(name)], index, lines)
        _write_views(project_dir, index, lines, old)
    except ValueError:
        _rebuild(project_dir)
    else:
        _unmark(project_dir, marked)


def _rebuild(project_dir: str) -> list[str]:
    marked = _marks(project_dir)
    index: dict[str, str] = {}
    groups: dict[str, list[dict[str, Any]]] = {}
    grown: list[str] = []
    for name in episode.names(project_dir):
        value = episode.load(project_dir, name)
        if value:
            index[name] = index_line(name, value)
            groups.setdefault(value["thread"], []).append(value)
            grown += _grow_tasks(project_dir, value)
    lines = {key: _line(project_dir, key, group) for key, group in groups.items()}
    changed = _write_views(project_dir, index, lines, _read_views(project_dir))
    _unmark(project_dir, marked)
    return [*dict.fromkeys(grown), *changed]


def _update(project_dir: str, marked: list[str], index: dict[str, str], lines: dict[str, str]) -> None:
    """Redo the menu lines of the marked episodes, and every thread that one of them is or was in."""
    loaded = {name: episode.load(project_dir, name) for name in marked}
    touched: set[str] = set()
    for name, value in loaded.items():
        quoted = '"%s"' % day_and_id(name)[1]
        touched.update(key for key, line in lines.items() if quoted in line)
        if value:
            index[name] = index_line(name, value)
            touched.add(value["thread"])
            _grow_tasks(project_dir, value)
        else:
            index.pop(name, None)
    names_by_id = {day_and_id(name)[1]: name for name in index}
    for key in touched:
        members = ledger.thread_at(lines[key])["sessions"] if key in lines else []
        names = {*loaded, *(names_by_id[member] for member in members if member in names_by_id)}
        values = [loaded[name] if name in loaded else episode.load(project_dir, name) for name in names]
        chain = [value for value in values if value and value["thread"] == key]
        if chain:
            lines[key] = _line(project_dir, key, chain)
        else:
            lines.pop(key, None)


def _line(project_dir: str, key: str, chain: list[dict[str, Any]]) -> str:
    """The ledger's line of a thread: what its sessions left, and what a person said of it."""
    thread = ledger.thread_of(chain)
    if store.is_directory(os.path.join(project_dir, settings.STATE_DIR, settings.THREADS_DIR)):
        from . import threads

        thread = threads.applied(thread, threads.read(project_dir, key))
    return ledger.line_of(thread)


def _grow_tasks(project_dir: str, value: dict[str, Any]) -> list[str]:
    if not value["tasks"]:
        return []
    from . import tasks

    return tasks.grow(project_dir, value)


def _tasks(project_dir: str) -> list[dict[str, Any]]:
    if not store.is_directory(os.path.join(project_dir, settings.STATE_DIR, settings.PROGRESS_DIR)):
        return []
    from . import tasks

    return tasks.load_all(project_dir)


def index_line(name: str, value: dict[str, Any]) -> str:
    files = [file.rsplit("/", 1)[-1] for file in value["files_changed"]]
    shown = ", ".join(files[: settings.FILES_IN_INDEX])
    if len(files) > settings.FILES_IN_INDEX:
        shown += ", +%d" % (len(files) - settings.FILES_IN_INDEX)
    skill = "/%s: " % value["skill_used"] if value.get("skill_used") else ""
    tail = " [%s]" % one_line(shown) if shown else ""
    folders = dict.fromkeys(file.rpartition("/")[0] for file in value["files_changed"] if "/" in file)
    where = "; ".join([value.get("branch") or "", ", ".join(list(folders)[: settings.DIRS_IN_INDEX])]).strip("; ")
    tail += " (%s)" % one_line(where) if where else ""
    return "%s%s` - %s%s%s" % (_LINE_HEAD, name, skill, episode.headline(value), tail)


def _paths(project_dir: str) -> tuple[str, str, str]:
    state = os.path.join(project_dir, settings.STATE_DIR)
    return (
        os.path.join(project_dir, settings.INDEX_FILE),
        os.path.join(state, settings.CONVERSATION_FILE),
        os.path.join(state, settings.CURRENT_WORK_FILE),
    )


def _read_views(project_dir: str) -> list[str | None]:
    texts = []
    for path in _paths(project_dir):
        try:
            texts.append(store.read_text(path))
        except OSError:
            texts.append(None)
    return texts


def _write_views(project_dir: str, index: dict[str, str], lines: dict[str, str], old: list[str | None]) -> list[str]:
    """Write what differs from the `old` texts; names it."""
    threads = ledger.ordered(lines.values())
    name = os.path.basename(project_dir).rpartition("-")[0]
    new = (
        _INDEX_HEAD + "".join([index[key] + "\n" for key in sorted(index, reverse=True)]),
        ledger.render(threads),
        jsontext.pretty(ledger.current_work(threads, _tasks(project_dir), name)),
    )
    changed = []
    for path, text, before in zip(_paths(project_dir), new, old):
        if text != before:
            store.write(path, text.encode("utf-8", "replace"))
            changed.append(os.path.basename(path))
    return changed


def _read_index(text: str | None) -> dict[str, str]:
    if text is None or not text.startswith(_INDEX_HEAD):
        raise ValueError("not an index as we write it")
    lines = [line for line in text[len(_INDEX_HEAD) :].split("\n") if line.startswith(_LINE_HEAD)]
    return {line[len(_LINE_HEAD) :].partition("`")[0]: line for line in lines}


def _lock(project_dir: str, seconds: float) -> Lock:
    return Lock(os.path.join(project_dir, settings.STATE_DIR, settings.VIEWS_LOCK), seconds)


def _dirty_dir(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.DIRTY_DIR)


def _mark(project_dir: str, name: str) -> None:
    store.touch(os.path.join(_dirty_dir(project_dir), name))


def _mark_anew(project_dir: str, name: str) -> None:
    """Without the lock, whose holder may have seen an earlier mark before there was anything to show."""
    store.write(os.path.join(_dirty_dir(project_dir), name), b"")


def _marks(project_dir: str) -> dict[str, tuple[int, int]]:
    directory = _dirty_dir(project_dir)
    names = [name for name in store.names(directory) if not name.startswith(".")]
    return {name: _identity(os.path.join(directory, name)) for name in names}


def _unmark(project_dir: str, marks: dict[str, tuple[int, int]]) -> None:
    """Take the marks away that are still the same ones."""
    for name, identity in marks.items():
        path = os.path.join(_dirty_dir(project_dir), name)
        if _identity(path) == identity:
            store.remove(path)


def _identity(path: str) -> tuple[int, int]:
    try:
        info = os.lstat(path)
    except OSError:
        return 0, 0
    return info.st_ino, info.st_mtime_ns
