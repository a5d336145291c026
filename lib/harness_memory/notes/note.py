"""A note: one topic as a Markdown file, `LEARNING/topics/<slug>.md`.

    ---
    name: Parser                       what it is about
    description: How errors read       one line for the index
    type: project                      user | feedback | project | reference | decision
    scope: project                     optional, as are all below; the folder decides
    created: 2026-11-16
    verified: 2026-11-16               when the note was last checked
    session: a1b2c3d4                  the session that wrote it
    supersedes: [old-parser]           slugs of its scope that it replaces
    files: ["src/parser.py sha256:0f3a1b2c4d5e"]    the files it is about, as they were when verified
    enforce: deny                      remind | ask | deny, at its triggers; see `binding`
    triggers: ["command: git push", "path: src/**"]
    after: ["path: ui/**"]             a change that calls for a step
    require: ["command: make build"]   the step
    ---
    - One fact a bullet, or a paragraph.

Frontmatter may be missing or incomplete: missing fields are derived, `problems` names invalid ones.
"""

from __future__ import annotations

import os

from ..base import clock, settings, shape, yaml
from ..base.text import brief, cut, hexdigest, long_words, one_line
from ..base.typing import Fields
from ..session.sessions import DEVICE_NAMES

CONFLICT = "in conflict"
_FENCE = "---"
_HASH = " sha256:"
PATTERNS = ("triggers", "after", "require")
_LISTS = ("supersedes", "files", *PATTERNS)
_TEXTS = ("name", "description", "type", "scope", "created", "verified", "session", "author", "shared")
_FIELDS = (*_TEXTS, "enforce", *_LISTS)
_KINDS = {**{key: ["text"] for key in _LISTS}, "type": {*settings.NOTE_TYPES}, "created": "day", "verified": "day"}
_KINDS["enforce"] = {*settings.ENFORCE, "off"}


class Fact:
    """A statement: lines `first` to `last` (exclusive) of the body, from column `start`; `line` counts in the file."""

    def __init__(self, first: int, line: int, start: int) -> None:
        self.first, self.last, self.line, self.start, self.text = first, first + 1, line, start, ""


class Note:
    """`fields` holds the valid part of the frontmatter, `body` the lines below it."""

    def __init__(self, slug: str, fields: Fields, body: list[str]) -> None:
        self.slug, self.fields, self.body = slug, fields, body
        self.scope, self.path, self.head_lines, self.is_unreadable = "project", "", 0, False
        self.fate = ""  # why it does not hold
        self.problems: list[tuple[int, str]] = []  # (line, what is wrong)

    @property
    def name(self) -> str:
        first = next((line for line in self.body if line.strip()), "")
        heading = one_line(first.lstrip("# ")) if _is_heading(first) else ""
        return str(self.fields.get("name") or heading or self.slug)

    @property
    def description(self) -> str:
        about = self.fields.get("description")
        return str(about or cut("".join(fact.text for fact in self.facts[:1]), settings.NOTE_DESCRIPTION_CHARS))

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

    def items(self, field: str) -> list[str]:
        return list(self.fields.get(field) or ())

    @property
    def files(self) -> list[str]:
        return [item.partition(_HASH)[0] for item in self.items("files")]

    def patterns(self, field: str) -> list[str]:
        """The valid ones of `triggers`, `after` or `require`."""
        pairs = [item.partition(":")[::2] for item in self.items(field)]
        return ["%s: %s" % (kind, what.strip()) for kind, what in pairs if kind in ("command", "path") and what.strip()]

    @property
    def facts(self) -> list[Fact]:
        """Bullets with the lines that belong to them, and paragraphs; headings and code are not facts."""
        import re

        facts: list[Fact] = []
        is_code = is_open = False
        for number, line in enumerate(self.body):
            text = re.sub(r"^\s*([-*+] |\d{1,3}[.)] )?", "", line)
            was_code, is_code = is_code, is_code != is_fence(line)
            if not text or is_code or was_code or _is_heading(line.strip()):
                is_open = False
            elif is_open and text == line.lstrip():
                facts[-1].last = number + 1
            else:
                facts.append(Fact(number, self.head_lines + number + 1, len(line) - len(text)))
                is_open = True
        for fact in facts:
            fact.text = one_line(" ".join(self.body[fact.first : fact.last])[fact.start :])
        return [fact for fact in facts if fact.text]

    def add(self, text: str) -> None:
        """As a bullet at the end of the section that shares most words with it, else of the note."""
        starts = [0, *(at for at, line in enumerate(self.body) if at and _is_heading(line)), len(self.body)]
        shared = [len(long_words(text) & long_words(" ".join(self.body[a:b]))) for a, b in zip(starts, starts[1:])]
        end = starts[shared.index(max(shared)) + 1] if any(shared) else len(self.body)
        above = "\n".join(self.body[:end]).rstrip().split("\n")
        is_list = any(fact.start > 0 and fact.last == len(above) for fact in self.facts)
        below = ["", *self.body[end:]] if any(map(str.strip, self.body[end:])) else []
        self.body = [*above, *([] if is_list else [""]), "- " + one_line(text), *below]

    def drop(self, facts: list[Fact]) -> None:
        gone = {number for fact in facts for number in range(fact.first, fact.last)}
        self.body = [line for number, line in enumerate(self.body) if number not in gone]

    def is_old(self, now: float) -> bool:
        """Whether it was not verified for half a year."""
        return "" < self.day < clock.iso(now - settings.NOTE_UNUSED_DAYS * settings.DAY_SECONDS)[:10]

    def doubt(self, root: str, now: float) -> str:
        """Why it may no longer hold: its files have changed or are gone, or it is old; or ""."""
        pairs = [*zip(self.files, self.items("files"))] if root and self.scope != "user" else []
        here = {path for path, _ in pairs if os.path.lexists(os.path.join(root, path))}
        stale = [path for path, item in pairs if path not in here or item not in (path, stamped(path, root))]
        if stale:
            return "changed or gone since it was verified: " + ", ".join(stale[:3])
        return "not verified since " + self.day if self.is_old(now) else ""

    def mark(self, root: str, now: float) -> str:
        """For wherever it is handed over."""
        doubt = self.doubt(root, now)
        return " · CHECK: " + doubt if doubt else ""


