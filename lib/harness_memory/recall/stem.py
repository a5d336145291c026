"""Stems: Porter's algorithm for English, the most frequent endings of Russian, other words unchanged."""

from __future__ import annotations

_VOWELS = frozenset("aeiou")
_STEP_2 = (
    "ational:ate tional:tion enci:ence anci:ance izer:ize abli:able alli:al entli:ent eli:e ousli:ous ization:ize"
    " ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble"
)
_STEP_3 = "icate:ic ative: alize:al iciti:ic ical:ic ful: ness:"
_STEP_4 = (
    *("ement", "ance", "ence", "able", "ible", "ment", "sion", "tion", "ant", "ent"),
    *("ism", "ate", "iti", "ous", "ive", "ize", "al", "er", "ic", "ou"),
)
_RUSSIAN = (
    *("иями", "ями", "ами", "иях", "ение", "ения", "ений", "ости", "ость", "ого", "его", "ому", "ему", "ыми", "ими"),
    *("ешь", "ишь", "ете", "ите", "ать", "ять", "ить", "еть", "ает", "яет", "ают", "яют", "ила", "ало", "али", "или"),
    *("ах", "ях", "ов", "ев", "ей", "ой", "ий", "ый", "ая", "яя", "ое", "ее", "ые", "ие", "ом", "ем", "ам", "ям"),
    *("ую", "юю", "ия", "ию", "ии", "ет", "ит", "ут", "ют", "ат", "ят", "ал", "ил", "ть", "а", "е", "и", "о", "у"),
    *("ы", "ь", "ю", "я", "й"),
)
_IRREGULAR = (
    "ate:eat became:become began:begin begun:begin bent:bend bought:buy broke:break broken:break brought:bring"
    " built:build burnt:burn came:come caught:catch children:child chose:choose chosen:choose dealt:deal"
    " drank:drink drawn:draw drew:draw driven:drive drove:drive drunk:drink eaten:eat fallen:fall fed:feed"
    " feet:foot fell:fall felt:feel flew:fly flown:fly forgot:forget forgotten:forget fought:fight found:find"
    " froze:freeze frozen:freeze gave:give given:give gone:go gotten:get grew:grow grown:grow heard:hear"
    " held:hold hid:hide hidden:hide hung:hang kept:keep knew:know known:know laid:lay lain:lie leant:lean"
    " learnt:learn led:lead left:leave lent:lend lost:lose made:make meant:mean men:man met:meet mice:mouse"
    " paid:pay people:person ran:run ridden:ride risen:rise rode:ride rose:rise said:say sang:sing sat:sit"
    " saw:see seen:see sent:send shook:shake shot:shoot shown:show shrank:shrink slept:sleep sold:sell"
    " sought:seek spent:spend spoke:speak spoken:speak spun:spin stole:steal stolen:steal stood:stand"
    " struck:strike stuck:stick sung:sing swam:swim swept:sweep swore:swear taken:take taught:teach teeth:tooth"
    " thought:think threw:throw thrown:throw told:tell took:take tore:tear torn:tear understood:understand"
    " went:go wives:wife woke:wake women:woman won:win wore:wear worn:wear wound:wind written:write wrote:write"
)
_REGULAR = dict(pair.split(":") for pair in _IRREGULAR.split())
_REPLACED_2 = dict(pair.split(":") for pair in _STEP_2.split())
_REPLACED_3 = dict(pair.split(":") for pair in _STEP_3.split())


def stem(word: str) -> str:
    """The stem of one lower-case word."""
    if word.isascii():
        word = _REGULAR.get(word, word)
        return _english(word) if len(word) > 2 else word
    return _russian(word) if "а" <= word[-1:] <= "я" else word


def _russian(word: str) -> str:
    for ending in _RUSSIAN:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _is_consonant(word: str, at: int) -> bool:
    letter = word[at]
    if letter == "y":
        return at == 0 or not _is_consonant(word, at - 1)
    return letter not in _VOWELS


def _measure(word: str) -> int:
    """Number of changes from vowels to consonants."""
    count = 0
    was_vowel = False
    for at, letter in enumerate(word):
        is_vowel = letter in _VOWELS or (letter == "y" and at > 0 and not was_vowel)
        count += was_vowel and not is_vowel
        was_vowel = is_vowel
    return count


def _has_vowel(word: str) -> bool:
    return any(letter in _VOWELS for letter in word) or "y" in word[1:]


def _ends_short(word: str) -> bool:
    """Ends in consonant, vowel, consonant other than w, x, y, as "hop" does."""
    if len(word) < 3 or word[-1] in "wxy":
        return False
    return [_is_consonant(word, at) for at in range(len(word) - 3, len(word))] == [True, False, True]


def _english(word: str) -> str:
    word = _inflections(word)
    if word[-1] == "y" and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _REPLACED_2, 7)
    word = _replaced(word, _REPLACED_3, 5)
    for ending in _STEP_4:
        if word.endswith(ending):
            cut = 3 if ending in {"sion", "tion"} else len(ending)
            if _measure(word[:-cut]) > 1:
                word = word[:-cut]
            break
    if word[-1] == "e":
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _inflections(word: str) -> str:
    """Remove plural, -ed and -ing."""
    if word[-1] == "s":
        if word.endswith(("sses", "ies")):
            word = word[:-2]
        elif word[-2] != "s":
            word = word[:-1]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            base = word[: -len(ending)]
            return _mended(base) if _has_vowel(base) else word
    return word


def _mended(base: str) -> str:
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if len(base) > 1 and base[-1] == base[-2] and base[-1] not in "lsz" and _is_consonant(base, len(base) - 1):
        return base[:-1]
    return base + "e" if _measure(base) == 1 and _ends_short(base) else base


def _replaced(word: str, endings: dict[str, str], longest: int) -> str:
    for size in range(longest, 2, -1):
        new = endings.get(word[-size:])
        if new is not None and len(word) > size:
            return word[:-size] + new if _measure(word[:-size]) > 0 else word
    return word
