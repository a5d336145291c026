"""Plans, and the block that PreCompact asks the client's summary for: what is read in few sessions."""

from __future__ import annotations

from ..base import settings
from ..base.text import cut
from . import units


def steps_of(text: str) -> list[str]:
    """The title and the steps of a plan in Markdown; [] when the text is none."""
    found = units.split(text)
    titles = [unit.text for unit in found if unit.kind == units.HEAD]
    if not titles:
        return []
    title = titles[0].partition(": ")[2] if titles[0].lower().startswith("plan:") else titles[0]
    steps = [unit.text for unit in found if unit.kind in (units.ITEM, units.OPEN) and unit.is_first]
    numbered = [name for name in titles[1:] if name[:1].isdigit() or name.lower().startswith(("step", "phase", "task"))]
    return [cut(each, settings.ITEM_CHARS) for each in [title, *(numbered or steps)][: settings.REMAINS_ITEMS + 1]]


def of_summary(block: str, turn: int) -> dict[str, str]:
    """The marks of the lines that PreCompact asks the client's summary for."""
    marks = {}
    for line in block.split("\n"):
        label, _, rest = line.strip("-*• ").partition(":")
        kind = settings.SUMMARY_LABELS.get(label.strip("* ").lower(), "")
        rest = cut(units.plain(rest.strip("* ")), settings.PASSAGE_CHARS)
        if kind and rest[:1] != "<" and rest.lower().rstrip(".") not in ("", "none", "nothing", "n/a"):
            marks[rest] = "%d c 90 -90 %s" % (turn, kind)
    return marks
