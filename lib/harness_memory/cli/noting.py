"""Changing notes: adding, editing, removing, promoting, superseding. Lint has its say on all that is written."""

from __future__ import annotations

import sys

from ..base import files as store
from ..base import settings
from ..base.redact import MARK, redact
from ..base.text import block, brief, cut, one_line
from ..notes import freshness, lint, similar, wording
from ..notes import index as notes_index
from ..notes import note as notes
from ..notes import shelf as notebook
from . import desk
from .notes import described
from .output import complain, count, emit_json, line, short
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ..notes.lint import Finding
    from ..notes.note import Note
    from ..notes.shelf import Shelf, Writing
    from .desk import Desk

_FACT_TOPIC_WORDS = 4
_LEAST_SHARED_WORDS = 2
_LEAST_SHARE = 0.34


# Adding --------------------------------------------------------------------------------------------


def add(at: Desk, args: argparse.Namespace) -> int:
    name, *facts = [_clean(each) for each in args.names]
    scope, kind = _scope_and_type(args)
    made = notes.new(name, type=kind, day=at.day, description=args.description or "", session=at.session)
    if not made.slug:
        raise Refusal('"%s" cannot name a note: it has no letters' % line(name))
    given = "" if facts else _standard_input("note add %s < FILE" % line(name))
    for fact in facts:
        notes.add_fact(made, fact)
    if given:
        _take_page(made, given)
    is_redacted = [name, *facts] != [one_line(each) for each in args.names]
    with at.open(scope) as writing:
        if writing.shelf.note(made.slug):
            more = 'harness memory remember "FACT" --topic %s' % made.slug
            raise Refusal("there is a note %s/%s already. Add to it: %s" % (scope, made.slug, more))
        _complete(at, made, args)
        return _save(at, writing, made, args, "Noted", is_redacted=is_redacted)


def remember(at: Desk, args: argparse.Namespace) -> int:
    scope, kind = _scope_and_type(args)
    given = [args.topic, *args.facts] if args.topic else args.facts
    is_redacted = any(_clean(each) != one_line(each) for each in given)
    args.topic = args.topic and _clean(args.topic)
    said = [_clean(fact) for fact in args.facts if fact.strip()]
    facts = [wording.put_right(fact, at.day) for fact in said] if args.fix else said
    if not facts:
        raise Refusal("the fact is empty; nothing was noted")
    with at.open(scope) as writing:
        found = _topic(writing.shelf, facts, args)
        target = found or notes.new(
            args.topic or _topic_name(facts[0]),
            type=kind,
            day=at.day,
            description=args.description or facts[0],
            session=at.session,
        )
        if not target.slug:
            raise Refusal("no topic can be made of that; name one: --topic T")
        known = {similar.key(fact.text) for fact in target.facts}
        # What is known as it was said will be put right where it stands.
        new = [pair for pair in zip(said, facts) if not known.intersection(map(similar.key, pair))]
        for _, fact in new:
            notes.add_fact(target, fact)
        if found and target.fields.get("verified"):
            target.fields["verified"] = at.day
        _complete(at, target, args)
        done = "Noted" if new else "Known already, and verified today"
        fixed = ['"%s" is now "%s"' % pair for pair in new if pair[0] != pair[1]]
        return _save(at, writing, target, args, done, fixed, is_redacted)


def _topic(shelf: Shelf, facts: list[str], args: argparse.Namespace) -> Note | None:
    """The note of a shelf that facts belong to: the one named, else the one that is about the same."""
    if args.topic:
        return shelf.note(notes.slug_of(args.topic))
    told = similar.topic_words(" ".join(facts))
    best, most = None, 0.0
    for each in notebook.Book(shelf.read()).holding:
        if args.type in (None, each.type) and not each.problems:
            score = _nearness(told, each)
            if score > most:
                best, most = each, score
    return best


