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

from ..base import settings, shape, yaml
from ..base.redact import redact
from ..base.text import brief, cut, one_line
from ..base.tokens import MARK
from ..session.sessions import DEVICE_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TRIGGERS = ("command", "path")
_REQUIRED = ("name", "description", "type")
_DAYS = ("created", "verified")
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
_FENCE = "---"
HASH = " sha256:"


class Fact:
    """One statement of a note: lines `first` to `last` (exclusive) of its body."""

    __slots__ = ("first", "last", "text")

    def __init__(self, first: int, last: int, text: str) -> None:
        self.first = first
        self.last = last
        self.text = text


class Note:
    """`fields` holds the valid part of the frontmatter, `body` the lines below it."""

    __slots__ = ("body", "fields", "has_head", "head_lines", "is_unreadable", "path", "problems", "scope", "slug")

    def __init__(self, slug: str, fields: dict[str, Any], body: list[str]) -> None:
        self.slug = slug
        self.fields = fields
        self.body = body
        self.scope = "project"
        self.path = ""
        self.has_head = True
        self.head_lines = 0
        self.is_unreadable = False
        self.problems: list[tuple[int, str]] = []  # (line, what is wrong)

    @property
    def name(self) -> str:
        first = next((line for line in self.body if line.strip()), "")
        heading = one_line(first.lstrip("# ")) if _is_heading(first) else ""
        return str(self.fields.get("name") or "") or heading or self.slug

    @property
    def description(self) -> str:
        first = next((fact.text for fact in self.facts), "") if not self.fields.get("description") else ""
        return str(self.fields.get("description") or cut(first, settings.NOTE_DESCRIPTION_CHARS))

    @property
    def type(self) -> str:
        return str(self.fields.get("type") or ("user" if self.scope == "user" else "project"))

    @property
    def lacks(self) -> list[str]:
        """Required fields that are derived."""
        return [key for key in _REQUIRED if not self.fields.get(key)]

    @property
    def day(self) -> str:
        """The last day the note was known to be true, or ""."""
        return max(str(self.fields.get(key) or "") for key in _DAYS)

    @property
    def ref(self) -> str:
        return "%s/%s" % (self.scope, self.slug)

    @property
    def supersedes(self) -> list[str]:
        return list(self.fields.get("supersedes") or ())

    @property
    def superseded_refs(self) -> list[str]:
        """A bare slug is of the note's own scope."""
        return [word if "/" in word else "%s/%s" % (self.scope, word) for word in self.supersedes]

    @property
    def files(self) -> list[tuple[str, str]]:
        """(path, hash or "") of each file it is about."""
        items = [item.rpartition(HASH) for item in self.fields.get("files") or ()]
        return [(path, code) if mark else (code, "") for path, mark, code in items]

    @property
    def triggers(self) -> list[tuple[str, str]]:
        """(kind, pattern) of each trigger."""
        items = [item.partition(":") for item in self.fields.get("triggers") or () if is_trigger(item)]
        return [(kind, pattern.strip()) for kind, _, pattern in items]

    @property
    def facts(self) -> list[Fact]:
        return facts(self.body)


