"""`harness guard`: would a call be stopped, which rules hold, does the guard answer; let one call pass."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from ..audit import trail
from ..base import invocation, settings
from ..guard import allowance, decision, expand, judge, match, policy, programs, tools
from ..guard import rules as tiers
from ..guard.policy import Policy
from ..guard.question import Environment, Question, findings, repository
from ..guard.shell import plain
from ..notes import binding
from ..project import identity
from ..setup import selftest
from . import installs
from .arguments import option, verb
from .call import Call
from .output import Refusal, columns, confirm, count, cut, line, short, table

_VERDICTS = {tiers.LOG: "noted", tiers.ASK: "asks", tiers.DENY: "denied"}
_STOPPED = ("asks", "denied")
_WHERE = {"remote": "on another machine", "container": "in a container"}
_MINUTES = settings.ALLOWANCE_SECONDS // 60


_CALL = (
    option("command", "COMMAND", "a command of the Bash tool, as one argument, in quotes", nargs="?"),
    option("--cwd", "DIR", "where it is run (default: the current directory, or that of --project)"),
    option("--tool", "NAME", "another tool: Read, Write, Grep, mcp__..."),
    option("--input", "JSON", "with --tool: its arguments, as a JSON object"),
)


@verb(
    "check",
    *_CALL,
    about="Judge a call as the guard would; nothing is run. Exit code 0: silent or noted, 1: asks or denied.",
    family="guard",
)
def check(call: Call) -> int:
    facts = _facts(_question(call))
    rows = [["  " + number, line(text)] for number, text in _step_rows(facts["steps"])]
    steps = ["", "Understood as", *table(rows, right=(0,), is_cut=True)] if rows else []
    unread = ["Could not be read: " + cut(line(part), columns() - 20) for part in facts["unread"]]
    lines = [*_verdict_lines(facts), *steps, *unread, *problem_lines(facts["problems"])]
    return call.answer(facts, lines, 1 if facts["verdict"] in _STOPPED else 0)


@verb("test", family="guard")
def test(call: Call) -> int:
    guard = installs.guard(call, installs.find(call))
    if not guard.commands:
        raise Refusal("no guard to test: it is %s. To add it, %s --guard" % (guard.line(), installs.INSTALL))
    trials = [each for command in guard.commands for each in selftest.challenge(command, os.environ, selftest.CASES)]
    failed = [trial.problem for trial in trials if trial.problem]
    rows = [["", "TOOL", "EXPECTED", "GOT", "MS", "CALL"]]
    for trial in trials:
        cells = [trial.tool, trial.expected, trial.got, "%.0f" % trial.milliseconds, line(trial.about)]
        rows.append(["FAIL" if trial.problem else "ok", *cells])
    total = "%d of %d answered as they should be." % (len(trials) - len(failed), len(trials))
    lines = [*table(rows, right=(4,), is_cut=True), *map(line, failed), total]
    value = {"passed": not failed, "cases": [trial._asdict() for trial in trials]}
    return call.answer(value, lines, 1 if failed else 0)


@verb(
    "allow-once",
    *_CALL,
    about="Let Claude make exactly this call once, within %d minutes; it is recorded." % _MINUTES,
    family="guard",
    has_json=False,
)
def allow_once(call: Call) -> int:
    question = _question(call)
    client = [name for name in settings.ENV_CLIENT if os.environ.get(name)]
    if client:
        raise Refusal("this is for a person, and Claude Code runs here (%s is set)" % client[0])
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refusal("this is for a person: run it in a terminal, without pipes")
    facts = _facts(question)
    print("\n".join(_verdict_lines(facts)))
    if facts["verdict"] not in _STOPPED:
        print("Nothing to allow: this call is not stopped.")
        return 0
    print("In  %s" % line(question.cwd))
    if not confirm("Let Claude do this once? Type yes: "):
        print("Not allowed.")
        return 1
    command = question.given.get("command")
    fields = {"event": "settings_changed", "tool": question.tool, "rule": "self.allow", "overruled": facts["rule"]}
    fields["reason"] = "a person allowed it once"
    fields["command"] = command if isinstance(command, str) else json.dumps(question.given)
    project = identity.locate(question.root, question.project, question.cwd)
    trail.append(project.dir, fields, time.time())  # first: nothing is allowed that the trail does not hold
    allowance.give(question.root, question.tool, question.given, question.cwd)
    print("Allowed once, for %d minutes: Claude has to make exactly this call." % _MINUTES)
    return 0


def _question(call: Call) -> Question:
    """The question to the hook as a session here would ask it."""
    project = start = os.path.realpath(call.directory)
    cwd = os.path.realpath(os.path.join(start, os.path.expanduser(call.cwd or "")))
    if not os.path.isdir(cwd):
        raise Refusal("--cwd %s: no such directory" % call.cwd)
    if call.folder is not None or not os.environ.get(settings.ENV_PROJECT_DIR):
        home = os.path.realpath(os.path.expanduser("~"))
        project = repository(invocation.slashes(start), invocation.slashes(home)) or start
    if (call.tool is None) is not (call.input is None) or (call.tool is None) is (call.command is None):
        raise Refusal("give a COMMAND as one argument, or --tool with --input: harness guard check 'rm -rf build'")
    try:
        given = json.loads(call.input) if call.tool is not None else {"command": call.command}
    except (ValueError, RecursionError) as error:
        raise Refusal("--input: not JSON: %s" % error) from None
    if not isinstance(given, dict):
        raise Refusal("--input: not a JSON object, as the tool gets it")
    raw: Any = {**os.environ, settings.ENV_PROJECT_DIR: project}
    if os.name == "posix":
        raw = {os.fsencode(name): os.fsencode(value) for name, value in raw.items()}
    payload = {"tool_name": call.tool or "Bash", "tool_input": given, "cwd": cwd}
    return Question(payload, Environment(raw), invocation.slashes(invocation.tree()))


def _facts(question: Question) -> dict[str, Any]:
    """The verdict with its rule, and each step of how the call was understood."""
    here = policy.load(question.root, question.project)
    against = findings(question, question.policy() and here)
    against += here.bind(match.met(question, binding.near))
    best = decision.verdict(against, here)
    facts = dict.fromkeys(("verdict", "unattended", "rule", "tier", "about", "reason", "remedy", "told"))
    facts["verdict"] = "silent"
    if best:
        reason, remedy = here.text(best.rule)
        facts.update(verdict=_VERDICTS[best.tier], rule=best.rule, tier=best.tier, about=best.detail)
        facts.update(reason=reason or None, remedy=remedy or None)
        facts["unattended"] = _VERDICTS[here.unattended] if best.tier == tiers.ASK else None
        if best.tier in (tiers.ASK, tiers.DENY):
            facts["told"] = decision.sentence(best, here) + decision.advice(question)
    steps, unread = _steps(question, here)
    call = {"tool": question.tool, "input": question.given, "cwd": question.cwd, "project": question.project}
    return {**facts, **call, "steps": steps, "unread": unread, "problems": here.problems}


def _finding(rule: str, about: str, here: Policy) -> dict[str, str]:
    return {"rule": rule.rstrip("?"), "tier": here.tier(rule.rstrip("?")), "about": about}


def _steps(question: Question, here: Policy) -> tuple[list[dict[str, Any]], list[str]]:
    """How the call was understood, and the parts that could not be read."""
    scope, text = question.scope(), question.given.get("command")
    steps: list[dict[str, Any]] = []
    if question.tool not in tools.SHELL_TOOLS or not isinstance(text, str):
        against = tools.findings(question.tool, question.given, scope, question.env, here)
        for access, word in tools.accesses(question.tool, question.given):
            rules = [_finding(rule, about, here) for rule, _, about in against if about == plain(word)]
            steps.append({"access": access, "path": plain(word), "findings": rules})
        return steps, []
    if len(text) > judge.MAX_COMMAND_CHARS:
        return [], ["longer than %d characters" % judge.MAX_COMMAND_CHARS]
    trace = expand.trace(text, scope.cwd, scope.home, scope.project, question.env)
    for call, broken in judge.by_call(trace, scope, question.env, here):
        stdin = "the text '%s'" % plain(call.stdin) if isinstance(call.stdin, str) else ""
        if call.stdin and not stdin:
            stdin = "the output of: " + " | ".join(source.line() for source in call.stdin)
        steps.append(
            {
                "program": plain(call.program),
                "args": [plain(arg) for arg in call.args],
                "cwd": plain(call.cwd),
                "via": list(call.via),
                "where": _WHERE.get(call.where, call.where) or None,
                "stdin": stdin or None,
                "redirections": ["%s %s" % (sign, plain(word)) for sign, word in call.redirections],
                "findings": [_finding(rule, about, here) for rule, about in broken],
            }
        )
    unread = [trace.problem] if trace.problem and not steps else [plain(part) for part in trace.unread]
    return steps, unread


def _verdict_lines(facts: dict[str, Any]) -> list[str]:
    denied = "; denied where no user can answer" if facts["unattended"] == "denied" else ""
    rows = [["Verdict", facts["verdict"] + denied]]
    if facts["rule"]:
        rows.append(["Rule", "%s (%s)" % (facts["rule"], facts["tier"])])
        rows.append(["Reason", "`%s` %s" % (cut(line(facts["about"]), 2 * columns()), facts["reason"])])
    rows += [["Instead", facts["remedy"]]] if facts["remedy"] else []
    return table([[name, line(text)] for name, text in rows])


def _step_rows(steps: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The steps for a person: number and text, the number on the first line of a step only."""
    rows = []
    for number, step in enumerate(steps, 1):
        words = [step["access"], step["path"]] if "path" in step else [step["program"], *step["args"]]
        words = ["'%s'" % word if not word or len(word.split()) > 1 else word for word in words]
        rows.append((str(number), " ".join(words) if words != ["''"] else "(no program)"))
        details = [("through", " > ".join(step.get("via", ()))), ("runs", step.get("where"))]
        details += [("in", step.get("cwd")), ("reads", step.get("stdin"))]
        details += [("redirects", each) for each in step.get("redirections", ())]
        for finding in step["findings"]:
            about = ": " + finding["about"] if finding["about"] else ""
            details.append(("against", "%s (%s)%s" % (finding["rule"], finding["tier"], about)))
        rows += [("", "%s  %s" % detail) for detail in details if detail[1]]
    return rows


