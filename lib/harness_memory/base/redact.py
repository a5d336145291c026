"""Taking secrets out of text before it is kept: each becomes `[redacted:<kind>]`, the rest stays as it is.

A substring search decides which patterns of `tokens` are tried, so that clean text never pays for `re`. Values
assigned to telling names (`DB_PASSWORD=`, `"api_key": "`, `--token `, `Authorization: Bearer `) are found by hand,
because those names are common in ordinary prose; `tokens` separates values from what only stands in their place.
All scans are linear.
"""

from __future__ import annotations

from .tokens import CHOSEN, MARK, NAMES, NETRC, RULES, URL, is_mask, is_secret, stands_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Match

    Span = tuple[int, int, str]

_ALNUM = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_TOKEN_CHARS = _ALNUM | frozenset("-_.+/=%:")
_ESCAPE_MAX_CHARS = 6
_ESCAPE_SIGNS = frozenset("\\%[;")
_MAX_DEPTH = 200  # of a tree: more cannot be written as JSON either
_SHORT = ("password", "authorization")  # kinds that a pattern finds by what stands around them
_SIGNS = {"=": "=", ":": ":", ">": ">", "=>": ":", ":=": "="}  # longer ones compare
_QUOTES = ('"', "'", "`")
_VALUE_ENDS = (MARK, "\\n", "\\r", "\\t", "\\u")
_BLANKS = (" ", "\t")
_NAME_TAIL = (*_QUOTES, "\\", "]", "?", "*", *"0123456789")
_AFTER_NAME = (*_NAME_TAIL, *_BLANKS, "_", "=", ":", ">")
_NAME_MAX_CHARS = 64
_OPTION_WORD_MIN_CHARS = 10
_VALUE_MAX_CHARS = 4096
_PIECE_CHARS = 768  # a text may be full of names: for each only so much is looked at
_HOST_MAX_CHARS = 1024
_STOPS = str.maketrans(dict.fromkeys("\t\r\n\v\f\"'`<>;&|,)]}(", " "))
_ENV_STOPS = str.maketrans(dict.fromkeys("\t\r\n\v\f\"'`<>;&|", " "))


def redact(text: str) -> str:
    for kind, literal, run, pattern in RULES:
        if literal in text and _may_match(text, literal, run):
            text = _substitute(text, kind, pattern)
    if "machine" in text and "login" in text and "password" in text:
        text = _substitute(text, "password", NETRC)
    if "@" in text and any("@" in rest[:_HOST_MAX_CHARS].partition("/")[0] for rest in text.split("://")[1:]):
        text = _substitute(text, "password", URL)
    parts = []
    done = 0
    for start, end, kind in sorted(_assigned(text)):
        if start >= done:
            parts += [text[done:start], MARK, kind, "]"]
            done = end
    return "".join(parts) + text[done:] if parts else text


def redact_tree(value: Any, kind: str = "", depth: int = 0) -> Any:
    """A copy of a JSON value with every string redacted, keys too; a secret's name as key condemns all below it."""
    if depth > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {redact(key): redact_tree(child, _kind(key) or kind, depth + 1) for key, child in value.items()}
    if isinstance(value, list):
        return [redact_tree(child, kind, depth + 1) for child in value]
    if kind and isinstance(value, (str, int, float)) and not isinstance(value, bool):
        text = str(value)
        bare = text.partition(" ")[2] if kind == "authorization" and " " in text else text
        if is_secret(bare, quoted=True, strict=False, chosen=kind in CHOSEN):
            return MARK + kind + "]"
    return redact(value) if isinstance(value, str) else value


def _kind(key: str) -> str:
    """The kind of secret that a name announces."""
    name = _lower(key)
    for ending, kind in (*NAMES.items(), ("authorization", "authorization")):
        if name.endswith(ending) and _ends_name(key, len(name) - len(ending), len(name)):
            return kind
    return ""


# Tokens ----------------------------------------------------------------------------------------


def _may_match(text: str, literal: str, run: int) -> bool:
    """Whether some occurrence starts a word and has `run` token characters after it."""
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        piece = text[end : end + run]
        if len(piece) == run and _TOKEN_CHARS.issuperset(piece):
            before = text[max(0, at - _ESCAPE_MAX_CHARS) : at]  # an escaped character ends the word before it too
            is_inside = literal[0] in _ALNUM and before[-1:] in _ALNUM
            if not is_inside or not _ESCAPE_SIGNS.isdisjoint(before):
                return True
        at = text.find(literal, end)
    return False


def _substitute(text: str, kind: str, pattern: str) -> str:
    import re

    def hide(match: Match[str]) -> str:
        group = 1 if match.re.groups else 0
        secret = match.group(group)
        if stands_in(secret) if kind in _SHORT else is_mask(secret):
            return match.group()
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        return match.group()[:start] + MARK + kind + "]" + match.group()[end:]

    return re.sub(pattern, hide, text)


# Values of telling names -----------------------------------------------------------------------


def _assigned(text: str) -> Iterator[Span]:
    lower = _lower(text)
    for name, kind in NAMES.items():
        at = lower.find(name)
        while at >= 0:
            end = at + len(name)
            if text[end : end + 1] in _AFTER_NAME and _ends_name(text, at, end):
                span = _assignment(text, at, end, kind)
                if span is not None:
                    yield span
                    end = span[1]
            at = lower.find(name, end)


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) != len(text):  # a few letters grow when lowered; offsets must hold
        lower = "".join([c.lower() if c in _ALNUM else c for c in text])
    return lower.replace("-", "_")


def _ends_name(text: str, at: int, end: int) -> bool:
    """`pass` ends DB_PASS and dbPass, but neither bypass nor a sentence."""
    if end - at > 4 or at == 0 or text[at - 1] not in _ALNUM:
        return True
    return text[at].isupper() != text[at - 1].isupper() or text[at : at + 3].lower() != "pas"


def _assignment(text: str, at: int, end: int, kind: str) -> Span | None:
    """The secret assigned to the name whose last word is `text[at:end]`, if there is one."""
    sign, start = _separator(text, end)
    if not sign:
        return None
    key_at, furthest = at, max(0, at - _NAME_MAX_CHARS)
    while key_at > furthest and (text[key_at - 1] in _ALNUM or text[key_at - 1] in "_-."):
        key_at -= 1
    before = text[key_at - 1 : key_at]
    option = text.startswith("--", key_at)
    if text.endswith(MARK, 0, key_at) or (sign == " " and not option) or (sign == ">" and before != "<"):
        return None
    glued = sign == "=" and text[start - 1] == "="
    stops = _ENV_STOPS if glued and text[key_at:end].isupper() else _STOPS
    first, last, quoted = _value(text, start, stops)
    if sign == "==" and not quoted:
        return None
    strict = stops is _ENV_STOPS or sign == ">" or (glued and (option or before in ("?", "&")))
    strict = strict or (option and last - first >= _OPTION_WORD_MIN_CHARS)
    for is_typed in (False, True):
        if is_typed:  # `token: str = "..."`: the value comes after the type
            after = _skip_blanks(text, last + (text[last : last + 1] == "]"))
            if quoted or sign != ":" or text[after : after + 1] != "=" or text[after + 1 : after + 2] in ("=", ">"):
                break
            first, last, quoted = _value(text, _skip_blanks(text, after + 1), stops)
        value = text[first : last + (not quoted and text[last : last + 1] == "(")]
        if last - first >= 3 and is_secret(value, quoted=quoted, strict=strict and not is_typed, chosen=kind in CHOSEN):
            return first, last, kind
    return None


def _separator(text: str, at: int) -> tuple[str, int]:
    """The sign between a name that ends at `at` and its value, and where the value starts."""
    while text[at : at + 1] in _NAME_TAIL:
        at += 1
    sign_at = _skip_blanks(text, at)
    sign = text[sign_at : sign_at + 1]
    if sign not in _SIGNS:
        if text.startswith(" is ", at):
            return "is", at + 4
        return (" ", sign_at) if sign_at > at else ("", at)
    after = sign_at + 1
    if sign == ":" and text.startswith((":", "//"), after):
        return "", at
    while sign != ">" and text[after : after + 1] in ("=", ">"):
        sign, after = sign + text[after], after + 1
    if text.startswith(("** ", "**\t"), after):  # `**Password:** …`, as answers are written
        after += 2
    return _SIGNS.get(sign, "=="), _skip_blanks(text, after)


def _skip_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in _BLANKS:
        at += 1
    return at


def _value(text: str, start: int, stops: dict[int, str]) -> tuple[int, int, bool]:
    """Where the value at `start` begins and ends inside its quotes, and whether it has any."""
    at = start + (text[start : start + 1] in tuple("fbruFBRU") and text[start + 1 : start + 2] in _QUOTES)
    escapes = at
    while text[escapes : escapes + 1] == "\\":
        escapes += 1
    if text[escapes : escapes + 1] not in _QUOTES:
        return start, start + len(_bare(text, start, stops)), False
    quote = text[at : escapes + 1]
    quote = quote * 3 if text.startswith(quote * 3, at) else quote
    first = at + len(quote)
    end = text.find("\n", first, first + _VALUE_MAX_CHARS)
    end = min(len(text), first + _VALUE_MAX_CHARS) if end < 0 or len(quote) == 3 else end
    close = text.find(quote, first, end)
    while close > first and text[close - 1] == "\\" and text[close - 2] != "\\":
        close = text.find(quote, close + 1, end)
    return first, end if close < 0 else close, True


def _bare(text: str, start: int, stops: dict[int, str], limit: int = _PIECE_CHARS) -> str:
    if text.startswith(MARK, start):
        return MARK
    piece = text[start : start + limit].translate(stops)
    word = "" if piece[:1].isspace() else (piece.split(None, 1) or [""])[0]
    if len(word) == limit < len(text):  # rare, and surely a secret
        return _bare(text, start, stops, len(text))
    for stop in _VALUE_ENDS:
        word = word.partition(stop)[0]
    return word.rstrip(".:\\")
