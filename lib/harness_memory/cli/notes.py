"""`remember`, `note` and `edit`: facts that people keep, one topic a file. Lint comments on all that is written."""

from __future__ import annotations

from typing import Any

from ..base import clock, files, settings
from ..base.redact import MARK, redact
from ..base.text import brief, cut, one_line
from ..notes import binding, index, lint
from ..notes import note as notes
from ..notes.note import Note
from ..notes.shelf import Shelf, holding, read_all
from . import pages
from .call import Call, is_in_session
from .output import Refusal, complain, count, emit_stored, has_input, short

_RULE = ("enforce", *notes.PATTERNS)


def list_notes(call: Call) -> int:
    return call.listing("NOTE TYPE KNOWN=day ABOUT=about", select(call), described, "No notes match.")


def select(call: Call) -> list[Note]:
    """Notes that the options of a verb ask for, best rank first."""
    wanted, selected = vars(call).get, []
    for note in read_all(call.shelves):
        is_wanted = wanted("type") in (None, note.type) and wanted("scope") in (None, note.scope)
        day = clock.parse(note.day + "T00:00:00Z") or 0.0
        is_in_time = day >= (wanted("since") or 0.0) - settings.DAY_SECONDS
        is_unused = not wanted("unused") or note.is_old(call.now)
        selected += [note] if is_wanted and is_in_time and is_unused else []
    return sorted(selected, key=lambda note: (settings.NOTE_SCOPES.index(note.scope), index.rank(note)))


def described(note: Note) -> dict[str, Any]:
    """A note for scripts."""
    about = {key: getattr(note, key) for key in ("name", "description", "type", "scope", "files")}
    fields = {key: note.fields.get(key) for key in ("created", "verified", "session")}
    lists: dict[str, Any] = {key: note.items(key) for key in ("supersedes", *notes.PATTERNS)}
    lists["enforce"] = binding.firmness(note) or None
    state = {"facts": [fact.text for fact in note.facts], "why_not": note.fate or None, "day": note.day}
    state["about"] = note.description + (" (%s)" % note.fate if note.fate else "")
    return {"note": note.ref, "file": note.path, **about, **fields, **lists, **state}


def show(call: Call) -> int:
    return show_note(call, call.find_note(call.name))


def show_note(call: Call, note: Note) -> int:
    doubt = "" if note.is_unreadable else note.doubt(call.project.root, call.now)
    if call.json:
        return call.answer({**described(note), "doubt": doubt or None}, ())
    if note.is_unreadable:
        raise Refusal("%s %s. See: harness memory lint" % (note.ref, note.problems[0][1]))
    emit_stored(files.read(note.path) or b"")
    for why in filter(None, (note.fate, doubt and "perhaps outdated: " + doubt)):
        complain("%s is %s" % (note.ref, why))
    return 0


def remember(call: Call) -> int:
    return call.answer(*keep(call, call.facts, call.type))


def keep(call: Call, facts: list[str], kind: str | None) -> tuple[dict[str, Any], list[str]]:
    """Add facts to the note of that name, or to the one that is about the same things."""
    name, *facts = [redact(one_line(each)) for each in (call.name, *facts)]  # no slug holds a secret
    with call.writing(call.scope or ("user" if kind == "user" else "project")) as shelf:
        title = name or _title(facts[0])
        is_own = name or call.enforce or call.require  # a rule that binds has a note of its own
        former = shelf.note(notes.slug_of(title)) if is_own else _nearest(shelf, facts, kind)
        made = former or notes.new(title, type=kind or "", day=call.today, session=call.present)
        if not made.slug:
            raise Refusal('"%s" cannot name a note: it has no letters. Name a topic' % name)
        keys = {lint.key(fact.text) for fact in made.facts}
        new = [fact for fact in facts if lint.key(fact) not in keys]
        for fact in new:
            made.add(fact)
        if former and made.fields.get("verified"):
            made.fields["verified"] = call.today
        _apply_options(call, made)
        return _saved(call, shelf, made, "Noted" if new else "Known already, and verified today")


def _title(fact: str) -> str:
    """The first four words of a fact that mean something, and a negation behind them (`X, not Y` states X)."""
    words = [word.partition(MARK)[0].strip("`.:;=!?()\"'") for word in lint.reword(fact, "")[0].split()]
    words = [word for word in words if lint.content(word)]
    pairs = [*zip(["", *words], words)]
    denied = [at for at, (before, word) in enumerate(pairs) if lint.is_negation(word) and not before.endswith(",")]
    first = min(denied, default=0)
    end = 5 if words[3:4] and lint.is_negation(words[3]) else 4
    return " ".join([*words[:end], *words[max(first, end) : first + 2]]).replace(",", "")


def _nearest(shelf: Shelf, facts: list[str], kind: str | None) -> Note | None:
    """The note of a shelf that is about the same things as some facts; its name and description count twice."""
    subject = {*lint.content(" ".join(facts))}
    best, most = None, 0
    for note in [note for note in holding([shelf]) if kind in (None, note.type) and not note.problems]:
        title = subject.intersection(lint.content(note.name + " " + note.description))
        shared = subject.intersection(lint.content(" ".join(note.body))) | title
        if title and len(shared) >= max(2, len(subject) / 3) and len(title) + len(shared) > most:
            best, most = note, len(title) + len(shared)
    return best


