"""The lists of words that the guard looks up, by their names: `words.txt`."""

from __future__ import annotations

from .shell import table

TABLES_FILE = __file__[: -len(".py")] + ".txt"
TABLES: dict[str, tuple[str, ...]] = globals().get("TABLES") or {
    name: tuple([word.replace("␣", " ") for word in words]) for name, *words in map(str.split, table(TABLES_FILE))
}
WORDS = TABLES
HOME_PLACES = dict([word.split("=") for word in WORDS["home-variables"]])  # what these variables usually name


def holds(text: str, name: str) -> bool:
    """Whether a text holds one of the words of a list."""
    return any(word in text for word in WORDS[name])
