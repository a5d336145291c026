"""Whatever people and sessions do, in whatever order: afterwards there is nothing to repair.

`STEPS` are the moves; each takes the world and a source of chance, and may do nothing where it does not
apply. Commands may refuse (exit code 1 or 2); nothing may crash, and no hook may fail.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Callable

import pytest
import support
from commandline import World
from life import Life, failures

SEEDS = range(support.volume(int(os.environ.get("HARNESS_SEQUENCES", "3"))))
LENGTH = 40
TOPICS = ("cart", "parser", "Über uns", "deploy", "editor")
SUBJECTS = ("Totals", "The parser", "Access tokens", "Deploys", "The editor", "Ünïcode: names")
CLAIMS = ("expire in 15 minutes", "expire in 20 minutes", "need `make` first", "broke yesterday", "are rounded # once")
SCOPES = ("user", "project", "local")


class Play:
    """A world, the sessions that live in it, and what chance chooses."""

    def __init__(self, world: World, pid: int, seed: int) -> None:
        self.world = world
        self.pid = pid
        self.chance = random.Random(seed)
        self.lives: list[Life] = []
        self.done: list[str] = []

    def pick(self, *of: str) -> str:
        return self.chance.choice(of)

    def fact(self) -> str:
        return "%s %s" % (self.pick(*SUBJECTS), self.pick(*CLAIMS))

    def memory(self, *words: str, stdin: bytes = b"") -> support.Result:
        self.done.append(" ".join(words))
        inside = self.chance.choice(self.lives).session.id if self.lives and self.chance.random() < 0.7 else None
        result = self.world.memory(*words, stdin=stdin, env={"CLAUDE_CODE_SESSION_ID": inside, "EDITOR": None})
        assert result.code in (0, 1, 2), (result, self.done)
        return result

    def id(self) -> str:
        return self.chance.choice(self.lives).session.id[:8] if self.lives else "last"


# Sessions ------------------------------------------------------------------------------------------


def begin(play: Play) -> None:
    if len(play.lives) < 4:
        play.lives.append(Life(play.world.home, play.world.repo, pid=play.pid))
    play.chance.choice(play.lives).start(play.pick("startup", "resume", "compact"))


def turn(play: Play) -> None:
    if play.lives:
        play.chance.choice(play.lives).turn(play.fact() + "?", play.fact() + ", I think.", play.pick("a.py", "b/c.py"))


def compress(play: Play) -> None:
    if play.lives:
        play.chance.choice(play.lives).compact()


def end(play: Play) -> None:
    if play.lives:
        play.chance.choice(play.lives).end()


def checkpoint(play: Play) -> None:
    play.memory("checkpoint", "--done", play.fact(), "--remains", play.fact(), "--session", play.id())


# People --------------------------------------------------------------------------------------------


def remember(play: Play) -> None:
    topic = ("--topic", play.pick(*TOPICS)) if play.chance.random() < 0.5 else ()
    fix = ("--fix",) if play.chance.random() < 0.3 else ()
    play.memory("remember", play.fact(), "--scope", play.pick(*SCOPES), *topic, *fix)


def add_note(play: Play) -> None:
    words = ("note", "add", play.pick(*TOPICS), play.fact(), play.fact(), "--scope", play.pick(*SCOPES))
    play.memory(*words, "--type", play.pick("user", "feedback", "project", "reference"))


def change_note(play: Play) -> None:
    name = play.pick(*TOPICS)
    moves: tuple[tuple[str, ...], ...] = (
        ("edit", name, "--verified"),
        ("edit", name, "--drop", play.pick(*SUBJECTS)),
        ("edit", name, "--description", play.fact()),
        ("remove", name),
        ("promote", name),
        ("supersede", name, play.pick(*TOPICS)),
    )
    play.memory("note", *play.chance.choice(moves))


def write_by_hand(play: Play) -> None:
    """Somebody opens the file with an editor of their own."""
    for project in play.world.root.glob("*/project.json"):
        topics = project.parent / "LEARNING" / "topics"
        if topics.is_dir():
            path = topics / ("by-hand-%d.md" % play.chance.randrange(3))
            path.write_text("# By hand\n\n- %s\n" % play.fact(), "utf-8")
            path.chmod(0o600)


def tidy(play: Play) -> None:
    play.memory(*play.chance.choice((("lint",), ("lint", "--fix"), ("compact",), ("compact", "--dry-run"))))


def look(play: Play) -> None:
    words = (("list",), ("list", "--notes"), ("show", play.id()), ("show", play.pick(*TOPICS)), ("search", "totals"))
    play.memory(*play.chance.choice(words))


def curate(play: Play) -> None:
    play.memory("briefing", "set", stdin=("# Us\n\n- %s\n- %s\n" % (play.fact(), play.fact())).encode())


def forget(play: Play) -> None:
    moves: tuple[tuple[str, ...], ...] = (
        (play.id(),),
        (play.pick(*TOPICS),),
        ("--text", play.pick(*SUBJECTS, *CLAIMS)),
        ("--type", "feedback"),
        ("--scope", "user"),
        ("--session", play.id()),
    )
    yes = ("--yes",) if play.chance.random() < 0.7 else ()
    play.memory("forget", *play.chance.choice(moves), *yes)


def keep_track(play: Play) -> None:
    task = play.pick("login", "tax")
    moves: tuple[tuple[str, ...], ...] = (
        ("thread", play.pick("close", "reopen"), play.id()),
        ("thread", "rename", play.id(), play.fact()),
        ("task", "start", play.fact(), "--id", task),
        ("task", "checkpoint", task, "--note", play.fact(), "--next", play.fact()),
        ("task", "done", task),
        ("checkpoint", "--done", play.fact(), "--task-id", task, "--task-remaining", play.fact()),
        ("open",),
        ("rate", "melt", play.pick("1", "5"), "--note", play.fact()),
        ("consolidate", "--done"),
    )
    play.memory(*play.chance.choice(moves))


def retire(play: Play) -> None:
    for path in play.world.home.glob(".claude/projects/*/*.jsonl"):
        os.utime(str(path), (1, time.time() - 3600))  # else they would pass for sessions at work
    tomorrow = time.strftime("%Y-%m-%d", time.localtime(time.time() + 86400))
    moves: tuple[tuple[str, ...], ...] = (
        ("prune", "--older-than", "0d"),
        ("archive", "--before", tomorrow),
        ("archive", "--before", tomorrow, "--open"),
        ("restore", "--all"),
        ("restore", play.id()),
        ("backfill",),
    )
    play.memory(*play.chance.choice(moves))


STEPS: tuple[Callable[[Play], None], ...] = (
    begin,
    turn,
    turn,
    compress,
    end,
    checkpoint,
    remember,
    remember,
    add_note,
    change_note,
    write_by_hand,
    tidy,
    look,
    curate,
    forget,
    keep_track,
    keep_track,
    retire,
)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_to_repair(home: Path, repo: Path, client: support.Client, seed: int) -> None:
    play = Play(World(home, repo), client.pid, seed)
    begin(play)
    for _ in range(LENGTH):
        play.chance.choice(STEPS)(play)
    Life(home, repo, pid=client.pid).start()  # the next start lists what was written by hand
    assert failures(play.world.root) == []
    found = play.world.json("verify")["findings"]
    assert found == [], play.done
    for rebuilt in play.world.json("rebuild"):
        assert rebuilt["changed"] == [], play.done
    assert play.world.json("verify")["findings"] == []
