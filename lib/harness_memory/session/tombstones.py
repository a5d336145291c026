"""What was forgotten, so that no transcript brings it back: `STATE/forgotten.json`, without any of its content.

    {"schema", "salt",
     "sessions": {Claude's session id: when},      what it said and did before that is not taken in again
     "notes": {hash: when},                        of its scope and name, for a name may tell what it was
     "texts": [{"words": number, "hash", "first",  salted hash of so many words in a row, in lower case; two digits of
                "at"}],                            that of the first, so that few others are hashed to be told from it
     "ahead": {when: when}}                        dates of a clock that was ahead: when that was noticed

A text is only struck from what was said before it was forgotten: whoever says it again means it. What a clock dated
that was ahead counts as forgotten when that was noticed, as long as its date is still to come.
"""

from __future__ import annotations

import errno
import os
import time

from ..base import clock, jsontext, settings
from ..base import files as store
from ..base.lock import Lock
from ..base.sha256 import hexdigest
from ..base.text import composed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

LEAST_WEIGHT = 3  # a shorter text is in half of all sentences
_HASH_CHARS = 32
_FIRST_CHARS = 2
_WORDS_KNOWN = 1 << 16
_BLANKS = {code: " " for code in range(128) if not chr(code).isalnum()}
_ENDS = (". ", "! ", "? ", "。", "！", "？")


def path(project_dir: str) -> str:
    return os.path.join(project_dir, settings.STATE_DIR, settings.FORGOTTEN_FILE)


def load(project_dir: str) -> dict[str, Any]:
    """Every part has its shape, whatever the file says; all are empty when nothing was ever forgotten."""
    told = _read(project_dir)
    now = time.time()
    dates = {at: told["ahead"].get(at, clock.iso(now)) for at in _ahead(told, now)}
    if dates:
        told["texts"] = [{**item, "at": dates.get(_when(item), _when(item))} for item in told["texts"]]
        for key in ("sessions", "notes"):
            told[key] = {name: dates.get(at, at) for name, at in told[key].items()}
    return told


def _ahead(told: dict[str, Any], now: float) -> list[str]:
    """The dates that are still to come; a clock that is itself from before our time cannot tell."""
    dates = [*told["sessions"].values(), *told["notes"].values(), *map(_when, told["texts"])]
    is_sure = clock.iso(now) >= settings.FIRST_DAY
    return [at for at in dates if is_sure and (clock.parse(at) or 0.0) > now + settings.CLOCK_DOUBT_SECONDS]


def note_ahead(project_dir: str, now: float) -> None:
    """Remember from when on what is said is meant, where a clock that was ahead has dated what was forgotten."""

    def is_news(told: dict[str, Any]) -> bool:
        return not told["ahead"].keys() >= {*_ahead(told, now)}

    if is_news(_read(project_dir)):
        with Lock(path(project_dir) + settings.LOCK_SUFFIX) as held:
            known = _read(project_dir)
            if held and is_news(known):
                known["ahead"] = {**dict.fromkeys(_ahead(known, now), clock.iso(now)), **known["ahead"]}
                _write(project_dir, known)


def _read(project_dir: str) -> dict[str, Any]:
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
        "ahead": _dates(told.get("ahead")),
    }


def _write(project_dir: str, told: dict[str, Any]) -> None:
    value = {"schema": settings.SCHEMA, **told}
    store.write(path(project_dir), jsontext.pretty(value).encode("utf-8", "replace"), durable=True)


def _dates(value: object) -> dict[str, str]:
    return {key: at for key, at in value.items() if isinstance(at, str)} if isinstance(value, dict) else {}


def _is_text(item: object) -> bool:
    return isinstance(item, dict) and isinstance(item.get("words"), int) and isinstance(item.get("hash"), str)


def since(project_dir: str, claude_id: str) -> float:
    """Until when a session is forgotten; 0 when it is not."""
    return clock.parse(load(project_dir)["sessions"].get(claude_id)) or 0.0


def covers(sessions: dict[str, str], record: dict[str, Any]) -> bool:
    """Whether an episode, or what an index says of one, is of a forgotten session: of one that went on afterwards
    only what it was before is."""
    return bool(max(record["started"], record["ended"]) < sessions.get(record["session_id"], ""))


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
        known = _read(project_dir)
        _put_aside_if_damaged(path(project_dir), known)
        salt = known["salt"] = known["salt"] or os.urandom(16).hex()
        for words in phrases:
            mark = {"words": len(words), "hash": _hash(salt, words), "first": _first(salt, words), "at": at}
            known["texts"] = [*(item for item in known["texts"] if item["hash"] != mark["hash"]), mark]
        known["sessions"].update(dict.fromkeys(sessions, at))
        known["notes"].update({_hash(salt, [ref]): at for ref in notes})
        _write(project_dir, known)


def _put_aside_if_damaged(file: str, known: dict[str, Any]) -> None:
    """What nobody can read is kept for whoever may, before a new file takes its place."""
    if _is_damaged(file, known):
        store.move(file, file + settings.DAMAGED_SUFFIX)


def _is_damaged(file: str, known: dict[str, Any]) -> bool:
    return not known["salt"] and os.path.lexists(file)


def refuse_if_damaged(project_dir: str) -> None:
    """Before anything is brought back that may have been forgotten."""
    file = path(project_dir)
    if _is_damaged(file, _read(project_dir)):
        what = "cannot be read, and what was forgotten would come back; mend it, or delete it to go without"
        raise store.Unreadable(errno.EINVAL, what, file)


