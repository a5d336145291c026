"""Notes, facts that people keep: `remember`, `note`, `edit`; `lint` finds what is wrong, `compact` makes them fewer."""

from __future__ import annotations

from ..base import clock, files, settings
from ..base.redact import redact
from ..base.text import brief, cut, one_line
from ..notes import binding, index, lint
from ..notes import note as notes
from ..notes.gist import gist, telling
from ..notes.note import Note
from ..notes.shelf import Shelf, holding, read_all
from ..session.rules import WORDS
from . import pages
from .call import Call, is_in_session
from .output import Fields, Refusal, complain, count, findings, has_input, short

_RULE = ("enforce", *notes.PATTERNS)


def list_notes(call: Call, none: str = "No notes match.") -> int:
    """Notes that the options of a verb ask for, best rank first."""
    wanted = vars(call).get
    kind, scope, since = wanted("type"), wanted("scope"), (wanted("since") or 0.0) - settings.DAY_SECONDS
    every = [note for note in read_all(call.shelves) if kind in (None, note.type) and scope in (None, note.scope)]
    every = [note for note in every if (clock.parse(note.day + "T00:00:00Z") or 0.0) >= since]
    every = [note for note in every if note.is_old(call.now)] if wanted("unused") else every
    every.sort(key=lambda note: (settings.NOTE_SCOPES.index(note.scope), index.rank(note)))
    return call.listing("NOTE TYPE KNOWN=day ABOUT=about", every, none, described)


def described(note: Note) -> Fields:
    """A note for scripts."""
    about = {key: getattr(note, key) for key in ("name", "description", "type", "scope", "files")}
    fields = {key: note.fields.get(key) for key in ("created", "verified", "session")}
    lists: Fields = {key: note.items(key) for key in ("supersedes", *notes.PATTERNS)}
    lists["enforce"] = binding.firmness(note) or None
    state = {"facts": [fact.text for fact in note.facts], "why_not": note.fate or None, "day": note.day}
    state["about"] = note.description + (" (%s)" % note.fate if note.fate else "")
    return {"note": note.ref, "file": note.path, **about, **fields, **lists, **state}


def show(call: Call, note: Note | None = None) -> int:
    note = note or call.find_note(call.name)
    doubt = "" if note.is_unreadable else note.doubt(call.project.root, call.now)
    if note.is_unreadable and not call.json:
        raise Refusal("%s %s. See: harness memory lint" % (note.ref, note.problems[0][1]))
    text = files.read_text(note.path).rstrip("\n")
    for why in filter(None, (note.fate, doubt and "perhaps outdated: " + doubt)):
        complain("%s is %s" % (note.ref, why))
    return call.answer({**described(note), "doubt": doubt or None}, [text])


def remember(call: Call) -> int:
    return call.answer(*keep(call, call.facts, call.type))


def keep(call: Call, facts: list[str], kind: str | None) -> tuple[Fields, list[str]]:
    """Add facts to the note of that name, or to the one that is about the same things."""
    name, *facts = [redact(one_line(each)) for each in (call.name, *facts)]  # no slug holds a secret
    with call.writing(call.scope or ("user" if kind == "user" else "project")) as shelf:
        title = name or _title(facts[0])
        is_own = name or call.enforce or call.require or kind == "feedback"  # a rule has a note of its own
        former = shelf.note(notes.slug_of(title)) if is_own else _nearest(shelf, facts, kind)
        if former and not name and _disagree(former, facts, is_own=bool(is_own)):
            same = sum(slug.startswith(notes.slug_of(title)) for slug in shelf.slugs())
            title, former = "%s %d" % (title, same + 1) if same else title, None
        made = former or notes.new(title, type=kind or "", day=call.today, session=call.present)
        keys = {lint.key(fact.text) for fact in made.facts}
        new = [fact for fact in facts if lint.key(fact) not in keys]
        for fact in new:
            made.add(fact)
        if former and made.fields.get("verified"):
            made.fields["verified"] = call.today
        _apply_options(call, made)
        return _saved(call, shelf, made, "Noted" if new else "Known already, and verified today")


def _disagree(note: Note, facts: list[str], *, is_own: bool) -> bool:
    """Whether facts do not belong into a note: they contradict it, or one that is a rule says something else."""
    texts = [fact.text for fact in note.facts]
    alike = [kind for *_, kind in lint.pairs([*texts, *facts])]
    said = gist(facts[0])
    return "contradiction" in alike or (is_own and not any(said <= gist(each) or gist(each) <= said for each in texts))


def _title(fact: str) -> str:
    """Up to five words that tell a fact from others: also what it rules out, and what stands before that."""
    every = [pair for pair in telling(lint.plain(fact)) if pair[1].lower() not in WORDS["ties"]]
    said = [(denial, word) for denial, word in every if "://" not in word and settings.REDACTED not in word]
    denied = {near for at, (denial, _) in enumerate(said) if denial for near in (at - 1, at)}
    words, last = [""], ""
    for at in sorted(sorted(range(len(said)), key=lambda at: at not in denied)[:5]):
        denial, word = said[at]
        words += [denial, word] if denial != last else [word]
        last = denial
    return " ".join(filter(None, words)) or fact


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
    for key in notes.PATTERNS:
        if getattr(call, key):
            fields[key] = [*dict.fromkeys([*made.items(key), *map(one_line, getattr(call, key))])]
            if len(made.patterns(key)) < len(fields[key]):
                kinds = '--when, --after and --require are "command: git push" or "path: src/**"'
                raise Refusal(kinds + "; nothing was written")
    if call.enforce == "off":
        made.fields = {key: value for key, value in fields.items() if key not in _RULE}
    elif call.enforce or call.after or call.require:
        fields.update({"enforce": call.enforce} if call.enforce else {})
        if not binding.firmness(made) or call.scope == "local":
            raise Refusal("a rule needs --when, or --after and --require, and --scope project or user")


