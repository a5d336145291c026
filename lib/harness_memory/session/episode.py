"""The episode: one session as later sessions will know it, built from its META and its capture.

Fields, in order (about 500 bytes to 4 KB of JSON):

    schema, id               format number; the session's short id
    session_id               Claude's own id
    project                  {"cwd", "git_remote"}
    skill_used               the last skill, or null
    asked                    the first and last prompts, cut
    headline                 the session in one line
    what_was_done            the agent's checkpoints, else its answers: the last, and earlier ones of weight
    what_remains             open todos, the checkpoint's list, an unanswered last prompt
    files_changed            paths relative to the project's root, successful writes only
    outcome                  completed | partial | interrupted | failed, or the checkpoint's word
    duration_minutes         time at work, long pauses left out
    started, ended, branch, tags, learnings
    commands_failed_then_fixed   [{"failed", "fixed"}]
    tools, model, channel, title
    tasks                    what checkpoints said of long tasks: {"id", "title", "note", …}
    transcript, source       where it comes from: source is checkpoint | transcript
    taint                    tools that brought in text from outside the machine
    thread, parent, root     the chain of sessions it belongs to; first entry of its history
    audit_head               `<number>:<hash>` of the last audit event then, where there was one
"""

from __future__ import annotations

import os

from ..base import files as store
from ..base import jsontext, settings
from ..base.text import cut, first_sentence
from . import capture
from .sessions import is_episode_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .sessions import Session


UNFINISHED = "Unfinished: "
_REQUIRED_TEXTS = ("id", "started", "ended", "what_was_done", "outcome", "thread")
_OPTIONAL_TEXTS = (
    "session_id",
    "headline",
    "branch",
    "skill_used",
    "model",
    "channel",
    "title",
    "parent",
    "root",
    "audit_head",
)
_TEXT_LISTS = ("asked", "what_remains", "files_changed", "tags", "learnings")
_RECORD_LISTS = (("tasks", {"id", "title"}), ("commands_failed_then_fixed", {"failed", "fixed"}))


def build(
    session: Session, state: dict[str, Any], cwd: str, remote: str, is_over: bool, head: str = ""
) -> dict[str, Any]:
    meta = session.meta
    points = sorted((name, point) for name, point in state["checkpoints"].items() if point)
    said = _merged([point for _, point in points])
    remains = _what_remains(state, said, is_over)
    episode = {
        "schema": settings.SCHEMA,
        "id": session.id,
        "session_id": meta.get("claude_session") or "",
        "project": {"cwd": cwd, "git_remote": remote},
        "skill_used": said["skill_used"] or (state["skills"] or [None])[-1],
        "asked": capture.asks(state),
        "headline": _headline(state, points[-1][1]["what_was_done"] if points else ""),
        "what_was_done": said["what_was_done"] or _account(state),
        "what_remains": remains,
        "files_changed": _union(state["files"], _inside(said["files_changed"], cwd))[-settings.FILES_IN_EPISODE :],
        "outcome": said["outcome"] or _outcome(state, remains),
        "duration_minutes": round(state["worked_seconds"] / 60),
        "started": session.started,
        "ended": state["ended"] or session.started,
        "branch": meta.get("branch") or state["branch"],
        "tags": said["tags"][:12],
        "learnings": said["learnings"][:12],
        "commands_failed_then_fixed": [{"failed": old, "fixed": new} for old, new in state["fixed"]],
        "tools": dict(state["tools"]),
        "model": state["model"] or meta.get("model") or "",
        "channel": meta.get("channel") or "",
        "title": state["title"],
        "tasks": [_task(name, point) for name, point in points if point["task"]][-settings.TASK_NOTES_KEPT :],
        "transcript": meta.get("transcript") or "",
        "source": "checkpoint" if said["what_was_done"] else "transcript",
        "taint": list(state["outside"]),
        "thread": state["thread"] or session.id,
        "parent": meta.get("parent") or None,
        "root": state["root"],
        **({"audit_head": head} if head else {}),
    }
    return _fitted(episode)


def render(episode: dict[str, Any]) -> bytes:
    return jsontext.pretty(episode).encode("utf-8", "replace")


def load(project_dir: str, name: str) -> dict[str, Any] | None:
    """An episode of a form we know; None when it is missing, damaged or newer than us."""
    try:
        value = jsontext.loads(_read(project_dir, name))
    except ValueError:
        return None
    return value if problem(value) == "" else None


