"""How two memories become one: `Merged` is what two machines have, by the kind of each file.

    episodes, WORK        one session is one unit: where both changed it, the one that ended later, all its files
    SIGNALS/*.jsonl       the lines of both, but those that one of them removed
    SECURITY/<machine>    one writer: the longer chain
    forgotten.json        what either forgot; such a session goes, unless it went on afterwards
    progress/<task>.json  the checkpoints of both, the rest from the one updated last
    project.json          what identifies it anywhere; paths and inodes stay on their machine
    archives              both, under two names
    all that people curate    the newer; deleting counts as a change, and the other version of a page is archived

The result is the same in every order: of two versions the greater one wins, by time and then by content. For curated
files that time is in `versions.json`, because neither git nor a copy keeps it:

    {"schema", "files": {path: [instant, blob id]}, "gone": {hash of a path: instant}}
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Callable, Dict

from ..base import clock, files, jsontext, settings, yaml
from ..base.text import hexdigest
from ..project import identity
from ..session import sessions
from . import archive, tasks

Tree = Dict[str, str]  # path below the store's root to the id of its content
Load = Callable[[str], bytes]

VERSIONS = {"files": {"*": ("text", "text")}, "gone": {"*": "text"}}
_PAGES = ("LEARNING/topics/*.md", "briefing.md", "profiles/*.md")  # whose other version is archived
_FORMER = ("briefing.md.*", "profiles/*.md.*", "archive/notes/*.md")
_CURATED = (*_PAGES, *_FORMER, "STATE/threads/*.json", "STATE/consolidated.json")
_ROOT_FILES = (settings.CONFIG_FILE, settings.GUARD_FILE)
_STATE = ("progress", "threads", settings.FORGOTTEN_FILE, "consolidated.json")
_LOCAL = ("*.lock", "*.tmp", "*.claimed", "*.damaged", settings.INDEX_FILE, settings.NOTES_INDEX_FILE)
_LOCAL_FACTS = ("paths", "witness", "originals", "inode", "updated")  # of project.json


def _no_versions() -> dict[str, Any]:
    return {"schema": settings.SCHEMA, "files": {}, "gone": {}}


def blob_id(data: bytes) -> str:
    """As git names it."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def is_synced(path: str) -> bool:
    """Whether a path, which another machine may have named, is a fact of a store; as `settings.GITIGNORE` has it."""
    home, *parts = path.split("/")
    if any(part in ("", ".", "..") or part[0] == "." or "\\" in part or "\0" in part for part in (home, *parts)):
        return False
    if home == settings.ARCHIVE_DIR:
        return len(parts) == 2 and identity.is_project_id(parts[0]) and parts[1].endswith(archive.ENDING)
    is_home = home == settings.USER_DIR or identity.is_project_id(home)
    if not parts or not is_home:
        return not parts and home in (*_ROOT_FILES, settings.VERSIONS_FILE)
    is_local = any(fnmatchcase(parts[-1], pattern) for pattern in _LOCAL)
    is_state = parts[0] == settings.STATE_DIR and parts[1:2][0] not in _STATE if len(parts) > 1 else False
    return not (is_local or is_state or (parts[0] == settings.WORK_DIR and parts[3:4] == [settings.LOCAL_DIR]))


def is_curated(path: str) -> bool:
    home, _, rest = path.partition("/")
    return path in _ROOT_FILES or (home != settings.ARCHIVE_DIR and any(fnmatchcase(rest, each) for each in _CURATED))


def home(path: str) -> str:
    """The project, or `user`, that a file belongs to; the name of a file in the root."""
    first, _, rest = path.partition("/")
    return rest.partition("/")[0] if first == settings.ARCHIVE_DIR else first


def unit(path: str) -> str:
    """The session that a file belongs to, as `<project>/<day>/<id>`; "" for other files."""
    first, _, rest = path.partition("/")
    owner = archive.owner(rest) if first != settings.ARCHIVE_DIR else ""
    return "%s/%s" % (first, owner) if owner else ""


