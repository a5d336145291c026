"""A note: one topic as a Markdown file, `LEARNING/topics/<slug>.md`.

    ---
    name: Parser                       what it is about
    description: How errors are told   one line for the index
    type: project                      user | feedback | project | reference
    scope: project                     optional; where the file lies decides
    created: 2026-11-16                optional, as are all below
    verified: 2026-11-16               when somebody last saw that it is true
    session: a1b2c3d4                  who wrote it
    supersedes: [old-parser]           slugs it replaces; `user/editor` names one of another scope
    files: ["src/parser.py sha256:0f3a1b2c4d5e"]    what it is about, as it was when verified
    triggers: ["command: git push", "path: src/**"]
    ---
    - One fact a bullet, or a paragraph.

A file without frontmatter, or with half of it, is read all the same: what it lacks is derived, and
`problems` tells what is wrong with the rest.
"""

from __future__ import annotations

from ..base import clock, settings, yaml
from ..base.redact import redact
from ..base.text import brief, cut, one_line
from ..session.sessions import DEVICE_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FIELDS = (
    "name",
    "description",
    "type",
    "scope",
    "created",
    "verified",
    "session",
    "supersedes",
    "files",
    "triggers",
)
TRIGGERS = ("command", "path")

_FENCE = "---"
_LISTS = ("supersedes", "files", "triggers")
_DAYS = ("created", "verified")
_HASH = " sha256:"
_BULLETS = ("- ", "* ", "+ ")


class Fact:
    """One statement of a note: lines `first` to `last` (without) of its body."""

    __slots__ = ("first", "last", "text")

    def __init__(self, first: int, last: int, text: str) -> None:
        self.first = first
        self.last = last
        self.text = text


class Note:
    """`fields` is the frontmatter as far as it is right, `body` the lines below it."""

    __slots__ = (
        "body",
        "fields",
        "has_head",
        "head_lines",
        "is_damaged",
        "is_unreadable",
        "lacks",
        "path",
        "problems",
        "scope",
        "slug",
    )

    def __init__(self, slug: str, fields: dict[str, Any], body: list[str]) -> None:
        self.slug = slug
        self.fields = fields
        self.body = body
        self.scope = "project"
        self.path = ""
        self.has_head = True
        self.head_lines = 0
        self.is_unreadable = False  # its file is no plain one, too large, closed to us, or damaged
        self.is_damaged = False  # it is no text
        self.lacks: list[str] = []  # required fields that are guessed
        self.problems: list[tuple[int, str]] = []  # (line, what is wrong)

    @property
    def name(self) -> str:
        return str(self.fields.get("name") or "") or _heading(self.body) or self.slug

    @property
    def description(self) -> str:
        told = str(self.fields.get("description") or "")
        return told or cut(_first_statement(self.body), settings.NOTE_DESCRIPTION_CHARS)

    @property
    def type(self) -> str:
        return str(self.fields.get("type") or ("user" if self.scope == "user" else "project"))

    @property
    def day(self) -> str:
        """When it was last known to be true; "" when nobody said."""
        return max(str(self.fields.get(key) or "") for key in _DAYS)

    @property
    def ref(self) -> str:
        return "%s/%s" % (self.scope, self.slug)

    @property
    def supersedes(self) -> list[str]:
        return list(self.fields.get("supersedes") or ())

    @property
    def files(self) -> list[tuple[str, str]]:
        """(path, hash or "") of each file it is about."""
        return [file_and_hash(item) for item in self.fields.get("files") or ()]

    @property
    def facts(self) -> list[Fact]:
        return facts(self.body)


