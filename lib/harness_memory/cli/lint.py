"""`lint` finds what is wrong with notes, `compact` makes them fewer."""

from __future__ import annotations

import os

from ..base import settings
from ..notes import binding
from ..notes import lint as linting
from ..notes.lint import Finding
from .call import Call
from .output import by_remedy, count, short

_UNDECIDED = ("duplicate", "near-duplicate", "contradiction", "long")  # what compact leaves to a person


def lint(call: Call) -> int:
    fixed, rows = [], []
    for shelf in [each for each in call.shelves if call.fix and each.scope != settings.TEAM_SCOPE and each.slugs()]:
        with call.writing(shelf.scope) as shelf:
            bound = [] if shelf.may_loosen else [note.slug for note in shelf.read() if binding.is_looser(note, None)]
            for note in [note for note in shelf.read() if not note.is_unreadable and note.slug not in bound]:
                done = linting.correct(note)
                if done:
                    fixed.append({"file": note.path, "done": done, "archived": shelf.put(note, call.now) or None})
                    rows += ["Corrected %s:" % short(note.path), *("  " + what for what in done), ""]
    findings = linting.check(call.shelves, call.project.root, call.now)
    safe = sum(finding.fixable for finding in findings)
    total = "%s in %s" % (count(len(findings), "finding"), short(call.root))
    total += "; --fix corrects %d" % safe if safe else ""
    rows += [total, *_listing(findings, call.root)] if findings else ["The notes are in order."]
    value = {"fixed": fixed, "findings": [finding._asdict() for finding in findings]}
    return call.answer(value, rows, 1 if findings else 0)


def compact(call: Call) -> int:
    changes, archived, rows = [], [], ["Nothing is changed (--dry-run). It would be:"] * call.dry_run
    for shelf in [each for each in call.shelves if each.home and each.slugs()]:
        changed, paths = linting.compact(shelf, call.now, is_dry_run=call.dry_run)
        changes += [{"note": shelf.scope + "/" + slug, "what": what} for slug in changed for what in changed[slug]]
        archived += paths
    rows += ["  %(note)s %(what)s" % change for change in changes] if changes else ["The notes are compact."]
    folders = ", ".join(dict.fromkeys(short(os.path.dirname(path)) for path in archived))
    rows += ["%s kept in %s" % (count(len(archived), "original"), folders)] if archived else []
    findings = linting.check(call.shelves, call.project.root, call.now)
    undecided = [finding for finding in findings if finding.kind in _UNDECIDED]
    rows += ["", "To decide:", *_listing(undecided, call.root)] if undecided else []
    decisions = [finding._asdict() for finding in undecided]
    value = {"changes": changes, "archived": archived, "needs_a_mind": decisions}
    return call.answer(value, rows, 1 if undecided else 0)


def _listing(findings: list[Finding], root: str) -> list[str]:
    places = ["%s:%d %s" % (os.path.relpath(each.file, root), each.line, each.what) for each in findings]
    return by_remedy(zip(places, [each.remedy for each in findings]), 10)
