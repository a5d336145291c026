"""Memory that comes from elsewhere, or goes there, without git.

An export is a compressed tar file of what `sync` would send. Taking one over merges by the same rules (see `merge`), as
if both had begun with nothing. Claude Code's auto memory, a folder of Markdown pages with MEMORY.md as its index,
becomes notes that name their source.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from functools import partial
from typing import IO

from ..base import clock, files, jsontext, settings
from ..base.text import brief
from ..notes import note as notes
from ..notes.note import Note
from ..notes.shelf import Shelf
from . import archive, merge, sync

_LINK = re.compile(r"\]\([^)]+\.md\)")


def contents(root: str, homes: Iterable[str]) -> archive.Contents:
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


def load(path: str) -> archive.Contents:
    """What an export holds, as far as it belongs in a store; Unreadable when it is none."""
    with open(path, "rb") as raw:
        found = dict(archive.unpack(raw, path, merge.rule_of))
    if settings.VERSIONS_FILE not in found:
        raise files.Unreadable(errno.EINVAL, "is not an export of a memory", path)
    return found


def moved(found: archive.Contents, source: str, target: str) -> archive.Contents:
    """The export of one project as that of another, which is the same at another path."""
    result = {path.replace(source, target, 1): data for path, data in found.items()}
    result.pop("%s/%s" % (target, settings.PROJECT_FILE), None)
    result[settings.VERSIONS_FILE] = result[settings.VERSIONS_FILE].replace(source.encode(), target.encode())
    return result


def take(root: str, found: archive.Contents, now: float) -> list[str]:
    """Merge an export into the store; the paths that changed."""
    sync.prepare(root, now)
    own = contents(root, sorted({merge.home(path) for path in found if "/" in path}))
    everything = {merge.blob_id(data): data for data in (*own.values(), *found.values())}
    ours, theirs = ({path: merge.blob_id(data) for path, data in side.items()} for side in (own, found))
    merged = merge.Merged({}, ours, theirs, everything.__getitem__)
    sync.apply(root, merged, now)
    return [path for path in merged.changes if path != settings.VERSIONS_FILE]


def take_pages(folder: str, shelf: Shelf, now: float) -> list[str]:
    """Notes of a folder of pages; the slugs of those that are new or say more than before."""
    changed = []
    for name in [name for name in files.names(folder) if name.endswith(".md")]:
        page = notes.parse(notes.slug_of(name[: -len(".md")]), files.read_text(os.path.join(folder, name)))
        if name == settings.NOTES_INDEX_FILE:  # what it says beside naming the other pages
            page = Note("auto-memory", {"name": "Auto memory"}, [row for row in page.body if not _LINK.search(row)])
        day = clock.iso(files.modified(os.path.join(folder, name)))[:10]
        created = page.fields.get("created") or day
        page.fields.update(source="Claude Code auto memory", created=created, verified=day)
        former = shelf.note(page.slug)
        known = {fact.text for fact in former.facts} if former else set()
        new = [fact.text for fact in page.facts if fact.text not in known]
        if not new or (former and former.is_unreadable):
            continue
        note = former or page
        for text in new if former else ():
            note.add(text)
        note.fields.update(name=brief(note.name, settings.NOTE_NAME_CHARS), type=note.type)
        note.fields["description"] = brief(note.description, settings.NOTE_DESCRIPTION_CHARS)
        shelf.put(note, now)
        changed.append(note.slug)
    return changed
