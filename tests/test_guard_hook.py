"""PreToolUse as the client runs it: what it answers, what it writes down, and that it is never at a loss."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import support
from life import Life

from harness_memory.base import settings
from harness_memory.guard import allowance, decision
from harness_memory.guard import question as gate
from harness_memory.guard.policy import Policy, load

POSIX = pytest.mark.skipif(os.name == "nt", reason="links and devices of POSIX")
ATTENDED: dict[str, str | None] = {"CLAUDE_CODE_SESSION_ATTENDED": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"}
SILENT = ("", "")


class Guard:
    """The hook in a home with a project; every answer leaves with code 0 and nothing on stderr."""

    def __init__(self, home: Path, repo: Path) -> None:
        self.home = home
        self.repo = repo
        self.root = home / ".claude" / "memory"
        self.session = support.Session(repo, home)
        self.env: dict[str, str | None] = {**ATTENDED, "CLAUDE_PROJECT_DIR": str(repo)}

    def send(self, payload: Any, *, env: dict[str, str | None] | None = None, **options: Any) -> tuple[str, str]:
        """(decision, reason)"""
        options.setdefault("cwd", self.repo)
        result = support.run_hook("pre_tool_use", payload, home=self.home, env={**self.env, **(env or {})}, **options)
        assert (result.code, result.stderr) == (0, ""), result
        if not result.stdout:
            return SILENT
        answer = result.json["hookSpecificOutput"]
        assert answer["hookEventName"] == "PreToolUse"
        assert set(result.json) == {"hookSpecificOutput"}
        return answer["permissionDecision"], answer["permissionDecisionReason"]

    def call(self, tool: str, given: dict[str, Any], *, env: Any = None, **extra: Any) -> tuple[str, str]:
        return self.send(self.session.tool_call(tool, given, **extra), env=env)

    def bash(self, command: str, *, env: Any = None, **extra: Any) -> tuple[str, str]:
        return self.call("Bash", {"command": command, "description": "Do it"}, env=env, **extra)

    def rules(self, content: Any, *, of_project: bool = False) -> None:
        folder = self.repo / ".claude" if of_project else self.root
        folder.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / "guard.json").write_text(text, "utf-8")

    def events(self) -> list[dict[str, Any]]:
        files = sorted(self.root.glob("*/SECURITY/*/*/audit.jsonl"))
        return [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]

    def failures(self) -> list[str]:
        return [json.loads(path.read_text("utf-8"))["error"] for path in support.failures(self.root)]

    # The same without a process, where one adds nothing.
    def question(self, tool: str, given: dict[str, Any], env: dict[str, str] | None = None) -> gate.Question:
        surroundings = {"HOME": str(self.home), "USER": "dev", "CLAUDE_PROJECT_DIR": str(self.repo), **(env or {})}
        raw: Any = {name.encode(): value.encode() for name, value in surroundings.items()}
        if os.name == "nt":
            raw = surroundings
        payload = {
            "tool_name": tool,
            "tool_input": given,
            "cwd": surroundings.get("cwd", surroundings["CLAUDE_PROJECT_DIR"]),
        }
        return gate.Question(payload, gate.Environment(raw), str(support.ROOT))

    def judged(self, tool: str, given: dict[str, Any], policy: Policy | None = None, **env: str) -> tuple[str, str]:
        """(tier, rule)"""
        asked = self.question(tool, given, env)
        best = decision.verdict(gate.findings(asked, policy or gate.Quiet()), policy or Policy())
        return (best.tier, best.rule) if best else SILENT

    def ran(self, command: str, policy: Policy | None = None, **env: str) -> tuple[str, str]:
        return self.judged("Bash", {"command": command}, policy, **env)


@pytest.fixture
def guard(home: Path, repo: Path) -> Guard:
    return Guard(home, repo)


# Answers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["git status", "ls -la && npm test", "python3 -c 'print(1)'", "echo 'rm -rf ~'"])
def test_silence(guard: Guard, command: str) -> None:
    assert guard.bash(command) == SILENT
    assert guard.events() == []
    assert (guard.root / "health" / "last-run" / "PreToolUse").exists() or list(guard.root.glob("health/*/PreToolUse"))


def test_a_denial_says_why_and_what_instead(guard: Guard) -> None:
    verdict, text = guard.bash("rm -rf ~")
    assert verdict == "deny"
    assert text.startswith("Harness guard [delete.home]: `rm -rf ~` deletes the home directory")
    assert "Instead: " in text
    assert len(text) < 400


def test_a_question(guard: Guard) -> None:
    verdict, text = guard.bash("git reset --hard HEAD~3")
    assert verdict == "ask"
    assert "[git.reset-hard]" in text
    assert "Nobody can confirm" not in text


def test_a_note_is_silent(guard: Guard) -> None:
    assert guard.bash("rm -rf src") == SILENT
    assert [(event["event"], event["rule"]) for event in guard.events()] == [("tool_noted", "delete.inside")]


ALONE = {
    "told so": ({"CLAUDE_CODE_SESSION_ATTENDED": "0"}, {}, "deny"),
    "an older client": ({"CLAUDE_CODE_SESSION_ATTENDED": None, "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, {}, "deny"),
    "another SDK": ({"CLAUDE_CODE_SESSION_ATTENDED": None, "CLAUDE_CODE_ENTRYPOINT": "sdk-py"}, {}, "deny"),
    "dontAsk": ({}, {"permission_mode": "dontAsk"}, "deny"),
    "a terminal": ({}, {}, "ask"),
    "an older terminal": ({"CLAUDE_CODE_SESSION_ATTENDED": None}, {}, "ask"),
    "told that somebody is there": ({"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, {}, "ask"),
    "an unknown client": ({"CLAUDE_CODE_SESSION_ATTENDED": None, "CLAUDE_CODE_ENTRYPOINT": None}, {}, "ask"),
    "bypass": ({}, {"permission_mode": "bypassPermissions"}, "ask"),
}


@pytest.mark.parametrize("case", ALONE)
def test_where_nobody_can_answer_a_question_is_a_denial(guard: Guard, case: str) -> None:
    env, extra, wanted = ALONE[case]
    verdict, text = guard.bash("git push --force origin main", env=env, **extra)
    assert verdict == wanted
    assert ("Nobody can confirm it in this session" in text) == (wanted == "deny")
    (event,) = guard.events()
    assert (event["event"], event["decision"]) == (
        ("tool_blocked", "deny") if wanted == "deny" else ("confirm_prompted", "ask")
    )


def test_what_a_question_becomes_is_the_users_choice(guard: Guard) -> None:
    guard.rules({"unattended": "ask"})
    assert guard.bash("git push --force origin main", env={"CLAUDE_CODE_SESSION_ATTENDED": "0"})[0] == "ask"
    guard.rules({"unattended": "deny"})
    guard.rules({"unattended": "ask"}, of_project=True)
    assert guard.bash("git push --force origin main", env={"CLAUDE_CODE_SESSION_ATTENDED": "0"})[0] == "deny"


def test_a_denial_needs_nobody(guard: Guard) -> None:
    verdict, text = guard.bash("rm -rf /", env={"CLAUDE_CODE_SESSION_ATTENDED": "0"})
    assert (verdict, "Nobody can confirm" in text) == ("deny", False)


def test_switched_off(guard: Guard) -> None:
    assert guard.bash("rm -rf ~", env={"HARNESS_MEMORY": "off"}) == SILENT
    assert not guard.root.exists()
    assert guard.bash("rm -rf ~", env={"HARNESS_MEMORY": "on"})[0] == "deny"


def test_a_subagent_is_judged_alike(guard: Guard) -> None:
    inside = {"agent_id": "a1b2", "agent_type": "general-purpose"}
    assert guard.call("Read", {"file_path": str(guard.home / ".ssh" / "id_rsa")}, **inside)[0] == "deny"
    assert guard.bash("git reset --hard", **inside)[0] == "ask"
    assert guard.bash("git status", **inside) == SILENT
    assert [event["agent"] for event in guard.events()] == ["a1b2", "a1b2"]


def test_a_skill_still_gets_its_profile(life: Life) -> None:
    life.start()
    (life.project / "profiles").mkdir()
    (life.project / "profiles" / "melt.md").write_text("- never above 40 degrees\n", "utf-8")
    call = life.session.tool_call("Skill", {"skill": "melt", "args": "rm -rf ~"})
    assert "never above 40 degrees" in life.run("pre_tool_use", call).context


# Tools -----------------------------------------------------------------------------------------

# Arguments with ~ for the home and . for the project.
TOOLS: list[tuple[str, dict[str, Any], str]] = [
    ("Read", {"file_path": "~/.ssh/id_rsa"}, "path.secret"),
    ("Read", {"file_path": "~/.ssh/id_rsa.pub"}, ""),
    ("Read", {"file_path": "~/.ssh/known_hosts"}, ""),
    ("Read", {"file_path": "./.env"}, "path.env"),
    ("Read", {"file_path": "./.env.example"}, ""),
    ("Read", {"file_path": "./README.md"}, ""),
    ("Write", {"file_path": "~/.bashrc", "content": "x"}, "path.startup"),
    ("Write", {"file_path": "./.env", "content": "x"}, "path.env-write"),
    ("Write", {"file_path": "./notes.md", "content": "rm -rf / and ~/.ssh/id_rsa"}, ""),
    ("Edit", {"file_path": "~/.claude/settings.json", "old_string": "a", "new_string": "b"}, "self.settings"),
    ("Edit", {"file_path": "./src/a.py", "old_string": "a", "new_string": "b", "replace_all": False}, ""),
    ("MultiEdit", {"file_path": "/etc/hosts", "edits": [{"old_string": "a", "new_string": "b"}]}, "path.system"),
    ("MultiEdit", {"file_path": "./a.py", "edits": [{"old_string": "~/.ssh/id_rsa", "new_string": "b"}]}, ""),
    ("NotebookEdit", {"notebook_path": "~/.aws/credentials", "new_source": "x"}, "path.secret"),
    ("NotebookEdit", {"notebook_path": "./a.ipynb", "new_source": "!rm -rf /"}, ""),
    ("Glob", {"pattern": "~/.ssh/*"}, "path.secret"),
    ("Glob", {"pattern": "id_*", "path": "~/.ssh"}, "path.secret"),
    ("Glob", {"pattern": "**/*.py"}, ""),
    ("Grep", {"pattern": "x", "path": "~/.gnupg"}, "path.secret"),
    ("Grep", {"pattern": "TOKEN", "glob": ".env*"}, "path.env"),
    ("Grep", {"pattern": "id_rsa", "path": "./src"}, ""),
    ("mcp__filesystem__read_file", {"path": "~/.ssh/id_rsa"}, "path.secret"),
    ("mcp__filesystem__read_multiple_files", {"paths": ["./a.py", "~/.netrc"]}, "path.secret"),
    ("mcp__filesystem__write_file", {"path": "~/.zshrc", "content": "x"}, "path.startup"),
    ("mcp__filesystem__delete_file", {"path": "./LICENSE"}, "path.no-delete"),
    ("mcp__filesystem__read_file", {"path": "./a.py"}, ""),
    ("mcp__shell__run", {"command": "rm -rf ~"}, "delete.home"),
    ("mcp__github__create_issue", {"title": "t", "body": "cat ~/.ssh/id_rsa"}, ""),
    ("SomethingNew", {"where": {"deep": ["~/.aws/credentials"]}}, "path.secret"),
    ("SomethingNew", {"where": {"deep": ["./a.py"]}, "count": 3, "on": True, "none": None}, ""),
    ("WebFetch", {"url": "file:///etc/shadow", "prompt": "x"}, "path.secret"),
    ("WebFetch", {"url": "https://example.org/.env", "prompt": "cat ~/.ssh/id_rsa"}, ""),
    ("Task", {"description": "d", "prompt": "run rm -rf / and read ~/.ssh/id_rsa", "subagent_type": "x"}, ""),
    ("Agent", {"description": "d", "prompt": "run rm -rf / and read ~/.ssh/id_rsa", "subagent_type": "x"}, ""),
    ("TodoWrite", {"todos": [{"content": "rm -rf /", "status": "pending"}]}, ""),
    ("Bash", {"command": "rm -rf ~", "run_in_background": True}, "delete.home"),
    ("Bash", {"command": "ls", "description": "rm -rf ~"}, ""),
    ("Bash", {}, "guard.failed"),
    ("Bash", {"command": ["rm", "-rf", "/"]}, "guard.failed"),
    ("", {}, ""),
    ("Read", {}, ""),
    ("Read", {"file_path": 7}, ""),
]


def placed(value: Any, guard: Guard) -> Any:
    """`~` as the tool sends it, an absolute path."""
    if isinstance(value, dict):
        return {key: placed(each, guard) for key, each in value.items()}
    if isinstance(value, list):
        return [placed(each, guard) for each in value]
    if isinstance(value, str) and value[:2] in ("~/", "./") and " " not in value:
        return str(guard.home if value[0] == "~" else guard.repo) + value[1:]
    return value


@pytest.mark.parametrize(("tool", "given", "rule"), TOOLS, ids=lambda value: str(value)[:40])
def test_tools(guard: Guard, tool: str, given: dict[str, Any], rule: str) -> None:
    assert guard.judged(tool, placed(given, guard))[1] == rule
    assert guard.judged(tool, given)[1] == rule or "./" in str(given)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Read", {"file_path": "~/.ssh/id_rsa"}),
        ("Grep", {"pattern": "PRIVATE", "path": "~/.ssh"}),
        ("mcp__filesystem__read_file", {"path": "~/.ssh/id_rsa"}),
        ("Bash", {"command": "cat ~/.ssh/id_rsa"}),
    ],
    ids=lambda value: str(value)[:20],
)
def test_keys_are_denied_by_every_way(guard: Guard, tool: str, given: dict[str, Any]) -> None:
    verdict, text = guard.call(tool, placed(given, guard) if tool != "Bash" else given)
    assert (verdict, "[path.secret]" in text) == ("deny", True)
    (event,) = guard.events()
    assert (event["event"], event["tool"], "path" in event) == ("path_access_denied", tool, True)


# Payloads that are none ------------------------------------------------------------------------

BAD = {
    "empty": b"",
    "no JSON": b"rm -rf /\n",
    "cut off": b'{"tool_name": "Bash", "tool_input": {"comm',
    "a list": b"[]",
    "null": b"null",
    "bytes": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_asked(guard: Guard, name: str) -> None:
    verdict, text = guard.send(BAD[name])
    assert (verdict, "[guard.failed]" in text) == ("ask", True)
    assert len(guard.failures()) == 1


@pytest.mark.parametrize(
    "payload",
    [
        {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}},
        {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "cwd": 7, "session_id": None, "agent_id": []},
        {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "cwd": "\x00", "permission_mode": {}},
        {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~; echo \ud800"}, "session_id": "\ud800"},
        {"tool_name": "Bash", "tool_input": {"command": "rm -rf ~ # " + "é" * 20_000}},
    ],
    ids=range(5),
)
def test_odd_fields_excuse_nothing(guard: Guard, payload: dict[str, Any]) -> None:
    assert guard.send(payload)[0] == "deny"


def test_a_write_of_megabytes_is_judged_by_its_path(guard: Guard) -> None:
    content = "x = '\\u00e9'\n" * 250_000
    assert guard.call("Write", {"file_path": str(guard.repo / "a.py"), "content": content}) == SILENT
    verdict, text = guard.call("Write", {"content": content, "file_path": str(guard.home / ".bashrc")})
    assert (verdict, "[path.startup]" in text) == ("ask", True)


def test_more_than_can_be_read(guard: Guard) -> None:
    verdict, text = guard.bash("ls " + "x" * settings.STDIN_MAX_BYTES)
    assert (verdict, "larger than" in text) == ("ask", True)
    assert guard.bash("echo " + "x" * 2_000_000 + "; rm -rf ~")[0] == "ask"


def test_a_pipe_that_never_ends(guard: Guard) -> None:
    """Asked before the client would give up and let the call pass."""
    hook = subprocess.Popen(
        support.hook_command("pre_tool_use"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=support.clean_environment(guard.home, guard.env),
    )
    assert hook.stdin is not None
    hook.stdin.write(b'{"tool_name": "Bash", "tool_input": {"command": "rm')
    hook.stdin.flush()
    began = time.monotonic()
    assert hook.wait(timeout=20) == 0
    assert time.monotonic() - began < settings.GUARD_DEADLINE_SECONDS + 2
    assert hook.stdout is not None
    assert hook.stderr is not None
    assert json.loads(hook.stdout.read())["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert hook.stderr.read() == b""
    assert "no verdict within" in guard.failures()[0]
    for stream in (hook.stdin, hook.stdout, hook.stderr):
        stream.close()


def test_a_pipe_that_is_left_open_delays_nothing(guard: Guard) -> None:
    hook = subprocess.Popen(
        support.hook_command("pre_tool_use"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=support.clean_environment(guard.home, guard.env),
    )
    assert hook.stdin is not None
    began = time.monotonic()
    hook.stdin.write(support.encode(guard.session.tool_call("Bash", {"command": "rm -rf ~"})))
    hook.stdin.flush()
    assert hook.wait(timeout=20) == 0
    assert time.monotonic() - began < settings.GUARD_DEADLINE_SECONDS
    assert hook.stdout is not None
    assert b'"deny"' in hook.stdout.read()
    hook.stdin.close()
    hook.stdout.close()


# Whatever goes wrong ---------------------------------------------------------------------------


class Installation:
    """A copy of ours that may be damaged."""

    def __init__(self, tree: Path, guard: Guard) -> None:
        leave = shutil.ignore_patterns("__pycache__", "cli", "setup")
        shutil.copytree(str(support.LIB), str(tree / "lib"), ignore=leave)
        shutil.copytree(str(support.HOOKS), str(tree / "hooks"))
        self.tree = tree
        self.guard = guard
        self.package = tree / "lib" / "harness_memory"

    def add(self, module: str, code: str) -> None:
        with open(str(self.package / module), "a", encoding="utf-8") as file:
            file.write("\n%s\n" % code)

    def answer(self, tool: str, given: dict[str, Any]) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, *support.FLAGS, str(self.tree / "hooks" / "pre_tool_use.py")],
            input=support.encode(self.guard.session.tool_call(tool, given)),
            capture_output=True,
            env=support.clean_environment(self.guard.home, self.guard.env),
            check=False,
            timeout=30,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        if not done.stdout:
            return SILENT
        reply = json.loads(done.stdout)["hookSpecificOutput"]
        assert reply["hookEventName"] == "PreToolUse"
        return reply["permissionDecision"], reply["permissionDecisionReason"]


@pytest.fixture
def damaged(tmp_path: Path, guard: Guard) -> Installation:
    return Installation(tmp_path / "tree", guard)


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ("guard/judge.py", "[guard.failed]"),
        ("guard/decision.py", "could not be judged"),
        ("guard/question.py", "the installation is incomplete"),
    ],
)
def test_an_error_of_our_own_is_asked(guard: Guard, damaged: Installation, missing: str, told: str) -> None:
    (damaged.package / missing).unlink()
    verdict, text = damaged.answer("Bash", {"command": "rm -rf ~ 'x'"})
    assert (verdict, told in text) == ("ask", True)
    if missing == "guard/judge.py":
        assert "ModuleNotFoundError" in guard.failures()[0] or "ImportError" in guard.failures()[0]


AFTERWARDS = {"late": "import time; time.sleep(60)", "failing": "raise KeyboardInterrupt"}


@pytest.mark.parametrize("how", AFTERWARDS)
@pytest.mark.parametrize(
    ("tool", "given"),
    [("Read", {"file_path": "a.py"}), ("Bash", {"command": "make test"}), ("Skill", {"skill": "melt"})],
)
def test_what_goes_with_a_verdict_does_not_change_it(
    guard: Guard, damaged: Installation, how: str, tool: str, given: dict[str, Any]
) -> None:
    """Notes and profiles are handed over after it: they may be missing, but no call is asked about for that."""
    guard.root.mkdir(mode=0o700, parents=True)
    (guard.root / settings.TRIGGERS_MARK).touch()
    damaged.add("base/settings.py", "GUARD_DEADLINE_SECONDS = 1.0")
    damaged.add("hook/runner.py", AFTERWARDS[how])
    assert damaged.answer(tool, given) == SILENT
    assert len(guard.failures()) == 1


@pytest.mark.parametrize("how", AFTERWARDS)
def test_a_denial_stands_whatever_comes_after_it(guard: Guard, damaged: Installation, how: str) -> None:
    damaged.add("base/settings.py", "GUARD_DEADLINE_SECONDS = 2.0")
    damaged.add("hook/pre_tool_use.py", "def _stamp(root: str) -> None:\n    %s" % AFTERWARDS[how])
    assert damaged.answer("Bash", {"command": "rm -rf ~"})[0] == "deny"


def test_a_store_that_cannot_be_written(guard: Guard) -> None:
    guard.root.write_text("in the way", "utf-8")
    verdict, text = guard.bash("rm -rf ~")
    assert verdict == "deny"
    assert "The audit trail could not be written" in text
    assert guard.bash("git reset --hard")[0] == "ask"
    assert guard.bash("git status") == SILENT
    assert guard.root.read_text("utf-8") == "in the way"


def test_a_trail_that_is_locked_delays_the_answer_a_little(guard: Guard) -> None:
    assert guard.bash("rm -rf ~")[0] == "deny"
    (lock,) = guard.root.glob("*/SECURITY/audit.lock")
    with support.hold_lock(lock) as holder:
        began = time.monotonic()
        verdict, text = guard.bash("rm -rf ~")
        assert time.monotonic() - began < settings.GUARD_LOCK_SECONDS + 2
        holder.kill()
    assert (verdict, "could not be written" in text) == ("deny", True)
    assert len(guard.events()) == 1


# Rules of one's own ----------------------------------------------------------------------------


def policy_of(guard: Guard) -> Policy:
    return load(str(guard.root), str(guard.repo))


DEPLOY = {
    "id": "deploy",
    "tier": "ask",
    "reason": "deploys",
    "match": {"program": "make|just", "words": "deploy", "unless": "--dry-run"},
}
VENDORED = {
    "id": "vendored",
    "tier": "deny",
    "reason": "is not ours",
    "match": {"path": "third_party/**", "access": "write"},
}
OWN: dict[str, tuple[dict[str, Any], str, tuple[str, str]]] = {
    "loosened": ({"tiers": {"git.reset-hard": "log"}}, "git reset --hard", ("log", "git.reset-hard")),
    "off": ({"tiers": {"git.reset-hard": "off"}}, "git reset --hard", SILENT),
    "another stays": ({"tiers": {"git.reset-hard": "off"}}, "git clean -fdx", ("ask", "git.clean")),
    "tightened": ({"tiers": {"git.reset-hard": "deny"}}, "git reset --hard", ("deny", "git.reset-hard")),
    "the core": ({"tiers": {"delete.home": "ask"}}, "rm -rf ~/Documents", ("ask", "delete.home")),
    "the core, and ours": ({"tiers": {"delete.home": "ask"}}, "rm -rf ~", ("deny", "self.memory")),
    "a program": ({"rules": [DEPLOY]}, "cd x && sudo make deploy", ("ask", "deploy")),
    "a program otherwise": ({"rules": [DEPLOY]}, "make test", SILENT),
    "an excuse": ({"rules": [DEPLOY]}, "make deploy --dry-run", SILENT),
    "a path": ({"rules": [VENDORED]}, "echo x > third_party/a.c", ("deny", "vendored")),
    "a path that is read": ({"rules": [VENDORED]}, "cat third_party/a.c", SILENT),
    "protected branches": (
        {"protected_branches": ["trunk"]},
        "git push -f origin trunk",
        ("ask", "git.force-push"),
    ),
    "no longer protected": (
        {"protected_branches": ["trunk"]},
        "git push -f origin main",
        ("log", "git.force-push-own"),
    ),
    "zero access": ({"zero_access": ["*.sealed"]}, "cat notes.sealed", ("deny", "path.secret")),
    "zero access, a folder": ({"zero_access": ["private/"]}, "cat private/a.txt", ("deny", "path.secret")),
    "confirm write": (
        {"confirm_write": ["package-lock.json"]},
        "echo x > package-lock.json",
        ("ask", "path.confirm-write"),
    ),
    "confirm write, read": ({"confirm_write": ["package-lock.json"]}, "cat package-lock.json", SILENT),
    "no delete": ({"no_delete": ["schema.sql"]}, "rm schema.sql", ("ask", "path.no-delete")),
    "no delete, written": ({"no_delete": ["schema.sql"]}, "echo x > schema.sql", SILENT),
}


@pytest.mark.parametrize("name", OWN)
def test_the_users_own_rules(guard: Guard, name: str) -> None:
    content, command, wanted = OWN[name]
    guard.rules(content)
    policy = policy_of(guard)
    assert policy.problems == []
    assert guard.ran(command, policy) == wanted


def test_own_rules_reach_the_hook(guard: Guard) -> None:
    guard.rules({"tiers": {"delete.home": "ask"}, "zero_access": ["*.sealed"]})
    assert guard.bash("rm -rf ~/Documents")[0] == "ask"
    assert guard.bash("cat a.sealed")[0] == "deny"
    assert guard.call("Read", {"file_path": str(guard.repo / "a.sealed")})[0] == "deny"
    rule = {"id": "no-make", "tier": "deny", "reason": "is slow", "remedy": "Use ninja.", "match": {"program": "make"}}
    guard.rules({"rules": [rule]})
    assert guard.bash("make") == ("deny", "Harness guard [no-make]: `make` is slow. Instead: Use ninja.")


TIGHTER: dict[str, tuple[dict[str, Any], str, tuple[str, str]]] = {
    "tightened": ({"tiers": {"git.reset-hard": "deny"}}, "git reset --hard", ("deny", "git.reset-hard")),
    "loosened": ({"tiers": {"git.reset-hard": "log"}}, "git reset --hard", ("ask", "git.reset-hard")),
    "off": ({"tiers": {"path.secret": "off"}}, "cat ~/.ssh/id_rsa", ("deny", "path.secret")),
    "the core": ({"tiers": {"delete.home": "ask"}}, "rm -rf ~", ("deny", "delete.home")),
    "more branches": ({"protected_branches": ["trunk2"]}, "git push -f origin trunk2", ("ask", "git.force-push")),
    "not fewer branches": ({"protected_branches": ["trunk2"]}, "git push -f origin main", ("ask", "git.force-push")),
    "zero access": ({"zero_access": ["*.sealed"]}, "cat a.sealed", ("deny", "path.secret")),
}


@pytest.mark.parametrize("name", TIGHTER)
def test_a_project_may_only_tighten(guard: Guard, name: str) -> None:
    content, command, wanted = TIGHTER[name]
    guard.rules(content, of_project=True)
    policy = policy_of(guard)
    assert guard.ran(command, policy) == wanted
    assert bool(policy.problems) == (name in ("loosened", "off", "the core"))


def test_a_project_may_not_loosen_by_a_rule_of_the_same_name(guard: Guard) -> None:
    guard.rules({"rules": [DEPLOY]})
    guard.rules({"rules": [{**DEPLOY, "tier": "off"}]}, of_project=True)
    assert guard.ran("make deploy", policy_of(guard)) == ("ask", "deploy")


BROKEN: dict[str, Any] = {
    "no JSON": "{tiers:",
    "a list": [],
    "an unknown key": {"tier": {}},
    "an unknown rule": {"tiers": {"git.reset": "log"}},
    "an unknown tier": {"tiers": {"git.reset-hard": "never"}},
    "tiers as a list": {"tiers": ["git.reset-hard"]},
    "a rule without match": {"rules": [{"id": "x", "tier": "ask", "reason": "r"}]},
    "a rule without reason": {"rules": [{"id": "x", "tier": "ask", "match": {"program": "x"}}]},
    "a taken id": {"rules": [{"id": "publish", "tier": "ask", "reason": "r", "match": {"program": "x"}}]},
    "a match of numbers": {"rules": [{"id": "x", "tier": "ask", "reason": "r", "match": {"program": 1}}]},
    "a list of numbers": {"zero_access": [1]},
    "unattended": {"unattended": "allow"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_leaves_the_defaults(guard: Guard, name: str) -> None:
    guard.rules(BROKEN[name])
    policy = policy_of(guard)
    assert len(policy.problems) == 1
    assert "guard.json" in policy.problems[0]
    assert guard.ran("git reset --hard", policy) == ("ask", "git.reset-hard")
    assert guard.ran("rm -rf ~", policy) == ("deny", "delete.home")
    assert guard.ran("git status", policy) == SILENT


def test_a_broken_file_in_the_hook(guard: Guard) -> None:
    guard.rules("{")
    assert guard.bash("rm -rf ~")[0] == "deny"
    assert guard.bash("git status") == SILENT
    (guard.root / "guard.json").unlink()
    (guard.root / "guard.json").mkdir()
    assert guard.bash("rm -rf ~")[0] == "deny"


# Paths as they really are ----------------------------------------------------------------------


@POSIX
def test_links_are_followed(guard: Guard) -> None:
    keys = guard.home / ".ssh"
    keys.mkdir()
    (keys / "id_rsa").write_text("k", "utf-8")
    (guard.repo / "notes.txt").symlink_to(keys / "id_rsa")
    (guard.repo / "docs").symlink_to(keys, target_is_directory=True)
    (guard.repo / "hop").symlink_to("docs")
    (guard.repo / "plain.txt").symlink_to("README.md")
    secret, free = ("deny", "path.secret"), SILENT
    assert guard.judged("Read", {"file_path": str(guard.repo / "notes.txt")}) == secret
    assert guard.judged("Read", {"file_path": str(guard.repo / "docs" / "id_rsa")}) == secret
    assert guard.judged("Grep", {"pattern": "x", "path": str(guard.repo / "docs")}) == secret
    assert guard.ran("cat notes.txt") == secret
    assert guard.ran("cat hop/id_rsa") == secret
    assert guard.ran("cd hop && cat ./id_rsa") == secret
    assert guard.ran("cat plain.txt") == free
    assert guard.judged("Read", {"file_path": str(guard.repo / "plain.txt")}) == free


@POSIX
def test_a_link_that_leads_in_a_circle(guard: Guard) -> None:
    (guard.repo / "a").symlink_to("b")
    (guard.repo / "b").symlink_to("a")
    assert guard.ran("cat a") == SILENT


@POSIX
def test_a_delete_through_a_link(guard: Guard) -> None:
    (guard.repo / "old").symlink_to(guard.home, target_is_directory=True)
    assert guard.ran("rm -rf old/")[0] in ("ask", "deny")


@POSIX
def test_a_home_behind_a_link(guard: Guard, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(guard.home, target_is_directory=True)
    secret = ("deny", "path.secret")
    assert (
        guard.judged("Read", {"file_path": str(guard.home / ".kube" / "config")}, HOME=str(tmp_path / "link")) == secret
    )
    assert guard.judged("Read", {"file_path": str(tmp_path / "link" / ".kube" / "config")}) == secret


SAME = [
    "{home}/.ssh/id_rsa",
    "{home}/.SSH/ID_RSA",
    "{home}//.ssh/./id_rsa",
    "{home}/x/../.ssh/id_rsa",
    "{repo}/../home/.ssh/id_rsa",
    "file://{home}/.ssh/id_rsa",
    "file:{home}/.ssh/id_rsa",
    "/proc/self/root{home}/.ssh/id_rsa",
    "/proc/self/root/proc/self/root{home}/.ssh/id_rsa",
    "/proc/1/root{home}/.ssh/id_rsa",
    "/proc/self/cwd/../home/.ssh/id_rsa",
    "/home/somebody/.ssh/id_rsa",
    "/Users/somebody/.ssh/id_ed25519",
    "/root/.ssh/id_rsa",
    "C:\\Users\\somebody\\.ssh\\id_rsa",
    "C:/Users/somebody/.ssh/id_rsa",
    "/c/Users/somebody/.aws/credentials",
    "/mnt/c/Users/somebody/.aws/credentials",
    "\\\\?\\C:\\Users\\somebody\\.ssh\\id_rsa",
    "%USERPROFILE%\\.ssh\\id_rsa",
    "~/.ssh/id_rsa",
    "~dev/.ssh/id_rsa",
    "$HOME/.ssh/id_rsa",
    "/proc/self/environ",
    "/proc/1234/environ",
]


@pytest.mark.parametrize("form", SAME)
def test_one_key_in_many_forms(guard: Guard, form: str) -> None:
    path = form.format(home=guard.home, repo=guard.repo)
    assert guard.judged("Read", {"file_path": path}) == ("deny", "path.secret")
    if "\\" not in path:
        assert guard.ran("cat " + path) == ("deny", "path.secret")


# Ourselves -------------------------------------------------------------------------------------

OURS = {
    "echo x > {root}/p/SECURITY/2026/11/audit.jsonl": "self.audit",
    "echo x >> {root}/p/SECURITY/2026/11/audit.jsonl": "self.audit",
    "tee -a {root}/p/SECURITY/2026/11/audit.jsonl": "self.audit",
    "sed -i s/a/b/ {root}/p/SECURITY/2026/11/audit.jsonl": "self.audit",
    "rm {root}/p/SECURITY/2026/11/audit.jsonl": "self.audit",
    "rm -rf {root}/p/SECURITY": "self.audit",
    "mv /tmp/x {root}/p/SECURITY/2026/11/audit.jsonl": "self.audit",
    "mv {root}/p/SECURITY /tmp/x": "self.audit",
    "cp /tmp/x {root}/p/SECURITY/2026/11/audit.jsonl": "self.audit",
    "ln -sf /tmp/x {root}/p/SECURITY/2026/11/audit.jsonl": "self.audit",
    "truncate -s 0 {root}/p/SECURITY/2026/11/audit.jsonl": "self.audit",
    "chmod 777 {root}/p/SECURITY/2026/11/audit.jsonl": "self.audit",
    "cd {root}/p/SECURITY && echo x > 2026/11/audit.jsonl": "self.audit",
    "python3 -c \"open('{root}/p/SECURITY/2026/11/audit.jsonl', 'w')\"": "self.audit",
    "echo x > {root}/p/project.json": "self.memory",
    "rm -rf {root}": "self.memory",
    "echo '{{}}' > {root}/guard.json": "self.memory",
    "touch {root}/guard/allowed/x": "self.memory",
    "echo x > {home}/.claude/settings.json": "self.settings",
    "sed -i s/a/b/ ~/.claude/settings.json": "self.settings",
    "cp /tmp/x ~/.claude/settings.local.json": "self.settings",
    "echo x > {repo}/.claude/settings.json": "self.project-settings",
    "echo x > .claude/guard.json": "self.project-settings",
    "echo x > {tree}/lib/harness_memory/guard/question.py": "self.guard",
    "rm -rf {tree}/hooks": "self.guard",
    "harness guard allow-once 'rm -rf ~'": "self.allow",
    "cat {root}/p/SECURITY/2026/11/audit.jsonl": "",
    "grep rule {root}/p/SECURITY/2026/11/audit.jsonl": "",
    "cat ~/.claude/settings.json": "",
    "cat {root}/guard.json": "",
    "cat {tree}/lib/harness_memory/guard/question.py": "",
    "harness memory audit show": "",
    "harness guard check 'rm -rf ~'": "",
}


@pytest.mark.parametrize("command", OURS)
def test_what_is_ours_is_left_to_us(guard: Guard, command: str) -> None:
    text = command.format(root=guard.root, home=guard.home, repo=guard.repo, tree=support.ROOT)
    tier, rule = guard.ran(text)
    assert rule == OURS[command]
    if rule:
        assert tier == ("ask" if rule == "self.project-settings" else "deny")


def test_ours_by_other_tools(guard: Guard) -> None:
    trail = str(guard.root / "p" / "SECURITY" / "2026" / "11" / "audit.jsonl")
    assert guard.judged("Write", {"file_path": trail, "content": ""}) == ("deny", "self.audit")
    assert guard.judged("Edit", {"file_path": str(guard.root / "config.json")}) == ("deny", "self.memory")
    assert guard.judged("mcp__files__delete_file", {"path": str(guard.root)}) == ("deny", "self.memory")
    assert guard.judged("Read", {"file_path": trail}) == SILENT


def test_a_store_elsewhere_is_ours_too(guard: Guard, tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "elsewhere")
    command = "echo x > %s/p/SECURITY/2026/11/audit.jsonl" % elsewhere
    assert guard.ran(command, HARNESS_MEMORY_HOME=elsewhere) == ("deny", "self.audit")
    assert guard.ran(command)[1] != "self.audit"


def test_our_own_code_may_be_worked_on_as_a_project(guard: Guard) -> None:
    """Who develops the guard has it as the project."""
    env = {"CLAUDE_PROJECT_DIR": str(support.ROOT)}
    assert guard.ran("echo x > %s/lib/x.py" % support.ROOT, **env) == SILENT


# Deleting what may go --------------------------------------------------------------------------

FREE = """
rm -rf node_modules
rm -rf ./dist build/ __pycache__ .venv .pytest_cache
rm -rf packages/*/node_modules
rm -rf /tmp/scratch
rm -rf "$TMPDIR/x"
rm -rf $(mktemp -d)
d=$(mktemp -d) && cd "$d" && touch a && cd - && rm -rf "$d"
tmp="$(mktemp -d)"; trap 'rm -rf "$tmp"' EXIT
mkdir work && rm -rf work
git clone https://example.org/x.git && rm -rf x
mkdir -p ../scratch && rm -rf ../scratch
python3 -m venv ../env2 && rm -rf ../env2
find . -name '*.pyc' -delete
find . -type d -name node_modules -exec rm -rf {} +
rm notes.txt
rm -f *.log
git clean -n
""".strip().split("\n")
ASKED = """
rm -rf "$DIR"
rm -rf $(cat list)
rm -rf ../other
rm -rf ~/projects/old
find ~ -name '*.pyc' -delete
""".strip().split("\n")


@pytest.mark.parametrize("command", FREE)
def test_what_is_disposable_goes(guard: Guard, command: str) -> None:
    assert guard.ran(command)[0] in ("", "log")


@pytest.mark.parametrize("command", ASKED)
def test_what_is_not_disposable_is_asked(guard: Guard, command: str) -> None:
    assert guard.ran(command, HOME="/home/dev", CLAUDE_PROJECT_DIR="/home/dev/app")[0] == "ask"


@pytest.mark.parametrize(
    ("project", "command", "wanted"),
    [
        ("/home/dev", "rm -rf Documents", ("deny", "delete.home")),
        ("/home/dev", "rm -rf ~/.config", ("deny", "delete.home")),
        ("/home/dev", "rm -rf scratch/build", SILENT),
        ("/", "rm -rf etc/nginx", ("deny", "delete.system")),
        ("/", "rm -rf srv/data", ("ask", "delete.outside")),
        ("/", "rm -rf app/node_modules", SILENT),
        ("/home/dev/app", "rm -rf Documents", ("log", "delete.inside")),
    ],
)
def test_a_session_in_a_place_that_is_no_project(guard: Guard, project: str, command: str, wanted: Any) -> None:
    assert guard.ran(command, HOME="/home/dev", CLAUDE_PROJECT_DIR=project) == wanted


NOTED = ("log", "delete.inside")
WHOLE = ("deny", "delete.project")


@pytest.mark.parametrize(
    ("project", "cwd", "command", "wanted"),
    [
        ("/home/dev/app", "/home/dev/app/src", "rm -rf *", NOTED),
        ("/home/dev/app", "/home/dev/app/src", "rm -rf .", NOTED),
        ("/home/dev/app", "/home/dev/app/src", "rm -rf ../src", NOTED),
        ("/home/dev/app", "/home/dev/app/src", "rm *", SILENT),
        ("/home/dev/app", "/home/dev/app/src/deep", "rm -rf ..", NOTED),
        ("/home/dev/app", "/home/dev/app/build", "rm -rf *", SILENT),
        ("/home/dev/app", "/home/dev/app/src", "rm -rf ..", WHOLE),
        ("/home/dev/app", "/home/dev/app/src", "cd .. && rm -rf *", WHOLE),
        ("/home/dev/app", "/home/dev/app/src", "rm -rf ../.g*", ("deny", "delete.git")),
        ("/home/dev/app", "/home/dev/other", "rm -rf *", WHOLE),
        ("/home/dev/app", "/home/dev/application", "rm -rf *", WHOLE),
        ("", "/home/dev/app", "rm -rf *", WHOLE),
        ("/", "/srv/app", "rm -rf *", WHOLE),
        ("/home/dev", "/home/dev/app", "rm -rf *", WHOLE),
    ],
)
def test_a_folder_of_the_project_is_judged_as_if_named_from_its_root(
    guard: Guard, project: str, cwd: str, command: str, wanted: Any
) -> None:
    env = {"HOME": "/home/dev", "CLAUDE_PROJECT_DIR": project, "cwd": cwd}
    assert guard.ran(command, **env) == wanted


def test_a_repository_in_a_project_is_one_too(guard: Guard) -> None:
    (guard.repo / "tool" / ".git").mkdir(parents=True)
    env = {"CLAUDE_PROJECT_DIR": str(guard.repo), "cwd": str(guard.repo / "tool")}
    assert guard.ran("rm -rf *", **env) == WHOLE
    assert guard.ran("rm -rf .g*", **env) == ("deny", "delete.git")


def test_without_word_from_the_client_the_repository_is_the_project(guard: Guard) -> None:
    (guard.repo / "src").mkdir()
    below = {"CLAUDE_PROJECT_DIR": "", "cwd": str(guard.repo / "src")}
    assert guard.ran("rm -rf *", **below) == NOTED
    assert guard.ran("rm -rf ..", **below) == WHOLE
    (guard.home / ".git").mkdir()
    (guard.home / "loose" / "files").mkdir(parents=True)
    assert guard.ran("rm -rf *", **{**below, "cwd": str(guard.home / "loose" / "files")}) == WHOLE


def test_the_branch_that_is_checked_out_counts(guard: Guard) -> None:
    assert guard.ran("git push --force") == ("ask", "git.force-push")
    support.git(guard.repo, "checkout", "-q", "-b", "feature/x")
    assert guard.ran("git push --force") == ("log", "git.force-push-own")
    assert guard.ran("git push --force origin HEAD:main") == ("ask", "git.force-push")
    assert guard.ran("git push --force --all") == ("ask", "git.force-push")


# A person's permission -------------------------------------------------------------------------


def test_a_permission_is_used_once(guard: Guard) -> None:
    command = "git push --force origin main"
    allowance.give(str(guard.root), "Bash", {"command": command}, str(guard.repo))
    assert guard.bash(command + " --tags")[0] == "ask"
    assert guard.bash(command) == SILENT
    assert guard.bash(command)[0] == "ask"
    assert [(event["event"], event["decision"]) for event in guard.events()] == [
        ("confirm_prompted", "ask"),
        ("tool_noted", "log"),
        ("confirm_prompted", "ask"),
    ]


def test_a_permission_is_for_one_place_and_one_tool(guard: Guard) -> None:
    path = {"file_path": str(guard.home / ".ssh" / "id_rsa")}
    allowance.give(str(guard.root), "Read", path, str(guard.repo))
    assert guard.call("Read", path, cwd=str(guard.home))[0] == "deny"
    assert guard.call("Grep", {"pattern": "x", "path": path["file_path"]})[0] == "deny"
    assert guard.call("Read", path) == SILENT
    assert guard.call("Read", path)[0] == "deny"


def test_an_old_permission_is_none(guard: Guard) -> None:
    given = allowance.give(str(guard.root), "Bash", {"command": "rm -rf ~"}, str(guard.repo))
    past = time.time() - settings.ALLOWANCE_SECONDS - 5
    os.utime(given, (past, past))
    assert guard.bash("rm -rf ~")[0] == "deny"


# The audit -------------------------------------------------------------------------------------


def test_what_each_event_says(guard: Guard) -> None:
    guard.bash("rm -rf ~")
    guard.bash("git reset --hard")
    guard.call("Read", {"file_path": str(guard.home / ".ssh" / "id_rsa")})
    guard.bash("cat ~/.aws/credentials", agent_id="a1")
    guard.bash("rm -rf src")
    blocked, prompted, read, shown, noted = guard.events()
    common = {"ts", "event", "tool", "reason", "session", "rule", "decision", "seq", "prev", "hash"}
    assert set(blocked) == common | {"command"}
    assert set(read) == common | {"path"}
    assert set(shown) == common | {"command", "path", "agent"}
    assert (blocked["event"], blocked["rule"], blocked["decision"]) == ("tool_blocked", "delete.home", "deny")
    assert (prompted["event"], prompted["rule"], prompted["decision"]) == ("confirm_prompted", "git.reset-hard", "ask")
    assert (read["event"], read["tool"], read["rule"]) == ("path_access_denied", "Read", "path.secret")
    assert (shown["event"], shown["path"], shown["agent"]) == ("path_access_denied", "~/.aws/credentials", "a1")
    assert (noted["event"], noted["decision"]) == ("tool_noted", "log")
    assert blocked["command"] == "rm -rf ~"
    assert {event["session"] for event in guard.events()} == {guard.session.id}
    assert [event["seq"] for event in guard.events()] == [1, 2, 3, 4, 5]
    assert all(event["event"] in settings.AUDIT_EVENTS for event in guard.events())


def test_secrets_are_not_written_down_and_commands_are_cut(guard: Guard) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    guard.bash("curl -H 'Authorization: Bearer %s' https://x && rm -rf ~" % token)
    guard.bash("rm -rf ~ # " + "x" * 3000)
    secret, cut = guard.events()
    assert token not in json.dumps(secret)
    assert len(cut["command"]) <= settings.AUDIT_COMMAND_CHARS + 1
    assert cut["command_chars"] == len("rm -rf ~ # ") + 3000


def test_the_reply_holds_no_secret_of_the_command(guard: Guard) -> None:
    verdict, text = guard.bash("PGPASSWORD=hunter2hunter2 psql -c 'drop table users'")
    assert verdict == "ask"
    assert "hunter2hunter2" not in text
