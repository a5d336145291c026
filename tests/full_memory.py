"""A memory with something in every place that can hold text, made by the real hooks and the real command line."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator

import support
from commandline import World
from life import Life

Say = Callable[[str], str]
DAY = 86400

READING, WRITING = support.command_lines("verbs/reading.txt"), support.command_lines("verbs/writing.txt")


def fill(home: Path, repo: Path, say: Say) -> Memory:
    """`say("prompt")` is what stands there; every name of a place is given once."""
    memory = Memory(home, repo)
    _put_away(memory, say)
    _curate(memory, say)
    _work(memory, say)
    _die(memory, say)
    return memory


def made(top: Path, words: str = "canary") -> Memory:
    """The same in a new home below `top`, beside its project."""
    (top / "home" / ".claude").mkdir(parents=True)
    return fill(top / "home", support.make_repo(top / "project"), lambda place: "%s %s" % (words, place))


class Memory(World):
    """A world whose project has lived; `life` is the session that worked last and ended well."""

    life: Life

    def play(self, ask: str, answer: str, files: Iterable[str] = (), pid: int = 0) -> Life:
        life = Life(self.home, self.repo, pid=pid or os.getpid())
        life.start()
        life.turn(ask, answer, *files)
        return life

    def events(self, ask: str) -> Iterator[tuple[str, support.Result]]:
        """What every hook says in the life of one more session."""
        life = Life(self.home, self.repo, pid=os.getpid())
        session = life.session
        yield "start", life.start()
        yield "prompt", life.run("user_prompt_submit", session.prompt(ask))
        yield "deny", life.run("pre_tool_use", session.tool_call("Bash", {"command": "rm -rf ~"}))
        yield "ask", life.run("pre_tool_use", session.tool_call("Bash", {"command": "git reset --hard"}))
        yield "command", life.run("pre_tool_use", session.tool_call("Bash", {"command": "make deploy"}))
        yield "skill", life.run("pre_tool_use", session.tool_call("Skill", {"skill": "deploy"}))
        subagent = {**session.start(), "hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "x"}
        yield "subagent", life.run("subagent_start", subagent)
        life.transcript.turn(ask, "That is done.", files=[self.repo / "new.py"])
        yield "stop", life.stop("That is done.")
        yield "pre-compact", life.compact()
        for source in ("compact", "resume", "fork", "clear"):
            yield source, life.start(source)
        yield "typed skill", life.run("user_prompt_submit", session.prompt("/deploy now"))
        yield "end", life.end()

    def do(self, *words: str, code: int = 0, **options: Any) -> support.Result:
        result = self.run("memory", *words, **options)
        assert result.code == code, (words, result)
        return result


def _put_away(memory: Memory, say: Say) -> None:
    """A session in an archive."""
    life = memory.play(say("archived ask"), say("archived answer"), [say("archived file") + ".py"])
    life.end()
    tomorrow = time.strftime("%Y-%m-%d", time.localtime(time.time() + 2 * DAY))
    memory.do("archive", "--before", tomorrow, "--open")


def _curate(memory: Memory, say: Say) -> None:
    for number in (1, 2):
        memory.do("briefing", "set", stdin=("# %s\n" % say("briefing %d" % number)).encode())
    memory.do("profile", "set", "deploy", stdin=("- %s\n" % say("profile")).encode())
    memory.do(
        *("note", "add", "gateway rule", say("note fact"), "--description", say("note description")),
        *("--trigger", "command: make deploy", "--trigger", "path: infra/**"),
    )
    memory.do("note", "add", "outdated rule", say("removed note"))
    memory.do("note", "remove", "outdated-rule")
    memory.do("task", "start", "auth", "--next", say("task next"))
    memory.do("task", "checkpoint", "auth", "--note", say("task note"), "--blocked", say("task blocker"))
    memory.do("rate", "deploy", "1", "--note", say("rating"))


def _work(memory: Memory, say: Say) -> None:
    life = memory.life = memory.play(say("ask"), say("answer"), [say("file") + ".py"])
    (memory.repo / ".claude").mkdir(exist_ok=True)
    checkpoint = {
        "what_was_done": say("checkpoint done"),
        "what_remains": [say("checkpoint remains")],
        "learnings": [say("checkpoint learned")],
        "tags": [say("checkpoint tag")],
        "skill_used": "deploy",
        "task": {"id": "auth", "title": say("checkpoint task"), "remaining": [say("checkpoint task remains")]},
    }
    (memory.repo / ".claude" / "completion-checkpoint.json").write_text(json.dumps(checkpoint), "utf-8")
    life.prompt(say("second ask"))
    todos = [{"content": say("todo"), "status": "pending", "activeForm": "x"}]
    life.transcript.tool_result(life.transcript.tool_use("TodoWrite", {"todos": todos}), "ok")
    life.transcript.bash(say("command") + " --one", "no", exit_code=1).bash(say("command") + " --two", "yes")
    life.transcript.text(say("second answer")).turn_end().title(say("title"))
    life.stop(say("second answer"))
    for command in ("rm -rf ~", "git reset --hard"):
        life.run("pre_tool_use", life.session.tool_call("Bash", {"command": "%s # %s" % (command, say("stopped"))}))
    life.run("pre_tool_use", life.session.tool_call("Skill", {"skill": "deploy"}))
    life.compact()
    life.end()
    (thread,) = [thread["id"] for thread in life.threads() if thread["status"] == "open"][:1]
    memory.do("thread", "rename", thread, say("thread title"))


def _die(memory: Memory, say: Say) -> None:
    """A session that no hook has buried yet, with a note of its own and a checkpoint nobody claimed."""
    with support.Client() as client:
        life = memory.play(say("dead ask"), say("dead answer"), pid=client.pid)
        env = {"CLAUDE_CODE_SESSION_ID": life.session.id}
        memory.do("note", "add", "local rule", say("local note"), "--scope", "local", env=env)
        life.prompt(say("unanswered"))
    checkpoint = {"what_was_done": say("unclaimed"), "session_id": life.session.id}
    (memory.repo / ".claude" / "completion-checkpoint-9.json").write_text(json.dumps(checkpoint), "utf-8")
