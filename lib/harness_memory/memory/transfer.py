"""Memory that comes from elsewhere, or goes there, without git.

An export is a compressed tar file of what `sync` would send. Taking one over merges by the same rules (see `merge`), as
if both had begun with nothing.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from functools import partial
from typing import IO

from ..base import files, jsontext, settings
from . import archive, merge, sync


def contents(root: str, homes: Iterable[str]) -> dict[str, bytes]:
    """All that `sync` would send of these homes, by path."""
    tops = [top for home in homes for top in (home, os.path.join(settings.ARCHIVE_DIR, home))]
    listed = [file for top in tops for file in archive.walk(os.path.join(root, top))]
    paths = [os.path.relpath(file, root).replace(os.sep, "/") for file in listed]
    wanted = [*filter(merge.rule_of, paths), settings.VERSIONS_FILE]
    read = partial(files.read, limit=settings.ARCHIVE_MAX_BYTES)
    return {path: merge.shared(path, read(os.path.join(root, path)) or b"") for path in wanted}


def export(root: str, homes: list[str], out: IO[bytes], now: float) -> int:
    """Write the memory of these homes; the number of files."""
    sync.prepare(root, now)
    found = contents(root, homes)
    table = jsontext.loads(found[settings.VERSIONS_FILE])["files"]
    table = {path: row for path, row in table.items() if not row[1] or merge.home(path) in homes}
    found[settings.VERSIONS_FILE] = merge.encode_versions(table)
    archive.pack(out, sorted(found.items()), now)
    return len(found) - 1


def load(path: str) -> dict[str, bytes]:
    """What an export holds, as far as it belongs in a store; Unreadable when it is none."""
    with open(path, "rb") as raw:
        found = dict(archive.unpack(raw, path, merge.rule_of))
    if settings.VERSIONS_FILE not in found:
        raise files.Unreadable(errno.EINVAL, "is not an export of a memory", path)
    return found


def moved(found: dict[str, bytes], source: str, target: str) -> dict[str, bytes]:
    """The export of one project as that of another, which is the same at another path."""
    result = {path.replace(source, target, 1): data for path, data in found.items()}
    result.pop("%s/%s" % (target, settings.PROJECT_FILE), None)
    result[settings.VERSIONS_FILE] = result[settings.VERSIONS_FILE].replace(source.encode(), target.encode())
    return result


def take(root: str, found: dict[str, bytes], now: float) -> list[str]:
    """Merge an export into the store; the paths that changed."""
    sync.prepare(root, now)
    own = contents(root, sorted({merge.home(path) for path in found if "/" in path}))
    everything = {merge.blob_id(data): data for data in (*own.values(), *found.values())}
    ours, theirs = ({path: merge.blob_id(data) for path, data in side.items()} for side in (own, found))
    merged = merge.Merged({}, ours, theirs, everything.__getitem__)
    sync.apply(root, merged, now)
    return [path for path in merged.changes if path != settings.VERSIONS_FILE]
