"""Which memory a directory belongs to.

A project is named by the first of these identities that it has; its id is `<slug>-<12 hex of the identity's SHA-256>`:

    remote:<normalised URL of origin>     shared by every clone and work tree
    git:<real path of the common dir>     shared by every work tree
    dir:<real path of the directory>

It keeps the memory of an earlier identity (a remote was added, `git init` was run, the directory was moved), but only
on evidence, because a path may by now hold something else. A memory found by its path is refused, and the identity
counted on (`git#2:/p`), when it records another remote than the present one, or when the *witness* speaks against it:
`name:size:mtime_ns` of files that work does not touch, `description` in a git directory or else the oldest files.
Whole-millisecond times come from archives and prove nothing. A copy may have the same witness, so a moved project is
one whose *originals* match a memory without remote that is no longer at any path it was seen at: the witness with
`:inode:ctime_ns`, which moving keeps and copying cannot (on Windows the second is when a file was made). A move to
another file system is a copy, and starts anew.

`project.json`:

    schema      1
    id, name    the directory's own name, and the slug
    identities  every identity it has had, newest last
    remotes     every normalised remote, newest last
    paths       work tree tops (or directories) it was seen at, newest last
    witness     of the last of them, while it has no remote
    originals   of the same files
    inode       of a plain directory; with `witness` tells `git init` in place from a clone over a deleted directory
    created, updated
    alias_of    alone with schema, id and created: the memory is in the project of that id
"""

from __future__ import annotations

import os
import stat

from ..base import files, jsontext, lock, settings, sha256
from . import git
from .remote import normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SLUG_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_ID_LETTERS = _SLUG_LETTERS | {"-"}
_HEX = frozenset("0123456789abcdef")
_WITNESS_FILE = "description"  # made by `git init`, touched by nothing afterwards
_WEAK_NANOSECONDS = 1_000_000


class Project:
    """`dir` is its store directory, which need not exist yet; `root` is what relative paths start from.

    `identity` is the present one; the memory may be older and lie under the id of another.
    """

    __slots__ = ("branch", "dir", "id", "identity", "name", "remote", "repo", "root")

    def __init__(
        self, *, id: str, dir: str, identity: str, name: str, root: str, remote: str, repo: git.Repository | None
    ) -> None:
        self.id = id
        self.dir = dir
        self.identity = identity
        self.name = name
        self.root = root
        self.remote = remote
        self.repo = repo
        self.branch = git.branch(repo) if repo else ""


class _Memory:
    """A directory of the store; `facts` is None when its project.json is there but cannot be understood."""

    __slots__ = ("facts", "id")

    def __init__(self, id: str, facts: dict[str, Any] | None) -> None:
        self.id = id
        self.facts = facts


def locate(store_root: str, launch_dir: str, cwd: str) -> Project:
    """The project of a session that was launched in `launch_dir` and is in `cwd` now. Writes nothing."""
    place = _place(launch_dir, cwd)
    repo = git.find(place)
    root = repo.root if repo else place
    remote = normalize(git.origin_url(repo), root) if repo else ""
    candidates = _identities(root, remote, repo)
    identity = ""
    memory = None
    for candidate in candidates:
        memory, free = _remembered(store_root, candidate, root, remote, repo)
        identity = identity or free
        if memory is not None:
            break
    else:
        memory = _moved(store_root, root, repo)
    found = memory.id if memory else project_id(identity)
    return Project(
        id=found,
        dir=os.path.join(store_root, found),
        identity=identity,
        name=_slug(identity),
        root=root,
        remote=remote,
        repo=repo,
    )


def record(project: Project, now_iso: str) -> None:
    """Keep project.json true to what `locate` saw; a file we cannot understand stays as it is."""
    path = os.path.join(project.dir, settings.PROJECT_FILE)
    with lock.Lock(path + settings.LOCK_SUFFIX) as held:
        facts = _read_facts(project.dir)
        if held and facts is not None and _schema(facts) <= settings.SCHEMA:
            updated = _updated(facts, project, now_iso)
            try:
                data = _encoded(updated) if updated != facts else b""
            except ValueError:  # nested deeper than we write
                data = b""
            if data:
                files.write(path, data)
    natural = project_id(project.identity)
    alias = os.path.join(os.path.dirname(project.dir), natural, settings.PROJECT_FILE)
    if natural != project.id and not os.path.lexists(alias):
        facts = {"schema": settings.SCHEMA, "id": natural, "alias_of": project.id, "created": now_iso}
        files.write(alias, _encoded(facts))


