"""A Markdown text as units: the sentences, list items and headings that a person reads, without code, logs and tables.

Pure, and without `re`, which would cost a Stop more than all of this.
"""

from __future__ import annotations

from ..base import settings
from ..base.text import cut

TEXT, ITEM, HEAD, OPEN, DONE, ROW = "text", "item", "head", "open", "done", "row"  # what a unit stands in
TICKS = frozenset("☑✅✔✓")
_BOXES = {**dict.fromkeys("☐⬜", OPEN), **dict.fromkeys(TICKS, DONE)}
_WIDE_ENDS = "。！？"  # which need no blank after them
_ENDS = ".!?…" + _WIDE_ENDS
_CLOSERS = "\"')]*_`”’»"
_SHORT = ("e.g", "i.e", "etc", "vs", "cf", "z.B", "d.h", "bzw", "ca", "p.ex", "approx", "No", "Nr", "Dr", "Mr", "St")
_RULES = frozenset("-=*_|:─—═╌ \t`")
BOX = "★"  # what an aside in a box begins with
_FAULTS = ("rror", "xception", "atal", "anic", "ailed", "fehl")  # lines of a log that say what went wrong


class Unit:
    """`section`: the heading above; `lead`: what announces its list; `at`: its line; `is_first`: it begins a point."""

    __slots__ = ("at", "is_first", "kind", "lead", "section", "text")

    def __init__(self, text: str, kind: str, section: str, lead: str, at: int, is_first: bool) -> None:
        self.text, self.kind, self.section, self.lead = text, kind, section, lead
        self.at, self.is_first = at, is_first


def split(text: str) -> list[Unit]:
    found: list[Unit] = []
    section = lead = fence = ""
    table, margin = -2, 0  # the line of the last row, the indent of the last list
    for at, raw in enumerate(text.split("\n")):
        line = raw.strip()
        if line[:3] in ("```", "~~~"):
            fence = "" if fence and line.startswith(fence) else fence or line[:3]
            continue
        if fence or not line or _RULES.issuperset(line):
            table += table == at - 1 and line[:1] == "|"
            section = "" if section[:1] == BOX and line and not fence else section
            continue
        if line.lstrip("`*> ")[:1] == BOX:
            section, lead = line.strip("`*> ─"), ""
            continue
        line = line.lstrip("> ")
        if line[:1] == "|":
            row = " | ".join(filter(None, [plain(cell.strip()) for cell in line.strip("|").split("|")]))
            if at == table + 1:
                found.append(Unit(row, ROW, section, lead, at, True))
            else:
                lead = row  # the names of a table's columns announce its rows
            table = at
            continue
        kind, body = _item(line)
        bare, mark = line.strip("*_:. "), line[:2]
        is_bold = mark in ("**", "__") and line.rstrip(":. ")[-2:] == mark and mark not in bare and len(bare) < 60
        is_head = line.lstrip("#")[:1] == " " or (is_bold and kind == TEXT)
        if kind == TEXT and not is_head and _is_log(raw, line):
            continue
        if is_head:
            section, lead = plain(bare.lstrip("# ")), ""
            found.append(Unit(section, HEAD, section, "", at, True))
            continue
        said, indent = sentences(plain(body)), len(raw) - len(raw.lstrip())
        lead = "" if kind == TEXT else lead
        margin = margin if kind != TEXT and found and found[-1].kind in (ITEM, OPEN, DONE) else indent
        found += [Unit(part, kind, section, lead, at, part is said[0] and indent <= margin) for part in said]
        if kind == TEXT and said and said[-1][-1] in ":：":
            lead = said[-1]
    return found


def _item(line: str) -> tuple[str, str]:
    """The kind of a line, and its words without the mark of a list."""
    kind, body = TEXT, line
    if body[:1] in "-*•+–·" and body[1:2] == " ":
        kind, body = ITEM, body[2:].lstrip()
    else:
        bare = body.lstrip("*")  # "**1. A title** and its text"
        digits = len(bare) - len(bare.lstrip("0123456789"))
        if 0 < digits <= 3 and bare[digits : digits + 1] in (".", ")") and bare[digits + 1 : digits + 2] == " ":
            kind, body = ITEM, bare[digits + 2 :].lstrip()
    if body[:1] == "[" and body[2:4] == "] " and not body[1].isalnum():
        return OPEN, body[4:].lstrip()
    if body[:4] in ("[x] ", "[X] "):
        return DONE, body[4:].lstrip()
    if body[:1] in _BOXES:
        return _BOXES[body[0]], body[1:].lstrip("\ufe0f ")
    return kind, body


def _is_log(raw: str, line: str) -> bool:
    """Program output or code outside a fence; a line that names an error stays, because a later error may equal it."""
    is_code = raw[:4] == "    " or line[:2] in ("$ ", "at ", "+ ", "- ", "│ ", "<!") or line[:1] in "{}<│├└┌"
    letters = sum(map(str.isalpha, line)) + line.count(" ")
    is_code = is_code or (letters * 10 < len(line) * 6 and len(line) > 12)
    return is_code and not any(fault in line for fault in _FAULTS)


def sentences(line: str) -> list[str]:
    """A line in sentences, each of at most the length of a passage."""
    for end in () if line.isascii() else _WIDE_ENDS:
        line = line.replace(end, end + " ")
    words, parts = line.split(), [[""]]
    for word, after in zip(words, [*words[1:], ""]):
        parts[-1].append(word)
        bare = word.rstrip(_CLOSERS)
        name = bare[:-1].lstrip("(")
        # Neither an abbreviation, nor an initial, nor "2. A step" inside a line.
        is_short = name in _SHORT or (len(name) == 1 and name.isalpha()) or (name.isdigit() and len(parts[-1]) == 2)
        if bare[-1:] in _ENDS and bare and not after[:1].islower() and not (is_short and bare[-1] == "."):
            parts.append([""])
    return [cut(said, settings.PASSAGE_CHARS) for said in [" ".join(part).strip() for part in parts] if said]


def plain(text: str) -> str:
    """Text without the marks of Markdown, but for the backticks of names."""
    at = text.find("](")
    while at >= 0:
        start, end = text.rfind("[", 0, at), text.find(")", at)
        if start < 0 or end < 0:
            break
        text = text[:start] + text[start + 1 : at] + text[end + 1 :]
        at = text.find("](", start)
    return " ".join(text.replace("**", "").split())
