"""Bringing one session's record up to date.

    transcript + checkpoints + payload → capture.json → summary.md, episode, META

Run at every Stop, PreCompact and SessionEnd, by the command line after a checkpoint, and by the sweep for a session
that died. The caller holds the session's lock. Each step can be repeated: the next run completes what a killed
process left.
"""

from __future__ import annotations

import os
import time

from ..base import clock, files, jsontext, settings
from ..base.text import brief, cut, first_sentence, hexdigest
from ..base.typing import Any
from ..project import Context, relative_path
from . import account, capture, digest, episode, transcript
from .capture import ANSWERED, FAILED, INTERRUPTED, Capture, keep
from .digest import Statement
from .sessions import Session, day_and_id, is_episode_name

_ITEMS = {"items": [{"item": "text", "used": "text", "before": "count", "files": ["text"]}]}  # of `inject.injection`
_ID_CHARS = 8  # a shorter name may occur in any sentence


def update(
    context: Context, session: Session, *, message: str = "", now: float = 0.0, is_over: bool = False
) -> Capture:
    """Take in what is new, then write it; the caller refreshes the views. `message` is a Stop's answer, at `now`."""
    project_dir, meta, claims = context.project_dir, session.meta, []
    state = capture.load(session.dir, is_owner=True)
    try:
        state.words = digest.unpacked(state.statements) if state.statements else []
    except (AttributeError, TypeError, ValueError):  # damaged, or of an older version
        state.places = {}  # read the transcript again
    last = state.last
    if files.exists(os.path.join(project_dir, settings.STATE_DIR, settings.FORGOTTEN_FILE)):
        from . import tombstones

        forgotten = tombstones.since(project_dir, session.claude_id, clock.parse(session.started) or 0.0)
        state.since = max(state.since, forgotten)
    state.is_whole = _read(context, str(meta.get("transcript") or ""), state, message)
    if context.checkpoints() or files.names(session.artifacts):
        from ..base import health
        from . import checkpoint

        with health.noted(context.store_root, "checkpoint"):
            claims = checkpoint.collect(context, session, state)
    if message.strip():
        state.turn, state.said = ANSWERED, message
        transcript.settle(state)
    if now or state.last != last or not state.ended:
        state.ended = max(session.started, clock.iso(now or state.last))  # clocks are set back now and then
    if state.since and state.root and not state.thread:
        # A fork came from the newest other session whose history began with the same entry.
        names = [name for name in reversed(episode.names(project_dir)) if name != session.episode_name]
        others = (episode.load(project_dir, name) or {} for name in names)
        parent = next((other for other in others if other.get("root") == state.root), {})
        state.thread, meta["parent"] = parent.get("thread") or session.id, parent.get("id")
    _add_commits(context.root, session, state)
    _add_closed(project_dir, state, {session.id, state.thread})
    state.statements = digest.packed(state.words)
    capture.save(session.dir, state)
    if state.has_substance():
        head, path = "", episode.path_of(project_dir, session.episode_name)
        if os.path.isdir(os.path.join(project_dir, settings.SECURITY_DIR)):
            from ..audit import trail

            vouched = (episode.load(project_dir, session.episode_name) or {}).get("audit_head") or ""
            head = trail.next_head(project_dir, vouched)
        value = state.episode = build(session, state, context.root, context.remote, is_over, head)
        data = episode.render(value)
        meta.update(summary=value["what_was_done"], tags=value["tags"], artifacts=value["files_changed"])
        meta.update({key: value[key] for key in ("branch", "model") if value[key]})
        state.is_changed = not files.is_same(path, data)
        if state.is_changed:
            files.write(os.path.join(session.dir, settings.SUMMARY_FILE), summary(value))
            files.write(path, data, durable=True)
    else:
        meta["summary"] = next(iter(state.prompts()), meta.get("summary"))
    if is_over and not meta.get("ended"):
        meta["ended"] = state.ended
    session.save(durable=is_over)  # last: backfill reads a session without META again
    for claim in claims:
        files.remove(claim)
    return state


