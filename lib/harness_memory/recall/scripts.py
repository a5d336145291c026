"""Scripts beyond ASCII: their signs, accents and widths, and text without spaces between words."""

from __future__ import annotations

from unicodedata import category, normalize

# Each two neighbours of these are a term.
_DENSE = ((0x0E00, 0x0F00), (0x3005, 0xD7B0), (0xF900, 0xFB00), (0x20000, 0x110000))
_PLAIN = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ı": "i", "ё": "е", "\u2019": "", "\xad": ""}


def plain(text: str) -> str:
    """The text with a blank for each sign, and Latin letters without accents or width."""
    table = {ord(letter): _PLAIN.get(letter) for letter in {*text} if not letter.isascii()}
    for code in [code for code, letter in table.items() if letter is None]:
        letter = chr(code)
        is_latin = letter < "\u0250" or "\uff00" < letter < "\uffef"
        table[code] = " " if category(letter)[0] in "PSZC" else normalize("NFKD", letter)[0] if is_latin else letter
    return text.translate(table)


def words(pieces: list[str]) -> list[str]:
    parts: list[str] = []
    for piece in pieces:
        word = run = ""
        for letter in piece.lower() + " ":
            code = ord(letter)
            if any(first <= code < end for first, end in _DENSE):
                parts += [word] if word else []
                word = ""
                run += letter
            else:
                parts += [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]
                run = ""
                word += letter
        parts += [word[:-1]] if word[:-1] else []
    return parts
