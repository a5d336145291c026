"""The rules that hold here: the defaults, then the person's `guard.json` in the store, then the project's.

    {
      "guard": "normal",                                        relaxed | normal | strict
      "tiers": {"git.clean": "log", "publish": "off"},          off | log | ask | deny
      "rules": [{"id": "deploy", "tier": "ask", "reason": "deploys", "remedy": "Ask the team.",
                 "match": {"program": "make", "words": "deploy", "flags": "", "unless": "--dry-run"}},
                {"id": "vendored", "tier": "deny", "reason": "is not ours to edit", "remedy": "",
                 "match": {"path": "third_party/**", "access": "write"}},
                {"id": "lock", "tier": "ask", "reason": "changes the lock file", "match": {"command": "npm install*"}}],
      "protected_branches": ["main", "release"],
      "zero_access": ["*.secret"], "confirm_write": ["package-lock.json"], "no_delete": ["docs/"],
      "unattended": "deny"                                      what `ask` becomes where no user can answer: deny | ask
    }

The project's file, `.claude/guard.json`, may only make things firmer, and speaks under its own name. A file that cannot
be used changes nothing, and is reported as a problem.
"""

from __future__ import annotations

from ..base import files as store
from ..base import jsontext, settings
from . import match, paths, programs, rules
from .gitrules import PROTECTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .expand import Call
    from .paths import Scope

_LISTS = ("protected_branches", "zero_access", "confirm_write", "no_delete")
_LISTS_OF_PATHS = {  # what each list means: rule, accesses
    "zero_access": ("path.secret", "any"),
    "confirm_write": ("path.confirm-write", "write delete"),
    "no_delete": ("path.no-delete", "delete"),
}
_KEYS = ("schema", "guard", "tiers", "rules", *_LISTS, "unattended")
_MATCH_KEYS = ("program", "words", "flags", "unless", "path", "access", "command")
OF_PROJECT = "rule of this repository"


