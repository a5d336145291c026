"""`rebuild` writes the views again from the facts, `verify` names every file that breaks a rule."""

from __future__ import annotations

import os
import time

from ..base import settings
from ..memory import backfill, checks, views
from ..notes import shelf as notebook
from ..recall import cache
from . import arguments
from .output import answer, count, line, short, some

_WAIT_SECONDS = 10.0
_SHOWN = 5


def rebuild(argv: list[str]) -> int:
    args = arguments.parser("rebuild", has_all=True).parse_args(argv)
    root, now = arguments.root(), time.time()
    dirs = [path for path in arguments.project_dirs(args) if os.path.isdir(path)]
    changed: dict[str, list[str]] = {}
    for path in dirs:
        again = [each for each in backfill.lost(path, now) if backfill.record_again(root, path, each)]
        changed[path] = [os.path.join(settings.EPISODES_DIR, session.episode_name) for session in again]
        changed[path] += views.rebuild(path, _WAIT_SECONDS)
    for shelf in (*(notebook.Shelf("project", path) for path in dirs), notebook.user_shelf(root)):
        if os.path.isdir(shelf.folder):
            with shelf:
                changed.setdefault(shelf.home, []).extend([settings.NOTES_INDEX_FILE] * shelf.refresh())
    for path in dirs:
        cache.drop(path)
        cache.open_source(root, path, now, float("inf"), is_whole=True)
    rows = {os.path.basename(path): names for path, names in changed.items()}
    texts = {name: "rebuilt: " + ", ".join(each) if each else "nothing to change" for name, each in rows.items()}
    lines = [line("%s: %s" % row) for row in texts.items()]
    lines = lines or ["Nothing is remembered here yet, so there is nothing to rebuild."]
    return answer(args.json, [{"project": name, "changed": each} for name, each in rows.items()], lines)


def verify(argv: list[str]) -> int:
    args = arguments.parser("verify", has_all=True).parse_args(argv)
    root, dirs, now = arguments.root(), arguments.project_dirs(args), time.time()
    findings = [*checks.check_store(root, now), *(each for path in dirs for each in checks.check_project(path, now))]
    what = short(dirs[0]) if len(dirs) == 1 else count(len(dirs), "project")
    lines = ["%s: every file is valid." % what]
    if not any(os.path.isdir(path) for path in dirs):
        lines = ["Nothing is remembered here yet, so there is nothing to verify."]
    groups: dict[str, list[str]] = {}
    for each in findings:
        path = os.path.relpath(each.path, root) if each.path.startswith(root + os.sep) else each.path
        groups.setdefault(each.remedy, []).append("  " + line("%s %s" % (path, each.what)))
    if groups:
        lines = ["%s in %s" % (count(len(findings), "finding"), short(root))]
    for remedy, group in groups.items():
        lines += ["", "%s:" % line(remedy[:1].upper() + remedy[1:]), *some(group, _SHOWN, "  ")]
    rows = [{"file": each.path, "what": each.what, "remedy": each.remedy, "kind": each.kind} for each in findings]
    answer(args.json, {"store": root, "projects": [*map(os.path.basename, dirs)], "findings": rows}, lines)
    return 1 if findings else 0
