"""`export` and `import`: a memory as one file, and what other tools remember."""

from __future__ import annotations

import os
import sys
import time

from ..base import settings
from ..memory import foreign, transfer, views
from ..notes.shelf import Shelf
from . import arguments
from .output import Refusal, answer, complain, count, line, short


def export(argv: list[str]) -> int:
    about = "Write a project's memory to standard output, as one compressed file for `harness memory import`."
    examples = "export --project . > shop.tgz\nexport --all-projects > memory.tgz"
    args = arguments.parser("export", about, examples, has_json=False, has_all=True).parse_args(argv)
    if sys.stdout.isatty():
        raise Refusal("the file goes to standard output: harness memory export > FILE.tgz")
    homes = [os.path.basename(path) for path in arguments.project_dirs(args) if os.path.isdir(path)]
    if not homes:
        raise Refusal("nothing is remembered here. Other projects: harness memory export --all-projects")
    homes += [settings.USER_DIR] if args.all_projects else []
    number = transfer.export(arguments.private_root(), homes, sys.stdout.buffer, time.time())
    complain("exported %s" % count(number, "file"))
    return 0


def import_(argv: list[str]) -> int:
    about = (
        "Take over an export, merged as `sync` does it; a folder of Claude Code's own notes; or a claude-mem database."
        " An export goes to the project that it is of; with --project, that of one project goes to the one named."
    )
    examples = "import shop.tgz\nimport ~/.claude/projects/-home-me-shop/memory\nimport ~/.claude-mem/claude-mem.db"
    parser = arguments.parser("import", about, examples, is_import=True)
    parser.add_argument("source", metavar="FILE", help="an export, a folder of notes, or a database")
    parser.add_argument("--name", metavar="NAME", help="the project's name in claude-mem (default: that of its folder)")
    args = parser.parse_args(argv)
    source, project, now = os.path.abspath(os.path.expanduser(args.source)), arguments.locate(args), time.time()
    if not os.path.exists(source):
        raise Refusal("%s: no such file" % line(args.source))
    if not os.path.isdir(source) and not source.endswith((".db", ".sqlite", ".sqlite3")):
        found = transfer.load(source)
        ids = {path.split("/")[0] for path in found if "/" in path} - {settings.ARCHIVE_DIR}
        if args.project is not None and len(ids) == 1 and ids != {settings.USER_DIR}:
            found, ids = transfer.moved(found, ids.pop(), project.id), {project.id}
            arguments.private_root(project)
        changed = transfer.take(arguments.private_root(), found, now)
        lines = ["Took over %s from %s into " % (count(len(changed), "file"), short(source))]
        lines[0] += ", ".join(map(line, sorted(ids))) + "."
        is_other = len(ids) == 1 and ids.isdisjoint((project.id, settings.USER_DIR))
        lines += ["That is another project. Into this one: the same with --project ."] if is_other else []
        return answer(args.json, {"changed": changed, "projects": sorted(ids)}, lines)
    arguments.private_root(project)
    episodes: list[str] = []
    with Shelf("project", project.dir) as shelf:
        if os.path.isdir(source):
            slugs = foreign.take_pages(source, shelf, now)
        else:
            database, name = foreign.ClaudeMem(source), args.name or os.path.basename(project.root)
            if name not in database.projects():
                names = ", ".join(map(line, database.projects())) or "none"
                raise Refusal("no project %s there. Name one with --name: %s" % (line(name), names))
            episodes, slugs = database.take(name, project.dir, shelf, now)
    views.refresh(project.dir, 10.0)
    what = "%s and %s" % (count(len(episodes), "session"), count(len(slugs), "note"))
    return answer(args.json, {"episodes": episodes, "notes": slugs}, ["Took over %s from %s." % (what, short(source))])
