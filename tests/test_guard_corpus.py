"""The guard's corpus: dangerous calls are stopped, their harmless neighbours pass."""

from __future__ import annotations

from itertools import islice

import guard_fuzz
import guard_tables as tables
import pytest

from harness_memory.guard import judge, quick, rules
from harness_memory.guard.policy import Policy

ROWS = [row for section in tables.SECTIONS for row in tables.rows(section)]


@pytest.mark.parametrize("section", tables.SECTIONS)
def test_each_call_of_the_corpus_gets_its_verdict(section: str) -> None:
    wrong = []
    for row in tables.rows(section):
        asked = tables.question(*tables.call(row))
        tier, rule = tables.judged(asked)
        got = (tier, rule) if tier in tables.STOPPED else ("pass", "")
        expected = got[0] if row["verdict"] == "stop" and tier in tables.STOPPED else row["verdict"]
        if got != (expected, row["rule"]) or tables.judged(asked, Policy())[0] != tier:
            wrong.append((row, got))
    assert wrong == []


def test_the_corpus_covers_every_verdict_with_known_rules() -> None:
    assert len({str(tables.call(row)) for row in ROWS}) == len(ROWS) > 1000
    assert {row["rule"] for row in ROWS if row["rule"]} <= set(rules.RULES)
    assert {row["verdict"] for row in ROWS} == {"deny", "ask", "stop", "pass"}


TAILS = ("", " -D x", " -Df x", " --force", " --delete x", " /etc", " ~", " .env", "; ls", " | sort", " && git status")


def test_the_quick_check_never_passes_what_the_reader_stops() -> None:
    heads = [row["command"] for row in ROWS if "command" in row]
    heads += ["%s %s" % (program, verb) for program, verbs in quick._VERBS.items() for verb in sorted(verbs)]
    commands = [head + tail for head in [*heads, *sorted(quick._PROGRAMS)] for tail in TAILS]
    passed = [command for command in commands if quick.is_harmless(command)]
    assert len(passed) > 400
    policy, scope = Policy(), tables.question("Bash", {}).scope()
    stopped = [
        (command, finding)
        for command in passed
        for finding in judge.findings(command, scope, policy)
        if policy.tier(finding[0]) in tables.STOPPED
    ]
    assert stopped == []


# Random and mutated calls; the long run is bench/guard_fuzz.py -------------------------------------------
def test_random_calls_get_a_verdict_and_no_hasty_pass() -> None:
    for command in islice(guard_fuzz.commands(seed=1), 600):
        guard_fuzz.verdict("Bash", {"command": command})
        assert not guard_fuzz.is_hasty(command), command
    for tool, given in islice(guard_fuzz.tool_calls(seed=2), 600):
        guard_fuzz.verdict(tool, given)


def test_repeated_text_is_bounded() -> None:
    """A unit that doubles with every repetition would never end; the suite's own limit would stop it."""
    for unit in guard_fuzz.UNITS:
        guard_fuzz.verdict("Bash", {"command": unit * 100})
