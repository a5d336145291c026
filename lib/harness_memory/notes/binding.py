"""Rules that bind: what notes say of commands, paths and steps, compiled for the hooks.

    STATE/triggers.json   {"schema", "rules": [{"note", "enforce", "when", "after", "require", "text", "remedy"}]};
                          those of a team's notes in triggers-<hash of the checkout>.json
    <root>/triggers       `<folder>\t<words>`, a line a rule, which cannot apply to a call without all of its words

A note binds by `enforce` and its `triggers`, or by what it requires after a change. Superseded or overridden, it binds
on: another note may only tighten. "Instead: …" in it is the remedy. A note without `enforce` reminds.
"""

from __future__ import annotations

import os

from ..base import files, settings
from ..base.lock import Lock
from ..base.text import cut, hexdigest
from ..base.typing import Fields
from ..project import identity
from ..session import sessions
from .note import PATTERNS, Note

PERSON = "it binds, and only a person may loosen it: in a terminal, without Claude Code"
_RULE: Fields = dict.fromkeys(("note", "enforce", "text", "remedy"), "text")
_RULE.update({key: ["text"] for key in ("when", "after", "require")})
_INSTEAD = "Instead: "
_TEXT_CHARS = 400
_ABBREVIATED = ("npm", "pnpm", "bun", "cargo", "git commit", "git checkout")  # `npm i`: the verb may not be there


class Bound(OSError):
    """A note that binds would bind less."""

    remedy = "Nothing was changed."


def firmness(note: Note) -> str:
    """remind, ask or deny; a required step is asked for unless the note says otherwise; "" when it does not bind."""
    is_step = bool(note.patterns("after") and note.patterns("require"))
    if note.fields.get("enforce") == "off" or not (is_step or note.patterns("triggers")):
        return ""
    return str(note.fields.get("enforce") or ("ask" if is_step else "remind"))


def is_looser(before: Note, after: Note | None) -> bool:
    """Whether what asks or denies before would do less: in fewer cases, less firmly, or with fewer words."""
    firm, levels = firmness(before), settings.ENFORCE
    if firm not in levels[1:]:
        return False
    if after is None or firmness(after) not in levels[levels.index(firm) :]:
        return True
    texts = {fact.text for fact in after.facts}
    is_cut = not texts.issuperset(fact.text for fact in before.facts)
    return is_cut or any(not {*before.patterns(key)} <= {*after.patterns(key)} for key in PATTERNS)


def compiled(note: Note) -> Fields:
    facts = [fact.text for fact in note.facts]
    remedies = [fact[len(_INSTEAD) :] for fact in facts if fact.startswith(_INSTEAD)]
    words = " ".join(fact for fact in facts if not fact.startswith(_INSTEAD)) or note.description
    lists = {"when": "triggers", "after": "after", "require": "require"}
    rule = {"note": note.ref, "enforce": firmness(note), "text": cut(words, _TEXT_CHARS)}
    rule["remedy"] = cut(remedies[0], settings.ITEM_CHARS) if remedies else ""
    return {**rule, **{key: note.patterns(field) for key, field in lists.items()}}


def save(home: str, notes: list[Note], checkout: str = "") -> None:
    """Compile the notes of a shelf; those of a team belong to a `checkout` of the project."""
    rules = [compiled(note) for note in notes if not note.is_unreadable and firmness(note)]
    path = path_of(home, checkout)
    if rules or files.exists(path):
        files.write_json(path, {"schema": settings.SCHEMA, "rules": rules})
        root, folder = os.path.split(home)
        mark = folder + os.path.basename(path)[len("triggers") : -len(".json")] + "\t"
        own = [mark + words for words in sorted({_words(each) for rule in rules for each in rule["when"]})]
        with Lock(os.path.join(root, settings.TRIGGERS_MARK + settings.LOCK_SUFFIX)):
            lines = files.read_text(os.path.join(root, settings.TRIGGERS_MARK)).split("\n")
            others = [line for line in lines if line and not line.startswith(mark)]
            files.write(os.path.join(root, settings.TRIGGERS_MARK), "\n".join([*others, *own, ""]))


def path_of(home: str, checkout: str = "") -> str:
    mark = "-" + hexdigest(checkout)[:8] if checkout else ""
    return os.path.join(home, settings.STATE_DIR, "triggers%s.json" % mark)


def load(root: str, project_dir: str, checkout: str) -> list[Fields]:
    """The rules of a project, of its checkout and of the user, the firmest first."""
    paths = (path_of(project_dir), path_of(project_dir, checkout), path_of(os.path.join(root, settings.USER_DIR)))
    values = [files.load_json(path, {"rules": [_RULE]}) for path in paths]
    rules = [rule for value in values if value for rule in value["rules"] if rule["enforce"] in settings.ENFORCE]
    return sorted(rules, key=lambda rule: -settings.ENFORCE.index(rule["enforce"]))


def near(root: str, project: str, cwd: str, session_id: str, text: str) -> list[Fields]:
    """The rules at a place whose triggers may fit a text, with those of their triggers."""
    files.confine(root)
    project_dir, marker = sessions.find_marker(root, session_id) if session_id else ("", {})
    checkout = str(marker.get("root") or "")
    if not checkout:
        place = identity.locate(root, project, cwd)
        project_dir, checkout = place.dir, place.root
    rules = load(root, project_dir, checkout)
    whens = [[(each, _words(each).split(" ")) for each in rule["when"]] for rule in rules]
    fitting = [[each for each, words in when if all(word in text for word in words)] for when in whens]
    return [{**rule, "when": when} for rule, when in zip(rules, fitting) if when]


def _words(pattern: str) -> str:
    """Pieces of text that a call within the pattern must hold, in lower case."""
    kind, _, what = pattern.partition(": ")
    literals = "".join([char if char not in "*?[" else "*" for char in what.lower()])
    if kind == "path":
        return max([part for piece in literals.split("/") for part in piece.split("*")], key=len)
    words = literals.partition("*")[0].split() if "*" in literals else literals.split()
    is_short = words[:1] and (words[0] in _ABBREVIATED or " ".join(words[:2]) in _ABBREVIATED)
    return " ".join(words[: 1 if is_short else 2])