def of_former_path(store_root: str, path: str) -> tuple[str, str] | None:
    """(id, work tree) of the memory last seen at a path that is gone, or at one above it."""
    best: tuple[str, str, str] | None = None
    for directory in _directories(store_root):
        facts = _read_facts(directory) or {}
        for root in _texts(facts, "paths"):
            if (path + os.sep).startswith(root.rstrip(os.sep) + os.sep):
                best = max(best or ("", "", ""), (root, str(facts.get("updated")), os.path.basename(directory)))
    return (best[2], best[0]) if best else None


def last_seen(project_dir: str) -> tuple[str, str]:
    """(work tree, remote) that a memory was last at work in; "" for what it has not known."""
    facts = _read_facts(project_dir) or {}
    return ["", *_texts(facts, "paths")][-1], ["", *_texts(facts, "remotes")][-1]


def project_id(identity: str) -> str:
    return _slug(identity) + "-" + sha256.hexdigest(identity)[: settings.ID_HASH_CHARS]


def is_project_id(value: object) -> bool:
    if not isinstance(value, str) or not len(value) <= settings.SLUG_CHARS + 1 + settings.ID_HASH_CHARS:
        return False
    name, dash, code = value.rpartition("-")
    return (
        bool(name and dash)
        and _ID_LETTERS.issuperset(name)
        and len(code) == settings.ID_HASH_CHARS
        and _HEX.issuperset(code)
    )


# Identity ----------------------------------------------------------------------------------------


def _place(launch_dir: str, cwd: str) -> str:
    for path in (launch_dir, cwd):
        if path and os.path.isabs(path) and os.path.isdir(path):
            return _real(path)
    return _real(os.path.join(os.path.abspath(os.sep), cwd or launch_dir))


def _identities(root: str, remote: str, repo: git.Repository | None) -> list[str]:
    found = ["remote:" + remote] if remote else []
    if repo:
        found.append("git:" + os.path.normcase(repo.common_dir))
    return [*found, "dir:" + os.path.normcase(root)]


def _numbered(identity: str) -> Iterator[str]:
    yield identity
    kind, _, name = identity.partition(":")
    for number in range(2, settings.IDENTITY_ITEMS_KEPT):
        yield "%s#%d:%s" % (kind, number, name)


def _slug(identity: str) -> str:
    kind, _, name = identity.partition(":")
    parts = name.replace("\\", "/").rstrip("/").split("/")
    if kind.startswith("git") and parts[-1].startswith(".") and len(parts) > 1:  # `.git`, `.bare`
        parts.pop()
    last = parts[-1].lower()
    if last.endswith(".git"):
        last = last[:-4]
    words = "".join([char if char in _SLUG_LETTERS else " " for char in last]).split()
    return "-".join(words)[: settings.SLUG_CHARS].strip("-") or "project"


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # NUL in a path
        return os.path.normpath(path)


# Memories of the store ---------------------------------------------------------------------------


def _remembered(
    store_root: str, identity: str, root: str, remote: str, repo: git.Repository | None
) -> tuple[_Memory | None, str]:
    """The memory kept under an identity, and the numbered form of it that is the project's own."""
    for numbered in _numbered(identity):
        memory = _open(store_root, project_id(numbered))
        if memory is None or _fits(memory.facts, identity, root, remote, repo):
            return memory, numbered
    return None, numbered


def _open(store_root: str, id: str) -> _Memory | None:
    directory = os.path.join(store_root, id)
    if not os.path.isdir(directory):
        return None
    facts = _read_facts(directory)
    target = facts.get("alias_of") if facts else None
    if is_project_id(target) and os.path.isdir(os.path.join(store_root, str(target))):
        return _Memory(str(target), _read_facts(os.path.join(store_root, str(target))))
    return _Memory(id, facts)