def _apply_options(call: Call, made: Note) -> None:
    fields, root = made.fields, call.project.root
    for key in ("description", "type"):
        if getattr(call, key):
            fields[key] = brief(getattr(call, key), settings.NOTE_DESCRIPTION_CHARS)
    if call.file:
        paths = [call.relative(file) for file in call.file]
        items = {**dict(zip(made.files, made.items("files"))), **{path: notes.stamped(path, root) for path in paths}}
        fields["files"] = [*items.values()]
    for name, key in zip(("when", "after", "require"), notes.PATTERNS):
        if getattr(call, name):
            fields[key] = [*dict.fromkeys([*made.items(key), *map(one_line, getattr(call, name))])]
            if len(made.patterns(key)) < len(fields[key]):
                raise Refusal('--%s is "command: git push" or "path: src/**"; nothing was written' % name)
    if call.enforce == "off":
        made.fields = {key: value for key, value in fields.items() if key not in _RULE}
    elif call.enforce or call.after or call.require:
        fields.update({"enforce": call.enforce} if call.enforce else {})
        if not binding.firmness(made) or call.scope == "local":
            raise Refusal("a rule needs --when, or --after and --require, and --scope project or user")


def _saved(call: Call, shelf: Shelf, made: Note, done: str) -> tuple[dict[str, Any], list[str]]:
    """Write a note, the former version into the archive; the note for scripts, and what lint finds in it."""
    made.scope = shelf.scope
    problems = ["line %d: %s" % each for each in made.problems] or ["it states no fact"] * (not made.facts)
    if problems:
        raise Refusal(problems[0] + "; nothing was written")
    about = brief(made.description, settings.NOTE_DESCRIPTION_CHARS) or cut(made.name, settings.NOTE_NAME_CHARS)
    made.fields.update(name=made.name, description=about, type=made.type)
    former = shelf.note(made.slug)
    is_same = former and all(former.fields.get(key) == made.fields.get(key) for key in _RULE)
    if is_in_session() and not is_same and made.patterns("after") and made.patterns("require"):
        made.fields["enforce"] = settings.ENFORCE[0]  # a step that the model asks for does not block its session
    shelf.put(made, call.now)
    saved = shelf.note(made.slug) or made
    findings = [*lint.check_note(saved, call.project.root, call.now)]
    findings += [each for each in lint.check_pairs(read_all(call.shelves), last=saved.ref) if each.file == saved.path]
    when, after, step = (", ".join([each.partition(": ")[2] for each in saved.patterns(key)]) for key in notes.PATTERNS)
    verb = binding.VERBS.get(binding.firmness(saved), "")
    effect = ". %s: %s" % (verb.capitalize(), when) if verb and when else ""
    effect += ". After %s: %s" % (after, step) if verb and after and step else ""
    rows = ["%s in %s (%s)%s" % (done, saved.ref, count(len(saved.facts), "fact"), effect)]
    rows += ["Secrets in it were redacted."] if MARK in notes.render(saved) else []
    rows += ["  line %d %s; %s" % (each.line, each.what, each.remedy) for each in findings]
    return {**described(saved), "findings": [finding._asdict() for finding in findings]}, rows


def edit_note(call: Call) -> int:
    note = call.find_note(call.name, is_readable=True)
    given = ("verified", "drop", "file", "when", "enforce", "after", "require", "description", "type")
    if not any(getattr(call, name) for name in given):
        return _edit_text(call, note, pages.standard_input("note edit NAME") if has_input() else "")
    with call.writing(note.scope) as shelf:
        note = call.find_note(note.ref, is_readable=True)  # as it is under the lock
        for text in call.drop or ():
            wanted = lint.key(text)
            hits = [fact for fact in note.facts if wanted and wanted in lint.key(fact.text)]
            if len(hits) != 1:
                raise Refusal('%d facts of %s match "%s"; nothing was changed' % (len(hits), note.ref, text))
            note.drop(hits)
        if call.verified:
            note.fields["verified"] = call.today
            note.fields["files"] = [notes.stamped(path, call.project.root) for path in note.files]
        _apply_options(call, note)
        return call.answer(*_saved(call, shelf, note, "Written"))


def edit(call: Call) -> int:
    kind, _, skill = call.name.partition("/")
    if call.name != "briefing" and not (kind == "profile" and skill):
        return _edit_text(call, call.find_note(call.name, is_readable=True))
    page = pages.Page(call, skill)
    return pages.edit_text(call, page.name, page.text, page.replace)


def _edit_text(call: Call, note: Note, text: str = "") -> int:
    """Write a whole new text, without one that of the editor; without frontmatter the note keeps its own."""

    def write(text: str) -> int:
        page = notes.parse(note.slug, text)
        page.fields = page.fields or note.fields
        with call.writing(note.scope) as shelf:
            return call.answer(*_saved(call, shelf, page, "Written"))

    return write(text) if text else pages.edit_text(call, note.slug, lambda: files.read_text(note.path), write)


def remove(call: Call) -> int:
    removed = []
    for note in [call.find_note(word) for word in call.names]:
        with call.writing(note.scope) as shelf:
            removed.append((note.ref, shelf.remove(note.slug, call.now)))
    rows = ["Removed %s%s" % (ref, "; archived in " + short(path) if path else "") for ref, path in removed]
    return call.answer([{"note": ref, "archived": path or None} for ref, path in removed], rows)


def supersede(call: Call) -> int:
    old, new = call.find_note(call.old), call.find_note(call.new, is_readable=True)
    if old.ref == new.ref or old.scope != new.scope:
        raise Refusal("%s cannot supersede %s: only another note of its own scope" % (new.ref, old.ref))
    with call.writing(new.scope) as shelf:
        new = call.find_note(new.ref, is_readable=True)
        new.fields["supersedes"] = [*dict.fromkeys([*new.items("supersedes"), old.slug])]
        return call.answer(*_saved(call, shelf, new, "%s is superseded: it stays on disk. Written" % old.ref))
