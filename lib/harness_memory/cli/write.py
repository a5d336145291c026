"""Writing into the memory: `checkpoint`, taken from the model through its shell, or from a person."""

from __future__ import annotations

import json
import os
import sys
import time

from ..base import config, jsontext, settings
from ..base.text import first_sentence
from ..hook.event import Event
from ..hook.runner import Run
from ..hook.scene import Scene
from ..inject import sections
from ..memory import ratings, views
from ..project import identity
from ..session import capture, liveness, sessions
from ..session import checkpoint as checkpoints
from ..session import record as archive
from . import arguments, records
from .output import emit_json, line, short
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

OUTCOMES = ("completed", "partial", "blocked", "failed")
_FORMS = """\
JSON on standard input, every key optional:
  {"what_was_done": "...", "what_remains": ["..."], "learnings": ["..."], "files_changed": ["..."], "tags": ["..."],
   "skill_used": "...", "outcome": "completed|partial|blocked|failed", "rating": 1-5,
   "task": {"id": "...", "title": "...", "remaining": ["..."], "blockers": ["..."]}}
The names of the flags are understood too: {"done": "...", "remains": ["..."], "learned": ["..."]}
or nested: {"self_report": {"is_job_complete": true}, "reflection": {"what_was_done": "...", "what_remains": "..."}}
For example: echo '{"done": "Moved the parser", "remains": ["Tests"]}' | harness memory checkpoint"""
_REFUSED = _FORMS + '\nOr flags: harness memory checkpoint --done "..." --remains "..."'
_ALIASES = {
    "done": "what_was_done",
    "remains": "what_remains",
    "learned": "learnings",
    "tag": "tags",
    "file": "files_changed",
    "skill": "skill_used",
}
_EXAMPLES = """\
checkpoint --done "Moved the parser to its own module" --remains "Tests for errors"
checkpoint --done "Schema and model" --task-id auth --task-title "User login" --task-remaining "Reset by mail"
checkpoint --done "Found it: the cache key lacks the locale" --learned "Cache keys must hold the locale" --tag cache
checkpoint < checkpoint.json"""
_SESSION_HELP = "for this session: its id or the beginning (default: the present one, else the only one running here)"


def checkpoint(argv: list[str]) -> int:
    about = (
        "Record what was done and what remains, in your own words: it wins over what is derived from the transcript.\n"
        "Give flags, or one JSON object on standard input. Secrets are redacted before anything is written.\n\n"
        + _FORMS
    )
    args = _parser(about).parse_args(argv)
    if config.is_off(os.environ):
        raise Refusal("%s is set to off here, so nothing was recorded" % settings.ENV_SWITCH)
    value = _from_flags(args) or _from_stdin()
    name, session = _record(args, value)
    unrated = _rate(session, value)
    path = os.path.join(session.artifacts, name)
    if args.json:
        emit_json({"session": session.id, "artifact": path, "episode": session.episode_name})
    else:
        print("Recorded for session %s in %s" % (line(session.id), short(path)))
    if unrated:
        raise Refusal("the checkpoint was recorded, its rating was not: %s" % unrated)
    return 0


def _parser(about: str) -> argparse.ArgumentParser:
    parser = arguments.parser("checkpoint", about, _EXAMPLES)
    add = parser.add_argument
    add("--done", metavar="TEXT", help="what was done")
    add("--remains", metavar="TEXT", action="append", help="something still to do (repeatable)")
    add("--learned", metavar="TEXT", action="append", help="a fact worth knowing next time (repeatable)")
    add("--tag", metavar="T", action="append", help="a word to find it by (repeatable)")
    add(
        "--file",
        metavar="F",
        action="append",
        help="a file changed, absolute or relative to the project's root (repeatable)",
    )
    add("--outcome", choices=OUTCOMES)
    add("--skill", metavar="S", help="the skill that was used")
    add("--task-id", metavar="ID", help="the long task this belongs to")
    add("--task-title", metavar="TEXT")
    add("--task-remaining", metavar="TEXT", action="append", help='left of the task (repeatable; "none" when done)')
    add("--rating", type=int, choices=range(1, 6), metavar="N", help="how well it went, 1 to 5")
    add("--session", metavar="ID", help=_SESSION_HELP)
    return parser