def parse(slug: str, text: str) -> Note:
    """Never fails: `problems` names what could not be read."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
    is_fenced = lines[0].rstrip() == _FENCE
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() == _FENCE), 0) if is_fenced else 0
    if not end:
        note = Note(slug, {}, lines)
        note.has_head = False
        note.problems += [(1, "its frontmatter has no end")] if is_fenced else []
        return note
    body = lines[end + 1 :]
    note = Note(slug, {}, _trimmed(body))
    note.head_lines = end + 1 + next((number for number, line in enumerate(body) if line.strip()), 0)
    try:
        note.fields = dict(yaml.load("\n".join(lines[1:end])))
    except ValueError as error:
        line = error.line + 1 if isinstance(error, yaml.YamlError) else 1
        note.problems.append((line, "its frontmatter is invalid: %s" % getattr(error, "message", error)))
    else:
        rows = [row.partition(":")[0] for row in lines[:end]]
        for key, what in _invalid(note.fields):
            note.problems.append((rows.index(key) + 1 if key in rows else 1, what))
    return note


def _invalid(fields: dict[str, Any]) -> list[tuple[str, str]]:
    """(field, what is wrong with it); invalid values are removed from `fields`."""
    wrong = []
    for key, kind in _SPEC.items():
        value = fields.get(key)
        if value in (None, ""):
            fields.pop(key, None)
        elif kind == ["text"] and isinstance(value, str):
            fields[key] = [value]
        elif shape.problem(value, kind):
            wrong.append((key, shape.problem(value, kind, key)))
            del fields[key]
    bad = [item for item in fields.get("triggers") or () if not is_trigger(item)]
    return wrong + [("triggers", 'trigger %r is neither "command: …" nor "path: …"' % item[:60]) for item in bad]


def render(note: Note) -> str:
    """The file: our fields in their order, then others, then the body."""
    names = [key for key in _SPEC if note.fields.get(key) not in (None, "", [])]
    others = [key for key in note.fields if key not in _SPEC]
    head = yaml.dump((key, note.fields[key]) for key in (*names, *others))
    body = "".join(line + "\n" for line in _trimmed(note.body))
    return "%s\n%s%s\n%s" % (_FENCE, head, _FENCE, "\n" + body if body else "")


def new(name: str, *, type: str, day: str, session: str = "") -> Note:
    clean = redact(name)
    note = Note(slug_of(without_marks(clean)) or slug_of(clean), {}, [])
    note.fields = {"type": type, "created": day, "verified": day, "session": session}
    note.fields["name"] = brief(name, settings.NOTE_NAME_CHARS)
    return note


def slug_of(name: str) -> str:
    """The file name of a topic, valid on every system."""
    slug = "-".join("".join([char if char.isalnum() else " " for char in name.lower()]).split())
    slug = slug.encode("utf-8", "replace")[: settings.NOTE_NAME_CHARS].decode("utf-8", "ignore").strip("-")
    return slug + "-note" if slug in DEVICE_NAMES else slug


def without_marks(text: str) -> str:
    """Without the marks of redacted secrets, which say nothing about a topic."""
    head, *rest = text.split(MARK)
    return " ".join([head, *(part.partition("]")[2] for part in rest)])


def is_trigger(text: str) -> bool:
    kind, _, pattern = text.partition(":")
    return kind in TRIGGERS and bool(pattern.strip())


# Facts -------------------------------------------------------------------------------------------


def facts(body: list[str]) -> list[Fact]:
    """Bullets with the lines that belong to them, and paragraphs; headings and code are not facts."""
    statements: list[Fact] = []
    first, words = -1, ""
    is_code = False
    for number, line in enumerate([*body, ""]):
        stripped = line.strip()
        if is_fence(line):
            is_code = not is_code
            stripped = ""
        bullet = bullet_width(stripped) if not is_code else 0
        is_break = not stripped or is_code or _is_heading(stripped)
        if first >= 0 and (is_break or bullet):
            statements.append(Fact(first, number, one_line(words)))
            first = -1
        if not is_break:
            words = stripped[bullet:] if first < 0 else words + " " + stripped
            first = number if first < 0 else first
    return [fact for fact in statements if fact.text]


def without(body: list[str], dropped: list[Fact]) -> list[str]:
    """The body without some of its facts."""
    gone = {number for fact in dropped for number in range(fact.first, fact.last)}
    return _trimmed([line for number, line in enumerate(body) if number not in gone])


def add_fact(note: Note, text: str) -> None:
    body = _trimmed(note.body)
    is_list = bool(body) and (bullet_width(body[-1].strip()) > 0 or body[-1].startswith("  "))
    note.body = [*body, *([""] if body and not is_list else []), "- " + one_line(text)]


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
