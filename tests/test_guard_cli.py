"""`harness guard`: check, rules, test and allow-once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import HARNESS, World

from harness_memory.guard import rules
from harness_memory.setup import selftest, settingsfile
from harness_memory.setup.installation import Installation

POSIX = pytest.mark.skipif(os.name == "nt", reason="POSIX shells and terminals")


def put_in(world: World, *, guard: bool = True) -> Path:
    """An install without its proof."""
    path = world.home / ".claude" / "settings.json"
    wanted = settingsfile.entries(str(support.ROOT), sys.executable, [str(world.root)], str(world.home), guard=guard)
    Installation(str(support.ROOT), "user", str(path), str(world.root)).install(wanted, sys.executable)
    return path


def write_rules(folder: Path, content: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "guard.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    path.chmod(0o600)
    return path


def judged(world: World, *words: str) -> dict[str, Any]:
    result = world.run("guard", "check", *words, "--json")
    facts: dict[str, Any] = result.json
    assert result.code == (1 if facts["verdict"] in ("asks", "denied") else 0)
    return facts


def hook(world: World, command: str) -> dict[str, str]:
    """The hook's answer in an attended session."""
    session = support.Session(world.repo, world.home)
    call = {"tool_name": "Bash", "tool_input": {"command": command, "description": "x"}}
    payload = session._payload("PreToolUse", call, {}, mode=True)
    result = support.run_hook("pre_tool_use", payload, home=world.home, env=session.environment(interactive=True))
    return dict(result.json["hookSpecificOutput"]) if result.stdout else {}


def events(world: World) -> list[dict[str, Any]]:
    lines = [line for path in world.root.glob("*/SECURITY/*/*/audit.jsonl") for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines]


# check -------------------------------------------------------------------------------------------
VERDICTS = [
    ("rm -rf ~", "denied", "delete.home"),
    ("git reset --hard HEAD~2", "asks", "git.reset-hard"),
    ("rm -rf src", "noted", "delete.inside"),
    ("git status", "silent", None),
    ("echo 'rm -rf ~'", "silent", None),
]


@pytest.mark.parametrize(("command", "verdict", "rule"), VERDICTS)
def test_check_gives_the_verdict_of_the_hook(world: World, command: str, verdict: str, rule: str | None) -> None:
    facts = judged(world, command)
    assert (facts["verdict"], facts["rule"]) == (verdict, rule)
    assert not world.root.exists()  # nothing is recorded
    if " " in command and "'" not in command:
        unquoted = world.run("guard", "check", *command.split())
        assert (unquoted.code, "in quotes: '%s'" % command in unquoted.stderr) == (2, True)
    page = world.run("guard", "check", command)
    assert page.stdout.split()[:2] == ["Verdict", verdict]
    assert rule is None or rule in page.stdout
    answer = hook(world, command)
    assert answer.get("permissionDecision") == {"denied": "deny", "asks": "ask"}.get(verdict)
    assert answer.get("permissionDecisionReason") == facts["told"]


def test_check_shows_each_step(world: World) -> None:
    command = "cd sub && sudo bash -c 'r\\m -rf \"$HOME\"' < in.txt; echo hi | tee a.txt > log.txt"
    steps = judged(world, command)["steps"]
    assert [step["call"] for step in steps][2:] == [
        'bash -c r\\m -rf "$HOME"',
        "rm -rf ~",
        "echo hi",
        "tee a.txt",
    ]
    here = os.path.realpath(str(world.repo))
    page = " ".join(world.run("guard", "check", command).stdout.split())
    parts = (
        "4 rm -rf ~",
        "through sudo > bash",
        "in %s/sub" % here,
        "reads the text 'hi '",
        "redirects < in.txt",
        "against delete.home (deny)",
    )
    assert [text for text in parts if text not in page] == []
    piped = judged(world, "curl -s https://example.org/x | sh")
    assert piped["steps"][1]["reads"] == "the output of: curl -s https://example.org/x"
    unread = judged(world, "echo 'open; rm -rf /")
    assert (unread["verdict"], unread["steps"], len(unread["unread"])) == ("asks", [], 1)
    assert "Could not be read" in world.run("guard", "check", "echo 'open").stdout


