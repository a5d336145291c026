"""`config.json` in the store root: the few things a person may change.

A missing file means the defaults; a broken file or value is reported and ignored.
"""

from __future__ import annotations

import os

from . import files, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Config(dict):  # type: ignore[type-arg]
    """Every setting, and what is wrong with the file."""

    problems: list[str]


def is_off(env: Mapping[str, str]) -> bool:
    return env.get(settings.ENV_SWITCH, "").strip().lower() in settings.OFF_WORDS


def load(root: str) -> Config:
    path = os.path.join(root, settings.CONFIG_FILE)
    config = Config(settings.DEFAULTS)
    config.problems = []
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
            config[key] = value
            continue
        else:
            wanted = '"%s"' % '" or "'.join(choices) if choices else "a whole number, %d or more" % least
            problem = '"%s" must be %s; %s is used' % (key, wanted, settings.DEFAULTS[key])
        config.problems.append("%s: %s" % (path, problem))
    return config
