"""How two memories become one: `Merged` is what two machines have, by one rule for each kind of file.

    episodes, WORK        the file of the side on which the session ended later
    SIGNALS/*.jsonl       the lines of both, but those that one of them removed
    SECURITY, archives    the longer one
    forgotten.json        what either forgot; the session goes, unless it went on afterwards
    progress/<task>.json  the checkpoints of both, the rest from the one updated last
    project.json          what identifies it anywhere; paths, and what names them, stay on their machine
    all that people curate    the newer; deleting counts as a change, and the other version of a page is archived

What only one side changed is as that side has it. The result is the same in every order: of two versions the greater
one wins, by time and then by content. For curated files that time is in `versions.json`, because neither git nor a
copy keeps it:

    {"schema", "files": {path: [instant, blob id], hash of a path that is gone: [instant, ""]}}
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Callable, Dict, List

from ..base import clock, files, jsontext, settings, shape, tables
from ..base.text import hexdigest
from ..base.typing import Fields
from ..project import identity
from ..session.sessions import safe_id
from . import archive, tasks

Tree = Dict[str, str]  # path below the store's root to the id of its content
Versions = Dict[str, List[str]]  # the table of versions.json

_SPEC = {"files": {"*": ("text", "text")}}
_NONE = ["", ""]  # instant and content of what was never there
SESSION, PAGE, CURATED = "session", "page", "curated"  # ways to merge that need more than contents
_FOLDERS = ("", "profiles", "LEARNING/topics", "archive/notes", "STATE", "STATE/threads")  # of curated files
_FORMATS = tables.read(os.path.join(os.path.dirname(__file__), "formats.txt"))["files"]
_LOCAL_FACTS = ("identities", "paths", "originals", "updated")  # of project.json


def blob_id(data: bytes) -> str:
    """As git names it."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def home(path: str) -> str:
    """The project, or `user`, that a file belongs to; the name of a file in the root."""
    first, _, rest = path.partition("/")
    return rest.partition("/")[0] if first == settings.ARCHIVE_DIR else first


def unit(path: str) -> str:
    """The session that a file belongs to, as `<project>/<day>/<id>`; "" for other files."""
    first, _, rest = path.partition("/")
    owner = archive.owner(rest)
    return "%s/%s" % (first, owner) if owner and first != settings.ARCHIVE_DIR else ""


