"""`review`: what waits for a person's word, and what they say to it. `rules`: does what they ruled hold?"""

from __future__ import annotations

import argparse
from typing import Any

from ..audit import trail
from ..base import clock, settings
from ..inject.injection import load_receipt
from ..memory import merge, review, views
from ..memory.review import Item
from ..notes import binding, lint, shelf
from ..notes.note import Note
from ..session import episode, sessions
from . import arguments, notes, resolve
from .output import Refusal, answer, count, listing, short, sparkline
from .scopes import Scopes

_TYPES = {"rule": "feedback", "decision": "decision", "lesson": "project"}
_ACTIONS = {"accept": "make notes of them", "edit": "accept one in other words", "reject": "never offer them again"}
_WEEKS = 12


def waiting(argv: list[str]) -> int:
    about = "Rules you stated, decisions and lessons that wait for your word. What is rejected is never offered again."
    examples = 'review\nreview accept a1b2c3d4 --enforce deny --when "command: npm install*"\nreview reject --all'
    actions = arguments.Actions("review", about, examples)
    parser = actions.add("list", "what waits, newest first, with its source")
    parser.add_argument("--all", action="store_true", help="not only the first %d" % review.SHOWN)
    for action, help in _ACTIONS.items():
        parser = actions.add(action, help)
        if action == "edit":
            parser.add_argument("ids", nargs=1, metavar="ID")
            parser.add_argument("words", metavar="WORDS", help="what the note is to say, in quotes")
        else:
            parser.add_argument("ids", nargs="*", metavar="ID")
        parser.add_argument("--all", action="store_true", help="all that waits")
        if action != "reject":
            parser.add_argument("--topic", metavar="T", dest="name", default="", help="the name of its note")
            notes.add_content(parser)
    args = actions.parse(argv, "list")
    scopes = Scopes(args)
    left = review.waiting(scopes.project.dir, _episodes(scopes))
    if args.action == "list":
        args.limit = len(left) or 1 if args.all else review.SHOWN
        return listing(args, "ID KIND DAY SESSION #TIMES WORDS", left, _row, "Nothing waits.", _former(scopes))
    if bool(args.ids) is args.all:
        raise Refusal("name what you mean by its ID, or --all. See: harness memory review")
    chosen = [_one(word, left) for word in args.ids] or left
    if not chosen:
        return answer(args.json, [], ["Nothing waits."])
    results = [_settle(scopes, args, item) for item in chosen]
    views.rebuild(scopes.project.dir)
    return answer(args.json, [value for value, _ in results], [line for _, lines in results for line in lines])


def _episodes(scopes: Scopes) -> list[dict[str, Any]]:
    loaded = (episode.load(scopes.project.dir, name) for name in episode.names(scopes.project.dir))
    return [each for each in loaded if each]


def _former(scopes: Scopes) -> list[str]:
    """Versions of pages that lost against a newer one of another machine."""
    root, homes = arguments.root(), (scopes.project.id, settings.USER_DIR)
    paths = [path for path in merge.curated(root) if merge.is_former(path) and merge.home(path) in homes]
    rows = ["  " + short("%s/%s" % (root, path)) for path in paths]
    return ["", "Changed on two machines; the newer version holds, the other is in:", *rows] if rows else []


def _one(word: str, left: list[Item]) -> Item:
    return resolve.one(word, left, lambda item: (item.key,), "item", lambda item: item.key + "  " + item.text, "review")


def _row(item: Item) -> tuple[Any, list[Any]]:
    value = {name: getattr(item, name) for name in ("key", "kind", "day", "session", "times", "text")}
    return value, [item.key, item.kind, item.day, item.session, item.times, item.text]


