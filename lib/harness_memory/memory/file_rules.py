"""The rules of the store: for each file the check that knows what it must be.

META.yaml       valid, with its required fields and a known status; named after its folder and day;
                artifacts relative to the project's root
*.json          valid JSON of a schema we know; episodes and tasks named after their content
*.jsonl         exactly one JSON object a line
*.md            UTF-8 text, and Markdown alone; what people keep (briefing.md, profiles/, MEMORY.md) no larger
                than is read of it, and profiles named after a skill; `.1` and `.2` are former versions;
                the frontmatter of a note, if it has one, right in every field
"""

from __future__ import annotations

import json
import os

from ..base import clock, files, settings, shape, yaml
from ..inject import sections
from ..notes import note
from ..session import capture, episode, sessions
from . import tasks, threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

DAMAGED = "damaged"  # cannot be read as what it should be, or is newer than this version
RULE = "rule"
STRAY = "stray"
REMAKE = "run: harness memory rebuild"

_LINE_MAX_BYTES = 1024 * 1024
_ARCHIVE_REMEDY = "bring it back from a backup; sessions before the damage can be restored"
_ARCHIVE_READ_BYTES = 64 * 1024 * 1024  # a second or so
_EPISODE_MAX_BYTES = settings.EPISODE_MAX_BYTES * 4  # what no cutting rule of ours can leave behind
_REPAIR = "correct it, or move it out of the store"


class Unfit(ValueError):
    """What is wrong with a file's content, and in which line if one can tell."""

    def __init__(self, what: str, line: int = 0, remedy: str = _REPAIR, kind: str = DAMAGED) -> None:
        super().__init__(what)
        self.line = line
        self.remedy = remedy
        self.kind = kind


# Which rule for which file -------------------------------------------------------------------------


def checker(parts: tuple[str, ...]) -> Callable[[str], object] | None:
    """The check for a file at this place; None when nothing of ours is kept there."""
    name, folder = parts[-1], parts[:-1]
    if folder == (settings.EPISODES_DIR,) and name.endswith(".json"):
        return check_episode
    if folder[:1] == (settings.WORK_DIR,) and len(folder) == 3:
        special: dict[str, Callable[[str], object]] = {
            settings.META_FILE: check_meta,
            settings.CAPTURE_FILE: check_capture,
            settings.INJECTED_FILE: check_injected,
            settings.SUMMARY_FILE: check_summary,
            settings.RECEIPT_FILE: check_receipt,
        }
        if name in special:
            return special[name]
        if name.endswith(settings.DAMAGED_SUFFIX):
            return _kept_damaged
    if parts == (settings.STATE_DIR, settings.FORGOTTEN_FILE + settings.DAMAGED_SUFFIX):
        return _kept_damaged
    if folder[-1:] == (settings.LOCAL_DIR,) and name.endswith(".md"):
        return check_note
    if settings.ARTIFACTS_DIR in folder or settings.LOCAL_DIR in folder:
        return check_json if name.endswith(".json") else accept
    if folder == (settings.STATE_DIR, settings.PROGRESS_DIR) and name.endswith(".json"):
        return check_task
    if folder[:1] == (settings.ARCHIVE_DIR,) and name.endswith(".tar.gz"):
        return check_archive
    if folder == (settings.STATE_DIR, settings.THREADS_DIR) and name.endswith(".json"):
        return check_thread
    if folder == (settings.STATE_DIR, settings.LIVE_DIR) and name.endswith(".json"):
        return check_marker
    if name.endswith(settings.LOCK_SUFFIX) or settings.DIRTY_DIR in folder or folder[:1] == (settings.HEALTH_DIR,):
        return check_json if name.endswith(".json") and settings.DIRTY_DIR not in folder else accept
    if folder[-2:] == (settings.LEARNING_DIR, settings.TOPICS_DIR) and name.endswith(".md"):
        return check_note
    if parts == (settings.STATE_DIR, settings.CONSOLIDATION_TOLD_FILE):
        return accept
    if folder[-2:] == (settings.STATE_DIR, settings.RECALL_DIR):
        return accept
    if folder[-3:-1] == (settings.STATE_DIR, settings.RECALL_DIR):
        return accept
    if parts in ((settings.TRIGGERS_MARK,), (settings.STATE_DIR, settings.ROWS_FILE)):
        return accept
    if folder[-2:] in (
        (settings.STATE_DIR, settings.USED_DIR),
        (settings.STATE_DIR, settings.DRAFTS_DIR),
        (settings.GUARD_DIR, settings.ALLOWED_DIR),
    ):
        return accept
    if folder == (settings.PROFILES_DIR,) and _is_markdown(name):
        return check_profile
    if folder in ((), (settings.USER_DIR,)) and name.startswith((settings.BRIEFING_FILE, settings.NOTES_INDEX_FILE)):
        return check_curated if _is_markdown(name) else None
    return _by_ending(name)


def _is_markdown(name: str) -> bool:
    """`briefing.md`, or a former version of it."""
    return name.endswith(".md") or name.rstrip("0123456789").endswith(".md.")


