"""Every file that hooks and commands read, damaged as a disk does it: nothing stops, nothing else is lost.

File by file: empty, half of it, its last byte gone, garbage, zeros (what a power cut leaves) and a gigabyte and a half.
All hooks run, then the commands: exit codes, no unexpected exception, every other fact as it was, memory within bounds.
A session that starts afterwards is recorded, and after `rebuild` no view is wrong.
"""

from __future__ import annotations

import json
import os
import random
import resource
import time
from pathlib import Path
from typing import Any, Callable

import support
from crash import HOOKS, IDS, Scene, command, manners, records
from interposer import Plan

HUGE_BYTES = 1536 << 20
ADDRESS_SPACE_BYTES = 700 << 20  # enough for a hook, not for a huge file
OUR_MISTAKES = ("TypeError", "KeyError", "AttributeError", "IndexError", "NameError", "Unicode", "RecursionError")
OUR_MISTAKES += ("MemoryError", "AssertionError", "ZeroDivisionError", "OverflowError", "ValueError", "JSONDecodeError")
READ_BY_GIT = ("HEAD", "config", "packed-refs", "main")
COMMANDS = [command(*words.split()) for words in ("status", "list", "search canary", "doctor", "open", "verify")]
COMMANDS.append(command("rebuild"))


def damages(chance: random.Random) -> dict[str, Callable[[bytes], bytes]]:
    return {
        "empty": lambda data: b"",
        "half": lambda data: data[: len(data) // 2],
        "less one": lambda data: data[:-1],
        "garbage": lambda data: bytes(chance.randrange(256) for _ in range(max(64, min(4096, len(data))))),
        "zeros": lambda data: bytes(len(data) or 512),
        "huge": lambda data: data,
    }


def inputs(scene: Scene) -> list[str]:
    """Files that are read: of the store, of the client and of git."""
    found = []
    for path in scene.image.files:
        parts = Path(path).parts
        if ".git" in parts:
            found += [path] if parts[-1] in READ_BY_GIT and "logs" not in parts else []
        elif ".claude" in parts and not path.endswith(".lock"):
            found.append(path)
    return sorted(found)


class Trial:
    def __init__(self, scene: Scene, path: str, kind: str, chance: random.Random) -> None:
        self.scene = scene
        self.name = "%s, %s" % (os.path.relpath(path, str(scene.top)), kind)
        self.path = path
        self.kind = kind
        self.problems: list[str] = []
        scene.image.restore()
        before, modified = records(scene.store), os.stat(path).st_mtime
        Path(path).write_bytes(damages(chance)[kind](scene.image.files[path]))
        if kind == "huge":
            os.truncate(path, HUGE_BYTES)
        os.utime(path, (modified, modified))
        left = records(scene.store) if kind != "huge" else {}
        self.others = {name: text for name, text in before.items() if left.get(name) == text}  # what it did not hold

    def run(self) -> list[str]:
        before = resource.getrlimit(resource.RLIMIT_AS)
        if self.kind == "huge":
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, before[1]))
        try:
            for writer in [*HOOKS, *COMMANDS]:
                self.problems += [
                    "%s: %s" % (writer.name, each) for each in manners(writer, writer.run(self.scene, Plan()))
                ]
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
        self.check_stamps()
        self.check_others()
        self.check_next()
        os.utime(self.path) if os.path.exists(self.path) else None  # so that the next restore sees it
        return ["%s: %s" % (self.name, problem) for problem in self.problems]

    def check_stamps(self) -> None:
        for path in support.failures(self.scene.store):
            try:
                stamp = json.loads(path.read_text("utf-8"))
            except ValueError:
                continue  # the damaged one
            if str(stamp["error"]).startswith(OUR_MISTAKES):
                self.problems.append("%s: %s\n%s" % (stamp["event"], stamp["error"], str(stamp.get("detail"))[-700:]))

    def check_others(self) -> None:
        """Notes, pages and episodes of ended sessions are as they were."""
        now = records(self.scene.store) if self.others else {}
        for name, text in self.others.items():
            is_settled = any(part in name for part in ("/topics/", "briefing", "/profiles/", "/episodes/"))
            if is_settled and IDS["live"][:8] not in name and now.get(name) != text:
                self.problems.append("%s is not as it was" % name)

    def check_next(self) -> None:
        life = self.scene.life("next")
        life.start()
        life.turn("What is next?", "Next comes the harvest of the fields.", "harvest.py")
        life.end()
        episodes = [path for path in support.episode_files(self.scene.store) if life.session.id[:8] in path.name]
        if len(episodes) != 1 or b"harvest of the fields" not in episodes[0].read_bytes():
            self.problems.append("the next session left no episode: %s" % episodes)


def campaign(directory: Path, seed: int, ends: float) -> dict[str, Any]:
    chance = random.Random(seed)
    counts = {"damaged files": 0, "runs": 0}
    problems: list[str] = []
    scene = Scene(directory / "scene")
    try:
        cases = [(path, kind) for path in inputs(scene) for kind in damages(chance)]
        chance.shuffle(cases)
        for path, kind in cases:
            if time.monotonic() >= ends:
                break
            problems += Trial(scene, path, kind, chance).run()
            counts["damaged files"] += 1
            counts["runs"] += len(HOOKS) + len(COMMANDS) + 4
    finally:
        scene.close()
    return {"counts": counts, "problems": problems}
