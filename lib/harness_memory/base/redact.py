"""Taking secrets out of text before it is kept: each becomes `[redacted:<kind>]`, the rest stays as it is.

This module suspects, `secret` judges. Suspicious are long words with digits, literals that stand beside secrets
(headers, logins, URLs), and names that announce one (`DB_PASSWORD=`, `"api_key": "`, `пароль:`). Every suspicion yields
spans, and one pass replaces them. Clean text pays for a few searches, and never for `re`.

All scans are linear: a failing attempt of a pattern reads a bounded stretch and a successful one is consumed.
"""

from __future__ import annotations

from . import settings
from .jsontext import MAX_DEPTH
from .typing import Any, Iterator, TypeAlias

Span: TypeAlias = "tuple[int, int, str]"

MARK = settings.REDACTED
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_ALNUM = frozenset(_LETTERS)
# What no token contains becomes a blank; `/` too, or every path would be a word.
_SPLIT = bytes([code if code in _LETTERS.encode() + b"-_.~+" else 32 for code in range(256)])
_PARTS = bytes.maketrans(b"-_.", b"   ")

TABLES_FILE = __file__[: -len(".py")] + ".txt"
TABLES: Any = globals().get("TABLES")  # a hook has them already, see `bundle`
if not TABLES:
    from .tables import read

    _tables = read(TABLES_FILE)
    _rules: dict[str, Any] = {}  # by the second literal, which most of them share
    for _row in _tables["rules"]:
        for _name, _pattern in _tables["pieces"]:
            _row[2] = _row[2].replace("<%s>" % _name, _pattern)
        for _head in filter(None, _row[1].split("|")):
            _head = _head.replace("¦", "|")
            _rules.setdefault(_head.partition("&")[2], []).append((_head.partition("&")[0], tuple(_row)))
    _rows = [_tables[name] for name in ("names", "names beyond ASCII")]
    _kinds = [{word.replace("+", " "): kind for kind, words in rows for word in words.split()} for rows in _rows]
    TABLES = (_rules, *_kinds)
_RULES, _NAMES, _NAMES_BEYOND_ASCII = TABLES
_OTHER = ("by", "buy", "com", "sur", "tres", "under", "over", "mon", "tur", "hot")  # words that only end like a name
_AFTER_NAME = frozenset(" \t\n\"'`\\]?*0123456789_=:>：,(")


def redact(text: str) -> str:
    for _ in range(4):  # what a secret has hidden is seen the next time
        parts, done = [], 0
        for start, end, kind in sorted(_spans(text), key=lambda span: span[0]):
            if start >= done:
                parts += [text[done:start], MARK, kind, "]"]
                done = end
        if not parts:
            break
        text = "".join(parts) + text[done:]
    return text


def _spans(text: str) -> Iterator[Span]:
    """The secrets of a text, those that are known by their own form first."""
    rows = [row for other, heads in _RULES.items() if other in text for head, row in heads if head in text]
    words = text.encode("utf-8", "surrogatepass").translate(_SPLIT).split()
    words = [word for word in words if len(word) > 15 and word.strip(b"0123456789abcdefABCDEF-.")]
    words = [
        word  # with a part that is long, and neither a word nor a number
        for word in words
        if any(len(part) > 9 and not part.isalpha() and not part.isdigit() for part in word.translate(_PARTS).split())
    ]
    if words:
        from .secret import tokens

        yield from tokens(text, [word.decode("ascii") for word in words])
    if rows:
        from .secret import places

        yield from places(text, dict.fromkeys(rows))
    lower = text.lower().replace("-", "_")
    if len(lower) != len(text):  # a few letters grow when lowered; offsets must hold
        lower = "".join([c.lower() if c in _ALNUM else c for c in text]).replace("-", "_")
    for names in (_NAMES,) if text.isascii() else (_NAMES, _NAMES_BEYOND_ASCII):
        for name, kind in names.items():
            at = lower.find(name)
            while at >= 0:
                end = at + len(name)
                if names is not _NAMES or (text[end : end + 1] in _AFTER_NAME and _ends_name(text, at, end)):
                    from .secret import assignment

                    span = assignment(text, at, end, kind)
                    if span is not None:
                        yield span
                        end = span[1]
                at = lower.find(name, end)


def redact_tree(value: Any, names: tuple[str, ...] = ()) -> Any:
    """A copy of a JSON value with all its text redacted, keys too; each text as the value of every key above it."""
    if len(names) > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {redact(key): redact_tree(child, (*names, key)) for key, child in value.items()}
    if isinstance(value, list):
        return [redact_tree(child, (*names, "")) for child in value]
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        return value
    text = redact(str(value))
    for head in ['"%s": """' % name for name in names if name]:
        line = redact('%s%s"""' % (head, text))
        text = line[len(head) : -3] if line.startswith(head) else text
    return text if text != str(value) else value


def _ends_name(text: str, at: int, end: int) -> bool:
    """`pass` ends DB_PASS, dbPass and dbpass, but not bypass."""
    if at == 0 or text[at - 1] not in _ALNUM or text[at] in "_-" or text[at].isupper() != text[at - 1].isupper():
        return True
    is_other = text[max(0, at - 5) : at].lower().endswith(_OTHER)
    return end - at > 4 or (text[at:end].lower() in ("pass", "pwd", "pw", "key", "auth") and not is_other)
