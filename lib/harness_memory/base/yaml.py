"""META.yaml: one flat mapping of names to scalars and lists of text.

`dump` writes what every YAML 1.1 and 1.2 parser reads back as the same values: words that no
version takes for anything but text stay plain, ordinary paragraphs become a `|` block a person can
read, all else is double-quoted with escapes. `load` takes that and what a person writes by hand:
comments, any scalar style, block and flow lists. Scalars get the types of the YAML 1.2 core schema,
items of lists stay text. Nested mappings and lists, anchors and tags raise YamlError.
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
_FLOATS = {".inf": float("inf"), "+.inf": float("inf"), "-.inf": float("-inf"), ".nan": float("nan")}
_PLAIN_SIGNS = frozenset(" _./-+(),'")
_NUMBER_CHARS = frozenset("0123456789+-.eE")
_NUMBER_MAX_CHARS = 400  # longer digits are no number anybody meant; Python itself refuses them from 4,300
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}
_SHORT_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\x1b": "\\e"}
_REFUSED = {
    "{": "nested mapping",
    "&": "anchor",
    "*": "alias",
    "!": "tag",
    "%": "a value cannot start with %",
    "@": "a value cannot start with @",
    "`": "a value cannot start with a backtick",
    "]": "a value cannot start with ]",
    "}": "a value cannot start with }",
    ",": "a value cannot start with a comma",
}


class YamlError(ValueError):
    """Text that is not such a mapping; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__("line %d: %s" % (line, message))
        self.message = message
        self.line = line


# Writing ---------------------------------------------------------------------------------------


def dump(fields: Iterable[tuple[str, Value]]) -> str:
    lines = []
    for name, value in fields:
        key = name if _is_plain(name) else _quote(name)
        if not isinstance(value, list):
            lines.append("%s: %s\n" % (key, _scalar(value, "  ")))
        elif value:
            lines.append("%s:\n" % key)
            lines.extend("  - %s\n" % _scalar(item, "    ") for item in value)
        else:
            lines.append("%s: []\n" % key)
    return "".join(lines)


def _scalar(value: Scalar, indent: str) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value, indent)
    return _float(value) if isinstance(value, float) else str(value)


def _float(value: float) -> str:
    text = repr(value)
    if text in ("inf", "-inf", "nan"):
        return text.replace("inf", ".inf").replace("nan", ".nan")
    # YAML 1.1 knows no float without a point.
    return text if "." in text else text.replace("e", ".0e")


def _text(text: str, indent: str) -> str:
    if _is_plain(text):
        return text
    if "\n" not in text or not _is_block(text):
        return _quote(text)
    body = text.rstrip("\n")
    breaks = len(text) - len(body)
    chomp = "-" if not breaks else "" if breaks == 1 else "+"
    lines = "\n".join([indent + line if line else "" for line in body.split("\n")])
    return "|%s\n%s%s" % (chomp, lines, "\n" * (breaks - 1))


def _is_plain(text: str) -> bool:
    if not (text[:1].isalpha() or text[:1] == "/") or text[-1] == " " or text.lower() in _WORDS:
        return False
    return all(c.isalnum() or c in _PLAIN_SIGNS for c in set(text))


def _is_block(text: str) -> bool:
    """Paragraphs whose lines no parser or editor could take otherwise."""
    if text[0] in " \n" or not all(c in "\n\t" or _is_printable(c) for c in set(text)):
        return False
    return not any(line[:1] == "\t" or (line and not line.strip()) for line in text.split("\n"))


def _is_printable(c: str) -> bool:
    if c < "\x7f":
        return c >= " "
    if c in "\u2028\u2029\ufeff":
        return False
    return "\xa0" <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff"


def _quote(text: str) -> str:
    escapes = {ord(c): _escape(c) for c in set(text) if c in _SHORT_ESCAPES or not _is_printable(c)}
    return '"%s"' % text.translate(escapes)


def _escape(c: str) -> str:
    return _SHORT_ESCAPES.get(c) or ("\\x%02x" if c < "\u0100" else "\\u%04x") % ord(c)


# Reading ---------------------------------------------------------------------------------------


def load(text: str) -> dict[str, Value]:
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    fields: dict[str, Value] = {}
    at = _start(lines)
    while at < len(lines):
        line = lines[at]
        key, colon, rest = line.partition(": ")
        if colon and key.isidentifier() and _is_obvious(rest, "".join(lines[at + 1 : at + 2]), at + 3 > len(lines)):
            fields[key] = rest[1:-1] if rest[0] == '"' else _typed(rest)
            at += 1
        elif _is_idle(line):
            at += 1
        elif _is_marker(line, "..."):
            break
        elif _is_marker(line, "---"):
            raise YamlError("second document", at + 1)
        else:
            key, rest = _key(line, at)
            fields[key], at = _value(lines, at, rest)
    return fields


