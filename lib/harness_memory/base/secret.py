"""Whether a text is a secret, and where one ends; loaded only when `redact` has a suspicion."""

from __future__ import annotations

from .settings import REDACTED as MARK
from .typing import Any, Iterable, Iterator, TypeAlias

Span: TypeAlias = "tuple[int, int, str]"

TABLES_FILE = __file__[: -len(".py")] + ".txt"
TABLES: Any = globals().get("TABLES")  # a hook has them already, see `bundle`
if not TABLES:
    from .tables import read

    _tables = read(TABLES_FILE)
    TABLES = {name: frozenset([word for row in rows for word in row[-1].split()]) for name, rows in _tables.items()}
    for _name in ("prefixes", "keys"):
        TABLES[_name] = {word: kind for kind, words in _tables[_name] for word in words.split()}
_PAIRS = frozenset([letters[0] + letter for letters in TABLES["pairs"] for letter in letters[1:]])

_NAME_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
_TOKEN_CHARS = _NAME_CHARS | frozenset("+/=")
_HEX = "0123456789abcdef"
_SIGNS = {"=": "=", ":": ":", "：": ":", ">": ">", "=>": ":", ":=": "="}  # longer ones compare
_QUOTES = ('"', "'", "`")
_ENTRY = ("value=", "value:", 'value":', "value':", "default =", "default:")
_AROUND = "\\\"'`()[]<>,;.:|*"  # a word in a sentence
_CODE_SIGNS = frozenset("=(){}<>[],/\\")
_STOPS = str.maketrans(dict.fromkeys("\t\r\n\v\f\"'`<>;&|,)]}(", " "))
_SPOKEN_STOPS = {sign: blank for sign, blank in _STOPS.items() if sign != ord("&")}
_ENV_STOPS = str.maketrans(dict.fromkeys("\t\r\n\v\f\"'`<>;&|", " "))
_CODE_MAX_CHARS = 512  # names, paths and references end before; also bounds what a rejected value costs


def places(text: str, rows: Iterable[tuple[int, str, str]]) -> Iterator[Span]:
    """Secrets beside a literal, by the patterns of `redact`."""
    import re

    for _, kind, pattern in rows:
        for match in re.finditer(pattern, text):
            first, last = match.span(match.lastindex or 0)
            if match.lastindex == 2:  # a Kubernetes secret, a column below a name
                cells = r"(?m)^(?:[^|\n]*\|){%d}[ `]*([^|\n]+?)[ `]*(?=\|)" % match[1].count("|")
                entries = cells if kind == "password" else r": +[\"']?(?!\|)([^\s\"'{$]{4,})"
                for entry in re.finditer(entries, text[first:last]):
                    if is_secret(entry[1], quoted=False, strict=kind == "secret", kind=kind):
                        yield first + entry.start(1), first + entry.end(1), kind
                continue
            secret = text[first:last]
            is_harmless = secret.replace("_", "").isalpha() and secret.islower() and (len(secret) < 7 or "_" in secret)
            is_harmless = is_harmless or text.endswith("/%s:" % secret, 0, first) or stands_in(secret)  # as the user
            if kind == "cookie":  # `sid=abcdef123456` opens something, `theme=dark` does not
                values = [part.partition("=")[2] for part in secret.split(";") if " " not in part.strip()]
                is_harmless = not any(len(value) >= 10 and _digits(value) > 1 for value in values)
            elif kind in ("webhook", "token"):
                is_harmless = not _is_random(secret, 20) and (kind == "token" or _digits(secret) < 5)
            elif kind not in ("password", "secret"):
                is_harmless = "EXAMPLE" in secret or (kind == "authorization" and (is_harmless or _is_code(secret)))
            if not is_harmless:
                yield first, last, kind


