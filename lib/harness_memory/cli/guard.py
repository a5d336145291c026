"""`harness guard check`, `test` and `allow-once`: what would be stopped, does the guard answer, let one call pass."""

from __future__ import annotations

import json
import os
import sys
import time

from ..base import invocation, settings
from ..guard.question import repository
from ..project import identity
from ..setup import selftest
from . import arguments, installs, verdict
from .output import Refusal, columns, confirm, cut, emit_json, line, table
from .rules import problem_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..guard.question import Question

_STOPPED = (verdict.ASKS, verdict.DENIED)
_MINUTES = settings.ALLOWANCE_SECONDS // 60
# What the client gives to everything it starts; other CLAUDE_CODE_ names may be a person's settings.
_CLIENT = (
    *("CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", settings.ENV_SESSION_ID, settings.ENV_ENTRYPOINT),
    *(settings.ENV_ATTENDED, settings.ENV_CLIENT_PID),
)


def check(argv: list[str]) -> int:
    about = (
        "Judge a call as the guard would, and show how it was understood. Nothing is run, nothing recorded.\n"
        "Exit code 0: silent or noted, 1: asks or denied."
    )
    examples = (
        "check 'rm -rf build'\ncheck 'cd /tmp && rm -rf *' --json\n"
        'check --tool Read --input \'{"file_path": "~/.ssh/id_rsa"}\''
    )
    args = _with_call(arguments.parser("check", about, examples, "guard")).parse_args(argv)
    facts = verdict.facts(_question(args))
    if args.json:
        emit_json(facts)
    else:
        rows = [["  " + number, line(text)] for number, text in verdict.page(facts)]
        steps = ["", "Understood as", *table(rows, right=(0,), is_cut=True)] if rows else []
        unread = ["Could not be read: " + cut(line(part), columns() - 20) for part in facts["unread"]]
        print("\n".join([*_verdict_lines(facts), *steps, *unread, *problem_lines(facts["problems"])]))
    return 1 if facts["verdict"] in _STOPPED else 0


def _with_call(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    add = parser.add_argument
    add("command", nargs="?", metavar="COMMAND", help="a command of the Bash tool, as one argument")
    add("--cwd", metavar="DIR", help="where it is run (default: the current directory, or that of --project)")
    add("--tool", metavar="NAME", help="another tool: Read, Write, Grep, mcp__...")
    add("--input", metavar="JSON", help="with --tool: its arguments, as a JSON object")
    return parser


def _question(args: argparse.Namespace) -> Question:
    start = os.path.realpath(arguments.directory(args))
    cwd = os.path.realpath(os.path.join(start, os.path.expanduser(args.cwd))) if args.cwd else start
    if not os.path.isdir(cwd):
        raise Refusal("--cwd %s: no such directory" % args.cwd)
    project = start
    if args.project is not None or not os.environ.get(settings.ENV_PROJECT_DIR):
        home = os.path.realpath(os.path.expanduser("~"))
        project = repository(invocation.slashes(start), invocation.slashes(home)) or start
    return verdict.question(args.tool or "Bash", _call(args), cwd, project)


def _call(args: argparse.Namespace) -> dict[str, Any]:
    if args.tool is None and args.input is None and args.command is not None:
        return {"command": args.command}
    if args.tool is None or args.input is None or args.command is not None:
        raise Refusal("give a COMMAND as one argument, or --tool with --input: harness guard check 'rm -rf build'")
    try:
        call = json.loads(args.input)
    except (ValueError, RecursionError) as error:
        raise Refusal("--input: not JSON: %s" % error) from None
    if not isinstance(call, dict):
        raise Refusal("--input: not a JSON object, as the tool gets it")
    return call


def _verdict_lines(facts: dict[str, Any]) -> list[str]:
    denied = "; denied where no user can answer" if facts["unattended"] == verdict.DENIED else ""
    rows = [["Verdict", facts["verdict"] + denied]]
    if facts["rule"]:
        rows.append(["Rule", "%s (%s)" % (facts["rule"], facts["tier"])])
        rows.append(["Reason", "`%s` %s" % (cut(line(facts["about"]), 2 * columns()), facts["reason"])])
    rows += [["Instead", facts["remedy"]]] if facts["remedy"] else []
    return table([[name, line(text)] for name, text in rows])


def test(argv: list[str]) -> int:
    about = (
        "Put sample calls to the guard through the installed hook, in a temporary memory: none is run.\n"
        "Exit code 0: each was answered as the default rules want it, 1: not, or no guard is installed."
    )
    args = arguments.parser("test", about, "test\ntest --json", "guard").parse_args(argv)
    directory = arguments.directory(args)
    guard = installs.guard(arguments.root(), installs.in_force(directory, arguments.locate(args).root), directory)
    if not guard.commands:
        raise Refusal("no guard to test: it is %s. To add it, %s --guard" % (guard.line(), installs.INSTALL))
    trials = [each for command in guard.commands for each in selftest.challenge(command, os.environ, selftest.CASES)]
    failed = [trial.problem for trial in trials if trial.problem]
    if args.json:
        keys = ("tool", "about", "expected", "got", "milliseconds", "problem")
        emit_json({"passed": not failed, "cases": [{key: getattr(trial, key) for key in keys} for trial in trials]})
        return 1 if failed else 0
    rows = [["", "TOOL", "EXPECTED", "GOT", "MS", "CALL"]]
    for trial in trials:
        state, milliseconds = "FAIL" if trial.problem else "ok", "%.0f" % trial.milliseconds
        rows.append([state, trial.tool, trial.expected, trial.got, milliseconds, line(trial.about)])
    total = "%d of %d answered as they should be." % (len(trials) - len(failed), len(trials))
    print("\n".join([*table(rows, right=(4,), is_cut=True), *map(line, failed), total]))
    return 1 if failed else 0


def allow_once(argv: list[str]) -> int:
    about = (
        "Let Claude make one call that the guard would stop: exactly this one, once, within %d minutes.\n"
        "For a person in a terminal of their own; it is recorded in the audit trail."
    ) % _MINUTES
    examples = "allow-once 'git reset --hard'\nallow-once 'make clean' --cwd lib"
    args = _with_call(arguments.parser("allow-once", about, examples, "guard", has_json=False)).parse_args(argv)
    client = [name for name in _CLIENT if os.environ.get(name)]
    if client:
        raise Refusal("this is for a person, and Claude Code runs here (%s is set)" % client[0])
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refusal("this is for a person: run it in a terminal, without pipes")
    question = _question(args)
    facts = verdict.facts(question)
    print("\n".join(_verdict_lines(facts)))
    if facts["verdict"] not in _STOPPED:
        print("Nothing to allow: this call is not stopped.")
        return 0
    print("In  %s" % line(question.cwd))
    if not confirm("Let Claude do this once? Type yes: "):
        print("Not allowed.")
        return 1
    _allow(question, facts["rule"])
    print("Allowed once, for %d minutes: Claude has to make exactly this call." % _MINUTES)
    return 0


def _allow(question: Question, rule: str) -> None:
    """Record the permission first: nothing is allowed that the trail does not hold."""
    from ..audit import trail
    from ..guard import allowance

    command = question.given.get("command")
    fields = {"event": "settings_changed", "tool": question.tool, "rule": "self.allow", "overruled": rule}
    fields["reason"] = "a person allowed it once"
    fields["command"] = command if isinstance(command, str) else json.dumps(question.given)
    project = identity.locate(question.root, question.project, question.cwd)
    trail.append(project.dir, fields, time.time())
    allowance.give(question.root, question.tool, question.given, question.cwd)