def _read(context: Context, path: str, state: Capture, message: str) -> bool:
    """Take in what the transcripts say now, the session's and its subagents'; False when time ran out."""
    if not path:
        return True
    began = time.monotonic()
    while _read_new(context, path, state) and message and message.strip() != state.said.strip():
        # Stop fires while the client still writes: wait a moment for its last lines.
        patience = 0.5 if state.turn != ANSWERED and os.path.exists(path) else 0.12  # seconds
        if time.monotonic() - began > min(patience, context.left() / 2):
            break
        time.sleep(0.02)
    folder = os.path.join(path.rpartition(".")[0], "subagents")
    for name in files.names(folder):
        if name.endswith(".jsonl"):
            _read_new(context, os.path.join(folder, name), state, name)
    return context.left() > 0


def _read_new(context: Context, path: str, state: Capture, subagent: str = "") -> bool:
    try:
        reading = transcript.Reading(path, state.places.get(subagent))
    except (OSError, ValueError) as error:
        files.raise_passing(error)
        return True  # not written yet, cleaned up, or another user's
    with reading.file:
        if reading.is_restart and not subagent:
            transcript.restart(state)
        transcript.absorb(state, reading.entries(lambda: context.left() > 0), context.roots)
        state.places[subagent] = reading.place
    return context.left() > 0


def _add_commits(root: str, session: Session, state: Capture) -> None:
    """Add what was committed during the session, by anyone; `.git` is read as files, and only when it changed."""
    since = (state.since or clock.parse(session.started) or 0.0) + 1  # whole seconds: not what was there before
    dot = os.path.join(root, ".git")
    if os.path.isfile(dot) or files.modified(os.path.join(dot, "logs", "HEAD")) >= since > 1:
        from ..project import git

        repo = git.find(root)[1]
        until = (clock.parse(state.ended) or 0.0) + 600  # some come after the last entry
        for subject in git.commits(repo, since, until) if repo else ():
            if subject and subject not in state.commits:
                keep(state.commits, brief(subject, settings.SUMMARY_LINE_CHARS), settings.COMMITS_KEPT)


def _add_closed(project_dir: str, state: Capture, own: set[str]) -> None:
    """Note which open steps of other sessions this one says it has done."""
    path = os.path.join(project_dir, settings.STATE_DIR, settings.CURRENT_WORK_FILE)
    work = files.load_json(path, {"active_tasks": [{"id": "text", "next_steps": ["text"]}]}) or {"active_tasks": []}
    steps = [step for each in work["active_tasks"] if each["id"] not in own for step in each["next_steps"]]
    for step in account.closed(state.words, state.commits, state.files, steps) if steps else ():
        keep(state.closes, hexdigest(step)[: settings.STEP_HASH_CHARS], 40)


