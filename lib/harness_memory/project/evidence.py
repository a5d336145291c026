"""Evidence that a directory still holds, or has become, the project of a memory.

The *witness* is `name:size:mtime_ns` of files that work does not touch: `description` in a git directory, or else the
oldest files. Whole-millisecond times come from archives and prove nothing. A copy may have the same witness, so a
moved project is one whose *originals* match a memory without remote that is no longer at any path it was seen at: the
witness with `:inode:ctime_ns`, which moving keeps and copying cannot. A move to another file system is a copy, a new
project.
"""

from __future__ import annotations

import os
import stat

from ..base import settings
from . import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Facts = dict[str, Any]

_SEAL_FILE = "description"  # `git init` makes it, nothing touches it afterwards
_WEAK_NANOSECONDS = 1_000_000


def is_same_repository(facts: Facts, repo: git.Repository, *, is_proven: bool = False) -> bool:
    """Whether the seal on record is that of the repository; with no seal on either side, unless it must be proven."""
    seal = _seal(repo)
    seals = [item for item in facts["witness"] if item.startswith(_SEAL_FILE + ":")]
    return seal in seals or not (is_proven or (seal and seals))


def is_same_directory(facts: Facts, repo: git.Repository) -> bool:
    """Whether the directory of this memory has become the repository, rather than been replaced by it."""
    if not facts.get("inode") or facts["inode"] != os.stat(repo.root).st_ino:
        return False
    # The inode of a deleted directory is soon given out again, so it does not suffice.
    if not facts["witness"]:
        return not git.is_clone(repo)
    present = _oldest(repo.root, settings.WITNESS_ENTRIES_SCANNED)
    return not set(facts["witness"]).isdisjoint(stamp for stamp, _ in present)


def is_moved(facts: Facts, originals: list[str]) -> bool:
    """Whether these files are those of a project that is gone from everywhere it was seen."""
    is_here = len(set(originals).intersection(facts["originals"])) * 2 > len(facts["originals"])
    if not is_here or not facts["paths"] or facts["remotes"]:
        return False
    is_git = "".join(facts["identities"][-1:]).startswith("git")
    for path in facts["paths"]:
        if os.path.isdir(path):
            repo = git.find(path) if is_git else None
            if not is_git or (repo is not None and repo.root == path and is_same_repository(facts, repo)):
                return False
    return True


def collect(root: str, repo: git.Repository | None) -> tuple[list[str], list[str]]:
    """The witness, and the originals, of what is here."""
    if repo is None or not os.path.lexists(os.path.join(repo.common_dir, _SEAL_FILE)):
        stamps = _oldest(repo.common_dir if repo else root, settings.WITNESS_FILES)
    else:
        stamps = [(_seal(repo), os.path.join(repo.common_dir, _SEAL_FILE))]
    stamps = [each for each in stamps if each[0] and not (repo and repo.is_borrowed)]
    originals = []
    for stamp, path in stamps:
        try:
            info = os.lstat(path)  # on Windows a directory's entries lack the inode
        except OSError:
            continue
        originals.append("%s:%d:%d" % (stamp, info.st_ino, info.st_ctime_ns))
    return [stamp for stamp, _ in stamps], originals


def _seal(repo: git.Repository) -> str:
    try:
        info = os.lstat(os.path.join(repo.common_dir, _SEAL_FILE))
    except OSError:
        return ""
    return "" if repo.is_borrowed else _stamp(_SEAL_FILE, info)


def _oldest(directory: str, count: int) -> list[tuple[str, str]]:
    """Stamps and paths of the oldest files in a directory."""
    stamps = []
    try:
        with os.scandir(directory) as entries:
            for entry, _ in zip(entries, range(settings.WITNESS_ENTRIES_SCANNED)):
                info = entry.stat(follow_symlinks=False)
                stamps.append((info.st_mtime_ns, _stamp(entry.name, info), entry.path))
    except (OSError, ValueError):
        pass
    return [(stamp, path) for _, stamp, path in sorted(stamps) if stamp][:count]


def _stamp(name: str, info: os.stat_result) -> str:
    if not stat.S_ISREG(info.st_mode) or info.st_mtime_ns % _WEAK_NANOSECONDS == 0:
        return ""
    return "%s:%d:%d" % (name, info.st_size, info.st_mtime_ns)