def _nearness(told: frozenset[str], each: Note) -> float:
    """How much of a fact is about a note's topic; 0 when too little is. Its name and description count twice."""
    title = similar.topic_words(each.name + " " + each.description)
    body = similar.topic_words(" ".join(each.body))
    shared = told & (title | body)
    if len(shared) < _LEAST_SHARED_WORDS or len(shared) < _LEAST_SHARE * len(told) or not told & title:
        return 0.0
    return len(told & title) + len(shared)


def _topic_name(fact: str) -> str:
    words = [word.partition(MARK)[0].strip("`.,:;=!?()\"'") for word in one_line(fact).split(" ")]
    return " ".join([word for word in words if similar.topic_words(word)][:_FACT_TOPIC_WORDS])


def _scope_and_type(args: argparse.Namespace) -> tuple[str, str]:
    scope = args.scope or ("user" if args.type == "user" else "project")
    return scope, args.type or ("user" if scope == "user" else "project")


def _complete(at: Desk, made: Note, args: argparse.Namespace) -> None:
    """What flags say of a note."""
    fields = made.fields
    for key in ("description", "type"):
        if getattr(args, key):
            fields[key] = brief(getattr(args, key), settings.NOTE_DESCRIPTION_CHARS)
    if args.file:
        known = dict(made.files)
        items = {path: notes.file_item(path, code) for path, code in known.items()}
        for file in args.file:
            path = desk.relative(file, at.project.root)
            items[path] = freshness.stamped(path, at.project.root)
        fields["files"] = list(items.values())
    for item in args.trigger or ():
        kind, _, what = item.partition(":")
        if kind not in notes.TRIGGERS or not what.strip():
            raise Refusal('--trigger is "command: git push" or "path: src/**", not "%s"' % line(item))
        fields["triggers"] = list(dict.fromkeys([*(fields.get("triggers") or ()), "%s: %s" % (kind, what.strip())]))
    if getattr(args, "supersedes", None):
        refs = [_ref(at, made, word) for word in args.supersedes]
        fields["supersedes"] = list(dict.fromkeys([*made.supersedes, *refs]))


def _ref(at: Desk, made: Note, word: str) -> str:
    """How a note names another: a bare slug in its own scope."""
    shelf, other = at.find(word)
    return other.slug if shelf.scope == made.scope else other.ref


def _save(
    at: Desk,
    writing: notebook.Writing,
    made: Note,
    args: argparse.Namespace,
    done: str,
    fixed: list[str] | None = None,
    is_redacted: bool = False,
) -> int:
    """Write a note, and say what lint has to say of it."""
    made.scope = writing.shelf.scope
    _check_fields(made)
    told = notes.render(made)
    redacted = redact(told)
    if redacted != told:
        made = _parsed(made, redacted)
    fixed = [*(fixed or ()), *(lint.corrected(made, at.day) if args.fix else ())]
    if not made.facts:
        raise Refusal("a note without a fact says nothing; nothing was written")
    made.path = writing.put(made)
    read = writing.shelf.note(made.slug) or made
    findings = [*lint.check_note(read, at.project.root, at.day), *_alike(at, read)]
    warning = notes_index.render(writing.shelf.read())[1].warning if writing.shelf.home else ""
    _report(at, read, args, done, findings, fixed, warning, is_redacted or redacted != told)
    return 0


def _alike(at: Desk, made: Note) -> list[Finding]:
    book = notebook.open_book(at.shelves)
    return [each for each in lint.check_pairs(book, last=made.ref) if each.path == made.path]


def _report(
    at: Desk,
    made: Note,
    args: argparse.Namespace,
    done: str,
    findings: list[Finding],
    fixed: list[str],
    warning: str,
    redacted: bool,
) -> None:
    if args.json:
        told = {**described(made), "redacted": redacted, "fixed": fixed, "warning": warning or None}
        emit_json({**told, "findings": [finding.as_json() for finding in findings]})
        return
    print("%s in %s (%s)" % (done, short(made.path), count(len(made.facts), "fact")))
    if redacted:
        print("Secrets in it were redacted.")
    for what in fixed:
        print("  " + line("put right: " + what))
    for finding in findings:
        remedy = finding.remedy[:1].upper() + finding.remedy[1:]
        print("  " + line("line %d %s. %s" % (finding.line, finding.what, remedy)))
    if any(finding.is_safe for finding in findings) and not args.fix:
        print("  (--fix, or harness memory lint --fix, puts right what is safe)")
    if warning:
        complain(warning)


