"""Views: what is derived from the episodes and tasks, kept up to date one episode at a time.

    INDEX.md                        menu of episodes, newest first
    STATE/conversation_state.json   thread ledger: chains of sessions, open while work remains
    STATE/current-work.json         what is in progress, what was completed on the last day of work

Each view is a pure function of the facts, so `rebuild` writes byte for byte what `publish` keeps
incrementally. An episode is named in `STATE/dirty/` before it is written and until the views show
it: whoever next holds the lock finishes what a killed process left. Nothing but freshness depends
on the lock.
"""

from __future__ import annotations

import os

from . import clock, episode, jsontext, progress, settings, store
from .lock import Lock
from .text import cut, first_sentence, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_INDEX_HEAD = "# Session Memory Index\n\n## Recent Episodes (newest first)\n\n"
_LINE_HEAD = "- `%s/" % settings.EPISODES_DIR


def publish(project_dir: str, name: str, data: bytes, wait_seconds: float) -> bool:
    """Write an episode and show it in the views. False when the views must wait for the next run."""
    path = os.path.join(project_dir, settings.EPISODES_DIR, name)
    with _lock(project_dir, wait_seconds) as held:
        # Marked while holding the lock: another holder cannot take the mark for an episode not yet written.
        _mark(project_dir, name)
        store.write(path, data, durable=True)
        if held:
            refresh(project_dir)
        else:
            _mark(project_dir, name)  # the holder may have seen the mark before the episode was there
    return held


def withdraw(project_dir: str, names: Iterable[str], wait_seconds: float) -> bool:
    """Delete episodes and show it in the views."""
    with _lock(project_dir, wait_seconds) as held:
        for name in names:
            _mark(project_dir, name)
            store.remove(os.path.join(project_dir, settings.EPISODES_DIR, name))
        if held:
            refresh(project_dir)
    return held


def catch_up(project_dir: str, wait_seconds: float) -> bool:
    """Finish what earlier runs left undone."""
    if not store.names(_dirty_dir(project_dir)):
        return True
    with _lock(project_dir, wait_seconds) as held:
        if held:
            refresh(project_dir)
    return held


def rebuild(project_dir: str, wait_seconds: float) -> list[str] | None:
    """Make every view anew from the facts. Names what changed; None when the lock was not to be had."""
    with _lock(project_dir, wait_seconds) as held:
        if not held:
            return None
        marked = store.names(_dirty_dir(project_dir))
        episodes = {name: episode.load(project_dir, name) for name in episode.names(project_dir)}
        known = {name: value for name, value in episodes.items() if value}
        for value in known.values():
            progress.grow(project_dir, value)
        index = {name: index_line(name, value) for name, value in known.items()}
        threads = [thread_of(group) for group in _grouped(known.values())]
        changed = _write_views(project_dir, index, [(thread, _thread_line(thread)) for thread in threads])
        _unmark(project_dir, marked)
        return changed


def refresh(project_dir: str) -> None:
    """Bring the views up to date for every marked episode; the caller holds the lock."""
    marked = store.names(_dirty_dir(project_dir))
    index = _read_index(project_dir)
    ledger = _read_ledger(project_dir)
    if index is None or ledger is None:
        index, ledger, marked = {}, {}, sorted({*marked, *episode.names(project_dir)})
    loaded = {name: episode.load(project_dir, name) for name in marked}
    touched: set[str] = set()
    for name, value in loaded.items():
        short_id = _short_id(name)
        touched.update(key for key, (thread, _) in ledger.items() if short_id in thread["sessions"])
        if value:
            index[name] = index_line(name, value)
            touched.add(value["thread"])
            progress.grow(project_dir, value)
        else:
            index.pop(name, None)
    _recompute(project_dir, touched, index, ledger, loaded)
    _write_views(project_dir, index, list(ledger.values()))
    _unmark(project_dir, marked)


