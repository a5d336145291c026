"""Whether a text is a secret, and where one ends; loaded only when `redact` has a suspicion."""

from __future__ import annotations

from .settings import REDACTED as MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    Span = tuple[int, int, str]

TABLES_FILE = __file__[: -len(".py")] + ".txt"
TABLES: Any = globals().get("TABLES")  # a hook has them already, see `bundle`
if not TABLES:
    from .tables import read

    _tables = read(TABLES_FILE)
    TABLES = {name: [word for row in rows for word in row[-1].split()] for name, rows in _tables.items()}
    TABLES["prefixes"] = {head: kind for kind, heads in _tables["prefixes"] for head in heads.split()}
_HEADS: dict[str, str] = TABLES["prefixes"]
_IDS, _MASKS, _REFERENCES = (tuple(TABLES[name]) for name in ("ids", "masks", "references"))
_HARMLESS, _FAULTS, _WORDS = (frozenset(TABLES[name]) for name in ("harmless", "faults", "vocabulary"))
_PAIRS = frozenset([letters[0] + letter for letters in TABLES["pairs"] for letter in letters[1:]])

_NAME_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
_TOKEN_CHARS = _NAME_CHARS | frozenset("+/=")
_HEX = "0123456789abcdef"
_TOKEN = _TOKEN_CHARS | frozenset("~%")
_SIGNS = {"=": "=", ":": ":", "：": ":", ">": ">", "=>": ":", ":=": "="}  # longer ones compare
_QUOTES = ('"', "'", "`")
_NAME_TAIL = (*_QUOTES, "\\", "]", "?", "*", *"0123456789")
_ENTRY = ("value=", "value:", 'value":', "value':", "default =", "default:")
_AROUND = "\"'`()[]<>,;.:|*"  # a word in a sentence
_CODE_SIGNS = frozenset("=(){}<>[],/\\")
_LINKS = ("is", "ist", "lautet", "est", "es", "to", "was", "jest", "je")  # between a name and its value in a sentence
_LINKS_GLUED = ("は", "是", "为", "為", "는", "은", "：")
_VALUE_MAX_CHARS = 4096
_STOPS = str.maketrans(dict.fromkeys("\t\r\n\v\f\"'`<>;&|,)]}(", " "))
_ENV_STOPS = str.maketrans(dict.fromkeys("\t\r\n\v\f\"'`<>;&|", " "))
_WEAK = ("key", "auth", "credential", "pat")  # names of much that is no secret: the value must look like one
_KEYS = {
    **dict.fromkeys(("api", "auth"), "api-key"), **dict.fromkeys(("access", "account"), "access-key"),
    **dict.fromkeys(("secret", "signing", "encryption", "master", "app"), "secret-key"), "private": "private-key",
}  # fmt: skip
_TELLING = frozenset(("password", "passwd", "secret", "token", "key", "credential", "credentials", "auth"))
_CODE_MAX_CHARS = 512  # names, paths and references end before; also bounds what a rejected value costs


def places(text: str, rows: Iterable[tuple[str, str, str]]) -> Iterator[Span]:
    """Secrets beside a literal, by the patterns of `redact`."""
    import re

    for kind, _, pattern in rows:
        for match in re.finditer(pattern, text):
            first, last = match.span(match.lastindex or 0)
            if kind == "secret" and "\n" in text[first:last]:  # the entries of a Kubernetes secret
                for entry in re.finditer(r": +[\"']?(?!\|)([^\s\"'{$]{4,})", text[first:last]):
                    yield first + entry.start(1), first + entry.end(1), kind
            elif not _is_harmless(kind, text[first:last]):
                yield first, last, kind


def _is_harmless(kind: str, secret: str) -> bool:
    if kind == "cookie":  # `sid=abcdef123456` opens something, `theme=dark` does not
        values = [part.partition("=")[2] for part in secret.split(";")]
        return not any(len(value) >= 10 and sum(c.isdigit() for c in value) > 1 for value in values)
    if kind == "webhook":
        return sum(c.isdigit() for c in secret) < 5
    if kind == "token":
        return not _is_random(secret, 20)
    if kind in ("password", "secret", "authorization"):
        return stands_in(secret)
    return "EXAMPLE" in secret


