"""`config.json` in the store root: the few things a person may change.

A missing file means the defaults; a broken file or value is reported and ignored.
"""

from __future__ import annotations

import os

from . import files, settings

DEFAULTS: dict[str, int | str] = {
    "retention_days": 90, "retention_episodes": 200, "retention_after": "archive", "stale_after_hours": 12,
    "async_task_days": 7, "injection_units": 8000, "work_whole_days": 7, "work_days": 30, "work_after": "archive",
    "consolidate_after_episodes": 10, "recall_items": 3, "start_line": "on", "required_steps": "on",
}  # fmt: skip
_FATE, _SWITCH = ("archive", "delete"), ("on", "off")  # the settings that are words
CHOICES = {"work_after": _FATE, "retention_after": _FATE, "start_line": _SWITCH, "required_steps": _SWITCH}
MINIMUMS = {"injection_units": 1000, "recall_items": 0}  # room for more than the frame; 0: switched off


class Config(dict):  # type: ignore[type-arg]
    """Every setting, and what is wrong with the file."""

    problems: list[str]


def load(root: str) -> Config:
    path = os.path.join(root, settings.CONFIG_FILE)
    config = Config(DEFAULTS)
    config.problems = []
    try:
        chosen, problem = files.read_json(path, {})
        text = files.read_text(path) if chosen else ""
    except OSError as error:
        chosen, problem, text = None, str(error), ""
    if problem:
        config.problems.append("%s: %s; the defaults are used" % (path, problem))
    for key, value in (chosen or {}).items():
        choices, least = CHOICES.get(key), MINIMUMS.get(key, 1)
        is_count = isinstance(value, int) and not isinstance(value, bool) and least <= value < 1_000_000
        if key not in DEFAULTS:
            problem = 'unknown key "%.40s" (known: %s)' % (key, ", ".join(sorted(DEFAULTS)))
        elif (value in choices if choices else is_count) and text.count('"%s"' % key) == 1:
            config[key] = value
            continue
        else:
            wanted = '"%s"' % '" or "'.join(choices) if choices else "a whole number, %d or more" % least
            problem = '"%s" must be given once, as %s; %s is used' % (key, wanted, DEFAULTS[key])
        config.problems.append("%s: %s" % (path, problem))
    return config