def _fits(facts: dict[str, Any] | None, identity: str, root: str, remote: str, repo: git.Repository | None) -> bool:
    """Whether the memory found under an identity is of what is there now."""
    if identity.startswith("remote:"):
        return True
    if facts is None:
        return not remote and identity.startswith("git:") == bool(repo)
    recorded = _texts(facts, "remotes")
    if remote and any(other != remote for other in recorded):
        return False
    if identity.startswith("git:") and repo:
        seal = _seal(repo)
        if recorded and not remote:
            return seal in _texts(facts, "witness")
        return not _contradicts(facts, seal)
    return _is_same_directory(facts, repo) if repo else not recorded


def _contradicts(facts: dict[str, Any], seal: str) -> bool:
    seals = [item for item in _texts(facts, "witness") if item.startswith(_WITNESS_FILE + ":")]
    return bool(seal and seals) and seal not in seals


def _is_same_directory(facts: dict[str, Any], repo: git.Repository) -> bool:
    """Whether the directory of this memory has become the repository, rather than been replaced by it."""
    if not facts.get("inode") or facts["inode"] != _inode(repo.root):
        return False
    # The inode of a deleted directory is soon given out again, so it does not suffice.
    recorded = _texts(facts, "witness")
    if not recorded:
        return not git.is_clone(repo)
    present = _oldest(repo.root, settings.WITNESS_ENTRIES_SCANNED)
    return not set(recorded).isdisjoint(stamp for stamp, _ in present)


def _moved(store_root: str, root: str, repo: git.Repository | None) -> _Memory | None:
    """The latest memory whose project is gone from everywhere it was seen, and whose own files are here."""
    originals = _evidence(root, repo)[1]
    needles = [_encoded(item).strip() for item in originals]
    best: dict[str, Any] = {}
    for directory in _directories(store_root) if needles else ():
        data = _read_file(directory) or b""
        if not any(needle in data for needle in needles):
            continue
        facts = _parsed(data) or {}
        if _is_moved(facts, set(originals)) and str(facts.get("updated")) >= str(best.get("updated", "")):
            best = {**facts, "id": os.path.basename(directory)}
    return _Memory(best["id"], best) if best else None


def _is_moved(facts: dict[str, Any], originals: set[str]) -> bool:
    recorded = _texts(facts, "originals")
    paths = _texts(facts, "paths")
    if _texts(facts, "remotes") or not paths or len(originals.intersection(recorded)) * 2 <= len(recorded):
        return False
    return not any(_holds(path, facts) for path in paths)


def _holds(path: str, facts: dict[str, Any]) -> bool:
    if not os.path.isdir(path):
        return False
    if not "".join(_texts(facts, "identities")[-1:]).startswith("git"):
        return True
    repo = git.find(path)
    return repo is not None and repo.root == path and not _contradicts(facts, _seal(repo))


def _directories(store_root: str) -> Iterator[str]:
    seen = 0
    try:
        with os.scandir(store_root) as entries:
            for entry in entries:
                if is_project_id(entry.name):
                    seen += 1
                    yield entry.path
                if seen >= settings.PROJECTS_SCANNED:
                    return
    except OSError:
        pass


# Witnesses ---------------------------------------------------------------------------------------


def _evidence(root: str, repo: git.Repository | None) -> tuple[list[str], list[str]]:
    """The witness, and the originals, of what is here."""
    found = _standing(root, repo)
    originals = [_original(stamp, path) for stamp, path in found] if found and not _is_mounted(root) else []
    return [stamp for stamp, _ in found], [item for item in originals if item]


def _is_mounted(root: str) -> bool:
    """Whether a file system begins here: its snapshots keep inodes and times, which so prove nothing."""
    try:
        return os.path.ismount(root)
    except (OSError, ValueError):
        return True


