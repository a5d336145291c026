"""META.yaml and the head of a note: one flat mapping of names to scalars and lists of text.

`dump` writes what every YAML 1.1 and 1.2 parser reads back as the same values: words that no version takes for
anything but text stay plain, all other text is double-quoted. `load` also reads comments, both kinds of quotes, flow
lists on one line and blocks of text (`|`, `>`), which version 0.1 wrote. Plain scalars get the types of the YAML 1.2
core schema, items of lists stay text. Anything else raises YamlError.
"""

from __future__ import annotations

from codecs import unicode_escape_decode, unicode_escape_encode

from .typing import Iterable, TypeAlias

Scalar: TypeAlias = "None | str | int | float | bool"
Value: TypeAlias = "Scalar | list[str]"

_WORDS = frozenset(["", "y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
_PLAIN = frozenset(" _./-+(),'0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_INDICATORS = (*"{&*![%@`]},", "? ", "- ")


class YamlError(ValueError):
    """Text that is not a flat mapping; `line` is the line that cannot be read, counted from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__("line %d: %s" % (line, message))
        self.message = message
        self.line = line


def dump(fields: Iterable[tuple[str, Value]]) -> str:
    lines = []
    for name, value in fields:
        if isinstance(value, list) and value:
            lines += ["%s:\n" % _text(name), *("  - %s\n" % _text(item) for item in value)]
            continue
        if isinstance(value, str):
            text = _text(value)
        elif value is None or isinstance(value, bool):
            text = "null" if value is None else str(value).lower()
        else:
            text = repr(value)
            text = text if "." in text else text.replace("e", ".0e")  # YAML 1.1 has no float without a point
        lines.append("%s: %s\n" % (_text(name), text))
    return "".join(lines)


def _text(text: str) -> str:
    is_word = text.lower() not in _WORDS and (text[0].isalpha() or text[0] == "/") and text[-1] != " "
    if is_word and (_PLAIN.issuperset(text) or all(c.isalnum() or c in _PLAIN for c in set(text))):
        return text
    hidden = [c for c in set(text) if c == "\\" or not c.isprintable()]
    escapes = {ord(c): unicode_escape_encode(c)[0].decode() for c in hidden}
    return '"%s"' % text.translate({**escapes, ord('"'): '\\"'})


def load(text: str) -> dict[str, Value]:
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    fields: dict[str, Value] = {}
    items: list[str] | None = None  # the list that may go on, of `key` and indented by `depth`
    key, depth, at = "", 0, 0
    while at < len(lines):
        line, at = lines[at], at + 1
        number, indent = at, _indent(line)
        if _is_idle(line) or (line.rstrip() == "---" and not fields):
            continue
        try:
            is_item = line[indent : indent + 2] in ("- ", "-")
            if not is_item:
                key, rest = _key(line)
            elif items is None or (items and indent != depth):
                raise ValueError("list without a key, or its indentation differs")
            else:
                rest, depth = line[indent + 1 :], indent
            rest = rest.strip(" \t")
            if rest[:1] in ("|", ">"):
                while at < len(lines) and (not lines[at].strip(" ") or _indent(lines[at]) > indent):
                    at += 1
                value: Value = _block(rest, lines[number:at])
            else:
                value = _flow(rest[1:]) if rest[:1] == "[" and not is_item else _scalar(rest, not is_item)
            if is_item and items is not None:
                items.append(str(value))
                value = items
            else:
                items = [] if _is_idle(rest) else None
            fields[key] = value
        except ValueError as error:
            raise YamlError(str(error), number) from None
    return fields


def _is_idle(line: str) -> bool:
    return line.lstrip(" \t")[:1] in ("", "#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _key(line: str) -> tuple[str, str]:
    if line[0] in "\"'":
        key, rest = _quoted(line)
        rest = rest.lstrip(" ")
    else:
        end = (line + " ").find(": ")
        key, rest = line[:end].rstrip(" "), line[end:]
    if rest[:1] != ":" or rest[1:2] not in ("", " ") or line[0] in " \t[{&*!|>%@`,]}:":
        raise ValueError("expected `key: value` on one line")
    return key, rest[1:]


def _scalar(text: str, is_typed: bool) -> Scalar:
    if text[:1] in ("'", '"'):
        value, rest = _quoted(text)
        if not _is_idle(rest) or rest[:1] == "#":
            raise ValueError("text after the closing quote")
        return value
    text = "" if text[:1] == "#" else text.partition(" #")[0].rstrip(" \t")
    if text.startswith(_INDICATORS) or text == "-" or ": " in text or text.endswith(":"):
        raise ValueError("nested value, or a sign that must be quoted")
    word = text.lower()
    if is_typed and word in _CONSTANTS and text in (word, text.upper(), text.title()):
        return _CONSTANTS[word]
    if is_typed and len(text) <= 400 and not text.strip("0123456789+-.eE"):  # Python refuses digits from 4,300 on
        try:
            return int(text) if text.lstrip("+-").isdigit() else float(text)
        except ValueError:
            pass
    return text


def _block(head: str, body: list[str]) -> str:
    mode = head[1:].partition(" #")[0].rstrip(" ")
    depth = next((_indent(line) for line in body if line.strip(" ")), 0)
    if mode not in ("", "-") or any(line.strip(" ") and _indent(line) < depth for line in body):
        raise ValueError("bad block of text")
    text = "\n".join([line[depth:] for line in body]).rstrip("\n")
    if head[0] == ">":
        text = "\n".join([" ".join(paragraph.split("\n")) for paragraph in text.split("\n\n")])
    return text + "\n" * (bool(text) and not mode)


def _flow(text: str) -> list[str]:
    """The items of a list after its bracket."""
    items: list[str] = []
    sign = ","
    while sign == ",":
        text = text.lstrip(" \t")
        if text[:1] in ("'", '"'):
            item, text = _quoted(text)
            items.append(item)
        elif text[:1] != "]":
            end = min([at for at in map(text.find, ",]") if at > 0], default=0)
            items.append(str(_scalar(text[:end].rstrip(" \t"), False)))
            text = text[end:]
        text = text.lstrip(" \t")
        sign, text = text[:1], text[1:]
    if sign != "]" or not _is_idle(text):
        raise ValueError("list without an end on its line, or a comma is missing")
    return items


def _quoted(text: str) -> tuple[str, str]:
    """The text between quotes, and what follows."""
    quote, rest = text[0], text[1:]
    pairs = (("\\\\", "\0"), ('\\"', "\1")) if quote == '"' else (("''", "\0"),)  # what does not end the text
    for pair in pairs:
        rest = rest.replace(*pair)
    value, end, rest = rest.partition(quote)
    if not end:
        raise ValueError("quote without an end on its line")
    for escape, mark in pairs:
        value, rest = value.replace(mark, escape), rest.replace(mark, escape)
    if quote == "'":
        value = value.replace("''", "'")
    elif "\\" in value:
        value = unicode_escape_decode(value.encode("latin-1", "backslashreplace"))[0]
    return value, rest
