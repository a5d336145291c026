"""Which memory a directory belongs to.

A project is named by the first of these identities that it has; its id is `<slug>-<12 hex of the identity's SHA-256>`:

    remote:<normalised URL of origin>     shared by clones and work trees with a common history
    git:<real path of the common dir>     shared by every work tree
    dir:<real path of the directory, or of one above that holds a `.git` which leads to no repository of its own>

It keeps the memory of an earlier identity (a remote was added, `git init` was run, the directory was moved) on evidence
alone, because a path may by now hold something else, and a remote is only a claim of the folder. A path that a
memory has not seen joins the one of its remote if the repository there has a commit on record, or by `adopt`. Where
the memory under an identity is another project's, the next number is tried (`git#2:/p`, `remote#2:…`).

The evidence for a path are *originals*, `name:size:mtime_ns:inode:ctime_ns` of files that work does not touch:
`description` in a git directory, or else the oldest files. Whole-millisecond times come from archives and prove
nothing. A moved project is one whose originals match a memory without remote: moving keeps inode and ctime, copying
cannot. A move to another file system is a copy, a new project.

`project.json`: schema; id and name (the slug); alias_of, alone with schema, id and created (the memory is in the
project of that id); created, updated; and, each with the newest last,

    identities  every identity it has had
    remotes     every normalised remote
    paths       work tree tops (or directories) it was seen at
    commits     that HEAD and origin's default branch named at session starts
    originals   of the last of its paths, while it has no remote
"""

from __future__ import annotations

import os
import stat

from ..base import files, settings
from ..base.text import hexdigest
from ..base.typing import Any, Iterator
from . import Project, git

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_LISTS = ("identities", "remotes", "paths", "commits", "originals")
_SPEC = {key + "?": ["text"] for key in _LISTS}
_SEAL_FILE = "description"  # `git init` makes it, nothing touches it afterwards
_SCANNED = 2000  # projects, or files of one


def locate(store_root: str, launch_dir: str, cwd: str) -> Project:
    """The project of a session that was launched in `launch_dir` and is in `cwd` now. Writes nothing."""
    paths = [path for path in (launch_dir, cwd) if path and os.path.isabs(path) and os.path.isdir(path)]
    path = paths[0] if paths else os.path.join(os.path.abspath(os.sep), cwd or launch_dir)
    root, repo = git.find(path)
    remote = ""
    candidates = []
    if repo:
        url = git.origin_url(repo)
        if url:
            from .remote import folded, normalize

            written = normalize(url, root)
            remote = folded(written)
            # Memories of earlier versions are under the name as it was written.
            candidates = ["remote:" + name for name in dict.fromkeys((remote, written)) if name]
        candidates.append("git:" + os.path.normcase(repo.common_dir))
    identity = ""
    for candidate in (*candidates, "dir:" + os.path.normcase(root)):
        memory, own = _remembered(store_root, candidate, remote, repo)
        identity = identity or own
        if memory:
            break
    if not memory:  # perhaps it was moved here: the latest memory of these very files
        originals = {*_originals(root, repo)}
        moved = []
        for id, facts in _memories(store_root) if originals else ():
            if not facts["remotes"] and len(originals & {*facts["originals"]}) * 2 > len(facts["originals"]):
                moved.append((str(facts.get("updated")), id))
        memory = max(moved)[1] if moved else project_id(identity)
    project = Project(os.path.join(store_root, memory), _slug(identity), root, remote, git.branch(repo) if repo else "")
    project.identity, project.repo = identity, repo
    return project


def record(project: Project, now_iso: str) -> None:
    """Keep project.json true to what `locate` saw; a file that is damaged or newer stays as it is."""
    path = os.path.join(project.dir, settings.PROJECT_FILE)
    facts, problem = files.read_json(path, _SPEC)
    updated = facts if problem else _updated(facts or {}, project, now_iso)
    if updated != facts:  # of two starts at once the last one wins, and the next one adds what it lost
        files.write_json(path, updated)
    own = project_id(project.identity)
    alias = os.path.join(os.path.dirname(project.dir), own, settings.PROJECT_FILE)
    if own != project.id and not os.path.lexists(alias):
        files.write_json(alias, {"schema": settings.SCHEMA, "id": own, "alias_of": project.id, "created": now_iso})


def of_former_path(store_root: str, path: str) -> tuple[str, str] | None:
    """(id, work tree) of the memory last seen at a path that is gone, or at one above it."""
    seen = [(root, str(facts.get("updated")), id) for id, facts in _memories(store_root) for root in facts["paths"]]
    above = [row for row in seen if (path + os.sep).startswith(row[0].rstrip(os.sep) + os.sep)]
    return (max(above)[2], max(above)[0]) if above else None


def known(project_dir: str, key: str) -> list[str]:
    """One of the lists of a memory's record, after an empty text; the newest is last."""
    return ["", *_facts(*os.path.split(project_dir))[key]]


def project_id(identity: str) -> str:
    return _slug(identity) + "-" + hexdigest(identity)[: settings.ID_HASH_CHARS]


def is_project_id(value: object) -> bool:
    name, _, code = value.rpartition("-") if isinstance(value, str) else ("", "", "")
    is_name = 0 < len(name) <= settings.SLUG_CHARS and (_LETTERS | {"-"}).issuperset(name)
    return is_name and len(code) == settings.ID_HASH_CHARS and git.HEX.issuperset(code)


