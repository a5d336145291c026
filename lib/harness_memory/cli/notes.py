"""Notes by hand: the verbs `note` and `remember`, and looking at a note. What they change is in `noting`."""

from __future__ import annotations

import sys

from ..base import files as store
from ..base import settings
from ..notes import shelf as notebook
from . import arguments, desk
from .output import complain, emit_json, emit_stored
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..notes.note import Note
    from ..notes.shelf import Shelf
    from .desk import Desk

_ACTIONS = ("add", "edit", "show", "list", "remove", "promote", "supersede")
_ABOUT = """\
Notes: what should be known in every session, as facts, one topic a file.
  add NAME [FACT ...]     a new topic; without facts its text is read from standard input
  edit NAME               in your editor, or by flags, or from standard input
  show NAME   list        one note, all notes
  remove NAME ...         into the archive
  promote NAME            local to project, project to user
  supersede OLD NEW       NEW says what OLD said; OLD is kept, and no session is told of it
A note of a nearer scope (local, project, user) stands before one of the same name."""
_EXAMPLES = """\
note add "Cart totals" "Totals are rounded once, at the end" --file src/cart.py
note add Deploy --type reference --trigger "command: make deploy" < deploy.md
note edit cart-totals --verified
note promote editor
note supersede use-jquery use-react"""


def note(argv: list[str]) -> int:
    parser = arguments.parser("note", _ABOUT, _EXAMPLES)
    parser.add_argument(
        "action", nargs="?", choices=_ACTIONS, default="list", metavar="ACTION", help=", ".join(_ACTIONS)
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="the topic, and for add its facts")
    _add_content(parser)
    parser.add_argument("--name", metavar="TEXT", help="edit: another name; the file keeps its own")
    parser.add_argument("--supersedes", metavar="NAME", action="append", help="a note that this one replaces")
    parser.add_argument("--verified", action="store_true", help="edit: it is true today, and so are its files")
    parser.add_argument("--drop", metavar="TEXT", action="append", help="edit: drop the fact that holds this text")
    args = parser.parse_args(argv)
    if not args.names and args.action != "list":
        raise Refusal("which note? harness memory note %s NAME" % args.action)
    at = desk.Desk(args)
    if args.action in ("show", "list"):
        return _show(at, args) if args.action == "show" else _list(at, args)
    from . import noting

    actions = {
        "add": noting.add,
        "edit": noting.edit,
        "remove": noting.remove,
        "promote": noting.promote,
        "supersede": noting.supersede,
    }
    return actions[args.action](at, args)


def remember(argv: list[str]) -> int:
    about = (
        "Keep a fact for later sessions, in the note it belongs to: the one you name, else the one that is about the\n"
        "same things, else a new one. --scope user follows you into every project, local ends with the session."
    )
    examples = (
        'remember "PostgreSQL JSONB indexes require GIN, not B-tree"\n'
        'remember "Prefer small commits" --type feedback --scope user\n'
        'remember "Approach X failed: the API has no cursor" --scope local --topic import'
    )
    parser = arguments.parser("remember", about, examples)
    parser.add_argument("facts", nargs="+", metavar="FACT", help="a fact, in quotes")
    parser.add_argument("--topic", metavar="T", help="the note it belongs to, by name; made if there is none")
    _add_content(parser)
    args = parser.parse_args(argv)
    from . import noting

    return noting.remember(desk.Desk(args), args)


def _add_content(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--description", metavar="TEXT", help="one line for the index (default: the first fact)")
    add(
        "--type",
        choices=settings.NOTE_TYPES,
        help="what kind of knowledge (default: project, or user for --scope user)",
    )
    desk.add_scope(parser, "local ends with the session, user follows you everywhere (default: project)")
    add("--file", metavar="F", action="append", help="a file it is about: lint tells when it changes (repeatable)")
    add("--trigger", metavar="T", action="append", help='"command: git push" or "path: src/**" (repeatable)')
    add("--fix", action="store_true", help="put right what lint can: relative dates, the opening of a story")


# Looking -------------------------------------------------------------------------------------------


def _show(at: Desk, args: argparse.Namespace) -> int:
    shelf, found = at.find(args.names[0], args.scope)
    return show_note(at, shelf, found, args.json)


def show_note(at: Desk, shelf: Shelf, found: Note, is_json: bool) -> int:
    from ..notes import freshness

    notebook.mark_used(shelf, found.slug)
    fate = notebook.fate_of(at.shelves, found)
    state, files = freshness.state(found, at.project.root)
    if is_json:
        emit_json({**described(found), "holds": not fate, "why_not": fate or None, "freshness": state or None})
        return 0
    if found.is_damaged:
        raise Refusal("%s is damaged: it %s. See: harness memory lint" % (found.ref, found.problems[0][1]))
    emit_stored(store.read(found.path) or b"")
    sys.stdout.flush()
    if fate:
        complain("%s is %s" % (found.ref, fate))
    if files:
        complain("%s: %s is %s; it may no longer hold" % (found.ref, ", ".join(files), state))
    return 0


def _list(at: Desk, args: argparse.Namespace) -> int:
    from . import listing

    return listing.show(at, listing.Wanted(type=args.type, scope=args.scope), args.json)


def described(made: Note) -> dict[str, Any]:
    """A note for scripts."""
    return {
        "note": made.ref,
        "file": made.path,
        "name": made.name,
        "description": made.description,
        "type": made.type,
        "scope": made.scope,
        "created": made.fields.get("created"),
        "verified": made.fields.get("verified"),
        "session": made.fields.get("session"),
        "supersedes": made.supersedes,
        "files": [path for path, _ in made.files],
        "triggers": list(made.fields.get("triggers") or ()),
        "facts": [fact.text for fact in made.facts],
    }
