"""What was forgotten, so that no transcript brings it back: `STATE/forgotten.json`, without any of its content.

    {"schema", "salt",
     "sessions": {Claude's session id: when},      what it said and did before that is not taken in again
     "notes": {hash: when},                        of its scope and name, for a name may tell what it was
     "texts": [{"words": number, "hash", "at"}]}   salted hash of so many words in a row, in lower case

A text is only struck from what was said before it was forgotten: whoever says it again means it.
"""

from __future__ import annotations

import errno
import os

from . import clock, jsontext, settings, store
from .digest import hexdigest
from .lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

LEAST_WEIGHT = 3  # a shorter text is in half of all sentences
_HASH_CHARS = 32
_ENDS = (". ", "! ", "? ", "。", "！", "？")


def path(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.FORGOTTEN_FILE)


def load(project_dir: str) -> dict[str, Any]:
    """Every part has its shape, whatever the file says; all are empty when nothing was ever forgotten."""
    try:
        data = store.read(path(project_dir))
        value = jsontext.loads(data) if data else {}
    except (OSError, ValueError) as error:
        if store.is_passing(error):
            raise  # else what was forgotten would come back
        value = {}
    told = value if isinstance(value, dict) else {}
    texts, salt = told.get("texts"), told.get("salt")
    return {
        "salt": salt if isinstance(salt, str) else "",
        "sessions": _dates(told.get("sessions")),
        "notes": _dates(told.get("notes")),
        "texts": [item for item in texts if _is_text(item)] if isinstance(texts, list) else [],
    }


def _dates(value: object) -> dict[str, str]:
    return {key: at for key, at in value.items() if isinstance(at, str)} if isinstance(value, dict) else {}


def _is_text(item: object) -> bool:
    return isinstance(item, dict) and isinstance(item.get("words"), int) and isinstance(item.get("hash"), str)


def since(project_dir: str, claude_id: str) -> float:
    """Until when a session is forgotten; 0 when it is not."""
    return clock.parse(load(project_dir)["sessions"].get(claude_id)) or 0.0


def add(
    project_dir: str,
    now: float,
    *,
    sessions: Iterable[str] = (),
    notes: Iterable[str] = (),
    phrases: Iterable[list[str]] = (),
) -> None:
    at = clock.iso(now + 1)  # instants are whole seconds: what was said in this one is forgotten too
    with Lock(path(project_dir) + settings.LOCK_SUFFIX) as held:
        if not held:
            raise TimeoutError(errno.ETIMEDOUT, "another process is forgetting something; try again", path(project_dir))
        known = load(project_dir)
        _put_aside_if_damaged(path(project_dir), known)
        salt = known["salt"] or os.urandom(16).hex()
        texts = known["texts"]
        for words in phrases:
            texts.append({"words": len(words), "hash": _hash(salt, words), "at": at})
        value = {
            "schema": settings.SCHEMA,
            "salt": salt,
            "sessions": {**known["sessions"], **dict.fromkeys(sessions, at)},
            "notes": {**known["notes"], **{_hash(salt, [ref]): at for ref in notes}},
            "texts": texts,
        }
        store.write(path(project_dir), jsontext.pretty(value).encode("utf-8", "replace"), durable=True)


def _put_aside_if_damaged(file: str, known: dict[str, Any]) -> None:
    """What nobody can read is kept for whoever may, before a new file takes its place."""
    if not known["salt"] and os.path.lexists(file):
        store.move(file, file + settings.DAMAGED_SUFFIX)


def sieve(project_dir: str) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
    """What strikes forgotten texts from the entries of a transcript; None when there are none."""
    told = load(project_dir)
    texts, salt = told["texts"], told["salt"]
    if not texts:
        return None

    def sift(entry: dict[str, Any]) -> dict[str, Any]:
        said = entry.get("timestamp")
        # An entry without a time, as a title, may be of any.
        hashes = {
            (item["words"], item["hash"]) for item in texts if not isinstance(said, str) or said < str(item.get("at"))
        }
        sizes = sorted({size for size, _ in hashes if size > 0})
        if not sizes:
            return entry

        def is_hit(text: str) -> bool:
            words = words_of(text)
            return any(
                (size, _hash(salt, words[at : at + size])) in hashes
                for size in sizes
                for at in range(len(words) - size + 1)
            )

        sifted = struck_tree(entry, is_hit, _OUTER)
        return sifted if isinstance(sifted, dict) else {}

    return sift


_OUTER = frozenset(("type", "uuid", "parentUuid", "timestamp", "sessionId", "cwd", "version", "promptId", "id", "role"))


def words_of(text: str) -> list[str]:
    """Runs of letters and digits; where words are not set apart by blanks, every character is one."""
    return "".join(
        [" %s " % char if _is_word(char) else char if char.isalnum() else " " for char in text.lower()]
    ).split()


def weight(text: str) -> int:
    """How much a text tells: its characters, twice those that are words by themselves."""
    return sum(1 + _is_word(char) for char in text if not char.isspace())


def _is_word(char: str) -> bool:
    """Of a Chinese, Japanese or Korean script."""
    return ("\u2e80" <= char <= "\ud7ff" or char >= "\U00020000") and char.isalnum()


def struck(text: str, is_hit: Callable[[str], bool]) -> str:
    """A text without the sentences that are hit; without any of it when it is hit only as a whole."""
    if not is_hit(text):
        return text
    lines = []
    for line in text.split("\n"):
        kept = line
        if is_hit(line):
            bare = line.lstrip(" \t-*+#>")
            kept = "".join([sentence for sentence in _sentences(bare) if not is_hit(sentence)]).rstrip()
            if not kept.strip(" 0123456789.)"):
                continue  # nothing but the mark of a bullet is left
            kept = line[: len(line) - len(bare)] + kept
        lines.append(kept)
    left = "\n".join(lines)
    return "" if is_hit(left) else left


def struck_tree(value: Any, is_hit: Callable[[str], bool], kept_keys: frozenset[str] = frozenset()) -> Any:
    """The same for every text in a JSON value; its shape stays, and so do the values of `kept_keys`."""
    if isinstance(value, str):
        return struck(value, is_hit)
    if isinstance(value, list):
        return [struck_tree(item, is_hit, kept_keys) for item in value]
    if isinstance(value, dict):
        return {
            key: item if key in kept_keys and isinstance(item, str) else struck_tree(item, is_hit, kept_keys)
            for key, item in value.items()
        }
    return value


def _sentences(line: str) -> list[str]:
    """A line in its sentences, which put together are the line again."""
    parts, begin, at = [], 0, 0
    while at < len(line):
        end = next((len(mark) for mark in _ENDS if line.startswith(mark, at)), 0)
        if end:
            parts.append(line[begin : at + end])
            begin = at + end
        at += end or 1
    return [*parts, line[begin:]]


def _hash(salt: str, words: list[str]) -> str:
    return hexdigest(salt + "\n" + " ".join(words))[:_HASH_CHARS]
