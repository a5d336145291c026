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
        problem = _problem(key, value)
        if problem:
            config.problems.append("%s: %s" % (path, problem))
        else:
            config.values[key] = value
    return config


def _problem(key: str, value: object) -> str:
    if key not in settings.DEFAULTS:
        return 'unknown key "%.40s" (known: %s)' % (key, ", ".join(sorted(settings.DEFAULTS)))
    choices = settings.CHOICES.get(key)
    if choices:
        words = " or ".join('"%s"' % choice for choice in choices)
        return "" if value in choices else '"%s" must be %s; "%s" is used' % (key, words, settings.DEFAULTS[key])
    least = settings.MINIMUMS.get(key, 1)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 1_000_000:
        return '"%s" must be a whole number, %d or more; %s is used' % (key, least, settings.DEFAULTS[key])
    return ""
