"""Whether the guard is on, off or degraded for a session here, and why: for `status`, `doctor` and `guard test`."""

from __future__ import annotations

import os

from ..base import config, invocation, settings
from ..guard import policy
from ..setup import entries
from . import installs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .installs import Install

ON, OFF, DEGRADED = "on", "off", "degraded"
INSTALL = "run: python3 %s --guard" % invocation.quote(os.path.join(invocation.tree(), "install.py"))


class Guarding:
    """How it stands. `why` says what is not as it should be; `is_chosen`: it was left out by a person's choice."""

    __slots__ = ("commands", "is_chosen", "is_left_out", "problems", "state", "why")

    def __init__(self, state: str, why: list[str], problems: list[str]) -> None:
        self.state = state
        self.why = why
        self.problems = problems  # of the rule files
        self.commands: list[str] = []
        self.is_left_out = False
        self.is_chosen = False

    def as_json(self) -> dict[str, Any]:
        return {"state": self.state, "why": self.why, "line": self.line()}

    def line(self) -> str:
        why = self.why[0] + (", and %d more" % (len(self.why) - 1) if self.why[1:] else "") if self.why else ""
        hint = " (see: harness memory doctor)" if self.state == DEGRADED else ""
        return (self.state.upper() if self.state == DEGRADED else self.state) + (": " + why if why else "") + hint


def look(root: str, places: list[str], directory: str) -> Guarding:
    """`places` are the settings files that a session started in `directory` would read."""
    problems = policy.load(root, directory).problems
    if config.is_off(os.environ):
        return Guarding(OFF, ["%s is set to off here" % settings.ENV_SWITCH], problems)
    found = installs.find(root, places)
    here = [install for install in found if install.path in places and entries.GUARD_EVENT in install.commands]
    guarded = [install for install in here if install.matchers[entries.GUARD_EVENT] != entries.UNGUARDED]
    able = [install for install in guarded if not _hindrance(install)]
    if not able:
        return _off(root, found, here, guarded, problems)
    narrow = [] if any(_is_for_all(install) for install in able) else [_narrowness(install) for install in able]
    why = [*narrow, *problems]
    guarding = Guarding(DEGRADED if why else ON, why, problems)
    guarding.commands = list(dict.fromkeys(install.commands[entries.GUARD_EVENT] for install in able))
    return guarding


def _off(root: str, found: list[Install], here: list[Install], guarded: list[Install], problems: list[str]) -> Guarding:
    if not found and installs.last_runs(root)[entries.GUARD_EVENT] and installs.have_run_lately(root):
        return Guarding(DEGRADED if problems else ON, problems or ["as a plugin, probably"], problems)
    if guarded:
        return Guarding(OFF, [_hindrance(install) for install in guarded], problems)
    if not here:
        return Guarding(OFF, ["not installed here"], problems)
    guarding = Guarding(OFF, ["left out of %s (install.py --guard puts it in)" % here[0].path], problems)
    guarding.is_left_out = True
    guarding.is_chosen = any((install.known or {}).get("guard") is False for install in here)
    return guarding


def _hindrance(install: Install) -> str:
    """What keeps a registered guard from being asked at all."""
    if install.is_disabled:
        return '"disableAllHooks" is set in %s' % install.path
    if not installs.is_runnable(install.commands[entries.GUARD_EVENT]):
        return "the script that %s names is gone" % install.path
    return ""


def _is_for_all(install: Install) -> bool:
    return not install.matchers[entries.GUARD_EVENT]


def _narrowness(install: Install) -> str:
    return 'it is asked of "%s" alone in %s' % (install.matchers[entries.GUARD_EVENT], install.path)