def tokens(text: str, words: list[str]) -> Iterator[Span]:
    """Tokens by their own form: what a vendor begins them with, random parts with a dot, or one after a short name."""
    heads = [(head, kind) for head, kind in TABLES["prefixes"].items() if head in text]
    at = 0
    for word in words:
        at = text.index(word, at)
        start, end = at + (text[at - 1 : at] == "\\"), at + len(word)  # an escaped character ends the word before it
        is_hash = "sha" in text[max(0, at - 8) : at]  # as package managers list them
        at = end
        for head, kind in [] if is_hash else heads:
            is_first = head.isalnum() or len(head) < 4
            first = text.find(head, start, start + len(head) if is_first else end)
            if first < 0:
                continue
            last = body = first + len(head)
            while text[last : last + 1] in _TOKEN_CHARS:
                last += 1
            last -= text[last - 1] == "."
            value = text[body:last]
            is_typed = is_first or not (value.isalnum() or _digits(value) * 2 > len(value))  # by hand
            is_code = len(head) < 3 and (text[first - 1 : first] in ("/", "+") or not value.isalnum())  # `s.name(`
            is_long = len(value) >= (20 if is_first else 16) and "EXAMPLE" not in value
            if is_long and not is_code and (not is_typed or _surprises(value) * 3 >= len(value)):
                yield first, last, kind
                is_hash = True
        if not is_hash:
            yield from _random_words(text, start, end)


def _random_words(text: str, start: int, end: int) -> Iterator[Span]:
    word, before = text[start:end], text[max(0, start - 6) : start]
    is_file = "." in word[-6:] and word[-6:].rpartition(".")[2].islower()
    is_host = "+" in word if text[end : end + 1] == "@" else before.endswith("//")  # or an address of mail
    is_outline = sum(c.isalpha() for c in word) * 7 < len(word) * 2  # of SVG
    is_id = before.rstrip("\"': =").lower().endswith("id") and "aid" not in before
    if is_file or is_host or is_outline or is_id:
        return
    parts = word.replace("-", "_").replace(".", "_").split("_")
    names = 0
    while names < len(parts) and parts[names].islower() and (parts[names].isalpha() or len(parts[names]) < 5):
        names += 1
    name, body, longest = parts[0], "_".join(parts[names:]), max(parts, key=len)
    is_name = name.isalpha() and name not in TABLES["ids"]
    is_named = names > 0 and is_name and bool(longest.strip(_HEX))
    if sum(_is_random(part, 14) for part in word.split(".")) > 1:
        yield start, end, "jwt" if word.startswith("eyJ") else "token"
    elif is_named and _is_random(body, 28):
        yield start, end, "token"


def _surprises(value: str) -> int:
    """How many neighbours no word has: a digit beside another sign, a capital after a small letter, rare pairs."""
    return sum(
        a.isdigit() != b.isdigit() or (a.islower() and b.isupper()) or (a.isalpha() and (a + b).lower() not in _PAIRS)
        for a, b in zip(value, value[1:])
        if a + b not in _PAIRS and (b.isalnum() or a.isdigit())
    )


def assignment(text: str, at: int, end: int, kind: str) -> Span | None:
    """The secret assigned to the name whose last word is `text[at:end]`, if there is one."""
    key_at, furthest = at, max(0, at - 64)
    while key_at > furthest and text[key_at - 1] in _NAME_CHARS:
        key_at -= 1
    name, before = text[key_at:end], text[max(0, key_at - 10) : key_at].lower()
    if kind == "key" and len(name) == 3:  # "Secret Key: "
        word = (text[furthest:key_at].split() or [""])[-1]
        name = word + "_key" if word.isalpha() else name
    words = _words(name.rpartition(".")[2])
    stem = words[-2] if words[-1] == "key" and len(words) > 1 else words[-1][:-3]
    is_harmless = kind in ("key", "token") and not TABLES["harmless"].isdisjoint([*words, stem])
    if kind == "key":
        stem = "api" if name[:2].lower() == "x-" else stem  # a header
        kind = next((known for head, known in TABLES["keys"].items() if stem.endswith(head)), kind)
    is_part = before[-1:] + text[end : end + 1] in ("::", "[]")  # of an ARN, a subscript
    if is_harmless or not TABLES["faults"].isdisjoint(words) or is_part or before.endswith((MARK, "::")):
        return None
    sign, start = _separator(text, end, is_foreign=not name.isascii())
    option = name.startswith("-") and text[end : end + 1] != "`"
    if not sign and not (option and start > end):
        is_class = name.isalnum() and name[0].isupper() and len(_words(name)) > 1
        return None if is_class and text[end + 1 : end + 2] not in _QUOTES else _in_sentence(text, start, name, kind)
    is_glued = text[start - 1] == "="
    is_env, is_query = is_glued and name.isupper(), is_glued and before[-1:] in ("?", "&", ";")
    first, last, quoted = _value(text, start, _ENV_STOPS if is_env else _SPOKEN_STOPS if sign == ":" else _STOPS)
    is_value = before.endswith((".svg?", "="))  # `[type=pass]:`
    is_test = name.lower() == "pass" and (name.isupper() or before[-2:-1].isalnum())  # "Tests pass: …"
    if is_value or is_test or (sign == ">" and not text.startswith("</", last)):
        return None
    strict = is_env or is_query or (option and (is_glued or (last - first >= 10 and not text[first:last].isalpha())))
    value = text[first : last + (not quoted and text[last : last + 1] == "(")]
    is_type = sign == ":" and (text[last : last + 1] == "<" or text[last : last + 2] in (";", ";\n"))
    is_count = text[end : end + 1] in _QUOTES or (sign == "=" and not is_glued and len(value) < 6)
    is_type = is_type or (is_count and value.isdigit())
    if (sign == ":" and name == "key" and not value.strip(_HEX)) if quoted else is_type:  # an element's key
        return None
    if kind in TABLES["weak"] and not _is_random(value, 20) and (is_glued or kind != "credential"):
        is_long = len(value) >= 12 and _digits(value) > 0
        return (first, last, kind) if (is_env or is_query) and is_long and not stands_in(value) else None
    if is_secret(value, quoted=quoted, strict=strict, kind=kind):
        return first, last, kind
    return None if quoted else _in_sentence(text, start, name, kind)