# Changing ------------------------------------------------------------------------------------------


def edit(at: Desk, args: argparse.Namespace) -> int:
    shelf, found = _readable(at, args.names[0], args.scope)
    is_flagged = args.verified or args.name or args.drop or args.supersedes or args.file or args.trigger
    if is_flagged or args.description or args.type or args.fix:
        return _edit_by_flags(at, shelf, found, args)
    if sys.stdin is not None and not sys.stdin.isatty():
        with at.open(shelf.scope) as writing:
            writing.archive(found.slug, at.now)
            return _save(at, writing, _page(found, _standard_input("note edit NAME < FILE")), args, "Written")
    from . import editing

    return editing.edit_note(at, shelf, found)


def _readable(at: Desk, word: str, scope: str | None) -> tuple[Shelf, Note]:
    shelf, found = at.find(word, scope)
    if found.is_unreadable:
        raise Refusal("%s %s; nothing was changed. See: harness memory lint" % (found.ref, found.problems[0][1]))
    return shelf, found


def _edit_by_flags(at: Desk, shelf: Shelf, found: Note, args: argparse.Namespace) -> int:
    with at.open(shelf.scope) as writing:
        now = shelf.note(found.slug) or found
        if args.name:
            now.fields["name"] = brief(args.name, settings.NOTE_NAME_CHARS)
        for text in args.drop or ():
            hits = [fact for fact in now.facts if similar.key(text) and similar.key(text) in similar.key(fact.text)]
            if len(hits) != 1:
                raise Refusal(
                    '%s of %s hold "%s"; nothing was changed' % (count(len(hits), "fact"), now.ref, line(text))
                )
            now.body = notes.without(now.body, hits)
        if args.verified:
            now.fields["verified"] = at.day
            now.fields["files"] = [freshness.stamped(path, at.project.root) for path, _ in now.files]
        _complete(at, now, args)
        _keep_former(at, writing, now)
        return _save(at, writing, now, args, "Written")


def _keep_former(at: Desk, writing: Writing, note: Note) -> None:
    """Archive a note as it is on the disk, if it is about to become another."""
    if not store.is_same(writing.shelf.path(note.slug), notes.render(note).encode("utf-8", "replace")):
        writing.archive(note.slug, at.now)


def remove(at: Desk, args: argparse.Namespace) -> int:
    told = []
    for word in args.names:
        shelf, found = at.find(word, args.scope)
        if found.is_unreadable and not notebook.is_plain(found.path):
            raise Refusal("%s is no plain file; move it out of the store yourself: %s" % (found.ref, short(found.path)))
        with at.open(shelf.scope) as writing:
            kept = writing.archive(found.slug, at.now) or writing.set_aside(found.slug, at.now)
            writing.remove(found.slug)
        told.append({"note": found.ref, "archived": kept or None})
    if args.json:
        emit_json(told)
        return 0
    for each in told:
        where = "; it is kept in %s" % short(str(each["archived"])) if each["archived"] else ""
        print("Removed %s%s" % (line(each["note"]), where))
    return 0


