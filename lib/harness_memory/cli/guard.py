"""`harness guard`: what would be stopped, whether the guard is awake, and a person's way past it."""

from __future__ import annotations

import json
import os
import sys
import time

from ..base import invocation, settings
from ..guard import question
from ..project import identity
from . import arguments, guarding, installs, verdict
from .output import columns, cut, emit_json, line, table
from .refusal import Refusal
from .rulebook import problem_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from ..guard.question import Question
    from ..setup.selftest import Trial

_STOPPED = (verdict.ASKS, verdict.DENIED)
# What the client gives to everything it starts; other CLAUDE_CODE_ names are settings that people have, too.
_MARKS = (
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    settings.ENV_SESSION_ID,
    settings.ENV_ENTRYPOINT,
    settings.ENV_ATTENDED,
    settings.ENV_CLIENT_PID,
)


# check -------------------------------------------------------------------------------------------


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
        print("\n".join([*_verdict_lines(facts), *_step_lines(facts), *problem_lines(facts["problems"])]))
    return 1 if facts["verdict"] in _STOPPED else 0


def _with_call(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    add = parser.add_argument
    add("command", nargs="?", metavar="COMMAND", help="a command of the Bash tool, as one argument")
    add("--cwd", metavar="DIR", help="where it is run (default: the present directory, or that of --project)")
    add("--tool", metavar="NAME", help="another tool: Read, Write, Grep, mcp__...")
    add("--input", metavar="JSON", help="with --tool: its arguments, as a JSON object")
    return parser


def _question(args: argparse.Namespace) -> Question:
    start = os.path.realpath(arguments.directory(args))
    cwd = os.path.realpath(os.path.join(start, os.path.expanduser(args.cwd))) if args.cwd else start
    if not os.path.isdir(cwd):
        raise Refusal("--cwd %s: no such directory" % args.cwd)
    return verdict.question(args.tool or "Bash", _given(args), cwd, _project(args, start))


def _project(args: argparse.Namespace, start: str) -> str:
    """Where the client says that its session began, else the repository, else the folder."""
    if args.project is None and os.environ.get(settings.ENV_PROJECT_DIR):
        return start
    home = os.path.realpath(os.path.expanduser("~"))
    return question.repository(invocation.slashes(start), invocation.slashes(home)) or start


def _given(args: argparse.Namespace) -> dict[str, Any]:
    if args.tool is None and args.input is None:
        if args.command is None:
            raise Refusal("what command? Give it as one argument: harness guard check 'rm -rf build'")
        return {"command": args.command}
    if args.tool is None or args.input is None or args.command is not None:
        raise Refusal("give a COMMAND, or --tool with --input")
    try:
        given = json.loads(args.input)
    except (ValueError, RecursionError) as error:
        raise Refusal("--input is no JSON: %s" % error) from None
    if not isinstance(given, dict):
        raise Refusal("--input must be a JSON object, as the tool gets it")
    return given


def _verdict_lines(facts: dict[str, Any]) -> list[str]:
    where = "; %s where nobody can answer" % facts["unattended"] if facts["unattended"] == verdict.DENIED else ""
    rows = [["Verdict", facts["verdict"] + where]]
    if facts["rule"]:
        rows.append(["Rule", "%s (%s)" % (facts["rule"], facts["tier"])])
        rows.append(["Reason", "`%s` %s" % (cut(line(facts["about"]), 2 * columns()), facts["reason"])])
    rows += [["Instead", facts["remedy"]]] if facts["remedy"] else []
    return table([[name, line(text)] for name, text in rows])


def _step_lines(facts: dict[str, Any]) -> list[str]:
    rows = [["  " + number, line(text)] for number, text in verdict.page(facts)]
    lines = ["", "Understood as", *table(rows, right=(0,), is_cut=True)] if rows else []
    return [*lines, *("Could not be read: " + cut(line(part), columns() - 20) for part in facts["unread"])]


# test --------------------------------------------------------------------------------------------


def test(argv: list[str]) -> int:
    about = (
        "Put canned calls to the guard through the hook as it is installed, in a throw-away memory: none is run.\n"
        "Exit code 0: each was answered as the default rules want it, 1: not, or no guard is installed."
    )
    args = arguments.parser("test", about, "test\ntest --json", "guard").parse_args(argv)
    directory = arguments.directory(args)
    places = installs.in_force(directory, arguments.locate(args).root)
    found = guarding.look(arguments.root(), places, directory)
    if not found.commands:
        raise Refusal("no guard to test, it is %s. To put it in, %s" % (found.line(), guarding.INSTALL))
    from ..setup import selftest

    trials = [trial for command in found.commands for trial in selftest.challenge(command, os.environ, selftest.CASES)]
    is_passed = not any(trial.problem for trial in trials)
    if args.json:
        keys = ("tool", "about", "expected", "got", "milliseconds", "problem")
        emit_json({"passed": is_passed, "cases": [{key: getattr(trial, key) for key in keys} for trial in trials]})
    else:
        print("\n".join(_trial_lines(trials)))
    return 0 if is_passed else 1


def _trial_lines(trials: list[Trial]) -> list[str]:
    rows = [["", "TOOL", "EXPECTED", "GOT", "MS", "CALL"]]
    for trial in trials:
        cells = ["FAIL" if trial.problem else "ok", trial.tool, trial.expected, trial.got]
        rows.append([*cells, "%.0f" % trial.milliseconds, line(trial.about)])
    failed = [trial.problem for trial in trials if trial.problem]
    told = "%d of %d answered as they should be." % (len(trials) - len(failed), len(trials))
    return [*table(rows, right=(4,), is_cut=True), *map(line, failed), told]


# allow-once --------------------------------------------------------------------------------------


def allow_once(argv: list[str]) -> int:
    about = (
        "Let Claude make one call that the guard would stop: exactly this one, once, within %d minutes.\n"
        "For a person in a terminal of their own; it is recorded in the audit trail."
    ) % (settings.ALLOWANCE_SECONDS // 60)
    examples = "allow-once 'git reset --hard'\nallow-once 'make clean' --cwd lib"
    args = _with_call(arguments.parser("allow-once", about, examples, "guard", has_json=False)).parse_args(argv)
    _check_person()
    asked = _question(args)
    facts = verdict.facts(asked)
    print("\n".join(_verdict_lines(facts)))
    if facts["verdict"] not in _STOPPED:
        print("Nothing to allow: this call is not stopped.")
        return 0
    print("In  %s" % line(asked.cwd))
    if not _is_confirmed():
        print("Not allowed.")
        return 1
    _allow(asked, facts)
    print("Allowed once, for %d minutes: Claude has to make exactly this call." % (settings.ALLOWANCE_SECONDS // 60))
    return 0


def _check_person() -> None:
    marks = [name for name in _MARKS if os.environ.get(name)]
    if marks:
        raise Refusal("this is for a person, and Claude Code runs here (%s is set)" % marks[0])
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refusal("this is for a person: run it in a terminal, without pipes")


def _is_confirmed() -> bool:
    try:
        return input("Let Claude do this once? Type yes: ").strip().lower() == "yes"
    except EOFError:
        print()
        return False


def _allow(asked: Question, facts: dict[str, Any]) -> None:
    """Recorded first: nothing is allowed that the trail does not know of."""
    from ..audit import trail
    from ..guard import allowance

    fields = {"event": "settings_changed", "tool": asked.tool, "rule": "self.allow", "overruled": facts["rule"]}
    fields["reason"] = "a person allowed it once"
    command = asked.given.get("command")
    fields["command"] = command if isinstance(command, str) else json.dumps(asked.given)
    place = identity.locate(asked.root, asked.project, asked.cwd)
    trail.append(place.dir, fields, time.time())
    allowance.give(asked.root, asked.tool, asked.given, asked.cwd)
