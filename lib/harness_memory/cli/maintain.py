"""Keeping a memory sound: `rebuild` makes the views anew, `verify` names every file that breaks a rule."""

from __future__ import annotations

import os
import time

from ..base import files, settings
from ..memory import checks, reindex, remake, views
from ..memory.file_rules import REMAKE
from ..notes import shelf as notebook
from ..recall import cache
from ..session import episode, sessions
from . import arguments
from .output import count, emit_json, line, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..memory.checks import Finding

_REBUILD_WAIT_SECONDS = 10.0
_ALIKE_SHOWN = 5


def rebuild(argv: list[str]) -> int:
    about = (
        "Make every view (INDEX.md, MEMORY.md and those in STATE/) anew from the facts, which are never touched;\n"
        "and episodes that were lost or damaged, from what their sessions' directories hold."
    )
    parser = arguments.parser("rebuild", about, "rebuild\nrebuild --all-projects")
    arguments.add_all_projects(parser)
    args = parser.parse_args(argv)
    changed = {path: _rebuilt(path) for path in arguments.project_dirs(args) if _has_memory(path)}
    user = notebook.user_shelf(arguments.root())
    if os.path.isdir(user.folder):
        changed[user.home] = _relisted(user)
    if args.json:
        emit_json([{"project": os.path.basename(path), "changed": names} for path, names in changed.items()])
        return 0
    for path, names in changed.items():
        what = "made anew: " + ", ".join(names) if names else "nothing to change"
        print("%s: %s" % (line(os.path.basename(path)), what))
    if not changed:
        print("Nothing is remembered here yet, so there is nothing to rebuild.")
    return 0


def verify(argv: list[str]) -> int:
    about = "Check every file of a memory: formats, required fields, relative paths, modes, leftovers, stale views."
    parser = arguments.parser("verify", about, "verify\nverify --all-projects\nverify --json")
    arguments.add_all_projects(parser)
    args = parser.parse_args(argv)
    root = arguments.root()
    dirs = arguments.project_dirs(args)
    findings = list(checks.check_store(root))
    for path in dirs:
        findings += checks.check_project(path)
        damage = cache.problem(path)
        if damage:
            where = cache.folder(path)
            findings.append(checks.Finding(where, "is a cache that cannot be used (%s)" % damage, REMAKE))
    if args.json:
        names = [os.path.basename(path) for path in dirs]
        emit_json({"store": root, "projects": names, "findings": [finding.as_json() for finding in findings]})
    elif findings:
        print("\n".join(listing(findings, root)))
    elif not any(os.path.isdir(path) for path in dirs):
        print("Nothing is remembered here yet, so there is nothing to verify.")
    else:
        checked = short(dirs[0]) if len(dirs) == 1 else count(len(dirs), "project")
        print("%s: every file is as it should be." % checked)
    return 1 if findings else 0


def listing(findings: list[Finding], root: str) -> list[str]:
    """One line a finding, like with like, and of many alike the first few."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.remedy, []).append(finding)
    lines = ["%s in %s" % (count(len(findings), "finding"), short(root))]
    for remedy, group in groups.items():
        lines += ["", "%s:" % line(remedy[:1].upper() + remedy[1:])]
        lines += ["  " + _sentence(finding, root) for finding in group[:_ALIKE_SHOWN]]
        lines += ["  and %d more (--json lists all)" % (len(group) - _ALIKE_SHOWN)] if len(group) > _ALIKE_SHOWN else []
    return lines


def _sentence(finding: Finding, root: str) -> str:
    path = os.path.relpath(finding.path, root) if finding.path.startswith(root + os.sep) else finding.path
    where = "%s:%d" % (path, finding.line) if finding.line else path
    return line("%s %s" % (where, finding.what))


def _has_memory(project_dir: str) -> bool:
    folders = (settings.STATE_DIR, settings.LEARNING_DIR)
    return bool(episode.names(project_dir)) or any(os.path.isdir(os.path.join(project_dir, name)) for name in folders)


def _rebuilt(project_dir: str) -> list[str]:
    made = _remade(project_dir)  # while the menu still tells which are lost
    names = made + views.rebuild(project_dir, _REBUILD_WAIT_SECONDS) + reindex.remake(arguments.root(), project_dir)
    names += _relisted(notebook.project_shelf(project_dir)) + _rewritten_summaries(project_dir)
    names += [os.path.join(settings.STATE_DIR, settings.RECALL_DIR)] if cache.problem(project_dir) else []
    cache.drop(project_dir)
    source = cache.open_source(arguments.root(), project_dir, time.time(), float("inf"), is_whole=True)
    if source:
        source.close()
    return names


def _remade(project_dir: str) -> list[str]:
    """Episodes that were damaged or lost."""
    made = [name for name in remake.lost(project_dir) if remake.make_again(arguments.root(), project_dir, name)]
    return [os.path.join(settings.EPISODES_DIR, name) for name in made]


def _rewritten_summaries(project_dir: str) -> list[str]:
    """Of those that a power cut has emptied; others may have been shortened or corrected by their reader."""
    known = {sessions.day_and_id(name): name for name in episode.names(project_dir)}
    written = []
    for directory in sessions.all_directories(project_dir):
        path = os.path.join(directory, settings.SUMMARY_FILE)
        if not files.is_same(path, b""):
            continue
        day, short_id = directory.split(os.sep)[-2:]
        name = known.get((day, short_id))
        value = episode.load(project_dir, name) if name else None
        if value:
            files.write(path, episode.summary_page(value).encode("utf-8", "replace"))
        else:
            files.remove(path)
        written.append(os.path.relpath(path, project_dir))
    return written


def _relisted(shelf: notebook.Shelf) -> list[str]:
    if not os.path.isdir(shelf.folder):
        return []
    with notebook.Writing(shelf, _REBUILD_WAIT_SECONDS) as writing:
        return [settings.NOTES_INDEX_FILE] if writing.refresh() else []
