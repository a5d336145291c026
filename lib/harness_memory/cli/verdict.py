"""One tool call judged as the hook judges it, and how it was understood. Runs nothing, writes nothing."""

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
    from ..guard.policy import Policy

SILENT, NOTED, ASKS, DENIED = "silent", "noted", "asks", "denied"
_WORDS = {rules.LOG: NOTED, rules.ASK: ASKS, rules.DENY: DENIED}
_WHERE = {"remote": "on another machine", "container": "in a container"}


def question(tool: str, call: dict[str, Any], cwd: str, project: str) -> Question:
    """The question to the hook in a session that starts in `project`."""
    raw: Any = {**os.environ, settings.ENV_PROJECT_DIR: project}
    if os.name == "posix":
        raw = {os.fsencode(name): os.fsencode(value) for name, value in raw.items()}
    payload = {"tool_name": tool, "tool_input": call, "cwd": cwd}
    return Question(payload, Environment(raw), invocation.slashes(invocation.tree()))


def facts(asked: Question) -> dict[str, Any]:
    """The verdict with its rule, and each step of how the call was understood."""
    here, quick = policy.load(asked.root, asked.project), asked.policy()
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
    """How the call was understood, and the parts that could not be read."""
    scope = asked.scope()
    here.confine(scope)
    text = asked.given.get("command")
    if asked.tool not in tools.SHELL_TOOLS or not isinstance(text, str):
        found = tools.findings(asked.tool, asked.given, scope, asked.env, here)
        steps = [
            {"access": access, "path": path, "findings": [_finding(r, a, here) for r, _, a in found if a == path]}
            for access, path in ((access, plain(word)) for access, word in tools.accesses(asked.tool, asked.given))
        ]
        return steps, []
    if len(text) > judge.MAX_COMMAND_CHARS:
        return [], ["longer than %d characters" % judge.MAX_COMMAND_CHARS]
    try:
        trace = calls.trace(text, scope.cwd, scope.home, scope.project, asked.env)
        steps = [
            {**_call(call), "findings": [_finding(rule, about, here) for rule, about in against]}
            for call, against in judge.by_call(trace, scope, asked.env, here)
        ]
    except Unreadable as error:
        return [], [str(error) or "not shell text"]
    return steps, [plain(part) for part in trace.unread]


def _call(call: Call) -> dict[str, Any]:
    stdin: Any = {"text": plain(call.stdin)} if isinstance(call.stdin, str) else None
    if call.stdin and stdin is None:
        stdin = {"from": [source.line() for source in call.stdin]}
    return {
        "program": plain(call.program),
        "args": [plain(arg) for arg in call.args],
        "cwd": plain(call.cwd),
        "via": list(call.via),
        "where": call.where or None,
        "stdin": stdin,
        "redirections": [{"operator": operator, "target": plain(word)} for operator, word in call.redirections],
    }


def page(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The steps for a person: number and text, the number on the first line of a step only."""
    for number, step in enumerate(facts["steps"], 1):
        words = [step["access"], step["path"]] if "path" in step else [step["program"], *step["args"]]
        words = ["'%s'" % word if not word or len(word.split()) > 1 else word for word in words]
        yield str(number), " ".join(words) if words != ["''"] else "(no program)"
        yield from (("", "%s  %s" % detail) for detail in _details(step))


def _details(step: dict[str, Any]) -> Iterator[tuple[str, str]]:
    stdin = step.get("stdin") or {}
    if step.get("via"):
        yield "through", " > ".join(step["via"])
    if step.get("where"):
        yield "runs", _WHERE.get(step["where"], step["where"])
    if step.get("cwd"):
        yield "in", step["cwd"]
    if "text" in stdin:
        yield "reads", "the text '%s'" % stdin["text"]
    elif "from" in stdin:
        yield "reads", "the output of: " + " | ".join(stdin["from"])
    for redirection in step.get("redirections", ()):
        yield "redirects", "%s %s" % (redirection["operator"], redirection["target"])
    for finding in step["findings"]:
        about = ": " + finding["about"] if finding["about"] else ""
        yield "against", "%s (%s)%s" % (finding["rule"], finding["tier"], about)