def parse(slug: str, text: str) -> Note:
    """Never fails: `problems` names what could not be read."""
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
    note = Note(slug, {}, lines)
    marks = [at for at, line in enumerate(lines, 1) if line[:8] in ("<<<<<<< ", ">>>>>>> ")]
    if len(marks) > 1:
        note.body, note.is_unreadable, note.fate = [], True, CONFLICT
        note.problems.append((marks[0], "holds the marks of a merge conflict"))
        return note
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() == _FENCE), 0)
    if lines[0].rstrip() != _FENCE or not end:
        note.problems += [(1, "its frontmatter has no end")] if lines[0].rstrip() == _FENCE else []
        return note
    note.head_lines = next((at for at in range(end + 1, len(lines)) if lines[at].strip()), len(lines))
    note.body = lines[note.head_lines :]
    try:
        fields = note.fields = dict(yaml.load("\n".join(lines[1:end])))
    except yaml.YamlError as error:
        note.problems.append((error.line + 1, "its frontmatter is invalid: %s" % error.message))
        return note
    for key in [key for key in _FIELDS if fields.get(key) not in (None, "")]:
        if key in _LISTS and isinstance(fields[key], str):
            fields[key] = [fields[key]]
        wrong = shape.problem(fields[key], _KINDS.get(key, "text"), key)
        if wrong:
            del fields[key]
        elif key in PATTERNS and len(note.patterns(key)) < len(note.items(key)):
            wrong = '%s: neither "command: …" nor "path: …"' % key
        if wrong:
            line = next((at for at, row in enumerate(lines[:end], 1) if row.startswith(key + ":")), 1)
            note.problems.append((line, wrong))
    return note


def render(note: Note) -> str:
    """The file: our fields in their order, then others, then the body."""
    names = [key for key in _FIELDS if note.fields.get(key) not in (None, "", [])]
    others = [key for key in note.fields if key not in _FIELDS]
    head = yaml.dump((key, note.fields[key]) for key in (*names, *others))
    body = "\n".join(note.body).strip("\n")
    return "%s\n%s%s\n%s" % (_FENCE, head, _FENCE, "\n%s\n" % body if body else "")


def new(name: str, *, type: str, day: str, session: str = "") -> Note:
    name, slug = brief(name, settings.NOTE_NAME_CHARS), slug_of(name)
    return Note(slug, {"name": name, "type": type, "created": day, "verified": day, "session": session}, [])


def slug_of(name: str) -> str:
    """The file name of a topic, valid on every system."""
    slug = "-".join("".join([char if char.isalnum() else " " for char in name.lower()]).split())
    slug = slug.encode("utf-8", "replace")[: settings.NOTE_NAME_CHARS].decode("utf-8", "ignore").strip("-")
    return slug + "-note" if slug in DEVICE_NAMES else slug or hexdigest(name)[:8]


def stamped(path: str, root: str) -> str:
    """An item for a note's `files`: the path with the hash of its present content, if it can be read."""
    try:
        with open(os.path.join(root, path), "rb") as file:
            return path + _HASH + hexdigest(file.read(64 << 20))[:12]
    except OSError:
        return path


def is_fence(line: str) -> bool:
    return line.strip()[:3] in ("```", "~~~")


def _is_heading(line: str) -> bool:
    return line[:1] == "#" and line.lstrip("#")[:1] in ("", " ")
