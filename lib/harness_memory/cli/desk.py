"""The notes in reach of a command: the shelves of the present session, its project and its user."""

from __future__ import annotations

import os
import time

from ..base import clock, settings
from ..notes import note as notes
from ..notes import shelf as notebook
from ..project import identity
from ..session import sessions
from . import arguments
from .output import line
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ..notes.note import Note
    from ..notes.shelf import Shelf


class Desk:
    """`shelves` are the nearest first; `session` is the short id of the present session, if there is one."""

    __slots__ = ("now", "project", "root", "session", "shelves")

    def __init__(self, args: argparse.Namespace) -> None:
        self.root = arguments.root()
        self.project = arguments.locate(args)
        self.now = time.time()
        directory = _present_session(self.project.dir)
        self.session = os.path.basename(directory)
        self.shelves = notebook.shelves(self.root, self.project.dir, directory)

    @property
    def day(self) -> str:
        """The person's own: "today" in a note is theirs."""
        return time.strftime("%Y-%m-%d", time.localtime(self.now))

    def shelf(self, scope: str) -> Shelf:
        found = next((shelf for shelf in self.shelves if shelf.scope == scope), None)
        if found is None:
            raise Refusal("no session is running here, so nothing can be local to it. Choose --scope project or user")
        return found

    def open(self, scope: str) -> notebook.Writing:
        """To change a shelf, in a memory that is on record."""
        arguments.private_root()
        if scope != "user":
            identity.record(self.project, clock.iso(self.now))
        return notebook.Writing(self.shelf(scope))

    def find(self, word: str, scope: str | None = None, what: str = "note") -> tuple[Shelf, Note]:
        """The one note a person means: by name, slug or the beginning of it; the nearest scope first."""
        named, _, rest = word.partition("/")
        if named in settings.NOTE_SCOPES and rest:
            scope, word = named, rest
        found = self.matching(word, scope)
        if len(found) == 1 or (found and found[0][1].slug == found[-1][1].slug):
            return found[0]  # of several of one name the nearest is meant
        where = " of scope %s" % scope if scope else ""
        if found:
            rows = "\n".join("  %s" % line(note.ref) for _, note in found)
            raise Refusal('"%s" may be each of these notes%s; give more of the name:\n%s' % (line(word), where, rows))
        lists = "harness memory list --notes"
        lists = lists if what == "note" else "harness memory list, or for notes: " + lists
        raise Refusal('no %s "%s"%s here. See: %s' % (what, line(word), where, lists))

    def matching(self, word: str, scope: str | None = None) -> list[tuple[Shelf, Note]]:
        """Notes of that very name, or file, else those whose name begins so."""
        if word.endswith(".md"):
            word = os.path.basename(word.replace("\\", "/"))[: -len(".md")]
        slug = notes.slug_of(word)
        places = [shelf for shelf in self.shelves if slug and scope in (None, shelf.scope)]
        named = [(shelf, name) for shelf in places for name in shelf.slugs()]
        # A file that somebody made by hand may be named in its own way.
        exact = [(shelf, name) for shelf, name in named if name == slug or notes.slug_of(name) == slug]
        dashed = notes.dashed(word)
        chosen = exact or [(shelf, name) for shelf, name in named if notes.dashed(name).startswith(dashed)]
        return [(shelf, note) for shelf, name in chosen for note in [shelf.note(name)] if note]


def add_scope(parser: argparse.ArgumentParser, what: str = "only notes of this scope") -> None:
    parser.add_argument("--scope", choices=settings.NOTE_SCOPES, help=what)


def relative(file: str, root: str) -> str:
    """A path as a note keeps it: below the project's root, with slashes."""
    path = os.path.normpath(os.path.join(root, os.path.expanduser(file)))
    inside = os.path.relpath(os.path.realpath(path), os.path.realpath(root)).replace(os.sep, "/")
    if inside.startswith("../") or inside == ".." or os.path.isabs(inside):
        raise Refusal("--file %s is not in the project %s" % (line(file), line(root)))
    return inside


def _present_session(project_dir: str) -> str:
    """The directory of the Claude session this command is run in; "" outside of one."""
    claude_id = os.environ.get(settings.ENV_SESSION_ID, "")
    marker = sessions.read_marker(project_dir, claude_id) if claude_id else {}
    session = sessions.at_marker(project_dir, marker) if marker.get("claude_session") else None
    return session.dir if session else ""