def _is_obvious(rest: str, below: str, is_last: bool) -> bool:
    """A scalar on one line that needs no reading: most of what we write, told in a fifth of the time."""
    if below[:1] in (" ", "\t") or not (below or is_last):
        return False
    if rest[:1] == '"':
        return len(rest) > 1 and rest[-1] == '"' and "\\" not in rest and rest.count('"') == 2
    return rest[:1].isalpha() and rest[-1] != " " and not ("#" in rest or ":" in rest or "\t" in rest)


def _start(lines: list[str]) -> int:
    """The line after `---` and the directives before it, or the first."""
    for at, line in enumerate(lines):
        if _is_marker(line, "---"):
            if not _is_idle(line[3:]):
                raise YamlError("content after ---", at + 1)
            return at + 1
        if not _is_idle(line) and not line.startswith("%"):
            return at
    return len(lines)


def _is_idle(line: str) -> bool:
    stripped = line.lstrip(" \t")
    return not stripped or stripped[0] == "#"


def _is_marker(line: str, marker: str) -> bool:
    return line.startswith(marker) and line[3:4] in ("", " ", "\t")


def _key(line: str, at: int) -> tuple[str, str]:
    if line[0] in " \t":
        raise YamlError("unexpected indentation", at + 1)
    if line[0] in "\"'":
        key, _, end = _quoted([line], 0, 0)
        rest = line[end:].lstrip(" \t")
        if rest[:1] != ":" or rest[1:2] not in ("", " ", "\t"):
            raise YamlError("no colon after the key", at + 1)
        return key, rest[1:]
    end = _colon(line)
    if end <= 0 or (line[0] in "-?" and line[1:2] in ("", " ", "\t")) or line[0] in "[{&*!|>%@`,]}":
        raise YamlError("expected `key: value`", at + 1)
    return line[:end].rstrip(" \t"), line[end + 1 :]


def _colon(text: str) -> int:
    """Where a colon ends a key, before any comment; -1 when none does."""
    at = text.find(":")
    while at >= 0 and text[at + 1 : at + 2] not in ("", " ", "\t"):
        at = text.find(":", at + 1)
    comment = _comment(text)
    return at if comment < 0 or at < comment else -1


def _comment(text: str) -> int:
    at = text.find("#")
    while at > 0 and text[at - 1] not in " \t":
        at = text.find("#", at + 1)
    return at


def _value(lines: list[str], at: int, rest: str) -> tuple[Value, int]:
    if _is_idle(rest):
        below = _next(lines, at + 1)
        if below < len(lines) and _is_item(lines[below]):
            return _items(lines, below)
        if below == len(lines) or lines[below][0] != " ":
            return None, at + 1
        at, rest = below, lines[below]
    elif _is_item(rest):
        raise YamlError("list on the line of its key", at + 1)
    pos = len(lines[at]) - len(rest.lstrip(" \t"))
    if lines[at][pos] == "[":
        return _flow(lines, at, pos)
    text, plain, at = _read(lines, at, rest, 0)
    return (_typed(text) if plain else text), at


def _next(lines: list[str], at: int) -> int:
    while at < len(lines) and _is_idle(lines[at]):
        at += 1
    return at


def _is_item(line: str) -> bool:
    stripped = line.lstrip(" ")
    return stripped[:1] == "-" and stripped[1:2] in ("", " ", "\t") and not _is_marker(line, "---")


