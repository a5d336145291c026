"""`remember`, `note` and `edit`: facts that people keep, one topic a file. Lint comments on all that is written."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ..base import files, settings
from ..base.redact import MARK, redact
from ..base.text import brief, cut, one_line
from ..notes import binding, lint
from ..notes import note as notes
from ..notes.note import Note
from ..notes.shelf import Shelf, holding, read_all
from . import arguments, pages
from .output import Refusal, answer, complain, count, emit_stored, has_input, listing, short
from .scopes import Scopes, add_scope, described


def remember(argv: list[str]) -> int:
    about = "Keep a fact for later sessions: in the note you name, in the one about the same things, or in a new one."
    examples = 'remember "JSONB indexes require GIN"\nremember "Prefer small commits" --type feedback --scope user'
    parser = arguments.parser("remember", about, examples)
    parser.add_argument("facts", nargs="+", metavar="FACT", help="a fact, in quotes")
    parser.add_argument("--topic", metavar="T", dest="name", default="", help="the name of its note, old or new")
    add_content(parser)
    args = parser.parse_args(argv)
    return _add(Scopes(args), args)


def note(argv: list[str]) -> int:
    about = "Facts for every session, one topic a file. Of two notes of one name the nearer wins: local, project, user."
    examples = 'note add Cart "Totals are rounded once" --file src/cart.py\nnote edit cart --verified'
    actions = arguments.Actions("note", about, examples)
    rows: tuple[tuple[str, str, Callable[[Scopes, argparse.Namespace], int], str], ...] = (
        ("add", "a new topic; without facts its text is read from standard input", _add, "name facts*"),
        ("edit", "a note in your editor, by options, or from standard input", _edit, "name"),
        ("show", "one note", lambda at, args: show_note(at, at.find(args.name, args.scope), args.json), "name"),
        ("list", "all notes", list_notes, ""),
        ("remove", "move notes into the archive", _remove, "names+"),
        ("promote", "from local to project, from project to user", _promote, "name"),
        ("supersede", "NEW replaces OLD, which stays on disk", _supersede, "old new"),
    )
    for action, help, run, operands in rows:
        parser = actions.add(action, help)
        parser.set_defaults(run=run)
        for operand in operands.split():
            name = operand.rstrip("*+")
            parser.add_argument(name, nargs=operand[len(name) :] or None, metavar=name.upper().rstrip("S"))
        (add_content if action in ("add", "edit") else add_scope)(parser)
        if action == "edit":
            parser.add_argument("--verified", action="store_true", help="it is true today, and so are its files")
            parser.add_argument("--drop", metavar="TEXT", action="append", help="drop the fact that holds this text")
    args = actions.parse(argv, "list")
    return int(args.run(Scopes(args), args))


def add_content(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--description", metavar="TEXT", help="one line for the index (default: the first fact)")
    add("--type", choices=settings.NOTE_TYPES, help="kind of knowledge (default: project, or user for --scope user)")
    add_scope(parser, "local ends with the session, user follows you into every project (default: project)")
    add("--file", metavar="F", action="append", help="a file it is about: lint reports its changes (repeatable)")
    add_binding(parser)


def add_binding(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    patterns = '"command: npm install*", "path: src/**" (repeatable)'
    add("--when", "--trigger", metavar="P", action="append", help=patterns)
    add("--enforce", choices=(*settings.ENFORCE, "off"), help="what happens then (default: remind)")
    add("--after", metavar="P", action="append", help="a change that calls for a step, such as path: ui/**")
    add("--require", metavar="P", action="append", help="the step, such as command: make build")


def edit(argv: list[str]) -> int:
    about = "Open a note, the briefing or a skill's profile in $VISUAL or $EDITOR. A refused text is kept as a draft."
    parser = arguments.parser("edit", about, "edit cart-totals\nedit briefing\nedit profile/melt")
    parser.add_argument("what", metavar="NAME", help='a note by name, "briefing", or "profile/SKILL"')
    add_scope(parser, "the note of this scope")
    args = parser.parse_args(argv)
    scopes = Scopes(args)
    kind, _, skill = args.what.partition("/")
    if args.what != "briefing" and not (kind == "profile" and skill):
        return _edit_text(scopes, scopes.find(args.what, args.scope, is_readable=True), args)
    page = pages.Page(scopes.project, skill)
    return pages.edit_text(scopes.project.dir, page.name, page.text, lambda text: page.replace(text, args))


def _add(scopes: Scopes, args: argparse.Namespace) -> int:
    return answer(args.json, *added(scopes, args))


def added(scopes: Scopes, args: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Add facts, or the text of a page, to the note of that name; for `note add` it must not exist."""
    text = "" if args.facts else pages.standard_input("note add %s" % args.name)
    name, *facts = [redact(one_line(each)) for each in (args.name, *args.facts)]  # no slug holds a secret
    facts = [*filter(None, facts)]
    if not facts and not text:
        raise Refusal("the fact is empty; nothing was noted")
    with scopes.writing(args.scope or ("user" if args.type == "user" else "project")) as shelf:
        is_own = name or args.enforce or args.require  # a rule that binds has a note of its own
        existing = shelf.note(notes.slug_of(name or _title(facts[0]))) if is_own else _nearest(shelf, facts, args.type)
        if existing and hasattr(args, "action"):
            raise Refusal("the note %s exists. Add to it: harness memory remember FACT --topic NAME" % existing.ref)
        title = name or _title("".join(facts[:1]))
        made = existing or notes.new(title, type=args.type or "", day=scopes.day, session=scopes.session)
        if not made.slug:
            raise Refusal('"%s" cannot name a note: it has no letters. Name a topic' % name)
        if text:
            page = notes.parse(made.slug, text)
            made.fields.update(page.fields)
            made.body, made.problems = page.body, page.problems
        is_new = _add_facts(made, facts) or bool(text)
        if existing and made.fields.get("verified"):
            made.fields["verified"] = scopes.day
        _apply_options(scopes, made, args)
        return _saved(scopes, shelf, made, "Noted" if is_new else "Known already, and verified today")