@verb("rules", option("id", "ID", "one rule in full", nargs="?"), family="guard")
def rules(call: Call) -> int:
    here = Policy()
    origins: dict[str, tuple[str, str]] = {}
    for path, only_tighten in policy.files(call.root, call.directory):
        before = dict(here.tiers)
        here.take(path, only_tighten=only_tighten)
        whose = "project" if only_tighten else "yours"
        origins.update((name, (whose, path)) for name, tier in here.tiers.items() if before.get(name) != tier)
    noted = [rule for rule in binding.load(call.root, call.project.dir, call.project.root) if rule["when"]]
    bound = {"note." + rule["note"].partition("/")[2]: rule for rule in reversed(noted)}
    origins.update((name, ("note", bound[name]["note"])) for name, _, _ in here.bind(noted))
    listed = []
    for name in (*tiers.RULES, *here.texts):
        (reason, remedy), (whose, path) = here.text(name), origins.get(name, ("default", ""))
        rule: dict[str, Any] = {"id": name, "tier": here.tier(name), "reason": reason, "remedy": remedy}
        default = tiers.RULES[name][0] if name in tiers.RULES else None
        rule.update({"default": default, "whose": whose, "from": path or None})
        own = [each["match"] for each in here.custom if each["id"] == name]
        matches = [dict(zip(("program", "words"), row)) for row in programs.rows_for(name)]
        matches += [dict([pattern.split(": ", 1)]) for pattern in bound[name]["when"]] if whose == "note" else []
        listed.append({**rule, "match": own[0]} if own else {**rule, "matches": matches})
    paths = {key: here.lists.get(key, []) for key in ("zero_access", "confirm_write", "no_delete")}
    values = {"protected_branches": list(here.protected), **paths, "unattended": here.unattended}
    if call.id is not None:
        listed = [rule for rule in listed if rule["id"] == call.id]
        if not listed:
            raise Refusal('unknown rule "%s". All of them: harness guard rules' % call.id)
        lines = _rule_lines(listed[0])
    else:
        rows = [["ID", "TIER", "FROM", "FOR A CALL THAT"]]
        rows += [[line(rule[key]) for key in ("id", "tier", "whose", "reason")] for rule in listed]
        lists = [[key, line(", ".join(value) if isinstance(value, list) else value)] for key, value in values.items()]
        changed = sum(rule["whose"] != "default" for rule in listed)
        total = "%s, %d of them changed or added here." % (count(len(listed), "rule"), changed)
        filled = table([row for row in lists if row[1]], is_cut=True)
        lines = [*table(rows, is_cut=True), "", *filled, "", total]
    value = {"rules": listed, **values, "problems": here.problems}
    return call.answer(value, [*lines, *problem_lines(here.problems)], 1 if here.problems else 0)


def _rule_lines(rule: dict[str, Any]) -> list[str]:
    rows = [["Rule", rule["id"]], ["Tier", "%s (default: %s)" % (rule["tier"], rule["default"] or "none")]]
    rows.append(["From", short(rule["from"]) if rule["from"] else "default"])
    rows += [["Reason", rule["reason"]], ["Instead", rule["remedy"] or "-"]]
    for each in rule.get("matches") or [rule.get("match") or {}]:
        parts = ["%s: %s" % (key, value) for key, value in each.items() if value]
        rows += [["Matches", "; ".join(parts)]] if parts else []
    return table([[name, line(text)] for name, text in rows])


def problem_lines(problems: list[str]) -> list[str]:
    return ["", *("Problem: " + line(problem) for problem in problems)] if problems else []