class Policy:
    """The rules in force."""

    __slots__ = ("custom", "lists", "problems", "profile", "protected", "texts", "tiers", "unattended")

    def __init__(self) -> None:
        self.profile = "normal"
        self.tiers: dict[str, str] = {}
        self.texts: dict[str, tuple[str, str]] = {}
        self.custom: list[dict[str, Any]] = []
        self.protected = PROTECTED
        self.lists: dict[str, list[str]] = {}
        self.unattended = rules.DENY
        self.problems: list[str] = []

    def tier(self, rule: str) -> str:
        own = self.tiers.get(rule)
        return own or (rules.tier_in(self.profile, rule) if rule in rules.RULES else rules.ASK)

    def text(self, rule: str) -> tuple[str, str]:
        """Reason and remedy."""
        return self.texts.get(rule) or rules.RULES.get(rule, ("", "is against the rule " + rule, ""))[1:]

    def branch(self, cwd: str) -> str:
        return branch(cwd)

    def custom_findings(self, call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
        """The rules of people that fit a call."""
        for kind, word in match.touched(call):
            yield from ((rule, word) for rule in self.path_findings(kind, word, call.cwd, scope))
        for rule in self.custom:
            wanted = rule["match"]
            command = wanted.get("command")
            if (command and any(match.fits_command(words, command) for words in match.forms_of(call))) or (
                wanted.get("program") and _fits_call(wanted, call)
            ):
                yield rule["id"], call.line()

    def path_findings(self, access: str, word: str, cwd: str, scope: Scope) -> Iterator[str]:
        for rule in self.custom:
            wanted = rule["match"]
            pattern, accesses = wanted.get("path", "").lower(), wanted.get("access", "any")
            pattern = scope.homes[0] + pattern[1:] if pattern[:2] == "~/" else pattern
            forms = (
                paths.variants(word, cwd, scope)
                if pattern and (accesses == "any" or access in accesses.split())
                else ()
            )
            if any(match.fits_path(each, pattern, scope.places[1]) for each in forms):
                yield rule["id"]

    def bind(self, noted: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
        """Take over rules of notes that ask or deny, the firmest first: findings against a call that met them."""
        findings = []
        for rule in [rule for rule in noted if rule["enforce"] in (rules.ASK, rules.DENY)]:
            name = "note." + rule["note"].partition("/")[2]
            if name not in self.texts:  # the firmest of two notes of one name came first
                self.texts[name] = ('is against the rule "%s"' % rule["text"].rstrip("."), rule["remedy"])
                self.tiers[name] = max(self.tiers.get(name, rules.OFF), rule["enforce"], key=rules.TIERS.index)
                findings.append((name, rule.get("met", ""), ""))
        return findings

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

        def problem(text: str, *values: object) -> None:
            self.problems.append(where + ": " + text % values)

        if not isinstance(given, dict):
            problem("expected an object; the default rules hold")
            return
        unknown = len([key for key in given if key not in _KEYS])
        if unknown:
            problem("%d unknown key%s (known: %s)", unknown, "s" * (unknown > 1), ", ".join(_KEYS))
        profile = given.get("guard", self.profile)
        if profile not in rules.PROFILES:
            problem('"guard" must be one of %s', ", ".join(rules.PROFILES))
        elif not only_tighten or profile == "strict":
            self.profile = profile
        self._apply_rules(given.get("rules", []), problem, only_tighten)
        self._apply_tiers(given.get("tiers", {}), problem, only_tighten)
        for key in _LISTS:
            values = given.get(key, [])
            if not isinstance(values, list) or not all(isinstance(item, str) and item for item in values):
                problem('"%s" must be a list of texts', key)
            elif key in _LISTS_OF_PATHS:
                rule, accesses = _LISTS_OF_PATHS[key]
                self.lists.setdefault(key, []).extend(values)
                self.custom += [{"id": rule, "match": {"path": path, "access": accesses}} for path in values]
            elif values:
                self.protected = (*self.protected, *values) if only_tighten else tuple(values)
        unattended = given.get("unattended", self.unattended)
        if unattended not in (rules.DENY, rules.ASK):
            problem('"unattended" must be "deny" or "ask"')
        elif not only_tighten:
            self.unattended = unattended

    def _apply_tiers(self, given: Any, problem: Any, only_tighten: bool) -> None:
        if not isinstance(given, dict):
            problem('"tiers" must be an object of rule id and tier')
            return
        for rule, tier in given.items():
            if rule not in rules.RULES and rule not in self.texts:
                problem("a tier for an unknown rule. See: harness guard rules")
            elif tier not in rules.TIERS:
                problem('the tier of "%s" must be one of %s', rule, ", ".join(rules.TIERS))
            elif only_tighten and rules.TIERS.index(tier) < rules.TIERS.index(self.tier(rule)):
                problem('a project may not loosen "%s"; that is for your own %s', rule, settings.GUARD_FILE)
            else:
                self.tiers[rule] = tier

    def _apply_rules(self, given: Any, problem: Any, only_tighten: bool) -> None:
        if not isinstance(given, list):
            problem('"rules" must be a list')
            return
        for number, rule in enumerate(given, 1):
            wrong = _rule_problem(rule)
            if not wrong and (rule["id"] in rules.RULES or rule["id"] in self.texts):
                wrong = 'its id is taken; change that rule under "tiers"'
            if wrong:
                problem("rule %d: %s", number, wrong)
                continue
            self.custom.append(rule)
            self.tiers[rule["id"]] = rule["tier"]
            reason, remedy = str(rule["reason"]), str(rule.get("remedy", ""))
            if only_tighten:  # in the repository's words, not in ours
                reason = 'is stopped by a %s: "%s"' % (OF_PROJECT, reason[:200])
                remedy = 'The repository says: "%s"' % remedy[:200] if remedy else ""
            self.texts[rule["id"]] = (reason, remedy)


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
    wanted = rule.get("match")
    if not isinstance(wanted, dict) or not (wanted.get("program") or wanted.get("path") or wanted.get("command")):
        return '"match" must be an object with "program", "command" or "path"'
    if any(key not in _MATCH_KEYS or not isinstance(value, str) for key, value in wanted.items()):
        return '"match" may hold %s, each a text' % ", ".join(_MATCH_KEYS)
    return ""


def _fits_call(wanted: dict[str, str], call: Call) -> bool:
    """A rule of words and flags is an effect like those of the rows."""
    effect = ["", *wanted.get("words", "").replace("|", ",").split()]
    effect += [
        mark + wanted[key].replace(" ", ",") for mark, key in (("+", "flags"), ("!", "unless")) if wanted.get(key)
    ]
    is_meant = call.program in wanted["program"].replace("|", " ").split()
    return is_meant and programs.applies(call.program, effect, call.given)