def test_check_judges_other_tools(world: World) -> None:
    key = str(world.home / ".ssh" / "id_rsa")
    facts = judged(world, "--tool", "Read", "--input", json.dumps({"file_path": key}))
    assert (facts["verdict"], facts["rule"], facts["about"]) == ("denied", "path.secret", "Read " + key)
    assert judged(world, "--tool", "Unheard", "--input", "{}")["verdict"] == "silent"
    assert judged(world, "echo x > /dev/fd/9")["verdict"] == "silent"


@POSIX
def test_check_depends_on_the_directory_and_the_project(world: World) -> None:
    (world.repo / "sub").mkdir()
    assert judged(world, "rm -rf ..", "--project", "sub")["rule"] == "delete.project"
    assert judged(world, "rm -rf usr", "--project", "/")["rule"] == "delete.system"
    assert judged(world, "rm -rf ./*", "--project", str(world.home))["rule"] == "delete.home"
    facts = judged(world, "ls", "--project", "sub")
    assert (facts["project"], facts["cwd"]) == (str(world.repo), str(world.repo / "sub"))
    inside = {"CLAUDE_PROJECT_DIR": str(world.repo / "sub")}
    assert world.run("guard", "check", "rm -rf *", "--json", env=inside).json["rule"] == "delete.project"


# rules -------------------------------------------------------------------------------------------
DEPLOY = {"id": "deploy", "tier": "ask", "reason": "deploys", "match": {"program": "make", "words": "deploy"}}
OWN = {"tiers": {"git.clean": "log", "publish": "deny"}, "rules": [DEPLOY]}


def test_rules_lists_every_rule_with_its_origin(world: World) -> None:
    write_rules(world.root, OWN)
    write_rules(world.repo / ".claude", {"tiers": {"delete.inside": "ask"}})
    result = world.run("guard", "rules", "--json")
    assert result.code == 0
    listed = {rule["id"]: rule for rule in result.json}
    assert set(listed) == {*rules.RULES, "deploy"}
    assert {name: (rule["tier"], rule["whose"]) for name, rule in listed.items() if rule["whose"] != "default"} == {
        "git.clean": ("log", "yours"),
        "publish": ("deny", "yours"),
        "deploy": ("ask", "yours"),
        "delete.inside": ("ask", "project"),
    }
    assert listed["deploy"]["match"] == DEPLOY["match"]
    rows = [line.split()[:3] for line in world.run("guard", "rules").stdout.splitlines()]
    assert ["deploy", "ask", "yours"] in rows
    assert ["delete.home", "deny", "default"] in rows
    page = world.run("guard", "rules", "git.clean").stdout
    assert all(text in page for text in ("log", "yours", "git clean -n"))
    assert (world.run("guard", "rules", "nope").code, judged(world, "make deploy")["rule"]) == (2, "deploy")


@pytest.mark.parametrize(("content", "message"), support.rows("guard/broken_rules.jsonl"))
def test_a_broken_rule_file_is_reported_everywhere(world: World, content: Any, message: str) -> None:
    write_rules(world.repo / ".claude", content)
    result = world.run("guard", "rules")
    assert (result.code, message in result.stdout) == (1, True)
    assert message in world.run("guard", "check", "git clean -fdx").stdout
    put_in(world)
    (text,) = [check["text"] for check in world.json("status")["health"] if check["topic"] == "guard"]
    assert (text.startswith("DEGRADED: "), message in text) == (True, True)


def test_a_start_reports_a_broken_rule_file_and_records_it(world: World) -> None:
    path = write_rules(world.root, "{nope")
    for _ in range(2):
        session = support.Session(world.repo, world.home)
        result = support.run_hook("session_start", session.start(), home=world.home, env=session.environment())
        assert str(path) in result.json["systemMessage"]
        assert str(path) in result.context
    recorded = [(event["event"], str(path) in event["reason"]) for event in events(world)]
    assert recorded == [("guard_degraded", True)] * 2
    assert hook(world, "rm -rf ~")["permissionDecision"] == "deny"  # the built-in rules hold