def parse(slug: str, text: str) -> Note:
    """Never fails: `problems` tells what could not be read."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
    end = _head_end(lines)
    if not end:
        note = Note(slug, {}, lines)
        note.has_head = False
        if lines[0].rstrip() == _FENCE:
            note.problems.append((1, "its frontmatter has no end"))
        return note
    note = Note(slug, {}, _trimmed(lines[end:]))
    note.head_lines = end + _blank_lines(lines[end:])
    try:
        note.fields = dict(yaml.load("\n".join(lines[1 : end - 1])))
    except yaml.YamlError as error:
        note.problems.append((error.line + 1, "its frontmatter is no YAML of ours: %s" % error.message))
    except ValueError as error:
        note.problems.append((1, "its frontmatter is no YAML of ours: %s" % error))
    else:
        note.problems += _wrong_fields(note, lines[:end])
    return note


def render(note: Note) -> str:
    """The file: known fields in their order, then others, then the body."""
    known = [key for key in FIELDS if note.fields.get(key) not in (None, "", [])]
    other = [key for key in note.fields if key not in FIELDS]
    head = yaml.dump((key, note.fields[key]) for key in (*known, *other))
    body = "\n".join(_trimmed(note.body))
    return "%s\n%s%s\n\n%s\n" % (_FENCE, head, _FENCE, body) if body else "%s\n%s%s\n" % (_FENCE, head, _FENCE)


def new(name: str, *, type: str, day: str, description: str = "", session: str = "") -> Note:
    fields: dict[str, Any] = {
        "name": brief(name, settings.NOTE_NAME_CHARS),
        "description": brief(description, settings.NOTE_DESCRIPTION_CHARS),
        "type": type,
        "created": day,
        "verified": day,
        "session": session,
    }
    from .similar import unmarked

    clean = redact(name)
    slug = slug_of(unmarked(clean)) or slug_of(clean)
    return Note(slug, {key: value for key, value in fields.items() if value}, [])


def slug_of(name: str) -> str:
    """The file's name for a topic."""
    slug = dashed(name)
    return slug + "-note" if slug in DEVICE_NAMES else slug


def dashed(name: str) -> str:
    """Letters and digits of any script, and dashes."""
    words = "".join([char if char.isalnum() else " " for char in name.lower()]).split()
    slug = "-".join(words)
    while len(slug.encode("utf-8", "replace")) > settings.NOTE_NAME_CHARS:
        slug = slug[:-1]
    return slug.strip("-")


def is_slug(text: str) -> bool:
    return bool(text) and slug_of(text) == text


def file_and_hash(item: str) -> tuple[str, str]:
    path, mark, code = item.rpartition(_HASH)
    return (path, code) if mark else (item, "")


def file_item(path: str, code: str) -> str:
    return path + _HASH + code if code else path


# Facts -------------------------------------------------------------------------------------------


def facts(body: list[str]) -> list[Fact]:
    """Bullets with the lines that belong to them, and paragraphs; no headings, no code."""
    found: list[Fact] = []
    first, words = -1, ""
    is_code = False
    for number, line in enumerate([*body, ""]):
        stripped = line.strip()
        if stripped[:3] in ("```", "~~~"):
            is_code = not is_code
            stripped = ""
        bullet = _bullet(stripped) if not is_code else 0
        is_break = not stripped or is_code or _is_heading(stripped)
        if first >= 0 and (is_break or bullet):
            found.append(Fact(first, number, one_line(words)))
            first = -1
        if is_break:
            continue
        if first < 0:
            first, words = number, stripped[bullet:]
        else:
            words += " " + stripped
    return [fact for fact in found if fact.text]


def without(body: list[str], dropped: list[Fact]) -> list[str]:
    """The body without some of its facts, and without headings that are left with nothing below."""
    gone = {number for fact in dropped for number in range(fact.first, fact.last)}
    kept = [line for number, line in enumerate(body) if number not in gone]
    return _trimmed(_without_bare_headings(kept) if gone else kept)


def add_fact(note: Note, text: str) -> None:
    body = _trimmed(note.body)
    is_listed = bool(body) and (_bullet(body[-1].strip()) > 0 or body[-1].startswith("  "))
    note.body = [*body, *([""] if body and not is_listed else []), "- " + one_line(text)]


