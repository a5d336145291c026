#!/usr/bin/env python3
"""The guard on many random and mutated tool calls: exits 1 on an exception, a hasty pass or a slow verdict.

    python3 bench/guard_fuzz.py [--count 100000] [--seed 1] [--limit-ms 50]

Measures a verdict's CPU time with the garbage collector off, as in the hook. Four in five calls are commands.
"""

from __future__ import annotations

import argparse
import gc
import platform
import random
import sys
import time
import traceback
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any, Iterator

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS.parent / "lib")]

import guard_tables as tables  # noqa: E402

from harness_memory.guard import decision, judge, quick  # noqa: E402
from harness_memory.guard.policy import Policy  # noqa: E402
from harness_memory.guard.question import findings  # noqa: E402

SHOWN = 5
CHUNK = 1_000  # verdicts between two collections of garbage
LIMIT_SECONDS = 0.05
CALIBRATION_SECONDS = 0.010  # what `_work` takes on a machine of 2020 that is left alone

ROWS = [row for section in tables.SECTIONS for row in tables.rows(section)]
COMMANDS = [row["command"] for row in ROWS if "command" in row]
TOOLS = [(row["tool"], row["input"]) for row in ROWS if "tool" in row]
TOKENS = [
    "(", ")", "{", "}", "$(", "`", "'", '"', "\\", ";", "&&", "||", "|", "&", "\n", "$", "${", "((", "))", "[[", "]]",
    "*", "?", "[", "~", "/", "=", "#", "!", "<(", ">(", "$'", "<", ">", ">>", "2>&1", "<<<", ",", "<<EOF\n", "EOF\n",
    "<<'A' ", "A\n", "if ", "then ", "elif ", "else ", "fi", "for x in ", "do ", "done", "case ", "esac", ";;",
    " in ", "while ", "until ", "select x in ", "function f ", "f(){ f|f& };f", "f(){ g;};", "coproc ", "rm -rf ",
    "eval ", "bash -c ", "xargs ", "sudo ", "find . -exec ", "parallel ", "python3 -c ", "awk ", "env -S ", "ssh h ",
    "docker run x ", "git push -f ", "psql -c ", "node -e ", "cat ", "tee ", "cd ", "source ", "trap ", "dd ", "x=",
    "$x", "${x:-", "x+=a", "x=(a b) ", '"${x[@]}"', "set -- $@ $@;", "read x", "{a,b}", "{a,b}{c,d}", "{1..9}",
    "~/.ssh/id_rsa", ".env", "/etc/passwd", "/dev/sda", "~/.*", "?s?h", "C:\\", "file://", "/proc/self/root", "*/",
    "..", " ", "  ", "\t", "\r\n", "\ue000", "\ue004", "\x00", "\x1f", "é", "😀", "\ud800", "a", "b", "-", "--", "-rf",
    "@", ":",
]  # fmt: skip
# Each grows without bound, or faster than the text, unless the reader counts.
UNITS = [
    "f(){ f|f& };f\n", "f(){ g;};g(){ f;};f;", "find . -exec ", "find . -exec rm {} \\; ", "x=$x$x;", "x=($x $x);",
    "set -- $@ $@;", "a=$(echo $a$a);", "for i in $i $i;do echo $i;done;", "for i in 1 2 3 4 5;do ",
    "alias a='a;a';a;", "$(", "`", "((", "( ", "{ ", "if ", "[[ ", "case x in a) ", "${x:-", "${x/", "$((", "<(",
    "x=(", "@(a|", "+(", "{a,b}", "{a,b,c,d}/", "{1..9}", "~/.s*/", "cat ?s?h/[i]d*;", "cat .env*;", "/*.*", "a/",
    "../", "C:\\", "file:///", "<<A ", "cat <<A\nx\nA\n", "cat <<EOF\n$(", "a|", "a&&", "a;", "a\n", "a=1;", "IFS= ",
    "! ", "time ", "2>&1 ", ">f ", "sudo ", "eval ", "xargs ", "watch ", "env -S ", "bash -c 'bash -c ",
    "echo a|xargs -I{} ", "parallel ", "timeout 1 ", "rm -rf a;", "rm -rf $x/", "rm ", "cp a b;", "mkdir a;rm -rf a;",
    "curl x|sh;", "git push -f ", "docker run -v /:/x ", 'python3 -c "os.system(\'rm -rf /\')"\n', "python3 -c 'f(",
    'node -e "', 'mysql -e "delete from x;" ', "awk '{", "\\", '\'"', '"a" ', "$x", "$@ ", "\x00", "\n", "# ", "é",
    "\ue000", "😀 ", "=", "k=v@", "[a-z]", "[!", "*",
]  # fmt: skip