class Merged:
    """`tree`: what two trees become, since they were at `base`. `made`: content that neither has. `changes`: what is
    new in ours (None: the file goes). `versions`: of curated files."""

    def __init__(self, base: Tree, ours: Tree, theirs: Tree, load: Callable[[str], bytes]) -> None:
        self.base, self.ours, self.theirs, self._loaded = base, ours, theirs, load
        self.tree: Tree = {}
        self.made: dict[str, bytes] = {}
        values = [self._value(side, settings.VERSIONS_FILE) for side in (ours, theirs)]
        one, two = self._tables = [{} if shape.problem(value, _SPEC) else value["files"] for value in values]
        last = {key: max(one.get(key, _NONE), two.get(key, _NONE)) for key in {**one, **two}}
        self.versions = {key: row for key, row in last.items() if row >= _state(last, key)}
        for path in sorted({*ours, *theirs} - {settings.VERSIONS_FILE}):
            sha = self._chosen(path, base.get(path), ours.get(path), theirs.get(path))
            if sha:
                self.tree[path] = sha
        self.tree[settings.VERSIONS_FILE] = self._make(encode_versions(self.versions))
        for path in self._dropped():
            del self.tree[path]
        paths = [path for path in sorted({*self.tree, *ours}) if ours.get(path) != self.tree.get(path)]
        self.changes = {path: self.tree.get(path) for path in paths}

    def load(self, sha: str) -> bytes:
        return self.made[sha] if sha in self.made else self._loaded(sha)

    def _make(self, data: bytes) -> str:
        self.made[blob_id(data)] = data
        return blob_id(data)

    def _value(self, tree: Tree, path: str) -> Fields:
        """A JSON object; {} when it is missing or damaged."""
        try:
            value = jsontext.loads(self.load(tree[path])) if path in tree else {}
        except ValueError:
            value = {}
        return value if isinstance(value, dict) else {}

    def _chosen(self, path: str, b: str | None, o: str | None, t: str | None) -> str | None:
        """The content of one file."""
        rule = rule_of(path)
        if o == t or rule in (PAGE, CURATED):
            return o if o == t else self._newer(path, b, o, t)
        if b in (o, t):
            return t if o == b else o
        if not (o and t):
            return o or t  # changed here and removed there, for example by retention
        if rule == SESSION:  # of the side on which it ended, or was struck of a forgotten text, later
            sides, name = (self.ours, self.theirs), unit(path)
            ends = [max(self._ended(side, name), self._marked(side, name, "transcripts")) for side in sides]
            return max(zip(ends, (o, t)))[1]
        contents = [self.load(sha) if sha else b"" for sha in (b, o, t)]
        try:
            return self._make(_RULES[rule](*contents))
        except (ValueError, KeyError, TypeError, AttributeError):  # one is damaged
            return self._make(_longer(*contents))

    def _newer(self, path: str, b: str | None, o: str | None, t: str | None) -> str | None:
        """The newer version of a curated file; the other one, of a page that both changed, goes to the archive."""
        states = [_state(table, path) for table in self._tables]
        ((at, _), loser), (_, winner) = sorted(zip(states, (o or "", t or "")))
        if winner and loser and b not in (o, t) and rule_of(path) == PAGE:
            folder, _, rest = path.partition("/")
            stem = os.path.splitext(rest.replace("profiles/", "profile-").rpartition("/")[2])[0]
            stamp = clock.stamp(at or "2000-01-01T00:00:00.000Z")
            self.tree["%s/archive/notes/%s.%s-%s.md" % (folder, stem, stamp, _mark(path)[:8])] = loser
        return winner or None

    def _ended(self, tree: Tree, session: str) -> str:
        """When a session last did something."""
        project, _, name = session.partition("/")
        path = "%s/%s/%s/%s" % (project, settings.WORK_DIR, name, settings.CAPTURE_FILE)
        return str(self._value(tree, path).get("ended", ""))

    def _marked(self, tree: Tree, session: str, key: str) -> str:
        """When a session (`sessions`), or a text of it (`transcripts`), was forgotten."""
        project, _, id = session.split("/")
        marks = self._value(tree, "%s/%s/%s" % (project, settings.STATE_DIR, settings.FORGOTTEN_FILE)).get(key) or {}
        return max([at for claude_id, at in marks.items() if safe_id(claude_id).startswith(id)], default="")

    def _dropped(self) -> list[str]:
        """Former versions of pages that were deleted later, and sessions forgotten after they last did something."""
        ends = {key[:8]: clock.stamp(at) for key, (at, sha) in self.versions.items() if not sha}
        old = {path for path in filter(is_former, self.tree) if path[-34:-12] <= ends.get(path[-11:-3], "")}
        marks = {session: self._marked(self.tree, session, "sessions") for session in {*map(unit, self.tree)} - {""}}
        gone = {session for session, at in marks.items() if at and self._ended(self.tree, session) < at}
        return [path for path in self.tree if path in old or unit(path) in gone]

    def left(self, project: str, each: archive.Archived) -> archive.Contents:
        """What stays of an archived session: nothing when it was forgotten; what is left of it elsewhere when a text
        was struck there while this machine archived it."""
        session, name = "%s/%s" % (project, each.owner), "archive/%s/%s" % (project, os.path.basename(each.path))
        last = max(each.started, each.ended)
        if last < self._marked(self.tree, session, "sessions"):
            return {}
        own, other = sorted((self.ours, self.theirs), key=lambda side: name not in side)
        seen = max(last, self._marked(own, session, "transcripts"))
        if name in other or name in self.base or self._marked(other, session, "transcripts") <= seen:
            return each.files
        paths = [(path, "%s/%s" % (project, path)) for path in each.files]
        return {path: self.load(other[live]) for path, live in paths if live in other}


def is_former(path: str) -> bool:
    """Whether a file is a page, `<slug>.<instant>-<hash of its path>.md`, that lost against a newer one."""
    return row_of(path)[3] == "former"


def _state(table: Versions, path: str) -> list[str]:
    """Since when a path has which content; [instant, ""] when it is gone."""
    return max(table.get(path, _NONE), table.get(_mark(path), _NONE))


def _mark(path: str) -> str:
    """What stands for a path that is gone: its name may be what was to be forgotten."""
    return hexdigest(path)[:16]