# What is said --------------------------------------------------------------------------------------


def _from_flags(args: argparse.Namespace) -> dict[str, Any]:
    """The checkpoint the flags spell; {} when there are none."""
    task = {"id": args.task_id, "title": args.task_title, "remaining": args.task_remaining}
    value = {
        "what_was_done": args.done,
        "what_remains": args.remains,
        "files_changed": args.file,
        "skill_used": args.skill,
        "outcome": args.outcome,
        "tags": args.tag,
        "learnings": args.learned,
        "task": {key: item for key, item in task.items() if item is not None} or None,
        "rating": args.rating,
    }
    value = {key: item for key, item in value.items() if item is not None}
    if args.task_remaining and not (args.task_id or args.task_title):
        raise Refusal("--task-remaining needs --task-id (or --task-title)")
    if value and checkpoints.normalize(value) is None:
        raise Refusal("all the flags are empty; nothing was recorded")
    return value


def _from_stdin() -> dict[str, Any]:
    if sys.stdin is None or sys.stdin.isatty():
        raise Refusal("nothing to record: no flags, and standard input is a terminal.\n" + _REFUSED)
    data = sys.stdin.buffer.read(settings.CHECKPOINT_MAX_BYTES + 1)
    if len(data) > settings.CHECKPOINT_MAX_BYTES:
        most = settings.CHECKPOINT_MAX_BYTES >> 10
        raise Refusal("standard input is larger than a checkpoint can be (%d KB); nothing was recorded" % most)
    if not data.strip():
        raise Refusal("nothing to record: no flags, and standard input is empty.\n" + _REFUSED)
    value = _parsed(data)
    if isinstance(value, dict):
        value = {**{_ALIASES[key]: item for key, item in value.items() if key in _ALIASES}, **value}
        value = {key: item for key, item in value.items() if key not in _ALIASES}
    if not isinstance(value, dict) or checkpoints.normalize(value) is None:
        raise Refusal("standard input holds JSON, but no checkpoint; nothing was recorded.\n" + _REFUSED)
    return value


def _parsed(data: bytes) -> object:
    try:
        value = json.loads(data.decode("utf-8-sig"), strict=False)
        jsontext.pretty(value)  # what could not be written is refused here
        return value
    except json.JSONDecodeError as error:
        what = "not valid JSON at line %d, column %d: %s" % (error.lineno, error.colno, error.msg)
    except UnicodeDecodeError as error:
        what = "not UTF-8 at byte %d" % error.start
    except (RecursionError, ValueError):
        what = "nested too deeply, or holds an endless number"
    raise Refusal("standard input is %s; nothing was recorded.\n%s" % (what, _REFUSED))


def _rate(session: sessions.Session, value: dict[str, Any]) -> str:
    """A rating in a checkpoint is one of the skill it names; "" or why it could not be recorded."""
    said = checkpoints.normalize(value) or {}
    skill, rating = sections.skill_name(said.get("skill_used") or ""), said.get("rating")
    if not skill or not rating or not 1 <= rating <= 5:
        return ""
    project_dir = sessions.project_of(session.dir)
    note = first_sentence(said["what_was_done"], settings.ITEM_CHARS)
    again = "Give it: harness memory rate %s %d" % (line(skill), round(rating))
    try:
        is_done = ratings.append(project_dir, session.id, skill, round(rating), note, time.time())
    except OSError as error:
        return "%s: %s. %s" % (short(str(error.filename or "")), error.strerror, again)
    return "" if is_done else "another process holds the lock of the ratings. %s" % again


# Whose it is ---------------------------------------------------------------------------------------


def _record(args: argparse.Namespace, value: dict[str, Any]) -> tuple[str, sessions.Session]:
    """Archive under the session's lock, as its own hooks do."""
    root = arguments.root()
    scene = _scene(args, root)
    if args.file:
        value["files_changed"] = [_relative(file, scene.project.root) for file in args.file]
    arguments.private_root()
    try:
        with scene as session:
            return _save(scene, session, value), session
    except TimeoutError:
        raise Refusal("a hook of this session is at work and holds its lock; nothing was recorded. Try again") from None