def _settle(scopes: Scopes, args: argparse.Namespace, item: Item) -> tuple[Any, list[str]]:
    project_dir, value, lines, note = scopes.project.dir, _row(item)[0], ["Rejected: " + item.text], ""
    if args.action != "reject":
        kind = _TYPES[item.kind] if _TYPES[item.kind] in settings.NOTE_TYPES else "project"
        text = args.words if args.action == "edit" else item.text
        options = {**vars(args), "facts": [text], "type": args.type or kind}
        del options["action"]  # an existing note is added to
        value, lines = notes.added(scopes, argparse.Namespace(**options))
        note = value["note"]
    verdict = review.ACCEPTED if note else review.REJECTED
    review.record(project_dir, verdict, scopes.now, key=item.key, note=note, session=item.session)
    return value, lines


def rules(argv: list[str]) -> int:
    about = "Every rule: how it binds, when it last came up, what became of it, and how often you had to say it again."
    args = arguments.parser("rules", about, "rules\nrules --json").parse_args(argv)
    scopes = Scopes(args)
    held = standing(scopes)
    weeks = recurrences(held, scopes.now)
    again = "Said again, week by week, newest last: " + sparkline([*weeks], 0, max(1, *weeks))
    after = ["", again] if any(weeks) else []
    waits = count(len(review.stated(scopes.project.dir)), "rule")
    after += ["", "Stated in prompts and not reviewed: %s. See: harness memory review" % waits]
    head = "NOTE BINDS LAST #FOLLOWED #STOPPED #OVERRIDDEN #RECURRED RULE"
    none = 'No rule here. Make one: harness memory remember "…" --enforce deny --when "command: …"'
    return listing(args, head, held, lambda rule: (rule, [rule[key] for key in rule if key != "again"]), none, after)


def standing(scopes: Scopes) -> list[dict[str, Any]]:
    """What became of each rule: notes that bind, and the user's feedback."""
    project_dir = scopes.project.dir
    counts: dict[str, list[tuple[str, str]]] = {}  # by a note's ref, or the slug that the trail knows
    for event in review.load(project_dir):
        if event.get("note"):
            counts.setdefault(event["note"], []).append((event["event"], event["at"]))
    for event in trail.events(project_dir):
        if str(event.get("rule")).startswith("note."):
            counts.setdefault(event["rule"][len("note.") :], []).append((str(event.get("decision")), event["ts"]))
    for directory in sessions.all_directories(project_dir):
        for item in load_receipt(directory).items:
            counts.setdefault(item["item"], []).append(("reminded", item.get("at", "")))
    said = review.items(_episodes(scopes))
    held = []
    for note in [note for note in shelf.read_all(scopes.shelves) if binding.firmness(note) or note.type == "feedback"]:
        events = [*counts.get(note.ref, ()), *counts.get(note.slug, ())]
        kinds = [kind for kind, _ in events]
        again = [item.day for item in said if item.kind == "rule" and item.day > note.day and _is_about(item, note)]
        value: dict[str, Any] = {"note": note.ref, "binds": binding.firmness(note) or "-"}
        value["last"] = max([at[:10] for kind, at in events if kind != review.ACCEPTED] or [""])
        value.update(followed=kinds.count("followed"), stopped=kinds.count("deny") + kinds.count("ask"))
        value.update(overridden=kinds.count("log"), recurred=len(again), rule=note.description, again=again)
        held.append(value)
    return held


def _is_about(item: Item, note: Note) -> bool:
    """Whether a stated rule says what a note says: most of its words."""
    words = {*lint.content(item.text)}
    return bool(words) and any(len(words & {*lint.content(fact.text)}) >= 0.6 * len(words) for fact in note.facts)


def recurrences(held: list[dict[str, Any]], now: float) -> list[float]:
    """How often something was said again in each of the last weeks, the newest last."""
    weeks = [0.0] * _WEEKS
    for day in [day for rule in held for day in rule["again"]]:
        age = int((now - (clock.parse(day + "T00:00:00Z") or 0.0)) // (7 * settings.DAY_SECONDS))
        if 0 <= age < _WEEKS:
            weeks[-1 - age] += 1
    return weeks
