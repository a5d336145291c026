"""One run of a verb: its arguments, the memory, session or note that they mean, and how it answers."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from functools import cached_property
from typing import Any, Callable, Iterable, Sequence, TypeVar

from ..base import clock, files, settings
from ..memory import archive, records
from ..memory.archive import Archived
from ..memory.records import Record
from ..notes.note import Note, parse, slug_of
from ..notes.shelf import Shelf, archived_slug, read_all, shelves
from ..project import Project, identity, relative_path
from ..session import life, sessions
from . import output
from .output import Fields, Refusal

Item = TypeVar("Item")
ToRow = Callable[[Any], Fields]  # an item for scripts
_LISTED = 20
_RECENT = 200  # sessions that are read to find the last one: as many as retention keeps


class Call(argparse.Namespace):
    """`folder` is --project; `shelves` are the notes in reach, the nearest first."""

    json = False
    damaged: Sequence[OSError] = ()  # archives

    def answer(self, value: Any, lines: Iterable[str] | None = None, code: int = 0) -> int:
        """Print the value for scripts, or for a person the lines or else its fields; the exit code."""
        if self.json:
            print(json.dumps(value, indent=2).replace("\x7f", "\\u007f"))  # all in ASCII: harmless in a terminal
        else:
            output.show(output.page(value) if lines is None else lines)
        return code

    def listing(self, head: str, items: Sequence[Any], none: str, row: ToRow = dict, after: Sequence[str] = ()) -> int:
        """A table of at most `--limit` items; `row` is an item for scripts.

        A word of `head` is a column: its title and, where another, `=key` of the row.
        """
        rows = [row(item) for item in items[: getattr(self, "limit", None)]]
        columns = [(title, key or title.lower()) for title, _, key in (word.partition("=") for word in head.split())]
        cells = [[output.cell(each[key]) for _, key in columns] for each in rows]
        lines = output.table([[title for title, _ in columns], *cells], is_cut=True) if rows else [none]
        if len(items) > len(rows):
            lines.append("%d more: --limit %d" % (len(items) - len(rows), len(items)))
        return self.answer(rows, [*lines, *after])

    # Which memory --------------------------------------------------------------------------------
    @cached_property
    def now(self) -> float:
        return time.time()

    @cached_property
    def root(self) -> str:
        path = files.root_from(os.environ)
        names = [name for name in (settings.ENV_HOME, settings.ENV_CONFIG_DIR) if self.caller and os.environ.get(name)]
        if names and not self._is_marked(path):  # a project's settings may have set them
            stores = [files.root_from({name: os.environ[name]}) for name in names] + [files.root_from({})]
            path = next(filter(self._is_marked, stores), "")
            if not path:
                raise Refusal("no hook of this session uses %s. Run it in a terminal of your own" % " or ".join(names))
        files.confine(path)
        files.check_owner(path)
        return path

    def _is_marked(self, store: str) -> bool:
        files.confine(store)
        return bool(sessions.find_marker(store, self.caller)[1])

    @cached_property
    def caller(self) -> str:
        """Claude's id of the session that calls us; "" outside of one."""
        return os.environ.get(settings.ENV_SESSION_ID, "")

    @cached_property
    def directory(self) -> str:
        if self.folder is not None:
            path: str = os.path.abspath(os.path.expanduser(self.folder))
            if not os.path.isdir(path):
                raise Refusal("--project %s: no such directory" % self.folder)
            return path
        # A session acts on its own project, wherever its shell is.
        launch = sessions.find_marker(self.root, self.caller)[1].get("launch") if self.caller else ""
        return str(launch or os.environ.get(settings.ENV_PROJECT_DIR) or working_directory())

    @cached_property
    def project(self) -> Project:
        return identity.locate(self.root, self.directory, self.directory)

    @property
    def dir(self) -> str:
        """The memory of the project."""
        return self.project.dir

    @property
    def all_dirs(self) -> list[str]:
        return [path for path in files.folders(self.root) if identity.is_project_id(os.path.basename(path))]

    @property
    def dirs(self) -> list[str]:
        """The project directories that are meant: one, or all with --all-projects."""
        return self.all_dirs if self.all_projects else [self.dir]

    def prepare(self, *, with_project: bool = True) -> None:
        """Make the store, closed to others, and the record of the project that is to be written."""
        opened = files.ensure_private(self.root)
        if opened:
            output.complain(opened)
        if with_project:
            identity.record(self.project, clock.iso(self.now))

    def relative(self, file: str) -> str:
        """A path as it is recorded: below the project's root, with forward slashes."""
        root = self.project.root
        path = os.path.normpath(os.path.join(root, os.path.expanduser(file)))
        roots = (root, os.path.realpath(root))
        inside = relative_path(path, roots) or relative_path(os.path.realpath(path), roots)
        if not inside:
            raise Refusal("--file %s is not in the project %s. Nothing was recorded." % (file, output.short(root)))
        return inside

    # Which session -------------------------------------------------------------------------------
    @cached_property
    def records(self) -> list[Record]:
        return records.load_all(self.dir)

    @property
    def last(self) -> Record | None:
        """The session that worked last. Inside Claude Code the present session is never the one that is meant."""
        recent = self.records[:_RECENT]
        others = [record for record in recent if not self.caller or record.claude_id != self.caller]
        return max(others, key=lambda record: (record.seen, record.started), default=None)

    def find_session(self, word: str) -> Record:
        """The one session that is meant by an id, its beginning, or "last"."""
        if word == "last" and self.last:
            return self.last

        def ids(each: Record) -> tuple[str, ...]:
            # Claude's own begins with the short one, and only then it has to be read.
            return each.id, each.claude_id if word.startswith(each.id) else ""

        return one(word, self.records, ids, "session", "list --all-projects", named)

    @cached_property
    def current(self) -> sessions.Session | None:
        """The session that calls us."""
        marker = sessions.read_marker(self.dir, self.caller) if self.caller else {}
        return sessions.at_marker(self.dir, marker) if marker.get("claude_session") else None

    @property
    def present(self) -> str:
        """Its short id; "" outside of one."""
        return self.current.id if self.current else self.caller and sessions.safe_id(self.caller)[:8]

    @cached_property
    def archived(self) -> list[Archived]:
        """Every archived session, the oldest archive first; a damaged archive is named and gives what can be read."""
        damaged: list[OSError] = []
        every = [*archive.load_all(self.dir, damaged)]
        self.damaged = damaged
        for error in damaged:
            remedy = "Its readable part is used: restore that, then delete the file."
            output.complain("%s: %s. %s" % (output.short(str(error.filename)), error.strerror, remedy))
        return every

    @property
    def archived_once(self) -> list[Archived]:
        """Of a session that was archived several times, the newest."""
        return [*{(each.id, each.started): each for each in self.archived}.values()]

    def find_archived(self, word: str) -> Archived:
        every = self.archived_once
        return one(word, every, lambda each: (each.id, each.claude_id), "archived session", "restore", named)

    def running(self, word: str | None) -> str:
        """Claude's id of the session to write to: by name, else the present, else the only one that runs here."""
        if word and not self.caller.startswith(word):
            return self.find_session(word).claude_id
        markers = sessions.live_markers(self.dir)
        live = [str(each["claude_session"]) for each in markers if life.is_alive(each["process"]) is not False]
        if not self.caller and len(live) != 1:
            what = ", ".join(id[:8] for id in live) or "none"
            raise Refusal("which session? Running here: %s. Nothing was recorded. Name it: --session ID" % what)
        return self.caller or live[0]

    # Which note ----------------------------------------------------------------------------------
    @cached_property
    def shelves(self) -> list[Shelf]:
        return shelves(self.root, self.dir, self.current.dir if self.current else "", self.project.root)

    @cached_property
    def today(self) -> str:
        """The day in a note is the person's."""
        return time.strftime("%Y-%m-%d", time.localtime(self.now))

    def shelf(self, scope: str) -> Shelf:
        if found := [shelf for shelf in self.shelves if shelf.scope == scope]:
            return found[0]
        raise Refusal("no %s notes here: no session runs, or the checkout has none. Choose another --scope" % scope)

    def writing(self, scope: str) -> Shelf:
        if scope == settings.TEAM_SCOPE:
            raise Refusal("notes of the team change in the repository. Edit the file, or: harness memory share NAME")
        self.prepare(with_project=scope != "user")
        shelf = self.shelf(scope)
        shelf.may_loosen = is_person()
        return shelf

    def find_note(self, word: str, *, is_readable: bool = False) -> Note:
        """The one note that is meant by scope/name, name or file, or the beginning of it; the nearest scope first."""
        scope, slug = _scope_and_slug(word)
        nearest = {each.slug: each for each in [*read_all(self.shelves)][::-1] if scope in (None, each.scope)}
        # A file made by hand may have a name that is not a slug.
        note = one(slug, nearest.values(), lambda each: (slug_of(each.slug),), "note", "list --notes", "{0.ref}".format)
        if is_readable and note.is_unreadable:
            raise Refusal("%s %s; nothing was changed. See: harness memory lint" % (note.ref, note.problems[0][1]))
        return note

    def meant(self, word: str) -> Record | Archived | Note:
        """The one session, note, archived session or removed note that a person means."""
        for find in (self.find_session, self.find_note, self.find_archived):
            with contextlib.suppress(Missing):
                return find(word)
        scope, slug = _scope_and_slug(word)
        for shelf in self.shelves:
            versions = [version for version in files.names(shelf.archive) if archived_slug(version) == slug]
            if versions and scope in (None, shelf.scope):
                path = os.path.join(shelf.archive, versions[-1])
                note = parse(slug, files.read_text(path))
                note.scope, note.path, note.fate = shelf.scope, path, "removed"
                return note
        raise Refusal('no session or note "%s" here. See: harness memory list' % word)


