"""Making remembered text inert where it reads like an order, a command or a tag.

Only the injected text changes, never the file: tags lose their angle bracket, a slash command at the start of a line
is quoted, and a line that speaks in a role or addresses the model is marked as a quotation.
"""

from __future__ import annotations

from .text import one_line

_ROLES = ("system", "human", "user", "assistant", "developer", "tool", "claude", "claude code", "ai", "agent", "model")
# What makes a sentence an order to the model.
_ORDERS = """
    new_instructions: you_are_now you_must system_prompt do_not_tell_the_user run_this_now
    run_this_command run_the_following execute_this_now execute_this_command execute_the_following
"""
# Words for "ignore" or "do not tell", and for "instruction" or "user", that do so together.
_IGNORE = """
    ignor disregard forget override vergiss missacht oubli olvid esqueç dimentic игнорир забудь 忽略 无视 無視 忘れ 무시
    تجاهل verschweig sag_nicht ne_dis no_le_digas não_diga не_говори 不要告诉
"""
_OBJECT = """
    instruc instruç istruzion anweisung consigne previous utilisateur usuario usuário benutzer nutzer инструкц указани
    пользоват 指示 指令 用户 ユーザー 지시 تعليمات
"""
_SHELLS = frozenset("sh bash zsh dash fish sudo python python3 node perl ruby iex eval source".split())
# Letters of other scripts, and the Latin ones that they look like.
_LOOKALIKES = str.maketrans("аеорсухіјѕһԁгոսαεικνορτυχѵԝɡ", "aeopcyxijshdrnuaeiknoptyxvwg")
_FETCHES = ("://", "curl ", "wget ", "iwr ", "irm ")
_WORDS = [[word.replace("_", " ") for word in words.split()] for words in (_IGNORE, _OBJECT, _ORDERS)]
_TAG_MARKS = frozenset("/!?|⁄∕⧸╱")
_MARKERS = "-*#>+•·`_\"'[]() \t0123456789.)"  # what may stand before the words of a line


def line(text: str) -> str:
    """One line of a record, safe to show."""
    text = one_line_of(text)
    label = text.find("] ") + 2 if text.lstrip("- ")[:3] == "[20" else 0  # the day and id before the words
    bare = text[label:].lstrip(_MARKERS)
    at = len(text) - len(bare)
    while at > label and bare and text[at - 1].isalnum() and text[at].isalnum():  # an id may begin with digits
        at -= 1
    before, bare = text[:at], text[at:]
    word = bare.partition(" ")[0]
    if word[:1] == "/" and word[1:2].isalpha() and "/" not in word[1:] and "." not in word:  # a command, not a path
        command, blank, rest = bare.rstrip("`").partition(" ")
        return before.rstrip("`") + "`%s`" % command + blank + rest
    plain, said = _folded(text).lower(), _folded(bare).lower().translate(_LOOKALIKES)
    plain += "" if plain.isascii() else " " + plain.translate(_LOOKALIKES)
    name, sign, _ = said.replace(",", ":", 1).partition(":")  # a role speaks, or is spoken to
    is_role = bool(sign) and name.strip(_MARKERS) in _ROLES
    has_verb, has_object, is_order = (any(word in plain for word in words) for words in _WORDS)
    if is_role or is_order or (has_verb and has_object) or _is_fed(plain):
        return before + "(quoted from a record) " + bare
    return text


def _is_fed(plain: str) -> bool:
    """Whether something from the network goes to a shell: `curl x | sh`, `bash -c "$(curl x)"`."""
    if not any(each in plain for each in _FETCHES):
        return False
    piped = [part.split()[:1] for part in plain.replace("`", "").split("|")[1:]]
    if any(word and word[0].rpartition("/")[2] in _SHELLS for word in piped):
        return True
    is_inner = any(mark + each in plain for mark in ("$(", "<(", "iex (") for each in _FETCHES[1:])
    return is_inner and not _SHELLS.isdisjoint(plain.replace("`", " ").replace("/", " ").split())


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
    head = _folded(part[:40]).lower()
    at = next((number for number, char in enumerate(head) if char.isascii() and char not in "/!?| "), len(head))
    return not _TAG_MARKS.isdisjoint(head[:at]) or head[at:].startswith(("harness-memory", "system"))


def _folded(text: str) -> str:
    """Full-width letters and signs as the plain ones they look like."""
    return text if text.isascii() else text.translate({code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)})