def tokens(text: str, words: list[str]) -> Iterator[Span]:
    """Tokens by their own form: what a vendor begins them with, random parts with a dot, or one after a short name."""
    line = " ".join(words)
    heads = [(head, kind) for head, kind in _HEADS.items() if head in line]
    at = 0
    for word in words:
        at = text.index(word, at)
        start, end = at + (text[at - 1 : at] == "\\"), at + len(word)  # an escaped character ends the word before it
        if "sha" not in text[max(0, at - 8) : at]:  # not a hash, as package managers list them
            spans = (_vendor_token(text, start, end, head, kind) for head, kind in heads)
            yield from [span for span in spans if span] or _random_words(text, start, end)
        at = end


def _vendor_token(text: str, start: int, end: int, head: str, kind: str) -> Span | None:
    is_first = head.isalnum() or len(head) < 4
    first = text.find(head, start, start + len(head) if is_first else end)
    last = body = first + len(head)
    while text[last : last + 1] in _TOKEN_CHARS:
        last += 1
    last -= text[last - 1] == "."
    value = text[body:last]
    is_typed = not is_first and value.isalnum() and not value.isalpha()  # by hand
    is_random = len(value) >= (20 if is_first else 16) and (is_typed or _surprises(value) * 3 >= len(value))
    return (first, last, kind) if first >= 0 and is_random and "EXAMPLE" not in value else None


def _random_words(text: str, start: int, end: int) -> Iterator[Span]:
    word = text[start:end]
    parts = word.replace("-", "_").replace(".", "_").split("_")
    names = 0
    while names < len(parts) and parts[names].islower() and (parts[names].isalpha() or len(parts[names]) < 5):
        names += 1
    name, body, longest = parts[0], "_".join(parts[names:]), max(parts, key=len)
    is_named = names > 0 and name.isalpha() and len(name) > 1 and name not in _IDS and bool(longest.strip(_HEX))
    if sum(_is_random(part, 14) for part in word.split(".")) > 1 and word.count("-") * 10 < len(word):
        yield start, end, "jwt" if word.startswith("eyJ") else "token"
    elif is_named and text[end : end + 1] not in ("/", "+", "=") and _is_random(longest, 12) and _is_random(body, 28):
        yield start, end, "token"


def _surprises(value: str) -> int:
    """How many neighbours no word has: a digit beside another sign, a capital after a small letter, rare pairs."""
    return sum(
        a.isdigit() != b.isdigit() or (a.islower() and b.isupper()) or (a.isalpha() and (a + b).lower() not in _PAIRS)
        for a, b in zip(value, value[1:])
        if a + b not in _PAIRS and (b.isalnum() or a.isdigit())
    )


def named(name: str, kind: str) -> str:
    """The kind of a secret under a whole name; "" if the name is of something else."""
    words = _words(name.rpartition(".")[2])
    if (kind in ("key", "token") and not _HARMLESS.isdisjoint(words)) or not _FAULTS.isdisjoint(words):
        return ""
    if kind != "key":
        return kind
    stem = words[-2] if words[-1] == "key" and len(words) > 1 else words[-1][:-3]
    stem = "api" if words[0] == "x" else stem  # a header
    return next((known for head, known in _KEYS.items() if stem.endswith(head)), kind)


