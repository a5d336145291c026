"""The rules that hold here: the defaults, then the person's `guard.json` in the store, then the project's.

    {
      "tiers": {"git.clean": "log", "publish": "off"},          off | log | ask | deny
      "rules": [{"id": "deploy", "tier": "ask", "reason": "deploys", "remedy": "Ask the team.",
                 "match": {"program": "make", "words": "deploy", "flags": "", "unless": "--dry-run"}},
                {"id": "vendored", "tier": "deny", "reason": "is not ours to edit", "remedy": "",
                 "match": {"path": "third_party/**", "access": "write"}}],
      "protected_branches": ["main", "release"],
      "zero_access": ["*.secret"], "confirm_write": ["package-lock.json"], "no_delete": ["docs/"],
      "unattended": "deny"                                      what `ask` becomes where no user can answer: deny | ask
    }

The project's file, `.claude/guard.json`, may only make things firmer. A file that cannot be used changes nothing, and
is reported as a problem.
"""

from __future__ import annotations

from ..base import files as store
from ..base import jsontext, settings
from . import paths, rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .calls import Call
    from .paths import Scope

_KEYS = ("schema", "tiers", "rules", "protected_branches", "zero_access", "confirm_write", "no_delete", "unattended")
_MATCH_KEYS = ("program", "words", "flags", "unless", "path", "access", "tool")
_LISTS = ("protected_branches", "zero_access", "confirm_write", "no_delete")


