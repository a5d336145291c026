"""`search`: sessions and notes about some words, best first; `related`: those about a file."""

from __future__ import annotations

import os
import time
from typing import Any, Iterable, Iterator

from ..base import clock, invocation
from ..notes import shelf as notebook
from ..notes.note import Note
from ..project import identity
from ..recall import cache, passages, ranking
from ..recall.index import ARCHIVED, NOTE, SESSION
from ..recall.terms import terms
from ..session import episode
from ..session.sessions import day_and_id
from .call import Call, project_name
from .output import Fields, count

_EXAMINED = 500  # of the best matches
_REFRESH_SECONDS = 60.0
_LINE_CHARS = 80  # a longer line is shown from
_LEAD_CHARS = 30  # before its first match


class Hit:
    """`row` is what `--json` shows; `lines` are those of the session or note."""

    def __init__(self, lines: list[str], type: str = "", **row: Any) -> None:
        self.row: Fields = {**row, "text": "", "score": 0.0, "project": None}
        self.lines, self.types, self.has_all = lines, (None, row["kind"], type), False
        self.time = clock.parse(row["day"] + "T23:59:59Z") or 0.0

    def has_words(self, words: list[str]) -> bool:
        """Whether the lines together have every word."""
        return all(any(word in text.casefold() for text in self.lines) for word in words)


def search(call: Call) -> int:
    words = [word.casefold() for word in call.words]
    hits = [] if call.archived_only else _narrowed(call, _ranked(call, words))
    if not hits and not call.archived_only:  # perhaps the words are parts of words
        hits = [hit for hit in _narrowed(call, _every(call)) if hit.has_words(words)]
    if not hits and call.type in (None, SESSION):
        archived = (_session(ARCHIVED, each.id, each.path, each.started[:10], each.episode) for each in call.archived)
        hits = [*{hit.row["id"]: hit for hit in archived if hit and hit.has_words(words)}.values()]
    hits.sort(key=lambda hit: (not hit.has_all, -hit.row["score"]))
    return _report(call, hits, {*terms(" ".join(call.words))})


def _narrowed(call: Call, hits: Iterable[Hit]) -> list[Hit]:
    return [hit for hit in hits if call.type in hit.types and hit.time >= (call.since or 0.0)]


def related(call: Call) -> int:
    path = call.relative(os.path.join(call.directory, call.file))
    ends = tuple("/" + name.lower() for name in (call.file.replace(os.sep, "/").strip("/"), path))
    hits = [hit for hit in _every(call) if any(("/" + file).lower().endswith(ends) for file in hit.row["files"])]
    return _report(call, sorted(hits, key=lambda hit: str(hit.row["day"]), reverse=True), set())


def _every(call: Call) -> Iterator[Hit]:
    yield from map(_note, notebook.holding(call.shelves))
    yield from filter(None, (_recorded(call.dir, name) for name in reversed(episode.names(call.dir))))


def _ranked(call: Call, words: list[str]) -> Iterator[Hit]:
    """Matches of the index of each project, without what is gone or archived."""
    phrases = [word for word in words if " " in word.strip()]
    query, seen = ranking.Query(" ".join(call.words)), set()
    for directory in call.dirs:
        ends = time.monotonic() + _REFRESH_SECONDS
        checkout = call.project.root if directory == call.dir else ""
        source = cache.open_source(call.root, directory, call.now, ends, is_whole=True, checkout=checkout)
        shelves = {shelf.scope: shelf for shelf in notebook.shelves(call.root, directory, "", call.project.root)}
        scores = ranking.score(source, query, call.now)
        top = max(scores.values(), default=0.0)
        scores.update((item.number, item.score * top) for item in passages.rank(source, query, scores))
        for number in ranking.best(source, scores, _EXAMINED):
            record = source.record(number)
            scope, _, slug = record.id.partition("/")
            note = shelves[scope].note(slug) if record.kind == NOTE else None
            hit = _recorded(directory, record.id) if record.kind == SESSION else _note(note) if note else None
            held = [number in source.postings(term) for term in query.weights]
            if not hit or hit.row["file"] in seen or not any(held) or not hit.has_words(phrases):
                continue
            seen.add(hit.row["file"])
            hit.time, hit.has_all = source.times[number], all(held)
            project = None if scope == "user" else os.path.basename(directory)
            hit.row.update(day=record.day, project=project, score=round(scores[number], 3))
            yield hit


def _recorded(directory: str, name: str) -> Hit | None:
    day, id = day_and_id(name)
    return _session(SESSION, id, episode.path_of(directory, name), day, episode.load(directory, name))


def _session(kind: str, id: str, path: str, day: str, value: Fields | None) -> Hit | None:
    """With every line of text in its episode, what happened first."""
    if not value:
        return None
    more = [*value["files_changed"], *value["tags"], str(value.get("branch") or "")]
    more += [task["title"] for task in value["tasks"]]
    lines = "\n".join((episode.headline(value), *passages.of_session(value), *more)).split("\n")
    return Hit(lines, kind=kind, id=id, file=path, day=day, files=value["files_changed"])


def _note(note: Note) -> Hit:
    lines = ["%s: %s" % (note.name, note.description), *(fact.text for fact in note.facts)]
    return Hit(lines, note.type, kind=NOTE, id=note.ref, file=note.path, day=note.day, files=note.files)


def _report(call: Call, hits: list[Hit], words: set[str]) -> int:
    is_wide = getattr(call, "all_projects", None)  # None: `related`, which knows one project

    def row(hit: Hit) -> Fields:
        # The first line with the most of the words.
        text = max(hit.lines, key=lambda text: sum(word in text.casefold() for word in words), default="")
        at = min([at for at in map(text.casefold().find, words) if at >= 0], default=0)
        start = text.rfind(" ", 0, max(0, at - _LEAD_CHARS)) + 1 if len(text) > _LINE_CHARS else 0
        shown = ("…" if start else "") + text[start:]
        return {**hit.row, "text": text, "name": project_name(hit.row["project"] or ""), "shown": shown}

    none = "No match here; try --all-projects." if is_wide is False else "No match."
    verb = "restore" if any(hit.row["kind"] == ARCHIVED for hit in hits) else "show"
    after = ["", "%s. Read one: harness memory %s ID" % (count(len(hits), "hit"), verb)] * bool(hits)
    for id in sorted({hit.row["project"] for hit in hits[: call.limit]} - {None, call.project.id}):
        path = identity.known(os.path.join(call.root, id), "paths")[-1]
        after.append("In %s: harness memory show ID --project %s" % (project_name(id), invocation.quote(path)))
    head = "PROJECT=name " * bool(is_wide) + "WHERE=id DAY TEXT=shown"
    call.listing(head, hits, none, row, after)
    return 2 if call.damaged else 0 if hits else 1
