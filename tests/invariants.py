"""What a store knows, and what must be true of it whatever happened.

`facts` reads everything that is not derived into one mapping, record by record, without the times at which things
were written: two runs that did the same know the same.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any, Dict, Tuple

import storm
import support
from commandline import World

from harness_memory.base import settings, yaml
from harness_memory.memory import archive
from harness_memory.session import episode

Facts = Dict[Tuple[str, ...], Any]

_EPISODE = ("asked", "what_was_done", "what_remains", "files_changed", "branch", "thread")
_TASK = ("title", "remaining", "blockers", "status", "sessions")
_EVENT = ("event", "rule", "tool", "command")
_SESSION = re.compile(r"^session: .*\n", re.MULTILINE)  # whose note it is, where that could be known
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:?\d\d:?\d\d(\.\d+)?Z?")


def facts(store: Path) -> Facts:
    found: Facts = {}
    for project in support.project_dirs(store):
        found.update({(project.name[:4], *key): value for key, value in _project(store, project).items()})
    found.update({("user", "note", path.name): _text(path) for path in store.glob("user/LEARNING/topics/*.md")})
    found.update({("user", "former note", _former(path)): True for path in _former_notes(store / settings.USER_DIR)})
    found.update({("allowed", path.name): True for path in store.glob("guard/allowed/[!.]*")})
    settings_file = store.parent / "settings.json"
    found["settings",] = _text(settings_file) if settings_file.is_file() else None
    return found


def _project(store: Path, project: Path) -> Facts:
    found: Facts = {}
    for path, data in _session_files(store, project).items():
        if path.startswith(settings.EPISODES_DIR + "/"):
            value = json.loads(data)
            found["episode", value["session_id"]] = {key: value[key] for key in _EPISODE}
        elif path.endswith("/" + settings.META_FILE):
            meta = yaml.load(data.decode("utf-8"))
            found["session", meta["claude_session"]] = (meta["status"], meta["summary"], tuple(meta["artifacts"]))
        elif "/" + settings.ARTIFACTS_DIR + "/" in path:
            found["artifact", path.split("/")[2], data.decode("utf-8")] = True
        elif "/" + settings.LOCAL_DIR + "/" in path:
            found["local note", path] = data.decode("utf-8")
    for path in project.glob("LEARNING/topics/*.md"):
        found["note", path.name] = _SESSION.sub("", _text(path))
    for path in project.glob("STATE/progress/*.json"):
        value = json.loads(_text(path))
        found["task", path.name] = ([value.get(key) for key in _TASK], [each["note"] for each in value["checkpoints"]])
    for path in project.glob("STATE/threads/*.json"):
        value = json.loads(_text(path))
        found["thread", path.name] = {key: value[key] for key in value if key in ("title", "status", "closed")}
    for path in (*project.glob("briefing.md*"), *project.glob("profiles/*")):
        if not path.name.startswith(".") and path.suffix != ".lock":
            is_former = path.suffix != ".md"  # under whichever number
            found[("former page", _text(path)) if is_former else ("page", path.name)] = _text(path)
    found["ratings",] = [(line["skill"], line["rating"]) for line in _lines(project / "LEARNING/SIGNALS/ratings.jsonl")]
    events = [line for path in sorted(project.glob("SECURITY/*/*/audit.jsonl")) for line in _lines(path)]
    found["audit",] = [tuple(str(event.get(key)) for key in _EVENT) for event in events]
    found["forgotten",] = _forgotten(project / settings.STATE_DIR / settings.FORGOTTEN_FILE)
    found.update({("former note", _former(path)): True for path in _former_notes(project)})
    return found


def _forgotten(path: Path) -> Any:
    """Which sessions, how many notes and texts: hashes differ by their salt."""
    value = json.loads(_text(path) or "{}") if path.is_file() else {}
    return sorted(value.get("sessions", ())), len(value.get("notes", ())), len(value.get("texts", ()))


def _former_notes(home: Path) -> list[Path]:
    return [*(home / settings.ARCHIVE_DIR / settings.NOTES_ARCHIVE_DIR).glob("[!.]*")]


def _former(path: Path) -> str:
    return _TIME.sub("", path.name + "\n" + _text(path))


def _session_files(store: Path, project: Path) -> dict[str, bytes]:
    """Files of sessions, those put away too; a live one stands before its archived copy, unless it was emptied."""
    found: dict[str, bytes] = {}
    for name in archive.names(str(store), str(project)):
        for session in archive.load(str(store), str(project), name):
            found.update(session.files)
    for top in (settings.EPISODES_DIR, settings.WORK_DIR):
        for path in (project / top).rglob("*"):
            if path.is_file() and path.stat().st_size and not path.name.startswith("."):
                found[path.relative_to(project).as_posix()] = path.read_bytes()
    return found


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def _lines(path: Path) -> list[Any]:
    """Of a log; a line that is not whole is no record, and must not be in the way of another."""
    found = []
    for line in _text(path).splitlines() if path.is_file() else []:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


# What must be true -----------------------------------------------------------------------------------


def damage(store: Path) -> list[str]:
    """Files that are not whole, temporaries that are in the way, marks that nobody has seen to."""
    found = []
    for path in sorted(store.rglob("*")):
        name = path.relative_to(store).as_posix()
        if path.is_file():
            found += storm.damaged(path)
            if path.stat().st_mode & 0o077:
                found.append("%s is open to others" % name)
        if name.endswith(settings.TEMP_SUFFIX):
            found.append("%s is in the way" % name)
    return found + [each for project in support.project_dirs(store) for each in _unlisted(project)]


def _unlisted(project: Path) -> list[str]:
    """What is wrong with the menu: it lists the episodes that there are, and no others."""
    index = project / settings.INDEX_FILE
    lines = _text(index).splitlines() if index.is_file() else []
    listed = {line.split("`")[1].partition("/")[2] for line in lines if line.startswith("- `")}
    there = {name for name in episode.names(str(project)) if episode.load(str(project), name)}
    return ["%s is wrong about %s" % (index, name) for name in sorted(listed ^ there)]


def holding(store: Path, words: str) -> list[str]:
    """Files that hold these words, archives too; the audit trail keeps what it holds."""
    found = []
    for path in sorted(store.rglob("*")):
        if path.is_file() and settings.SECURITY_DIR not in path.parts:
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            if words.lower().encode() in data.lower():
                found.append("%s holds %r" % (path.relative_to(store), words))
    return found


def complaints(world: World) -> list[str]:
    """What the product itself finds wrong, and what a rebuild would change."""
    found = []
    checked = world.memory("verify")
    if checked.code:
        found.append("verify: " + checked.stdout)
    before = world.files()
    world.memory("rebuild")
    after = world.files()
    changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
    return found + ["rebuild changed %s" % name for name in changed if not name.endswith(settings.LOCK_SUFFIX)]


def unhealed(world: World) -> list[str]:
    """What a rebuild should make anew, and does not."""
    world.memory("rebuild")
    told = world.memory("verify").stdout
    return ["after a rebuild: " + told] if "harness memory rebuild" in told else []


def mixtures(found: Facts, old: Facts, new: Facts) -> list[str]:
    """Records that are neither as they were nor as they were to become."""
    wrong = []
    for key in sorted({*found, *old, *new}, key=str):
        value = found.get(key)
        if value not in (old.get(key), new.get(key)):
            wrong.append("%s is %r, not %r or %r" % (key, value, old.get(key), new.get(key)))
    return wrong