def _items(lines: list[str], at: int) -> tuple[list[str], int]:
    depth = _indent(lines[at])
    items = []
    while at < len(lines) and _is_item(lines[at]) and _indent(lines[at]) == depth:
        rest = lines[at][depth + 1 :]
        if _is_item(rest.lstrip(" \t")) or rest.lstrip(" \t")[:1] == "[":
            raise YamlError("nested list", at + 1)
        if _is_idle(rest):
            below = _next(lines, at + 1)
            if below == len(lines) or _indent(lines[below]) <= depth:
                items.append("")
                at = below
                continue
            if _is_item(lines[below]):
                raise YamlError("nested list", below + 1)
            at, rest = below, lines[below]
        item, _, at = _read(lines, at, rest, depth)
        items.append(item)
        at = _next(lines, at)
    if at < len(lines) and lines[at][0] in " \t":
        raise YamlError("indentation does not fit the list", at + 1)
    return items, at


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _read(lines: list[str], at: int, rest: str, parent: int) -> tuple[str, bool, int]:
    """The text of the scalar that starts with `rest` on line `at`, whether it is plain, and the line after it."""
    rest = rest.lstrip(" \t")
    if rest[0] in "|>":
        text, at = _block(lines, at, rest, parent)
        return text, False, at
    if rest[0] in "\"'":
        text, at, pos = _quoted(lines, at, len(lines[at]) - len(rest))
        rest = lines[at][pos:]
        if not _is_idle(rest) or rest[:1] == "#":
            colon = rest.lstrip(" \t")[0] == ":"
            raise YamlError("nested mapping" if colon else "text after the closing quote", at + 1)
        return text, False, at + 1
    if rest[0] in _REFUSED:
        raise YamlError(_REFUSED[rest[0]], at + 1)
    return _plain(lines, at, rest, parent)


def _plain(lines: list[str], at: int, rest: str, parent: int) -> tuple[str, bool, int]:
    parts = [_plain_line(rest, at)]
    while _comment(rest) < 0:
        below = at + 1
        while below < len(lines) and not lines[below].strip(" \t"):
            below += 1
        if below == len(lines) or _indent(lines[below]) <= parent or _is_idle(lines[below]):
            break
        parts += [""] * (below - at - 1)
        at, rest = below, lines[below]
        parts.append(_plain_line(rest, at))
    return _fold(parts), True, at + 1


def _plain_line(text: str, at: int) -> str:
    if _colon(text) >= 0 or (text[:1] == "?" and text[1:2] in ("", " ")):
        raise YamlError("nested mapping", at + 1)
    comment = _comment(text)
    return (text if comment < 0 else text[:comment]).strip(" \t")


def _fold(parts: list[str]) -> str:
    """Lines of a flowing scalar as one: a break is a space, each empty line a break."""
    out = [parts[0]]
    empty = 0
    for part in parts[1:-1]:
        if part:
            out += ["\n" * empty or " ", part]
            empty = 0
        else:
            empty += 1
    if len(parts) > 1:
        out += ["\n" * empty or " ", parts[-1]]
    return "".join(out)


def _block(lines: list[str], at: int, header: str, parent: int) -> tuple[str, int]:
    indicators = header[1:].split(" ", 1)[0].split("\t", 1)[0]
    digits = indicators.replace("-", "", 1) if "-" in indicators else indicators.replace("+", "", 1)
    if digits not in ("", *"123456789") or not _is_idle(header[1 + len(indicators) :]):
        raise YamlError("bad block header", at + 1)
    at += 1
    first = at
    while first < len(lines) and not lines[first].strip(" "):
        first += 1
    found = _indent(lines[first]) if first < len(lines) else 0
    depth = parent + int(digits) if digits else max(found, parent + 1)
    body = []
    while at < len(lines) and (_indent(lines[at]) >= depth or not lines[at].strip(" ")):
        body.append(lines[at][depth:])
        at += 1
    if at == len(lines) and body and not body[-1]:
        body.pop()  # what follows the last line end is no line
    return _chomp(body, folded=header[0] == ">", mode=indicators), at


def _chomp(body: list[str], *, folded: bool, mode: str) -> str:
    kept = len(body)
    while kept and not body[kept - 1]:
        kept -= 1
    text = _fold_block(body[:kept]) if folded else "\n".join(body[:kept])
    if "-" in mode:
        return text
    if "+" in mode:
        return text + "\n" * (len(body) - kept + (kept > 0))
    return text + "\n" if kept else ""


def _fold_block(body: list[str]) -> str:
    """As `_fold`, but lines with more indentation keep their breaks."""
    out: list[str] = []
    empty = 0
    previous = None
    for line in body:
        if not line:
            empty += 1
            continue
        flowing = previous is not None and previous[0] not in " \t" and line[0] not in " \t"
        joint = ("" if empty else " ") if flowing else "\n"
        out += ["" if previous is None else joint, "\n" * empty, line]
        previous, empty = line, 0
    return "".join(out)


def _quoted(lines: list[str], at: int, pos: int) -> tuple[str, int, int]:
    """The text in the quotes that open at `pos` of line `at`, the line they close on, and where."""
    start = at
    quote = lines[at][pos]
    pos += 1
    parts = []
    while True:
        end = _closing(lines[at], pos, quote)
        if end >= 0:
            break
        parts.append(lines[at][pos:])
        at, pos = at + 1, 0
        if at == len(lines) or _is_marker(lines[at], "---") or _is_marker(lines[at], "..."):
            raise YamlError("quote without an end", start + 1)
    parts.append(lines[at][pos:end])
    parts[1:] = [part.lstrip(" \t") for part in parts[1:]]
    if quote == "'":
        parts[:-1] = [part.rstrip(" \t") for part in parts[:-1]]
        return _fold(parts).replace("''", "'"), at, end + 1
    return _unescape(_fold(_join_escaped(parts)), start), at, end + 1


