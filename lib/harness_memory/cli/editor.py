"""Text from a person: standard input, or their own editor."""

from __future__ import annotations

import os
import sys

from ..base import clock, files, settings
from ..base.redact import redact
from ..memory import briefing
from . import arguments
from .output import line, short
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .scopes import Scopes


def standard_input(usage: str) -> tuple[str, bool]:
    """The text on standard input without secrets, and whether it held any."""
    if sys.stdin is None or sys.stdin.isatty():
        raise Refusal("the text is read from standard input: harness memory %s < FILE" % usage)
    text = _checked(sys.stdin.buffer.read(settings.CURATED_MAX_BYTES + 1))
    return redact(text), redact(text) != text


def _checked(data: bytes) -> str:
    lines, problem = briefing.parse(data)
    if problem or not lines:
        raise Refusal("the text is %s; nothing was written" % (problem or "empty"))
    return "\n".join(lines) + "\n"


def edit(scopes: Scopes, name: str, before: str, write: Callable[[str], object]) -> int:
    """Open `before` in the editor and `write` what is saved; when that fails, the draft stays and is named."""
    arguments.private_root()
    drafts = os.path.join(scopes.project.dir, settings.STATE_DIR, settings.DRAFTS_DIR)
    draft = os.path.join(drafts, "%s.%s.md" % (name, clock.fine_stamp(scopes.now)))
    files.write_text(draft, before)
    try:
        _run_editor(draft)
    except BaseException:
        files.remove(draft)
        raise
    data = files.read(draft) or b""
    try:
        if data.strip() in (b"", before.strip().encode("utf-8")):
            print("Nothing changed.")
        else:
            text = _checked(data)
            clean = redact(text)
            files.write_text(draft, clean)
            print("Secrets in it were redacted.\n" if clean != text else "", end="")
            write(clean)
    except (Refusal, OSError) as error:
        raise Refusal("%s. The old version stays; your text is kept: %s" % (error, short(draft))) from None
    files.remove(draft)
    return 0


def _run_editor(path: str) -> None:
    import shlex
    import subprocess

    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not command:
        raise Refusal("no editor is set. Set one: export EDITOR=nano (or vim, code --wait, …)")
    words = [word.strip('"') for word in shlex.split(command, posix=os.name != "nt")]
    sys.stdout.flush()
    try:
        code = subprocess.run([*words, path], check=False).returncode
    except OSError as error:
        raise Refusal('cannot start the editor "%s": %s' % (line(command), error.strerror)) from None
    if code:
        raise Refusal('the editor "%s" ended with code %d; nothing was changed' % (line(command), code))
