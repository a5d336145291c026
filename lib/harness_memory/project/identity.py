"""Which memory a directory belongs to.

A project is named by the first of these identities that it has; its id is `<slug>-<12 hex of the identity's SHA-256>`:

    remote:<normalised URL of origin>     shared by every clone and work tree
    git:<real path of the common dir>     shared by every work tree
    dir:<real path of the directory>

It keeps the memory of an earlier identity (a remote was added, `git init` was run, the directory was moved), but only
on `evidence`, because a path may by now hold something else. A memory found by its path is refused, and the identity
counted on (`git#2:/p`), when it records another remote than the present one, or when the evidence speaks against it.

`project.json`:

    schema      1
    id, name    the directory's own name, and the slug
    identities  every identity it has had, newest last
    remotes     every normalised remote, newest last
    paths       work tree tops (or directories) it was seen at, newest last
    witness     of the last of them, while it has no remote; see `evidence`
    originals   of the same files
    inode       of a plain directory
    created, updated
    alias_of    alone with schema, id and created: the memory is in the project of that id
"""

from __future__ import annotations

import os

from ..base import files, settings
from ..base.text import hexdigest
from . import Project, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Facts = dict[str, Any]

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_HEX = frozenset("0123456789abcdef")
_LISTS = ("identities", "remotes", "paths", "witness", "originals")
_SPEC = {key + "?": ["text"] for key in _LISTS}
_PROJECTS_SCANNED = 2000  # for a moved project


def locate(store_root: str, launch_dir: str, cwd: str) -> Project:
    """The project of a session that was launched in `launch_dir` and is in `cwd` now. Writes nothing."""
    paths = [path for path in (launch_dir, cwd) if path and os.path.isabs(path) and os.path.isdir(path)]
    path = paths[0] if paths else os.path.join(os.path.abspath(os.sep), cwd or launch_dir)
    try:
        root = os.path.realpath(path)
    except (OSError, ValueError):  # NUL in a path
        root = os.path.normpath(path)
    repo = git.find(root)
    remote = ""
    candidates = []
    if repo:
        root = repo.root
        url = git.origin_url(repo)
        if url:
            from .remote import normalize

            remote = normalize(url, root)
        candidates = ["remote:" + remote] if remote else []
        candidates.append("git:" + os.path.normcase(repo.common_dir))
    identity = ""
    for candidate in (*candidates, "dir:" + os.path.normcase(root)):
        memory, own = _remembered(store_root, candidate, remote, repo)
        identity = identity or own
        if memory:
            break
    if not memory:  # perhaps it was moved here: the latest memory of these very files, gone from where they were
        from . import evidence

        originals = evidence.collect(root, repo)[1]
        memories = _memories(store_root) if originals else ()
        moved = [(str(facts.get("updated")), id) for id, facts in memories if evidence.is_moved(facts, originals)]
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


def last_seen(project_dir: str) -> tuple[str, str]:
    """(work tree, remote) that a memory was last used in; "" for what it never had."""
    facts = _facts(*os.path.split(project_dir))
    return ["", *facts["paths"]][-1], ["", *facts["remotes"]][-1]


def project_id(identity: str) -> str:
    return _slug(identity) + "-" + hexdigest(identity)[: settings.ID_HASH_CHARS]


def is_project_id(value: object) -> bool:
    if not isinstance(value, str) or len(value) > settings.SLUG_CHARS + 1 + settings.ID_HASH_CHARS:
        return False
    name, _, code = value.rpartition("-")
    is_name = bool(name) and (_LETTERS | {"-"}).issuperset(name)
    return is_name and len(code) == settings.ID_HASH_CHARS and _HEX.issuperset(code)


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
        if kind == "remote" or _fits(facts, kind, remote, repo):
            return id, numbered
    return "", numbered


def _fits(facts: Facts, kind: str, remote: str, repo: git.Repository | None) -> bool:
    """Whether the memory found under a path is of what is there now."""
    if remote and (not facts["identities"] or any(other != remote for other in facts["remotes"])):
        return False
    if repo is None:
        return not facts["remotes"]
    from . import evidence

    if kind == "dir":
        return evidence.is_same_directory(facts, repo)
    return evidence.is_same_repository(facts, repo, is_proven=bool(facts["remotes"] and not remote))


def _memories(store_root: str) -> Iterator[tuple[str, Facts]]:
    ids = [name for name in files.names(store_root) if is_project_id(name)]
    return ((id, _facts(store_root, id)) for id in ids[:_PROJECTS_SCANNED])


def _facts(store_root: str, id: str) -> Facts:
    """What project.json holds, with its lists; only empty ones when it is missing or damaged."""
    facts = files.load_json(os.path.join(store_root, id, settings.PROJECT_FILE), _SPEC) or {}
    return {**facts, **{key: facts.get(key) or [] for key in _LISTS}}


def _updated(facts: Facts, project: Project, now_iso: str) -> Facts:
    new: Facts = {"schema": settings.SCHEMA, "id": project.id, "name": project.name}
    own = {"identities": project.identity, "remotes": project.remote, "paths": project.root}
    for key in _LISTS:
        items = [item for item in facts.get(key) or [] if item != own.get(key)]
        new[key] = [*items, *filter(None, [own.get(key)])][-settings.IDENTITY_ITEMS_KEPT :]
    if not project.remote:
        from . import evidence

        new["witness"], new["originals"] = evidence.collect(project.root, project.repo)
    if not project.repo:
        new["inode"] = os.stat(project.root).st_ino if os.path.isdir(project.root) else 0
    new.update(created=facts.get("created", now_iso), updated=facts.get("updated", now_iso))
    new.update({key: value for key, value in facts.items() if key not in new and key not in ("alias_of", "inode")})
    return new if new == facts else {**new, "updated": now_iso}
