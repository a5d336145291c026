#!/usr/bin/env python3
"""How well an episode says what its session was about, beside what simple rules would say.

    python3 bench/digest/measure.py

`sessions.jsonl` has a session a line, in several languages: prompt, answer, files changed, commits, and what a reader
marked: `headline` (lines that would do), `left` and `decisions` and `facts` (each with its wordings), `rules` (lasting
wishes in the prompt). Each is written as a transcript, goes through `harness memory backfill`, and its episode is read;
so is every eight of them as the turns of one session. A line counts as found when the F1 of its words with a marked one
is at least .5. A point counts as kept when two neighbouring sentences of what was done, decided and learned hold 70 %
of its words. The answers were written for this purpose and the digest is tuned on them; other people's score lower.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections import Counter
from datetime import datetime, timedelta, timezone
from math import log
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "lib")]

import support  # noqa: E402

from harness_memory.session import units  # noqa: E402

SESSIONS = [json.loads(line) for line in (Path(__file__).parent / "sessions.jsonl").read_text("utf-8").splitlines()]
EMPTY = " a an and are as at be by do for from has have in is it its not now of on or so that the to was "


def words(text: str) -> list[str]:
    flat = "".join(char.lower() if char.isalnum() else " " for char in text)
    found = [word for word in flat.split() if " %s " % word not in EMPTY]
    wide = [word[at : at + 2] for word in found if word[0] > "\u2e7f" for at in range(len(word) - 1)]
    return [word[:6] for word in found if word[0] <= "\u2e7f" and len(word) > 1] + wide


def alike(one: str, other: str) -> bool:
    left, right = Counter(words(one)), Counter(words(other))
    both = sum((left & right).values())
    return both > 0 and 4 * both >= sum(left.values()) + sum(right.values())


def kept(groups: list[list[str]], text: str) -> int:
    said = [set(words(unit.text)) for unit in units.split(text)]
    said += [one | other for one, other in zip(said, said[1:])]
    wanted = [[set(words(each)) for each in group] for group in groups]
    return sum(any(10 * len(own & each) >= 7 * len(own) for own in group for each in said) for group in wanted)


def sentences(row: dict[str, Any]) -> list[str]:
    return [unit.text for unit in units.split(row["answer"])] or [""]


def episodes(sessions: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The episode of each session, given as the rows of its turns; {} for one that leaves none."""
    home = Path(tempfile.mkdtemp(prefix="harness-memory-digest-"))
    at = datetime.now(timezone.utc) - timedelta(days=2)
    ids = [str(uuid.uuid5(uuid.NAMESPACE_URL, str(number))) for number in range(len(sessions))]
    for number, (rows, name) in enumerate(zip(sessions, ids)):
        cwd, folder = home / "work" / str(number), home / ".claude" / "projects" / str(number)
        cwd.mkdir(parents=True)
        folder.mkdir(parents=True)
        paper = support.Transcript(folder / (name + ".jsonl"), name, cwd, entrypoint="cli", at=at)
        for row in rows:
            write(row, paper, cwd)
        os.utime(paper.path, (at.timestamp() + 100, at.timestamp() + 100))
    command = [sys.executable, str(support.ROOT / "harness"), "memory", "backfill", "--all"]
    subprocess.run(command, cwd=str(home), env=support.clean_environment(home), stdout=subprocess.DEVNULL, check=True)
    read = [json.loads(path.read_text("utf-8")) for path in (home / ".claude" / "memory").glob("*/episodes/*.json")]
    shutil.rmtree(str(home))
    by_id = {value["session_id"]: value for value in read}
    return [by_id.get(name, {}) for name in ids]


def write(row: dict[str, Any], paper: support.Transcript, cwd: Path) -> None:
    """A turn as the client records it."""
    paper.prompt(row["prompt"])
    for file in row["files"]:
        paper.edit(cwd / file)
    for subject in row["commits"]:
        paper.bash('git commit -am "%s"' % subject, "[main 1a2b3c4] %s\n 1 file changed" % subject)
    if row["end"] != "failed":
        paper.text(row["answer"])
    if row["end"]:
        (paper.interrupt if row["end"] == "interrupted" else paper.api_error)()


