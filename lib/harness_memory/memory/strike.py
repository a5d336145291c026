"""Striking a text from one file of the store: each format is decoded, loses the sentences that hold it, and is encoded.

Matching ignores case, blanks between words, hidden characters, Unicode composition, and the signs that make injected
text inert.
"""

from __future__ import annotations

import os
import unicodedata
from typing import Any, Callable

from ..base import jsontext, neutral, settings, shape, yaml
from ..base.text import one_line
from ..notes import note as notes
from ..session import episode

Matcher = Callable[[str], bool]

_NOTE_FOLDERS = (settings.TOPICS_DIR, settings.NOTES_ARCHIVE_DIR, settings.LOCAL_DIR)
# What a record is identified and found by; every other text in it is content.
_NAMES = frozenset(
    ("schema", "id", "session_id", "claude_session", "started", "ended", "thread", "parent", "root", "transcript")
    + ("at", "created", "updated", "date", "task_id", "artifact", "session", "outcome", "source", "status", "project")
    + ("work", "cwd", "git_remote", "path", "file", "last_activity", "type", "scope", "pid", "channel", "model")
)


def matcher(text: str) -> Matcher:
    def normal(text: str) -> str:
        flat = one_line(text).casefold()
        return flat if flat.isascii() and "'''" not in flat else neutral.undone(unicodedata.normalize("NFC", flat))

    wanted = normal(text)
    return lambda passage: wanted in normal(passage)


def strike(path: str, data: bytes, is_hit: Matcher) -> bytes | None:
    """The file without the sentences that are hit: `data` itself when there are none, None when nothing is left."""
    folder, name = path.replace("/", os.sep).split(os.sep)[-2:]
    text = data.decode("utf-8", "surrogateescape")
    try:
        after = _struck(folder, name, text, is_hit)
    except ValueError:  # damaged: plain text then
        after = sentences(text, is_hit)
    if after == text:
        return data
    return after.encode("utf-8", "surrogateescape") if after and after.strip() else None


def passages(path: str, data: bytes) -> list[str]:
    texts: list[str] = []

    def collect(text: str) -> bool:
        texts.append(text)
        return False  # so that it is asked about every text

    strike(path, data, collect)
    return [line.strip() for text in dict.fromkeys(texts) for line in text.split("\n")]


def _struck(folder: str, name: str, text: str, is_hit: Matcher) -> str | None:
    is_named = folder in (*_NOTE_FOLDERS, settings.PROFILES_DIR, settings.DRAFTS_DIR)
    if is_named and is_hit(name.partition(".")[0].replace("-", " ")):
        return None
    if folder in _NOTE_FOLDERS and name.endswith(".md"):
        return _note(name[: -len(".md")], text, is_hit)
    if name.endswith(".jsonl"):
        values = [(line, jsontext.loads(line) if line.strip() else None) for line in text.split("\n")]
        rows = [(line, value, _tree(value, is_hit)) for line, value in values]
        return "\n".join([line if after == value else jsontext.compact(after) for line, value, after in rows])
    if name != settings.META_FILE and not name.endswith(".json"):
        return sentences(text, is_hit)
    value = yaml.load(text) if name == settings.META_FILE else jsontext.loads(text)
    after = _tree(value, is_hit, name != settings.CAPTURE_FILE)  # whose lists have fixed positions
    if after == value:
        return text
    if name.startswith(settings.EPISODE_PREFIX) and shape.problem(after, episode.SPEC):
        return None
    return yaml.dump(after.items()) if name == settings.META_FILE else jsontext.pretty(after)


def _note(slug: str, text: str, is_hit: Matcher) -> str | None:
    note = notes.parse(slug, text)
    if is_hit(note.name) or (note.problems and is_hit(text)):
        return None
    before = (note.body, note.fields)
    note.drop([fact for fact in note.facts if is_hit(fact.text)])
    note.body, note.fields = [line for line in note.body if not is_hit(line)], _tree(note.fields, is_hit)
    if (note.body, note.fields) == before:
        return None if is_hit(text) else text
    if note.fields:
        note.fields["description"] = note.description  # the first fact, when the description was struck
    after = notes.render(note) if note.fields else "\n".join(note.body) + "\n"
    return None if not note.facts or is_hit(after) else after


def sentences(text: str, is_hit: Matcher) -> str:
    """A text without the sentences that are hit, or the paragraphs, where a hit runs over several lines."""
    if not is_hit(text):
        return text
    lines = []
    for line in text.split("\n"):
        bare = line.lstrip(" \t-*+#>")
        kept = bare
        if is_hit(line):
            for end in (". ", "! ", "? ", "。", "！", "？"):
                kept = kept.replace(end, end + "\n")
            kept = "".join([each for each in kept.split("\n") if not is_hit(each)]).rstrip()
        if kept == bare or kept.strip(" 0123456789.)"):  # more is left than the mark of a bullet
            lines.append(line[: len(line) - len(bare)] + kept)
    left = "\n".join(lines)
    if is_hit(left):
        left = "\n\n".join(paragraph for paragraph in left.split("\n\n") if not is_hit(paragraph))
    return "" if is_hit(left) else left


def _tree(value: Any, is_hit: Matcher, drops_empty: bool = True) -> Any:
    """A JSON value with every text struck but those that name something."""
    if isinstance(value, str):
        return sentences(value, is_hit)
    if isinstance(value, list):
        items = [(item, _tree(item, is_hit, drops_empty)) for item in value]
        return [after for item, after in items if after == item or after != "" or not drops_empty]
    if not isinstance(value, dict):
        return value
    is_name = {key: key in _NAMES and isinstance(item, str) for key, item in value.items()}
    return {key: item if is_name[key] else _tree(item, is_hit, drops_empty) for key, item in value.items()}
