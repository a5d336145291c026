"""`briefing` and `profile`, pages that people keep and sessions are given; `edit` opens one, or a note, in an editor.

A page has former versions beside it: `briefing.md`, `briefing.md.1` the one before, `briefing.md.2`. Each is written
or renamed in one step: a process killed at any point leaves the present version and those before it.
"""

from __future__ import annotations

import difflib
import os
import time

from ..base import clock, files, settings
from ..base.lock import Lock
from ..memory import briefing as curated
from ..project import identity
from . import arguments, editor, notes
from .output import answer, columns, count, cut, emit_stored, line, local, passage, short, table
from .refusal import Refusal
from .scopes import Scopes, add_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..project.identity import Project

_LOCK_SECONDS = 5.0
_ACTIONS = {
    "show": "print the page",
    "set": "read the page from standard input, show what changes, keep the two versions before",
    "rollback": "write the version before again; once more undoes that",
    "history": "the versions",
}


class Page:
    """The briefing, or the profile of a skill; a session is given the first `limit` lines."""

    __slots__ = ("command", "limit", "path", "project")

    def __init__(self, project: Project, skill: str = "") -> None:
        self.project = project
        self.command = "profile set " + skill if skill else "briefing set"
        self.limit = settings.PROFILE_LINES if skill else settings.BRIEFING_LINES
        name = os.path.join(settings.PROFILES_DIR, skill + ".md") if skill else settings.BRIEFING_FILE
        self.path = os.path.join(project.dir, name)

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    def former(self, number: int) -> str:
        return "%s.%d" % (self.path, number)

    def text(self, path: str = "") -> str:
        lines = curated.read(path or self.path).lines
        return "\n".join(lines) + "\n" if lines else ""

    def replace(self, text: str, expected: str | None = None) -> str:
        """Write a new version and keep the two before, if the page is still as `expected`; the text before."""
        arguments.private_root()
        identity.record(self.project, clock.iso(time.time()))
        lock = Lock(self.path + settings.LOCK_SUFFIX, _LOCK_SECONDS, "another process writes the page. Try again")
        with lock:
            before, data = self.text(), files.read(self.path)
            if expected not in (None, before):
                raise Refusal("%s has changed since the editor was opened" % self.name)
            if data is not None and text != before and not files.is_same(self.former(1), data):
                if files.exists(self.former(1)):
                    files.move(self.former(1), self.former(2))
                written = os.stat(self.path).st_mtime
                files.write(self.former(1), data, durable=True)
                os.utime(self.former(1), (written, written))
            if data is None or text != before:
                files.write_text(self.path, text, durable=True)
            lock.discard()
        return before


def briefing(argv: list[str]) -> int:
    about = "The page every session in this project starts with (briefing.md, up to %d lines)."
    examples = "briefing\nbriefing set < page.md\nbriefing history\nbriefing rollback"
    actions = arguments.Actions("briefing", about % settings.BRIEFING_LINES, examples)
    return _run(actions, argv, "show")


def profile(argv: list[str]) -> int:
    about = "What a session is given when a skill starts (profiles/<skill>.md, up to %d lines)."
    examples = "profile list\nprofile show melt\nprofile set melt < page.md"
    actions = arguments.Actions("profile", about % settings.PROFILE_LINES, examples)
    actions.add("list", "every profile")
    return _run(actions, argv, "list")


def _run(actions: arguments.Actions, argv: list[str], default: str) -> int:
    """The actions of a page; profiles have a skill each, and a list."""
    for action, about in _ACTIONS.items():
        parser = actions.add(action, about)
        if default == "list":
            parser.add_argument("skill", metavar="SKILL", type=_skill, help="the name of the skill, as typed after /")
        if action == "set":
            parser.add_argument("--force", action="store_true", help="also take more lines than a session is given")
    args = actions.parse(argv, default)
    project = arguments.locate(args)
    if args.action == "list":
        folder = os.path.join(project.dir, settings.PROFILES_DIR)
        names = [name[: -len(".md")] for name in files.names(folder) if name.endswith(".md")]
        skills = {name: os.path.join(folder, name + ".md") for name in names if curated.skill_name(name) == name}
        return _list("SKILL", skills, args, "No profiles yet. Write one: harness memory profile set SKILL < FILE")
    page = Page(project, getattr(args, "skill", ""))
    if args.action == "history":
        paths = [path for path in (page.path, page.former(1), page.former(2)) if os.path.lexists(path)]
        return _list("VERSION", {os.path.basename(path): path for path in paths}, args, "No %s yet." % page.name)
    return {"show": _show, "set": _set, "rollback": _rollback}[args.action](page, args)