# Reading -----------------------------------------------------------------------------------------


def _head_end(lines: list[str]) -> int:
    """The line after the frontmatter; 0 when there is none."""
    if lines[0].rstrip() != _FENCE:
        return 0
    return next((at + 1 for at in range(1, len(lines)) if lines[at].rstrip() == _FENCE), 0)


def _wrong_fields(note: Note, head: list[str]) -> list[tuple[int, str]]:
    """What is wrong with the frontmatter; wrong values are left out of `fields`."""
    fields, wrong = note.fields, []

    def at(key: str) -> int:
        return next((number for number, line in enumerate(head, 1) if line.startswith(key + ":")), 1)

    for key in ("name", "description", "type"):
        value = fields.get(key)
        if value is None or value == "":
            note.lacks.append(key)
            fields.pop(key, None)
        elif not isinstance(value, str) or not value.strip():
            wrong.append((at(key), "%s is no text" % key))
            fields.pop(key)
    if fields.get("type") not in (None, *settings.NOTE_TYPES):
        what = "type is %r, none of %s" % (fields.pop("type")[:40], ", ".join(settings.NOTE_TYPES))
        wrong.append((at("type"), what))
    for key in _DAYS:
        if fields.get(key) is not None and not is_day(fields[key]):
            wrong.append((at(key), "%s is no date like 2026-11-16" % key))
            fields.pop(key)
    for key in _LISTS:
        value = fields.get(key)
        if isinstance(value, str):
            fields[key] = [value] if value else []
        elif value is not None and not isinstance(value, list):
            wrong.append((at(key), "%s is no list" % key))
            fields.pop(key)
    for item in fields.get("triggers") or ():
        if item.partition(":")[0] not in TRIGGERS or not item.partition(":")[2].strip():
            wrong.append((at("triggers"), 'trigger %r is neither "command: …" nor "path: …"' % item[:60]))
    return wrong


def is_day(value: object) -> bool:
    return isinstance(value, str) and clock.is_day(value) and "01" <= value[5:7] <= "12" and "01" <= value[8:] <= "31"


def _heading(body: list[str]) -> str:
    first = next((line for line in body if line.strip()), "")
    return one_line(first.lstrip("# ")) if _is_heading(first) else ""


def _first_statement(body: list[str]) -> str:
    found = facts(body)
    return found[0].text if found else ""


def _is_heading(line: str) -> bool:
    return line[:1] == "#" and line.lstrip("#")[:1] in ("", " ")


def _bullet(stripped: str) -> int:
    """How long the mark of a bullet is; 0 when the line is none."""
    if stripped.startswith(_BULLETS):
        return 2
    digits = len(stripped) - len(stripped.lstrip("0123456789"))
    return digits + 2 if 0 < digits < 4 and stripped[digits : digits + 2] in (". ", ") ") else 0


def _blank_lines(lines: list[str]) -> int:
    return next((number for number, line in enumerate(lines) if line.strip()), 0)


def _trimmed(lines: list[str]) -> list[str]:
    first = _blank_lines(lines)
    last = len(lines)
    while last > first and not lines[last - 1].strip():
        last -= 1
    return lines[first:last] if any(line.strip() for line in lines) else []


def _without_bare_headings(body: list[str]) -> list[str]:
    """Innermost last: a heading goes when nothing but blank lines and lower headings' remains follow."""
    kept: list[str] = []
    for line in reversed(body):
        below = next((each for each in reversed(kept) if each.strip()), "")
        level = len(line) - len(line.lstrip("#"))
        is_bare = not below or (_is_heading(below) and len(below) - len(below.lstrip("#")) <= level)
        if _is_heading(line) and is_bare and level > 1:
            continue
        if line.strip() or (kept and kept[-1].strip()):
            kept.append(line)
    return list(reversed(kept))
