"""`adopt`: a person says that a folder belongs to the memory of its remote, which its history does not show."""

from __future__ import annotations

import os
import time

from ..base import clock, files, settings
from ..memory import views
from ..project import identity
from ..session import sessions
from . import arguments
from .output import Refusal, answer, count, line, short


def adopt(argv: list[str]) -> int:
    args = arguments.parser("adopt", examples="adopt").parse_args(argv)
    if os.environ.get("CLAUDECODE") or os.environ.get(settings.ENV_SESSION_ID):  # a repository may have told Claude to
        raise Refusal("this is for a person: run it in a terminal of your own. Nothing was changed.")
    project = arguments.locate(args)
    if not project.identity.startswith("remote#"):
        raise Refusal("%s already has the memory of its repository. Nothing was changed." % short(project.root))
    root = arguments.private_root()
    target = os.path.join(root, identity.adopt(root, project, clock.iso(time.time())))
    moved = _move(project.dir, target)
    views.refresh(target)
    text = "%s now shares the memory of %s (%s moved)." % (
        short(project.root),
        line(project.remote),
        count(moved, "session"),
    )
    left = ["A session that runs here stays in the old one until it ends."] * bool(sessions.live_markers(project.dir))
    return answer(args.json, {"memory": os.path.basename(target), "moved": moved}, [text, *left])


def _move(source: str, target: str) -> int:
    """Move the sessions that have ended; the work first, so that no episode is without it."""
    live = {os.path.basename(str(marker.get("work", ""))) for marker in sessions.live_markers(source)}
    days = os.path.join(source, settings.WORK_DIR)
    work = [
        os.path.join(settings.WORK_DIR, day, id)
        for day in files.names(days)
        for id in files.names(os.path.join(days, day))
    ]
    names = [
        os.path.join(settings.EPISODES_DIR, name) for name in files.names(os.path.join(source, settings.EPISODES_DIR))
    ]
    moved = 0
    for path in (*work, *names):
        id = sessions.day_and_id(os.path.basename(path))[1] if path in names else os.path.basename(path)
        if id not in live and not os.path.lexists(os.path.join(target, path)):
            os.makedirs(os.path.dirname(os.path.join(target, path)), mode=settings.DIR_MODE, exist_ok=True)
            os.rename(os.path.join(source, path), os.path.join(target, path))
            moved += path in names
    return moved