class Merged:
    """`tree`: what two trees become, since they were at `base`. `made`: content that neither has. `changes`: what is
    new in ours (None: the file goes). `times`: of curated files."""

    def __init__(self, base: Tree, ours: Tree, theirs: Tree, load: Load) -> None:
        self.base, self.ours, self.theirs, self._loaded = base, ours, theirs, load
        self.tree: Tree = {}
        self.made: dict[str, bytes] = {}
        self._versions = [self._value(side, settings.VERSIONS_FILE) or _no_versions() for side in (ours, theirs)]
        winners = self._winners()
        for path in sorted({*ours, *theirs} - {settings.VERSIONS_FILE}):
            o, t = ours.get(path), theirs.get(path)
            sha = o if o == t else self._chosen(path, base.get(path), o, t, winners)
            if sha:
                self.tree[path] = sha
        known = _joined(*self._versions)
        # Whoever deletes a page deletes its former versions too, also one that loses on another machine.
        ends = {mark[:8]: clock.stamp(at) for mark, at in known["gone"].items()}
        gone = {path for path in self.tree if is_former(path) and path[-34:-12] <= ends.get(path[-11:-3], "")}
        known["files"] = {path: item for path, item in known["files"].items() if path not in gone}
        self.tree[settings.VERSIONS_FILE] = self._make(_json(known))
        for path in gone | self._gone_sessions():
            self.tree.pop(path, None)
        paths = [path for path in sorted({*self.tree, *ours}) if ours.get(path) != self.tree.get(path)]
        self.changes = {path: self.tree.get(path) for path in paths}
        self.times = {path: clock.parse(at) or 0.0 for path, (at, _) in known["files"].items()}

    def load(self, sha: str) -> bytes:
        return self.made[sha] if sha in self.made else self._loaded(sha)

    def _make(self, data: bytes) -> str:
        self.made[blob_id(data)] = data
        return blob_id(data)

    def _value(self, tree: Tree, path: str) -> dict[str, Any]:
        """A JSON object; {} when it is missing or damaged."""
        try:
            value = jsontext.loads(self.load(tree[path])) if path in tree else {}
        except ValueError:
            value = {}
        return value if isinstance(value, dict) else {}

    def _chosen(self, path: str, b: str | None, o: str | None, t: str | None, winners: dict[str, Any]) -> str | None:
        """The content of a file that differs."""
        if is_curated(path):
            return self._newer(path, b, o, t)
        if unit(path) in winners:
            loser, winner = winners[unit(path)]
            return winner.get(path) or (None if path in self.base else loser.get(path))
        if t == b or o == b:
            return o if t == b else t
        if not (o and t):
            return o or t  # changed here and removed there, for example by retention
        if path.endswith(archive.ENDING):
            self.tree["%s-%s%s" % (path[: -len(archive.ENDING)], max(o, t)[:8], archive.ENDING)] = max(o, t)
            return min(o, t)
        return self._make(_both(path, *(self.load(sha) if sha else b"" for sha in (b, o, t))))

    def _newer(self, path: str, b: str | None, o: str | None, t: str | None) -> str | None:
        """The newer version of a curated file; the other one, of a page that both changed, goes to the archive."""
        states = []
        for sha, known in zip((o, t), self._versions):
            at = known["files"].get(path, ("", ""))[0] if sha else known["gone"].get(_mark(path), "")
            states.append((at, (0 if sha else 1) if at else (0 if sha else -1), sha or ""))
        winner, loser = max(states), min(states)
        folder, _, rest = path.partition("/")
        if winner[2] and loser[2] and b not in (o, t) and any(fnmatchcase(rest, each) for each in _PAGES):
            stem = os.path.splitext(rest.replace("profiles/", "profile-").rpartition("/")[2])[0]
            stamp = clock.stamp(loser[0] or "2000-01-01T00:00:00.000Z")
            former = "%s/archive/notes/%s.%s-%s.md" % (folder, stem, stamp, _mark(path)[:8])
            self.tree[former], self._versions[0]["files"][former] = loser[2], [loser[0], loser[2]]
        return winner[2] or None

    def _winners(self) -> dict[str, list[Tree]]:
        """For each session that both sides changed: the side that loses, and the one that wins."""
        base, sides, changed = self.base, (self.ours, self.theirs), []
        for side, other in (sides, sides[::-1]):
            paths = [path for path in {*side, *base} if side.get(path) not in (base.get(path), other.get(path))]
            changed.append({unit(path) for path in paths} - {""})
        contested: dict[str, list[str]] = {each: [] for each in changed[0] & changed[1]}
        for path in sorted({*self.ours, *self.theirs}) if contested else ():
            contested.get(unit(path), []).append(path)
        return {
            each: sorted(sides, key=lambda side: self._rank(side, each, paths)) for each, paths in contested.items()
        }

    def _rank(self, side: Tree, session: str, paths: list[str]) -> tuple[str, list[str]]:
        """When a session last did something, or was struck of a forgotten text."""
        marks = self._value(side, _marks(session.partition("/")[0])).get("transcripts") or {}
        claude_id, ended = self._last(side, paths)
        return max(ended, marks.get(claude_id, "")), [side.get(path, "") for path in paths]

    def _last(self, tree: Tree, paths: list[str]) -> tuple[str, str]:
        """Claude's id of a session, and when it last did something; the episode says so, else META."""
        facts: dict[str, Any] = {}
        for path in [path for path in paths if path in tree]:
            try:
                if path.endswith("/" + settings.META_FILE):
                    meta = yaml.load(self.load(tree[path]).decode("utf-8", "replace"))
                    facts = {"session_id": meta["claude_session"], "ended": meta["ended"] or meta["started"], **facts}
                elif "/%s/" % settings.EPISODES_DIR in path:
                    facts.update(jsontext.loads(self.load(tree[path])))
            except (ValueError, KeyError):
                continue  # damaged: `verify` names it
        return str(facts.get("session_id", "")), str(facts.get("ended", ""))

    def _gone_sessions(self) -> set[str]:
        """The paths of sessions that were forgotten after they last did something."""
        marks: dict[tuple[str, str], dict[str, str]] = {}
        for project in {home(path) for path in self.tree}:
            forgotten = self._value(self.tree, _marks(project)).get("sessions") or {}
            for id in forgotten:
                marks.update({(project, sessions.safe_id(id)[:size]): forgotten for size in settings.SHORT_ID_CHARS})
        units: dict[str, list[str]] = {}
        for path in self.tree if marks else ():
            units.setdefault(unit(path), []).append(path)
        gone: set[str] = set()
        for name, paths in units.items():
            forgotten = marks.get((name.partition("/")[0], name.rpartition("/")[2]), {})
            claude_id, ended = self._last(self.tree, paths) if forgotten else ("", "")
            gone.update(paths if ended < forgotten.get(claude_id, "") else ())
        return gone


