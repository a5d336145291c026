#!/usr/bin/env python3
"""Every file that is read, damaged in every way a disk knows: nothing stops, nothing else is lost, the damage is named.

    python3 bench/damage.py [--seed 1] [--minutes 10] [--only PART-OF-A-PATH]

A home in which everything is in use; then, file by file: empty, half of it, its last byte gone, garbage, as many
zeros (what a power cut leaves), and a gigabyte and a half. The hooks that read it run, then the commands: exit
codes, no failure that is a mistake of ours, a bounded time and memory, every other fact as it was, and `verify`
names the file. Afterwards a whole session works, and `rebuild` heals what can be made anew.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Iterator, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

import circumstances
import scene
import support
from interposer import Plan
from life import Life

from harness_memory.base import settings
from harness_memory.guard import allowance

HUGE_BYTES = 1536 << 20
HOOK_SECONDS = settings.DEADLINE_SECONDS + settings.WATCHDOG_GRACE_SECONDS + 0.7
COMMAND_SECONDS = 10.0
HOOK_MEMORY_MB = 120
ADDRESS_SPACE_MB = 600
OUR_MISTAKES = (
    *("TypeError", "KeyError", "AttributeError", "IndexError", "NameError", "UnicodeError", "UnicodeDecodeError"),
    *("UnicodeEncodeError", "RecursionError", "MemoryError", "AssertionError", "ZeroDivisionError", "OverflowError"),
    *("ValueError", "JSONDecodeError", "StopIteration", "error", "EOFError"),
)

Case = Tuple[str, str]  # the file, as a path below the top; the damage
NEWCOMERS = {
    name: "%08x-0000-4000-8000-000000000000" % number for number, name in enumerate(("new", "tree", "after"), 1)
}


def damages(chance: random.Random) -> dict[str, Callable[[bytes], bytes]]:
    return {
        "empty": lambda data: b"",
        "half": lambda data: data[: len(data) // 2],
        "less one": lambda data: data[:-1],
        "garbage": lambda data: bytes(chance.randrange(256) for _ in range(max(64, min(4096, len(data))))),
        "zeros": lambda data: bytes(len(data) or 512),
        "huge": lambda data: data,
    }


class Land(scene.Scene):
    """The scene, with a file in every place where one is read."""

    def __init__(self, top: Path) -> None:
        super().__init__(top)
        self.tree = top / "tree"
        self.client = support.Client(support.CAMPAIGN_SECONDS)
        try:
            _furnish(self)
            self.save()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.client.kill()
        super().close()

    def newcomer(self, name: str) -> Life:
        return Life(self.home, self.tree if name == "tree" else self.repo, NEWCOMERS[name], pid=self.client.pid)

    def files(self) -> list[str]:
        """What is read of the store, of the client's files and of git's."""
        inputs = [path for path in self.saved if not os.path.isdir(path) and not _is_unread(path)]
        return sorted(os.path.relpath(path, str(self.top)) for path in inputs)


def _furnish(land: Land) -> None:
    say, store = land.world.memory, land.store
    assert land.install(Plan()).code == 0
    (store / "config.json").write_text('{"retention_days": 80, "recall_items": 2}\n', "utf-8")
    rules = {"tiers": {"git.clean": "deny"}, "rules": [_rule("deploy")]}
    (store / "guard.json").write_text(json.dumps(rules), "utf-8")
    (land.repo / ".claude" / "guard.json").write_text(json.dumps({"rules": [_rule("ship")]}), "utf-8")
    for path in (store / "config.json", store / "guard.json"):
        path.chmod(0o600)
    support.git(land.repo, "worktree", "add", "-q", str(land.tree))
    support.git(land.repo, "pack-refs", "--all")
    live = land.life("live")
    agent = support.Transcript(
        live.transcript.path.with_suffix("") / "subagents" / "agent-a.jsonl", live.session.id, land.repo
    )
    agent.prompt("You are a subagent").write(land.repo / "by-agent.py").text("Written.")
    agent.path.write_bytes(agent.path.read_bytes().replace(b'"isSidechain":false', b'"isSidechain":true'))
    support.run_hook("stop", b"{", home=land.home, env=live.session.environment())
    empty = support.Session(land.repo, land.home).transcript().prompt("Is anybody there?").path
    os.utime(str(empty), (time.time() - 86400,) * 2)
    say("consolidate", "--done")
    say("forget", "--text", "zanzibar matters", "--yes")
    say("forget", "--text", "It came up", "--yes")
    say("backfill")
    say("note", "remove", "older")
    say("rebuild", "--all-projects")
    allowance.give(str(store), "Bash", {"command": "git reset --hard"}, str(land.repo))
    live.run("pre_tool_use", live.session.tool_call("Skill", {"skill": "melt"}))
    tasks = land.repo / ".claude" / "async-tasks"
    tasks.mkdir()
    (tasks / "one.json").write_text("{}", "utf-8")


def _rule(word: str) -> dict[str, Any]:
    match = {"program": "make", "words": word}
    return {"id": word, "tier": "ask", "reason": word + "s", "remedy": "Ask first.", "match": match}


def _is_unread(path: str) -> bool:
    parts = path.split(os.sep)
    if ".git" in parts:
        kept = ("HEAD", "config", "packed-refs", "commondir", "gitdir", ".git", "description", "main")
        return parts[-1] not in kept or "logs" in parts or "objects" in parts
    return ".claude" not in parts and parts[-1] != ".git"


# What is run ---------------------------------------------------------------------------------------


class Trial:
    """One damage, and what comes of it."""

    def __init__(self, land: Land, case: Case, chance: random.Random) -> None:
        self.land = land
        self.name, self.damage = case
        self.path = land.top / self.name
        self.problems: list[str] = []
        self.slowest: dict[str, float] = {}
        self.runs = 0
        self.told = land.top / "rss"
        land.reset()
        data = self.path.read_bytes()
        modified = self.path.stat().st_mtime
        self.damaged = damages(chance)[self.damage](data)
        self.path.write_bytes(self.damaged)
        if self.is_huge:
            os.truncate(str(self.path), HUGE_BYTES)
        os.utime(str(self.path), (modified, modified))  # as if long ago
        self.before = {path: saved[2] for path, saved in land.saved.items() if saved[2] is not None}
        self.stamps = {path.name for path in support.failures(land.store)}

    @property
    def is_huge(self) -> bool:
        return self.damage == "huge"

    def run(self) -> list[str]:
        if _is_to_be_named(self):
            self.check_named()
        for script, payload in self.calls():
            self.hook(script, payload)
        self.check_stamps()
        self.check_others()
        for words in (
            ("status",),
            ("list",),
            ("search", "totals"),
            ("doctor",),
            ("open",),
            ("rebuild", "--all-projects"),
        ):
            self.command(*words)
        self.check_kept()
        self.check_views()
        self.check_next()
        if self.path.exists():
            os.utime(str(self.path))  # so that it is seen to have changed
        return self.problems

    def players(self) -> list[Life]:
        return [self.land.life("live"), self.land.newcomer("new"), self.land.newcomer("tree")]

    def calls(self) -> Iterator[tuple[str, dict[str, Any]]]:
        live, new, tree = (each.session for each in self.players())
        yield "user_prompt_submit", live.prompt("How are the totals of the cart rounded?")
        for tool, given in (("Bash", {"command": "make release"}), ("Skill", {"skill": "melt"})):
            yield "pre_tool_use", live.tool_call(tool, given)
        yield "pre_tool_use", live.tool_call("Bash", {"command": "rm -rf ~"})
        yield "stop", live.stop("The guest cart is covered now.")
        yield "session_start", new.start()
        yield "session_start", live.start("compact")
        yield "pre_compact", live.pre_compact()
        yield "subagent_start", live._payload("SubagentStart", {"agent_id": "a", "agent_type": "x"}, {})
        yield "session_end", live.end()
        yield "session_start", tree.start()
        yield "session_end", tree.end()

    def hook(self, script: str, payload: dict[str, Any]) -> support.Result:
        life = next((each for each in self.players() if each.session.id == payload["session_id"]), None)
        pid = life.pid if life else self.land.client.pid
        env = support.Session(payload["cwd"], self.land.home, payload["session_id"]).environment(pid=pid)
        if self.is_huge:
            under = circumstances.LITTLE_MEMORY % (ADDRESS_SPACE_MB, ADDRESS_SPACE_MB, str(self.told))
            result = circumstances.run_hook(script, payload, under, home=self.land.home, env=env)
            used = int(self.told.read_text() or 0) >> 10 if self.told.exists() else 0
            if used > HOOK_MEMORY_MB:
                self.wrong("%s took %d MB" % (script, used))
        else:
            result = support.run_hook(script, payload, home=self.land.home, env=env)
        self.runs += 1
        self.slowest[script] = max(self.slowest.get(script, 0.0), result.seconds)
        if (result.code, result.stderr) != (0, ""):
            self.wrong("%s: exit %d, %s" % (script, result.code, result.stderr))
        if result.seconds > HOOK_SECONDS:
            self.wrong("%s took %.1f s" % (script, result.seconds))
        if script != "pre_compact" and result.stdout and not _is_reply(result.stdout):
            self.wrong("%s said %r" % (script, result.stdout[:200]))
        if (
            "rm -rf" in str(payload.get("tool_input"))
            and '"deny"' not in result.stdout
            and '"ask"' not in result.stdout
        ):
            self.wrong("the guard let it pass: %r" % result.stdout)
        return result

    def command(self, *words: str) -> tuple[int, str]:
        began = time.perf_counter()
        code, out, err = _apart(lambda: self.land.world.run("memory", *words), self.is_huge)
        self.runs += 1
        if code not in (0, 1, 2) or "Traceback" in err:
            self.wrong("%s: exit %d, %s" % (words[0], code, err[-600:]))
        elif code == 2 and len(err) < 20:
            self.wrong("%s: exit 2 without a word: %r" % (words[0], err))
        if time.perf_counter() - began > COMMAND_SECONDS:
            self.wrong("%s took %.1f s" % (words[0], time.perf_counter() - began))
        return code, out

    def wrong(self, what: str) -> None:
        self.problems.append("%s, %s: %s" % (self.name, self.damage, what))

    # What must be true
    def findings(self, *words: str) -> list[dict[str, Any]]:
        _code, out = self.command("verify", "--json", *words)
        try:
            return list(json.loads(out)["findings"])
        except (ValueError, KeyError):
            self.wrong("verify: %r" % out[:300])
            return []

    def check_named(self) -> None:
        found = [each for each in self.findings("--all-projects") if each["file"] == str(self.path)]
        if not found:
            self.wrong("verify does not name it")
        elif not found[0]["remedy"]:
            self.wrong("verify says no remedy: %r" % found[0])

    def check_stamps(self) -> None:
        for path in support.failures(self.land.store):
            if path.name not in self.stamps and str(path) != str(self.path):
                record = json.loads(path.read_text("utf-8"))
                if record["error"].partition(":")[0] in OUR_MISTAKES:
                    self.wrong("%s: %s\n%s" % (record["event"], record["error"], record["detail"][-700:]))

    def check_others(self) -> None:
        """Facts that nothing of what was run has any business with."""
        for path, data in self.before.items():
            if path == str(self.path) or not _is_settled(path, self.land):
                continue
            now = Path(path).read_bytes() if os.path.isfile(path) else None
            is_log = path.endswith(".jsonl")
            if now is None or (now != data and not (is_log and data is not None and now.startswith(data))):
                self.wrong(
                    "%s is %s" % (os.path.relpath(path, str(self.land.top)), "gone" if now is None else "changed")
                )

    def check_kept(self) -> None:
        """A fact that cannot be read is not written over."""
        is_record = self.path.name == settings.META_FILE and self.damage != "less one"
        if not (_is_settled(str(self.path), self.land) or is_record) or not self.damaged or self.is_huge:
            return  # what a session that is at work says of itself, it says again
        copies = [self.path, *self.land.store.rglob("*" + settings.DAMAGED_SUFFIX)]
        kept = [path.read_bytes() for path in copies if path.is_file()]
        if not any(data.startswith(self.damaged) for data in kept) and self.before[str(self.path)] not in kept:
            self.wrong("it was written over: %s" % [data[:60] for data in kept])

    def check_views(self) -> None:
        stale = [each for each in self.findings("--all-projects") if each["kind"] == "view"]
        for each in stale:
            self.wrong("after a rebuild: %s %s" % (each["file"], each["what"]))

    def check_next(self) -> None:
        """Whatever it was: a new session is remembered."""
        life = self.land.newcomer("after")
        life.transcript.turn("What is next?", "Next comes the harvest of the fields.", files=["harvest.py"])
        for script, payload in (
            ("session_start", life.session.start()),
            ("user_prompt_submit", life.session.prompt("What is next?")),
            ("stop", life.session.stop("Next comes the harvest of the fields.")),
            ("session_end", life.session.end()),
        ):
            self.hook(script, payload)
        episodes = [path for path in support.episode_files(self.land.store) if life.session.id[:8] in path.name]
        if len(episodes) != 1 or b"harvest of the fields" not in episodes[0].read_bytes():
            self.wrong("the next session left no episode: %s" % episodes)


def _is_reply(text: str) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and value.keys() <= {"systemMessage", "hookSpecificOutput"}


def _is_fact(path: str, land: Land) -> bool:
    """What nobody could make anew."""
    inside = os.path.relpath(path, str(land.store)).split(os.sep)
    if inside[0] == "..":
        return path.endswith((".jsonl", "settings.json", "guard.json"))
    rest = inside[1:] if len(inside) > 1 else inside
    kinds = (settings.EPISODES_DIR, settings.LEARNING_DIR, settings.PROFILES_DIR, settings.SECURITY_DIR)
    if rest[0] in kinds or inside[0] == settings.ARCHIVE_DIR or rest[0].startswith(settings.BRIEFING_FILE):
        return not path.endswith(settings.LOCK_SUFFIX)
    if rest[0] == settings.WORK_DIR:
        return rest[-1] == settings.META_FILE or settings.ARTIFACTS_DIR in rest
    return (len(inside) == 1 and path.endswith(".json")) or rest[:2] == [settings.STATE_DIR, settings.THREADS_DIR]


def _is_settled(path: str, land: Land) -> bool:
    """A fact of no session that is played here."""
    at_work = [id[:8] for id in (scene.IDS["live"], scene.IDS["dead"], *NEWCOMERS.values())]
    return _is_fact(path, land) and not any(word in path for word in at_work)


_NAMELESS = ("less one", "half", "empty")  # what is left may be right by itself


def _is_to_be_named(trial: Trial) -> bool:
    inside = os.path.relpath(str(trial.path), str(trial.land.store))
    name, parts = os.path.basename(inside), inside.split(os.sep)
    if inside.startswith("..") or name.endswith(settings.LOCK_SUFFIX) or not trial.before[str(trial.path)]:
        return False
    if {settings.HEALTH_DIR, settings.USED_DIR, settings.DIRTY_DIR, settings.ALLOWED_DIR, settings.RECENT_DIR} & {
        *parts
    }:
        return name.endswith(".json") and settings.HEALTH_DIR in parts and trial.damage != "less one"
    if name in (settings.TRIGGERS_MARK, settings.CONSOLIDATION_TOLD_FILE):
        return False
    if trial.damage == "less one":
        return name.endswith((".idx", ".tar.gz"))
    return not (trial.damage in _NAMELESS and name.endswith((".md", ".jsonl", ".1")))


def _apart(work: Callable[[], support.Result], is_huge: bool) -> tuple[int, str, str]:
    """A command in this process; in one of its own, with little memory, when a file is huge."""
    if not is_huge:
        try:
            result = work()
        except Exception:  # noqa: BLE001  (whatever it was, it is reported)
            import traceback

            return 99, "", traceback.format_exc()
        return result.code, result.stdout, result.stderr
    import resource

    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit = size + (ADDRESS_SPACE_MB << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        with os.fdopen(writer, "w") as pipe:
            json.dump(_apart(work, False), pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    code, out, err = json.loads(text) if text else (98, "", "it died without a word")
    return code, out, err


def cases(land: Land, chance: random.Random) -> list[Case]:
    """Every file with every damage, in an order of chance."""
    every = [(name, damage) for name in land.files() for damage in damages(chance)]
    chance.shuffle(every)
    return every


def campaign(directory: Path, seed: int, ends: float, only: str = "") -> dict[str, Any]:
    chance = random.Random(seed)
    counts = {"damaged files": 0, "hook and command runs on damaged files": 0}
    problems: list[str] = []
    slowest: dict[str, float] = {}
    with support.forked_hooks():
        land = Land(directory / "land")
        try:
            for case in cases(land, chance):
                if time.monotonic() >= ends:
                    break
                if only in " ".join(case):
                    trial = Trial(land, case, chance)
                    problems += trial.run()
                    counts["damaged files"] += 1
                    counts["hook and command runs on damaged files"] += trial.runs
                    for name, seconds in trial.slowest.items():
                        slowest[name] = max(slowest.get(name, 0.0), seconds)
        finally:
            land.close()
    return {"counts": counts, "problems": problems, "slowest": slowest}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--only", default="", metavar="PART-OF-A-PATH")
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="harness-memory-damage-"))
    try:
        report = campaign(directory, options.seed, time.monotonic() + options.minutes * 60, options.only)
    finally:
        shutil.rmtree(str(directory), ignore_errors=True)
    print("\n".join("%d %s" % (number, what) for what, number in report["counts"].items()))
    print("slowest: " + ", ".join("%s %.2f s" % each for each in sorted(report["slowest"].items())))
    for problem in report["problems"]:
        print(problem)
    print("nothing wrong" if not report["problems"] else "%d problems" % len(report["problems"]))
    return 1 if report["problems"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
