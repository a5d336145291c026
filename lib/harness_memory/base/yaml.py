"""META.yaml and the head of a note: one flat mapping of names to scalars and lists of text.

`dump` writes what every YAML 1.1 and 1.2 parser reads back as the same values: words that no version takes for
anything but text stay plain, all other text is double-quoted. `load` also takes what a person writes by hand:
comments, any scalar style, text that goes on in the next line, block and flow lists. Plain scalars get the types of
the YAML 1.2 core schema, items of lists stay text. Nested mappings and lists, anchors and tags raise YamlError.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Union

    Scalar = Union[None, str, int, float, bool]
    Value = Union[Scalar, list[str]]

_WORDS = frozenset(["", "y", "n", "yes", "no", "on", "off", "true", "false", "null"])
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
_PLAIN_SIGNS = frozenset(" _./-+(),'")
_NUMBER_CHARS = frozenset("0123456789+-.eE")
_NUMBER_MAX_CHARS = 400  # Python refuses digits from 4,300 on
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}
_SHORT_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\x1b": "\\e"}
_REFUSED = {"{": "nested mapping", "&": "anchor", "*": "alias", "!": "tag", "[": "nested list"}
_REFUSED.update((sign, "a value cannot start with " + sign) for sign in "%@`]},")


class YamlError(ValueError):
    """Text that is not a flat mapping; `line` is where the broken entry starts, counted from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__("line %d: %s" % (line, message))
        self.message = message
        self.line = line


def dump(fields: Iterable[tuple[str, Value]]) -> str:
    lines = []
    for name, value in fields:
        if isinstance(value, list) and value:
            lines += ["%s:\n" % _text(name), *("  - %s\n" % _text(item) for item in value)]
        else:
            lines.append("%s: %s\n" % (_text(name), _written(value)))
    return "".join(lines)


def load(text: str) -> dict[str, Value]:
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    fields: dict[str, Value] = {}
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if _is_idle(line) or (line.rstrip() == "---" and not fields):
            continue
        first = at
        while at < len(lines) and (lines[at][:1] in ("", " ", "\t", "#", "]") or _is_item(lines[at])):
            at += 1
        try:
            key, rest = _key(line)
            fields[key] = _value(rest, lines[first:at])
        except ValueError as error:
            raise YamlError(str(error), first) from None
    return fields


# Writing ---------------------------------------------------------------------------------------


