"""The episode: one session as later sessions know it (see `record` for how it comes about).

Fields, in order (1 to 40 KB of JSON, most of it passages):

    session_id               Claude's own id
    project                  {"cwd", "git_remote"}
    skill_used               the last skill, or null
    what_was_done            the agent's checkpoints, else the units of its answers that carry the work of each turn
    files_changed            paths relative to the project's root, successful writes only
    outcome                  completed | partial | interrupted | failed, or the checkpoint's word
    duration_minutes         time spent working, without long pauses
    schema, id               format number; the session's short id
    started, ended, branch
    headline                 the session in one line: commits, else the plan, else what an answer says best
    asked                    the first and last prompts, cut
    decisions, learnings     with their reasons; facts, the first `sure` of which go to the next sessions
    rules                    `<day>: <words>`, lasting wishes in the user's own words; one in doubt ends with "(…)"
    what_remains             open todos, the checkpoint's list, what answers left open, an unanswered last prompt
    blockers                 those of them that wait for something
    plan                     the steps of the plan that was given or accepted, "[x] …" when done
    tags, commits, errors    commits by subject, errors with their commands
    closes                   hashes of the open steps of earlier sessions that this one says it has done
    commands_failed_then_fixed   [{"failed", "fixed"}]
    model, channel
    transcript, source       where it comes from: source is checkpoint | transcript
    taint                    tools that brought in text from outside the machine
    title
    tasks                    what checkpoints said of long tasks: {"id", "title", "note", …}
    thread, parent, root     the chain of sessions it belongs to; first entry of its history
    audit_head               `<number>:<hash>` of the last audit event then, if there was one
    passages                 [{"turn", "by": "user" | "claude", "text"}], what was said: sentences and list items
"""

from __future__ import annotations

import os

from ..base import files, jsontext, settings
from ..base.text import first_sentence, from_outside
from ..base.typing import Any
from .sessions import is_episode_name

DOUBTS = ("may be meant once", "said by a team lead")  # of a rule, the lesser first, by their letters too
TEXT_LISTS = ("asked", "what_remains", "files_changed", "tags", "learnings")
NEW_LISTS = ("decisions", "rules", "blockers", "plan", "commits", "errors", "closes")
SPEC = {
    "schema": "count",
    **dict.fromkeys(("id", "started", "ended", "what_was_done", "outcome", "thread"), "text"),
    **dict.fromkeys(("session_id?", "headline?", "branch?", "skill_used?", "model?", "channel?", "title?"), "text"),
    **dict.fromkeys(("parent?", "root?", "audit_head?"), "text"),
    **{name: ["text"] for name in TEXT_LISTS},
    **{name + "?": ["text"] for name in (*NEW_LISTS, "taint")},  # an older episode has none
    "tasks": [{"id": "text", "title": "text", "remaining?": ["text"], "blockers?": ["text"]}],
    "commands_failed_then_fixed": [{"failed": "text", "fixed": "text"}],
    **dict.fromkeys(("duration_minutes", "sure?"), "count"),
    "passages?": "any",
}


def render(episode: dict[str, Any]) -> bytes:
    """Indented JSON; of the passages each is a line, because to indent hundreds would cost a Stop a millisecond."""
    rest = {key: value for key, value in episode.items() if key != "passages"}
    text = jsontext.pretty(rest)
    if episode.get("passages"):
        said = [(each["turn"], each["by"], jsontext.quote(each["text"])) for each in episode["passages"]]
        lines = ['{"turn": %s, "by": "%s", "text": %s}' % (turn, by, words) for turn, by, words in said]
        text = '%s,\n  "passages": [\n    %s\n  ]\n}\n' % (text[: -len("\n}\n")], ",\n    ".join(lines))
    return text.encode("utf-8", "replace")


def names(project_dir: str) -> list[str]:
    """Names of all episode files, oldest first (the name starts with the session's start)."""
    return [name for name in files.names(os.path.join(project_dir, settings.EPISODES_DIR)) if is_episode_name(name)]


def path_of(project_dir: str, name: str) -> str:
    return os.path.join(project_dir, settings.EPISODES_DIR, name)


def load(project_dir: str, name: str) -> dict[str, Any] | None:
    """An episode; None when it is missing, damaged or newer than this version."""
    value: dict[str, Any] | None = files.load_json(path_of(project_dir, name), SPEC)
    return value


def audit_heads(project_dir: str) -> dict[str, str]:
    """The head of the audit trail that each session's episode holds, by the session's id."""
    episodes = [load(project_dir, name) or {} for name in names(project_dir)]
    return {value["id"]: value["audit_head"] for value in episodes if value.get("audit_head")}


def headline(episode: dict[str, Any]) -> str:
    text = episode.get("headline") or episode["what_was_done"] or (episode["asked"] or [""])[0]
    outside = from_outside(episode)
    return (first_sentence(text, settings.SUMMARY_LINE_CHARS - len(outside)) or "(no summary)") + outside
