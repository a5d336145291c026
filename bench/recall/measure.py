#!/usr/bin/env python3
"""How well recall finds what a prompt calls for, beside plain BM25 and SQLite FTS5 on the same data.

    python3 bench/recall/measure.py

Prints Markdown: nDCG@10 and recall@5 for each kind of prompt, what is injected, and how often the answer to a question
about a long dialogue stands in the injected text.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any, Callable, List, Sequence

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]

import dialogues  # noqa: E402
from baselines import Bm25, Fts5  # noqa: E402
from development import Project, Prompt, load  # noqa: E402

from harness_memory.base import clock, settings  # noqa: E402
from harness_memory.hook import recall as hook  # noqa: E402
from harness_memory.inject.injection import Part  # noqa: E402
from harness_memory.recall import index, passages, ranking, writer  # noqa: E402
from harness_memory.recall.documents import index_text  # noqa: E402

ROWS = (
    *("unrelated prompts that inject", "prompts of other projects that inject"),
    *("prompts that call for something and get it", "of injections, with a right item"),
)
DIALOGUE_ROWS = (
    *("dialogues: right session among the items", "dialogues: the answer is in the injected text"),
    *("the same with plain BM25: right session in three", "the same with the first 300 characters of each"),
)
Ranker = Callable[[Prompt], List[str]]


def ndcg(found: Sequence[str], relevant: Sequence[str], depth: int = 10) -> float:
    gain = sum(1 / math.log2(place + 2) for place, id in enumerate(found[:depth]) if id in relevant)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(depth, len(relevant))))


def hit_share(found: Sequence[str], relevant: Sequence[str], depth: int = 5) -> float:
    return len(set(found[:depth]) & set(relevant)) / min(depth, len(relevant))


def source_of(documents: list[dict[str, Any]]) -> index.Source:
    """The documents as recall's cache holds them."""
    indexed = []
    for each in documents:
        kind = index.NOTE if each["type"] == "project" else index.SESSION
        files = each.get("files", ())
        said = passages.lines(each["text"])
        indexed.append(index_text(each["id"], kind, each["title"], files=files, time=each["ts"], passages=said))
    return index.Source(index.Segment(writer.dump(None, indexed, (), {})), [], set())


def ranked(source: index.Source, prompt: Prompt) -> list[str]:
    scores = ranking.score(source, ranking.Query(prompt.text, **prompt.context), prompt.now)
    return [source.record(number).id for number in ranking.best(source, scores, len(scores))]


def picked(source: index.Source, prompt: Prompt) -> list[str]:
    query = ranking.Query(prompt.text, **prompt.context)
    return [source.record(item.number).id for item in passages.pick(source, query, prompt.now)[0]]


def rankers(documents: list[dict[str, Any]]) -> dict[str, Ranker]:
    source, plain, full = source_of(documents), Bm25(documents), Fts5(documents)
    return {
        "recall": lambda p: ranked(source, p),
        plain.name: lambda p: plain.rank(p.text, p.now),
        full.name: lambda p: full.rank(p.text, p.now),
    }


def measure(projects: Sequence[Project]) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """(nDCG@10, recall@5) of every related prompt, by kind and by ranker."""
    results: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for project in projects:
        compared = rankers(project.documents)
        for prompt in project.prompts:
            for name, rank in compared.items() if prompt.relevant else ():
                found = rank(prompt)
                pair = (ndcg(found, prompt.relevant), hit_share(found, prompt.relevant))
                results.setdefault(prompt.kind, {}).setdefault(name, []).append(pair)
    return results


def injection(projects: Sequence[Project]) -> dict[str, tuple[int, int]]:
    """(how many, of how many) by what is counted; the prompts of one project are foreign to the others."""
    rows: dict[str, list[bool]] = {name: [] for name in ROWS}
    for project in projects:
        source = source_of(project.documents)
        for prompt in project.prompts:
            ids = picked(source, prompt)
            if not prompt.relevant:
                rows["unrelated prompts that inject"].append(bool(ids))
                continue
            rows["prompts that call for something and get it"].append(bool({*ids} & {*prompt.relevant}))
            rows["of injections, with a right item"] += [bool({*ids} & {*prompt.relevant})] if ids else []
        foreign = [prompt for other in projects if other is not project for prompt in other.prompts]
        for prompt in foreign:
            if prompt.relevant and not prompt.context:
                rows["prompts of other projects that inject"].append(bool(picked(source, prompt)))
    return {name: (sum(values), len(values)) for name, values in rows.items()}


def dialogue_rows() -> dict[str, tuple[int, int]]:
    """Questions about dialogues: what the hook hands over, and what plain BM25 with short records would."""
    rows: dict[str, list[bool]] = {name: [] for name in DIALOGUE_ROWS}
    for dialogue in dialogues.load():
        names = ["session-%s-%08x.json" % (clock.stamp(clock.iso(at)), n) for n, at in enumerate(dialogue.times)]
        made = zip(names, dialogue.times, dialogue.sessions)
        indexed = [index_text(name, index.SESSION, "A talk", time=at, passages=said) for name, at, said in made]
        source, now = index.Source(None, indexed, set()), dialogue.times[-1] + 86400
        plain = Bm25([{"id": name, "text": "\n".join(said)} for name, said in zip(names, dialogue.sessions)])
        for question in dialogue.questions:
            items, near = passages.pick(source, ranking.Query(question.text), now)
            shown = [source.record(item.number).id for item in items]
            texts = [dialogue.sessions[names.index(name)] for name in shown]
            entries = [hook.Entry(source.record(item.number), said, item) for item, said in zip(items, texts)]
            part = Part("recall", "", [])
            if entries:
                hook.fill(part, entries, near, settings.RECALL_UNITS - 150)
            answers = [text for each in question.answers.values() for text in each]
            first = plain.rank(question.text, now)[:3]
            cut = [" ".join(dialogue.sessions[names.index(name)])[:300] for name in first]
            found = {names[number] for number in question.answers}
            held = [any(text in "\n".join(lines) for text in answers) for lines in (part.lines, cut)]
            for name, value in zip(DIALOGUE_ROWS, (bool(found & {*shown}), held[0], bool(found & {*first}), held[1])):
                rows[name].append(value)
    return {name: (sum(values), len(values)) for name, values in rows.items()}


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    projects = load()
    results = measure(projects)
    names = list(next(iter(results.values())))
    print("| prompts | " + " | ".join("%s nDCG@10 / recall@5" % name for name in names) + " |")
    print("|---|" + "---|" * len(names))
    every = {name: [pair for kind in results.values() for pair in kind[name]] for name in names}
    for kind, by_name in [*results.items(), ("all", every)]:
        cells = ["%.3f / %.3f" % (mean([a for a, _ in by_name[n]]), mean([b for _, b in by_name[n]])) for n in names]
        print("| %s (%d) | %s |" % (kind, len(by_name[names[0]]), " | ".join(cells)))
    print("\n| injected | |\n|---|---|")
    for name, (count, total) in {**injection(projects), **dialogue_rows()}.items():
        print("| %s | %.1f %% of %d |" % (name, 100 * count / total, total))
    return 0


if __name__ == "__main__":
    sys.exit(main())