def assignment(text: str, at: int, end: int, kind: str) -> Span | None:
    """The secret assigned to the name whose last word is `text[at:end]`, if there is one."""
    key_at, furthest = at, max(0, at - 64)
    while key_at > furthest and text[key_at - 1] in _NAME_CHARS:
        key_at -= 1
    name, before = text[key_at:end], text[max(0, key_at - 10) : key_at].lower()
    kind = named(name, kind)
    is_part = before[-1:] == text[end : end + 1] == ":"  # of an ARN
    if not kind or is_part or before.endswith((MARK, "::")):
        return None
    sign, start = _separator(text, end, is_foreign=not name.isascii())
    option = name.startswith("-")
    if not sign and not (option and start > end):
        return _in_sentence(text, start, name, kind)
    is_glued = text[start - 1] == "="
    is_env, is_query = is_glued and name.isupper(), is_glued and before[-1:] in ("?", "&", ";")
    first, last, quoted = _value(text, start, _ENV_STOPS if is_env else _STOPS)
    if (sign == ">" and not text.startswith("</", last)) or (sign == "==" and not quoted):
        return None
    is_option = option and (is_glued or last - first >= 10)
    strict = is_env or is_query or is_option
    value = text[first : last + (not quoted and text[last : last + 1] == "(")]
    is_type = sign == ":" and (text[last : last + 1] == "<" or text[last : last + 2] in (";", ";\n"))
    is_number = value.isdigit() and text[end : end + 1] in _QUOTES  # a password would be quoted
    if (sign == ":" and name == "key" and not value.strip(_HEX)) if quoted else is_type or is_number:  # an element's
        return None
    if kind in _WEAK and not _is_random(value, 20) and (is_glued or kind != "credential"):
        is_long = len(value) >= 12 and any(c.isdigit() for c in value)
        return (first, last, kind) if (is_env or is_query) and is_long and not stands_in(value) else None
    if is_secret(value, quoted=quoted, strict=strict, kind=kind):
        return first, last, kind
    is_call = value.endswith("(") or sign == ":"
    return _in_sentence(text, start, name, kind) if is_call and not quoted else None


def _separator(text: str, at: int, *, is_foreign: bool) -> tuple[str, int]:
    """The sign between a name that ends at `at` and its value, "" in a sentence, and where the value starts."""
    while is_foreign and text[at : at + 1].isalpha() and text[at] not in _LINKS_GLUED:
        at += 1  # an inflected ending
    while text[at : at + 1] in _NAME_TAIL:
        at += 1
    rest = text[at : at + 32]
    bare = rest.lstrip(" \t\n{,\"'" if text[at - 1] in _QUOTES else " \t\n{")
    if bare.startswith(_ENTRY):  # `name="password" value="…"`, also of JSON, or on the next line `value: …`
        at += len(rest) - len(bare) + (7 if bare[0] == "d" else 5)
        at += text[at : at + 1] in _QUOTES
    sign_at = _skip_blanks(text, at)
    sign = text[sign_at : sign_at + 1]
    after = sign_at + 1
    if text.startswith(("||", "??", "or "), sign_at):  # a literal to fall back on
        return "==", _skip_blanks(text, sign_at + 2)
    if sign not in _SIGNS or (sign == ":" and text.startswith((":", "//"), after)):
        return "", sign_at if sign_at > at or is_foreign or sign in (",", "(") else len(text)
    while text[after : after + 1] in ("=", ">"):
        sign, after = sign + text[after], after + 1
    if sign == ":":
        if text[after : after + 4].strip(" |>-") == "\n":  # a block of YAML
            after = text.index("\n", after) + 1
        kind, equals, _ = text[after : after + 48].partition(" = ")  # `token: str = "..."`: the value follows its type
        if equals and kind.strip(" ?]&*").replace("[", "").replace(".", "").isidentifier():
            return "=", _skip_blanks(text, after + len(kind) + 3)
    return _SIGNS.get(sign, "=="), _skip_blanks(text, after)


