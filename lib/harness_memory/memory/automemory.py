"""Claude Code's own notes, a folder of Markdown pages with MEMORY.md as its index, taken over as notes of ours."""

from __future__ import annotations

import os
import re

from ..base import clock, files, settings
from ..base.text import brief
from ..notes import note as notes
from ..notes.note import Note
from ..notes.shelf import Shelf

_LINK = re.compile(r"\]\([^)]+\.md\)")


def take(folder: str, shelf: Shelf, now: float) -> list[str]:
    """Notes of a folder of pages; the slugs of those that are new or say more than before."""
    changed = []
    for name in [name for name in files.names(folder) if name.endswith(".md")]:
        data = files.read(os.path.join(folder, name), settings.CURATED_MAX_BYTES) or b""
        page = notes.parse(notes.slug_of(name[: -len(".md")]), data.decode("utf-8", "replace"))
        if name == settings.NOTES_INDEX_FILE:  # what it says beside naming the other pages
            page = Note("auto-memory", {"name": "Auto memory"}, [row for row in page.body if not _LINK.search(row)])
        day = clock.iso(files.modified(os.path.join(folder, name)) or now)[:10]
        created = page.fields.get("created") or day
        page.fields.update(source="Claude Code auto memory", created=created, verified=day)
        former = shelf.note(page.slug)
        known = {fact.text for fact in former.facts} if former else set()
        new = [fact.text for fact in page.facts if fact.text not in known]
        if not new or not page.slug or (former and former.is_unreadable):
            continue
        note = former or page
        for text in new if former else ():
            note.add(text)
        note.fields.update(name=brief(note.name, settings.NOTE_NAME_CHARS), type=note.type)
        note.fields["description"] = brief(note.description, settings.NOTE_DESCRIPTION_CHARS)
        shelf.put(note, now)
        changed.append(note.slug)
    return changed
