"""`edit`: a note, the briefing or a profile in your own editor, checked before it takes the old one's place."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

from ..base import clock, files, settings
from ..base.lock import Lock
from ..base.redact import redact
from ..base.sha256 import hexdigest
from ..base.text import block
from ..inject import sections
from ..memory import file_rules
from ..notes import note
from ..project import identity
from . import arguments, desk, versions
from .output import line, short
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..notes.note import Note
    from ..notes.shelf import Shelf
    from .desk import Desk

_EDITORS = ("VISUAL", "EDITOR")
_PAGE_VERSIONS = 2
_MEANWHILE = "<<<<<<< changed meanwhile: keep what holds of the lines below, and delete this one"


def edit(argv: list[str]) -> int:
    about = (
        "Open a note, the briefing or a skill's profile in $VISUAL or $EDITOR. What you save is checked: if something\n"
        "is wrong with it the old version stays, your draft is kept, and the next edit takes it up again."
    )
    parser = arguments.parser("edit", about, "edit cart-totals\nedit briefing\nedit profile/melt")
    parser.add_argument("what", metavar="NAME", help='a note by name, "briefing", or "profile/SKILL"')
    desk.add_scope(parser, "the note of this scope")
    args = parser.parse_args(argv)
    at = desk.Desk(args)
    kind, _, skill = args.what.partition("/")
    if args.what == "briefing":
        return _edit_page(at, os.path.join(at.project.dir, settings.BRIEFING_FILE))
    if kind == "profile" and skill:
        name = sections.skill_name(skill)
        if not name:
            raise Refusal('"%s" cannot be the name of a skill' % line(skill))
        return _edit_page(at, os.path.join(at.project.dir, settings.PROFILES_DIR, name + ".md"))
    return edit_note(at, *at.find(args.what, args.scope))


def edit_note(at: Desk, shelf: Shelf, found: Note) -> int:
    def check(text: str) -> str:
        made = note.parse(found.slug, text)
        if made.problems:
            return "line %d: %s" % made.problems[0]
        if not made.has_head:
            return "line 1: it has no frontmatter (--- name, description, type ---)"
        if made.lacks:
            return "line 1: it lacks %s" % ", ".join(made.lacks)
        return "" if made.facts else "it states no fact"

    before = files.read_text(found.path) or ""
    text = _edited(at, "note-" + found.slug, before, check)
    if text is None:
        print("Nothing changed.")
        return 0
    with at.open(shelf.scope) as writing:
        if (files.read_text(found.path) or "") != before:
            _refuse(at, "note-" + found.slug, text, "%s was changed by somebody else meanwhile" % found.ref)
        writing.archive(found.slug, at.now)
        path = writing.put(note.parse(found.slug, text))
    _settle(at, "note-" + found.slug)
    print("Written: %s" % short(path))
    return 0


def _edit_page(at: Desk, path: str) -> int:
    name = os.path.basename(path)

    def check(text: str) -> str:
        try:
            file_rules.check_text(text)
        except file_rules.Unfit as unfit:
            return str(unfit)
        is_large = len(text.encode("utf-8")) > settings.CURATED_MAX_BYTES
        return "it is larger than %d bytes" % settings.CURATED_MAX_BYTES if is_large else ""

    before = files.read_text(path) or ""
    text = _edited(at, name[: -len(".md")], before, check)
    if text is None:
        print("Nothing changed.")
        return 0
    arguments.private_root()
    identity.record(at.project, clock.iso(at.now))
    lock = Lock(path + settings.LOCK_SUFFIX)
    with lock as held:
        if not held or (files.read_text(path) or "") != before:
            _refuse(at, name[: -len(".md")], text, "%s was changed by somebody else meanwhile" % name)
        versions.replace(path, text.encode("utf-8"), _PAGE_VERSIONS if name == settings.BRIEFING_FILE else 1)
        lock.discard()
    _settle(at, name[: -len(".md")])
    before = "; the one before is %s" % os.path.basename(versions.former(path)) if before else ""
    print("Written: %s%s" % (short(path), before))
    return 0


# The editor ----------------------------------------------------------------------------------------


def _edited(at: Desk, name: str, before: str, check: Callable[[str], str]) -> str | None:
    """The text a person saved, in order; None when they changed nothing."""
    draft = _draft(at, name)
    arguments.private_root()
    waiting = files.read_text(draft)
    if waiting is not None:
        print("Taking up the draft that was refused: %s" % short(draft))
        if files.read_text(_base(at, name)) != hexdigest(before):
            _merge(draft, waiting, before)
    files.write(_base(at, name), hexdigest(before).encode())
    if waiting is None:
        files.write(draft, before.encode("utf-8"))
    try:
        _run_editor(draft)
    except BaseException:
        if waiting is None:
            _settle(at, name)
        raise
    try:
        given = files.read(draft, settings.CURATED_MAX_BYTES)
        text = block((given or b"").decode("utf-8-sig")) + "\n"
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(
            "the draft cannot be read (%s); the old version stays. It is %s" % (error, short(draft))
        ) from None
    if not text.strip() or text.strip() == before.strip():
        _settle(at, name)
        return None
    wrong = "the line %s is still in it" % _MEANWHILE.partition(":")[0] if _MEANWHILE in text else check(text)
    if wrong:
        _refuse(at, name, text, wrong)
    redacted = redact(text)
    if redacted != text:
        print("Secrets in it were redacted.")
    return redacted


def _run_editor(path: str) -> None:
    named = next((os.environ[name] for name in _EDITORS if os.environ.get(name)), "")
    if not named:
        raise Refusal("no editor is set: export EDITOR=nano (or vim, code --wait, …)")
    words = [word.strip('"') for word in shlex.split(named, posix=os.name != "nt")]
    sys.stdout.flush()
    try:
        code = subprocess.run([*words, path], check=False).returncode
    except OSError as error:
        raise Refusal('the editor "%s" cannot be started (%s)' % (line(named), error.strerror)) from None
    if code:
        raise Refusal('the editor "%s" ended with code %d; nothing was changed' % (line(named), code))


def _draft(at: Desk, name: str) -> str:
    return os.path.join(at.project.dir, settings.STATE_DIR, settings.DRAFTS_DIR, name + ".md")


def _base(at: Desk, name: str) -> str:
    """The hash of what a draft was begun from."""
    return _draft(at, name)[: -len(".md")] + settings.DRAFT_BASE_SUFFIX


def _merge(draft: str, waiting: str, now: str) -> None:
    """What the present version has, and the draft lacks, goes below it for a person to look through."""
    known = set(waiting.split("\n"))
    lines = [row for row in now.split("\n") if row.strip() and row not in known]
    if lines:
        print("It was changed meanwhile: %d of its lines are at the end of the draft, below a mark" % len(lines))
        files.write(draft, "\n".join([waiting.rstrip("\n"), "", _MEANWHILE, *lines, ""]).encode("utf-8"))


def _refuse(at: Desk, name: str, text: str, wrong: str) -> None:
    draft = _draft(at, name)
    files.write(draft, redact(text).encode("utf-8"))
    raise Refusal("%s. The old version stays; your draft is %s, and the next edit takes it up" % (wrong, short(draft)))


def _settle(at: Desk, name: str) -> None:
    files.remove(_draft(at, name))
    files.remove(_base(at, name))