def promote(at: Desk, args: argparse.Namespace) -> int:
    """To the next wider scope, into the note of the same name if there is one."""
    shelf, found = _readable(at, args.names[0], args.scope)
    if shelf.scope == "user":
        raise Refusal("%s is a user note already: there is no wider scope" % found.ref)
    target = settings.NOTE_SCOPES[settings.NOTE_SCOPES.index(shelf.scope) + 1]
    with at.open(shelf.scope) as leaving, at.open(target) as writing:
        _, found = _readable(at, found.ref, None)  # as it is now that nobody else can write it
        there = writing.shelf.note(found.slug)
        merged = _joined(there, found) if there else found
        if there:
            writing.archive(found.slug, at.now)
        if target == "user":
            merged.fields.pop("files", None)  # they are this project's
            if merged.type == "project":
                merged.fields["type"] = "user"
        merged.fields.pop("scope", None)
        merged.scope, merged.path = target, ""
        code = _save(at, writing, merged, args, "Promoted to %s" % target)
        leaving.archive(found.slug, at.now)
        leaving.remove(found.slug)
        return code


def _joined(there: Note, more: Note) -> Note:
    known = {similar.key(fact.text) for fact in there.facts}
    for fact in more.facts:
        if similar.key(fact.text) not in known:
            notes.add_fact(there, fact.text)
    there.fields["verified"] = max(str(there.fields.get("verified") or ""), str(more.fields.get("verified") or ""))
    return there


def supersede(at: Desk, args: argparse.Namespace) -> int:
    if len(args.names) != 2:
        raise Refusal("name both: harness memory note supersede OLD NEW")
    _, old = at.find(args.names[0], args.scope)
    shelf, new = _readable(at, args.names[1], args.scope)
    if old.ref == new.ref:
        raise Refusal("a note cannot supersede itself: %s" % old.ref)
    if settings.NOTE_SCOPES.index(new.scope) > settings.NOTE_SCOPES.index(old.scope):
        raise Refusal("%s is of a wider scope than %s, which stands before it" % (new.ref, old.ref))
    args.supersedes = [old.ref]
    with at.open(shelf.scope) as writing:
        now = shelf.note(new.slug) or new
        _complete(at, now, args)
        _keep_former(at, writing, now)
        done = "%s is superseded: it is kept, and no session is told of it. Written" % old.ref
        return _save(at, writing, now, args, done)


# Text ----------------------------------------------------------------------------------------------


def _clean(text: str) -> str:
    """Without secrets before anything is named after it: a name loses the signs that tell a secret."""
    return redact(one_line(text))


def _standard_input(usage: str) -> str:
    if sys.stdin is None or sys.stdin.isatty():
        raise Refusal("the text is read from standard input: harness memory %s" % usage)
    data = sys.stdin.buffer.read(settings.NOTE_MAX_BYTES + 1)
    if len(data) > settings.NOTE_MAX_BYTES:
        raise Refusal("standard input is larger than a note can be; nothing was written")
    if not data.strip():
        raise Refusal("standard input is empty; nothing was written")
    try:
        return block(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Refusal("standard input is not UTF-8 at byte %d; nothing was written" % error.start) from None


def _take_page(made: Note, text: str) -> None:
    """A page may bring its own frontmatter, which wins over what was guessed."""
    page = notes.parse(made.slug, text)
    made.fields.update({key: value for key, value in page.fields.items() if value not in (None, "", [])})
    made.body = page.body
    made.problems = page.problems
    if not made.fields.get("description"):
        made.fields["description"] = brief(page.description, settings.NOTE_DESCRIPTION_CHARS)


def _page(found: Note, text: str) -> Note:
    """A whole new text for a note; without frontmatter it keeps the one it has."""
    page = notes.parse(found.slug, text)
    if not page.has_head:
        page.fields = dict(found.fields)
        page.has_head = True
    page.scope = found.scope
    return page


def _check_fields(made: Note) -> None:
    if made.problems:
        row, what = made.problems[0]
        raise Refusal("line %d: %s; nothing was written" % (row, what))
    fields = made.fields
    fields["name"] = made.name
    fields["description"] = brief(made.description, settings.NOTE_DESCRIPTION_CHARS) or cut(made.name, 80)
    fields["type"] = made.type


def _parsed(made: Note, text: str) -> Note:
    again = notes.parse(made.slug, text)
    again.scope = made.scope
    return again
