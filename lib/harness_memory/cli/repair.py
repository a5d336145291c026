"""`rebuild` writes the views again from the facts, `verify` names every file that breaks a rule."""

from __future__ import annotations

import os

from ..base import files, settings
from ..memory import checks, views
from ..memory import rebuild as rebuilding
from ..notes import shelf as notebook
from . import arguments
from .output import count, emit_json, line, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..memory.checks import Finding

_WAIT_SECONDS = 10.0
_SHOWN = 5


def rebuild(argv: list[str]) -> int:
    about = (
        "Write every view (INDEX.md, MEMORY.md and those in STATE/) again from the facts, which are never changed,\n"
        "and record lost or damaged episodes again from their sessions' directories."
    )
    parser = arguments.parser("rebuild", about, "rebuild\nrebuild --all-projects")
    arguments.add_all_projects(parser)
    args = parser.parse_args(argv)
    changed = {path: _rebuilt(path) for path in arguments.project_dirs(args) if os.path.isdir(path)}
    user = notebook.user_shelf(arguments.root())
    if os.path.isdir(user.folder):
        changed[user.home] = _relisted(user)
    if args.json:
        emit_json([{"project": os.path.basename(path), "changed": names} for path, names in changed.items()])
        return 0
    for path, names in changed.items():
        print(
            "%s: %s" % (line(os.path.basename(path)), "rebuilt: " + ", ".join(names) if names else "nothing to change")
        )
    if not changed:
        print("Nothing is remembered here yet, so there is nothing to rebuild.")
    return 0


def _rebuilt(project_dir: str) -> list[str]:
    lost = rebuilding.lost_episodes(project_dir)
    again = [name for name in lost if rebuilding.record_again(arguments.root(), project_dir, name)]
    names = [os.path.join(settings.EPISODES_DIR, name) for name in again]
    names += views.rebuild(project_dir, _WAIT_SECONDS)
    names += _relisted(notebook.project_shelf(project_dir))
    files.remove_tree(os.path.join(project_dir, settings.STATE_DIR, settings.RECALL_DIR))
    return names


def _relisted(shelf: notebook.Shelf) -> list[str]:
    if not os.path.isdir(shelf.folder):
        return []
    with notebook.Writing(shelf, _WAIT_SECONDS) as writing:
        return [settings.NOTES_INDEX_FILE] if writing.refresh() else []


def verify(argv: list[str]) -> int:
    about = "Check every file of a memory: formats, required fields, modes, leftovers, stale views."
    parser = arguments.parser("verify", about, "verify\nverify --all-projects\nverify --json")
    arguments.add_all_projects(parser)
    args = parser.parse_args(argv)
    root, dirs = arguments.root(), arguments.project_dirs(args)
    findings = [*checks.check_store(root), *(finding for path in dirs for finding in checks.check_project(path))]
    if args.json:
        names = [os.path.basename(path) for path in dirs]
        emit_json({"store": root, "projects": names, "findings": [finding.as_json() for finding in findings]})
    elif findings:
        print("\n".join(listing(findings, root)))
    elif not any(os.path.isdir(path) for path in dirs):
        print("Nothing is remembered here yet, so there is nothing to verify.")
    else:
        print("%s: every file is valid." % (short(dirs[0]) if len(dirs) == 1 else count(len(dirs), "project")))
    return 1 if findings else 0


def listing(findings: list[Finding], root: str) -> list[str]:
    """One line a finding, grouped by remedy, the first few of many."""
    groups: dict[str, list[str]] = {}
    for each in findings:
        path = os.path.relpath(each.path, root) if each.path.startswith(root + os.sep) else each.path
        groups.setdefault(each.remedy, []).append(line("%s %s" % (path, each.what)))
    lines = ["%s in %s" % (count(len(findings), "finding"), short(root))]
    for remedy, group in groups.items():
        lines += ["", "%s:" % line(remedy[:1].upper() + remedy[1:]), *("  " + each for each in group[:_SHOWN])]
        lines += ["  and %d more (--json lists all)" % (len(group) - _SHOWN)] if len(group) > _SHOWN else []
    return lines
