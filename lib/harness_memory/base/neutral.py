"""Making remembered text inert where it reads like an order, a command or a tag.

Only the injected text changes, never the file: tags lose their angle bracket, a slash command at the start of a line
is quoted, and a line that speaks in a role or addresses the model is marked as a quotation.
"""

from __future__ import annotations

from .tables import fours
from .text import one_line, translated

TABLES_FILE = __file__[: -len(".py")] + ".txt"
TABLES = globals().get("TABLES")  # a hook has them already, see `bundle`
if not TABLES:
    from .tables import by_start, read

    _tables = read(TABLES_FILE)
    _rows = [[[word.replace("_", " ") for word in words.split()] for words in row] for row in _tables["orders"]]
    _heads = ((word, (word, others)) for head, *others in [sorted(row, key=len) for row in _rows] for word in head)
    TABLES = frozenset(_tables["roles"][0][0].split()), by_start(_heads)
_ROLES, _ORDERS = TABLES  # each word of the shortest field with the other fields
_STARTS = frozenset(_ORDERS)
# Letters of other scripts, and the Latin ones that they look like.
_LOOKALIKES = str.maketrans("аеорсухіјѕһԁгոսαεικνορτυχѵԝɡı", "aeopcyxijshdrnuaeiknoptyxvwgi")
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # full-width letters and signs, as the plain ones
_SIGNS = str.maketrans(",،、]", "::::")  # what stands after a role, as a colon
_TAG_MARKS = frozenset("/!?|⁄∕⧸╱")
_MARKERS = "-*#>+•·`_\"'[]() \t0123456789.)"  # what may stand before the words of a line


def line(text: str) -> str:
    """One line of a record, safe to show."""
    text = one_line_of(text)
    label = text.find("] ") + 2 if text.lstrip("- ").startswith(("[20", "[team]")) else 0  # day and id, or scope
    named = text[label:].lstrip("- ")
    if named[8:10] == ": " and not named[:8].strip("0123456789abcdef"):  # the id of a session
        label = len(text) - len(named) + 10
    bare = text[label:].lstrip(_MARKERS)
    at = len(text) - len(bare)
    while at > label and bare and text[at - 1].isalnum() and text[at].isalnum():  # an id may begin with digits
        at -= 1
    before, bare = text[:at], text[at:]
    word, blank, rest = bare.partition(" ")
    if word[:1] == "/" and word[1:2].isalpha() and "/" not in word[1:] and "." not in word:  # a command, not a path
        return before.rstrip("`") + "`%s`" % word.rstrip("`") + blank + rest.rstrip("`")
    said = translated(translated(bare[:80], _WIDE).lower(), _LOOKALIKES)
    plain = translated(text, _WIDE).lower().rstrip(".!")
    alike = translated(plain, _LOOKALIKES)
    plain = " %s " % (plain if alike == plain else plain + " " + alike)
    plain = plain.replace("`", " ").replace("/bin/", " ").replace("/usr ", " ").replace("|", "| ").replace("  ", " ")
    name, sign, _ = said.translate(_SIGNS).partition(":")  # a role speaks, or is spoken to
    words = name.strip(_MARKERS).replace(" code", "").split()
    is_role = bool(sign) and 0 < len(words) < 3 and words[-1] in _ROLES
    near = [order for start in _STARTS.intersection(fours(plain)) for order in _ORDERS[start]]
    if is_role or any(
        all(any(word in plain for word in row) for row in others) for head, others in near if head in plain
    ):
        return before + "(quoted from a record) " + bare
    return text


def one_line_of(text: str) -> str:
    """Indentation and words of a line, without control characters and with its tags disarmed."""
    indent = text[: len(text) - len(text.lstrip(" "))][:8]
    head, *parts = one_line(text).replace("＜", "<").replace("﹤", "<").split("<")
    return indent + (head + "".join([("‹" if _is_tag(part) else "<") + part for part in parts])).replace("```", "'''")


def undone(text: str) -> str:
    """A text with its tags and fences as they were recorded."""
    return text.replace("＜", "<").replace("﹤", "<").replace("‹", "<").replace("'''", "```")


def _is_tag(part: str) -> bool:
    """Whether what follows an angle bracket makes a tag, also with blanks, accents or look-alikes between."""
    if part[:1].isalpha():
        return True
    head = translated(part[:40], _WIDE).lower()
    at = next((number for number, char in enumerate(head) if char.isascii() and char not in "/!?| "), len(head))
    return not _TAG_MARKS.isdisjoint(head[:at]) or head[at:].startswith(("harness-memory", "system"))
