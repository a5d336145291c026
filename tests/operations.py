"""Every hook and every command that writes, as something to be done in a `Scene`."""

from __future__ import annotations

import os
import time
from typing import Any, Callable

import protocol
from interposer import Outcome, Plan
from scene import IDS, Scene

from harness_memory.guard import allowance

_ADDS = (
    "prompt",
    "first prompt",
    "denied",
    "allowed",
    "asked",
    "checkpoint",
    "briefing rollback",
    "rate",
    "allow-once",
    "task ",
    "note promote",
)
# What is not synced, since the next hook or the same command makes it again, or nothing but a rating is lost.
_UNSYNCED = ("prompt", "first prompt", "stop of a stranger", "rate", "backfill")


class Operation:
    """Something that may be done in a scene, with a session at hand."""

    script = event = ""  # of a hook
    session = "live"

    def prepare(self, scene: Scene) -> None:
        """What must have been done before."""

    def __init__(self, name: str, run: Callable[[Scene, Plan], Outcome]) -> None:
        self.name = name
        self.run = run
        self.converges = not name.startswith(_ADDS)  # done twice it leaves what it does once
        self.is_synced = not name.startswith(_UNSYNCED)  # once it is done, no power cut undoes it
        self.is_hook = bool(self.script)
        self.must_stop = name in ("denied call", "asked call")
        self.forgets = ""  # words that occur nowhere when it is done

    def __repr__(self) -> str:
        return self.name


class HookRun(Operation):
    """What may not fail, whatever happens."""

    def __init__(self, name: str, script: str, session: str, payload: Callable[[Any], dict[str, Any]]) -> None:
        self.script = script
        self.event = protocol.EVENTS[script]
        self.session = session
        self.payload = payload
        super().__init__(name, self._run)

    def _run(self, scene: Scene, plan: Plan) -> Outcome:
        return scene.hook(self.script, self.session, self.payload(scene.life(self.session).session), plan)


def _call(name: str, tool: str, given: dict[str, str]) -> HookRun:
    return HookRun(name, "pre_tool_use", "live", lambda session: session.tool_call(tool, given))


class AllowedCall(HookRun):
    """One that a person has allowed, once."""

    def __init__(self) -> None:
        given = {"command": "git reset --hard"}
        super().__init__("allowed call", "pre_tool_use", "live", lambda session: session.tool_call("Bash", given))

    def prepare(self, scene: Scene) -> None:
        allowance.give(str(scene.store), "Bash", {"command": "git reset --hard"}, str(scene.repo))


class TidyingStart(HookRun):
    """One that finds more than is kept, and what others have left."""

    def __init__(self) -> None:
        super().__init__("start that tidies", "session_start", "new", lambda session: session.start())

    def prepare(self, scene: Scene) -> None:
        limits = scene.store / "config.json"
        limits.write_text('{"retention_episodes": 1}', "utf-8")
        limits.chmod(0o600)
        tasks = scene.repo / ".claude" / "async-tasks"
        tasks.mkdir()
        (tasks / "old.json").write_text("{}", "utf-8")
        os.utime(str(tasks / "old.json"), (1, 1))