def working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise Refusal("the current directory is gone. Go to another and try again.") from None


def is_person() -> bool:
    """Whether a person runs this in a terminal, and not the model through a tool."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)) and not is_in_session()


def is_in_session() -> bool:
    """Whether Claude Code runs this."""
    return any(os.environ.get(name) for name in settings.ENV_CLIENT)


def project_name(project_dir: str) -> str:
    return os.path.basename(project_dir).rpartition("-")[0]


class Missing(Refusal):
    """Nothing has the name that was given."""


def one(
    word: str,
    items: Iterable[Item],
    ids: Callable[[Item], Iterable[str]],
    what: str,
    see: str,
    shown: Callable[[Item], str] = str,
) -> Item:
    """The one item that `word` names, or that has an id which begins with it; a Refusal names several."""
    every = [(item, [*ids(item)]) for item in items]
    hits = [item for item, names in every if word in names]
    hits = hits or [item for item, names in every if word and any(id.lower().startswith(word.lower()) for id in names)]
    if len(hits) > 1:
        rows = "\n".join("  " + shown(item) for item in hits[:_LISTED])
        raise Refusal('"%s" matches %d %ss. Give more of the id:\n%s' % (word, len(hits), what, rows))
    if not hits:
        raise Missing('no %s "%s" here. See: harness memory %s' % (what, word, see))
    return hits[0]


def named(item: Record | Archived) -> str:
    return "%s  %s  %s" % (item.id, output.local(item.started), item.headline)


def _scope_and_slug(word: str) -> tuple[str | None, str]:
    """The scope, if it is named, and the slug of `project/cart`, `Cart`, or the path of a note's file."""
    scope, _, rest = word.partition("/")
    if scope not in settings.NOTE_SCOPES or not rest:
        return None, slug_of(os.path.basename(word.replace("\\", "/"))[: -len(".md")] if word.endswith(".md") else word)
    return scope, _scope_and_slug(rest)[1]
