"""The digest of a session: the fields of its episode, and its summary page, from its META and its capture."""

from __future__ import annotations

import os

from ..base import jsontext, settings
from ..base.text import cut, first_sentence
from ..project.context import relative_path
from .capture import ASKED, FAILED, INTERRUPTED, WORKING
from .episode import TEXT_LISTS, headline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .capture import Capture
    from .sessions import Session

UNFINISHED = "Unfinished: "
_OUTCOMES = {FAILED: "failed", **dict.fromkeys((ASKED, WORKING, INTERRUPTED), "interrupted")}


def build(session: Session, state: Capture, cwd: str, remote: str, is_over: bool, head: str = "") -> dict[str, Any]:
    meta, prompts = session.meta, state.prompts()
    points = {name: point for name, point in sorted(state.checkpoints.items()) if point}
    said = [*points.values()]
    last = {key: next((str(p[key]) for p in reversed(said) if p[key]), "") for key in ("skill_used", "outcome")}
    done = _joined([point["what_was_done"] for point in said])
    # Earlier turns said something of their work too.
    earlier = [text for text, _ in state.earlier if text != cut(state.answer, settings.EARLIER_CHARS)]
    answers = _joined([*earlier, cut(state.answer, settings.DONE_CHARS // 2)]) if earlier else state.answer
    remains = list(said[-1]["what_remains"]) if said else state.open_todos()
    if is_over and prompts and state.turn in (ASKED, WORKING, INTERRUPTED, FAILED):
        remains.append(UNFINISHED + prompts[-1])
    offered = _union(said, "files_changed")
    absolute = [file if os.path.isabs(file) or file[1:2] == ":" else cwd + "/" + file for file in offered]
    changed = dict.fromkeys([*state.files, *(relative_path(file, (cwd,)) for file in absolute)])
    tasks = [
        {**point["task"], "note": first_sentence(point["what_was_done"], settings.ITEM_CHARS), "artifact": name}
        for name, point in points.items()
        if point["task"]
    ]
    episode: dict[str, Any] = {
        "session_id": session.claude_id,
        "project": {"cwd": cwd, "git_remote": remote},
        "skill_used": last["skill_used"] or next(reversed(state.skills), None),
        "what_was_done": done or answers,
        "files_changed": [file for file in changed if file][-settings.FILES_IN_EPISODE :],
        "outcome": last["outcome"] or _OUTCOMES.get(state.turn) or ("partial" if remains else "completed"),
        "duration_minutes": round(state.worked_seconds / 60),
        "schema": settings.SCHEMA,
        "id": session.id,
        "started": session.started,
        "ended": state.ended or session.started,
        "branch": state.branch or meta.get("branch") or "",
        "headline": _headline(state, said[-1]["what_was_done"] if said else ""),
        "asked": prompts,
        "learnings": _union(said, "learnings")[:12],
        "what_remains": remains[: settings.REMAINS_ITEMS],
        "tags": _union(said, "tags")[:12],
        "commands_failed_then_fixed": [{"failed": old, "fixed": new} for old, new in state.fixed],
        "model": state.model or meta.get("model") or "",
        "channel": meta.get("channel") or "",
        "transcript": meta.get("transcript") or "",
        "source": "checkpoint" if done else "transcript",
        "taint": list(state.outside),
        "title": state.title,
        "tools": dict(sorted(state.tools.items(), key=lambda item: (-item[1], item[0]))[:16]),
        "tasks": tasks[-10:],
        "thread": state.thread or session.id,
        "parent": meta.get("parent") or None,
        "root": state.root,
        **({"audit_head": head} if head else {}),
    }
    # Shorten the longest lists, then the account, until the record fits. The rest are tasks, which no other file keeps.
    while len(jsontext.compact(episode).encode("utf-8", "replace")) > settings.EPISODE_MAX_BYTES:
        lists = (*TEXT_LISTS, "commands_failed_then_fixed")
        key = max(lists, key=lambda name: len(jsontext.compact(episode[name])))
        if len(episode[key]) > 1:
            del episode[key][len(episode[key]) // 2]
        elif len(episode["what_was_done"]) > settings.ITEM_CHARS:
            episode["what_was_done"] = cut(episode["what_was_done"], len(episode["what_was_done"]) * 3 // 4)
        else:
            break
    return episode


def _union(points: list[dict[str, Any]], key: str) -> list[str]:
    return list(dict.fromkeys(item for point in points for item in point[key]))


def _joined(texts: list[str]) -> str:
    """The last text whole, and as much before it as there is room for."""
    kept: list[str] = []
    for text in reversed(list(dict.fromkeys(filter(None, texts)))):
        if not kept or sum(map(len, kept)) + len(text) <= settings.DONE_CHARS:
            kept.insert(0, text)
    return "\n\n".join(kept)


def _headline(state: Capture, said: str) -> str:
    """The checkpoint's first sentence, else that of the last turn that changed something, else the question."""
    turns = [*state.earlier, [state.answer, state.turn_files]]
    working = [text for text, changed in turns if changed]
    best = said or (working[-1] if working else max((text for text, _ in turns), key=len))
    line = first_sentence(best, settings.SUMMARY_LINE_CHARS)
    prompts = state.prompts()
    if len(line) >= settings.TERSE_CHARS or not prompts:
        return line
    ask = prompts[0].partition(" ")[2] if prompts[0].startswith("/") and " " in prompts[0] else prompts[0]
    return first_sentence(ask, settings.SUMMARY_LINE_CHARS)


def summary_page(episode: dict[str, Any]) -> str:
    """`summary.md`: the session for a human reader."""
    facts = [episode["started"][:16].replace("T", " ") + " UTC", "%d min" % episode["duration_minutes"]]
    facts += [episode["outcome"], "branch %s" % episode["branch"] if episode["branch"] else "", episode["model"]]
    facts += ["“%s”" % episode["title"] if episode["title"] else ""]
    fixes = episode["commands_failed_then_fixed"]
    sections = {
        "Asked": ["- " + ask for ask in episode["asked"] if ask],
        "Done": list(filter(None, [episode["what_was_done"]])),
        "Still open": ["- " + item for item in episode["what_remains"]],
        "Files changed": ["- `%s`" % file for file in episode["files_changed"]],
        "Learned": ["- " + item for item in episode["learnings"]],
        "Commands that failed, and what worked": ["- `%s` → `%s`" % (fix["failed"], fix["fixed"]) for fix in fixes],
    }
    lines = ["# " + headline(episode), "", " · ".join(filter(None, facts)), ""]
    for title, body in sections.items():
        lines += ["## " + title, "", *body, ""] if body else []
    return "\n".join(lines).rstrip("\n") + "\n"