def _title(fact: str) -> str:
    """The first four words of a fact that mean something, and a negation behind them (`X, not Y` states X)."""
    words = [word.partition(MARK)[0].strip("`.:;=!?()\"'") for word in lint.reword(fact, "")[0].split()]
    words = [word for word in words if lint.content(word)]
    pairs = [*zip(["", *words], words)]
    denied = [at for at, (before, word) in enumerate(pairs) if lint.is_negation(word) and not before.endswith(",")]
    first = min(denied, default=0)
    return " ".join([*words[:4], *words[max(first, 4) : first + 2]]).replace(",", "")


def _add_facts(note: Note, facts: list[str]) -> bool:
    """Add the facts that a note does not state; whether there were any."""
    keys = {lint.key(fact.text) for fact in note.facts}
    new = [fact for fact in facts if lint.key(fact) not in keys]
    for fact in new:
        note.add(fact)
    return bool(new)


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


def _apply_options(scopes: Scopes, made: Note, args: argparse.Namespace) -> None:
    fields, root = made.fields, scopes.project.root
    for key in ("description", "type"):
        if getattr(args, key):
            fields[key] = brief(getattr(args, key), settings.NOTE_DESCRIPTION_CHARS)
    if args.file:
        paths = [arguments.relative(file, root) for file in args.file]
        items = {**dict(zip(made.files, made.items("files"))), **{path: notes.stamped(path, root) for path in paths}}
        fields["files"] = [*items.values()]
    for option, key in zip(("when", "after", "require"), notes.PATTERNS):
        if getattr(args, option):
            fields[key] = [*dict.fromkeys([*made.items(key), *map(one_line, getattr(args, option))])]
            if len(made.patterns(key)) < len(fields[key]):
                raise Refusal('--%s is "command: git push" or "path: src/**"; nothing was written' % option)
    if args.enforce == "off":
        made.fields = {key: value for key, value in fields.items() if key not in ("enforce", *notes.PATTERNS)}
    elif args.enforce:
        fields["enforce"] = args.enforce
        if not binding.firmness(made) or args.scope == "local":
            raise Refusal("--enforce needs --when, or --after and --require, and --scope project or user")