def _by_ending(name: str) -> Callable[[str], object] | None:
    if _is_markdown(name):
        return check_markdown
    for ending, check in ((".jsonl", check_jsonl), (".json", check_json), (".yaml", check_yaml)):
        if name.endswith(ending):
            return check
    return None


def accept(path: str) -> None:
    pass


def _kept_damaged(path: str) -> None:
    remedy = "it was replaced by a fresh record: look whether you need it, then delete it"
    raise Unfit("is a record that could not be read", remedy=remedy, kind=STRAY)


# The rules -----------------------------------------------------------------------------------------


def check_markdown(path: str) -> None:
    check_text(_text(path))


def check_summary(path: str) -> None:
    check_markdown(path)
    if not os.path.getsize(path):
        raise Unfit("is empty, as a power cut leaves a file", remedy=REMAKE)


def check_receipt(path: str) -> None:
    check_markdown(path)
    if not os.path.getsize(path):
        raise Unfit("is empty, as a power cut leaves a file", remedy="delete it; only the session's receipt is lost")


def check_curated(path: str) -> None:
    check_markdown(path)
    if os.path.getsize(path) > settings.CURATED_MAX_BYTES:
        raise Unfit("is larger than is read of it", remedy="shorten it", kind=RULE)
    name = os.path.basename(path)
    if name.endswith(".md") and name != settings.NOTES_INDEX_FILE and not _text(path).strip():
        raise Unfit("is empty, which nobody can have set", remedy="take the version before (.1), or delete it")


def check_note(path: str) -> None:
    check_markdown(path)
    if os.path.getsize(path) > settings.NOTE_MAX_BYTES:
        raise Unfit("is larger than is read of it", remedy="split the topic", kind=RULE)
    found = note.parse(os.path.basename(path)[: -len(".md")], _text(path))
    for line, what in found.problems:
        raise Unfit(what, line, "correct it: harness memory note edit %s" % found.slug, RULE)


def check_profile(path: str) -> None:
    check_curated(path)
    name = os.path.basename(path).partition(".md")[0]
    if sections.skill_name(name) != name:
        raise Unfit("is not named after a skill", remedy="rename it: <skill>.md, in lower case", kind=RULE)


def check_text(text: str) -> None:
    """Markdown, as far as one can tell."""
    if "\0" in text:
        raise Unfit("is binary, not Markdown", text[: text.index("\0")].count("\n") + 1)
    stripped = text.strip()
    if stripped[:1] in ("{", "[") and stripped[-1:] in ("}", "]"):
        try:
            json.loads(stripped)
        except (ValueError, RecursionError):
            return
        raise Unfit("holds JSON, not Markdown", 1, kind=RULE)


def check_json(path: str) -> dict[str, Any]:
    value = _json(_text(path))
    if not isinstance(value, dict):
        raise Unfit("holds no JSON object")
    schema = value.get("schema", settings.SCHEMA)
    if isinstance(schema, bool) or not isinstance(schema, int):
        raise Unfit('"schema" is no number')
    if schema > settings.SCHEMA:
        raise Unfit(
            "is of a newer version (schema %d)" % schema,
            remedy="bring this product up to date: git pull, python3 install.py",
        )
    return value


def check_jsonl(path: str) -> None:
    with open(path, "rb") as file:
        for number, raw in enumerate(iter(lambda: file.readline(_LINE_MAX_BYTES), b""), 1):
            if not raw.endswith(b"\n"):
                raise Unfit("is longer than a record can be" if len(raw) == _LINE_MAX_BYTES else "is cut off", number)
            try:
                value = json.loads(raw.decode("utf-8"))
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, dict):
                raise Unfit("is not exactly one JSON object", number, "correct this line; the others are not affected")


def check_yaml(path: str) -> dict[str, Any]:
    try:
        return dict(yaml.load(_text(path)))
    except yaml.YamlError as error:
        raise Unfit("is no valid YAML of ours: %s" % error.message, error.line) from None
    except ValueError as error:
        raise Unfit("is no valid YAML of ours: %s" % error) from None


def check_meta(path: str) -> None:
    meta = check_yaml(path)
    day, name = path.split(os.sep)[-3:-1]

    def unfit(key: str, what: str) -> Unfit:
        return Unfit(what, _line_of(path, key), "correct it by hand", RULE)

    for key in sessions.REQUIRED_FIELDS:
        if not isinstance(meta.get(key), str) or not meta[key]:
            raise unfit(key, "%s is missing or no text" % key)
    if meta["status"] not in settings.STATUSES:
        raise unfit("status", "status is %r, none of %s" % (meta["status"][:40], ", ".join(settings.STATUSES)))
    if meta["date"] != day:
        raise unfit("date", "date is %r, but its folder is %s" % (meta["date"][:40], day))
    if meta["session_id"] != name:
        raise unfit("session_id", "session_id is %r, but its folder is %s" % (meta["session_id"][:40], name))
    for key in ("started", "ended"):
        if meta.get(key) is not None and clock.parse(meta[key]) is None:
            raise unfit(key, "%s is no UTC time like 2026-11-16T06:00:48Z" % key)
    for key in ("tags", "artifacts"):
        if meta.get(key) is not None and not isinstance(meta[key], list):
            raise unfit(key, "%s is no list" % key)
    for artifact in meta.get("artifacts") or ():
        if not is_relative(artifact):
            raise unfit("artifacts", "artifact %r is not relative to the project's root" % artifact[:80])


