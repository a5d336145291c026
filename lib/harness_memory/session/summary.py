"""`summary.md`: a session for a human reader."""

from __future__ import annotations

from ..base.typing import Any
from .episode import headline


def render(episode: dict[str, Any], when: str = "") -> str:
    facts = [when or episode["started"][:16].replace("T", " ") + " UTC", "%d min" % episode["duration_minutes"]]
    facts += [episode["outcome"].replace("partial", "steps left open"), episode["model"]]
    facts += ["%s %s" % (name, episode[name]) for name in ("branch", "title") if episode[name]]
    fixes = [(fix["failed"], fix["fixed"]) for fix in episode["commands_failed_then_fixed"]]
    listed = {"Asked": "asked", "Decided": "decisions", "Wanted from now on": "rules", "Still open": "what_remains"}
    listed.update({"Blocked by": "blockers", "Plan": "plan", "Commits": "commits", "Learned": "learnings"})
    sections = {title: ["- " + item for item in episode.get(key) or () if item] for title, key in listed.items()}
    sections = {"Asked": sections.pop("Asked"), "Done": list(filter(None, [episode["what_was_done"]])), **sections}
    sections["Files changed"] = ["- `%s`" % file for file in episode["files_changed"]]
    sections["Errors met"] = ["- `%s`" % error for error in episode.get("errors") or ()]
    sections["Commands that failed, and what worked"] = ["- `%s` → `%s`" % fix for fix in fixes]
    lines = ["# " + headline(episode), "", " · ".join(filter(None, facts)), ""]
    for title, body in sections.items():
        lines += ["## " + title, "", *body, ""] if body else []
    return "\n".join(lines).rstrip("\n") + "\n"
