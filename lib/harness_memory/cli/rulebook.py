"""`harness guard rules`: every rule in force here, how firm it is, and who said so."""

from __future__ import annotations

from ..guard import policy as policies
from ..guard import rules as defaults
from . import arguments
from .output import count, emit_json, line, short, table
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..guard.policy import Policy

_DEFAULT = "default"


def rules(argv: list[str]) -> int:
    about = (
        "Every rule in force here: how firm it is (deny, ask, log or off), where that is said, and why.\n"
        'Change one in guard.json of the memory folder: {"tiers": {"git.clean": "log"}}.\n'
        "Exit code 1: something is wrong with a rule file."
    )
    parser = arguments.parser("rules", about, "rules\nrules git.reset-hard\nrules --json", "guard")
    parser.add_argument("id", nargs="?", metavar="ID", help="one rule in full")
    args = parser.parse_args(argv)
    policy, origins = _origins(arguments.root(), arguments.directory(args))
    found = [_rule(name, policy, origins) for name in (*defaults.RULES, *policy.texts)]
    if args.id is not None:
        found = [rule for rule in found if rule["id"] == args.id]
        if not found:
            raise Refusal('there is no rule "%s". All of them: harness guard rules' % args.id)
    if args.json:
        emit_json(_as_json(found, policy))
    else:
        lines = _rule_lines(found[0]) if args.id is not None else _listing(found, policy)
        print("\n".join([*lines, *problem_lines(policy.problems)]))
    return 1 if policy.problems else 0


def _origins(root: str, directory: str) -> tuple[Policy, dict[str, tuple[str, str]]]:
    """The rules in force, and the file that had the last word on each that was changed."""
    policy = policies.Policy()
    origins: dict[str, tuple[str, str]] = {}
    for path, only_tighten in policies.files(root, directory):
        whose = "project" if only_tighten else "yours"
        before = dict(policy.tiers)
        policy.take(path, only_tighten=only_tighten)
        origins.update((name, (whose, path)) for name, tier in policy.tiers.items() if before.get(name) != tier)
    return policy, origins


def _rule(name: str, policy: Policy, origins: dict[str, tuple[str, str]]) -> dict[str, Any]:
    reason, remedy = policy.text(name)
    default = defaults.RULES[name][0] if name in defaults.RULES else None
    told: dict[str, Any] = {"id": name, "tier": policy.tier(name), "reason": reason, "remedy": remedy}
    whose, path = origins.get(name, (_DEFAULT, None))
    told = {**told, "default": default, "whose": whose, "from": path}
    own = next((rule["match"] for rule in policy.custom if rule["id"] == name), None)
    return {**told, "match": own} if own else {**told, "matches": _matches(name)}


def _matches(name: str) -> list[dict[str, str]]:
    """The programs a rule speaks of; none for rules that look at more than words."""
    rows = [row for row in defaults.COMMANDS if row[0] == name]
    return [dict(zip(("program", "words", "flags", "unless"), row[1:])) for row in rows]


def _as_json(found: list[dict[str, Any]], policy: Policy) -> dict[str, Any]:
    lists = {key: policy.lists.get(key, []) for key in ("zero_access", "confirm_write", "no_delete")}
    told = {"rules": found, "protected_branches": list(policy.protected), **lists}
    return {**told, "unattended": policy.unattended, "problems": policy.problems}


def _listing(found: list[dict[str, Any]], policy: Policy) -> list[str]:
    keys = ("id", "tier", "whose", "reason")
    rows = [["ID", "TIER", "FROM", "A CALL IS MEANT THAT"], *([line(rule[key]) for key in keys] for rule in found)]
    lines = table(rows, is_cut=True)
    lists: dict[str, Any] = {"protected_branches": policy.protected, **policy.lists, "unattended": [policy.unattended]}
    rows = [[key, line(", ".join(items))] for key, items in lists.items() if items]
    lines += ["", *table(rows, is_cut=True)]
    changed = sum(rule["whose"] != _DEFAULT for rule in found)
    return [*lines, "", "%s, %d of them changed or added here." % (count(len(found), "rule"), changed)]


def _rule_lines(rule: dict[str, Any]) -> list[str]:
    rows = [["Rule", rule["id"]], ["Tier", "%s (default: %s)" % (rule["tier"], rule["default"] or "none")]]
    rows.append(["From", short(rule["from"]) if rule["from"] else _DEFAULT])
    rows += [["Reason", rule["reason"]], ["Instead", rule["remedy"] or "-"]]
    for match in rule.get("matches") or [rule.get("match") or {}]:
        told = ["%s: %s" % (key, value) for key, value in match.items() if value]
        rows += [["Matches", "; ".join(told)]] if told else []
    return table([[name, line(text)] for name, text in rows])


def problem_lines(problems: list[str]) -> list[str]:
    return ["", *("Problem: " + line(problem) for problem in problems)] if problems else []