def _separator(text: str, at: int, *, is_foreign: bool) -> tuple[str, int]:
    """The sign between a name that ends at `at` and its value, "" in a sentence, and where the value starts."""
    at += 2 * text.startswith("'s ", at)
    while is_foreign and text[at : at + 1].isalpha() and text[at] not in TABLES["links glued"]:
        at += 1  # an inflected ending
    while text[at : at + 1] in (*_QUOTES, *"\\]?*0123456789"):
        at += 1
    rest = text[at : at + 32]
    bare = rest.lstrip(" \t\n{,\"'" if text[at - 1] in _QUOTES else " \t\n{")
    if bare.startswith(_ENTRY):  # `name="password" value="…"`, also of JSON, or on the next line `value: …`
        at += len(rest) - len(bare) + (7 if bare[0] == "d" else 5)
        at += text[at : at + 1] in _QUOTES
    sign_at = at
    while text[sign_at : sign_at + 1] in (" ", "\t"):
        sign_at += 1
    sign, after = text[sign_at : sign_at + 1], sign_at + 1
    if text.startswith(("||", "??"), sign_at) and text[sign_at + 2 : sign_at + 5].strip(" =")[:1] in _QUOTES:
        sign, after = "=", sign_at + 2 + text.startswith("=", sign_at + 2)
    if sign not in _SIGNS or (sign == ":" and text.startswith((":", "//"), after)):
        is_argument = text[at - 1] in _QUOTES if sign == "," else sign_at > at or is_foreign or sign == "("
        return "", sign_at if is_argument else len(text)
    while text[after : after + 1] in ("=", ">"):
        sign, after = sign + text[after], after + 1
    if sign == ":":
        if text[after : after + 4].strip(" |>-") == "\n":  # a block of YAML
            after = text.index("\n", after) + 1
        kind, equals, _ = text[after : after + 48].partition(" = ")  # `token: str = "..."`: the value follows its type
        if equals and kind.strip(" ?]&*").replace("[", "").replace(".", "").isidentifier():
            sign, after = "=", after + len(kind) + 3
    while text[after : after + 1] in (" ", "\t"):
        after += 1
    return _SIGNS.get(sign, "=="), after