def build(session: Session, state: Capture, cwd: str, remote: str, is_over: bool, head: str = "") -> dict[str, Any]:
    """The session's episode, with the `head` of the audit trail."""
    meta, prompts, statements = session.meta, state.prompts(), state.words
    points = {name: point for name, point in sorted(state.checkpoints.items()) if point}
    said = [*points.values()]
    last = {key: next((str(p[key]) for p in reversed(said) if p[key]), "") for key in ("skill_used", "outcome")}
    worth, decisions = account.reports(statements), account.surest(statements, "d")
    leads = {*account.leads(worth)}
    rest = [each for each in statements if each not in leads and "s" not in each.kinds]
    facts = account.surest(rest, "f")
    learned = [*_union(said, "learnings"), *account.surest(rest, "f", account.SURE)]  # worth telling the next session
    reports = list(dict.fromkeys(point["what_was_done"] for point in said if point["what_was_done"]))
    while len("\n\n".join(reports)) > settings.DONE_CHARS and len(reports) > 1:
        del reports[0]
    done = "\n\n".join(reports)
    answers = account.done(statements, worth, [*decisions, *facts], settings.DONE_CHARS)
    if len(answers) >= 40 and done:  # a checkpoint adds to what the transcript shows
        done = cut("%s\n\n%s" % (cut(done, settings.DONE_CHARS * 2 // 3), answers), settings.DONE_CHARS)
    open_units = [unit for unit in statements if "l" in unit.kinds]
    day = (state.ended or session.started)[:10]
    wishes = ["%s: %s" % (day, cut(each.text, settings.ITEM_CHARS)) for each in statements if "r" in each.kinds]
    listed = [*(said[-1]["what_remains"] if said else ()), *state.open_todos()]
    remains = [*listed, *account.unlisted(open_units, listed)]
    is_unfinished = state.turn not in ("", ANSWERED)
    if is_over and prompts and is_unfinished:
        remains.append("Unfinished: " + prompts[-1])
    outcome = "failed" if state.turn == FAILED else "interrupted" if is_unfinished else "partial" if remains else ""
    offered = _union(said, "files_changed")
    absolute = [file if os.path.isabs(file) or file[1:2] == ":" else cwd + "/" + file for file in offered]
    changed = list(filter(None, dict.fromkeys([*state.files, *(relative_path(file, (cwd,)) for file in absolute)])))
    skill = last["skill_used"] or next(reversed(state.skills), None)
    is_cut_off = is_unfinished and (is_over or state.turn in (INTERRUPTED, FAILED))
    tasks = [
        {**point["task"], "note": first_sentence(point["what_was_done"], settings.ITEM_CHARS), "artifact": name}
        for name, point in points.items()
        if point["task"]
    ]
    blocked = [item for point in said[-1:] if point["task"] for item in point["task"]["blockers"]]
    blocked += [unit.text for unit in open_units if "b" in unit.kinds]
    return {
        "session_id": session.claude_id,
        "project": {"cwd": cwd, "git_remote": remote},
        "skill_used": skill,
        "what_was_done": done or answers,
        "files_changed": changed[-settings.FILES_IN_EPISODE :],
        "outcome": last["outcome"] or outcome or "completed",
        "duration_minutes": round(state.worked_seconds / 60),
        "schema": settings.SCHEMA,
        "id": session.id,
        "started": session.started,
        "ended": state.ended or session.started,
        "branch": state.branch or meta.get("branch") or "",
        "headline": _headline(state, said, statements, outcome if is_cut_off else ""),
        "asked": prompts,
        "decisions": decisions,
        "learnings": list(dict.fromkeys([*learned, *facts]))[: settings.KIND_TOTAL],
        "sure": len(learned),
        "rules": list(dict.fromkeys([*state.rules, *wishes])),
        "what_remains": list(dict.fromkeys(map(account.item, remains)))[: settings.REMAINS_ITEMS],
        "blockers": list(dict.fromkeys(map(account.item, blocked))),
        "plan": account.ticked(state.plan, statements),
        "tags": _union(said, "tags")[:12] or account.tags(changed, skill or "", statements),
        "commits": list(state.commits),
        "errors": list(state.errors),
        "closes": list(state.closes),
        "commands_failed_then_fixed": [{"failed": old, "fixed": new} for old, new in state.fixed],
        "model": state.model or meta.get("model") or "",
        "channel": meta.get("channel") or "",
        "transcript": meta.get("transcript") or "",
        "source": "checkpoint" if done else "transcript",
        "taint": list(state.outside),
        "title": state.title,
        "tasks": tasks[-10:],
        "thread": state.thread or session.id,
        "parent": meta.get("parent") or None,
        "root": state.root,
        **({"audit_head": head} if head else {}),
        "passages": account.passages(statements),
    }


def _headline(state: Capture, said: list[dict[str, Any]], statements: list[Statement], cut_off: str) -> str:
    """The checkpoint's first sentence, else the commits, else the plan, else what an answer says best, else the ask."""
    limit = settings.SUMMARY_LINE_CHARS - (len(cut_off) + 3 if cut_off else 0)
    subjects = [each for each in state.commits if not each.startswith(("Merge ", "fixup!", "WIP", "wip"))]
    is_answered = any(each.by == "c" and (not cut_off or each.turn != statements[-1].turn) for each in statements)
    prompts = [ask for ask in state.prompts() if not capture.is_housekeeping(ask)]
    if said and said[-1]["what_was_done"]:
        line = first_sentence(said[-1]["what_was_done"], limit)
    elif subjects:
        line = subjects[-1]
        for subject in reversed(subjects[:-1]):
            line = "%s; %s" % (subject, line) if len(subject) + len(line) + 2 <= limit else line
    elif state.plan:
        line = state.plan[0]
    elif is_answered or not prompts:
        line = account.headline(statements, state.files) if statements else ""
    else:
        ask = prompts[-1]
        line = ask.partition(" ")[2] if ask.startswith("/") and " " in ask else ask
    return cut(line, limit) + (" (%s)" % cut_off if cut_off else "")


def summary(value: dict[str, Any], when: str = "") -> str:
    """`summary.md`: a session for a human reader."""
    facts = [when or value["started"][:16].replace("T", " ") + " UTC", "%d min" % value["duration_minutes"]]
    facts += [value["outcome"].replace("partial", "steps left open"), value["model"]]
    facts += ["%s %s" % (name, value[name]) for name in ("branch", "title") if value[name]]
    fixes = [(fix["failed"], fix["fixed"]) for fix in value["commands_failed_then_fixed"]]
    listed = {"Asked": "asked", "Decided": "decisions", "Wanted from now on": "rules", "Still open": "what_remains"}
    listed.update({"Blocked by": "blockers", "Plan": "plan", "Commits": "commits", "Learned": "learnings"})
    sections = {title: ["- " + item for item in value.get(key) or () if item] for title, key in listed.items()}
    sections = {"Asked": sections.pop("Asked"), "Done": list(filter(None, [value["what_was_done"]])), **sections}
    sections["Files changed"] = ["- `%s`" % file for file in value["files_changed"]]
    sections["Errors met"] = ["- `%s`" % error for error in value.get("errors") or ()]
    sections["Commands that failed, and what worked"] = ["- `%s` → `%s`" % fix for fix in fixes]
    lines = ["# " + episode.headline(value), "", " · ".join(filter(None, facts)), ""]
    for title, body in sections.items():
        lines += ["## " + title, "", *body, ""] if body else []
    return "\n".join(lines).rstrip("\n") + "\n"


def mark_used(path: str, state: Capture, message: str) -> None:
    """Mark what the session was given and then read, edited or named: evidence, not proof, that it was of use."""
    is_due = b'"used": ""' in files.read_part(path, settings.FILE_MAX_BYTES)
    receipt = files.load_json(path, _ITEMS) if is_due else None
    if not receipt:
        return
    for item in [each for each in receipt["items"] if not each["used"]]:
        id, first = item["item"], item["before"]
        name = day_and_id(id)[1] if is_episode_name(id) else id.rpartition("/")[2]  # a short id, or a note's slug
        if any(name in word or (len(word) > 2 and name.startswith(word)) for word in state.looked):
            item["used"] = "read"
        elif set(state.files[first:]).intersection(item["files"]):
            item["used"] = "edited"
        elif len(name) >= _ID_CHARS and (name.isalnum() or "-" in name) and name in (message or state.answer):
            item["used"] = "named"
    files.write_if_changed(path, jsontext.compact(receipt).encode("utf-8", "replace") + b"\n")


def _union(points: list[dict[str, Any]], key: str) -> list[str]:
    return list(dict.fromkeys(item for point in points for item in point[key]))