def _slug(identity: str) -> str:
    kind, _, name = identity.partition(":")
    parts = name.replace("\\", "/").rstrip("/").split("/")
    if kind.startswith("git") and parts[-1].startswith(".") and len(parts) > 1:  # `.git`, `.bare`
        parts.pop()
    last = parts[-1].lower()
    last = last[:-4] if last.endswith(".git") else last
    words = "".join([char if char in _LETTERS else " " for char in last]).split()
    return "-".join(words)[: settings.SLUG_CHARS].strip("-") or "project"


def _remembered(store_root: str, identity: str, remote: str, repo: git.Repository | None) -> tuple[str, str]:
    """The id of the memory under an identity, or "", and the numbered form of it that is the project's own."""
    kind, _, name = identity.partition(":")
    for number in range(1, settings.IDENTITY_ITEMS_KEPT):
        numbered = "%s#%d:%s" % (kind, number, name) if number > 1 else identity
        id = project_id(numbered)
        if not os.path.isdir(os.path.join(store_root, id)):
            return "", numbered
        facts = _facts(store_root, id)
        target = facts.get("alias_of")
        if is_project_id(target) and os.path.isdir(os.path.join(store_root, str(target))):
            id, facts = str(target), _facts(store_root, str(target))
        if _fits(facts, kind, remote, repo):
            return id, numbered
    return "", numbered


def _fits(facts: dict[str, Any], kind: str, remote: str, repo: git.Repository | None) -> bool:
    """Whether the memory found under an identity is of what is there now."""
    if kind == "remote" and repo:  # a memory that lost its record knows every repository of its remote
        is_known = bool(facts["paths"] or facts["commits"])
        return not is_known or repo.root in facts["paths"] or git.has_any(repo, facts["commits"])
    if remote and (not facts["identities"] or any(other.lower() != remote.lower() for other in facts["remotes"])):
        return False
    if repo is None:
        return not facts["remotes"]
    if kind == "dir":
        return not {*facts["originals"]}.isdisjoint(_stamps(repo.root))  # the directory has become the repository
    # A backup brings the seal back with another inode.
    both = (_originals(repo.root, repo), facts["originals"])
    seal, seals = ({item.rsplit(":", 2)[0] for item in each if item.startswith(_SEAL_FILE + ":")} for each in both)
    is_proven = bool(facts["remotes"] and not remote)
    return not seal.isdisjoint(seals) or not (is_proven or (seal and seals))


def adopt(store_root: str, project: Project, now_iso: str) -> None:
    """Let a folder join the memory of its remote, which it could not prove to be of."""
    name = "remote:" + project.remote
    target = _facts(store_root, project_id(name)).get("alias_of") or project_id(name)
    project.id, project.dir, project.identity = str(target), os.path.join(store_root, str(target)), name
    record(project, now_iso)


def _originals(root: str, repo: git.Repository | None) -> list[str]:
    directory = repo.common_dir if repo else root
    is_sealed = repo is not None and os.path.lexists(os.path.join(directory, _SEAL_FILE))
    return _stamps(directory, [_SEAL_FILE]) if is_sealed else _stamps(directory)[:4]


def _stamps(directory: str, names: list[str] | None = None) -> list[str]:
    """Of the files with these names, or of all in the directory; the oldest first."""
    stamps = []
    try:
        for name in names or os.listdir(directory)[:_SCANNED]:
            info = os.lstat(os.path.join(directory, name))
            is_plain = stat.S_ISREG(info.st_mode) and info.st_nlink == 1  # else it may be in two places
            if is_plain and info.st_mtime_ns % 1_000_000:
                facts = (name, info.st_size, info.st_mtime_ns, info.st_ino, info.st_ctime_ns)
                stamps.append((info.st_mtime_ns, "%s:%d:%d:%d:%d" % facts))
    except (OSError, ValueError):
        pass
    return [original for _, original in sorted(stamps)]


def _memories(store_root: str) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((id, _facts(store_root, id)) for id in files.names(store_root)[:_SCANNED] if is_project_id(id))


def _facts(store_root: str, id: str) -> dict[str, Any]:
    """What project.json holds, with its lists; only empty ones when it is missing or damaged."""
    facts = files.load_json(os.path.join(store_root, id, settings.PROJECT_FILE), _SPEC) or {}
    return {**facts, **{key: facts.get(key) or [] for key in _LISTS}}


def _updated(facts: dict[str, Any], project: Project, now_iso: str) -> dict[str, Any]:
    new: dict[str, Any] = {"schema": settings.SCHEMA, "id": project.id, "name": project.name}
    own = {"identities": [project.identity], "remotes": [project.remote], "paths": [project.root]}
    own["commits"] = git.tips(project.repo) if project.repo else []
    for key in _LISTS:
        latest = [*filter(None, own.get(key, ()))]
        items = [item for item in facts.get(key) or [] if item not in latest]
        new[key] = [*items, *latest][-settings.IDENTITY_ITEMS_KEPT :]
    if not project.remote:
        new["originals"] = _originals(project.root, project.repo)
    new.update(created=facts.get("created", now_iso), updated=facts.get("updated", now_iso))
    new.update({key: value for key, value in facts.items() if key not in new and key != "alias_of"})
    return new if new == facts else {**new, "updated": now_iso}
