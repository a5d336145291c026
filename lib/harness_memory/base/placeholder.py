"""Telling a secret from what only stands in its place: stand-ins, code, labels.

Well-known defaults (`changeme`, `password`, `example`) count as stand-ins: they are on every word list, so hiding
them protects nothing, while "the password was still changeme" is worth keeping.
"""

from __future__ import annotations

from .tokens import MARK

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
_PATHS = ("/", "./", "../", "~/", "~\\", ".\\", "..\\")
_ELISIONS = ("***", "...", "\u2026", "xxxx", "\u2022\u2022")
_SYMBOLS = frozenset("!@#^~+=$%/")
_VARIABLE_HASH_CHARS = 20
_ELIDED_MAX_CHARS = 48
_DIGITS_OF_A_CHOICE = 4
_PHRASE_MIN_CHARS = 20
_LETTERS_MIN_CHARS = 32
_LABEL_WORD_MIN_CHARS = 16
_CODE_MAX_CHARS = 512  # names, paths and references end before; also bounds what a rejected value costs


def stands_in(value: str) -> bool:
    """Not a secret in any place: empty, masked, a variable, a documentation word."""
    if len(value) < 3 or value.startswith(MARK) or len(set(value)) <= 2:
        return True
    is_hash = value[0] == "$" and len(value) >= _VARIABLE_HASH_CHARS and value.count("$") >= 3
    if (value.startswith(_REFERENCES) and not is_hash) or "://" in value or "${" in value or "{{" in value:
        return True
    return value.lower() in _WORDS or (len(value) <= _CODE_MAX_CHARS and (_is_elided(value) or _is_vocabulary(value)))


def is_mask(token: str) -> bool:
    """A vendor's token with its body blanked out, or the one printed in the vendor's manual."""
    return len(set(token[len(token) // 2 :])) <= 2 or "EXAMPLE" in token or _is_elided(token)


def is_secret(value: str, *, quoted: bool, strict: bool, chosen: bool) -> bool:
    """Whether the value assigned to a secret's name is one.

    `strict` marks places that hold values only (environment, option, query); `chosen` names whose value a person
    picks (passwords), which may be an ordinary word, while tokens never are.
    """
    if len(value) > _CODE_MAX_CHARS:
        return not value.startswith(MARK)
    is_path = value.startswith(_PATHS) or (value[1:3] in (":\\", ":/") and value[0].isalpha())
    if is_path or stands_in(value):
        return False
    if value.isdigit():
        return chosen and len(value) >= 4
    if quoted:
        return not _is_label(value, chosen)
    return not _is_code(value) and (len(value) >= 4 if strict else _is_random(value, chosen))


def _is_elided(value: str) -> bool:
    lower = value.lower()
    return len(value) <= _ELIDED_MAX_CHARS and any(mark in lower for mark in _ELISIONS)


def _is_vocabulary(value: str) -> bool:
    digits = sum(c.isdigit() for c in value)
    words = _words(value) if digits < _DIGITS_OF_A_CHOICE else []  # `admin2024`: people choose a word and a year
    return bool(words) and (_WORDS.issuperset(words) or ("your" in words and not digits))


def _words(value: str) -> list[str]:
    """Lower-case words of an identifier or phrase, humps split, digits dropped: `myApiKey2` is my, api, key.

    None when it has a sign that identifiers and phrases do not have.
    """
    out = []
    previous = ""
    for c in value:
        if c.isalpha():
            out.append(" " + c if c.isupper() and previous.islower() else c)
        elif c in "_-. '\"`[]/:?!*" or c.isdigit():
            out.append(" ")
        else:
            return []
        previous = c
    return "".join(out).lower().split()


def _is_label(value: str, chosen: bool) -> bool:
    """Text for a reader ("Invalid token", "Enter a password") or a plain word where a token belongs."""
    if " " in value:
        words = _words(value)
        return value[0].isupper() or not words or not {"password", "token", "secret", "key"}.isdisjoint(words)
    if chosen:
        return len(value) < 4
    return len(value) < _LABEL_WORD_MIN_CHARS and value.replace("_", "").replace("-", "").isalpha()


def _is_code(value: str) -> bool:
    head, call, _ = value.partition("(")
    if call or value[-1] in "[{(" or value.startswith(("--", "*", "!")):
        return all(part.isidentifier() for part in head.strip("[{!*-").split(".")) or not head
    head, index, _ = value.partition("[")
    parts = head.split(".")
    if not all(part.isidentifier() for part in parts):
        return False
    return bool(index) or (len(parts) > 1 and not any(_is_random(part, False) for part in parts))


def _is_random(value: str, chosen: bool) -> bool:
    bare = value.replace("_", "").replace("-", "")
    if bare.isalpha():
        return len(value) >= (_PHRASE_MIN_CHARS if "-" in value else _LETTERS_MIN_CHARS)
    if not any(c.isalpha() for c in bare):
        return chosen and len(value) >= 8
    if chosen:
        return len(value) >= 5 and any(c.isdigit() or c in _SYMBOLS for c in value)
    word = bare.rstrip("0123456789")
    is_word_and_number = len(bare) < 12 and word.isalpha() and len(word) > 2
    return len(value) >= 8 and any(c.isdigit() for c in value) and not is_word_and_number
