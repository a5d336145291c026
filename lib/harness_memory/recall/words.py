"""What a text is indexed by: stemmed words, identifiers and paths both whole and in parts, pairs of CJK characters."""

from __future__ import annotations

from .stem import stem

_STOP = frozenset(
    "a about above after again all also am an and any are arent as at be because been before being below between both but"
    " by can cannot cant could couldnt did didnt do does doesnt doing dont down during each few for from further get got"
    " had hadnt has hasnt have havent having he hed hell her here heres hers herself hes him himself his how hows i id if"
    " ill im in into is isnt it its itself ive just lets like me more most my myself no nor not now of off on once only or"
    " other our ours ourselves out over own please same shall she shed shes should so some such than that thats the their"
    " theirs them themselves then there theres these they theyd theyll theyre theyve this those through to too under"
    " until up us very was wasnt we wed well were werent weve what whats when whens where wheres which while who whom whos"
    " why whys will with wont would wouldnt you youd youll your youre yours yourself youve".split()
)
# In a question or a request these say how it is asked, not what it is about.
_FRAMING = (
    "advice ago amount back chat conversation currently date day different discuss first going help ideas kind know last"
    " long made make many mention might month much name need new number often one plan previous previously recently"
    " recommend recommendation remember remind said say specific suggest suggestion take talk tell thing think time tips"
    " today told took total try two type use want way week went year yesterday"
)
_JOINERS = "_./-"
_WHOLE_MAX_CHARS = 64


def _table() -> dict[int, str | None]:
    table: dict[int, str | None] = {code: " " for code in range(128) if not chr(code).isalnum()}
    table.update({ord(mark): mark for mark in _JOINERS})
    table.update({ord("\\"): "/", ord("'"): None, 0x2019: None, 0x2018: " ", 0xAD: None})
    table.update(dict.fromkeys((*range(0x80, 0xA9), 0xAB, *range(0xAC, 0xB2), *range(0xB4, 0xB9), 0xBB, 0xBF, 0xD7), " "))
    table.update(dict.fromkeys((*range(0x2000, 0x2018), *range(0x201A, 0x2070), *range(0x3000, 0x3005)), " "))
    table.update(dict.fromkeys((*range(0x3008, 0x3021), 0x30FB, *range(0xFF00, 0xFF10), 0xFF1A, 0xFF1B, 0xFF1F), " "))
    table.update({code: chr(code - 0xFEE0) for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))})
    return table


_TABLE = _table()
_FOLDED = str.maketrans("àáâãäåçèéêëìíîïñòóôõöøùúûüýÿāăąćčďđēęěğīıłńňōőřśşšţťūůűźżžё", "aaaaaaceeeeiiiinoooooouuuuyyaaaccddeeegiilnnoorsssttuuuzzzе")
_FOLDED.update({ord("ß"): "ss", ord("æ"): "ae", ord("œ"): "oe"})
_known: dict[str, str] = {}


def terms(text: str) -> list[str]:
    """The terms of a text in its order, with repetitions."""
    found: list[str] = []
    for chunk in text.translate(_TABLE).split():
        if chunk.isalpha() and chunk.isascii() and (chunk.islower() or chunk[1:].islower() or chunk.isupper()):
            _add_word(found, chunk.lower())
        else:
            _add_chunk(found, chunk.strip("./-"))
    return found


def _add_word(found: list[str], word: str) -> None:
    if word in _STOP:
        return
    known = _known.get(word)
    if known is None:
        known = _known[word] = stem(word)
    found.append(known)


def _add_chunk(found: list[str], chunk: str) -> None:
    """A number, an identifier, a path, or text in another script: whole, then in parts."""
    pieces = chunk.replace("_", " ").replace("/", " ").replace(".", " ").replace("-", " ").split()
    parts = [part for piece in pieces for part in _humps(piece)] if chunk.isascii() else _foreign(pieces)
    if len(parts) > 1 and chunk.isascii():
        found.append(chunk.lower()[:_WHOLE_MAX_CHARS])
        name = chunk[chunk.rfind("/") + 1 :]
        if name != chunk and len(name) > 2 and name.lower() not in parts:
            found.append(name.lower()[:_WHOLE_MAX_CHARS])
    for part in parts:
        _add_word(found, part)


def _humps(piece: str) -> list[str]:
    """The words of a camelCase or HTTPServer name, in lower case; a piece without humps as one."""
    if piece.islower() or piece.isupper() or piece[1:].islower() or not piece[1:]:
        return [piece.lower()[:_WHOLE_MAX_CHARS]]
    words = []
    start = 0
    for at in range(1, len(piece)):
        if piece[at].isupper() and (not piece[at - 1].isupper() or piece[at + 1 : at + 2].islower()):
            words.append(piece[start:at].lower())
            start = at
    words.append(piece[start:].lower()[:_WHOLE_MAX_CHARS])
    return words


def _foreign(pieces: list[str]) -> list[str]:
    parts: list[str] = []
    for piece in pieces:
        word = ""
        run = ""
        for letter in piece.lower().translate(_FOLDED) + " ":
            if _is_dense(letter):
                parts += [word] if word else []
                word = ""
                run += letter
            else:
                parts += _pairs(run)
                run = ""
                word += letter
        parts += [word[:-1]] if word[:-1] else []
    return parts


def _is_dense(letter: str) -> bool:
    """Of a script that puts no spaces between words."""
    code = ord(letter)
    return code >= 0x0E00 and (code < 0x0F00 or 0x3005 <= code < 0xD7B0 or 0xF900 <= code < 0xFB00 or code >= 0x20000)


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] if len(run) > 1 else [run] if run else []


FRAMING = frozenset(terms(_FRAMING))
