"""What `forget` is to take away: sessions at hand or put away, notes kept or removed, files that hold a text."""

from __future__ import annotations

import os

from ..base import clock, files, settings
from ..memory import archive
from ..memory import forget as forgetting
from ..notes import note as notes
from ..notes import shelf as notebook
from ..session import tombstones
from . import records, resolve
from .output import line
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from typing import Any

    from ..memory.forget import Stroke
    from ..notes.note import Note
    from .records import Record
    from .scopes import Scopes


class Chosen:
    """`archived` are entries of the vault's index, `strokes` the files to change, each with the store it is below;
    `troubles` tell of archives that could not be looked into."""

    __slots__ = ("archived", "notes", "sessions", "strokes", "troubles")

    def __init__(
        self,
        sessions: Iterable[Record] = (),
        notes: Iterable[Note] = (),
        archived: Iterable[dict[str, Any]] = (),
        strokes: Iterable[tuple[str, Stroke]] = (),
        troubles: Iterable[OSError] = (),
    ) -> None:
        self.troubles = [*troubles]
        self.sessions = [*{each.id: each for each in sessions}.values()]
        self.notes = [*{each.ref: each for each in notes}.values()]
        self.archived = [*{each["id"]: each for each in archived}.values()]
        self.strokes = [*strokes]

    def __bool__(self) -> bool:
        return bool(self.sessions or self.notes or self.strokes or self.archived)


def choose(at: Scopes, args: argparse.Namespace) -> Chosen:
    filters = (args.session, args.since, args.until, args.type, args.scope)
    if sum((bool(args.words), args.text is not None, filters != (None,) * 5)) != 1:
        raise Refusal("say what to forget: IDs, or --text, or the other filters; one of the three")
    if args.text is not None:
        if tombstones.weight(args.text) < tombstones.LEAST_WEIGHT:
            raise Refusal("--text is too short: it would strike half the memory")
        troubles: list[OSError] = []
        archived = forgetting.archived_with(at.root, at.project.dir, args.text, troubles)
        return Chosen(archived=archived, strokes=find_text(at, args.text), troubles=troubles)
    return _named(at, args.words) if args.words else _filtered(at, args)


def _named(at: Scopes, words: list[str]) -> Chosen:
    known = records.load_all(at.project.dir)
    sessions, archived, found = [], [], []
    for word in words:
        is_here = word == "last" or resolve.matching(known, word)
        put_away = None if is_here else _put_away(at, word)
        if put_away:
            archived.append(put_away)
        elif is_here:
            sessions.append(resolve.session(known, word))
        else:
            found.append(_note(at, word))
    return Chosen(sessions, found, archived)


def _filtered(at: Scopes, args: argparse.Namespace) -> Chosen:
    found = [note for note, _ in at.select(args)]
    if args.type or args.scope:
        return Chosen(notes=found)
    known = records.load_all(at.project.dir)
    put_away = [entry for _, entry in archive.entries(at.root, at.project.dir)]
    if args.session is not None:
        is_here = args.session == "last" or resolve.matching(known, args.session)
        entry = None if is_here else _put_away(at, args.session)
        put_away = [entry] if entry else []
        known = [] if entry else [resolve.session(known, args.session)]

    def is_meant(started: str) -> bool:
        began = clock.parse(started) or 0.0
        return (args.since is None or began >= args.since) and (args.until is None or began < args.until)

    sessions = [record for record in known if is_meant(record.started)]
    going = {record.id for record in sessions}  # with what is archived of them
    archived = [entry for entry in put_away if is_meant(entry["started"]) and entry["id"] not in going]
    return Chosen(sessions, found, archived)


def _put_away(at: Scopes, word: str) -> dict[str, Any] | None:
    """The one archived session that is meant by an id or its beginning."""
    known = {str(entry["id"]): entry for _, entry in archive.entries(at.root, at.project.dir)}
    exact = [each for each in known.values() if word in (each["id"], each["session_id"])]
    found = exact or [
        e for e in known.values() if word and (e["id"].startswith(word) or e["session_id"].startswith(word))
    ]
    if len(found) > 1:
        ids = ", ".join(sorted(each["id"] for each in found))
        raise Refusal('"%s" may be any of these archived sessions: %s' % (line(word), line(ids)))
    return found[0] if found else None


# Notes ---------------------------------------------------------------------------------------------


def _note(at: Scopes, word: str) -> Note:
    """The note that is meant, else one that was removed, as it last was."""
    scope, _, rest = word.rpartition("/")
    named = rest if scope in ("", *settings.NOTE_SCOPES) else word
    removed = [] if at.matching(named, scope if named == rest and scope else None) else _removed(at, named, scope)
    if len({note.slug for note in removed}) == 1:
        return removed[0]
    return at.find(word, what="session or note")[1]


def _removed(at: Scopes, word: str, scope: str) -> list[Note]:
    """Notes that only the archive has, by name or its beginning; of several versions the newest."""
    slug = notes.slug_of(word[: -len(".md")] if word.endswith(".md") else word)
    newest: dict[tuple[str, str], str] = {}
    for shelf in at.shelves:
        if not (slug and shelf.home and scope in ("", shelf.scope)):
            continue
        folder = shelf.archive
        for name in files.names(folder):
            known = notebook.archived_slug(name)
            if known.startswith(slug) and known not in shelf.slugs():
                newest[shelf.scope, known] = os.path.join(folder, name)
    exact = {key: path for key, path in newest.items() if key[1] == slug}
    return [_copy(scope, slug, path) for (scope, slug), path in (exact or newest).items()]


def _copy(scope: str, slug: str, path: str) -> Note:
    try:
        text = files.read_text(path) or ""
    except OSError:  # too large, perhaps: it can go all the same
        text = ""
    note = notes.parse(slug, text)
    note.scope, note.path = scope, path
    return note


# A text --------------------------------------------------------------------------------------------


def find_text(at: Scopes, text: str) -> list[tuple[str, Stroke]]:
    """In the project, in the user's notes, and in what hooks noted about their failures."""
    user = notebook.user_shelf(at.root).home
    tops = [at.project.dir, user, os.path.join(at.root, settings.HEALTH_DIR)]
    return [(top, stroke) for top in tops for stroke in forgetting.find_text(top, text)]