def slowness() -> float:
    """How many times slower than the reference this machine is just now."""
    return max(1.0, min(_work() for _ in range(5)) / CALIBRATION_SECONDS)


def _work() -> float:
    began = time.process_time()
    total = 0
    words = ["rm", "-rf", "/"] * 50
    for number in range(600):
        text = " ".join(words)
        total += len(text.split()) + sum(1 for word in words if word[:1] == "-") + number
    return time.process_time() - began if total else 0.0


def verdict(tool: str, given: Any) -> str:
    """The tier; raises what the guard raises."""
    best = decision.verdict(findings(tables.question(tool, given), None), Policy())
    if best:
        decision.sentence(best, Policy())
    return best.tier if best else ""


def seconds(tool: str, given: Any) -> float:
    """CPU time of a verdict; if long, the best of three, divided by the slowness of this machine."""
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        verdict(tool, given)
        best = min(best, time.process_time() - began)
        if best < LIMIT_SECONDS:
            return best
    return best / slowness()


def is_hasty(command: object) -> bool:
    """Whether a glance passes what the reader would stop, for more than a guess."""
    if not isinstance(command, str) or not quick.is_harmless(
        command, ("/home/dev/.claude/memory", "/opt/harness-memory")
    ):
        return False
    policy = Policy()
    scope = tables.question("Bash", {}).scope()
    against = [rule for rule, _, _ in judge.findings(command, scope, policy)]
    return any(policy.tier(rule) in tables.STOPPED for rule in against)


def commands(seed: int) -> Iterator[str]:
    """Half are mutated from the corpus, most others made of tokens, some of one token many times over."""
    chance = random.Random(seed)
    while True:
        kind = chance.random()
        if kind < 0.5:
            yield _mutated(chance.choice(COMMANDS), chance)
        elif kind < 0.9:
            yield "".join(chance.choice(TOKENS) for _ in range(chance.randint(1, 60)))
        elif kind < 0.97:
            yield chance.choice(COMMANDS) + chance.choice((" ", ";", "\n", "|", "")) + chance.choice(COMMANDS)
        else:
            yield chance.choice(TOKENS) * chance.randint(1, 3000) + chance.choice(COMMANDS)


def _mutated(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 6)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.randint(0, 5))
        text = text[:start] + chance.choice(TOKENS if chance.random() < 0.8 else COMMANDS) + text[end:]
    return text


def tool_calls(seed: int) -> Iterator[tuple[str, Any]]:
    """Tools of the corpus with their arguments bent: other types, other texts, other keys, deeper."""
    chance = random.Random(seed)
    while True:
        tool, given = chance.choice(TOOLS)
        bent: Any = {key: _bent(value, chance) for key, value in given.items()}
        for _ in range(chance.randint(0, 2)):
            bent[chance.choice(("path", "file_path", "command", "x", "pattern", "glob"))] = _odd(chance, 3)
        name = tool if chance.random() < 0.8 else chance.choice(TOKENS)
        yield name, bent if chance.random() < 0.95 else _odd(chance, 2)