def _save(scopes: Scopes, shelf: Shelf, made: Note, args: argparse.Namespace, done: str) -> int:
    return answer(args.json, *_saved(scopes, shelf, made, done))


def _saved(scopes: Scopes, shelf: Shelf, made: Note, done: str) -> tuple[dict[str, Any], list[str]]:
    """Write a note, the former version into the archive; the note for scripts, and what lint finds in it."""
    made.scope = shelf.scope
    problems = ["line %d: %s" % each for each in made.problems] or ["it states no fact"] * (not made.facts)
    if problems:
        raise Refusal(problems[0] + "; nothing was written")
    about = brief(made.description, settings.NOTE_DESCRIPTION_CHARS) or cut(made.name, settings.NOTE_NAME_CHARS)
    made.fields.update(name=made.name, description=about, type=made.type)
    if not shelf.may_loosen:
        _restrain(made, shelf.note(made.slug))
    shelf.put(made, scopes.now)
    saved = shelf.note(made.slug) or made
    findings = [*lint.check_note(saved, scopes.project.root)]
    pairs = lint.check_pairs(read_all(scopes.shelves), last=saved.ref)
    findings += [finding for finding in pairs if finding.file == saved.path]
    value = {**described(saved), "findings": [finding._asdict() for finding in findings]}
    rows = ["%s in %s (%s)%s" % (done, short(saved.path), count(len(saved.facts), "fact"), _effect(saved))]
    rows += ["Secrets in it were redacted."] if MARK in notes.render(saved) else []
    rows += ["  line %d %s; %s" % (each.line, each.what, each.remedy) for each in findings]
    return value, rows


def _effect(note: Note) -> str:
    """How a note binds, for the person who wrote it."""
    verb = binding.VERBS.get(binding.firmness(note), "")
    when, after, step = (", ".join([each.partition(": ")[2] for each in note.patterns(key)]) for key in notes.PATTERNS)
    said = ". %s: %s" % (verb.capitalize(), when) if verb and when else ""
    return said + (". After %s: %s" % (after, step) if verb and after and step else "")


def _restrain(made: Note, former: Note | None) -> None:
    """What the model may not do: drop the words of a note that binds, or have a step of its own block a session."""
    kept = {fact.text for fact in made.facts}
    if former and binding.firmness(former) in settings.ENFORCE[1:] and not {fact.text for fact in former.facts} <= kept:
        raise Refusal("%s: %s. Nothing was changed." % (former.ref, binding.PERSON))
    is_step = arguments.is_in_session() and made.patterns("after") and made.patterns("require")
    keys = ("enforce", *notes.PATTERNS)
    if is_step and not (former and all(former.fields.get(key) == made.fields.get(key) for key in keys)):
        made.fields["enforce"] = settings.ENFORCE[0]


def _edit(scopes: Scopes, args: argparse.Namespace) -> int:
    note = scopes.find(args.name, args.scope, is_readable=True)
    given = ("verified", "drop", "file", "when", "enforce", "after", "require", "description", "type")
    if not any(getattr(args, name) for name in given):
        return _edit_text(scopes, note, args, pages.standard_input("note edit NAME") if has_input() else "")
    with scopes.writing(note.scope) as shelf:
        note = scopes.find(note.ref, is_readable=True)  # as it is under the lock
        for text in args.drop or ():
            wanted = lint.key(text)
            hits = [fact for fact in note.facts if wanted and wanted in lint.key(fact.text)]
            if len(hits) != 1:
                raise Refusal('%d facts of %s match "%s"; nothing was changed' % (len(hits), note.ref, text))
            note.drop(hits)
        if args.verified:
            note.fields["verified"] = scopes.day
            note.fields["files"] = [notes.stamped(path, scopes.project.root) for path in note.files]
        _apply_options(scopes, note, args)
        return _save(scopes, shelf, note, args, "Written")


