#!/usr/bin/env python3
"""How well recall finds what a prompt calls for, beside plain BM25 and SQLite FTS5 on the same data.

    python3 bench/recall/measure.py

Prints Markdown: nDCG@10 and recall@5 for each kind of prompt, then what would be injected.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any, Callable, List, Sequence

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]

from baselines import Bm25, Fts5  # noqa: E402
from development import Project, Prompt, load  # noqa: E402

from harness_memory.recall import index, passages, ranking, writer  # noqa: E402
from harness_memory.recall.documents import index_text  # noqa: E402

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
        indexed.append(index_text(each["id"], kind, each["title"], each["text"], files, time=each["ts"]))
    return index.Source(index.Segment(writer.dump(None, indexed, (), {})), [], set())


def ranked(source: index.Source, prompt: Prompt) -> list[str]:
    scores = ranking.score(source, ranking.Query(prompt.text, **prompt.context), prompt.now)
    return [source.record(number).id for number in ranking.best(source, scores, len(scores))]


def picked(source: index.Source, prompt: Prompt) -> list[str]:
    query = ranking.Query(prompt.text, **prompt.context)
    return [source.record(item.number).id for item in passages.pick(source, query, prompt.now)[0]]


def rankers(documents: list[dict[str, Any]]) -> dict[str, Ranker]:
    source, plain = source_of(documents), Bm25(documents)
    found: dict[str, Ranker] = {
        "recall": lambda p: ranked(source, p),
        plain.name: lambda p: plain.rank(p.text, p.now),
    }
    try:
        full = Fts5(documents)
    except Exception as error:  # noqa: BLE001 - an SQLite without FTS5
        print("no FTS5 here: %s" % error, file=sys.stderr)
    else:
        found[full.name] = lambda p: full.rank(p.text, p.now)
    return found


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


def injection(projects: Sequence[Project]) -> tuple[float, float]:
    """Share of unrelated prompts that inject nothing; share of related ones with a right item among the injected."""
    quiet: list[bool] = []
    right: list[bool] = []
    for project in projects:
        source = source_of(project.documents)
        for prompt in project.prompts:
            ids = picked(source, prompt)
            if prompt.relevant:
                right.append(bool(set(ids) & set(prompt.relevant)))
            else:
                quiet.append(not ids)
    return sum(quiet) / len(quiet), sum(right) / len(right)


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
    quiet, right = injection(projects)
    unrelated = sum(not prompt.relevant for project in projects for prompt in project.prompts)
    print("\nUnrelated prompts (%d) that inject nothing: %.1f %%." % (unrelated, 100 * quiet))
    print("Related prompts with a right item among the injected three: %.1f %%." % (100 * right))
    return 0


if __name__ == "__main__":
    sys.exit(main())
