#!/usr/bin/env python3
"""Mutated payloads, transcripts, checkpoints, records, notes, rules and git files, run through the real hooks.

    python3 bench/chaos.py --only fuzz --minutes 10
    python3 bench/fuzz.py KIND:NUMBER [--seed 1]

A case is determined by seed, kind and number. It changes files of a scene (tests/crash.py), runs hooks, each forked
and watched, and is judged: exit code, standard error, an answer the client accepts, no unexpected exception, no write
outside the store, no record of another session changed, no file left half or open to others.
"""

from __future__ import annotations

import argparse
import builtins
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Iterator

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "lib")]

import interposer  # noqa: E402
import protocol  # noqa: E402
import support  # noqa: E402
import watch  # noqa: E402
from crash import IDS, Scene  # noqa: E402

TABLES: dict[str, list[str]] = json.loads((Path(__file__).parent / "data" / "fuzz.json").read_text("utf-8"))
TOKENS = [token.encode("latin-1") for token in TABLES["tokens"]]
NUMBERS = (0, 1, -1, 255, 2**31, 2**53 + 1, 2**64, 10**308, 10**400, 0.5, -0.0, 1e-320, float("nan"), float("inf"))
MOST_BYTES = 400_000
SHARES = {"payload": 30, "transcript": 20, "checkpoint": 10, "record": 30, "guard": 5, "git": 5}
COMMANDS = ["make deploy && git push", "rm -rf ~", "git reset --hard"]
COMMANDS += ["cat <<'E'\nx\nE\n", "ls -l | head", "$(id) > /x"]


class Chance(random.Random):
    """A source of chance for one case, made from its name."""

    def happens(self, share: float) -> bool:
        return self.random() < share

    def text(self) -> str:
        if self.happens(0.03):
            unit = self.choice(TABLES["units"]) + self.choice(TABLES["units"])
            return self.choice(TABLES["marks"]) + unit * (self.choice((1_000, 10_000, 70_000)) // len(unit))
        return "".join(self.choice(TABLES["strings"]) for _ in range(self.choice((1, 1, 1, 2, 4))))

    def value(self, depth: int = 0) -> Any:
        kind = self.randrange(10)
        if kind < 4:
            return self.text()
        if kind < 7:
            return self.choice(NUMBERS)
        if kind == 7 or depth > 2:
            return self.choice((None, True, False, [], {}))
        if kind == 8:
            return [self.value(depth + 1) for _ in range(self.choice((0, 1, 3, 100)))]
        return {self.text(): self.value(depth + 1) for _ in range(self.randrange(4))}

    def tree(self, value: Any) -> Any:
        """A JSON value changed in a few places."""
        holder = [json.loads(json.dumps(value))]
        for _ in range(self.choice((1, 1, 1, 2, 3, 6))):
            container, key = self.choice(_places(holder))
            what = self.randrange(8)
            if what < 3:
                container[key] = self.value()
            elif what == 3 and container is not holder:
                del container[key]
            elif what == 4 and isinstance(container, dict):
                container[self.text()] = container.pop(key)
            elif what == 5:
                container[key] = self.choice(([container[key]], {"a": container[key]}, str(container[key])[:1000]))
            elif isinstance(container[key], str):
                container[key] = self.string(container[key])
            else:
                container[key] = self.text()
        return holder[0]

    def string(self, text: str) -> str:
        at = self.randrange(len(text) + 1)
        return self.choice((text[:at], text[at:], text[:at] + self.text() + text[at:], text * 2, text.upper()))

    def encoded(self, value: Any) -> bytes:
        """JSON as some client might write it, surrogates and not-a-numbers included."""
        text = json.dumps(value, ensure_ascii=self.happens(0.3), indent=2 if self.happens(0.1) else None)
        data = text.encode("utf-8", "surrogatepass")[:MOST_BYTES]
        if self.happens(0.02):
            depth = self.choice((250, 900, 5_000))
            data = data[:-1] + b',"deep":' + b"[" * depth + b"]" * depth + b"}"
        return data

    def bytes(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(self.choice((1, 1, 2, 4, 12))):
            at = self.randrange(len(changed) + 1)
            end = min(len(changed), at + self.choice((1, 1, 2, 8, 64, 1024)))
            noise = bytes(self.randrange(256) for _ in range(end - at))
            token = self.choice(TOKENS)
            changed[at:end] = self.choice((token, token + changed[at:end], b"", changed[at:end] * 3, noise))
            if self.happens(0.03):
                del changed[at:]
            del changed[MOST_BYTES:]
        return bytes(changed)

    def lines(self, data: bytes) -> bytes:
        """Text of `key: value` lines, lists and prose, changed line by line."""
        lines = data.decode("utf-8", "replace").split("\n")
        for _ in range(self.choice((1, 1, 2, 4))):
            at = self.randrange(len(lines))
            key, line = lines[at].partition(":")[0], lines[at]
            word = self.text()
            changes = ([key + ": " + word], [key + ": " + json.dumps(word)], [], [line] * 30, ["  - " + line])
            lines[at : at + 1] = self.choice((*changes, [self.string(line)], [word, line]))
            lines = lines or [""]
        return "\n".join(lines).encode("utf-8", "surrogatepass")


def _places(holder: list[Any]) -> list[tuple[Any, Any]]:
    """Every container with each of its keys, a few hundred at most."""
    found: list[tuple[Any, Any]] = [(holder, 0)]
    for container, key in found:  # grows meanwhile
        value = container[key]
        if len(found) > 400:
            break
        found += [(value, name) for name in value] if isinstance(value, dict) else []
        found += [(value, at) for at in range(min(len(value), 40))] if isinstance(value, list) else []
    return found


class Case:
    def __init__(self, kind: str, number: int, seed: int) -> None:
        self.name = "%s:%d" % (kind, number)
        self.chance = Chance("%d:%s" % (seed, self.name))
        self.edits: dict[str, bytes] = {}
        self.runs: list[tuple[str, bytes]] = []


class Fuzzer:
    """Makes cases, runs them in one scene and judges what they left."""

    def __init__(self, directory: Path, seed: int) -> None:
        self.scene = Scene(directory)
        self.seed = seed
        self.image = self.scene.image
        self.session = self.scene.life("live").session
        self.transcript = self.session.transcript_path
        store = str(self.scene.store)
        self.records = [path for path in self.image.files if path.startswith(store) and not path.endswith(".lock")]
        claude = str(self.scene.repo / ".claude" / "completion-checkpoint") + "*"
        self.allowed = [store, claude, str(self.scene.repo / ".claude" / "async-tasks")]
        self.codes = {script: self._compiled(script) for script in protocol.EVENTS}
        self.counts: Counter[str] = Counter()
        _load_everything()

    def _compiled(self, script: str) -> tuple[Any, dict[str, str]]:
        path = support.HOOKS / (script + ".py")
        return compile(path.read_bytes(), str(path), "exec"), {"__name__": "__main__", "__file__": str(path)}

    def payloads(self) -> dict[str, dict[str, Any]]:
        session = self.session
        call = session.tool_call("Bash", {"command": COMMANDS[0], "description": "Ship it"})
        return {
            "session_start": session.start("resume"),
            "user_prompt_submit": session.prompt("canary ask: round the totals of the cart"),
            "pre_tool_use": call,
            "post_tool_use_failure": {**call, "hook_event_name": "PostToolUseFailure", "error": "Exit code 1"},
            "subagent_start": session._payload("SubagentStart", {"agent_id": "a1", "agent_type": "Explore"}, {}),
            "stop": session.stop("The guest cart is covered now."),
            "pre_compact": session.pre_compact(),
            "session_end": session.end(),
        }

    # Cases
    def make(self, kind: str, number: int) -> Case:
        case = Case(kind, number, self.seed)
        getattr(self, "_make_" + kind)(case)
        return case

    def _run_some(self, case: Case, *scripts: str) -> None:
        for script in case.chance.sample(scripts, 2 if case.chance.happens(0.15) else 1):
            case.runs.append((script, support.encode(self.payloads()[script])))

    def _make_payload(self, case: Case) -> None:
        chance = case.chance
        script = chance.choice(list(protocol.EVENTS))
        payload = self.payloads()[script]
        if script == "pre_tool_use":
            payload["tool_input"] = {"command": chance.choice(COMMANDS), "file_path": chance.text()}
            payload["tool_name"] = chance.choice(("Bash", "Bash", "Read", "Write", "Skill", "Grep"))
        elif script == "session_start":
            payload["source"] = chance.choice(("startup", "resume", "clear", "compact", "fork"))
        data = chance.encoded(chance.tree(payload)) if chance.happens(0.7) else chance.bytes(support.encode(payload))
        case.runs.append((script, data))

    def _make_transcript(self, case: Case) -> None:
        chance = case.chance
        lines = self.image.files[self.transcript].splitlines(keepends=True)
        for _ in range(chance.choice((1, 1, 2, 3, 8))):
            at = chance.randrange(len(lines) or 1)
            entry = json.loads(chance.choice(self.image.files[self.transcript].splitlines()))
            odd = chance.choice((b"null", b"[]", b"{", b"\0" * 100, b"[" * 3000, b'"x"')) + b"\n"
            mutated = chance.encoded(chance.tree(entry)).replace(b"\n", b" ") + b"\n"
            lines[at : at + 1] = chance.choice(([mutated], [mutated], [odd], [], [chance.bytes(mutated)]))
        case.edits[self.transcript] = b"".join(lines)
        self._run_some(case, "stop", "pre_compact", "session_end")

    def _make_checkpoint(self, case: Case) -> None:
        chance = case.chance
        good = {"what_was_done": "Moved it", "what_remains": ["Tests"], "tags": ["a"], "learnings": ["b"], "rating": 2}
        good["task"] = {"id": "parser", "title": "A parser", "remaining": ["Errors"], "blockers": []}
        good["reflection"] = {"what_was_done": "Split it", "key_insight": "Once", "search_terms": ["cart"]}
        data = chance.encoded(chance.tree(good))
        middle = (
            chance.choice(("", "", "-²", ".9" * 9, "-99999999999", chance.text())).replace("/", "").replace("\0", "")
        )
        ending = chance.choice(
            (".json", ".json", ".json.c0000000.123.claimed", ".json.d0000000.²².claimed", ".rejected")
        )
        name = ("completion-checkpoint" + middle).encode("utf-8", "replace")[:200].decode("utf-8", "ignore") + ending
        case.edits[str(self.scene.repo / ".claude" / name)] = chance.bytes(data) if chance.happens(0.3) else data
        self._run_some(case, "stop", "pre_compact", "session_end", "session_start")

    def _make_record(self, case: Case) -> None:
        chance = case.chance
        for path in chance.sample(self.records, chance.choice((1, 1, 1, 2, 5))):
            data = self.image.files[path]
            how = chance.random()
            if how < 0.5 and path.endswith(".json"):
                case.edits[path] = chance.encoded(chance.tree(json.loads(data)))
            else:
                case.edits[path] = chance.lines(data) if how < 0.8 else chance.bytes(data)
        self._run_some(case, *protocol.EVENTS)

    def _make_guard(self, case: Case) -> None:
        chance = case.chance
        rules: dict[str, Any] = {"tiers": {"git.clean": "log"}, "protected_branches": ["main"], "no_delete": ["docs/"]}
        match = {"program": "make", "words": "deploy", "unless": "--dry-run"}
        rules["rules"] = [{"id": "deploy", "tier": "ask", "reason": "deploys", "remedy": "Ask.", "match": match}]
        folder = self.scene.store if chance.happens(0.5) else self.scene.repo / ".claude"
        case.edits[str(folder / "guard.json")] = chance.encoded(chance.tree(rules))
        self._run_some(case, "pre_tool_use", "session_start")

    def _make_git(self, case: Case) -> None:
        chance = case.chance
        git = self.scene.repo / ".git"
        path = str(chance.choice((git / "HEAD", git / "config", git / "packed-refs", git / "refs" / "heads" / "main")))
        data = self.image.files.get(path, b"# pack-refs with: peeled\n%s refs/heads/main\n" % (b"a" * 40))
        case.edits[path] = chance.lines(data) if chance.happens(0.5) else chance.bytes(data)
        self._run_some(case, "session_start", "stop", "user_prompt_submit")

    # Running and judging
    def run(self, case: Case) -> list[str]:
        for path, data in case.edits.items():
            Path(path).write_bytes(data)
        problems: list[str] = []
        for script, data in case.runs:
            self.counts["hook runs"] += 1
            problems += self._hook(script, data)
        problems += self._stamps(case) + self._files(case)
        self.image.restore()
        return ["seed %d %s: %s" % (self.seed, case.name, problem) for problem in problems]

    def _hook(self, script: str, data: bytes) -> list[str]:
        code, names = self.codes[script]
        environment = support.clean_environment(self.scene.home, self.session.environment(pid=os.getpid()))
        options: Any = {"stdin": data, "env": environment, "cwd": str(self.scene.repo)}
        outcome = interposer.run(lambda: exec(code, dict(names)), lambda fd: watch.install(self.allowed, fd), **options)
        event = protocol.EVENTS[script]
        found = ["%r" % outcome] if outcome.code or outcome.stderr else []
        found += protocol.complaints(event, outcome.stdout.encode("utf-8", "surrogatepass"))
        strays = [stray for stray in outcome.operations if stray[0] != "import"]  # everything is loaded here already
        return ["%s: %s" % (event, line) for line in [*found, *("touched %s %s" % stray for stray in strays[:5])]]

    def _stamps(self, case: Case) -> list[str]:
        """Failure stamps of exceptions that are not meant to be raised."""
        found = []
        for path in support.failures(self.scene.store):
            try:
                stamp = json.loads(path.read_text("utf-8"))
                kind = getattr(builtins, str(stamp["error"]).partition(":")[0], None)
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                continue  # damaged on purpose
            if str(path) not in case.edits and isinstance(kind, type) and not issubclass(kind, OSError):
                found.append("%s: %s\n%s" % (stamp["event"], stamp["error"], str(stamp.get("detail"))[-900:]))
        return found

    def _files(self, case: Case) -> list[str]:
        """Records of others that changed, and files that are half or open to others."""
        found = []
        others = ("/episodes/", "/topics/", "/briefing.md", "/profiles/", "/archive/")
        has_config = any(path.endswith(("config.json", "project.json", "forgotten.json")) for path in case.edits)
        for path in self.image.changed():
            is_other = any(part in path for part in others) and IDS["live"][:8] not in path and "dead" not in path
            if path in self.image.files and path not in case.edits and not os.path.exists(path):
                found += ["lost " + path] if is_other and not has_config and "/.git" not in str([*case.edits]) else []
            elif os.path.isfile(path) and path.startswith(str(self.scene.store)) and path not in case.edits:
                found += ["open to others: " + path] if os.stat(path).st_mode & 0o077 else []
                found += ["left " + path] if path.endswith(".tmp") else []
                found += ["not readable: " + path] if path.endswith(".json") and not _is_json(path) else []
        return found


def _is_json(path: str) -> bool:
    try:
        json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError):
        return False
    return True


def _load_everything() -> None:
    """What is loaded here need not be loaded in every child."""
    root = support.LIB / "harness_memory"
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[0] not in ("cli", "setup") and parts[-1] != "__init__":
            __import__("harness_memory." + ".".join(parts))


def cases(seed: int) -> Iterator[tuple[str, int]]:
    """Kinds and numbers without end, each kind by its share."""
    row = [kind for kind, share in SHARES.items() for _ in range(share)]
    random.Random(seed).shuffle(row)
    taken: Counter[str] = Counter()
    while True:
        for kind in row:
            yield kind, taken[kind]
            taken[kind] += 1


def campaign(directory: Path, seed: int, ends: float) -> dict[str, Any]:
    fuzzer = Fuzzer(directory, seed)
    problems: list[str] = []
    try:
        for kind, number in cases(seed):
            if time.monotonic() > ends:
                break
            fuzzer.counts["cases"] += 1
            problems += fuzzer.run(fuzzer.make(kind, number))
    finally:
        fuzzer.scene.close()
    return {"counts": dict(fuzzer.counts), "problems": problems}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", metavar="KIND:NUMBER", help="run this one again and show it")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="harness-memory-fuzz-") as directory:
        fuzzer = Fuzzer(Path(directory), options.seed)
        kind, _, number = options.case.partition(":")
        case = fuzzer.make(kind, int(number))
        print("\n".join("%s\n%r" % (name, data[:3000]) for name, data in [*case.edits.items(), *case.runs]))
        problems = fuzzer.run(case)
        fuzzer.scene.close()
    print("\n".join([*problems, "%d problems" % len(problems)]))
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