def _closing(text: str, at: int, quote: str) -> int:
    """Where the quote is closed, past doubled single quotes and escapes; -1 when it is not on this line."""
    skip = "'" if quote == "'" else "\\"
    end = text.find(quote, at)
    while end >= 0:
        if quote == skip:
            if text[end + 1 : end + 2] != quote:
                return end
            at = end + 2
        else:
            escape = text.find(skip, at, end)
            if escape < 0:
                return end
            at = escape + 2
        if end < at:
            end = text.find(quote, at)
    return -1


def _join_escaped(parts: list[str]) -> list[str]:
    """Lines of a double-quoted text, those that end with a backslash joined to the next."""
    out = []
    line = ""
    for part in parts[:-1]:
        body = part.rstrip(" \t")
        if (len(body) - len(body.rstrip("\\"))) % 2 == 0:
            out.append(line + body)
            line = ""
        elif body != part:
            out.append(line + part[: len(body) + 1])
            line = ""
        else:
            line += body[:-1]
    return out + [line + parts[-1]]


def _unescape(text: str, at: int) -> str:
    out = []
    done = 0
    slash = text.find("\\")
    while slash >= 0:
        letter = text[slash + 1 : slash + 2]
        end = slash + 2 + _HEX_ESCAPES.get(letter, 0)
        out += [text[done:slash], _ESCAPES.get(letter) or _code_point(text[slash + 2 : end], letter, at)]
        done = end
        slash = text.find("\\", done)
    return "".join(out) + text[done:]


def _code_point(digits: str, letter: str, at: int) -> str:
    if len(digits) == _HEX_ESCAPES.get(letter) and all(c in "0123456789abcdefABCDEF" for c in digits):
        code = int(digits, 16)
        if code <= 0x10FFFF:
            return chr(code)
    raise YamlError("bad escape \\%s%s" % (letter, digits), at + 1)


def _flow(lines: list[str], at: int, pos: int) -> tuple[list[str], int]:
    start = at
    items: list[str] = []
    is_open = True  # whether an item may come here
    pos += 1
    while True:
        pos = _skip_blanks(lines[at], pos)
        c = lines[at][pos : pos + 1]
        if c in ("", "#"):
            at, pos = at + 1, 0
            if at == len(lines):
                raise YamlError("list without an end", start + 1)
        elif c == "]":
            if not _is_idle(lines[at][pos + 1 :]):
                raise YamlError("text after the list", at + 1)
            return items, at + 1
        elif c == "," and not is_open:
            is_open, pos = True, pos + 1
        elif not is_open or c == "[" or c in _REFUSED:
            raise YamlError("expected a comma" if not is_open else _REFUSED.get(c, "nested list"), at + 1)
        else:
            item, at, pos = _quoted(lines, at, pos) if c in "\"'" else _flow_plain(lines, at, pos)
            items.append(item)
            is_open = False


def _flow_plain(lines: list[str], at: int, pos: int) -> tuple[str, int, int]:
    line = lines[at]
    end = line.find(",", pos)
    end = len(line) if end < 0 else end
    for stop in ("]", "[", "{", "}", " #", "\t#"):
        found = line.find(stop, pos, end)
        end = end if found < 0 else found
    return _plain_line(line[pos:end], at), at, end


def _skip_blanks(line: str, pos: int) -> int:
    while line[pos : pos + 1] in (" ", "\t"):
        pos += 1
    return pos


def _typed(text: str) -> Scalar:
    """A plain scalar by the YAML 1.2 core schema."""
    word = text.lower() if text in (text.lower(), text.upper(), text.title()) else text
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if word in _FLOATS and word[-3:] != "nan":
        return _FLOATS[word]
    if text in (".nan", ".NaN", ".NAN"):
        return _FLOATS[".nan"]
    return _number(text) if len(text) <= _NUMBER_MAX_CHARS else text


def _number(text: str) -> Scalar:
    try:
        if text[:2] in ("0x", "0o") and text[2:].isalnum() and text.isascii():
            return int(text[2:], 16 if text[1] == "x" else 8)
        if not _NUMBER_CHARS.issuperset(text):
            return text
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        return text
