"""Generated input of every kind, in a small dose, and proof that its judges see. The long run is bench/fuzz.py."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import fuzzing
import protocol
import pytest
import support
from fuzzworld import Runner, World
from mutation import Chance

from harness_memory.hook import stop

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="hooks are forked")


@pytest.mark.parametrize(("count", "where"), [(support.volume(60), []), (support.volume(200), ["--indoors"])])
def test_nothing_generated_breaks_anything(count: int, where: list[str]) -> None:
    command = [sys.executable, "-I", "-S", "-X", "utf8", str(support.ROOT / "bench" / "fuzz.py"), *where]
    command += ["--count", str(count), "--seed", "8" if where else "7"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-5000:]
    assert b"cases %d," % count in done.stdout


@pytest.mark.parametrize("name", ["bogus:1", "payload", "payload:x"])
def test_a_case_that_there_is_not_is_refused_in_words(name: str) -> None:
    command = [sys.executable, str(support.ROOT / "bench" / "fuzz.py"), "--only", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "%r is no KIND:NUMBER; kinds: payload, " % name in done.stderr


def test_the_same_seed_makes_the_same_changes() -> None:
    value = {"a": [1, "two", {"three": None}], "b": "text"}
    made = [repr(Chance("1:payload:%d" % number).tree(value)) for number in range(50)]
    assert made == [repr(Chance("1:payload:%d" % number).tree(value)) for number in range(50)]
    assert len(set(made)) > 40
    assert value == {"a": [1, "two", {"three": None}], "b": "text"}


def test_every_kind_has_its_share() -> None:
    source = fuzzing.cases(3)
    kinds = [next(source)[0] for _ in range(100)]
    assert {kind: kinds.count(kind) for kind in fuzzing.SHARES} == fuzzing.SHARES


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[fuzzing.Fuzzer]:
    runner = Runner()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fuzzing, "MOST_CPU_SECONDS", 0.2)
        yield fuzzing.Fuzzer(World(tmp_path_factory.mktemp("fuzz"), runner), 1)
    runner.close()


def others_episode(world: World) -> Path:
    return next(world.store.glob("*/episodes/*-d0000000.json"))


def spin() -> None:
    while time.process_time() < 0.4:
        pass


MISDEEDS: dict[str, Callable[[World], Any]] = {
    "": lambda world: None,
    "KeyError": lambda world: {}["x"],
    "exit code 3": lambda world: os._exit(3),
    "exit code -9": lambda world: os.kill(os.getpid(), 9),
    "stderr: oh": lambda world: os.write(2, b"oh"),
    "silence alone": lambda world: os.write(1, b"{}"),
    "touched open": lambda world: (world.home / "stray").write_text("x", "utf-8"),
    "touched os.remove": lambda world: (world.app / "README.md").unlink(),
    "touched socket.": lambda world: socket.socket().close(),
    "touched os.posix_spawn": lambda world: os.posix_spawn("/bin/true", ["true"], {}),
    "lost or changed": lambda world: others_episode(world).unlink(),
    "rewrote": lambda world: next(world.store.glob("*/SECURITY/*/*/audit.jsonl")).write_text("{}\n", "utf-8"),
    "left": lambda world: (world.store / ".x.1.tmp").touch(0o600),
    "open to others": lambda world: (world.store / "x.json").write_text("{}", "utf-8"),
    "not readable": lambda world: (world.store / "config.json").touch(0o600),
    "episode is lost": lambda world: next(world.store.glob("*/episodes/*-c0000000.json")).unlink(),
    "s of CPU": lambda world: spin(),
    "MB": lambda world: len(bytearray(100 << 20)),
}


@pytest.mark.filterwarnings("ignore:.*use of fork")
@pytest.mark.parametrize("complaint", MISDEEDS)
def test_a_planted_fault_is_seen(fuzzer: fuzzing.Fuzzer, monkeypatch: pytest.MonkeyPatch, complaint: str) -> None:
    monkeypatch.setattr(stop, "handle", lambda run: MISDEEDS[complaint](fuzzer.world) and None)
    case = fuzzing.Case("planted", 0, 1)
    fuzzer.seeds.run(case, "stop")
    found = fuzzer._run(case)
    assert bool(found) is bool(complaint), found
    assert any(complaint in line for line in found) or not complaint, found
    assert fuzzer.world.image.changed() == ([], [], [])


@pytest.mark.parametrize(
    ("error", "is_bug"),
    [
        ("KeyError: 'session_id'", True),
        ("TypeError: unsupported operand", True),
        ("RecursionError: maximum recursion depth exceeded", True),
        ("UnicodeDecodeError: 'utf-8' codec", True),
        ("BadPayload: the payload is no JSON", False),
        ("TimeoutError: another hook of this session held its lock", False),
        ("PermissionError: [Errno 13]", False),
        ("not done within its deadline", False),
        ("a malformed checkpoint was kept as x", False),
    ],
)
def test_what_counts_as_a_bug(error: str, is_bug: bool) -> None:
    assert fuzzing.is_bug(error) == is_bug


def context(event: str, **fields: Any) -> bytes:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}}).encode()


TAKEN = [
    ("Stop", b""),
    ("PreCompact", b"Keep the files."),
    ("SessionStart", context("SessionStart", additionalContext="Earlier: x")),
    ("SessionStart", b'{"systemMessage": "2 hook runs failed"}'),
    ("PreToolUse", context("PreToolUse", permissionDecision="ask", permissionDecisionReason="why")),
    ("PreToolUse", context("PreToolUse", additionalContext="a note")),
]
NOT_TAKEN = [
    ("Stop", b"{}"),
    ("Stop", context("Stop", additionalContext="go on")),
    ("SessionEnd", b'{"systemMessage": "x"}'),
    ("PreCompact", b'{"a": 1}'),
    ("SessionStart", b"text"),
    ("SessionStart", b"{}"),
    ("SessionStart", b"[1]"),
    ("SessionStart", b'{"systemMessage": ""}'),
    ("SessionStart", b'{"systemMessage": "\x1b[31m"}'),
    ("SessionStart", b'{"systemMessage": "\\u001b[31m"}'),
    ("SessionStart", b'{"systemMessage": "\\u202e"}'),
    ("SessionStart", b'{"systemMessage": "a", "systemMessage": "b"}'),
    ("SessionStart", b'{"systemMessage": NaN}'),
    ("SessionStart", b'{"additionalContext": "x"}'),
    ("SessionStart", b'{"systemMessage": "\xff"}'),
    ("SessionStart", context("Stop", additionalContext="x")),
    ("SessionStart", context("SessionStart")),
    ("SessionStart", context("SessionStart", additionalContext="\U0001f600" * 4751)),
    ("SessionStart", context("SessionStart", additionalContext="x", permissionDecision="deny")),
    ("PreToolUse", context("PreToolUse", permissionDecision="maybe", permissionDecisionReason="x")),
    ("PreToolUse", context("PreToolUse", permissionDecision="deny")),
]


@pytest.mark.parametrize(("event", "stdout"), TAKEN)
def test_answers_the_client_takes(event: str, stdout: bytes) -> None:
    assert protocol.complaints(event, stdout) == []


@pytest.mark.parametrize(("event", "stdout"), NOT_TAKEN)
def test_answers_the_client_does_not_take(event: str, stdout: bytes) -> None:
    assert protocol.complaints(event, stdout)
