"""A note: one topic as a Markdown file, `LEARNING/topics/<slug>.md`.

    ---
    name: Parser                       what it is about
    description: How errors read       one line for the index
    type: project                      user | feedback | project | reference
    scope: project                     optional, as are all below; the folder decides
    created: 2026-11-16
    verified: 2026-11-16               when the note was last checked
    session: a1b2c3d4                  the session that wrote it
    supersedes: [old-parser]           slugs it replaces; `user/editor` names a note of another scope
    files: ["src/parser.py sha256:0f3a1b2c4d5e"]    the files it is about, as they were when verified
    triggers: ["command: git push", "path: src/**"]
    ---
    - One fact a bullet, or a paragraph.

Frontmatter may be missing or incomplete: missing fields are derived, `problems` names invalid ones.
"""

from __future__ import annotations

import os

from ..base import settings, shape, yaml
from ..base.redact import redact
from ..base.text import brief, cut, one_line
from ..session.sessions import DEVICE_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FENCE = "---"
_HASH = " sha256:"
_SPEC: dict[str, Any] = {
    "name": "text",
    "description": "text",
    "type": {*settings.NOTE_TYPES},
    "scope": "text",
    "created": "day",
    "verified": "day",
    "session": "text",
    "supersedes": ["text"],
    "files": ["text"],
    "triggers": ["text"],
}


class Fact:
    """One statement of a note: lines `first` to `last` (exclusive) of its body."""

    __slots__ = ("first", "last", "text")

    def __init__(self, first: int, last: int, text: str) -> None:
        self.first = first
        self.last = last
        self.text = text


class Note:
    """`fields` holds the valid part of the frontmatter, `body` the lines below it."""

    __slots__ = ("body", "fate", "fields", "head_lines", "is_unreadable", "path", "problems", "scope", "slug")

    def __init__(self, slug: str, fields: dict[str, Any], body: list[str]) -> None:
        self.slug = slug
        self.fields = fields
        self.body = body
        self.scope = "project"
        self.path = ""
        self.fate = ""  # why it does not hold
        self.head_lines = 0
        self.is_unreadable = False
        self.problems: list[tuple[int, str]] = []  # (line, what is wrong)

    @property
    def name(self) -> str:
        first = next((line for line in self.body if line.strip()), "")
        heading = one_line(first.lstrip("# ")) if _is_heading(first) else ""
        return str(self.fields.get("name") or heading or self.slug)

    @property
    def description(self) -> str:
        about = self.fields.get("description")
        return (
            str(about) if about else cut("".join(fact.text for fact in self.facts[:1]), settings.NOTE_DESCRIPTION_CHARS)
        )

    @property
    def type(self) -> str:
        return str(self.fields.get("type") or ("user" if self.scope == "user" else "project"))

    @property
    def day(self) -> str:
        """The last day the note was known to be true, or ""."""
        return max(str(self.fields.get(key) or "") for key in ("created", "verified"))

    @property
    def ref(self) -> str:
        return "%s/%s" % (self.scope, self.slug)

    @property
    def supersedes(self) -> list[str]:
        return list(self.fields.get("supersedes") or ())

    @property
    def files(self) -> list[str]:
        return [item.partition(_HASH)[0] for item in self.fields.get("files") or ()]

    @property
    def triggers(self) -> list[tuple[str, str]]:
        """(kind, pattern) of each trigger."""
        items = [item.partition(":") for item in self.fields.get("triggers") or () if is_trigger(item)]
        return [(kind, pattern.strip()) for kind, _, pattern in items]

    @property
    def facts(self) -> list[Fact]:
        """Bullets with the lines that belong to them, and paragraphs; headings and code are not facts."""
        facts: list[Fact] = []
        first, words, is_code = -1, "", False
        for number, line in enumerate([*self.body, ""]):
            stripped = line.strip()
            if is_fence(line):
                is_code = not is_code
                stripped = ""
            bullet = bullet_width(stripped) if not is_code else 0
            is_break = not stripped or is_code or _is_heading(stripped)
            if first >= 0 and (is_break or bullet):
                facts.append(Fact(first, number, one_line(words)))
                first = -1
            if not is_break:
                words = stripped[bullet:] if first < 0 else words + " " + stripped
                first = number if first < 0 else first
        return [fact for fact in facts if fact.text]

    def add(self, text: str) -> None:
        body = _trimmed(self.body)
        is_list = bool(body) and (bullet_width(body[-1].strip()) > 0 or body[-1].startswith("  "))
        self.body = [*body, *([""] if body and not is_list else []), "- " + one_line(text)]

    def drop(self, facts: list[Fact]) -> None:
        gone = {number for fact in facts for number in range(fact.first, fact.last)}
        self.body = _trimmed([line for number, line in enumerate(self.body) if number not in gone])

    def stale_files(self, root: str) -> list[str]:
        """The files it is about that are missing or have changed since it was verified."""
        stale = []
        for path, item in zip(self.files, self.fields.get("files") or ()):
            is_changed = item != path and stamped(path, root) not in (path, item)
            if is_changed or not os.path.lexists(os.path.join(root, path)):
                stale.append(path)
        return stale


