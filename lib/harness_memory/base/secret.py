"""Whether a text is a secret, and where one ends; loaded only when `redact` has a suspicion."""

from __future__ import annotations

from .settings import REDACTED as MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Match

_NAME_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
_SIGNS = {"=": "=", ":": ":", ">": ">", "=>": ":", ":=": "="}  # longer ones compare
_QUOTES = ('"', "'", "`")
_NAME_TAIL = (*_QUOTES, "\\", "]", "?", "*", *"0123456789")
_VALUE_MAX_CHARS = 4096
_STOPS = str.maketrans(dict.fromkeys("\t\r\n\v\f\"'`<>;&|,)]}(", " "))
_ENV_STOPS = str.maketrans(dict.fromkeys("\t\r\n\v\f\"'`<>;&|", " "))
# Well-known defaults count as stand-ins: they are on every word list, so hiding them protects nothing.
_VOCABULARY = """
    a abc above access admin aes an and any api apikey apitoken app are argon argv at auth authorization
    authtoken bar base based basic baz bcrypt bearer below bool boolean bot buffer byte bytes cert change
    changeit changeme char check client code config const correct count credential credentials data db decode
    default demo digest disabled django dummy e empty enabled encoded encrypted enter env environ environment
    error example expired fake false field file flag float foo for from generated get getenv github gitlab goes
    google has hash hashed header here hex hidden hmac i id in include incorrect index insert int integer
    invalid is it item jwt key kind length let literal local localhost long lorem magic masked md me min missing
    must mutable mutation my name new nil no none not null number object of off ok old omit omitted on one
    opaque openai option optional or origin pass passcode passphrase passwd password path pbkdf per placeholder
    plain plaintext point prefix private process promise prompt public put pw pwd query random read readonly
    record redacted redis ref refresh replace replaceme req request required response result root safe same
    sample sanitized secret secrets secretstr see self session set sha short signed size some something stored
    str string stripe strong super supersecret symbol tbd test tester testing text the this to todo token tokens
    topsecret true tuple type uint undefined unknown unset usage use user username utf uuid val value var
    variable vault vec void weak with write wrong www xxx y yes you your yours z
"""
_WORDS = frozenset(_VOCABULARY.split())
_REFERENCES = ("$", "{", "<", "%", "--", "ENC[", "arn:", "vault:", "file:", "data:", "projects/", "env:", "env(")
_CODE_MAX_CHARS = 512  # names, paths and references end before; also bounds what a rejected value costs