def told(value: dict[str, Any]) -> str:
    return "\n".join([value["what_was_done"], *value["decisions"], *value["learnings"]])


def weighted_f1(subjects: list[str], line: str, rarity: Callable[[str], float]) -> float:
    gold, told = {word for each in subjects for word in words(each)}, {*words(line)}
    both, all_gold, all_told = (sum(map(rarity, each)) for each in (gold & told, gold, told))
    return 2 * both / (all_gold + all_told) if both else 0.0


def recall(found: list[tuple[dict[str, Any], list[str]]]) -> float:
    points = [(point, items) for row, items in found for point in row["left"]]
    return sum(any(alike(item, each) for each in point for item in items) for point, items in points) / len(points)


def precision(found: list[tuple[dict[str, Any], list[str]]]) -> float:
    items = [(item, row["left"]) for row, items in found for item in items]
    return sum(any(alike(item, each) for point in left for each in point) for item, left in items) / len(items)


def main() -> int:
    rows = [(row, value) for row, value in zip(SESSIONS, episodes([[row] for row in SESSIONS])) if value]
    turns = [row for row in SESSIONS if not row["end"] and not row["prompt"].startswith("/")]
    long = [turns[at : at + 8] for at in range(0, len(turns), 8)]
    whole = list(zip(long, episodes(long)))
    ways: dict[str, Callable[[dict[str, Any], dict[str, Any]], str]] = {
        "episode": lambda row, value: str(value["headline"]),
        "first prompt line": lambda row, value: str(row["prompt"]).strip().partition("\n")[0][:120],
        "first sentence": lambda row, value: sentences(row)[0][:120],
    }
    print("%-44s %s" % ("", "  ".join("%17s" % name for name in [*ways, "first 900 chars", "last sentence"])))

    def show(name: str, *figures: float | None) -> None:
        print("%-44s %s" % (name, "  ".join("%17s" % ("" if each is None else "%.2f" % each) for each in figures)))

    marked = [(row, value) for row, value in rows if row["headline"]]
    hits = [sum(any(alike(way(*e), line[:120]) for line in e[0]["headline"]) for e in marked) for way in ways.values()]
    show("headline is a line that a reader chose (≥ .80)", *(each / len(marked) for each in hits))
    near = [{*words(" ".join([row["prompt"], *row["commits"], *row["files"]]))} for row, _ in marked]
    fillers = [
        sum(not {*words(way(*each))} & about for each, about in zip(marked, near)) / len(marked)
        for way in ways.values()
    ]
    show("headline shares no word with the work (≤ .05)", *fillers)
    counts = Counter(word for row, _ in rows for word in {*words(row["answer"])})
    committed = [each for each in rows if each[0]["commits"]]

    def rarity(word: str) -> float:
        return log(1 + len(rows) / (counts[word] + 0.5))

    f1 = [sum(weighted_f1(each[0]["commits"], way(*each), rarity) for each in committed) for way in ways.values()]
    show("headline against commit subjects, F1 (≥ .55)", *(each / len(committed) for each in f1))
    answered = [(row, value["what_remains"]) for row, value in rows if not row["end"]]
    last = [(row, [sentences(row)[-1]]) for row, _ in answered]
    show("leftovers that reach what_remains (≥ .70)", recall(answered), None, None, None, recall(last))
    show("items of what_remains that are left (≥ .75)", precision(answered), None, None, None, precision(last))
    for key in ("decisions", "facts"):
        single = [([row], value) for row, value in rows]
        for name, sessions in (("kept (≥ .80)", single), ("kept of eight turns (≥ .80)", whole)):
            texts = [(group, told(value), "\n".join(row["answer"] for row in group)[:900]) for group, value in sessions]
            marks = [(row[key], ours, cut) for group, ours, cut in texts for row in group]
            total = sum(len(points) for points, _, _ in marks)
            shares = [sum(kept(each[0], each[at]) for each in marks) / total for at in (1, 2)]
            show("%s %s" % (key, name), shares[0], None, None, shares[1])
    ends = [(row["end"], value) for row, value in rows if row["end"]]
    said = [value["outcome"] == end and "(%s)" % end in value["headline"] for end, value in ends]
    show("turns cut off that say so (1)", sum(said) / len(ends))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
