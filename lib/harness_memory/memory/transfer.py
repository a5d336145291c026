"""A memory as one file, for those without git: a compressed tar file of what `sync` would send.

Taking one over merges by the same rules (see `merge`), as if both had begun with nothing.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import tarfile
import zlib
from collections.abc import Iterable
from typing import IO

from ..base import files, jsontext, settings
from . import merge, sync


def contents(root: str, homes: Iterable[str]) -> dict[str, bytes]:
    """All that `sync` would send of these homes, by path."""
    found: dict[str, bytes] = {}
    for top in [top for home in homes for top in (home, "%s/%s" % (settings.ARCHIVE_DIR, home))]:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
                if merge.rule_of(path):
                    data = files.read(os.path.join(folder, name), settings.ARCHIVE_MAX_BYTES)
                    found[path] = merge.shared(path, data or b"")
    return {**found, settings.VERSIONS_FILE: files.read(os.path.join(root, settings.VERSIONS_FILE)) or b""}


def export(root: str, homes: list[str], out: IO[bytes], now: float) -> int:
    """Write the memory of these homes; the number of files."""
    sync.prepare(root, now)
    found = contents(root, homes)
    versions = jsontext.loads(found[settings.VERSIONS_FILE])
    versions["files"] = {path: item for path, item in versions["files"].items() if merge.home(path) in homes}
    found[settings.VERSIONS_FILE] = jsontext.pretty(versions).encode("utf-8", "backslashreplace")
    with tarfile.open(fileobj=out, mode="w:gz") as packed:
        for path, data in sorted(found.items()):
            info = tarfile.TarInfo(path)
            info.size, info.mode, info.mtime = len(data), settings.FILE_MODE, int(now)
            packed.addfile(info, io.BytesIO(data))
    return len(found) - 1


def load(path: str) -> dict[str, bytes]:
    """What an export holds, as far as it belongs in a store; Unreadable when it is none."""
    found = {}
    try:
        with open(path, "rb") as raw, gzip.GzipFile(fileobj=raw) as packed, tarfile.open(
            fileobj=packed, mode="r:"
        ) as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isreg() and merge.rule_of(member.name) else None
                if content and member.size <= settings.ARCHIVE_MAX_BYTES:
                    found[member.name] = content.read()
            while packed.read(1 << 20):
                pass  # only the checksum at the end shows damage
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise files.Unreadable(errno.EINVAL, "is not an export, or is damaged (%s)" % error, path) from None
    if settings.VERSIONS_FILE not in found:
        raise files.Unreadable(errno.EINVAL, "is not an export of a memory", path)
    return found


def moved(found: dict[str, bytes], source: str, target: str) -> dict[str, bytes]:
    """The export of one project as that of another, which is the same at another path."""
    versions = jsontext.loads(found[settings.VERSIONS_FILE])
    versions["files"] = {path.replace(source, target, 1): item for path, item in versions["files"].items()}
    result = {path.replace(source, target, 1): data for path, data in found.items()}
    result.pop("%s/%s" % (target, settings.PROJECT_FILE), None)
    return {**result, settings.VERSIONS_FILE: jsontext.pretty(versions).encode("utf-8", "backslashreplace")}


def take(root: str, found: dict[str, bytes], now: float) -> list[str]:
    """Merge an export into the store; the paths that changed."""
    sync.prepare(root, now)
    own = contents(root, sorted({merge.home(path) for path in found if "/" in path}))
    everything = {merge.blob_id(data): data for data in (*own.values(), *found.values())}
    ours, theirs = ({path: merge.blob_id(data) for path, data in side.items()} for side in (own, found))
    merged = merge.Merged({}, ours, theirs, everything.__getitem__)
    sync.apply(root, merged, now)
    return [path for path in merged.changes if path != settings.VERSIONS_FILE]
