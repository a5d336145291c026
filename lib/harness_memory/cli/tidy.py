"""Keeping notes worth reading: `lint` finds what is wrong with them, `compact` makes them fewer."""

from __future__ import annotations

import os

from ..notes import compact as compacting
from ..notes import index as notes_index
from ..notes import lint as linting
from . import arguments, desk
from .output import count, emit_json, line, short
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ..notes.compact import Plan
    from ..notes.lint import Finding
    from ..notes.shelf import Shelf
    from .desk import Desk

_SHOWN = 10  # findings of a kind


def lint(argv: list[str]) -> int:
    about = (
        "What is wrong with the notes: stories instead of facts, relative dates, duplicates, contradictions, files\n"
        "that have changed, long topics, listings, secrets, notes nobody used for six months. Each with file, line,\n"
        "reason and remedy; exit code 1 when there is any. --fix does what is safe, after archiving the original."
    )
    parser = arguments.parser("lint", about, "lint\nlint --fix\nlint --scope user --json")
    desk.add_scope(parser)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these notes")
    parser.add_argument("--fix", action="store_true", help="put right what can be without loss")
    args = parser.parse_args(argv)
    at = desk.Desk(args)
    paths = {note.path for word in args.names for _, note in [at.find(word, args.scope)]}
    fixed = _fix(at, args, paths) if args.fix else []
    found = linting.check(at.shelves, at.project.root, at.now)
    found = [each for each in found if not paths or each.path in paths]
    found = [each for each in found if args.scope is None or _is_on(each, at.shelf(args.scope))]
    if args.json:
        emit_json({"fixed": fixed, "findings": [finding.as_json() for finding in found]})
    else:
        _print_fixed(fixed)
        print("\n".join(_listing(found, at.root)) if found else "The notes are in order.")
    return 1 if found else 0


def _is_on(finding: Finding, shelf: Shelf) -> bool:
    return finding.path.startswith((shelf.folder + os.sep, shelf.index) if shelf.home else shelf.folder + os.sep)


def _fix(at: Desk, args: argparse.Namespace, paths: set[str]) -> list[dict[str, object]]:
    done: list[dict[str, object]] = []
    for shelf in at.shelves:
        slugs = [slug for slug in shelf.slugs() if not paths or shelf.path(slug) in paths]
        if not slugs or args.scope not in (None, shelf.scope):
            continue
        with at.open(shelf.scope) as writing:
            for slug in slugs:
                note = shelf.note(slug)
                what = linting.corrected(note) if note else []
                if note and what:
                    kept = writing.archive(slug, at.now)
                    done.append({"file": writing.put(note), "done": what, "archived": kept or None})
    return done


def _print_fixed(fixed: list[dict[str, object]]) -> None:
    for each in fixed:
        print("Put right in %s:" % short(str(each["file"])))
        for what in each["done"] if isinstance(each["done"], list) else ():
            print("  " + line(what))
    if fixed:
        print()


def _listing(found: list[Finding], root: str) -> list[str]:
    """Like with like, of many alike the first few."""
    groups: dict[str, list[Finding]] = {}
    for finding in found:
        groups.setdefault(finding.kind, []).append(finding)
    safe = sum(finding.is_safe for finding in found)
    more = " (%d can be put right by --fix)" % safe if safe else ""
    lines = ["%s in %s%s" % (count(len(found), "finding"), short(root), more)]
    for kind, group in groups.items():
        lines += ["", kind]
        for finding in group[:_SHOWN]:
            where = "%s:%d" % (os.path.relpath(finding.path, root), finding.line)
            lines += ["  " + line("%s %s" % (where, finding.what)), "      " + line(finding.remedy)]
        lines += ["  and %d more (--json lists all)" % (len(group) - _SHOWN)] if len(group) > _SHOWN else []
    return lines


# compact -------------------------------------------------------------------------------------------


def compact(argv: list[str]) -> int:
    about = (
        "Make the notes fewer: facts that stand twice are kept once, superseded notes go, the index is made anew.\n"
        "Every original is kept in the archive first; a second run finds nothing to do. What takes a mind\n"
        "(contradictions, long topics, facts that are nearly alike) is listed, and makes the exit code 1."
    )
    parser = arguments.parser("compact", about, "compact --dry-run\ncompact\ncompact --scope user")
    desk.add_scope(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would be done")
    args = parser.parse_args(argv)
    if args.scope == "local":
        raise Refusal("local notes go with their session; there is nothing to compact")
    at = desk.Desk(args)
    places = [shelf for shelf in at.shelves if shelf.home]
    plans, minded = compacting.plan(places)
    plans = [plan for plan in plans if args.scope in (None, plan.shelf.scope)]
    kept: list[str] = []
    if not args.dry_run:
        for plan in plans:
            if plan.reasons or notes_index.is_behind(plan.shelf):
                kept += compacting.carry_out(plan, at.now)
        minded = compacting.plan(places)[1]  # with the lines as they are now
    if args.json:
        _emit(plans, minded, kept, args.dry_run)
    else:
        _print(plans, minded, kept, at, args.dry_run)
    return 1 if minded else 0


def _emit(plans: list[Plan], minded: list[Finding], kept: list[str], is_dry: bool) -> None:
    done = [{"note": "%s/%s" % (p.shelf.scope, slug), "what": what} for p in plans for slug, what in p.reasons]
    needs = [finding.as_json() for finding in minded]
    emit_json({"dry_run": is_dry, "changes": done, "archived": kept, "needs_a_mind": needs})


def _print(plans: list[Plan], minded: list[Finding], kept: list[str], at: Desk, is_dry: bool) -> None:
    reasons = [("%s/%s" % (plan.shelf.scope, slug), what) for plan in plans for slug, what in plan.reasons]
    if not reasons:
        print("The notes are compact.")
    elif is_dry:
        print("%s would be made (nothing was changed):" % count(len(reasons), "change"))
    for ref, what in reasons:
        print("  " + line("%s %s" % (ref, what)))
    folders = [os.path.dirname(path) for path in kept]
    for folder in dict.fromkeys(folders):
        print("%s kept in %s" % (count(folders.count(folder), "original"), short(folder)))
    if minded:
        print("\nFor somebody to decide:")
        print("\n".join(_listing(minded, at.root)[1:]))
