"""What SessionStart puts in order before a new session works, within a time budget; the next start does the rest."""

from __future__ import annotations

import os
import time

from ..base import clock, files, health, settings
from ..base.config import Config
from ..base.typing import Fields
from ..project import Context
from ..session import sessions


def housekeep(context: Context, claude_id: str, process: Fields, now: float, config: Config) -> None:
    """`claude_id` and `process` are the session that is starting; it is left alone."""
    context.ends = min(context.ends, time.monotonic() + 1.0)
    live, own = os.path.split(sessions.marker_path(context.project_dir, claude_id))
    listed = files.names(live)
    others = [name for name in listed if name.endswith(".json") and name != own]
    if others and not config.problems:  # a limit that is not what the person meant ends nothing
        with health.noted(context.store_root, "housekeeping"):
            from ..session import sweep

            sweep.sweep(context, claude_id, process, now, config)
    # What killed writers leave is looked for once an hour, and after a session that died.
    last = files.made(os.path.join(context.store_root, settings.LAST_RUN_DIR, "SessionStart"))
    is_due = files.names(live) != listed or abs(now - last) > 3600
    retiring = () if config.problems else (_retire_episodes, *((_remove_async_tasks,) if is_due else ()))
    for duty in (*retiring, _refresh_views, _list_notes, *((_remove_strays,) if is_due else ())):
        with health.noted(context.store_root, "housekeeping"):
            if duty in (_retire_episodes, _refresh_views) or context.left() > 0:
                duty(context, now, config)


def archive_folder(project_dir: str) -> str:
    return os.path.join(os.path.dirname(project_dir), settings.ARCHIVE_DIR, os.path.basename(project_dir))


def is_clock_plausible(project_dir: str, now: float) -> bool:
    """False when now lies more than a year past the last day of work: a clock may be wrong, and nothing is retired."""
    # The last week does not count: sessions under a wrong clock leave days of their own.
    week_ago, year_ago = (clock.iso(now - number * settings.DAY_SECONDS)[:10] for number in (7, 365))
    days = files.names(os.path.join(project_dir, settings.WORK_DIR))
    return max((day for day in days if day < week_ago), default=week_ago) >= year_ago


def _retire_episodes(context: Context, now: float, config: Config) -> None:
    """Archive episodes not written for `retention_days`, and the least recent beyond `retention_episodes`."""
    folder = os.path.join(context.project_dir, settings.EPISODES_DIR)
    names = files.names(folder)
    instant = now - config["retention_days"] * settings.DAY_SECONDS
    oldest = settings.EPISODE_PREFIX + clock.stamp(clock.iso(instant))
    if len(names) <= config["retention_episodes"] and names[:1] > [oldest]:
        return
    first = settings.EPISODE_PREFIX + "2025-01-01"  # an earlier day is a wrong clock's
    names = [name for name in names if sessions.is_episode_name(name) and name > first]
    written = {name: files.modified(os.path.join(folder, name)) for name in names}  # a session may begin long before
    excess = sorted(names, key=written.__getitem__)[: max(0, len(names) - int(config["retention_episodes"]))]
    aged = [name for name in names if name < oldest and 0 < written[name] < instant]
    if (excess or aged) and is_clock_plausible(context.project_dir, now):
        archive = archive_folder(context.project_dir)
        files.ensure_dir(archive)
        for name in sorted({*excess, *aged}):
            if config["retention_after"] == "delete":
                files.remove(os.path.join(folder, name))
            else:
                files.move(os.path.join(folder, name), os.path.join(archive, name))
            if context.left() <= 0:
                break  # the next start goes on


def _refresh_views(context: Context, now: float, config: Config) -> None:
    """When one is missing, or an episode came, went or changed since they were rendered."""
    paths = [os.path.join(context.project_dir, name) for name in (settings.EPISODES_DIR, *settings.VIEWS)]
    # A person corrects recent episodes, if any; `rebuild` reads all of them again.
    episodes = [paths[0], *(os.path.join(paths[0], name) for name in files.names(paths[0])[-20:])]
    rendered = files.made(os.path.join(context.project_dir, settings.STATE_DIR, settings.ROWS_FILE))
    if not all(map(files.exists, paths)) or max(map(files.modified, episodes)) > rendered:
        from .views import refresh

        refresh(context.project_dir, context.left() / 4, by=context.ends)


def _list_notes(context: Context, now: float, config: Config) -> None:
    """List notes in MEMORY.md that a person wrote by hand."""
    homes = {"project": context.project_dir, "user": os.path.join(context.store_root, settings.USER_DIR)}
    for scope, home in homes.items():
        topics = os.path.join(home, settings.LEARNING_DIR, settings.TOPICS_DIR)
        listed = files.made(os.path.join(home, settings.NOTES_INDEX_FILE))
        if any(files.modified(os.path.join(topics, name)) > listed for name in ("", *files.names(topics))):
            from ..notes import shelf

            with shelf.Shelf(scope, home, context.left() / 4):
                pass
    if os.path.isdir(os.path.join(context.root, settings.CLAUDE_DIR, settings.STORE_DIR)):
        from ..notes import binding, shelf

        team = [note for each in shelf.team_shelf(context.store_root, context.root) for note in each.read()]
        binding.save(context.project_dir, team, context.root)


def _remove_strays(context: Context, now: float, config: Config) -> None:
    """Remove temporary files of killed writers."""
    names = (settings.USER_DIR, settings.ARCHIVE_DIR, settings.HEALTH_DIR)
    homes = [context.project_dir, *(os.path.join(context.store_root, name) for name in names)]
    parts = [path for home in homes for path in files.folders(home)]
    inner = [path for part in parts for path in files.folders(part)]
    for folder in (context.store_root, *homes, *parts, *inner):
        files.remove_temporaries(folder, now - 3600)  # what is older has no living writer


def _remove_async_tasks(context: Context, now: float, config: Config) -> None:
    before = now - config["async_task_days"] * settings.DAY_SECONDS
    folders = [os.path.join(folder, "async-tasks") for folder in context.folders]
    paths = [os.path.join(each, name) for each in folders if not os.path.islink(each) for name in files.names(each)]
    stale = [path for path in paths if path.endswith(".json") and 0 < files.modified(path) < before]
    for path in stale if is_clock_plausible(context.project_dir, now) else ():
        files.remove(path)