def _save(scene: Scene, session: sessions.Session, value: dict[str, Any]) -> str:
    """The artifact's name."""
    is_over = not session.is_new and not sessions.read_marker(scene.project.dir, scene.run.event.session_id)
    if session.is_new:
        identity.record(scene.project, session.started)
        # Our own ancestors say nothing about a session we are not in.
        is_ours = os.environ.get(settings.ENV_SESSION_ID) == scene.run.event.session_id
        scene.activate(session, scene.process({}) if is_ours else {}, {})
    name = checkpoints.save(session.artifacts, value, scene.run.now)
    is_active = session.meta["status"] == settings.ACTIVE
    place = scene.place()
    gathered = archive.gather(place, session, now=scene.run.now if is_active else 0.0, is_over=is_over)
    session.save(durable=True)
    if archive.publish(place, session, gathered):
        views.refresh(place.project_dir, changed=[session.episode_name])
    return name


def _relative(file: str, root: str) -> str:
    """A path as it is recorded: below the project's root."""
    path = os.path.normpath(os.path.join(root, os.path.expanduser(file)))
    is_drive = os.name != "nt" and file[1:3] in (":\\", ":/")
    roots = (root, os.path.realpath(root))
    found = (
        ""
        if is_drive
        else next(
            (inside for inside in (capture.relative_path(p, roots) for p in (path, os.path.realpath(path))) if inside),
            "",
        )
    )
    if not found:
        raise Refusal("--file %s is not in the project %s; nothing was recorded" % (line(file), short(root)))
    return found


def _scene(args: argparse.Namespace, root: str) -> Scene:
    directory = arguments.directory(args)
    claude_id, marker = _whose(args, root, identity.locate(root, directory, directory).dir)
    known = marker.get("root")
    if args.project is None and isinstance(known, str) and os.path.isdir(known):
        directory = known  # the shell may have moved to another project meanwhile
    env = {**os.environ, settings.ENV_PROJECT_DIR: directory}
    event = Event("checkpoint", {"session_id": claude_id, "cwd": directory}, env)
    ends = time.monotonic() + settings.DEADLINE_SECONDS
    return Scene(Run(event, root, time.time(), ends))


def _whose(args: argparse.Namespace, root: str, project_dir: str) -> tuple[str, dict[str, Any]]:
    """Claude's id of the session that is meant, and its marker if it runs."""
    present = os.environ.get(settings.ENV_SESSION_ID, "")
    if args.session:
        claude_id = _named(project_dir, args.session)
        return claude_id, sessions.read_marker(project_dir, claude_id)
    if present:
        dirs = [project_dir, *arguments.all_dirs()]
        markers = (sessions.read_marker(found, present) for found in dirs)
        return present, next((marker for marker in markers if marker.get("claude_session") == present), {})
    live = [m for m in sessions.live_markers(project_dir) if liveness.is_alive(m.get("process") or {}) is not False]
    if len(live) == 1:
        return live[0]["claude_session"], live[0]
    ids = ", ".join(sessions.safe_id(marker["claude_session"])[:8] for marker in live)
    found = "%d sessions run here (%s)" % (len(live), ids) if live else "no session runs in this project"
    raise Refusal("which session? %s; nothing was recorded. Name it: --session ID (see: harness memory list)" % found)


def _named(project_dir: str, word: str) -> str:
    """Claude's id of a session known here, or of the present one, which may be new."""
    found = records.matching(records.load_all(project_dir), word)
    ids = [record.claude_id for record in found if record.session]
    if not found:
        running = [str(marker["claude_session"]) for marker in sessions.live_markers(project_dir)]
        present = os.environ.get(settings.ENV_SESSION_ID, "")
        ids = list(dict.fromkeys(known for known in (*running, present) if known.startswith(word)))
    if len(ids) > 1:
        rows = "\n".join("  " + line(known) for known in ids)
        raise Refusal('"%s" is the beginning of %d sessions; nothing was recorded:\n%s' % (line(word), len(ids), rows))
    if found and not any(ids):
        raise Refusal("only the episode of session %s is left; nothing was recorded" % line(word))
    if not ids:
        known = "harness memory list (--all-projects for others)"
        raise Refusal("no session %s in this project; nothing was recorded. See: %s" % (line(word), known))
    return ids[0]