HOOKS = [
    HookRun("start", "session_start", "new", lambda session: session.start()),
    HookRun("resume", "session_start", "live", lambda session: session.start("resume")),
    HookRun("resume after an end", "session_start", "ended", lambda session: session.start("resume")),
    HookRun("start after compacting", "session_start", "live", lambda session: session.start("compact")),
    HookRun("start after clearing", "session_start", "live", lambda session: session.start("clear")),
    HookRun("start of a fork", "session_start", "new", lambda session: session.start("fork")),
    TidyingStart(),
    HookRun("prompt that is a skill", "user_prompt_submit", "live", lambda session: session.prompt("/melt now")),
    HookRun("prompt", "user_prompt_submit", "live", lambda session: session.prompt("How are the totals rounded?")),
    HookRun("first prompt", "user_prompt_submit", "new", lambda session: session.prompt("Which stock is counted?")),
    HookRun("stop", "stop", "live", lambda session: session.stop("The guest cart is covered now.")),
    HookRun("stop of a stranger", "stop", "stray", lambda session: session.stop("That was before.")),
    HookRun("before compacting", "pre_compact", "live", lambda session: session.pre_compact()),
    HookRun("end", "session_end", "live", lambda session: session.end()),
    _call("quiet call", "Bash", {"command": "ls -l"}),
    _call("denied call", "Bash", {"command": "rm -rf ~"}),
    _call("asked call", "Bash", {"command": "git reset --hard"}),
    AllowedCall(),
    _call("skill", "Skill", {"skill": "melt"}),
    _call("trigger", "Bash", {"command": "make release"}),
    HookRun("subagent", "subagent_start", "live", lambda session: session._payload("SubagentStart", {}, {})),
]


def _command(*words: str, stdin: str = "") -> Operation:
    def run(scene: Scene, plan: Plan) -> Outcome:
        return scene.command(words, stdin.encode(), plan)

    return Operation(" ".join(words[1:]), run)


def _memory(*words: str, stdin: str = "") -> Operation:
    return _command("memory", *words, stdin=stdin)


def _forget(*words: str, forgets: str) -> Operation:
    operation = _memory("forget", *words, "--yes")
    operation.forgets = forgets
    return operation


class Uninstall(Operation):
    def __init__(self) -> None:
        super().__init__("uninstall", lambda scene, plan: scene.install(plan, out=True))

    def prepare(self, scene: Scene) -> None:
        assert scene.install(Plan()).code == 0


_TOMORROW = time.strftime("%Y-%m-%d", time.localtime(time.time() + 2 * 86400))
_ENDED = IDS["ended"][:8]

COMMANDS = [
    _memory("checkpoint", "--done", "Weighed it", "--remains", "Ship it", "--session", IDS["live"]),
    _memory("remember", "Parcels are weighed twice", "--topic", "parcels"),
    _memory("remember", "Deploys take an hour", "--topic", "deploy"),
    _memory("note", "add", "colours", "Red is for errors", "Green is for none"),
    _memory("note", "edit", "deploy", "--drop", "It came up twice"),
    _memory("note", "remove", "cart"),
    _memory("note", "promote", "deploy"),
    _memory("note", "promote", "here"),
    _memory("note", "supersede", "older", "cart"),
    _memory("lint", "--fix"),
    _memory("compact"),
    _forget(_ENDED, forgets="Round the totals"),
    _forget(IDS["old"][:8], forgets="first plan"),
    _forget("cart", forgets="cart.md"),
    _forget("--text", "forty of them", forgets="forty of them"),
    _memory("briefing", "set", stdin="# Shop\n\n- Deploys are on Tuesday\n"),
    _memory("briefing", "rollback"),
    _memory("profile", "set", "melt", stdin="# melt\n\n- Mind the tin\n"),
    _memory("consolidate", "--done"),
    _memory("thread", "close", _ENDED),
    _memory("thread", "reopen", _ENDED),
    _memory("thread", "rename", _ENDED, "Totals"),
    _memory("task", "start", "Gift cards", "--next", "Design"),
    _memory("task", "checkpoint", "user-login", "--note", "Half", "--next", "Mail"),
    _memory("task", "done", "user-login"),
    _memory("rate", "melt", "2", "--note", "Poor"),
    _memory("backfill"),
    _memory("prune"),
    _memory("archive", "--before", _TOMORROW, "--open"),
    _memory("restore", "--all"),
    _memory("rebuild"),
    _command("guard", "allow-once", "git reset --hard", stdin="yes\n"),
    Operation("install", lambda scene, plan: scene.install(plan)),
    Uninstall(),
]

ALL: list[Operation] = [*HOOKS, *COMMANDS]
