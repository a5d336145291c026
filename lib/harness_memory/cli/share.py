"""`share` and `team`: notes in the repository. `export` and `import`: a memory as a file."""

from __future__ import annotations

import os
import subprocess
import sys

from ..base import files, settings
from ..base.text import brief
from ..memory import transfer, views
from ..notes import team as teams
from ..notes.shelf import Shelf
from .call import Call
from .notes import list_notes, show_note
from .output import Refusal, complain, count, line, short


def share(call: Call) -> int:
    note, checkout = call.find_note(call.name, is_readable=True), call.project.root
    if note.scope == settings.TEAM_SCOPE:
        raise Refusal("%s is shared already: %s" % (note.ref, short(note.path)))
    name = subprocess.run(["git", "config", "user.name"], cwd=checkout, capture_output=True, timeout=10).stdout
    author = brief(name.decode("utf-8", "replace"), settings.NOTE_NAME_CHARS) or "unknown"
    text, path = teams.render(note, author, call.today), teams.path(checkout, note.slug)
    if refused := teams.refusals(text, os.path.expanduser("~")):
        rows = ["  line %d %s: %s" % (number, why, line(text.split("\n")[number - 1])) for number, why in refused]
        rows = [row.partition(": ")[0] if "secret" in row else row for row in rows]
        raise Refusal("%s is not for others to see; nothing was written. Correct it:\n%s" % (note.ref, "\n".join(rows)))
    is_new = not os.path.lexists(path)
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    if any(map(os.path.islink, (path, folder, os.path.dirname(folder)))):
        raise Refusal("%s is a link. Replace it by a folder of the checkout" % short(folder))
    files.write(path, text, durable=True)
    os.chmod(path, 0o644)  # a file of the checkout is not private
    done = "%s %s" % ("Shared in" if is_new else "Replaced", short(path))
    done += "; commit it:" if os.path.lexists(os.path.join(checkout, ".git")) else ", which is in no git repository:"
    return call.answer({"note": note.ref, "file": path, "text": text}, [done, "", text.rstrip("\n")])


def team(call: Call) -> int:
    if call.action == "list":
        call.scope = settings.TEAM_SCOPE
        return list_notes(call)
    note = call.find_note("%s/%s" % (settings.TEAM_SCOPE, call.name.rpartition("/")[2]))
    if call.action == "show":
        return show_note(call, note)
    # It may not be committed yet: a copy stays in the project's archive of notes.
    data = files.read(note.path, of_anyone=True) or b""
    call.prepare()
    copy = call.shelf("project").archived(note.slug, call.now)
    files.write(copy, data, durable=True)
    files.erase(note.path)
    return call.answer({"removed": note.path, "copy": copy})


def export(call: Call) -> int:
    if sys.stdout.isatty():
        raise Refusal("the file goes to standard output: harness memory export > FILE.tgz")
    homes = [os.path.basename(path) for path in call.dirs if os.path.isdir(path)]
    if not homes:
        raise Refusal("nothing is remembered here. Other projects: harness memory export --all-projects")
    call.prepare(with_project=False)
    homes += [settings.USER_DIR] if call.all_projects else []
    complain("exported %s" % count(transfer.export(call.root, homes, sys.stdout.buffer, call.now), "file"))
    return 0


def import_(call: Call) -> int:
    source, project = os.path.abspath(os.path.expanduser(call.source)), call.project
    if not os.path.exists(source):
        raise Refusal("%s: no such file" % line(call.source))
    if not os.path.isdir(source):
        return _import_export(call, source)
    call.prepare()
    with Shelf("project", project.dir) as shelf:
        slugs = transfer.take_pages(source, shelf, call.now)
    views.refresh(project.dir, 10.0)
    return call.answer({"notes": slugs}, ["Took over %s from %s." % (count(len(slugs), "note"), short(source))])


def _import_export(call: Call, source: str) -> int:
    contents, project = transfer.load(source), call.project
    ids = {path.split("/")[0] for path in contents if "/" in path} - {settings.ARCHIVE_DIR}
    is_moved = call.folder is not None and len(ids) == 1 and ids != {settings.USER_DIR}
    if is_moved:
        contents, ids = transfer.moved(contents, ids.pop(), project.id), {project.id}
    call.prepare(with_project=is_moved)
    changed = transfer.take(call.root, contents, call.now)
    places = ", ".join(map(line, sorted(ids)))
    lines = ["Took over %s from %s into %s." % (count(len(changed), "file"), short(source), places)]
    is_other = len(ids) == 1 and ids.isdisjoint((project.id, settings.USER_DIR))
    lines += ["That is another project. Into this one: the same with --project ."] if is_other else []
    return call.answer({"changed": changed, "projects": sorted(ids)}, lines)