def parse(slug: str, text: str) -> Note:
    """Never fails: `problems` names what could not be read."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
    note = Note(slug, {}, lines)
    if lines[0].rstrip() != _FENCE:
        return note
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() == _FENCE), 0)
    if not end:
        note.problems.append((1, "its frontmatter has no end"))
        return note
    note.body = _trimmed(lines[end + 1 :])
    note.head_lines = next((at for at in range(end + 1, len(lines)) if lines[at].strip()), end + 1)
    try:
        fields = note.fields = dict(yaml.load("\n".join(lines[1:end])))
    except ValueError as error:
        line = error.line + 1 if isinstance(error, yaml.YamlError) else 1
        note.problems.append((line, "its frontmatter is invalid: %s" % getattr(error, "message", error)))
        return note
    rows = [row.partition(":")[0] for row in lines[:end]]
    for key, kind in _SPEC.items():
        value = fields.get(key)
        wrong = []
        if value in (None, ""):
            fields.pop(key, None)
        elif kind == ["text"] and isinstance(value, str):
            fields[key] = [value]
        elif shape.problem(value, kind):
            wrong.append(shape.problem(value, kind, key))
            del fields[key]
        if key == "triggers":
            bad = [item[:60] for item in fields.get(key) or () if not is_trigger(item)]
            wrong += ['trigger %r is neither "command: …" nor "path: …"' % item for item in bad]
        note.problems += [(rows.index(key) + 1 if key in rows else 1, what) for what in wrong]
    return note


def render(note: Note) -> str:
    """The file: our fields in their order, then others, then the body."""
    names = [key for key in _SPEC if note.fields.get(key) not in (None, "", [])]
    others = [key for key in note.fields if key not in _SPEC]
    head = yaml.dump((key, note.fields[key]) for key in (*names, *others))
    body = "".join(line + "\n" for line in _trimmed(note.body))
    return "%s\n%s%s\n%s" % (_FENCE, head, _FENCE, "\n" + body if body else "")


def new(name: str, *, type: str, day: str, session: str = "") -> Note:
    name = redact(name)
    fields = {"type": type, "created": day, "verified": day, "session": session}
    return Note(slug_of(name), {**fields, "name": brief(name, settings.NOTE_NAME_CHARS)}, [])


def slug_of(name: str) -> str:
    """The file name of a topic, valid on every system."""
    slug = "-".join("".join([char if char.isalnum() else " " for char in name.lower()]).split())
    slug = slug.encode("utf-8", "replace")[: settings.NOTE_NAME_CHARS].decode("utf-8", "ignore").strip("-")
    return slug + "-note" if slug in DEVICE_NAMES else slug


def is_trigger(text: str) -> bool:
    kind, _, pattern = text.partition(":")
    return kind in ("command", "path") and bool(pattern.strip())


def stamped(path: str, root: str) -> str:
    """An item for a note's `files`: the path with the hash of its present content, if it can be read."""
    import hashlib

    try:
        with open(os.path.join(root, path), "rb") as file:
            code = hashlib.sha256(file.read(settings.NOTE_FILE_MAX_BYTES)).hexdigest()
    except OSError:
        return path
    return path + _HASH + code[: settings.NOTE_HASH_CHARS]


def bullet_width(stripped: str) -> int:
    """Characters of a bullet or number that opens a line; 0 without one."""
    if stripped.startswith(("- ", "* ", "+ ")):
        return 2
    digits = len(stripped) - len(stripped.lstrip("0123456789"))
    return digits + 2 if 0 < digits < 4 and stripped[digits : digits + 2] in (". ", ") ") else 0


def is_fence(line: str) -> bool:
    """Whether a line begins or ends a listing."""
    return line.strip()[:3] in ("```", "~~~")


def _is_heading(line: str) -> bool:
    return line[:1] == "#" and line.lstrip("#")[:1] in ("", " ")


def _trimmed(lines: list[str]) -> list[str]:
    """Without blank lines at both ends."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []
