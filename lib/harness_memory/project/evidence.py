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

from . import git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Facts = dict[str, Any]

_SEAL_FILE = "description"  # `git init` makes it, nothing touches it afterwards
_WEAK_NANOSECONDS = 1_000_000
_WITNESSES = 4
_ENTRIES_SCANNED = 2000


def is_same_repository(facts: Facts, repo: git.Repository, *, is_proven: bool = False) -> bool:
    """Whether the seal on record is that of the repository; with no seal on either side, unless it must be proven."""
    seal = [item for item in collect(repo.root, repo)[0] if item.startswith(_SEAL_FILE + ":")]
    seals = [item for item in facts["witness"] if item.startswith(_SEAL_FILE + ":")]
    return not {*seal}.isdisjoint(seals) or not (is_proven or (seal and seals))


def is_same_directory(facts: Facts, repo: git.Repository) -> bool:
    """Whether the directory of this memory has become the repository, rather than been replaced by it."""
    if not facts.get("inode") or facts["inode"] != os.stat(repo.root).st_ino:
        return False
    # The inode of a deleted directory is soon given out again, so it does not suffice.
    if not facts["witness"]:
        return not git.is_clone(repo)
    return not {*facts["witness"]}.isdisjoint(_witness(_originals(repo.root)))


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
    if repo is not None and repo.is_borrowed:
        return [], []
    directory = repo.common_dir if repo else root
    is_sealed = repo is not None and os.path.lexists(os.path.join(directory, _SEAL_FILE))
    originals = _originals(directory, [_SEAL_FILE]) if is_sealed else _originals(directory)[:_WITNESSES]
    return _witness(originals), originals


def _witness(originals: list[str]) -> list[str]:
    return [original.rsplit(":", 2)[0] for original in originals]


def _originals(directory: str, names: list[str] | None = None) -> list[str]:
    """Of the files with these names, or of all in the directory; the oldest first."""
    stamps = []
    try:
        for name in names or os.listdir(directory)[:_ENTRIES_SCANNED]:
            info = os.lstat(os.path.join(directory, name))
            if stat.S_ISREG(info.st_mode) and info.st_mtime_ns % _WEAK_NANOSECONDS:
                facts = (name, info.st_size, info.st_mtime_ns, info.st_ino, info.st_ctime_ns)
                stamps.append((info.st_mtime_ns, "%s:%d:%d:%d:%d" % facts))
    except (OSError, ValueError):
        pass
    return [original for _, original in sorted(stamps)]
