"""The rules that hold here: the defaults, then the person's `guard.json` in the store, then the project's.

`docs/guard.md` shows the file. The project's, `.claude/guard.json`, may only make things firmer, and speaks under its
own name. A file that cannot be used changes nothing, and is reported as a problem.
"""

from __future__ import annotations

from ..base import files as store
from ..base import jsontext, settings, shape
from ..base.typing import Any
from . import match, programs, rules
from .words import WORDS

_LISTS_OF_PATHS = {  # what each list means: rule, accesses
    "zero_access": ("path.secret", "any"),
    "confirm_write": ("path.confirm-write", "write delete"),
    "no_delete": ("path.no-delete", "delete"),
}
_MATCH_KEYS = ("program", "words", "flags", "unless", "path", "access", "command")
_SHAPE = {
    "schema": "any",
    "guard": frozenset(rules.PROFILES),
    "tiers": {"*": frozenset(rules.TIERS)},
    "rules": ["any"],
    **{key: ["text"] for key in ("protected_branches", *_LISTS_OF_PATHS)},
    "unattended": frozenset((rules.DENY, rules.ASK)),
}
_RULE = {
    "id": "text",
    "tier": frozenset(rules.TIERS),
    "reason": "text",
    "remedy?": "text",
    "match": {key + "?": "text" for key in _MATCH_KEYS},
}
NOTE = "note."  # before the name of a note, the rule that it makes