def _written(value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")  # YAML 1.1 has no float without a point


def _text(text: str) -> str:
    if text.lower() not in _WORDS and _is_plain(text):
        return text
    return '"%s"' % text.translate(
        {ord(c): _escape(c) for c in set(text) if c in _SHORT_ESCAPES or not c.isprintable()}
    )


def _is_plain(text: str) -> bool:
    is_word = (text[0].isalpha() or text[0] == "/") and text[-1] != " "
    return is_word and all(c.isalnum() or c in _PLAIN_SIGNS for c in set(text))


def _escape(c: str) -> str:
    return _SHORT_ESCAPES.get(c) or ("\\x%02x" if c <= "\xff" else "\\u%04x" if c <= "\uffff" else "\\U%08x") % ord(c)


# Reading ---------------------------------------------------------------------------------------


def _is_idle(line: str) -> bool:
    return line.lstrip(" \t")[:1] in ("", "#")


def _is_item(line: str) -> bool:
    stripped = line.lstrip(" ")
    return stripped.startswith("- ") or stripped == "-"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _key(line: str) -> tuple[str, str]:
    if line[0] in "\"'":
        key, rest = _quoted(line)
        rest = rest.lstrip(" ")
    else:
        end = (line + " ").find(": ")
        key, rest = line[:end].rstrip(" "), line[end:]
    if rest[:1] != ":" or rest[1:2] not in ("", " ") or line[0] in " \t[{&*!|>%@`,]}:" or _is_item(line):
        raise ValueError("expected `key: value`")
    return key, rest[1:]


def _value(rest: str, body: list[str]) -> Value:
    if _is_idle(rest):
        first = _first(body)
        if first < len(body) and _is_item(body[first]):
            return _items(body[first:])
        rest = "".join(body[first : first + 1])
        body = body[first + 1 :]
    rest = rest.strip(" \t")
    if not rest:
        return None
    if rest[0] == "[":
        return _flow(_joined(rest, body)[1:])
    if _is_item(rest):
        raise ValueError("list on the line of its key")
    text, is_plain = _scalar(rest, body, 0)
    return _typed(text) if is_plain else text


def _first(lines: list[str]) -> int:
    return next((at for at, line in enumerate(lines) if not _is_idle(line)), len(lines))


def _items(lines: list[str]) -> list[str]:
    depth = _indent(lines[0])
    items = []
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if _is_idle(line):
            continue
        first = at
        while at < len(lines) and (not lines[at].strip(" \t") or _indent(lines[at]) > depth):
            at += 1
        rest = line[depth + 1 :].strip(" \t")
        if not _is_item(line) or _indent(line) != depth or _is_item(rest):
            raise ValueError("indentation does not fit the list")
        body = lines[first:at]
        if _is_idle(rest):
            rest, body = _joined("", body), []
        items.append(_scalar(rest, body, depth)[0] if rest else "")
    return items


def _joined(head: str, body: list[str]) -> str:
    """Lines of a flowing value as one, without their comments."""
    lines = [line for line in (head, *body) if not _is_idle(line)]
    if any(line[0] == "-" for line in lines[1:]):
        raise ValueError("list after a value")
    return " ".join([(line if set(line) & {'"', "'"} else line.partition(" #")[0]).strip(" \t") for line in lines])


def _scalar(head: str, body: list[str], parent: int) -> tuple[str, bool]:
    """The text of the scalar that starts with `head`, and whether it is plain."""
    if head[0] in "|>":
        return _block(head, body, parent), False
    text = _joined(head, body)
    if head[0] in "\"'":
        text, rest = _quoted(text)
        if not _is_idle(rest) or rest[:1] == "#":
            raise ValueError("text after the closing quote")
        return text, False
    return _plain(text), True


def _plain(text: str) -> str:
    text = text.partition(" #")[0].rstrip(" \t")
    if text[:1] in _REFUSED or ": " in text or text.endswith(":") or text.startswith("? "):
        raise ValueError(_REFUSED.get(text[:1], "nested mapping"))
    return text


def _block(head: str, body: list[str], parent: int) -> str:
    mode = head[1:].partition(" #")[0].rstrip(" ")
    first = next((line for line in body if line.strip(" ")), "")
    depth = max(_indent(first), parent + 1)
    end = next((at for at, line in enumerate(body) if line.strip(" ") and _indent(line) < depth), len(body))
    if mode not in ("", "-", "+") or _first(body[end:]) < len(body[end:]):
        raise ValueError("bad block of text")
    text = "\n".join([line[depth:] for line in body[:end]])
    bare = text.rstrip("\n")
    if head[0] == ">":
        bare = "\n".join([" ".join(paragraph.split("\n")) for paragraph in bare.split("\n\n")])
    if mode == "+":
        return bare + text[len(text.rstrip("\n")) :] + "\n" * (end > 0)
    return bare + "\n" if bare and not mode else bare


def _quoted(text: str) -> tuple[str, str]:
    """The text in the quotes at the start, and what follows them."""
    quote, at = text[0], 1
    end = text.find(quote, at)
    while end >= 0:
        if quote == "'":
            escape = end if text[end + 1 : end + 2] == quote else -1
        else:
            escape = text.find("\\", at, end)
        if escape < 0:
            inner = text[1:end]
            return inner.replace("''", "'") if quote == "'" else _unescaped(inner), text[end + 1 :]
        at = escape + 2
        end = text.find(quote, at) if end < at else end
    raise ValueError("quote without an end")


def _unescaped(text: str) -> str:
    first, *rest = text.split("\\")
    out = [first]
    is_escaped = False  # the backslash before this part was itself escaped
    for part in rest:
        if is_escaped:
            out.append(part)
            is_escaped = False
        elif not part:
            out.append("\\")
            is_escaped = True
        else:
            size = _HEX_ESCAPES.get(part[0], 0)
            digits = part[1 : 1 + size]
            if part[0] not in _ESCAPES and (not size or len(digits) != size or not digits.isalnum()):
                raise ValueError("bad escape \\%s" % part[: 1 + size])
            out += [_ESCAPES.get(part[0]) or chr(int(digits, 16)), part[1 + size :]]
    return "".join(out)


def _flow(text: str) -> list[str]:
    """The items of a list after its bracket, on one line."""
    items: list[str] = []
    while True:
        text = text.lstrip(" \t")
        if text[:1] in ("'", '"'):
            item, text = _quoted(text)
            items.append(item)
        elif text[:1] != "]":
            end = min([at for at in map(text.find, ",]") if at >= 0], default=-1)
            if end <= 0:
                raise ValueError("list without an end")
            items.append(_plain(text[:end].rstrip(" \t")))
            text = text[end:]
        text = text.lstrip(" \t")
        sign, text = text[:1], text[1:]
        if sign == "]" and _is_idle(text):
            return items
        if sign != ",":
            raise ValueError("expected a comma")


def _typed(text: str) -> Scalar:
    """A plain scalar by the YAML 1.2 core schema."""
    word = text.lower() if text in (text.lower(), text.upper(), text.title()) else text
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if len(text) > _NUMBER_MAX_CHARS or not _NUMBER_CHARS.issuperset(text):
        return text
    try:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        return text
