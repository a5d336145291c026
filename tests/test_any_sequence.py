"""Whatever people and sessions do, in any order: afterwards `verify` finds nothing and `rebuild` changes nothing."""

from __future__ import annotations

import json
import os
import random
import re
import time
from pathlib import Path

import pytest
import support
from commandline import World
from life import Life, failures

SEEDS = range(int(os.environ.get("HARNESS_SEQUENCES", "3")))
LENGTH = 40
WORDS = json.loads((support.DATA / "sequence" / "words.json").read_text("utf-8"))
# One command a line, its words separated by `|`.
COMMANDS = support.lines("sequence/commands.txt")


class Play:
    """A world, the sessions in it, and what chance chooses."""

    def __init__(self, world: World, pid: int, seed: int) -> None:
        self.world = world
        self.pid = pid
        self.chance = random.Random(seed)
        self.lives: list[Life] = []
        self.done: list[str] = []

    def word(self, name: str) -> str:
        if name == "fact":
            return "%s %s" % (self.word("subject"), self.word("claim"))
        if name == "id":
            return self.chance.choice(self.lives).session.id[:8] if self.lives else "last"
        return self.chance.choice(WORDS[name])

    def step(self) -> None:
        kind = self.chance.random()
        if kind < 0.35:
            self.session_step()
        elif kind < 0.4:
            self.write_by_hand()
        else:
            self.command(self.chance.choice(COMMANDS))

    def session_step(self) -> None:
        if len(self.lives) < 4 and self.chance.random() < 0.3:
            self.lives.append(Life(self.world.home, self.world.repo, pid=self.pid))
            self.lives[-1].start()
        life = self.chance.choice(self.lives)
        what = self.chance.choice(("turn", "turn", "start", "compact", "end"))
        self.done.append("%s of %s" % (what, life.session.id[:8]))
        if what == "turn":
            files = self.chance.choice(("a.py", "b/c.py"))
            life.turn(self.word("fact") + "?", self.word("fact") + ", I think.", files)
        elif what == "start":
            life.start(self.chance.choice(("startup", "resume", "compact")))
        else:
            (life.compact if what == "compact" else life.end)()

    def command(self, line: str) -> None:
        """A command may refuse (exit code 1 or 2); it may not crash."""
        if line.startswith(("prune", "archive", "backfill")):
            for path in self.world.home.glob(".claude/projects/*/*.jsonl"):
                os.utime(str(path), (1, time.time() - 3600))  # else they would pass for running sessions
        words = [re.sub(r"\{(\w+)\}", lambda match: self.word(match.group(1)), word) for word in line.split("|")]
        self.done.append(" ".join(words))
        inside = self.chance.choice(self.lives).session.id if self.chance.random() < 0.7 else None
        page = ("# Us\n\n- %s\n- %s\n" % (self.word("fact"), self.word("fact"))).encode()
        result = self.world.memory(*words, stdin=page, env={"CLAUDE_CODE_SESSION_ID": inside, "EDITOR": None})
        assert result.code in (0, 1, 2), (result, self.done)

    def write_by_hand(self) -> None:
        """A note written with an editor."""
        for topics in self.world.root.glob("*/LEARNING/topics"):
            path = topics / ("by-hand-%d.md" % self.chance.randrange(3))
            path.write_text("# By hand\n\n- %s\n" % self.word("fact"), "utf-8")
            path.chmod(0o600)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_left_to_repair(home: Path, repo: Path, client: support.Client, seed: int) -> None:
    play = Play(World(home, repo), client.pid, seed)
    play.lives.append(Life(home, repo, pid=client.pid))
    play.lives[0].start()
    for _ in range(LENGTH):
        play.step()
    Life(home, repo, pid=client.pid).start()  # lists what was written by hand
    assert failures(play.world.root) == []
    assert play.world.json("verify")["findings"] == [], play.done
    before = play.world.files()
    play.world.memory("rebuild")
    after = play.world.files()
    assert [name for name in {*before, *after} if before.get(name) != after.get(name)] == [], play.done
    assert play.world.json("verify")["findings"] == []