class Policy:
    __slots__ = ("custom", "problems", "profile", "protected", "texts", "tiers", "unattended")

    def __init__(self) -> None:
        self.profile = "normal"
        self.tiers: dict[str, str] = {}
        self.texts: dict[str, tuple[str, str]] = {}
        self.custom: list[dict[str, Any]] = []
        self.protected = WORDS["protected"]
        self.unattended = rules.DENY
        self.problems: list[str] = []

    def tier(self, rule: str) -> str:
        if rule in self.tiers:
            return self.tiers[rule]
        tier = rules.RULES[rule][0] if rule in rules.RULES else rules.ASK
        base = tier.rstrip("+-")
        if self.profile == "strict" and tier[-1] == "+":
            return rules.DENY if base == rules.ASK else rules.ASK
        return rules.LOG if self.profile == "relaxed" and tier == "ask-" else base

    def text(self, rule: str) -> tuple[str, str]:
        """Reason and remedy."""
        _, reason, remedy = rules.RULES.get(rule, ("", "is against the rule " + rule, ""))
        return self.texts.get(rule) or (reason, remedy)

    def custom_findings(self, facts: match.Facts) -> list[tuple[str, str, str]]:
        findings = []
        for rule in self.custom:
            wanted = rule["match"]
            # A rule of words and flags is an effect like those of the rows.
            effect = ["", *wanted.get("words", "").replace("|", ",").split()]
            marks = [("+", wanted.get("flags")), ("!", wanted.get("unless"))]
            effect += [mark + options.replace(" ", ",") for mark, options in marks if options]
            named = wanted.get("program", "").replace("|", " ").split()
            meant = [call for call in facts.calls if call.program in named]
            hits = [call.line() for call in meant if programs.applies(call.program, effect, call.given) >= 0]
            hits += [match.matches(facts, "command: " + wanted.get("command", ""))]
            path = match.matches(facts, "path: " + wanted.get("path", ""), wanted.get("access", "any"))
            findings += [(rule["id"], hit, path) for hit in (*hits, path) if hit][:1]
        return findings

    def bind(self, noted: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
        """Take over rules of notes that ask or deny, the firmest first: findings against a call that met them."""
        findings = []
        for rule in [rule for rule in noted if rule["enforce"] in (rules.ASK, rules.DENY)]:
            slug = rule["note"].partition("/")[2]  # the name of a file
            name = NOTE + (slug if _is_plain(slug) else "".join([c if c.isalnum() else "-" for c in slug])[:60])
            if name not in self.texts:  # the firmest of two notes of one name came first
                said = ('is against the rule "%s"' % rule["text"].rstrip("."), rule["remedy"])
                is_team = rule["note"].startswith(settings.TEAM_SCOPE + "/")
                self.texts[name] = of_repository(rule["text"], rule["remedy"]) if is_team else said
                self.tiers[name] = max(self.tiers.get(name, rules.OFF), rule["enforce"], key=rules.TIERS.index)
                findings.append((name, rule.get("met", ""), ""))
        return findings

    def take(self, path: str, *, only_tighten: bool) -> None:
        try:
            data = store.read(path, of_anyone=only_tighten)  # who is only firmer needs no trust
            if data is not None:
                self.apply(jsontext.loads(data), path, only_tighten=only_tighten)
        except (OSError, ValueError) as error:
            self.problems.append("%s: %s; the default rules hold" % (path, error))

    def apply(self, given: Any, where: str, *, only_tighten: bool) -> None:
        """Take over what a file says; what is wrong with it is kept in `problems`."""
        if not isinstance(given, dict):
            self.problems.append(where + ": expected an object; the default rules hold")
            return
        unknown = len([key for key in given if key not in _SHAPE])
        wrong = ["%d unknown key%s (known: %s)" % (unknown, "s" * (unknown > 1), ", ".join(_SHAPE))] if unknown else []
        valid = {}
        for key in [key for key in _SHAPE if key in given]:
            problem = shape.problem(given[key], _SHAPE[key], key)
            if problem and only_tighten:  # without the names that a repository gave
                problem = '"%s" %s' % (key, problem.rpartition('" ')[2])
            wrong += [problem] if problem else []
            valid.update({} if problem else {key: given[key]})
        if not only_tighten or valid.get("guard") == "strict":
            self.profile = valid.get("guard", self.profile)
        wrong += self._apply_rules(valid.get("rules", []), only_tighten)
        for rule, tier in valid.get("tiers", {}).items():
            if rule not in rules.RULES and rule not in self.texts:
                wrong.append("a tier for an unknown rule. See: harness guard rules")
            elif only_tighten and rules.TIERS.index(tier) < rules.TIERS.index(self.tier(rule)):
                wrong.append('a project may not loosen "%s"; that is for your own %s' % (rule, settings.GUARD_FILE))
            else:
                self.tiers[rule] = tier
        for key, (rule, accesses) in _LISTS_OF_PATHS.items():
            self.custom += [{"id": rule, "match": {"path": path, "access": accesses}} for path in valid.get(key, [])]
        branches = tuple(valid.get("protected_branches", ()))
        self.protected = (*self.protected, *branches) if only_tighten else branches or self.protected
        self.unattended = self.unattended if only_tighten else valid.get("unattended", self.unattended)
        self.problems += [where + ": " + problem for problem in wrong]

    def _apply_rules(self, given: list[Any], only_tighten: bool) -> list[str]:
        """What is wrong with the rules of a file; the others are taken over."""
        wrong = []
        for number, rule in enumerate(given, 1):
            problem = shape.problem(rule, _RULE)
            keys = set() if problem else set(rule["match"])
            if not problem and (keys - set(_MATCH_KEYS) or keys.isdisjoint(("program", "path", "command"))):
                problem = '"match" needs "program", "command" or "path", and may hold %s' % ", ".join(_MATCH_KEYS)
            elif not problem and (rule["id"] in rules.RULES or rule["id"] in self.texts):
                problem = 'its id is taken; change that rule under "tiers"'
            elif not problem and rule["id"].startswith(NOTE):  # it would stand in for a note that binds
                problem = 'its id may not begin with "%s"' % NOTE
            elif not problem and only_tighten and not _is_plain(rule["id"]):
                problem = "its id may hold letters, digits, dots and dashes"
            if problem:
                wrong.append("rule %d: %s" % (number, problem))
                continue
            self.custom.append(rule)
            self.tiers[rule["id"]] = rule["tier"]
            said = (rule["reason"], rule.get("remedy") or "")
            self.texts[rule["id"]] = of_repository(*said) if only_tighten else said
        return wrong


def of_repository(reason: str, remedy: str) -> tuple[str, str]:
    """Reason and remedy in the repository's words, quoted, not in ours."""
    reason, remedy = (text[:200].replace('"', "'") for text in (reason.rstrip("."), remedy))
    said = 'is stopped by a rule of this repository: "%s"' % reason
    return said, 'The repository says: "%s"' % remedy if remedy else ""


def _is_plain(id: str) -> bool:
    return len(id) < 60 and id.replace("-", "_").replace(".", "_").isidentifier()


def load(root: str, project: str) -> Policy:
    policy = Policy()
    for path, only_tighten in files(root, project):
        policy.take(path, only_tighten=only_tighten)
    return policy


def files(root: str, project: str) -> tuple[tuple[str, bool], ...]:
    """The rule files there may be, in the order they count, each with whether it may only make things firmer."""
    return (
        (root + "/" + settings.GUARD_FILE, False),
        ("/".join((project, settings.CLAUDE_DIR, settings.GUARD_FILE)), True),
    )


def report(root: str, launch_dir: str, project_dir: str, session: str, now: float) -> list[str]:
    """What is wrong with the rule files of a session here, as the audit trail now has it too."""
    from ..audit import trail
    from ..base import health

    problems = load(root, launch_dir).problems
    with health.noted(root, "guard"):
        for problem in problems:
            fields = {"event": "guard_degraded", "reason": problem, "session": session}
            trail.append(project_dir, fields, now, settings.GUARD_LOCK_SECONDS)
    return problems