class Sieve:
    """Strikes forgotten texts from what was said before they were forgotten."""

    __slots__ = ("_hitting", "_salt", "_texts")

    def __init__(self, salt: str, texts: list[dict[str, Any]]) -> None:
        self._salt = salt
        self._texts = sorted(texts, key=_when)
        self._hitting: dict[int, Callable[[str], bool]] = {}

    def entry(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Of an entry of a transcript what `capture` reads; one without a time, as a title, may be of any."""
        sifted: dict[str, Any] = self.value(_read_of(entry), entry.get("timestamp"), _OUTER)
        return sifted

    def value(self, value: Any, said: object, kept_keys: frozenset[str] = frozenset()) -> Any:
        """Any JSON value, as far as a record could hold it, without what was forgotten after the instant `said`."""
        texts = [item for item in self._texts if not isinstance(said, str) or said < _when(item)]
        if not texts:
            return value
        if len(texts) not in self._hitting:  # in order of their time: their number tells which they are
            self._hitting[len(texts)] = _hit_by(self._salt, texts)
        return struck_tree(value, self._hitting[len(texts)], kept_keys, settings.TEXT_FIELD_MAX_CHARS)


def sieve(project_dir: str) -> Sieve | None:
    """None when no text was forgotten."""
    note_ahead(project_dir, time.time())
    told = load(project_dir)
    return Sieve(told["salt"], told["texts"]) if told["texts"] else None


def _when(item: dict[str, Any]) -> str:
    return str(item.get("at"))


def _hit_by(salt: str, texts: list[dict[str, Any]]) -> Callable[[str], bool]:
    """Tells whether a passage holds one of the texts."""
    hashes = {(item["words"], item["hash"]) for item in texts if item["words"] > 0}
    sizes: dict[str, set[int]] = {}
    for item in texts:
        sizes.setdefault(str(item.get("first") or ""), set()).add(item["words"])
    anywhere = sizes.get("", set())  # of older versions, which did not keep the first word's
    known: dict[str, set[int]] = {}

    def sizes_from(word: str) -> set[int]:
        found = known.get(word)
        if found is None:
            if len(known) >= _WORDS_KNOWN:
                known.clear()
            found = known[word] = anywhere | sizes.get(_first(salt, [word]), set())
        return found

    def is_hit(text: str) -> bool:
        words = words_of(text)
        return any(
            (size, _hash(salt, words[at : at + size])) in hashes
            for at, word in enumerate(words)
            for size in sizes_from(word)
            if at + size <= len(words)
        )

    return is_hit


_OUTER = frozenset(("type", "uuid", "parentUuid", "timestamp", "sessionId", "cwd", "version", "promptId", "id", "role"))
_READ_OF_BLOCKS = ("type", "text", "id", "name", "tool_use_id", "is_error")
_READ_OF_CALLS = ("skill", "command", "file_path", "notebook_path", "todos", "subject", "taskId", "status")


def _read_of(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry without what `capture` never reads: contents of files, output of tools, thoughts."""
    bare = dict(entry)
    message, rich = entry.get("message"), entry.get("toolUseResult")
    if isinstance(message, dict) and isinstance(message.get("content"), list):
        blocks = [_read_of_block(block) for block in message["content"] if isinstance(block, dict)]
        bare["message"] = {**message, "content": blocks}
    if "toolUseResult" in entry:
        told = rich if isinstance(rich, dict) else {}
        diff = told.get("bashEditDiff")
        files = diff.get("files") if isinstance(diff, dict) else None
        files = [file for file in files if isinstance(file, dict)] if isinstance(files, list) else []
        paths = {"files": [{"filePath": file.get("filePath")} for file in files]}
        bare["toolUseResult"] = {"bashEditDiff": paths, "task": told.get("task")}
    return bare


def _read_of_block(block: dict[str, Any]) -> dict[str, Any]:
    given = block.get("input")
    told = {key: given[key] for key in _READ_OF_CALLS if key in given} if isinstance(given, dict) else {}
    return {**{key: block[key] for key in _READ_OF_BLOCKS if key in block}, "input": told}


def words_of(text: str) -> list[str]:
    """Runs of letters and digits; where words are not set apart by blanks, every character is one."""
    if text.isascii():
        return text.lower().translate(_BLANKS).split()
    return "".join(
        [" %s " % char if _is_word(char) else char if char.isalnum() else " " for char in composed(text).lower()]
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


def struck_tree(
    value: Any, is_hit: Callable[[str], bool], kept_keys: frozenset[str] = frozenset(), most: int | None = None
) -> Any:
    """The same for every text in a JSON value, cut to `most` characters; its shape stays, and so do the values of
    `kept_keys`."""
    if isinstance(value, str):
        return struck(value[:most], is_hit)
    if isinstance(value, list):
        return [struck_tree(item, is_hit, kept_keys, most) for item in value]
    if isinstance(value, dict):
        return {
            key: item if key in kept_keys and isinstance(item, str) else struck_tree(item, is_hit, kept_keys, most)
            for key, item in value.items()
        }
    return value


def _sentences(line: str) -> list[str]:
    """A line in its sentences, which put together are the line again."""
    for end in _ENDS:
        line = line.replace(end, end + "\n")
    return line.split("\n")


def _hash(salt: str, words: list[str]) -> str:
    return hexdigest(salt + "\n" + " ".join(words))[:_HASH_CHARS]


def _first(salt: str, words: list[str]) -> str:
    """Too short to tell the word, long enough to tell most others from it."""
    return _hash(salt, words[:1])[:_FIRST_CHARS]
