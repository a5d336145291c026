"""`lint` finds what is wrong with notes, `compact` makes them fewer."""

from __future__ import annotations

import os

from ..notes import compact as compacting
from ..notes import lint as linting
from ..notes import shelf as notebook
from . import arguments
from .output import count, emit_json, line, short
from .refusal import Refusal
from .scopes import Scopes, add_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..notes.lint import Finding
    from ..notes.shelf import Shelf

_SHOWN = 10  # findings of a kind


def lint(argv: list[str]) -> int:
    about = (
        "What is wrong with the notes: stories instead of facts, relative dates, duplicates, contradictions, changed\n"
        "files, long topics, listings, secrets, notes unused for six months. Each with file, line, reason and remedy;\n"
        "exit code 1 when there is any. --fix does what is safe, after archiving the original."
    )
    parser = arguments.parser("lint", about, "lint\nlint --fix\nlint --scope user --json")
    add_scope(parser)
    parser.add_argument("--fix", action="store_true", help="correct what can be corrected without loss")
    args = parser.parse_args(argv)
    at = Scopes(args)
    places = [shelf for shelf in at.shelves if args.scope in (None, shelf.scope)]
    fixed = [row for shelf in places if shelf.slugs() for row in _fix(at, shelf)] if args.fix else []
    homes = tuple(folder for shelf in places for folder in (shelf.folder + os.sep, shelf.index))
    findings = linting.check(at.shelves, at.project.root, at.now)
    findings = [each for each in findings if each.path.startswith(homes)]
    if args.json:
        emit_json({"fixed": fixed, "findings": [finding.as_json() for finding in findings]})
        return 1 if findings else 0
    for each in fixed:
        print("\n".join(["Corrected %s:" % short(each["file"]), *("  " + line(what) for what in each["done"]), ""]))
    print("\n".join(_listing(findings, at.root)) if findings else "The notes are in order.")
    return 1 if findings else 0


def _fix(at: Scopes, shelf: Shelf) -> list[dict[str, Any]]:
    done = []
    with at.writing(shelf.scope) as writing:
        for note in shelf.read():
            what = linting.corrected(note) if not note.is_unreadable else []
            if what:
                archived = writing.archive(note.slug, at.now)
                done.append({"file": writing.put(note), "done": what, "archived": archived or None})
    return done


def _listing(findings: list[Finding], root: str) -> list[str]:
    """Findings by kind, of many the first few."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.kind, []).append(finding)
    safe = sum(finding.is_safe for finding in findings)
    more = " (--fix can correct %d)" % safe if safe else ""
    lines = ["%s in %s%s" % (count(len(findings), "finding"), short(root), more)]
    for kind, group in groups.items():
        lines += ["", kind]
        for finding in group[:_SHOWN]:
            where = "%s:%d" % (os.path.relpath(finding.path, root), finding.line)
            lines += ["  " + line("%s %s" % (where, finding.what)), "      " + line(finding.remedy)]
        lines += ["  and %d more (--json lists all)" % (len(group) - _SHOWN)] if len(group) > _SHOWN else []
    return lines


def compact(argv: list[str]) -> int:
    about = (
        "Make the notes fewer: a fact that two notes state is kept once, superseded notes go. Originals are archived\n"
        "first; a second run finds nothing to do. What a person must decide (contradictions, long topics, facts that\n"
        "are nearly alike) is listed, and makes the exit code 1."
    )
    parser = arguments.parser("compact", about, "compact --dry-run\ncompact\ncompact --scope user")
    add_scope(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would be done")
    args = parser.parse_args(argv)
    if args.scope == "local":
        raise Refusal("--scope local: local notes end with their session; there is nothing to compact")
    at = Scopes(args)
    changes, archived, left = [], [], []
    for shelf in [shelf for shelf in at.shelves if shelf.home]:
        plan = compacting.plan(shelf)[0] if args.scope in (None, shelf.scope) else []
        if plan and not args.dry_run:
            plan, paths = compacting.carry_out(shelf, at.now)
            archived += paths
        changes += [(change.note.ref, reason) for change in plan for reason in change.reasons]
        left += compacting.plan(shelf)[1] if args.scope in (None, shelf.scope) else shelf.read()
    book = notebook.Book(left)
    undecided = [each for note in left for each in linting.check_note(note, "") if each.kind == "long"]
    undecided += linting.check_pairs(book)
    if args.json:
        rows = [{"note": ref, "what": what} for ref, what in changes]
        needs = [finding.as_json() for finding in undecided]
        emit_json({"dry_run": args.dry_run, "changes": rows, "archived": archived, "needs_a_mind": needs})
        return 1 if undecided else 0
    if args.dry_run and changes:
        print("%s would be made (nothing was changed):" % count(len(changes), "change"))
    print("\n".join("  " + line("%s %s" % row) for row in changes) or "The notes are compact.")
    folders = [os.path.dirname(path) for path in archived]
    for folder in dict.fromkeys(folders):
        print("%s kept in %s" % (count(folders.count(folder), "original"), short(folder)))
    if undecided:
        print("\n".join(["", "To decide:", *_listing(undecided, at.root)[1:]]))
    return 1 if undecided else 0