def _edit_text(scopes: Scopes, note: Note, args: argparse.Namespace, text: str = "") -> int:
    """Write a whole new text, without one that of the editor; without frontmatter the note keeps its own."""

    def write(text: str) -> int:
        page = notes.parse(note.slug, text)
        page.fields = page.fields or note.fields
        with scopes.writing(note.scope) as shelf:
            return _save(scopes, shelf, page, args, "Written")

    def read() -> str:
        return files.read_text(note.path)

    return write(text) if text else pages.edit_text(scopes.project.dir, "note-" + note.slug, read, write)


def _remove(scopes: Scopes, args: argparse.Namespace) -> int:
    removed = []
    for note in [scopes.find(word, args.scope) for word in args.names]:
        with scopes.writing(note.scope) as shelf:
            removed.append((note.ref, shelf.remove(note.slug, scopes.now)))
    rows = ["Removed %s%s" % (ref, "; archived in " + short(path) if path else "") for ref, path in removed]
    return answer(args.json, [{"note": ref, "archived": path or None} for ref, path in removed], rows)


def _promote(scopes: Scopes, args: argparse.Namespace) -> int:
    """To the next wider scope, into the note of the same name if there is one."""
    note = scopes.find(args.name, args.scope, is_readable=True)
    if note.scope == "user":
        raise Refusal("%s is a user note: no scope is wider" % note.ref)
    target = "project" if note.scope == "local" else "user"
    with scopes.writing(note.scope) as leaving, scopes.writing(target) as shelf:
        note = scopes.find(note.ref, is_readable=True)  # as it is under the lock
        leaving.check(note.slug, None)
        made = shelf.note(note.slug) or note
        _add_facts(made, [fact.text for fact in note.facts])
        made.fields["verified"] = max(str(each.fields.get("verified") or "") for each in (made, note))
        made.fields.pop("scope", None)
        if target == "user":
            made.fields.pop("files", None)  # they are this project's
            made.fields["type"] = "user" if made.type == "project" else made.type
        code = _save(scopes, shelf, made, args, "Promoted to %s" % target)
        leaving.remove(note.slug, scopes.now)
        return code


def _supersede(scopes: Scopes, args: argparse.Namespace) -> int:
    old, new = scopes.find(args.old, args.scope), scopes.find(args.new, args.scope, is_readable=True)
    if old.ref == new.ref:
        raise Refusal("a note cannot supersede itself: %s" % old.ref)
    if settings.NOTE_SCOPES.index(new.scope) > settings.NOTE_SCOPES.index(old.scope):
        raise Refusal("%s has a wider scope than %s, which overrides it" % (new.ref, old.ref))
    with scopes.writing(new.scope) as shelf:
        new = scopes.find(new.ref, is_readable=True)
        ref = old.slug if old.scope == new.scope else old.ref
        new.fields["supersedes"] = [*dict.fromkeys([*new.items("supersedes"), ref])]
        return _save(scopes, shelf, new, args, "%s is superseded: it stays on disk. Written" % old.ref)


def list_notes(scopes: Scopes, args: argparse.Namespace) -> int:
    def row(note: Note) -> tuple[Any, list[str]]:
        about = note.description + (" (%s)" % note.fate if note.fate else "")
        return described(note), [note.ref, note.type, note.day, about]

    return listing(args, "NOTE TYPE KNOWN ABOUT", scopes.select(args), row, "No notes match.")


def show_note(scopes: Scopes, note: Note, is_json: bool) -> int:
    scopes.shelf(note.scope).mark_used(note.slug)
    stale = note.stale_files(scopes.project.root)
    if is_json:
        return answer(True, {**described(note), "stale_files": stale}, ())
    if note.is_unreadable:
        raise Refusal("%s %s. See: harness memory lint" % (note.ref, note.problems[0][1]))
    emit_stored(files.read(note.path) or b"")
    if note.fate:
        complain("%s is %s" % (note.ref, note.fate))
    if stale:
        complain("%s may no longer hold: changed or missing: %s" % (note.ref, ", ".join(stale)))
    return 0