def hidden(text: str, kind: str, pattern: str) -> str:
    import re

    def hide(match: Match[str]) -> str:
        group = match.lastindex or 0
        secret = match.group(group)
        # A token with its body blanked out, or the one that is printed in a manual.
        is_mask = len(set(secret[len(secret) // 2 :])) <= 2 or "EXAMPLE" in secret or _is_elided(secret)
        if stands_in(secret) if kind in ("password", "authorization") else is_mask:
            return match.group()
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        return match.group()[:start] + MARK + kind + "]" + match.group()[end:]

    return re.sub(pattern, hide, text)


def assignment(text: str, at: int, end: int, kind: str) -> tuple[int, int, str] | None:
    """The secret assigned to the name whose last word is `text[at:end]`, if there is one."""
    sign, start = _separator(text, end)
    if not sign:
        return None
    key_at, furthest = at, max(0, at - 64)
    while key_at > furthest and text[key_at - 1] in _NAME_CHARS:
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
    strict = strict or (option and last - first >= 10)
    for is_typed in (False, True):
        if is_typed:  # `token: str = "..."`: the value comes after the type
            after = _skip_blanks(text, last + (text[last : last + 1] == "]"))
            if quoted or sign != ":" or text[after : after + 1] != "=" or text[after + 1 : after + 2] in ("=", ">"):
                break
            first, last, quoted = _value(text, _skip_blanks(text, after + 1), stops)
        value = text[first : last + (not quoted and text[last : last + 1] == "(")]
        if last - first >= 3 and is_secret(value, quoted=quoted, strict=strict and not is_typed, kind=kind):
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
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at


def _value(text: str, start: int, stops: dict[int, str]) -> tuple[int, int, bool]:
    """Where the value at `start` begins and ends inside its quotes, and whether it has any."""
    at = start + (text[start : start + 1] in tuple("fbruFBRU") and text[start + 1 : start + 2] in _QUOTES)
    escapes = at
    while text[escapes : escapes + 1] == "\\":
        escapes += 1
    if text[escapes : escapes + 1] not in _QUOTES:
        if text.startswith(MARK, start):
            return start, start + len(MARK), False
        for limit in (768, len(text)):  # a text may be full of names: few have a value that is longer
            piece = text[start : start + limit].translate(stops)
            word = "" if piece[:1].isspace() else (piece.split(None, 1) or [""])[0]
            if len(word) < limit:
                break
        for stop in (MARK, "\\n", "\\r", "\\t", "\\u"):
            word = word.partition(stop)[0]
        return start, start + len(word.rstrip(".:\\")), False
    quote = text[at : escapes + 1]
    quote = quote * 3 if text.startswith(quote * 3, at) else quote
    first = at + len(quote)
    end = text.find("\n", first, first + _VALUE_MAX_CHARS)
    end = min(len(text), first + _VALUE_MAX_CHARS) if end < 0 or len(quote) == 3 else end
    close = text.find(quote, first, end)
    while close > first and text[close - 1] == "\\" and text[close - 2] != "\\":
        close = text.find(quote, close + 1, end)
    return first, end if close < 0 else close, True


def stands_in(value: str) -> bool:
    """Not a secret in any place: empty, masked, a variable, a documentation word."""
    if len(value) < 3 or value.startswith(MARK) or len(set(value)) <= 2:
        return True
    is_hash = value[0] == "$" and len(value) >= 20 and value.count("$") >= 3
    if (value.startswith(_REFERENCES) and not is_hash) or "://" in value or "${" in value or "{{" in value:
        return True
    if value.lower() in _WORDS or len(value) > _CODE_MAX_CHARS or _is_elided(value):
        return len(value) <= _CODE_MAX_CHARS
    digits = sum(c.isdigit() for c in value)
    words = _words(value) if digits < 4 else []  # `admin2024`: people choose a word and a year
    return bool(words) and (_WORDS.issuperset(words) or ("your" in words and not digits))


def is_secret(value: str, *, quoted: bool, strict: bool, kind: str) -> bool:
    """Whether the value assigned to a secret's name is one; `strict` marks environment, option and query."""
    chosen = kind in ("password", "secret")  # by a person: it may be an ordinary word, which tokens never are
    if len(value) > _CODE_MAX_CHARS:
        return not value.startswith(MARK)
    is_path = value.startswith(("/", "./", "../", "~/", "~\\", ".\\", "..\\"))
    if is_path or (value[1:3] in (":\\", ":/") and value[0].isalpha()) or stands_in(value):
        return False
    if value.isdigit():
        return chosen and len(value) >= 4
    if not quoted:
        return not _is_code(value) and (len(value) >= 4 if strict else _is_random(value, chosen))
    if " " in value:  # text for a reader: "Invalid token", "Enter a password"
        words = _words(value)
        return bool(words) and not value[0].isupper() and {"password", "token", "secret", "key"}.isdisjoint(words)
    is_word = value.replace("_", "").replace("-", "").isalpha()
    return len(value) >= (4 if chosen else 16 if is_word else 0)


def _is_elided(value: str) -> bool:
    return len(value) <= 48 and any(mark in value.lower() for mark in ("***", "...", "\u2026", "xxxx", "\u2022\u2022"))


def _words(value: str) -> list[str]:
    """`myApiKey2` is my, api, key; none when it has a sign that identifiers and phrases do not have."""
    if not all(c.isalnum() or c in "_-. '\"`[]/:?!*" for c in value):
        return []
    pairs = zip(" " + value, value)
    parts = [" " + c if c.isupper() and last.islower() else c if c.isalpha() else " " for last, c in pairs]
    return "".join(parts).lower().split()


def _is_code(value: str) -> bool:
    head, call, _ = value.partition("(")
    if call or value[-1] in "[{(" or value.startswith(("--", "*", "!")):
        return all(part.isidentifier() for part in head.strip("[{!*-").split(".")) or not head
    head, index, _ = value.partition("[")
    parts = head.split(".")
    is_name = bool(index) or (len(parts) > 1 and not any(_is_random(part, False) for part in parts))
    return is_name and all(part.isidentifier() for part in parts)


def _is_random(value: str, chosen: bool) -> bool:
    bare = value.replace("_", "").replace("-", "")
    if bare.isalpha():
        return len(value) >= (20 if "-" in value else 32)
    if not any(c.isalpha() for c in bare):
        return chosen and len(value) >= 8
    if chosen:
        return len(value) >= 5 and any(c.isdigit() or c in "!@#^~+=$%/" for c in value)
    word = bare.rstrip("0123456789")
    is_word_and_number = len(bare) < 12 and word.isalpha() and len(word) > 2
    return len(value) >= 8 and any(c.isdigit() for c in value) and not is_word_and_number