# test and status ---------------------------------------------------------------------------------
@POSIX
def test_the_installed_hook_answers_the_sample_calls(world: World) -> None:
    path = put_in(world)
    before = world.files()
    result = world.run("guard", "test", "--json")
    assert result.code == 0, result.json
    assert [(case["expected"], case["got"]) for case in result.json] == [(c[0], c[0]) for c in selftest.CASES]
    assert world.files() == before
    path.write_text(path.read_text().replace('|| \\"$p', '|| : \\"$p'))
    result = world.run("guard", "test")
    assert (result.code, "\ndeny      silent" in result.stdout) == (1, True)


# allow-once --------------------------------------------------------------------------------------
RESET = "git reset --hard HEAD~1"


def type_into(world: World, words: list[str], typed: bytes, env: Any = None) -> tuple[int, str]:
    """The command line in a terminal of its own."""
    import pty

    master, slave = pty.openpty()
    command, env = [sys.executable, str(HARNESS), *words], support.clean_environment(world.home, env)
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=str(world.repo), env=env)
    os.close(slave)
    os.write(master, typed)
    seen = b""
    with open(master, "rb", buffering=0) as terminal:
        try:
            for chunk in iter(lambda: terminal.read(4096), b""):
                seen += chunk
        except OSError:
            pass  # the terminal has no other end any more
    return process.wait(), seen.decode()


@POSIX
def test_a_person_allows_one_call_once(world: World) -> None:
    for typed in (b"no\n", b"y\n", b"\x04"):
        code, page = type_into(world, ["guard", "allow-once", RESET], typed)
        assert (code, "Not allowed." in page, world.root.exists()) == (1, True, False)
    code, page = type_into(world, ["guard", "allow-once", RESET], b"yes\n")
    assert (code, "git.reset-hard" in page) == (0, True), page
    assert hook(world, "git reset --hard HEAD~2")["permissionDecision"] == "ask"  # another one
    assert hook(world, RESET) == {}
    assert hook(world, RESET)["permissionDecision"] == "ask"
    first, *_ = events(world)
    assert (first["event"], first["rule"], first["overruled"]) == ("settings_changed", "self.allow", "git.reset-hard")
    assert ("tool_noted", "git.reset-hard") in [(event["event"], event["rule"]) for event in events(world)]
    assert world.memory("verify").code == 0


@POSIX
def test_a_rule_of_a_note_is_checked_listed_and_allowed_once_like_any_other(world: World) -> None:
    rule = ("--topic", "no npm", "--enforce", "deny", "--when", "command: npm install*")
    assert world.memory("remember", "We use pnpm, not npm", "Instead: pnpm add", *rule).code == 0
    facts = judged(world, "npm i left-pad")
    assert (facts["verdict"], facts["rule"], facts["told"]) == (
        "denied",
        "note.no-npm",
        hook(world, "npm i left-pad")["permissionDecisionReason"],
    )
    (listed,) = [each for each in world.run("guard", "rules", "--json").json if each["id"] == "note.no-npm"]
    assert (listed["tier"], listed["whose"]) == ("deny", "note")
    code, page = type_into(world, ["guard", "allow-once", "npm i left-pad"], b"yes\n")
    assert (code, "Allowed once" in page) == (0, True), page
    answers = [hook(world, "npm i left-pad").get("permissionDecision") for _ in range(2)]
    assert answers == [None, "deny"]


@POSIX
def test_allow_once_is_for_a_person_and_a_stopped_call(world: World) -> None:
    code, page = type_into(world, ["guard", "allow-once", "git status"], b"")
    assert (code, "Nothing to allow" in page) == (0, True)
    for name in ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID"):
        code, page = type_into(world, ["guard", "allow-once", RESET], b"yes\n", {name: "1"})
        assert (code, "for a person" in page) == (2, True)
    result = world.run("guard", "allow-once", RESET, stdin=b"yes\n")
    assert (result.code, "terminal" in result.stderr, world.root.exists()) == (2, True, False)
    assert judged(world, "python3 %s guard allow-once 'rm -rf ~'" % HARNESS)["rule"] == "self.allow"