def _standing(root: str, repo: git.Repository | None) -> list[tuple[str, str]]:
    """Stamps and paths of files that work does not touch."""
    if repo is None:
        return _oldest(root)
    if repo.is_borrowed:
        return []
    path = os.path.join(repo.common_dir, _WITNESS_FILE)
    if not os.path.lexists(path):
        return _oldest(repo.common_dir)
    seal = _seal(repo)
    return [(seal, path)] if seal else []


def _seal(repo: git.Repository) -> str:
    if repo.is_borrowed:
        return ""
    try:
        return _stamp(_WITNESS_FILE, os.lstat(os.path.join(repo.common_dir, _WITNESS_FILE)))
    except OSError:
        return ""


def _oldest(directory: str, count: int = settings.WITNESS_FILES) -> list[tuple[str, str]]:
    found = []
    try:
        with os.scandir(directory) as entries:
            for entry, _ in zip(entries, range(settings.WITNESS_ENTRIES_SCANNED)):
                if entry.is_file(follow_symlinks=False):
                    info = entry.stat(follow_symlinks=False)
                    found.append((info.st_mtime_ns, _stamp(entry.name, info), entry.path))
    except (OSError, ValueError):
        pass
    return [(stamp, path) for _, stamp, path in sorted(found) if stamp][:count]


def _original(stamp: str, path: str) -> str:
    try:
        info = os.lstat(path)  # on Windows a directory's entries do not tell the inode
    except OSError:
        return ""
    return "%s:%d:%d" % (stamp, info.st_ino, info.st_ctime_ns)


def _stamp(name: str, info: os.stat_result) -> str:
    if not stat.S_ISREG(info.st_mode) or info.st_mtime_ns % _WEAK_NANOSECONDS == 0:
        return ""
    return "%s:%d:%d" % (name, info.st_size, info.st_mtime_ns)


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except (OSError, ValueError):
        return 0


# project.json ------------------------------------------------------------------------------------


def _updated(facts: dict[str, Any], project: Project, now_iso: str) -> dict[str, Any]:
    new: dict[str, Any] = {
        "schema": settings.SCHEMA,
        "id": project.id,
        "name": project.name,
        "identities": _with_newest(_texts(facts, "identities"), project.identity),
        "remotes": _with_newest(_texts(facts, "remotes"), project.remote),
        "paths": _with_newest(_texts(facts, "paths"), project.root),
        "witness": _texts(facts, "witness"),
        "originals": _texts(facts, "originals"),
        "created": facts.get("created", now_iso),
        "updated": facts.get("updated", now_iso),
    }
    if not project.remote:
        new["witness"], new["originals"] = _evidence(project.root, project.repo)
    if not project.repo:
        new["inode"] = _inode(project.root)
    for key, value in facts.items():
        if key not in ("alias_of", "inode"):
            new.setdefault(key, value)
    if new != facts:
        new["updated"] = now_iso
    return new


def _with_newest(items: list[str], item: str) -> list[str]:
    kept = [other for other in items if other != item]
    return [*kept, *([item] if item else [])][-settings.IDENTITY_ITEMS_KEPT :]


def _read_facts(directory: str) -> dict[str, Any] | None:
    """What project.json holds: nothing when there is none, None when it is damaged."""
    data = _read_file(directory)
    if data is None:
        return {}
    return _parsed(data)


def _read_file(directory: str) -> bytes | None:
    try:
        return files.read(os.path.join(directory, settings.PROJECT_FILE), settings.PROJECT_FILE_MAX_BYTES)
    except (OSError, ValueError) as error:
        if files.is_passing(error):
            raise  # it is no other project for that
        return b""


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        facts = jsontext.loads(data)
    except ValueError:
        return None
    return facts if isinstance(facts, dict) else None


def _encoded(value: object) -> bytes:
    # A file name that is no UTF-8 holds lone surrogates, which JSON spells as escapes.
    return jsontext.pretty(value).encode("utf-8", "backslashreplace")


def _texts(facts: dict[str, Any], key: str) -> list[str]:
    value = facts.get(key)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _schema(facts: dict[str, Any]) -> float:
    value = facts.get("schema", settings.SCHEMA)
    return value if isinstance(value, (int, float)) else settings.SCHEMA + 1
