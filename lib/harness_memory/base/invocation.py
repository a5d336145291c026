"""Our own command line as others type it: the installer's permission rule, and what hooks inject.

The client compares a rule with the text of a command, quotes included, so both must come from here.
"""

from __future__ import annotations

import os
import sys

SCRIPT = "harness"
WINDOWS = os.name == "nt"

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-")
_LIVE_IN_DOUBLE_QUOTES = frozenset('"$`\\!\n')


def tree() -> str:
    """The folder that holds `hooks/`, `lib/` and `harness`."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def command(root: str, interpreter: str = "", *, windows: bool = WINDOWS) -> str:
    """The words that start our command line, up to and with `memory`."""
    return "%s memory" % script_command(root, SCRIPT, interpreter, windows=windows)


def script_command(root: str, script: str, interpreter: str, *, windows: bool = WINDOWS) -> str:
    """The words that start a script of our tree; Windows has no `python3` on its PATH."""
    path = "/".join((slashes(root) if windows else root, script))
    return "%s %s" % (quote(slashes(interpreter)) if windows else "python3", quote(path))


def own_command() -> str:
    """The same for this very tree and interpreter; a plugin has it on the PATH."""
    if os.environ.get("CLAUDE_PLUGIN_ROOT"):  # set for the hooks of a plugin
        return "%s memory" % SCRIPT
    return command(tree(), sys.executable)


def quote(path: str) -> str:
    """Quoted for a shell only if necessary, in double quotes if they suffice: what a model would type itself."""
    if path and _PLAIN.issuperset(path):
        return path
    return '"%s"' % path if path and not _LIVE_IN_DOUBLE_QUOTES & set(path) else single_quotes(path)


def single_quotes(path: str) -> str:
    return "'%s'" % path.replace("'", "'\"'\"'")


def slashes(path: str) -> str:
    return path.replace("\\", "/")
