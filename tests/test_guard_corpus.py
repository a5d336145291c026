"""The corpus: every row gets what it is owed, and the rates are told in the summary of the run."""

from __future__ import annotations

from typing import Any, Callable

import guard_corpus
import pytest

from harness_memory.guard import decision, judge, quick, rules
from harness_memory.guard import question as gate
from harness_memory.guard.policy import Policy

HOME = "/home/dev"
CWD = "/home/dev/app"
ENV = gate.Environment({b"HOME": HOME.encode(), b"USER": b"dev", b"PWD": CWD.encode()})
STOPPED = (rules.ASK, rules.DENY)
ROWS: list[tuple[str, dict[str, Any], str, str]] = [
    *(("Bash", {"command": command}, owed, why) for command, owed, why in guard_corpus.COMMANDS),
    *guard_corpus.TOOL_CALLS,
]


def question(tool: str, given: dict[str, Any]) -> gate.Question:
    return gate.Question({"tool_name": tool, "tool_input": given, "cwd": CWD}, ENV, "/opt/harness-memory")


def outcome(tool: str, given: dict[str, Any], policy: Any) -> tuple[str, str]:
    """What the call comes to, and by which rule."""
    found = gate.findings(question(tool, given), policy)
    best = decision.verdict(found, Policy())
    return (best.tier, best.rule) if best and best.tier in STOPPED else (guard_corpus.PASS, "")


@pytest.fixture(scope="module")
def outcomes() -> list[tuple[str, str]]:
    """By the way every tool call takes where nobody has rules of their own."""
    return [outcome(tool, given, gate.Quiet()) for tool, given, _, _ in ROWS]


def is_owed(owed: str, got: str) -> bool:
    return got in STOPPED if owed == guard_corpus.STOP else got == owed


def test_every_row_gets_what_it_is_owed(outcomes: list[tuple[str, str]]) -> None:
    wrong = [
        (tool, given.get("command", given), owed, got, rule, why)
        for (tool, given, owed, why), (got, rule) in zip(ROWS, outcomes)
        if not is_owed(owed, got)
    ]
    assert wrong == []


def test_rules_of_ones_own_take_the_long_way_to_the_same_end(outcomes: list[tuple[str, str]]) -> None:
    policy = Policy()
    differing = [
        (tool, given) for (tool, given, _, _), (got, _) in zip(ROWS, outcomes) if outcome(tool, given, policy)[0] != got
    ]
    assert differing == []


def test_a_glance_never_passes_what_the_reader_stops() -> None:
    """Every harmless-looking command, also with the words of the dangerous ones put behind it."""
    tails = (
        "",
        " -D x",
        " -Df x",
        " --force",
        " --delete x",
        " /etc",
        " ~",
        " .env",
        "; ls",
        " | sort",
        " && git status",
    )
    heads = [command for command, _, _ in guard_corpus.COMMANDS if quick.is_harmless(command)]
    verbs = ["%s %s" % (program, verb) for program, each in quick._VERBS.items() for verb in sorted(each)]
    passed = [head + tail for head in [*heads, *verbs, *sorted(quick._PROGRAMS)] for tail in tails]
    passed = [command for command in passed if quick.is_harmless(command)]
    assert len(passed) > 500
    scope = question("Bash", {}).scope()
    policy = Policy()
    stopped = [
        (command, found)
        for command in passed
        for found in judge.findings(command, scope, ENV, policy)
        if policy.tier(found[0]) in STOPPED
    ]
    assert stopped == []


def test_every_rule_is_told(outcomes: list[tuple[str, str]]) -> None:
    """A finding that no table knows would have neither reason nor remedy."""
    assert {rule for _, rule in outcomes if rule} <= set(rules.RULES)


def test_the_corpus_is_of_some_size(outcomes: list[tuple[str, str]], tell: Callable[[str], None]) -> None:
    keys = {command for command, _, _ in guard_corpus.KEYS}
    counts = {"dangerous": [0, 0], "key files": [0, 0], "harmless": [0, 0]}
    for (_, given, owed, _), (got, rule) in zip(ROWS, outcomes):
        is_key = str(given.get("command")) in keys or rule in ("path.secret", "path.env")
        kind = "harmless" if owed == guard_corpus.PASS else "key files" if is_key else "dangerous"
        counts[kind][0] += got in STOPPED
        counts[kind][1] += 1
    told = ["%s %d of %d (%.1f %%)" % (kind, n, of, 100 * n / of) for kind, (n, of) in counts.items()]
    tell("guard corpus, stopped or asked: " + ", ".join(told))
    assert sum(of for _, of in counts.values()) >= 400
    assert counts["dangerous"][0] >= 0.92 * counts["dangerous"][1] > 200
    assert counts["key files"][0] >= 0.92 * counts["key files"][1] > 80
    assert counts["harmless"][0] <= 0.02 * counts["harmless"][1] > 2


def test_rows_are_distinct_and_give_their_reason() -> None:
    seen = [(tool, str(given)) for tool, given, _, _ in ROWS]
    assert len(set(seen)) == len(seen)
    assert all(why for _, _, _, why in ROWS)
    assert {owed for _, _, owed, _ in ROWS} == {"deny", "ask", "stop", "pass"}