def _in_sentence(text: str, at: int, name: str, kind: str) -> Span | None:
    """The first of the next words that can only be a secret: "the password of the server was changed to …"."""
    piece = text[at : at + 640].split("\n", 1)[0]
    piece = piece if piece.isascii() else "".join([c if c.isascii() else ":" for c in piece])  # `é` is such a sign
    is_near, end = True, 0
    piece = piece.replace('("', ' "')  # the argument of a call
    is_verb = name.lower().endswith("pass") and "user" not in text[max(0, at - 40) : at].lower()
    is_first = is_told = not is_verb
    for word in piece.split(None, 7)[:7]:
        start = piece.index(word, end)
        end = start + len(word)
        value = word.strip(_AROUND)
        if not value.isalpha() or len(value) > 9:
            is_plain = is_near and (is_told or word[0] in _QUOTES) and word[0] != "("
            if _is_odd(value, kind, is_near=is_near, is_plain=is_plain):
                first = at + start + len(word) - len(word.lstrip(_AROUND))
                return first, first + len(value), kind
        if value and (word[-1] in ".;" or "=" in word):
            break
        is_first = is_first and not value
        is_told = is_first or (not is_verb and (word in _LINKS or word[-1] in ":/"))
        is_near = is_told or not name.isascii()
    return None


def _is_odd(value: str, kind: str, *, is_near: bool, is_plain: bool) -> bool:
    """Whether a word in a sentence can only be a password or token: `m0nkeyBusiness7`, not `Base64Url`."""
    if len(value) < 6 or stands_in(value) or _is_code(value):
        return False
    is_password, is_mixed = kind in ("password", "credential"), not value.islower() and not value.isupper()
    if is_near and is_password and len(value) > 9 and is_mixed and _surprises(value) * 2 > len(value):
        return True
    has_letter, has_digit = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    is_mixture = has_letter and has_digit and _CODE_SIGNS.isdisjoint(value)
    if not is_mixture or (kind in _WEAK and not is_password):
        return _is_random(value, 20)
    is_word = not is_mixed and (value.isupper() or "-" in value or "_" in value)
    is_chosen = is_plain and is_password and not is_word
    is_signed = any(c in "!@$^&*?" for c in value[1:]) and not value.replace("$", "_").isidentifier()
    return is_chosen or is_signed or (is_near and _surprises(value) > 5)


def _is_random(value: str, least: int) -> bool:
    """Whether digits and letters alternate as in no name, date or path; a UUID is no secret by itself."""
    is_word = least <= len(value) <= _CODE_MAX_CHARS and _TOKEN.issuperset(value)
    fifths = 2 if value.strip(_HEX) or len(value) < 24 else 1  # in hexadecimal, digits stand together more often
    return is_word and _surprises(value) * 5 >= len(value) * fifths and not (value.count("-") == 4 and len(value) == 36)


def _skip_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at


def _value(text: str, start: int, stops: dict[int, str]) -> tuple[int, int, bool]:
    """Where the value at `start` begins and ends inside its quotes, and whether it has any."""
    at = start + (text[start : start + 1] in tuple("fbruFBRU@N") and text[start + 1 : start + 2] in _QUOTES)
    escapes = at + len(text[at : at + 32]) - len(text[at : at + 32].lstrip("\\"))
    if text[escapes : escapes + 1] not in _QUOTES:
        for limit in (768, len(text)):  # a text may be full of names: few have a value that is longer
            piece = text[start : start + limit].translate(stops)
            word = "" if piece[:1].isspace() else (piece.split(None, 1) or [""])[0]
            if len(word) < limit:
                break
        for stop in (MARK, "\\n", "\\r", "\\t", "\\u"):
            word = word.partition(stop)[0]
        return start, start + len(word.rstrip(".:,\\")), False
    quote = text[at : escapes + 1]
    quote = quote * 3 if text.startswith(quote * 3, at) else quote
    first = at + len(quote)
    end = text.find("\n", first, first + _VALUE_MAX_CHARS)
    end = min(len(text), first + _VALUE_MAX_CHARS) if end < 0 or len(quote) == 3 else end
    close = text.find(quote, first, end)
    while close > first and text[close - 1] == "\\":
        close = text.find(quote, close + 1, end)
    return first, end if close < 0 else close, True


