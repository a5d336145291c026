"""`lint` finds what is wrong with notes, `compact` makes them fewer."""

from __future__ import annotations

import os

from ..base import settings
from ..notes import lint as linting
from ..notes.lint import Finding
from . import arguments
from .output import answer, by_remedy, count, short
from .scopes import Scopes, add_scope

_UNDECIDED = ("duplicate", "near-duplicate", "contradiction", "long")  # what compact leaves to a person


def lint(argv: list[str]) -> int:
    about = "List what is wrong with the notes, with file, line and remedy; the exit code is 1 when there is anything."
    parser = arguments.parser("lint", about, "lint\nlint --fix\nlint --scope user --json")
    add_scope(parser)
    parser.add_argument("--fix", action="store_true", help="correct what can be corrected without loss")
    args = parser.parse_args(argv)
    scopes = Scopes(args)
    places = [shelf for shelf in scopes.shelves if args.scope in (None, shelf.scope)]
    fixed, rows = [], []
    own = [shelf for shelf in places if shelf.scope != settings.TEAM_SCOPE]
    for shelf in [shelf for shelf in own if args.fix and shelf.slugs()]:
        with scopes.writing(shelf.scope):
            for note in [note for note in shelf.read() if not note.is_unreadable]:
                done = linting.correct(note)
                if done:
                    fixed.append({"file": note.path, "done": done, "archived": shelf.put(note, scopes.now) or None})
                    rows += ["Corrected %s:" % short(note.path), *("  " + what for what in done), ""]
    findings = linting.check(places, scopes.project.root, scopes.now)
    safe = sum(finding.fixable for finding in findings)
    more = "; --fix corrects %d" % safe if safe else ""
    total = "%s in %s%s" % (count(len(findings), "finding"), short(scopes.root), more)
    rows += [total, *_listing(findings, scopes.root)] if findings else ["The notes are in order."]
    answer(args.json, {"fixed": fixed, "findings": [finding._asdict() for finding in findings]}, rows)
    return 1 if findings else 0


def compact(argv: list[str]) -> int:
    about = "Keep every fact once, drop superseded notes, archive the originals; exit code 1 with what you must decide."
    parser = arguments.parser("compact", about, "compact --dry-run\ncompact\ncompact --scope user", has_preview=True)
    add_scope(parser)
    args = parser.parse_args(argv)
    scopes = Scopes(args)
    changes, archived, rows = [], [], ["Nothing is changed (--dry-run). It would be:"] * args.dry_run
    places = [shelf for shelf in scopes.shelves if shelf.home and args.scope in (None, shelf.scope)]
    for shelf in [shelf for shelf in places if shelf.slugs()]:
        changed, paths = linting.compact(shelf, scopes.now, is_dry_run=args.dry_run)
        changes += [{"note": shelf.scope + "/" + slug, "what": what} for slug in changed for what in changed[slug]]
        rows += ["  %s/%s %s" % (shelf.scope, slug, what) for slug in changed for what in changed[slug]]
        rows += ["%s kept in %s" % (count(len(paths), "original"), short(shelf.archive))] if paths else []
        archived += paths
    findings = linting.check(scopes.shelves, scopes.project.root, scopes.now)
    undecided = [finding for finding in findings if finding.kind in _UNDECIDED]
    rows = rows if changes else ["The notes are compact."]
    rows += ["", "To decide:", *_listing(undecided, scopes.root)] if undecided else []
    decisions = [finding._asdict() for finding in undecided]
    answer(args.json, {"changes": changes, "archived": archived, "needs_a_mind": decisions}, rows)
    return 1 if undecided else 0


def _listing(findings: list[Finding], root: str) -> list[str]:
    places = ["%s:%d %s" % (os.path.relpath(each.file, root), each.line, each.what) for each in findings]
    return by_remedy(zip(places, [each.remedy for each in findings]), 10)