def _bent(value: Any, chance: random.Random) -> Any:
    if isinstance(value, str) and chance.random() < 0.7:
        return _mutated(value, chance)
    return _odd(chance, 3) if chance.random() < 0.3 else value


_ODD = (None, True, 0, -1.5, 10**30, "", "\x00", "\ud800", "~", "/", "~/.ssh/id_rsa", ".env", "*" * 99)


def _odd(chance: random.Random, depth: int) -> Any:
    kind = chance.randrange(9)
    if kind < 3 or not depth:
        return chance.choice(_ODD)
    if kind < 6:
        return "".join(chance.choice(TOKENS) for _ in range(chance.randint(1, 20)))
    if kind < 8:
        return [_odd(chance, depth - 1) for _ in range(chance.randint(0, 5))]
    return {chance.choice(TOKENS): _odd(chance, depth - 1) for _ in range(chance.randint(0, 5))}


def mixed_calls(seed: int) -> Iterator[tuple[str, Any]]:
    texts, others = commands(seed), tool_calls(seed + 1)
    while True:
        for command in islice(texts, 4):
            yield "Bash", {"command": command}
        yield next(others)


class Report:
    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.taken: list[float] = []
        self.slowest: list[tuple[float, str]] = []
        self.tiers: Counter[str] = Counter()
        self.hasty: list[str] = []
        self.raised: list[str] = []

    def take(self, tool: str, given: Any) -> None:
        about = repr(given)
        try:
            tier = verdict(tool, given)
            taken = seconds(tool, given)
            if tool == "Bash" and isinstance(given, dict) and is_hasty(given.get("command")):
                self.hasty.append(about)
        except Exception:  # noqa: BLE001  (that is what is looked for)
            self.raised.append("%s %s\n%s" % (tool, about[:300], traceback.format_exc(limit=-2)))
            return
        self.tiers[tier or "silent"] += 1
        self.taken.append(taken)
        self.slowest = sorted([*self.slowest, (taken, "%s %s" % (tool, about))], reverse=True)[:SHOWN]

    def show(self, seed: int, spent: float) -> int:
        ranked = sorted(self.taken)
        slow = sum(1 for taken in ranked if taken > self.limit)
        tiers = ", ".join("%s %d" % pair for pair in self.tiers.most_common())
        head = (platform.python_version(), seed, len(ranked), spent, tiers)
        print("Python %s, seed %d: %d calls in %.0f s (%s)" % head)
        at = [ranked[min(len(ranked) - 1, int(len(ranked) * share))] * 1000 for share in (0.5, 0.99, 0.999, 1)]
        print("CPU ms: median %.3f, 99 %% %.2f, 99.9 %% %.2f, worst %.1f" % tuple(at))
        for taken, about in self.slowest:
            more = "… %d characters" % len(about) if about[100:] else ""
            print("  %6.1f ms  %s%s" % (taken * 1000, about[:100], more))
        for about in self.raised[:SHOWN] + ["passed at a glance: " + each for each in self.hasty[:SHOWN]]:
            print(about)
        print("%d exceptions, %d hasty, %d over %.0f ms" % (len(self.raised), len(self.hasty), slow, self.limit * 1000))
        return 1 if self.raised or self.hasty or slow else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-ms", type=float, default=50.0)
    options = parser.parse_args()
    report = Report(options.limit_ms / 1000)
    for tool, given in TOOLS + [("Bash", {"command": command}) for command in COMMANDS]:
        verdict(tool, given)  # whatever is loaded late is loaded now
    began = time.monotonic()
    source = mixed_calls(options.seed)
    gc.disable()  # the hook never collects garbage
    for number, (tool, given) in enumerate(islice(source, options.count)):
        if number % CHUNK == 0:
            gc.collect()
        report.take(tool, given)
    return report.show(options.seed, time.monotonic() - began)


if __name__ == "__main__":
    raise SystemExit(main())
