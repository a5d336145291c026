"""Promises, checked while hooks run: no socket, no process, no write outside the store, no word of another project."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any, Iterator

import full_memory
import pytest
import support
import watch
from full_memory import READING, Memory
from image import Image
from life import Life

posix = pytest.mark.skipif(os.name != "posix", reason="descriptors are passed on as POSIX does")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    return full_memory.made(tmp_path_factory.mktemp("promised"))


class Watched(Life):
    """A session whose hooks are fresh processes, each with an audit hook inside; `strays` is what was reported."""

    def __init__(self, home: Path, cwd: Path) -> None:
        super().__init__(home, cwd, pid=os.getpid())
        self.allowed = [str(self.store), str(cwd / ".claude" / "completion-checkpoint") + "*"]
        self.strays: list[tuple[str, str]] = []

    def run(self, script: str, payload: Any) -> support.Result:
        reading, writing = os.pipe()
        words = [watch.__file__, str(writing), os.pathsep.join(self.allowed), str(support.HOOKS / (script + ".py"))]
        env = support.clean_environment(self.home, {**self.session.environment(pid=self.pid), **self.extra})
        command = [sys.executable, *support.FLAGS, "-B", *words]
        result = support.run(command, support.encode(payload), env, self.cwd, pass_fds=[writing])
        os.close(writing)
        with open(reading, "rb") as report:
            self.strays = watch.strays(report.read())
        assert (result.code, result.stderr) == (0, ""), (script, result)
        return result


def every_event(life: Life) -> Iterator[tuple[str, bool, support.Result]]:
    """Every kind of event in an order in which each has work to do, and whether it has to say something."""
    call = life.session.tool_call
    yield "start, recovering a dead session", True, life.start()
    yield "call with a note", True, life.run("pre_tool_use", call("Bash", {"command": "make deploy"}))
    yield "prompt that recalls", True, life.prompt("canary note fact of the gateway rule, canary ask")
    yield "quiet call", False, life.run("pre_tool_use", call("Bash", {"command": "ls -l"}))
    yield "denied call", True, life.run("pre_tool_use", call("Bash", {"command": "rm -rf ~"}))
    yield "asked call", True, life.run("pre_tool_use", call("Bash", {"command": "git push --force origin main"}))
    yield "skill", True, life.run("pre_tool_use", call("Skill", {"skill": "deploy"}))
    subagent = {**life.session.start(), "hook_event_name": "SubagentStart", "agent_id": "a", "agent_type": "x"}
    yield "subagent", True, life.run("subagent_start", subagent)
    life.transcript.write(life.cwd / "cart.py").text("The totals are rounded once, at the very end of it.")
    life.checkpoint({"what_was_done": "Claimed."})
    yield "stop that claims a checkpoint", False, life.stop("The totals are rounded once, at the very end of it.")
    yield "pre-compact", True, life.compact()
    yield "compact", True, life.start("compact")
    for source in ("resume", "fork", "clear"):
        yield source, False, life.start(source)
    yield "end", False, life.end()


@posix
def test_no_hook_opens_a_socket_starts_a_process_or_writes_elsewhere(memory: Memory) -> None:
    life = Watched(memory.home, memory.repo)
    before = Image(memory.home.parent)
    for name, speaks, result in every_event(life):
        assert life.strays == [], name
        assert result.stdout or not speaks, name
    assert life.episode["what_was_done"].startswith("Claimed.")
    for payload in (b"{", life.session.prompt("hello", cwd="/nowhere", transcript_path="/dev/zero")):
        for script in ("session_start", "user_prompt_submit", "pre_tool_use", "subagent_start", "stop", "session_end"):
            life.run(script, payload)
            assert life.strays == [], (script, payload)
    life.extra = {"HARNESS_MEMORY": "off"}
    life.start()
    assert life.strays == []
    claude = str(memory.home / ".claude")
    free = (claude + "/memory", claude + "/projects", str(memory.repo / ".claude" / "completion-checkpoint"))
    changed = [path for path in before.changed() if not path.startswith(free)]  # folders whose entries changed
    assert {*changed} <= {claude, str(memory.repo / ".claude")}


# One project in another ------------------------------------------------------------------------------
def repository(path: Path, remote: str = "") -> Path:
    """A repository as files: git itself takes longer than the test."""
    for folder in ("refs/heads", "objects"):
        (path / ".git" / folder).mkdir(parents=True)
    (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    (path / ".git" / "description").write_text("Unnamed\n", "utf-8")  # what tells a moved repository
    config = "[core]\n\tbare = false\n%s" % ('[remote "origin"]\n\turl = %s\n' % remote if remote else "")
    (path / ".git" / "config").write_text(config, "utf-8")
    return path


def test_no_project_is_given_a_word_of_another(tmp_path: Path) -> None:
    home, notes = tmp_path / "home", tmp_path / "notes"
    (home / ".claude").mkdir(parents=True)
    (notes / "sub").mkdir(parents=True)
    outer = repository(tmp_path / "outer", "https://example.org/outer")
    mine = repository(tmp_path / "me" / "shop", "git@example.org:me/shop.git")
    yours = repository(tmp_path / "you" / "shop", "git@example.org:you/shop.git")
    moved = repository(tmp_path / "moved" / "shop")
    neighbours = [mine, yours, outer, repository(outer / "vendor" / "inner"), notes, notes / "sub", moved]
    words = {path: "z%04dq" % number for number, path in enumerate(neighbours)}
    for path, word in words.items():
        full_memory.fill(home, path, lambda place, word=word: "canary %s %s" % (word, place))  # type: ignore[misc]
    moved.rename(tmp_path / "new")
    repository(moved)  # another project begins in its place
    projects = {**{path: words[path] for path in neighbours[:-1]}, tmp_path / "new": words[moved], moved: ""}
    Memory(home, notes).do("note", "add", "my way", "Everyone may know the ocelot", "--scope", "user")
    for number, (path, word) in enumerate(projects.items()):
        memory = Memory(home, path)
        said = {event: result.stdout for event, result in memory.events("canary ask, canary answer, canary note fact")}
        for line in READING[number % 3 :: 3]:
            result = memory.run("memory", *line)
            said[" ".join(line)] = result.stdout + result.stderr
        for where, text in said.items():
            assert [other for other in words.values() if other != word and other in text] == [], (path, where)
        assert "ocelot" in said["start"], path
        assert word in said["start"], path
        assert word in said["prompt"], path


def test_every_promise_names_the_test_that_proves_it() -> None:
    security = (support.ROOT / "SECURITY.md").read_text("utf-8").partition("## What is not promised")[0]
    rows = [row.split("|") for row in security.splitlines() if row.startswith("| ")][2:]
    promised = (support.ROOT / "RELIABILITY.md").read_text("utf-8").partition("## What is promised")[2]
    bullets = promised.partition("If something seems wrong")[0].strip().split("\n- ")
    assert len(rows) > 10
    assert len(bullets) > 5
    files = re.findall(r"\b((?:bench|tests)/[\w/]+\.py)\b", security + promised)
    files += ["tests/%s.py" % name for name in re.findall(r"`(test_[a-z_0-9]+)`", security + promised)]
    assert [name for name in files if not (support.ROOT / name).is_file()] == []
    for proof in [*(row[3] for row in rows), *bullets]:
        tests = re.findall(r"`((?:e2e/)?test_[a-z_0-9]+)::(test_[a-z_0-9]+)`", proof)
        assert tests, proof
        for name, function in tests:
            assert "\ndef %s(" % function in (support.ROOT / "tests" / (name + ".py")).read_text("utf-8"), proof
