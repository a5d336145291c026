"""Scripts beyond ASCII: their signs, accents and widths, Russian endings, and text without spaces between words."""

from __future__ import annotations

_RUSSIAN = (
    *("иями", "ями", "ами", "иях", "ение", "ения", "ений", "ости", "ость", "ого", "его", "ому", "ему", "ыми", "ими"),
    *("ешь", "ишь", "ете", "ите", "ать", "ять", "ить", "еть", "ает", "яет", "ают", "яют", "ила", "ало", "али", "или"),
    *("ах", "ях", "ов", "ев", "ей", "ой", "ий", "ый", "ая", "яя", "ое", "ее", "ые", "ие", "ом", "ем", "ам", "ям"),
    *("ую", "юю", "ия", "ию", "ии", "ет", "ит", "ут", "ют", "ат", "ят", "ал", "ил", "ть", "а", "е", "и", "о", "у"),
    *("ы", "ь", "ю", "я", "й"),
)
# Each two neighbours of these are a term.
_DENSE = ((0x0E00, 0x0F00), (0x3005, 0xD7B0), (0xF900, 0xFB00), (0x20000, 0x110000))
_SIGNS = (
    *(*range(0x80, 0xAA), *range(0xAB, 0xB2), 0xB4, *range(0xB6, 0xBA), 0xBB, 0xBF, 0xD7, 0xF7),
    *(*range(0x2000, 0x2070), *range(0x2190, 0x2C00), *range(0x3000, 0x3005), *range(0x3008, 0x3021), 0x30FB),
    *(*range(0xFF00, 0xFF10), *range(0xFF1A, 0xFF21), *range(0xFF3B, 0xFF41), *range(0xFF5B, 0xFF66)),
)
_WIDE = (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
_ACCENTED = map(ord, "àáâãäåçèéêëìíîïñòóôõöøùúûüýÿāăąćčďđēęěğīıłńňōőřśşšţťūůűźżž")
_FOLDED = dict(zip(_ACCENTED, "aaaaaaceeeeiiiinoooooouuuuyyaaaccddeeegiilnnoorsssttuuuzzz"))
_FOLDED.update({ord("ß"): "ss", ord("æ"): "ae", ord("œ"): "oe", ord("ё"): "е"})
PLAIN = {**dict.fromkeys(_SIGNS, " "), **{code: chr(code - 0xFEE0) for code in _WIDE}, 0x2019: "", 0xAD: ""}


def words(pieces: list[str]) -> list[str]:
    parts: list[str] = []
    for piece in pieces:
        word = run = ""
        for letter in piece.lower().translate(_FOLDED) + " ":
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


def endings(word: str) -> tuple[str, ...]:
    return _RUSSIAN if "а" <= word[-1:] <= "я" else ()