def _saved(call: Call, shelf: Shelf, made: Note, done: str) -> tuple[Fields, list[str]]:
    """Write a note, the former version into the archive; the note for scripts, and what lint finds in it."""
    made.scope = shelf.scope
    problems = ["line %d: %s" % each for each in made.problems] or ["it states no fact"] * (not made.facts)
    if problems:
        raise Refusal(problems[0] + "; nothing was written")
    former, size = shelf.note(made.slug), settings.NOTE_DESCRIPTION_CHARS
    said, before = ({brief(fact.text, size) for fact in note.facts} for note in (made, former or made))
    if made.fields.get("description") in before - said:  # a fact that is gone, which the index would still show
        del made.fields["description"]
    about = brief(made.description, size) or cut(made.name, settings.NOTE_NAME_CHARS)
    made.fields.update(name=made.name, description=about, type=made.type)
    is_same = former and all(former.fields.get(key) == made.fields.get(key) for key in _RULE)
    if is_in_session() and not is_same and made.patterns("after") and made.patterns("require"):
        made.fields["enforce"] = settings.ENFORCE[0]  # a step that the model asks for does not block its session
    shelf.put(made, call.now)
    saved = shelf.note(made.slug) or made
    found = [*lint.check_note(saved, call.project.root, call.now)]
    found += [each for each in lint.check_pairs(read_all(call.shelves), last=saved.ref) if each.file == saved.path]
    firm, patterns = binding.firmness(saved), [each for key in notes.PATTERNS for each in saved.patterns(key)]
    effect = ". %s: %s" % (index.VERBS[firm].capitalize(), ", ".join(patterns)) if firm else ""
    rows = ["%s in %s (%s)%s" % (done, saved.ref, count(len(saved.facts), "fact"), effect)]
    rows += ["Secrets in it were redacted."] if settings.REDACTED in notes.render(saved) else []
    rows += ["  line %d %s; %s" % (each.line, each.what, each.remedy) for each in found]
    return {**described(saved), "findings": [finding._asdict() for finding in found]}, rows


def edit_note(call: Call) -> int:
    note = call.find_note(call.name, is_readable=True)
    if not any(map(vars(call).get, ("verified", "drop", "file", "description", "type", *_RULE))):
        return _write(call, note, pages.standard_input("note edit NAME")) if has_input() else edit(call)
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
    if call.name == "briefing" or (kind == "profile" and skill):
        page = pages.Page(call, skill)
        return pages.edit_text(page.name, page.text(), page.replace)
    note = call.find_note(call.name, is_readable=True)
    return pages.edit_text(note.slug, files.read_text(note.path), lambda text: _write(call, note, text))


def _write(call: Call, note: Note, text: str) -> int:
    """Write a whole new text; without frontmatter the note keeps its own."""
    page = notes.parse(note.slug, text)
    page.fields = page.fields or note.fields
    with call.writing(note.scope) as shelf:
        return call.answer(*_saved(call, shelf, page, "Written"))


def remove(call: Call) -> int:
    removed = []
    for note in [call.find_note(word) for word in call.names]:
        with call.writing(note.scope) as shelf:
            path = shelf.remove(note.slug, call.now)
        removed.append({"note": note.ref, "archived": path or None})
    return call.answer(removed)


def supersede(call: Call) -> int:
    old, new = call.find_note(call.old), call.find_note(call.new, is_readable=True)
    if old.ref == new.ref or old.scope != new.scope:
        raise Refusal("%s cannot supersede %s: only another note of its own scope" % (new.ref, old.ref))
    with call.writing(new.scope) as shelf:
        new = call.find_note(new.ref, is_readable=True)
        new.fields["supersedes"] = [*dict.fromkeys([*new.items("supersedes"), old.slug])]
        return call.answer(*_saved(call, shelf, new, "%s is superseded: it stays on disk. Written" % old.ref))


def lint_notes(call: Call) -> int:
    found = lint.check(call.shelves, call.project.root, call.now)
    rows = findings(found, call.root) if found else ["The notes are in order."]
    return call.answer({"findings": [each._asdict() for each in found]}, rows, 1 if found else 0)


def compact(call: Call) -> int:
    changes, archived = [], []
    for shelf in [each for each in call.shelves if each.home and each.slugs()]:
        changed, paths = lint.compact(shelf, call.now)
        changes += [{"note": shelf.scope + "/" + slug, "what": what} for slug in changed for what in changed[slug]]
        archived += paths
    rows = ["  %(note)s %(what)s" % change for change in changes] or ["The notes are compact."]
    rows += ["  kept: " + short(path) for path in archived]
    return call.answer({"changes": changes, "archived": archived}, rows)
