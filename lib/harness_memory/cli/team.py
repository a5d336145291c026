"""`share` puts a note into the repository, `team` shows what is there. Nothing is committed: a person decides."""

from __future__ import annotations

import argparse
import os
import subprocess

from ..base import files, settings
from ..base.text import brief
from ..notes import note as notes
from ..notes import team as teams
from . import arguments
from .notes import list_notes, show_note
from .output import Refusal, answer, line, passage, short
from .scopes import Scopes


def share(argv: list[str]) -> int:
    about = "Write a note into .claude/memory of this checkout. Commit it, and every session that has it reads it."
    parser = arguments.parser("share", about, "share cart-totals --dry-run\nshare cart-totals", has_preview=True)
    parser.add_argument("name", metavar="NOTE", help="a note of yours, by its name")
    args = parser.parse_args(argv)
    scopes = Scopes(args)
    note, checkout = scopes.find(args.name, is_readable=True), scopes.project.root
    if note.scope == settings.TEAM_SCOPE:
        raise Refusal("%s is shared already: %s" % (note.ref, short(note.path)))
    text, path = teams.render(note, _author(checkout), scopes.day), teams.path(checkout, note.slug)
    refused = teams.refusals(text, os.path.expanduser("~"))
    if refused:
        rows = ["  line %d %s: %s" % (number, why, line(text.split("\n")[number - 1])) for number, why in refused]
        rows = [row.partition(": ")[0] if "secret" in row else row for row in rows]
        raise Refusal("%s is not for others to see; nothing was written. Correct it:\n%s" % (note.ref, "\n".join(rows)))
    former = next((each for each in scopes.shelves if each.scope == settings.TEAM_SCOPE), None)
    is_new = former is None or former.note(note.slug) is None
    if not args.dry_run:
        _write(path, text)
    done = "Would write %s:" if args.dry_run else "Shared in %s; commit it:" if is_new else "Replaced %s; commit it:"
    value = {"note": note.ref, "file": path, "text": text, "written": not args.dry_run}
    return answer(args.json, value, [done % short(path), "", passage(text.rstrip("\n"))])


def team(argv: list[str]) -> int:
    about = (
        "Notes of this checkout, in .claude/memory: they come with the repository, and all who work in it read them."
    )
    actions = arguments.Actions("team", about, "team list\nteam show cart-totals\nteam unshare cart-totals")
    actions.add("list", "all of them")
    for action, help in (("show", "one of them"), ("unshare", "remove one from the checkout")):
        actions.add(action, help).add_argument("name", metavar="NOTE")
    args = actions.parse(argv, "list")
    args.scope = settings.TEAM_SCOPE
    scopes = Scopes(args)
    if args.action == "list":
        return list_notes(scopes, args)
    note = scopes.find(args.name, settings.TEAM_SCOPE)
    return show_note(scopes, note, args.json) if args.action == "show" else _unshare(scopes, note, args)


def _unshare(scopes: Scopes, note: notes.Note, args: argparse.Namespace) -> int:
    """It may not be committed yet: a copy stays in the project's archive of notes."""
    data = files.read(note.path, of_anyone=True) or b""
    arguments.private_root(scopes.project)
    copy = scopes.shelf("project").archived(note.slug, scopes.now)
    files.write(copy, data, durable=True)
    files.erase(note.path)
    text = "Removed %s; commit that. A copy is in %s" % (short(note.path), short(copy))
    return answer(args.json, {"note": note.ref, "archived": copy}, [text])


def _write(path: str, text: str) -> None:
    """A file of the checkout is not private: with the modes that any other has."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    if any(map(os.path.islink, (path, folder, os.path.dirname(folder)))):
        raise Refusal("%s is a link. Replace it by a folder of the checkout" % short(folder))
    files.write(path, text, durable=True)
    os.chmod(path, 0o644)


def _author(checkout: str) -> str:
    try:
        done = subprocess.run(["git", "config", "user.name"], cwd=checkout, capture_output=True, timeout=10)
        name = done.stdout.decode("utf-8", "replace")
    except (OSError, subprocess.SubprocessError):
        name = ""
    return brief(name, settings.NOTE_NAME_CHARS) or "unknown"