def _read(project_dir: str, name: str) -> bytes:
    """The bytes of an episode, none when it is missing or closed to us; OSError when nobody can tell."""
    try:
        return store.read(os.path.join(project_dir, settings.EPISODES_DIR, name)) or b""
    except OSError as error:
        if store.is_passing(error):
            raise
        return b""


def problem(value: object) -> str:
    """What keeps a value from being an episode; "" when nothing does."""
    if not isinstance(value, dict):
        return "not an object"
    if is_newer(value):
        return "is of a newer version (schema %d)" % value["schema"]
    if not isinstance(value.get("schema"), int):
        return '"schema" is missing or no number'
    for key in _REQUIRED_TEXTS:
        if not isinstance(value.get(key), str):
            return '"%s" is missing or no text' % key
    for key in _OPTIONAL_TEXTS:
        if not isinstance(value.get(key) or "", str):
            return '"%s" is no text' % key
    for key in _TEXT_LISTS:
        items = value.get(key)
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            return '"%s" is missing or no list of texts' % key
    for key, needed in _RECORD_LISTS:
        items = value.get(key)
        if not isinstance(items, list) or not all(isinstance(item, dict) and needed <= {*item} for item in items):
            return '"%s" is missing or no list of records' % key
    return "" if isinstance(value.get("duration_minutes"), int) else '"duration_minutes" is missing or no number'


def is_newer(value: object) -> bool:
    """Whether a value is of a version that knows more than this one."""
    schema = value.get("schema") if isinstance(value, dict) else None
    return isinstance(schema, int) and schema > settings.SCHEMA


def names(project_dir: str) -> list[str]:
    """Names of all episode files, oldest first (the name starts with the session's start)."""
    listed = store.listed(os.path.join(project_dir, settings.EPISODES_DIR))
    return [name for name in listed if is_episode_name(name)]


def audit_head(project_dir: str, name: str) -> str:
    """The head of the audit trail that an episode knows; "" when it knows none."""
    value = load(project_dir, name) if b'"audit_head"' in _read(project_dir, name) else None
    return str(value.get("audit_head") or "") if value else ""


def find_by_root(project_dir: str, root: str, other_than: str) -> dict[str, Any] | None:
    """The newest other episode whose history began with the same entry: what a fork came from."""
    wanted = root.encode()
    for name in reversed(names(project_dir)):
        if name != other_than and wanted in _read(project_dir, name):
            found = load(project_dir, name)
            if found and found.get("root") == root:
                return found
    return None


def headline(episode: dict[str, Any]) -> str:
    """The session in one line."""
    text = episode.get("headline") or episode["what_was_done"] or (episode["asked"] or [""])[0]
    return first_sentence(text, settings.SUMMARY_LINE_CHARS) or "(no summary)"


def summary_page(episode: dict[str, Any]) -> str:
    """`summary.md`: the session for a human reader."""
    lines = ["# %s" % headline(episode), ""]
    facts = [
        episode["started"][:16].replace("T", " ") + " UTC",
        "%d min" % episode["duration_minutes"],
        episode["outcome"],
    ]
    facts += ["branch %s" % episode["branch"]] if episode["branch"] else []
    facts += [episode["model"]] if episode["model"] else []
    facts += ["“%s”" % episode["title"]] if episode["title"] else []
    lines += [" · ".join(facts), ""]
    lines += _section("Asked", ["- " + ask for ask in episode["asked"] if ask])
    lines += _section("Done", [episode["what_was_done"]] if episode["what_was_done"] else [])
    lines += _section("Still open", ["- " + item for item in episode["what_remains"]])
    lines += _section("Files changed", ["- `%s`" % file for file in episode["files_changed"]])
    lines += _section("Learned", ["- " + item for item in episode["learnings"]])
    fixes = episode["commands_failed_then_fixed"]
    lines += _section(
        "Commands that failed, and what worked", ["- `%s` → `%s`" % (fix["failed"], fix["fixed"]) for fix in fixes]
    )
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(title: str, body: list[str]) -> list[str]:
    return ["## " + title, "", *body, ""] if body else []