def _marks(project: str) -> str:
    return "%s/%s/%s" % (project, settings.STATE_DIR, settings.FORGOTTEN_FILE)


def _both(path: str, base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """The content of a file that both changed."""
    name = path.rpartition("/")[2]
    try:
        if name == settings.FORGOTTEN_FILE:
            return _json(_forgotten(jsontext.loads(ours), jsontext.loads(theirs)))
        if name == settings.PROJECT_FILE:
            return canonical(ours, theirs)
        if name.endswith(".jsonl") and "/%s/" % settings.SECURITY_DIR not in path:
            return _lines(base, ours, theirs)
        if "/%s/" % settings.PROGRESS_DIR in path:
            return _json(_task(jsontext.loads(ours), jsontext.loads(theirs)))
    except (ValueError, KeyError, TypeError, AttributeError):
        pass  # one is damaged
    return max(ours, theirs, key=lambda data: (len(data), data))  # of two states of a chain the longer


def is_former(name: str) -> bool:
    """Whether an archived page, `<slug>.<instant>-<hash of its path>.md`, lost against a newer one."""
    return fnmatchcase(name, "*.????-??-??T??????.???Z-????????.md")


def _joined(ours: Any, theirs: Any) -> dict[str, Any]:
    """The greater state of every path; when it was last gone stays known."""
    result = _no_versions()
    for mark in sorted({*ours["gone"], *theirs["gone"]}):
        result["gone"][mark] = max(side["gone"].get(mark, "") for side in (ours, theirs))
    for path in sorted({*ours["files"], *theirs["files"]}):
        last = max(side["files"].get(path, ["", ""]) for side in (ours, theirs))
        if last[0] > result["gone"].get(_mark(path), ""):
            result["files"][path] = last
    return result


def _mark(path: str) -> str:
    """What stands for a path that is gone: its name may be what was to be forgotten."""
    return hexdigest(path)[:16]


def _forgotten(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    result = {**theirs, **ours}
    for key in ("sessions", "transcripts"):
        both = [side.get(key) or {} for side in (ours, theirs)]
        result[key] = {id: max(side.get(id, "") for side in both) for id in sorted({*both[0], *both[1]})}
    texts = {jsontext.compact(text): text for side in (ours, theirs) for text in side.get("texts") or ()}
    return {**result, **({"texts": [texts[key] for key in sorted(texts)]} if texts else {})}


def shared(path: str, data: bytes) -> bytes:
    """What other machines get of a file: no paths of this one, and no line that is just being appended."""
    try:
        if path.endswith("/" + settings.PROJECT_FILE):
            return canonical(data)
    except (ValueError, KeyError, AttributeError):
        pass  # damaged: `verify` names it
    return data[: data.rfind(b"\n") + 1] if path.endswith(".jsonl") else data


def canonical(*contents: bytes) -> bytes:
    """What project.json says on every machine."""
    values = [jsontext.loads(each) for each in contents]
    facts = {key: item for value in values for key, item in value.items() if key not in _LOCAL_FACTS}
    for key in [key for key, item in facts.items() if isinstance(item, list)]:
        every = {each for value in values for each in value.get(key) or ()}
        # A path identifies nothing elsewhere.
        facts[key] = sorted(each for each in every if key != "identities" or each.startswith("remote"))
    facts["created"] = min(value["created"] for value in values)
    if not all("alias_of" in value for value in values):
        facts.pop("alias_of", None)  # a memory of its own on one of them
    return _json(dict(sorted(facts.items())))


def localized(local: bytes, theirs: bytes) -> bytes:
    """This machine's project.json with what the others know."""
    own, shared = jsontext.loads(local or b"{}"), jsontext.loads(theirs)
    facts = {**shared, **own, "created": shared["created"]}
    for key in [key for key, item in shared.items() if isinstance(item, list)]:
        mine = own.get(key) or []
        facts[key] = [*(each for each in shared[key] if each not in mine), *mine]
    if own and "alias_of" not in own:
        facts.pop("alias_of", None)
    return _json(facts)


def _lines(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    b, o, t = ([line for line in data.split(b"\n") if line] for data in (base, ours, theirs))
    kept = ({*o} & {*t}) | ({*o} - {*b}) | ({*t} - {*b})

    def moment(line: bytes) -> str:
        try:
            return str(jsontext.loads(line)["at"])
        except (ValueError, KeyError, TypeError):
            return ""

    return b"".join(line + b"\n" for line in sorted(kept, key=lambda line: (moment(line), line)))


def _task(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    last, other = sorted((ours, theirs), key=lambda each: (str(each.get("updated")), jsontext.compact(each)))[::-1]
    points = {jsontext.compact(point): point for each in (ours, theirs) for point in each["checkpoints"]}
    merged = sorted(points.values(), key=lambda point: (tasks.moment(point), jsontext.compact(point)))
    names = list(dict.fromkeys([*last["sessions"], *other["sessions"]]))
    created = min(filter(None, (each.get("created") for each in (ours, theirs))), default="")
    return {**last, "checkpoints": merged, "sessions": names, "created": created}


def _json(value: dict[str, Any]) -> bytes:
    return jsontext.pretty(value).encode("utf-8", "backslashreplace")


# What people curate ---------------------------------------------------------------------------------
def curated(root: str) -> Iterator[str]:
    """The path of every curated file of a store."""
    homes = [name for name in files.names(root) if name == settings.USER_DIR or identity.is_project_id(name)]
    yield from (name for name in _ROOT_FILES if files.exists(os.path.join(root, name)))
    folders = sorted({os.path.dirname(each) for each in _CURATED})
    for folder in ["%s/%s" % (home, folder) for home in homes for folder in folders]:
        for name in files.names(os.path.join(root, folder)):
            path = "%s/%s" % (folder.rstrip("/"), name)
            if is_curated(path) and is_synced(path):
                yield path


def record_versions(root: str, now: float) -> None:
    """Note since when each curated file is as it is, and which are gone."""
    path = os.path.join(root, settings.VERSIONS_FILE)
    known = files.load_json(path, VERSIONS) or _no_versions()
    result = {**_no_versions(), "gone": dict(known["gone"])}
    for name in curated(root):
        at, sha = known["files"].get(name, (known["gone"].get(_mark(name), ""), ""))
        data = files.read(os.path.join(root, name), settings.ARCHIVE_MAX_BYTES) or b""
        if blob_id(data) != sha:  # a change follows what it changed, whatever the clock says
            at = max(clock.fine_iso(files.modified(os.path.join(root, name))), _after(at))
        result["files"][name] = [at, blob_id(data)]
    for name in {*known["files"]} - {*result["files"]}:
        folder = os.path.dirname(os.path.join(root, name))
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        at = clock.fine_iso(min(now, files.modified(folder)))  # it changed when the file went, not when we saw it
        result["gone"][_mark(name)] = max(at, _after(known["files"][name][0]))
    result.update({key: dict(sorted(result[key].items())) for key in ("files", "gone")})
    files.write_if_changed(path, _json(result))


def _after(at: str) -> str:
    return clock.fine_iso((clock.parse(at) or 0.0) + 0.0015) if at else ""