# Of two contents of one file ------------------------------------------------------------------------
def _longer(_: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Of two states of a chain the later one."""
    return max(ours, theirs, key=lambda data: (len(data), data))


def _union(ours: Any, theirs: Any) -> Any:
    """All that two JSON values hold; of two instants the later."""
    if isinstance(ours, dict):
        both = {**theirs, **ours}
        return {key: _union(ours.get(key, both[key]), theirs.get(key, both[key])) for key in sorted(both)}
    if isinstance(ours, list):
        items = {jsontext.compact(item): item for item in (*ours, *theirs)}
        return [items[key] for key in sorted(items)]
    return max(ours, theirs)


def _lines(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    b, o, t = ({*data.split(b"\n")} for data in (base, ours, theirs))
    kept = ((o & t) | (o - b) | (t - b)) - {b""}
    return b"".join(line + b"\n" for line in sorted(kept, key=lambda line: (line.partition(b'"at":')[2], line)))


def _task(_: bytes, *both: bytes) -> bytes:
    values = [*map(jsontext.loads, both)]
    last = max(values, key=lambda each: (str(each.get("updated")), jsontext.compact(each)))
    every = {key: _union(*(each.get(key) or [] for each in values)) for key in ("sessions", "checkpoints")}
    return jsontext.encoded({**last, **every, "checkpoints": sorted(every["checkpoints"], key=tasks.moment)})


def shared(path: str, data: bytes) -> bytes:
    """What other machines get of a file: no paths of this one, and no line that is just being appended."""
    try:
        if path.endswith("/" + settings.PROJECT_FILE):
            return canonical(data, data)
    except (ValueError, AttributeError):
        pass  # damaged: `verify` names it
    return data[: data.rfind(b"\n") + 1] if path.endswith(".jsonl") else data


def canonical(*contents: bytes) -> bytes:
    """What project.json says on every machine."""
    values = [jsontext.loads(each) for each in contents]
    facts = _union(*({key: value[key] for key in value if key not in _LOCAL_FACTS} for value in values))
    if not all("alias_of" in value for value in values):
        facts.pop("alias_of", None)  # a memory of its own on one of them
    return jsontext.encoded(facts)


def localized(local: bytes, theirs: bytes) -> bytes:
    """This machine's project.json with what the others know."""
    own = jsontext.loads(local or b"{}")
    return jsontext.encoded({**jsontext.loads(theirs), **{key: own[key] for key in _LOCAL_FACTS if key in own}})


# What people curate ---------------------------------------------------------------------------------
def listed(root: str) -> Iterator[str]:
    homes = [name for name in files.names(root) if name == settings.USER_DIR or identity.is_project_id(name)]
    for folder in ["", *(os.path.join(home, each, "") for home in homes for each in _FOLDERS)]:
        yield from ((folder + name).replace(os.sep, "/") for name in files.names(os.path.join(root, folder)))


def record_versions(root: str, now: float) -> None:
    """Note since when each curated file is as it is, and which are gone."""
    path = os.path.join(root, settings.VERSIONS_FILE)
    table = (files.load_json(path, _SPEC) or {"files": {}})["files"]
    result = {key: row for key, row in table.items() if not row[1]}
    for name in [name for name in listed(root) if rule_of(name) in (PAGE, CURATED)]:
        at, sha = _state(table, name)
        data = files.read(os.path.join(root, name), settings.ARCHIVE_MAX_BYTES) or b""
        if blob_id(data) != sha:  # a change is later than what it changed, even if the clock was set back
            at = max(clock.fine_iso(files.modified(os.path.join(root, name))), _after(at))
        result[name] = [at, blob_id(data)]
    for name in {*table} - {*result}:
        folder = os.path.dirname(os.path.join(root, name))
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        at = clock.fine_iso(min(now, files.modified(folder)))  # it changed when the file went, not when we saw it
        result[_mark(name)] = [max(at, _after(table[name][0])), ""]
    files.write_if_changed(path, encode_versions(result))


def encode_versions(table: Versions) -> bytes:
    return jsontext.encoded({"schema": settings.SCHEMA, "files": dict(sorted(table.items()))})


def _after(at: str) -> str:
    return clock.fine_iso((clock.parse(at) or 0.0) + 0.0015) if at else ""


_RULES: dict[str, Callable[..., bytes]] = {
    **dict.fromkeys(("longer", "former"), _longer),
    "lines": _lines,
    "union": lambda _, *both: jsontext.encoded(_union(*map(jsontext.loads, both))),
    "task": _task,
    "project": lambda _, *both: canonical(*both),
}


@lru_cache(maxsize=None)
def row_of(path: str) -> list[str]:
    """What `formats.txt` says of a file: patterns, how to read it, remedy, how to merge it."""
    fitting = (row for row in _FORMATS if any(fnmatchcase(path, each) for each in row[0].split()))
    return next(fitting, ["-"] * 4)


@lru_cache(maxsize=None)
def rule_of(path: str) -> str:
    """How a file of a store is merged; "" for a path, which another machine may have named, that is not synced."""
    parts = path.split("/")
    is_plain = not any(part in ("", ".", "..") or part[0] == "." or "\\" in part or "\0" in part for part in parts)
    is_home = len(parts) == 1 or home(path) == settings.USER_DIR or identity.is_project_id(home(path))
    rule = row_of(path)[3] if is_plain and is_home else "-"
    return "" if rule == "-" or (rule == SESSION and not unit(path)) else rule
