"""One tool call judged as the hook would judge it, and how it was understood. Runs nothing, writes nothing."""

from __future__ import annotations

import os

from ..base import invocation, settings
from ..guard import calls, decision, judge, policy, rules, tools
from ..guard.question import Environment, Question, Quiet, findings
from ..guard.shell import Unreadable, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..guard.calls import Call
    from ..guard.paths import Scope
    from ..guard.policy import Policy

SILENT, NOTED, ASKS, DENIED = "silent", "noted", "asks", "denied"
_WORDS = {rules.LOG: NOTED, rules.ASK: ASKS, rules.DENY: DENIED}


def question(tool: str, given: dict[str, Any], cwd: str, project: str) -> Question:
    """What the hook would be asked in a session started in `project`."""
    if os.name == "posix":
        env = Environment({**os.environb, os.fsencode(settings.ENV_PROJECT_DIR): os.fsencode(project)})
    else:
        env = Environment({**os.environ, settings.ENV_PROJECT_DIR: project})
    payload = {"tool_name": tool, "tool_input": given, "cwd": cwd}
    return Question(payload, env, invocation.slashes(invocation.tree()))


def facts(asked: Question) -> dict[str, Any]:
    """The verdict with its rule, and each step of how it came about."""
    here = policy.load(asked.root, asked.project)
    quick = asked.policy()
    found = findings(asked, quick if isinstance(quick, Quiet) else here)
    best = decision.verdict(found, here)
    reason, remedy = here.text(best.rule) if best else ("", "")
    steps, unread = _steps(asked, here)
    return {
        "verdict": _WORDS[best.tier] if best else SILENT,
        "unattended": _WORDS[here.unattended] if best and best.tier == rules.ASK else None,
        "rule": best.rule if best else None,
        "tier": best.tier if best else None,
        "about": best.detail if best else None,
        "reason": reason or None,
        "remedy": remedy or None,
        "told": decision.sentence(best, here) if best and best.tier in (rules.ASK, rules.DENY) else None,
        "tool": asked.tool,
        "input": asked.given,
        "cwd": asked.cwd,
        "project": asked.project,
        "steps": steps,
        "unread": unread,
        "findings": [{"call": call, **_finding(rule, about, here)} for rule, call, about in found],
        "problems": here.problems,
    }


def _finding(rule: str, about: str, here: Policy) -> dict[str, str]:
    return {"rule": rule, "tier": here.tier(rule), "about": about}


def _steps(asked: Question, here: Policy) -> tuple[list[dict[str, Any]], list[str]]:
    """How the call was understood, and the parts that could not be."""
    scope = asked.scope()
    here.confine(scope)
    text = asked.given.get("command")
    if asked.tool in tools.SHELL_TOOLS and isinstance(text, str):
        return _shell_steps(text, asked, here, scope)
    found = tools.findings(asked.tool, asked.given, scope, asked.env, here)
    steps = [
        {
            "access": access,
            "path": plain(word),
            "findings": [_finding(rule, about, here) for rule, _, about in found if about == plain(word)],
        }
        for access, word in tools.accesses(asked.tool, asked.given)
    ]
    return steps, []


def _shell_steps(text: str, asked: Question, here: Policy, scope: Scope) -> tuple[list[dict[str, Any]], list[str]]:
    if len(text) > judge.MAX_COMMAND_CHARS:
        return [], ["longer than %d characters" % judge.MAX_COMMAND_CHARS]
    try:
        trace = calls.trace(text, scope.cwd, scope.home, scope.project, asked.env)
        steps = [
            {**_call(call), "findings": [_finding(rule, about, here) for rule, about in against]}
            for call, against in judge.by_call(trace, scope, asked.env, here)
        ]
    except Unreadable as error:
        return [], [str(error) or "no shell text"]
    return steps, [plain(part) for part in trace.unread]


def _call(call: Call) -> dict[str, Any]:
    return {
        "program": plain(call.program),
        "args": [plain(arg) for arg in call.args],
        "cwd": plain(call.cwd),
        "via": list(call.via),
        "where": call.where or None,
        "stdin": _stdin(call.stdin),
        "redirections": [{"operator": operator, "target": plain(word)} for operator, word in call.redirections],
    }


def _stdin(stdin: Any) -> dict[str, Any] | None:
    if isinstance(stdin, str):
        return {"text": plain(stdin)}
    return {"from": [call.line() for call in stdin]} if stdin else None


def page(told: dict[str, Any]) -> Iterator[list[str]]:
    """The steps for a person: rows of two cells, of which the first is empty but in the first row of a step."""
    for number, step in enumerate(told["steps"], 1):
        rows = [("", _line(step)), *_details(step)]
        for index, (name, text) in enumerate(rows):
            yield [str(number) if index == 0 else "", "%s%s" % (name + "  " if name else "", text)]


def _line(step: dict[str, Any]) -> str:
    if "path" in step:
        return "%s %s" % (step["access"], step["path"])
    if not step["program"]:
        return "(no program)"
    words = [step["program"], *step["args"]]
    return " ".join("'%s'" % word if not word or len(word.split()) > 1 else word for word in words)


def _details(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if step.get("via"):
        yield "through", " > ".join(step["via"])
    if step.get("where"):
        yield "runs", {"remote": "on another machine", "container": "in a container"}.get(step["where"], step["where"])
    if step.get("cwd"):
        yield "in", step["cwd"]
    stdin = step.get("stdin") or {}
    if "text" in stdin:
        yield "reads", "the text '%s'" % stdin["text"]
    elif "from" in stdin:
        yield "reads", "what comes from: " + " | ".join(stdin["from"])
    for redirection in step.get("redirections", ()):
        yield "redirects", "%s %s" % (redirection["operator"], redirection["target"])
    for finding in step["findings"]:
        about = finding["about"]
        yield "against", "%s (%s)%s" % (finding["rule"], finding["tier"], ": " + about if about else "")
