"""What an installed command says about its store, against an environment that a project's settings may have set."""

from __future__ import annotations

import sys

from . import settings
from .process import system
from .typing import Any

ignored: list[str] = []  # names in the environment that said something else than the installed command
PIN = "--store="  # in an installed command: the store, or nothing where a plugin runs


def pin(words: list[str]) -> None:
    """Put the store of the installed command in place of what a project's settings may say."""
    if words[1:] and words[1].startswith(PIN):
        config, plugins, _ = words[0].replace("\\", "/").partition("/plugins/")
        store = words[1][len(PIN) :] or (config + "/" + settings.STORE_DIR if plugins else "")
        os: Any = sys.modules.get("os")  # which copies the environment when it is loaded
        environ: Any = os.environ if os else system.environ
        for name, value in ((settings.ENV_HOME, store), (settings.ENV_SWITCH, "")):
            is_text = bool(os) or system.__name__ == "nt"
            key, new = (name, value) if is_text else (name.encode(), value.encode("utf-8", "surrogateescape"))
            ignored.extend([name] * (environ.get(key, new) not in (new, new[:0])))
            environ[key] = new
