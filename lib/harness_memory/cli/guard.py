"""`harness guard`: would a call be stopped, which rules hold, does it answer; let one call pass. `audit`: its trail."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from ..audit import trail
from ..base import clock, invocation, settings
from ..guard import allowance, decision, expand, judge, match, policy, tools
from ..guard import rules as tiers
from ..guard.policy import Policy
from ..guard.question import Environment, Question, findings, repository
from ..guard.shell import plain
from ..notes import binding
from ..project import identity
from ..session import episode
from ..setup import selftest
from . import doctor
from .call import Call, is_person
from .output import Fields, Refusal, ask, columns, cut, line, page, table

_VERDICTS = {tiers.LOG: "noted", tiers.ASK: "asks", tiers.DENY: "denied"}
_STOPPED = ("asks", "denied")
_MINUTES = settings.ALLOWANCE_SECONDS // 60


def check(call: Call) -> int:
    facts = _facts(_question(call))
    rows = []
    for number, step in enumerate(facts["steps"], 1):
        rows.append(["%3d" % number, step["call"]])
        rows += [["", "%s  %s" % (key, line(text))] for key, text in step.items() if text and key != "call"]
    steps = ["", "Understood as", *table(rows, is_cut=True)] if rows else []
    unread = ["Could not be read: " + cut(line(part), columns() - 20) for part in facts["unread"]]
    lines = [*_verdict_lines(facts), *steps, *unread, *("Problem: " + problem for problem in facts["problems"])]
    return call.answer(facts, lines, 1 if facts["verdict"] in _STOPPED else 0)


def test(call: Call) -> int:
    text, _, commands = doctor.guard_state(call, doctor.find_installs(call))
    if not commands:
        raise Refusal("the guard cannot be tested: it is %s. To add it, %s --guard" % (text, doctor.INSTALL))
    trials = [each for command in commands for each in selftest.challenge(command, os.environ, selftest.CASES)]
    failed = [trial.problem for trial in trials if trial.problem]
    total = "%d of %d answered as they should be." % (len(trials) - len(failed), len(trials))
    after = ["", *map(line, failed), total]
    head = "EXPECTED GOT MS=milliseconds TOOL CALL=about"
    return call.listing(head, trials, "", selftest.Outcome._asdict, after) or min(len(failed), 1)


def allow_once(call: Call) -> int:
    question = _question(call)
    if not is_person():
        raise Refusal("this is for a person: run it in a terminal of your own, without pipes")
    facts = _facts(question)
    print("\n".join(_verdict_lines(facts)))
    if facts["verdict"] not in _STOPPED:
        print("Nothing to allow: this call is not stopped.")
        return 0
    print("In  %s" % line(question.cwd))
    if ask("Let Claude do this once? Type yes: ") != "yes":
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
    project = cwd = os.path.realpath(call.directory)
    if call.folder is not None or not os.environ.get(settings.ENV_PROJECT_DIR):
        home = os.path.realpath(os.path.expanduser("~"))
        project = repository(invocation.slashes(cwd), invocation.slashes(home)) or cwd
    if (call.tool is None) is not (call.input is None) or (call.tool is None) is (call.command is None):
        raise Refusal("give a COMMAND as one argument, or --tool with --input: harness guard check 'rm -rf build'")
    try:
        given = dict(json.loads(call.input)) if call.tool is not None else {"command": call.command}
    except (RecursionError, TypeError, ValueError) as error:
        raise Refusal("--input: not a JSON object, as the tool gets it: %s" % error) from None
    raw: Any = {**os.environ, settings.ENV_PROJECT_DIR: project, settings.ENV_HOME: call.root}
    if os.name == "posix":
        raw = {os.fsencode(name): os.fsencode(value) for name, value in raw.items()}
    payload = {"tool_name": call.tool or "Bash", "tool_input": given, "cwd": cwd}
    return Question(payload, Environment(raw), invocation.slashes(invocation.tree()))


def _facts(question: Question) -> Fields:
    """The verdict with its rule, and each step of how the call was understood."""
    here = policy.load(question.root, question.project)
    against = findings(question, question.policy() and here)
    against += here.bind(match.met(question, binding.near))
    best = decision.verdict(against, here)
    facts: Fields = dict.fromkeys(("rule", "tier", "about", "reason", "remedy", "told"))
    facts["verdict"] = _VERDICTS[best.tier] if best else "silent"
    if best:
        reason, remedy = here.text(best.rule)
        facts.update(rule=best.rule, tier=best.tier, about=best.detail, reason=reason or None, remedy=remedy or None)
    if best and facts["verdict"] in _STOPPED:
        facts["told"] = decision.sentence(best, here) + decision.advice(question)
    facts.update(tool=question.tool, input=question.given, cwd=question.cwd, project=question.project)
    facts["steps"], facts["unread"] = _steps(question, here)
    return {**facts, "problems": here.problems}


def _steps(question: Question, here: Policy) -> tuple[list[dict[str, str]], list[str]]:
    """How a command was understood, a call and its details a step, and the parts that could not be read."""
    scope, text = question.scope(), question.given.get("command")
    if question.tool not in tools.SHELL_TOOLS or not isinstance(text, str):
        return [], []
    trace, steps = expand.trace(text, scope), []
    for call, against in judge.by_call(trace, scope, here):
        broken = [(rule.rstrip("?"), here.tier(rule.rstrip("?")), about) for rule, about in against]
        sources = ", ".join("the output of: " + source.line() for source in call.sources())
        step = {"call": call.line(), "through": " > ".join([*call.via, *filter(None, [call.where])])}
        step["in"] = plain(call.cwd)
        step["reads"] = "the text '%s'" % plain(call.stdin) if isinstance(call.stdin, str) else sources
        step["redirects"] = ", ".join("%s %s" % (sign, plain(word)) for sign, word in call.redirections)
        step["against"] = ", ".join("%s (%s): %s" % each for each in broken)
        steps.append(step)
    return steps, [trace.problem] if trace.problem and not steps else [*map(plain, trace.unread)]


def _verdict_lines(facts: Fields) -> list[str]:
    rows = {"Verdict": facts["verdict"]}
    if facts["rule"]:
        rows["Rule"] = "%(rule)s (%(tier)s)" % facts
        rows["Reason"] = "`%s` %s" % (cut(line(facts["about"]), 2 * columns()), facts["reason"])
    return page({**rows, "Instead": facts["remedy"]})


def rules(call: Call) -> int:
    here, whose = Policy(), {}
    for path, only_tighten in policy.files(call.root, call.directory):
        before = dict(here.tiers)
        here.take(path, only_tighten=only_tighten)
        changed = [name for name, tier in here.tiers.items() if before.get(name) != tier]
        whose.update(dict.fromkeys(changed, "project" if only_tighten else "yours"))
    here.bind([rule for rule in binding.load(call.root, call.dir, call.project.root) if rule["when"]])
    matches = {each["id"]: each["match"] for each in here.custom}
    listed: list[Fields] = []
    for name in [name for name in (*tiers.RULES, *here.texts) if call.id in (None, name)]:
        reason, remedy = here.text(name)
        origin = whose.get(name, "note" if name.startswith(policy.NOTE) else "default")
        rule = {"id": name, "tier": here.tier(name), "whose": origin, "reason": reason}
        listed.append({**rule, "remedy": remedy, "match": matches.get(name)})
    if not listed:
        raise Refusal('unknown rule "%s". All of them: harness guard rules' % call.id)
    after, code = ["Problem: " + problem for problem in here.problems], min(len(here.problems), 1)
    if call.id is not None:
        return call.answer(listed[0], [*page(listed[0]), *after])
    return call.listing("ID TIER FROM=whose REASON", listed, "", after=after) or code


def show(call: Call) -> int:
    """What was stopped and asked about."""
    events = [*trail.events(call.dir)][::-1]
    events = [event for event in events if (clock.parse(event["ts"]) or 0.0) >= (call.since or 0.0)]

    def row(event: Fields) -> Fields:
        about, why = event.get("command") or event.get("path") or "", event.get("reason") or ""
        what = "%s (%s)" % (about, why) if about and why else about or why or event.get("tool")
        return {"rule": None, "session": None, **event, "what": what, "id": str(event.get("session") or "")[:8]}

    return call.listing("#=seq TIME=ts EVENT RULE SESSION=id WHAT", events, "No event.", row)


def verify(call: Call) -> int:
    findings, broken = trail.verify(call.dir, episode.audit_heads(call.dir)), None
    if findings.problem:
        broken = {"file": findings.path, "line": findings.line, "what": findings.problem, "remedy": trail.REMEDY}
    value = {"chain": "broken" if broken else "whole", "events": findings.count, "head": findings.head or None}
    # A writer that was killed left part of a line; no recorded event is lost by it.
    return call.answer({**value, "torn_lines": findings.torn, "broken": broken}, code=1 if broken else 0)
