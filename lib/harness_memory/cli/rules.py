"""`harness guard rules`: every rule in force here, its tier, and the file that sets it."""

from __future__ import annotations

from typing import Any

from ..guard import policy as policies
from ..guard import rules as defaults
from . import arguments
from .output import Refusal, answer, count, line, short, table


def rules(argv: list[str]) -> int:
    about = (
        "Every rule in force here: its tier (deny, ask, log or off), where that is set, and why.\n"
        'Change one in guard.json of the memory folder: {"tiers": {"git.clean": "log"}}.\n'
        "Exit code 1: a rule file has problems."
    )
    parser = arguments.parser("rules", about, "rules\nrules git.reset-hard\nrules --json", "guard")
    parser.add_argument("id", nargs="?", metavar="ID", help="one rule in full")
    args = parser.parse_args(argv)
    policy = policies.Policy()
    origins: dict[str, tuple[str, str]] = {}
    for path, only_tighten in policies.files(arguments.root(), arguments.directory(args)):
        before = dict(policy.tiers)
        policy.take(path, only_tighten=only_tighten)
        whose = "project" if only_tighten else "yours"
        origins.update((name, (whose, path)) for name, tier in policy.tiers.items() if before.get(name) != tier)
    listed = []
    for name in (*defaults.RULES, *policy.texts):
        (reason, remedy), (whose, path) = policy.text(name), origins.get(name, ("default", ""))
        rule: dict[str, Any] = {"id": name, "tier": policy.tier(name), "reason": reason, "remedy": remedy}
        default = defaults.RULES[name][0] if name in defaults.RULES else None
        rule.update({"default": default, "whose": whose, "from": path or None})
        own = [each["match"] for each in policy.custom if each["id"] == name]
        keys = ("program", "words", "flags", "unless")
        # None for rules that look at more than words.
        matches = [dict(zip(keys, row[1:])) for row in defaults.COMMANDS if row[0] == name]
        listed.append({**rule, "match": own[0]} if own else {**rule, "matches": matches})
    paths = {key: policy.lists.get(key, []) for key in ("zero_access", "confirm_write", "no_delete")}
    values = {"protected_branches": list(policy.protected), **paths, "unattended": policy.unattended}
    if args.id is not None:
        listed = [rule for rule in listed if rule["id"] == args.id]
        if not listed:
            raise Refusal('unknown rule "%s". All of them: harness guard rules' % args.id)
        lines = _rule_lines(listed[0])
    else:
        rows = [["ID", "TIER", "FROM", "FOR A CALL THAT"]]
        rows += [[line(rule[key]) for key in ("id", "tier", "whose", "reason")] for rule in listed]
        lists = [[key, line(", ".join(value) if isinstance(value, list) else value)] for key, value in values.items()]
        changed = sum(rule["whose"] != "default" for rule in listed)
        total = "%s, %d of them changed or added here." % (count(len(listed), "rule"), changed)
        filled = table([row for row in lists if row[1]], is_cut=True)
        lines = [*table(rows, is_cut=True), "", *filled, "", total]
    problems = policy.problems
    answer(args.json, {"rules": listed, **values, "problems": problems}, [*lines, *problem_lines(problems)])
    return 1 if problems else 0


def _rule_lines(rule: dict[str, Any]) -> list[str]:
    rows = [["Rule", rule["id"]], ["Tier", "%s (default: %s)" % (rule["tier"], rule["default"] or "none")]]
    rows.append(["From", short(rule["from"]) if rule["from"] else "default"])
    rows += [["Reason", rule["reason"]], ["Instead", rule["remedy"] or "-"]]
    for match in rule.get("matches") or [rule.get("match") or {}]:
        parts = ["%s: %s" % (key, value) for key, value in match.items() if value]
        rows += [["Matches", "; ".join(parts)]] if parts else []
    return table([[name, line(text)] for name, text in rows])


def problem_lines(problems: list[str]) -> list[str]:
    return ["", *("Problem: " + line(problem) for problem in problems)] if problems else []