def index_line(name: str, value: dict[str, Any]) -> str:
    files = [file.rsplit("/", 1)[-1] for file in value["files_changed"]]
    shown = ", ".join(files[: settings.FILES_IN_INDEX])
    if len(files) > settings.FILES_IN_INDEX:
        shown += ", +%d" % (len(files) - settings.FILES_IN_INDEX)
    skill = "/%s: " % value["skill_used"] if value.get("skill_used") else ""
    tail = " [%s]" % one_line(shown) if shown else ""
    return "%s%s` - %s%s%s" % (_LINE_HEAD, name, skill, episode.headline(value), tail)


def thread_of(episodes: list[dict[str, Any]]) -> dict[str, Any]:
    """A chain of sessions as one thread of work."""
    chain = sorted(episodes, key=lambda value: (value["started"], bool(value.get("parent")), value["id"]))
    last = max(chain, key=lambda value: (value["ended"], value["id"]))
    titles = [value["title"] for value in chain if value.get("title")]
    asked = next((value["asked"][0] for value in chain if value["asked"]), "")
    return {
        "id": chain[0]["thread"],
        "title": titles[-1] if titles else cut(asked, settings.SUMMARY_LINE_CHARS) or episode.headline(chain[0]),
        "status": "open" if last["what_remains"] else "closed",
        "summary": first_sentence(last["what_was_done"], settings.ITEM_CHARS),
        "next_steps": last["what_remains"],
        "channels": sorted({value["channel"] for value in chain if value.get("channel")}),
        "opened_at": chain[0]["started"],
        "last_activity": last["ended"],
        "sessions": [value["id"] for value in chain],
        "branch": last.get("branch") or "",
        "model": last.get("model") or "",
    }


def _recompute(
    project_dir: str,
    touched: set[str],
    index: dict[str, str],
    ledger: dict[str, tuple[dict[str, Any], str]],
    loaded: dict[str, dict[str, Any] | None],
) -> None:
    names_by_id = {_short_id(name): name for name in index}
    for key in touched:
        members = list(ledger[key][0]["sessions"]) if key in ledger else []
        group = {}
        for short_id in members:
            name = names_by_id.get(short_id, "")
            if name:
                group[name] = loaded[name] if name in loaded else episode.load(project_dir, name)
        group.update((name, value) for name, value in loaded.items() if value and value["thread"] == key)
        chain = [value for value in group.values() if value and value["thread"] == key]
        if chain:
            thread = thread_of(chain)
            ledger[key] = (thread, _thread_line(thread))
        else:
            ledger.pop(key, None)