def check_capture(path: str) -> None:
    remedy = "delete it: the session's next run reads the transcript anew"
    value = check_json(path)
    if shape.problem(value, capture.SPEC):
        raise Unfit("is not what this version keeps about a session", remedy=remedy)


def check_injected(path: str) -> None:
    value = check_json(path)
    for key in ("seen", "profiles", "log"):
        if not isinstance(value.get(key), list):
            raise Unfit('"%s" is missing or no list' % key, remedy="delete it: the session is told anew")


def check_episode(path: str) -> None:
    value = check_json(path)
    what = episode.problem(value)
    if what:
        raise Unfit(what)
    name = os.path.basename(path)
    if name != sessions.episode_name(value["started"], value["id"]):
        raise Unfit(
            "is named %s, but holds session %s of %s" % (name, value["id"][:40], value["started"][:40]), kind=RULE
        )
    size = os.path.getsize(path)
    if size > _EPISODE_MAX_BYTES:
        raise Unfit("is %d bytes, far more than an episode" % size, kind=RULE)
    for file in value["files_changed"]:
        if not is_relative(file):
            raise Unfit("%r in files_changed is not relative to the project's root" % file[:80], kind=RULE)


def check_task(path: str) -> None:
    value = check_json(path)
    for key, kind in (("task_id", str), ("title", str), ("sessions", list), ("checkpoints", list), ("remaining", list)):
        if not isinstance(value.get(key), kind):
            raise Unfit('"%s" is missing or has not its type' % key)
    if os.path.basename(path) != tasks.file_name(value["task_id"]):
        raise Unfit("is not named after its task %r" % value["task_id"][:40], kind=RULE)


def check_archive(path: str) -> None:
    """Whole to its last byte, unless that would take long: then as far as its beginning and its end tell."""
    from . import archive, reindex

    with open(path, "rb") as file:
        if file.read(2) != b"\x1f\x8b":
            raise Unfit("is no compressed archive")
        try:
            archive.refuse_padding(file, path)
        except files.Unreadable as error:
            raise Unfit(str(error.strerror), remedy=_ARCHIVE_REMEDY) from None
    size = os.path.getsize(path)
    if size > settings.ARCHIVE_MAX_BYTES:
        raise Unfit("is larger than an archive of ours can be", remedy="look what it is, and move it out of the store")
    if size <= _ARCHIVE_READ_BYTES:
        _unpack(path)
    if not reindex.is_whole(path[: -len(archive.ENDING)] + archive.INDEX_ENDING):
        raise Unfit("has no index beside it that can be read", remedy="run: harness memory rebuild", kind=RULE)


def _unpack(path: str) -> None:
    import gzip
    import zlib

    try:
        with gzip.open(path) as file:
            while file.read(_LINE_MAX_BYTES):
                pass
    except (EOFError, zlib.error, OSError) as error:
        what = "is a damaged archive: %s" % error
        raise Unfit(what, remedy=_ARCHIVE_REMEDY) from None


def check_thread(path: str) -> None:
    value = check_json(path)
    what = shape.problem(value, threads.SPEC)
    if what:
        raise Unfit(what)
    if os.path.basename(path) != sessions.safe_id(value["thread"]) + ".json":
        raise Unfit("is not named after its thread %r" % value["thread"][:40], kind=RULE)


def check_marker(path: str) -> None:
    value = check_json(path)
    claude_id = value.get("claude_session")
    if not isinstance(claude_id, str) or os.path.basename(path) != sessions.safe_id(claude_id) + ".json":
        raise Unfit("does not name its session", remedy="delete it, if no session is running")


def is_relative(path: str) -> bool:
    slashed = path.replace("\\", "/")
    return bool(path) and not slashed.startswith(("/", "~")) and path[1:2] != ":" and ".." not in slashed.split("/")


# Reading -------------------------------------------------------------------------------------------


def _text(path: str) -> str:
    try:
        data = files.read(path)
    except files.Unreadable as error:
        what = error.strerror or "no plain file"
        what = what if what.startswith("is ") else "is " + what
        raise Unfit(what, remedy="move it out of the store") from None
    if data is None:
        raise FileNotFoundError(2, "gone", path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unfit("is not UTF-8 at byte %d" % error.start, data.count(b"\n", 0, error.start) + 1) from None


def _json(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise Unfit("is no valid JSON: %s, column %d" % (error.msg, error.colno), error.lineno) from None
    except RecursionError:
        raise Unfit("is nested too deeply") from None
    except ValueError as error:
        raise Unfit("is no valid JSON: %s" % error) from None


def _no_constant(name: str) -> object:
    raise ValueError("%s is no JSON number" % name)


def _line_of(path: str, key: str) -> int:
    lines = _text(path).split("\n")
    return next((number for number, line in enumerate(lines, 1) if line.startswith(key + ":")), 1)
