"""`config.json` in the store root: the few things a person may change.

A missing file means the defaults; a broken file or value is reported and ignored.
"""

from __future__ import annotations

import os

from . import files, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Config:
    __slots__ = ("problems", "values")

    def __init__(self, values: dict[str, Any], problems: list[str]) -> None:
        self.values = values
        self.problems = problems

    def __getitem__(self, key: str) -> Any:
        return self.values[key]


def is_off(env: Mapping[str, str]) -> bool:
    """Whether the environment switches every hook off."""
    return env.get(settings.ENV_SWITCH, "").strip().lower() in settings.OFF_WORDS


def load(root: str) -> Config:
    path = os.path.join(root, settings.CONFIG_FILE)
    config = Config(dict(settings.DEFAULTS), [])
    try:
        chosen, problem = files.read_json(path, {})
    except OSError as error:
        chosen, problem = None, str(error)
    if problem:
        config.problems.append("%s: %s; the defaults are used" % (path, problem))
    for key, value in (chosen or {}).items():
        choices, least = settings.CHOICES.get(key), settings.MINIMUMS.get(key, 1)
        is_count = isinstance(value, int) and not isinstance(value, bool) and least <= value < 1_000_000
        if key not in settings.DEFAULTS:
            problem = 'unknown key "%.40s" (known: %s)' % (key, ", ".join(sorted(settings.DEFAULTS)))
        elif value in choices if choices else is_count:
            config.values[key] = value
            continue
        else:
            wanted = '"%s"' % '" or "'.join(choices) if choices else "a whole number, %d or more" % least
            problem = '"%s" must be %s; %s is used' % (key, wanted, settings.DEFAULTS[key])
        config.problems.append("%s: %s" % (path, problem))
    return config
