"""The guard's tables in tests/data/guard, and the guard asked without a process.

A corpus row is {"command", "verdict", "rule", "why"}, or {"tool", "input", …} for another tool than Bash. A verdict is
`deny`, `ask`, `stop` (either of the two) or `pass` (silent or logged). They hold for HOME=/home/dev and
cwd=/home/dev/app, the root of a git repository whose branch cannot be read, while main, master, production and
release/* are protected.
"""

from __future__ import annotations

import os
from typing import Any

import support

from harness_memory.guard import decision, rules
from harness_memory.guard.policy import Policy
from harness_memory.guard.question import Environment, Question, findings

HOME, CWD, TREE = "/home/dev", "/home/dev/app", "/opt/harness-memory"
STOPPED = (rules.ASK, rules.DENY)
SECTIONS = [
    path.stem for path in sorted((support.DATA / "guard").glob("*.jsonl")) if '"verdict"' in path.read_text("utf-8")
]


def rows(name: str) -> list[Any]:
    return support.rows("guard/%s.jsonl" % name)


def call(row: dict[str, Any]) -> tuple[str, Any]:
    return ("Bash", {"command": row["command"]}) if "command" in row else (row["tool"], row["input"])


def environment(**values: str) -> Environment:
    values = {"HOME": HOME, "USER": "dev", "PWD": CWD, **values}
    return Environment(values if os.name == "nt" else {name.encode(): text.encode() for name, text in values.items()})


def question(tool: str, given: Any, env: Environment | None = None, cwd: str = CWD, tree: str = TREE) -> Question:
    return Question({"tool_name": tool, "tool_input": given, "cwd": cwd}, env or environment(), tree)


def judged(asked: Question, policy: Policy | None = None) -> tuple[str, str]:
    """(tier, rule) of a call; ("", "") for silence."""
    best = decision.verdict(findings(asked, policy), policy or Policy())
    return (best.tier, best.rule) if best else ("", "")
