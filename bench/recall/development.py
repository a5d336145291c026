"""The development set: three invented projects with their sessions and notes, and prompts with known answers.

`topics.json` holds what was worked on; from each topic come three sessions (built, a bug, a change), a note of a
decision, and six prompts. Routine sessions stand between them. Nothing is random.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
START = 1_767_225_600  # 2026-01-01
DAY = 86_400
ROUTINE = (
    ("Bump the dependencies", "Updated the lock file, all tests pass.", "lockfile"),
    ("Fix typos in the README", "Corrected spelling, no code touched.", "README.md"),
    ("Run the linter and fix what it finds", "Removed unused imports and variables.", "lint.config"),
    ("The test suite is slow, see what can be done", "Ran tests in parallel, 40 % faster.", "tests/conftest"),
    ("Write a changelog entry for the release", "Added a section for the new version.", "CHANGELOG.md"),
    ("Review the open pull request", "Left comments on naming and error handling.", "notes/review.md"),
    ("Clean up old branches and files", "Deleted what nobody uses.", "scripts/cleanup"),
    ("Explain how this repository is laid out", "Described folders and entry points.", "docs/overview.md"),
    ("Update the error messages to the style guide", "Rephrased twelve messages.", "docs/style.md"),
    ("Add tests for the functions without any", "Coverage from 71 to 78 %.", "tests/unit"),
)
FOLLOW_UPS = (
    "and now the tests for it",
    "do the same for the other place",
    "still not right, try again",
    "ok, continue with the next step",
    "please add some logging there",
    "also update the documentation",
)


class Prompt(NamedTuple):
    kind: str
    text: str
    relevant: list[str]
    now: float
    context: dict[str, Any]


class Project(NamedTuple):
    name: str
    documents: list[dict[str, Any]]
    prompts: list[Prompt]


def load() -> list[Project]:
    topics = json.loads((HERE / "topics.json").read_text(encoding="utf-8"))
    unrelated = (HERE / "unrelated.txt").read_text(encoding="utf-8").splitlines()
    names = list(dict.fromkeys(topic["project"] for topic in topics))
    return [
        _project(name, [topic for topic in topics if topic["project"] == name], unrelated[number :: len(names)])
        for number, name in enumerate(names)
    ]


def _project(name: str, topics: list[dict[str, Any]], unrelated: list[str]) -> Project:
    documents: list[dict[str, Any]] = []
    for number, topic in enumerate(topics):
        documents += _documents(name, number, topic)
    documents += [_routine(name, number) for number in range(3 * len(ROUTINE))]
    documents.sort(key=lambda document: (document["ts"], document["id"]))
    now = documents[-1]["ts"] + DAY
    prompts = [prompt for number, topic in enumerate(topics) for prompt in _prompts(name, number, topic, now)]
    prompts += [Prompt("unrelated", text, [], now, {}) for text in unrelated]
    return Project(name, documents, prompts)


def _documents(name: str, number: int, topic: dict[str, Any]) -> list[dict[str, Any]]:
    """A topic is built at one time, breaks some weeks later and is changed after that, among all the others."""
    files = topic["files"]
    found = []
    for step, (kind, touched) in enumerate((("build", files), ("bug", files[:1]), ("change", files[:2]))):
        asked, done = topic[kind]
        day = step * 40 + number * 4 + (number * 7) % 5
        found.append(_episode("%s-%d-%s" % (name, number, kind), asked, done, touched, day * DAY + number * 600))
    note = {"id": "%s-%d-note" % (name, number), "type": "project", "title": "", "text": topic["note"]}
    return [*found, {**note, "ts": START + number * 4 * DAY + DAY}]


def _routine(name: str, number: int) -> dict[str, Any]:
    asked, done, path = ROUTINE[number % len(ROUTINE)]
    file = "%s%s" % (path, "" if "." in path else "-%d" % number)
    return _episode("%s-routine-%d" % (name, number), asked, done, [file], number * 4 * DAY + 43_200)


def _episode(id: str, asked: str, done: str, files: list[str], seconds: int) -> dict[str, Any]:
    return {"id": id, "type": "episode", "title": asked, "text": done, "files": files, "ts": START + seconds}


def _prompts(name: str, number: int, topic: dict[str, Any], now: float) -> list[Prompt]:
    built, bug, change, note = ("%s-%d-%s" % (name, number, kind) for kind in ("build", "bug", "change", "note"))
    asked = topic["queries"]
    earlier = {"prompts": [asked["feature"]], "files": topic["files"][:1]}
    touching = [built, bug, change] if _is_named(topic["files"][0], asked["file"]) else [built, change]
    touching = touching if _is_named(topic["files"][1], asked["file"]) or touching[1] == bug else [built]
    return [
        Prompt("same file later", asked["file"], touching, now, {}),
        Prompt("same feature", asked["feature"], [built, change, bug], now, {}),
        Prompt("revert", asked["revert"], [change], now, {}),
        Prompt("follow-up", FOLLOW_UPS[number % len(FOLLOW_UPS)], [built, change, bug], now, earlier),
        Prompt("bug seen before", asked["bug"], [bug], now, {}),
        Prompt("decision", asked["decision"], [note], now, {}),
    ]


def _is_named(path: str, text: str) -> bool:
    return path.rsplit("/", 1)[-1] in text
