"""The fields of an episode, from what its turns say (see `digest`)."""

from __future__ import annotations

from ..base import settings
from ..base.text import cut
from .digest import CLASS, TABLES, Statement, classes, is_covered, ranked, stems, words_of

SURE, _LEAST_SURE, _LEAST_WORTH = 7, -12, -3  # the first two in tenths
_DUTY = frozenset(("must", "not", "yet"))  # classes of words that say that a step is to be done
_ANY_WORK = frozenset(("do", "done"))  # classes of words that fit any session


def surest(statements: list[Statement], kind: str, least: int = _LEAST_SURE) -> list[str]:
    """The statements that are most surely of a kind, surest first: the best of each turn before the second best."""
    sure = [each for each in statements if kind in each.kinds and each.sure > least]
    best = [each for rank, each in ranked(sure, lambda each: (-each.sure, -each.weight)) if rank < settings.KIND_ITEMS]
    return list(dict.fromkeys([item(each.text) for each in best]))[: settings.KIND_TOTAL]


def item(text: str) -> str:
    """A text for a list that says what its items are: without "Decision: " or "Next step: ", or a sign before it."""
    sign, _, rest = text.partition(" ")
    text = text if any(map(str.isalnum, sign)) else rest or text
    label, _, rest = text.partition(": ")
    return cut(rest if rest and label.lower() in TABLES["labels"] else text, settings.ITEM_CHARS)


def passages(statements: list[Statement]) -> list[dict[str, object]]:
    turns = [*dict.fromkeys([each.turn for each in statements])]
    numbers, names = dict(zip(turns, range(len(turns)))), {"u": "user", "c": "claude"}
    return [{"turn": numbers[each.turn], "by": names[each.by], "text": each.text} for each in statements]