def _in_sentence(text: str, at: int, name: str, kind: str) -> Span | None:
    """The first of the next words that can only be a secret: "the password of the server was changed to …"."""
    piece, _, rest = text[at : at + 640].partition("\n")
    below = rest[1:].partition("\n")[0]
    if piece.endswith(":") and rest[:1] == "\n" and " " not in below.strip():
        piece += "\n\n" + below
    piece = piece if piece.isascii() else "".join([c if c.isascii() else ":" for c in piece])  # `é` is such a sign
    is_near, is_told, end = True, True, 0
    call, opened, argument = piece.partition('("')
    if opened and " " not in call and TABLES["telling"].isdisjoint(_words(call)):  # the argument of a call
        at, piece = at + len(call) + 1, '"' + argument
    if name.lower().endswith("pass") and "_" not in name and "user" not in text[max(0, at - 40) : at].lower():
        return None  # a verb
    for word in piece.split(None, 7)[:7]:
        if word.partition(":")[0].lower() in TABLES["telling"] and ":" in word:  # the name of its own value
            break
        start = piece.index(word, end)
        end = start + len(word)
        value = word.partition("&#")[0].strip(_AROUND)
        is_short = len(value) < (10 if value.isalpha() else 0 if name.isascii() else 7)  # `OAuth2`
        if not is_short:
            is_plain = is_near and (is_told or word[0] in _QUOTES) and word[0] != "("
            if _is_odd(value, kind, is_near=is_near, is_plain=is_plain):
                first = at + start + len(word) - len(word.lstrip(_AROUND))
                return first, first + len(value), kind
        is_told = not value or word in TABLES["links"] or word[-1] in ":/"
        is_near = is_told or not name.isascii()
    return None


def _is_odd(value: str, kind: str, *, is_near: bool, is_plain: bool) -> bool:
    """Whether a word in a sentence can only be a password or token: `m0nkeyBusiness7`, not `Base64Url`."""
    top = value.partition("@")[2].rpartition(".")[2]
    if top.isalpha() or top.isdigit() or "=" in value.strip("="):  # an address, a setting
        return False
    is_print = not value.strip("0123456789ABCDEF") and len(value) in (16, 40)  # of a public key
    if len(value) < 6 or is_print or stands_in(value) or _is_code(value):
        return False
    is_password, is_mixed = kind in ("password", "credential"), not value.islower() and not value.isupper()
    is_mixture = _digits(value) > 0 and value.lower() != value.upper() and _CODE_SIGNS.isdisjoint(value)
    if not is_mixture or (kind in TABLES["weak"] and not is_password):
        return _is_random(value, 12 if is_near and is_password and is_mixed else 20)
    is_word = not is_mixed and (value.isupper() or 0 < value.count("-") < 3 or "_" in value)
    is_chosen = is_plain and is_password and not is_word
    is_signed = any(c in "!@$^&*?" for c in value[1:])
    is_signed = is_signed or (kind == "api-key" and _is_random(value, 24))
    return is_chosen or is_signed or (is_near and _surprises(value) > 5)


def _is_random(value: str, least: int) -> bool:
    """Whether digits and letters alternate as in no name, date or path; a UUID alone is not a secret."""
    bare = value.replace("~", "").replace("%", "")
    is_word = least <= len(value) <= _CODE_MAX_CHARS and _TOKEN_CHARS.issuperset(bare)
    fifths = 2 if value.strip(_HEX) or len(value) < 24 else 1  # in hexadecimal, digits stand together more often
    return is_word and _surprises(value) * 5 >= len(value) * fifths and not (value.count("-") == 4 and len(value) == 36)


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
    limit = min(len(text), first + 8 * _CODE_MAX_CHARS)
    end = text.find("\n", first, limit) if len(quote) == 1 or quote not in text[first:limit] else -1
    end = limit if end < 0 else end
    close = text.find(quote, first, end)
    while close > first and text[close - 1] == "\\":
        close = text.find(quote, close + 1, end)
    return first, end if close < 0 else close, True


def stands_in(value: str) -> bool:
    """Not a secret in any place: empty, masked, a variable, a documentation word."""
    bare = value[1:].rstrip("-")  # `$user->name`
    is_variable = value[:1] in ("$", "%") and (value.endswith("%") or value[1:2] in "{([" or bare.isidentifier())
    if len(set(value)) <= 2 or is_variable or value.startswith((MARK, *TABLES["references"])):
        return True
    bare = value.lstrip("^~#-").replace(".", "").replace(":", "")  # `8080:80`
    is_version = bare != value and (bare.isdigit() or (len(value) < 10 and value[0] in "^~#"))  # or a colour
    is_version = is_version or (len(value) < 12 and value[:2].lower() in ("0x", "0b"))
    if is_version or any(sign in value[:_CODE_MAX_CHARS] for sign in TABLES["masks"]):
        return True
    digits = _digits(value)
    is_chosen = digits > (1 if any(c in "!@#^*?" for c in value) else 3)  # `admin2024`: a word and a year
    words = [] if is_chosen else _words(value)
    if not TABLES["telling"].isdisjoint(words) or (words and TABLES["vocabulary"].issuperset(words)):
        return True  # the name of a secret, not one
    return digits < 2 and any(word in value.lower() for word in ("pass", "pwd", "secret"))