class Policy:
    """The rules in force."""

    __slots__ = ("custom", "lists", "problems", "protected", "texts", "tiers", "unattended")

    def __init__(self) -> None:
        from .gitrules import PROTECTED

        self.tiers: dict[str, str] = {}
        self.texts: dict[str, tuple[str, str]] = {}
        self.custom: list[dict[str, Any]] = []
        self.protected = PROTECTED
        self.lists: dict[str, list[str]] = {}
        self.unattended = rules.DENY
        self.problems: list[str] = []

    def tier(self, rule: str) -> str:
        return self.tiers.get(rule) or rules.RULES.get(rule, (rules.ASK, "", ""))[0]

    def text(self, rule: str) -> tuple[str, str]:
        """Reason and remedy."""
        if rule in self.texts:
            return self.texts[rule]
        _, reason, remedy = rules.RULES.get(rule, ("", "is against the rule " + rule, ""))
        return reason, remedy

    def branch(self, cwd: str) -> str:
        return branch(cwd)

    def confine(self, scope: Scope) -> None:
        """Let the scope know the paths that people have added."""
        scope.zero = self.lists.get("zero_access", [])
        scope.confirm = self.lists.get("confirm_write", [])
        scope.no_delete = self.lists.get("no_delete", [])

    def custom_findings(self, call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
        for rule in self.custom:
            match = rule["match"]
            if match.get("path"):
                yield from self._custom_paths(rule, call, scope)
            elif match.get("program") and _fits_call(match, call):
                yield rule["id"], call.line()

    def _custom_paths(self, rule: dict[str, Any], call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
        from . import operands

        for access, word in operands.accesses(call):
            if self.fits_path(rule, access, word, call.cwd, scope):
                yield rule["id"], word

    def fits_path(self, rule: dict[str, Any], access: str, word: str, cwd: str, scope: Scope) -> bool:
        wanted = rule["match"].get("access", "any")
        kind = access if access in (paths.WRITE, paths.DELETE) else paths.READ
        if wanted not in ("any", kind):
            return False
        return any(paths.fits(rule["match"]["path"], path, scope) for path in paths.variants(word, cwd, scope))

    def take(self, path: str, *, only_tighten: bool) -> None:
        """Take over a rule file, if there is one."""
        try:
            data = store.read(path, of_anyone=only_tighten)  # who is only firmer needs no trust
            if data is not None:
                self.apply(jsontext.loads(data), path, only_tighten=only_tighten)
        except (OSError, ValueError) as error:
            self.problems.append("%s: %s; the default rules hold" % (path, error))

    def apply(self, given: Any, where: str, *, only_tighten: bool) -> None:
        """Take over what a file says; what is wrong with it is kept in `problems`."""
        if not isinstance(given, dict):
            self.problems.append("%s: expected an object; the default rules hold" % where)
            return
        for key in given:
            if key not in _KEYS:
                self.problems.append('%s: unknown key "%s" (known: %s)' % (where, str(key)[:40], ", ".join(_KEYS)))
        self._apply_rules(given.get("rules", []), where)
        self._apply_tiers(given.get("tiers", {}), where, only_tighten)
        for key in _LISTS:
            self._apply_list(key, given.get(key, []), where, only_tighten)
        unattended = given.get("unattended", self.unattended)
        if unattended not in (rules.DENY, rules.ASK):
            self.problems.append('%s: "unattended" must be "deny" or "ask"' % where)
        elif not only_tighten:
            self.unattended = unattended

    def _apply_tiers(self, given: Any, where: str, only_tighten: bool) -> None:
        if not isinstance(given, dict):
            self.problems.append('%s: "tiers" must be an object of rule id and tier' % where)
            return
        for rule, tier in given.items():
            if rule not in rules.RULES and rule not in self.texts:
                self.problems.append('%s: unknown rule "%s". See: harness guard rules' % (where, str(rule)[:60]))
            elif tier not in rules.TIERS:
                self.problems.append('%s: the tier of "%s" must be one of %s' % (where, rule, ", ".join(rules.TIERS)))
            elif only_tighten and rules.TIERS.index(tier) < rules.TIERS.index(self.tier(rule)):
                self.problems.append(
                    '%s: a project may not loosen "%s"; that is for your own %s' % (where, rule, settings.GUARD_FILE)
                )
            else:
                self.tiers[rule] = tier

    def _apply_rules(self, given: Any, where: str) -> None:
        if not isinstance(given, list):
            self.problems.append('%s: "rules" must be a list' % where)
            return
        for number, rule in enumerate(given, 1):
            problem = _rule_problem(rule)
            if problem:
                self.problems.append("%s: rule %d: %s" % (where, number, problem))
                continue
            if rule["id"] in rules.RULES or rule["id"] in self.texts:
                self.problems.append(
                    '%s: rule %d: the id "%s" is taken; change its tier under "tiers"' % (where, number, rule["id"])
                )
                continue
            self.custom.append(rule)
            self.tiers[rule["id"]] = rule["tier"]
            self.texts[rule["id"]] = (str(rule["reason"]), str(rule.get("remedy", "")))

    def _apply_list(self, key: str, given: Any, where: str, only_tighten: bool) -> None:
        if not isinstance(given, list) or not all(isinstance(item, str) and item for item in given):
            self.problems.append('%s: "%s" must be a list of texts' % (where, key))
        elif key == "protected_branches":
            if given:
                self.protected = (*self.protected, *given) if only_tighten else tuple(given)
        else:
            self.lists.setdefault(key, []).extend(given)


def branch(cwd: str) -> str:
    """The branch that is checked out at a place, where that can be read."""
    from ..project import git

    repo = git.find(cwd) if cwd.startswith("/") or cwd[1:2] == ":" else None
    return git.branch(repo) if repo else ""


def load(root: str, project: str) -> Policy:
    policy = Policy()
    for path, only_tighten in files(root, project):
        policy.take(path, only_tighten=only_tighten)
    return policy


def files(root: str, project: str) -> tuple[tuple[str, bool], ...]:
    """The rule files there may be, in the order they count, each with whether it may only make things firmer."""
    folders = ((root, False), (project + "/" + settings.CLAUDE_DIR, True))
    return tuple([(folder + "/" + settings.GUARD_FILE, only_tighten) for folder, only_tighten in folders])


def _rule_problem(rule: Any) -> str:
    if not isinstance(rule, dict):
        return "must be an object"
    if not isinstance(rule.get("id"), str) or not rule["id"]:
        return 'has no "id"'
    if rule.get("tier") not in rules.TIERS:
        return '"tier" must be one of %s' % ", ".join(rules.TIERS)
    if not isinstance(rule.get("reason"), str) or not rule["reason"]:
        return 'has no "reason"'
    match = rule.get("match")
    if not isinstance(match, dict) or not (match.get("program") or match.get("path")):
        return '"match" must be an object with "program" or "path"'
    for key, value in match.items():
        if key not in _MATCH_KEYS or not isinstance(value, str):
            return '"match" may hold %s, each a text' % ", ".join(_MATCH_KEYS)
    return ""


def _fits_call(match: dict[str, str], call: Call) -> bool:
    row = ("", "", match.get("words", ""), match.get("flags", ""), match.get("unless", ""))
    return call.program in match["program"].replace("|", " ").split() and rules.fits(row, call.args)