def edit(argv: list[str]) -> int:
    about = (
        "Open a note, the briefing or a skill's profile in $VISUAL or $EDITOR. What you save is checked: if something\n"
        "is wrong with it, the old version stays and your text is kept as a draft."
    )
    parser = arguments.parser("edit", about, "edit cart-totals\nedit briefing\nedit profile/melt")
    parser.add_argument("what", metavar="NAME", help='a note by name, "briefing", or "profile/SKILL"')
    add_scope(parser, "the note of this scope")
    args = parser.parse_args(argv)
    scopes = Scopes(args)
    kind, _, skill = args.what.partition("/")
    if args.what != "briefing" and not (kind == "profile" and skill):
        return notes.edit_note(scopes, *scopes.find_readable(args.what, args.scope), args)
    page = Page(scopes.project, _skill(skill) if skill else "")
    before = page.text()

    def write(text: str) -> None:
        _report(page, args, page.replace(text, before), is_redacted=False)

    return editor.edit(scopes, page.name[: -len(".md")], before, write)


def _skill(text: str) -> str:
    name = curated.skill_name(text)
    if not name:
        raise Refusal('"%s" cannot be the name of a skill' % line(text))
    return name


def _show(page: Page, args: argparse.Namespace) -> int:
    data = files.read(page.path)
    if data is None:
        raise Refusal("no %s here yet. Write one: harness memory %s < FILE" % (page.name, page.command))
    if args.json:
        return answer(True, {**_facts(page.path), "text": page.text()}, ())
    emit_stored(data)
    return 0


def _list(head: str, paths: dict[str, str], args: argparse.Namespace, none: str) -> int:
    value = [{head.lower(): name, **_facts(path)} for name, path in paths.items()]
    rows = [[head, "CHANGED", "LINES", "BEGINS"]]
    for each in value:
        begins = cut(line(each["problem"] or each["first"]), columns())
        rows.append([line(each[head.lower()]), local(each["changed"]), str(each["lines"]), begins])
    return answer(args.json, value, table(rows, right=(2,), is_cut=True) if value else [none])


def _facts(path: str) -> dict[str, Any]:
    page = curated.read(path)
    first = next((row.strip() for row in page.lines if row.strip()), "")
    changed = clock.iso(files.modified(path))
    return {"file": path, "changed": changed, "lines": len(page.lines), "first": first, "problem": page.problem}


def _set(page: Page, args: argparse.Namespace) -> int:
    text, is_redacted = editor.standard_input(page.command)
    lines = text.count("\n")
    if lines > page.limit and not args.force:
        what = "%d lines, and a session is given the first %d" % (lines, page.limit)
        raise Refusal("%s; nothing was changed. Shorten it, or take it as it is: --force" % what)
    return _report(page, args, page.replace(text), is_redacted=is_redacted)


def _rollback(page: Page, args: argparse.Namespace) -> int:
    text = page.text(page.former(1))
    if not text:
        raise Refusal("no earlier version: %s does not exist" % short(page.former(1)))
    return _report(page, args, page.replace(text), is_redacted=False)


def _report(page: Page, args: argparse.Namespace, before: str, *, is_redacted: bool) -> int:
    text = page.text()
    names = (page.name + " (before)", page.name)
    diff = "\n".join(difflib.unified_diff(before.splitlines(), text.splitlines(), *names, lineterm=""))
    lines = text.count("\n")
    value = {"file": page.path, "changed": text != before, "lines": lines, "redacted": is_redacted, "diff": diff}
    rows = ["Secrets in it were redacted."] if is_redacted else []
    if text == before:
        return answer(args.json, value, [*rows, "Nothing changed: %s is the same." % short(page.path)])
    more = "; the one before is %s" % os.path.basename(page.former(1)) if os.path.lexists(page.former(1)) else ""
    rows += [passage(diff), "", "Written: %s (%s)%s" % (short(page.path), count(lines, "line"), more)]
    rows += ["A session is given the first %d lines." % page.limit] if lines > page.limit else []
    return answer(args.json, value, rows)