def _merged(points: list[dict[str, Any]]) -> dict[str, Any]:
    """All checkpoints of a session as one: later words win, accounts and findings add up."""
    merged: dict[str, Any] = {}
    for key in ("skill_used", "outcome"):
        merged[key] = next((point[key] for point in reversed(points) if point[key]), "")
    merged["what_was_done"] = _joined([point["what_was_done"] for point in points if point["what_was_done"]])
    for key in ("files_changed", "tags", "learnings"):
        merged[key] = _union(*(point[key] for point in points))
    merged["what_remains"] = points[-1]["what_remains"] if points else None
    return merged


def _joined(texts: list[str]) -> str:
    """The last text whole, and as much before it as there is room for."""
    kept: list[str] = []
    for text in reversed(list(dict.fromkeys(texts))):
        if not kept or sum(map(len, kept)) + len(text) <= settings.DONE_CHARS:
            kept.insert(0, text)
    return "\n\n".join(kept)


def _task(artifact: str, point: dict[str, Any]) -> dict[str, Any]:
    note = point["task"].get("note") or first_sentence(point["what_was_done"], settings.ITEM_CHARS)
    return {**point["task"], "note": note, "artifact": artifact}


def _what_remains(state: dict[str, Any], said: dict[str, Any], is_over: bool) -> list[str]:
    remains = capture.open_todos(state) if said["what_remains"] is None else list(said["what_remains"])
    if (
        is_over
        and state["turn"] in (capture.ASKED, capture.WORKING, capture.INTERRUPTED, capture.FAILED)
        and capture.asks(state)
    ):
        remains.append(UNFINISHED + capture.asks(state)[-1])
    return remains[: settings.REMAINS_ITEMS]


def _account(state: dict[str, Any]) -> str:
    """The last answer, after what earlier turns said of their work."""
    last = str(state["answer"])
    earlier = [text for text, _ in state["earlier"] if text != cut(last, settings.EARLIER_CHARS)]
    if not earlier:
        return last
    return _joined([*earlier, *([cut(last, settings.DONE_CHARS // 2)] if last else [])])


def _headline(state: dict[str, Any], said: str) -> str:
    """The session in one line: the checkpoint's, else the last turn that changed something."""
    turns = [*state["earlier"], [state["answer"], state["turn_files"]]]
    at_work = [text for text, files in turns if files]
    best = said or (at_work[-1] if at_work else max((text for text, _ in turns), key=len))
    line = first_sentence(best, settings.SUMMARY_LINE_CHARS)
    asks = capture.asks(state)
    if len(line) >= settings.TERSE_CHARS or not asks:
        return line
    ask = asks[0].partition(" ")[2] if asks[0].startswith("/") and " " in asks[0] else asks[0]
    return first_sentence(ask, settings.SUMMARY_LINE_CHARS)


def _outcome(state: dict[str, Any], remains: list[str]) -> str:
    if state["turn"] == capture.FAILED:
        return "failed"
    if state["turn"] in (capture.ASKED, capture.WORKING, capture.INTERRUPTED):
        return "interrupted"
    return "partial" if remains else "completed"


def _fitted(episode: dict[str, Any]) -> dict[str, Any]:
    """Shorten the longest lists, then the account of what was done, until the record fits."""
    episode["tools"] = dict(sorted(episode["tools"].items(), key=lambda item: (-item[1], item[0]))[:16])
    lists = (*_TEXT_LISTS, "commands_failed_then_fixed")
    while len(render(episode)) > settings.EPISODE_MAX_BYTES:
        key = max(lists, key=lambda name: len(jsontext.compact(episode[name])))
        if len(episode[key]) > 1:
            del episode[key][len(episode[key]) // 2]
        elif len(episode["what_was_done"]) > settings.ITEM_CHARS:
            episode["what_was_done"] = cut(episode["what_was_done"], len(episode["what_was_done"]) * 3 // 4)
        else:
            break  # what is left are tasks, which nobody else keeps
    return episode


def _inside(files: list[str], root: str) -> list[str]:
    """Files a checkpoint names, relative to the project; those outside it are left out."""
    paths = [file if os.path.isabs(file) or file[1:2] == ":" else root + "/" + file for file in files]
    return [path for path in (capture.relative_path(path, (root,)) for path in paths) if path]


def _union(*lists: list[str]) -> list[str]:
    return list(dict.fromkeys(item for items in lists for item in items))
