"""The notes in reach of a command: those of the current session, its project and its user."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from ..base import clock, files, settings
from ..memory import archive
from ..memory.archive import Archived
from ..memory.records import Record
from ..notes import binding, index, lint
from ..notes.note import PATTERNS, Note, parse, slug_of
from ..notes.shelf import Shelf, archived_slug, read_all, shelves
from ..session import sessions
from . import arguments, resolve
from .output import Refusal


class Scopes:
    """`shelves` are the nearest first; `session` is the short id of the current session, or ""."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.root = arguments.root()
        self.project = arguments.locate(args)
        self.now = time.time()
        self.day = time.strftime("%Y-%m-%d", time.localtime(self.now))  # "today" in a note is the person's
        claude_id = os.environ.get(settings.ENV_SESSION_ID, "")
        marker = sessions.read_marker(self.project.dir, claude_id) if claude_id else {}
        session = sessions.at_marker(self.project.dir, marker) if marker.get("claude_session") else None
        self.session = session.id if session else ""
        self.shelves = shelves(self.root, self.project.dir, session.dir if session else "", self.project.root)

    def shelf(self, scope: str) -> Shelf:
        for shelf in self.shelves:
            if shelf.scope == scope:
                return shelf
        if scope == settings.TEAM_SCOPE:
            raise Refusal("this checkout has no notes of a team. Share one: harness memory share NAME")
        raise Refusal("--scope local: no session runs here. Choose --scope project or user")

    def writing(self, scope: str) -> Shelf:
        if scope == settings.TEAM_SCOPE:
            raise Refusal("notes of the team change in the repository. Edit the file, or: harness memory share NAME")
        arguments.private_root(self.project if scope != "user" else None)
        shelf = self.shelf(scope)
        shelf.may_loosen = arguments.is_person()
        return shelf

    def matching(self, word: str, scope: str | None = None) -> list[Note]:
        """The nearest notes of that scope/name, name or file, else those whose name begins so."""
        named, slug = _named(word)
        nearest: dict[str, Note] = {}
        for note in read_all(self.shelves):
            if (named or scope) in (None, note.scope):
                nearest.setdefault(note.slug, note)
        # A file made by hand may have a name that is not a slug.
        return resolve.matches(slug, nearest.values(), lambda note: (slug_of(note.slug),))

    def find(self, word: str, scope: str | None = None, *, is_readable: bool = False) -> Note:
        """The one note a person means; the nearest scope first."""
        matches = self.matching(word, scope)
        note = resolve.one(word, matches, lambda each: (word,), "note", lambda each: each.slug, "list --notes")
        if is_readable and note.is_unreadable:
            raise Refusal("%s %s; nothing was changed. See: harness memory lint" % (note.ref, note.problems[0][1]))
        return note

    def removed(self, word: str) -> Note | None:
        """The note of that name as it last was, when only former versions are left."""
        scope, slug = _named(word)
        for shelf in self.shelves:
            versions = [version for version in files.names(shelf.archive) if archived_slug(version) == slug]
            if versions and scope in ("", shelf.scope):
                path = os.path.join(shelf.archive, versions[-1])
                note = parse(slug, files.read_text(path))
                note.scope, note.path, note.fate = shelf.scope, path, "removed"
                return note
        return None

    def meant(self, word: str, every: list[Record]) -> Record | Archived | Note:
        """The one session, note, archived session or removed note that a person means."""
        if word == "last" or resolve.matching(every, word):
            return resolve.session(every, word)
        if self.matching(word):
            return self.find(word)
        archived = {each.id: each for each in archive.load_all(self.project.dir, [])}.values()
        if resolve.matches(word, archived, lambda each: (each.id, each.claude_id)):
            return resolve.archived(archived, word)
        note = self.removed(word)
        if not note:
            raise Refusal('no session or note "%s" here. See: harness memory list' % word)
        return note

    def select(self, args: argparse.Namespace) -> list[Note]:
        """Notes that the options of a verb ask for, best rank first."""
        wanted, matches = vars(args).get, []
        since, until = wanted("since") or 0.0, wanted("until") or float("inf")
        for note in read_all(self.shelves):
            day = clock.parse(note.day + "T00:00:00Z") or 0.0
            if (
                wanted("type") in (None, note.type)
                and wanted("scope") in (None, note.scope)
                and since - settings.DAY_SECONDS <= day < until
                and (not wanted("unused") or lint.is_unused(self.shelf(note.scope), note, self.now))
            ):
                matches.append(note)
        return sorted(matches, key=lambda note: (settings.NOTE_SCOPES.index(note.scope), index.rank(note)))


def _named(word: str) -> tuple[str, str]:
    """The scope, or "", and the slug of `project/cart`, `Cart`, or the path of a note's file."""
    scope, _, rest = word.partition("/")
    if scope not in settings.NOTE_SCOPES or not rest:
        scope, rest = "", word
    return scope, slug_of(os.path.basename(rest.replace("\\", "/"))[: -len(".md")] if rest.endswith(".md") else rest)


def add_scope(parser: argparse.ArgumentParser, what: str = "only notes of this scope") -> None:
    parser.add_argument("--scope", choices=settings.NOTE_SCOPES, help=what)


def described(note: Note) -> dict[str, Any]:
    """A note for scripts."""
    about = {key: getattr(note, key) for key in ("name", "description", "type", "scope", "files")}
    fields = {key: note.fields.get(key) for key in ("created", "verified", "session")}
    lists: dict[str, Any] = {key: note.items(key) for key in ("supersedes", *PATTERNS)}
    lists["enforce"] = binding.firmness(note) or None
    state = {"facts": [fact.text for fact in note.facts], "why_not": note.fate or None}
    return {"note": note.ref, "file": note.path, **about, **fields, **lists, **state}
