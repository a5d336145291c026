"""Terms of a text: stemmed words, identifiers and paths whole and in parts, pairs of CJK characters."""

from __future__ import annotations

import sys

from ..base import jsontext
from ..base.text import foreign
from ..base.typing import Any, Iterable

TABLES_FILE = __file__[: -len(".py")] + ".json"
TABLES: Any = globals().get("TABLES")  # a hook has them already, see `bundle`
if not TABLES:
    with open(TABLES_FILE, "rb") as _file:
        TABLES = jsontext.loads(_file.read())
    TABLES.update({name: frozenset(text.split()) for name, text in TABLES.items() if isinstance(text, str)})
_STOPPED, _REGULAR = TABLES["stop"], TABLES["irregular"]
# The most frequent endings of English; other words are their own stem.
_ENDINGS = ("ations", "ation", "ions", "ion", "ings", "ing", "edly", "ed", "ers", "er", "es", "ly", "s", "e")
PATHS_MAX = 64  # of a document, and of a query
_JOINERS = "_./-"
_PATH_MARK, _STEM_MARK = "=", "~"  # no term of a text starts with them
_NAMES_MAX = 64  # looked for in one text
_COMMON_WEIGHT, _IDENTIFIER_WEIGHT = 0.3, 0.6  # of a word that a file may be named after
_WHOLE_MAX_CHARS = 64
_ASCII = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) not in _JOINERS}
_ASCII.update({ord("\\"): "/", ord("'"): ""})
_PLAIN = {**_ASCII, **dict.fromkeys(map(ord, "…—–“”‘«»•·→←↔×✓✔✅❌│─"), " "), ord("’"): ""}  # and frequent signs
_stems: dict[str, str] = {}


def terms(text: str) -> list[str]:
    """Terms in their order, with repetitions."""
    result: list[str] = []
    if not _PLAIN.keys() >= {*map(ord, foreign(text))}:
        from . import scripts  # which loads a large library

        text = scripts.plain(text)
    for chunk in text.translate(_PLAIN).split():
        if chunk.isalpha() and chunk.isascii() and (chunk.islower() or chunk[1:].islower() or chunk.isupper()):
            _add_word(result, chunk.lower())
        else:
            _add_chunk(result, chunk.strip("./-"))
    return result


def code(term: str) -> int:
    """A number of four bytes for a term, neither 0 nor 1; `zlib` would load a library."""
    return int.from_bytes(term.encode("utf-8", "surrogatepass"), "little") % 4294967279 + 2  # a prime


def pack(codes: Iterable[int]) -> bytes:
    return b"".join([number.to_bytes(4, sys.byteorder) for number in codes])


def path_term(path: str) -> str:
    """The term for all documents about a path; its count is the number of paths in the document."""
    return _PATH_MARK + path.replace("\\", "/").strip("/").lower()


def stem_term(path: str) -> str:
    """The term for a file's name without ending and the marks of a test: `src/test_cart.py` and `cart.ts` are one."""
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    name = name[: name.find(".", 1)] if "." in name[1:] else name
    for mark in ("test", "tests", "spec"):
        name = name[len(mark) + 1 :] if name.startswith((mark + "_", mark + "-")) else name
        name = name[: -len(mark) - 1] if name.endswith(("_" + mark, "-" + mark)) else name
    return _STEM_MARK + name


def file_names(text: str) -> dict[str, float]:
    """Stem terms of what may name a file in a text, and how likely it does."""
    names: dict[str, float] = {}
    for chunk in dict.fromkeys(text.translate(_ASCII).split()):
        word = chunk.strip("./-")
        is_path = "/" in word or "." in word[1:]
        if (is_path or len(word) > 7 or "_" in word or "-" in word) and len(names) < _NAMES_MAX:
            term = stem_term(word)
            weight = _COMMON_WEIGHT if term[1:] in TABLES["common names"] else 1.0 if is_path else _IDENTIFIER_WEIGHT
            names[term] = max(names.get(term, 0.0), weight)
    return names


def _add_word(result: list[str], word: str) -> None:
    if word in _STOPPED:
        return
    if word not in _stems:
        _stems[word] = stem(word)
    result.append(_stems[word])


def _add_chunk(result: list[str], chunk: str) -> None:
    """Add a number, an identifier, a path or text in another script: whole, then in parts."""
    pieces = chunk.replace("_", " ").replace("/", " ").replace(".", " ").replace("-", " ").split()
    if chunk.isascii():
        parts = [part for piece in pieces for part in _humps(piece)]
    else:
        from . import scripts

        parts = scripts.words(pieces)
    if len(parts) > 1 and chunk.isascii():
        result.append(chunk.lower()[:_WHOLE_MAX_CHARS])
        name = chunk[chunk.rfind("/") + 1 :]
        if name != chunk and len(name) > 2 and name.lower() not in parts:
            result.append(name.lower()[:_WHOLE_MAX_CHARS])
    for part in parts:
        _add_word(result, part)


def _humps(piece: str) -> list[str]:
    """Words of a camelCase or HTTPServer name, in lower case."""
    if piece.islower() or piece.isupper() or piece[1:].islower() or not piece[1:]:
        return [piece.lower()[:_WHOLE_MAX_CHARS]]
    words, start = [], 0
    for at in range(1, len(piece)):
        if piece[at].isupper() and (not piece[at - 1].isupper() or piece[at + 1 : at + 2].islower()):
            words.append(piece[start:at].lower())
            start = at
    words.append(piece[start:].lower()[:_WHOLE_MAX_CHARS])
    return words


def stem(word: str) -> str:
    """The stem of one lower-case word. Longer rules, tried on real sessions, rank no better."""
    word = _REGULAR.get(word, word)
    endings, shortest = (_ENDINGS, 3) if word.isascii() else (TABLES["russian"], 4)
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= shortest:
            word = word[: -len(ending)]
            word = word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] in "bdfgmnprt" else word  # planned
            break
    return word[:-1] + "i" if word[-1:] == "y" and len(word) > 2 else word  # cities, city