def stands_in(value: str) -> bool:
    """Not a secret in any place: empty, masked, a variable, a documentation word."""
    is_variable = value[:1] in ("$", "%") and (value.endswith("%") or value[1:2] in "{([" or value[1:].isidentifier())
    is_number = value[:2] == "0x" and len(value) < 12
    if len(set(value)) <= 2 or is_variable or is_number or value.startswith((MARK, *_REFERENCES)):
        return True
    bare = value.lstrip("^~#").replace(".", "")
    is_version = len(value) < 10 and bare != value and (bare.isdigit() or value[0] in "^~#")  # or a colour
    if is_version or any(sign in value[:_CODE_MAX_CHARS] for sign in _MASKS):
        return True
    digits = sum(c.isdigit() for c in value)
    is_chosen = digits > (1 if any(c in "!@#^*?" for c in value) else 3)  # `admin2024`: a word and a year
    words = [] if is_chosen else _words(value)
    is_name = not _TELLING.isdisjoint(words)  # of a secret, not one
    is_name = is_name or (digits < 2 and any(word in value.lower() for word in ("pass", "pwd", "secret")))
    return is_name or (bool(words) and _WORDS.issuperset(words))


def is_secret(value: str, *, quoted: bool, strict: bool, kind: str) -> bool:
    """Whether the value assigned to a secret's name is one; `strict` marks environment, option and query."""
    chosen = kind in ("password", "secret")  # by a person: it may be an ordinary word, which tokens never are
    if len(value) > _CODE_MAX_CHARS:
        return not quoted or " " not in value[:_CODE_MAX_CHARS]
    is_path = value.lstrip("~.")[:1] in ("/", "\\") and not _is_random(value, 32)
    if is_path or value[1:3] in (":\\", ":/") or stands_in(value):
        return False
    if value.isdigit():
        return chosen and len(value) >= 4
    if not quoted:
        is_constant = "_" in value and value.isupper() and not strict
        is_long = len(value) >= (4 if chosen or not value.isalpha() else 8)
        return not _is_code(value) and not is_constant and (is_long if strict else _is_unusual(value, chosen))
    if value[0] == " " or (value[0] in ".)," and "(" in value):
        return False  # the quote was the end of a text
    if " " in value:  # text for a reader: "Invalid token", "Enter a password"
        words = _words(value)
        return len(words) > 2 - strict and not value[0].isupper() and _TELLING.isdisjoint(words)
    is_word = sum(c.isdigit() for c in value) < 2 - chosen and _surprises(value) * 3 < len(value)
    if value.isalpha() and (is_word or len(value) < 10 or not value.isascii()):
        return False  # what code calls a password is mostly a sample, or a word for it
    return len(value) >= 4 and (chosen or not is_word)


def _words(value: str) -> list[str]:
    """`myApiKey2` is my, api, key."""
    pairs = zip(" " + value, value)
    parts = [" " + c if c.isupper() and last.islower() else c if c.isalpha() else " " for last, c in pairs]
    return "".join(parts).lower().split()


def _is_code(value: str) -> bool:
    value = value.replace("$", "_")
    head, call, _ = value.replace("[0]", "").replace("[1]", "").partition("(")
    if call:
        return all(part.isidentifier() for part in head.strip("[{!*-").split(".")) or not head
    head, index, _ = value.partition("[")
    parts = head.split(".")
    is_telling = not _TELLING.isdisjoint(_words(value)) or not any(_is_unusual(part, False) for part in parts)
    return (bool(index) or (len(parts) > 1 and is_telling)) and all(part.isidentifier() for part in parts)


def _is_unusual(value: str, chosen: bool) -> bool:
    bare = value.replace("_", "").replace("-", "")
    if bare.isalpha():
        return len(value) >= (20 if "-" in value else 32)
    has_digit = any(c.isdigit() for c in value)
    if chosen:
        return has_digit or any(c in "!@#^~+=$%/" for c in value) or _surprises(value) * 2 > len(value) > 9
    return has_digit and len(bare) >= 12