def headline(statements: list[Statement], files: list[str]) -> str:
    """The line that says best what the session was about; after the ask, or else a file, when it hardly names it."""
    scores = {}
    for each in [each for each in statements if each.by == "c"] or statements:
        is_deed = "s" in each.kinds or "d" not in each.kinds  # of work; what was decided stands elsewhere
        bonus = 0 if "w" not in each.kinds else 12 if is_deed else 2
        scores[each] = each.headline + bonus + 4 * (each.turn == statements[0].turn)  # what it was begun for
    best = max(scores, key=scores.__getitem__)
    line = _as_deed(best.text.rstrip(":").partition(" (done)")[0])
    asks = [each for each in statements if each.by == "u" and each.turn <= best.turn]
    about = _subjects(" ".join([*(each.text for each in asks if each.turn == best.turn), *files]))
    named = len(about & _subjects(line))
    if best.by == "c" and named < 2 and (named * 6 < len(about) or not named):
        asks.sort(key=lambda each: -each.turn)
        names = [*(each.text for each in asks), *(file.rpartition("/")[2] for file in files[-1:])]
        names = [*filter(_subjects, names), *names, ""]
        ask = names[0].rstrip(" .:?!")
        parts = [cut(ask, settings.SUMMARY_LINE_CHARS // 3), line if stems(words_of(line)) else ""]
        line = ": ".join([part for part in parts if part]) or line
    return cut(line, settings.SUMMARY_LINE_CHARS)


def _subjects(text: str) -> set[str]:
    return stems([word for word in words_of(text) if _ANY_WORK.isdisjoint(CLASS.get(word, ()))])


def _as_deed(line: str) -> str:
    """ "I've successfully added tests for: …" as "Added tests": a list of sessions is read by its first words."""
    words = line.split(" ")
    del words[next((at for at, word in enumerate(words) if at > 2 and "to come" in CLASS.get(word, ())), len(words)) :]
    while len(words) > 3 and "stop" in CLASS.get(words[-1].lower(), ()):
        del words[-1]
    deed = words.copy()
    while len(deed) > 3 and deed[0].lower().replace("’", "'") in TABLES["openers"]:
        del deed[0]
    is_deed = len(deed) > 2 and "done" in CLASS.get(deed[0].lower(), ())
    return " ".join([deed[0][:1].upper() + deed[0][1:], *deed[1:]] if is_deed else words)


def reports(statements: list[Statement]) -> dict[Statement, float]:
    """What Claude says of its work, with how well each says it."""
    said = [each for each in statements if each.by == "c" and "l" not in each.kinds and each.text[-1:] not in "?？"]
    worth = {each: each.headline / 10 + each.weight / 40 + max(each.sure, -20) / 25 for each in said}
    return {each: value for each, value in worth.items() if value > _LEAST_WORTH} or worth


def leads(worth: dict[Statement, float]) -> list[Statement]:
    """The report that says best what each turn did."""
    return sorted([each for at, each in ranked(worth, lambda each: -worth[each]) if not at], key=lambda each: each.turn)


def done(statements: list[Statement], worth: dict[Statement, float], elsewhere: list[str], limit: int) -> str:
    """What carries the work of every turn, in order, without what stands `elsewhere`; a blank line between turns."""
    best, known = [each for each in leads(worth)[::-1] if len(stems(words_of(each.text))) > 1], {*elsewhere}
    rest = [each for each in worth if not {"d", "f", "s"}.isdisjoint(each.kinds) and item(each.text) not in known]
    chosen: set[str] = set()
    for each in [*(best or leads(worth)), *sorted(rest, key=lambda each: worth[each], reverse=True)]:
        if each.text not in chosen and len(each.text) + 2 <= limit:
            chosen.add(each.text)
            limit -= len(each.text) + 2
    text, turn = "", -1
    for each in sorted(statements, key=lambda each: (each.turn, each not in best)):
        if each.text in chosen and each.by == "c" and each.text not in text:
            text += ("" if not text else "\n" if each.turn == turn else "\n\n") + each.text
            turn = each.turn
    return text


def unlisted(left: list[Statement], listed: list[str]) -> list[str]:
    """What answers leave open beyond what todos and checkpoints list: each step once, worded once."""
    known, own = ([stems(words_of(text)) for text in texts] for texts in (listed, [each.text for each in left]))
    listings = [any(len(a & b) >= max(0.6 * min(len(a), len(b)), 2) for b in known) for a in own]
    return [each.text for each, is_listed in zip(left, listings) if not is_listed]


def closed(statements: list[Statement], commits: list[str], files: list[str], steps: list[str]) -> list[str]:
    """The open steps of earlier sessions that this one says it has done."""
    done = [each for each in statements if each.by == "c" and not {"s", "w"}.isdisjoint(each.kinds)]
    turns, deeds = {each.turn for each in done}, {*commits, *(each.text for each in done if "l" not in each.kinds)}
    said = [*commits, *(each.text for each in statements if each.turn in turns and "l" not in each.kinds)]
    signs = {text: classes(words_of(text)) for text in said}
    others = {text: stems(words_of(text)) for text in said if "yet" not in signs[text]}  # "is still missing"
    plain = {text: others[text] for text in others if "not" not in signs[text]}
    names = [{*words_of(file.rpartition("/")[2].partition(".")[0])} for file in files]
    found = []
    for step in steps:  # or each of its parts; or a file that it names was changed, and a deed says half of the rest
        core = step.replace("Unfinished: ", "").partition(" — ")[0].partition(" because ")[0]  # without its reason
        parts = core.replace("; ", ", and ").split(", and ")
        due = [part for part in parts if not _DUTY.isdisjoint(classes(words_of(part)))] or parts
        is_each = parts[1:] and all(is_covered(part, plain.values(), 1, _DUTY) for part in due)
        words = words_of(step)
        named = {word for name in names if name.issubset(words) for word in name}
        own = stems([word for word in words if word not in named and _DUTY.isdisjoint(CLASS.get(word, ()))])
        code = ["", *(span for span in step.split("`")[1::2] if named.isdisjoint(words_of(span)))][-1]
        common = [len(own & others[deed]) for deed in plain if deed in deeds and code in deed and named]
        is_named = max(common, default=0) >= max(len(own) / 2, 2)
        is_whole = is_covered(core, others.values(), ignored=("pending",))
        found += [step] * bool(is_each or is_named or is_whole)
    return list(dict.fromkeys(found))


def ticked(plan: list[str], statements: list[Statement]) -> list[str]:
    """The steps of a plan, each with a box that is ticked when the session says it is done."""
    said = [stems(words_of(unit.text)) for unit in statements if plan and unit.by == "c" and "l" not in unit.kinds]
    return ["[%s] %s" % ("x" if is_covered(step, said) else " ", step) for step in plan[1:]]


def tags(files: list[str], skill: str, statements: list[Statement]) -> list[str]:
    """Folders, languages and names that come up again and again; none where nothing does."""
    folders = [part for file in files for part in file.split("/")[:-1] if len(part) > 2 and part[0].isalnum()]
    folders += [TABLES["languages"].get(file.rpartition(".")[2].lower(), "") for file in files]
    places = [name for name in folders if name and name not in TABLES["folders"]]
    spans = [span for each in statements for span in dict.fromkeys(each.text.split("`")[1::2])]
    names = [span for span in spans if span.isidentifier() and 3 < len(span) < 30 and spans.count(span) > 1]
    often = [sorted(dict.fromkeys(each), key=each.count, reverse=True) for each in (places, names)]
    return list(dict.fromkeys([*([skill] if skill else []), *often[0][:5], *often[1][:3]]))