def _grouped(episodes: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for value in episodes:
        groups.setdefault(value["thread"], []).append(value)
    return list(groups.values())


def _write_views(project_dir: str, index: dict[str, str], ledger: list[tuple[dict[str, Any], str]]) -> list[str]:
    ledger.sort(key=lambda item: (item[0]["last_activity"], item[0]["id"]), reverse=True)
    threads = [thread for thread, _ in ledger]
    state = os.path.join(project_dir, settings.STATE_DIR)
    views = (
        (
            os.path.join(project_dir, settings.INDEX_FILE),
            _INDEX_HEAD + "".join(index[name] + "\n" for name in sorted(index, reverse=True)),
        ),
        (os.path.join(state, settings.CONVERSATION_FILE), _ledger_text(threads, [line for _, line in ledger])),
        (os.path.join(state, settings.CURRENT_WORK_FILE), jsontext.pretty(_current_work(project_dir, threads))),
    )
    return [
        os.path.basename(path) for path, text in views if store.write_if_changed(path, text.encode("utf-8", "replace"))
    ]


def _thread_line(thread: dict[str, Any]) -> str:
    return "    " + jsontext.compact(thread)


def _ledger_text(threads: list[dict[str, Any]], lines: list[str]) -> str:
    """Valid JSON with one thread a line, so that unchanged threads are carried over as text."""
    last = threads[0] if threads else {}
    head = {
        "schema": settings.SCHEMA,
        "updated": last.get("last_activity", ""),
        "last_model": last.get("model", ""),
        "last_session_notes": last.get("summary", ""),
    }
    top = "".join("  %s: %s,\n" % (jsontext.quote(key), jsontext.compact(value)) for key, value in head.items())
    body = "[\n%s\n  ]" % ",\n".join(lines) if lines else "[]"
    return '{\n%s  "threads": %s\n}\n' % (top, body)


def _current_work(project_dir: str, threads: list[dict[str, Any]]) -> dict[str, Any]:
    """What is in progress. "Today" is the day of the latest activity: a view never changes by itself."""
    tasks = progress.load_all(project_dir)
    name = os.path.basename(project_dir).rpartition("-")[0]
    updated = max([thread["last_activity"] for thread in threads] + [str(task["updated"]) for task in tasks] + [""])
    today = clock.local_day(clock.parse(updated) or 0.0)
    active, completed = [], []
    for task in tasks:
        if not progress.is_done(task):
            active.append(
                _active(task["task_id"], task["title"], task["created"], name, "", task["blockers"], task["remaining"])
            )
        elif clock.local_day(clock.parse(task["updated"]) or 0.0) == today:
            completed.append({"id": task["task_id"], "description": task["title"], "completed": task["updated"]})
    for thread in threads:
        if thread["status"] == "open":
            active.append(
                _active(
                    thread["id"], thread["title"], thread["opened_at"], name, thread["branch"], [], thread["next_steps"]
                )
            )
        elif clock.local_day(clock.parse(thread["last_activity"]) or 0.0) == today:
            completed.append({"id": thread["id"], "description": thread["title"], "completed": thread["last_activity"]})
    shown = settings.ACTIVE_TASKS_SHOWN
    return {
        "schema": settings.SCHEMA,
        "updated": updated,
        "active_tasks": active[:shown],
        "completed_today": completed[:shown],
    }


def _active(
    key: str, title: str, started: str, project: str, branch: str, blockers: list[str], steps: list[str]
) -> dict[str, Any]:
    return {
        "id": key,
        "description": title,
        "status": "blocked" if blockers else "in_progress",
        "started": started,
        "project": project,
        "branch": branch,
        "blockers": blockers,
        "next_steps": steps,
    }


def _read_index(project_dir: str) -> dict[str, str] | None:
    try:
        text = store.read_text(os.path.join(project_dir, settings.INDEX_FILE))
    except OSError:
        return None
    if text is None or not text.startswith(_INDEX_HEAD):
        return None
    lines = [line for line in text[len(_INDEX_HEAD) :].split("\n") if line.startswith(_LINE_HEAD)]
    return {line[len(_LINE_HEAD) :].partition("`")[0]: line for line in lines}


def _read_ledger(project_dir: str) -> dict[str, tuple[dict[str, Any], str]] | None:
    try:
        text = store.read_text(os.path.join(project_dir, settings.STATE_DIR, settings.CONVERSATION_FILE))
        if text is None:
            return None
        threads = jsontext.loads(text)["threads"]
        lines = [line.rstrip(",") for line in text.split("\n") if line.startswith("    {")]
        if len(lines) != len(threads):
            return None
        return {
            thread["id"]: (thread, line)
            for thread, line in zip(threads, lines)
            if thread["sessions"] and thread["last_activity"]
        }
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _short_id(name: str) -> str:
    """The id in `session-<start>-<id>.json`; the start has a fixed length."""
    return name[len(settings.EPISODE_PREFIX) + len("2026-11-16T060048Z-") : -len(".json")]


def _lock(project_dir: str, seconds: float) -> Lock:
    return Lock(os.path.join(project_dir, settings.STATE_DIR, "views" + settings.LOCK_SUFFIX), seconds)


def _dirty_dir(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.DIRTY_DIR)


def _mark(project_dir: str, name: str) -> None:
    store.touch(os.path.join(_dirty_dir(project_dir), name))


def _unmark(project_dir: str, names: list[str]) -> None:
    for name in names:
        store.remove(os.path.join(_dirty_dir(project_dir), name))
