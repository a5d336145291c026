"""What passes without a question: a call that a person allowed once, and what is free of our own command line.

<root>/guard/allowed/<SHA-256 of tool, directory and arguments>   one word; its time is when it was given, in a terminal
"""

from __future__ import annotations

import os
import sys
import time

from ..base import files, jsontext, settings, text
from ..base.typing import Any
from . import expand, shell
from .words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .question import Question

_CONTENT = b"once\n"  # so that `touch` gives no permission


def give(root: str, tool: str, given: dict[str, Any], cwd: str) -> str:
    """Allow a call once; the path of the permission."""
    path = _path(root, tool, given, cwd)
    files.write(path, _CONTENT)
    return path


def take(root: str, tool: str, given: dict[str, Any], cwd: str) -> bool:
    """Use up the permission for a call; False when there is none, or it is too old."""
    path = _path(root, tool, given, cwd)
    # Removal decides: of two calls at once, one goes through.
    return files.is_same(path, _CONTENT) and files.remove(path)


def clear(folder: str, seconds: float) -> None:
    """Remove the marks that are older; so are those of the future."""
    for name in files.names(folder):
        if abs(time.time() - files.modified(os.path.join(folder, name))) > seconds:
            files.remove(os.path.join(folder, name))


def _path(root: str, tool: str, given: dict[str, Any], cwd: str) -> str:
    about = given.get("command") if isinstance(given.get("command"), str) else jsontext.compact(given)
    name = text.hexdigest("\n".join([tool, os.path.normpath(cwd), str(about).strip()]))
    folder = os.path.join(root, settings.GUARD_DIR, "allowed")
    clear(folder, settings.ALLOWANCE_SECONDS)
    return os.path.join(folder, name)


def is_free(question: Question) -> bool:
    """Whether a command is exactly one call of ours with a free verb: no operator, expansion or redirection."""
    command = question.given.get("command")
    if question.tool != "Bash" or not isinstance(command, str) or len(command) > 20_000 or "harness" not in command:
        return False
    live = command if '"' in command else "".join(command.split("'")[::2])
    made = expand.trace(command, question)
    if "$" in live or "`" in live or made.unread or not made.calls:
        return False
    call, is_one = made.calls[0], len(made.calls) == 1 + len(made.calls[-1].via)
    words = [call.word, *call.args]
    is_plain = is_one and not call.redirections and call.stdin is None
    is_plain = is_plain and command.lstrip("'\" ").startswith(words[0])  # no variable before it
    if not is_plain or not set(shell.MARKERS).isdisjoint("".join(words)):
        return False
    own = [question.tree + "/harness"]
    if words[0] in ("python3", sys.executable, sys.executable.replace("\\", "/")):  # no other interpreter is known
        words = words[1:]
    else:
        own += ["harness", question.tree + "/bin/harness"]
    program, family, verb, *rest = words + [""] * max(0, 3 - len(words))
    if program not in own or family != "memory" or verb not in WORDS["free-verbs"]:
        return False
    verbs = WORDS.get("free-" + verb, ())
    values = [word.partition("=")[2] or after for word, after in zip(rest, [*rest[1:], ""]) if word[:2] == "--"]
    # What is written must not follow the user into other projects.
    is_wide = "user" in values and verb in ("remember", "note") and rest[:1] != ["list"]
    is_known = set(WORDS["free-options"]).issuperset([word.partition("=")[0] for word in rest if word[:1] == "-"])
    return is_known and not is_wide and (not verbs or "".join(rest[:1]) in verbs)