def is_secret(value: str, *, quoted: bool, strict: bool, kind: str) -> bool:
    """Whether the value assigned to a secret's name is one; `strict` marks environment, option and query."""
    chosen = kind in ("password", "secret")  # by a person: it may be an ordinary word, which tokens never are
    head, *rest = value.split("\\u")  # letters beyond ASCII as JSON writes them
    value = "".join([head, *("é" + part[4:] if part[:3] > "007" else "&" + part[4:] for part in rest)])
    foreign = sum(c > "\x7f" for c in value[:_CODE_MAX_CHARS])
    if foreign * 2 > len(value) or (foreign and len(value.split()) > 1):
        return False  # a word or a sentence in some language
    if len(value) > _CODE_MAX_CHARS:
        return not quoted or " " not in value[:_CODE_MAX_CHARS]
    is_path = value.lstrip("~.")[:1] in ("/", "\\") and not _is_random(value, 32)
    is_path = is_path or ("/" in value and "".join(value.split("/")).replace(".", "").isalpha())
    if is_path or stands_in(value):
        return False
    if value.isdigit():
        return chosen and len(value) >= 4
    is_constant = "_" in value and value.isupper() and not strict and (not quoted or not _digits(value))
    if not quoted:
        is_long = len(value) >= (4 if chosen or not value.isalpha() else 8)
        return not _is_code(value) and not is_constant and (is_long if strict else _is_unusual(value, chosen))
    if value[0] == " " or " {" in value or (value[0] in ".)," and ("(" in value or " " in value)):
        return False  # the quote was the end of a text
    if " " in value:  # text for a reader: "Invalid token", "Enter a password"
        words = _words(value)
        return (chosen or strict) and len(words) > 1 and not value[0].isupper() and TABLES["telling"].isdisjoint(words)
    is_word = _digits(value) < 2 - chosen
    is_word = is_word and _surprises(value if chosen else " ".join(_words(value))) * 3 < len(value)
    if value.replace("-", "", 1).isalpha() and (is_word or len(value) < 10 or not value.isascii()):
        return False  # what code calls a password is mostly a sample, or a word for it
    return len(value) >= 4 and (chosen or not is_word)


def _words(value: str) -> list[str]:
    """`myApiKey2` is my, api, key."""
    pairs = zip(" " + value, value)
    parts = [" " + c if c.isupper() and last.islower() else c if c.isalpha() else " " for last, c in pairs]
    return "".join(parts).lower().split()


def _is_code(value: str) -> bool:
    value = value.strip("=").rpartition("=")[2].replace("$", "_").replace(".#", ".")
    head, call, _ = value.replace("[0]", "").replace("[1]", "").partition("(")
    if call:
        return all(part.isidentifier() for part in head.strip("[{!*-").split(".")) or not head
    head, index, _ = value.partition("[")
    parts = [] if _surprises(head) * 5 >= len(head) * 2 > 14 else head.split(".")  # `W4lnut21.K`
    is_telling = not TABLES["telling"].isdisjoint(_words(value)) or not any(_is_unusual(part, False) for part in parts)
    return (bool(index) or (len(parts) > 1 and is_telling)) and all(part.isidentifier() for part in parts)


def _digits(value: str) -> int:
    return sum(c.isdigit() for c in value)


def _is_unusual(value: str, chosen: bool) -> bool:
    bare = value.replace("_", "").replace("-", "")
    if bare.isalpha():
        return len(value) >= (20 if value.count("-") > 1 else 32)
    if chosen:
        return _digits(value) > 0 or any(c in "!@#^~+=$%/" for c in value) or _surprises(value) * 2 > len(value) > 9
    return _digits(value) > 0 and len(bare) >= 12
