"""One memory on several machines: whatever happens where and in which order, all of them end up with the same."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import full_memory
import interposer
import pytest
import support
from commandline import HARNESS, World
from interposer import KILL, Interposer, Plan
from life import Life
from machines import Machine, assert_same, settle

from harness_memory import cli
from harness_memory.base import files

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")
SEEDS = range(int(os.environ.get("HARNESS_SCHEDULES", "1")))  # with more: 200 sessions each, a kill at every call
LOCAL = re.compile(
    r"\.(lock|tmp)$|/STATE/(live|recall|used|drafts)|rows\.cache|^(health|guard|sync)/|installs|triggers|INDEX|MEMORY|/local/"
)


@pytest.fixture
def pair(tmp_path: Path) -> list[Machine]:
    return [Machine(tmp_path, name) for name in ("one", "two")]


def stop_something(machine: Machine) -> None:
    session = support.Session(machine.repo, machine.home)
    call = session.tool_call("Bash", {"command": "rm -rf ~"})
    support.run_hook("pre_tool_use", call, home=machine.home, env=session.environment())


def note(machine: Machine, name: str, text: str, at: float) -> None:
    """A note written at an instant."""
    machine.memory("remember", text, "--topic", name)
    os.utime(str(machine.project / "LEARNING" / "topics" / (name + ".md")), (at, at))


# The store in git ------------------------------------------------------------------------------------
def test_git_add_stages_nothing_of_this_machine_and_a_clone_works(home: Path, repo: Path, tmp_path: Path) -> None:
    support.git(repo, "remote", "add", "origin", "git@example.org:me/shop.git")
    memory = full_memory.fill(home, repo, lambda place: "canary " + place)
    support.git(memory.root, "init", "-q")
    support.git(memory.root, "add", "-A")
    staged = support.git(memory.root, "ls-files").splitlines()
    assert [name for name in staged if LOCAL.search(name)] == []
    assert any("/episodes/" in name for name in staged)
    assert any("/STATE/progress/" in name for name in staged)
    support.git(memory.root, "commit", "-q", "-m", "All")
    support.git(tmp_path, "clone", "-q", "--no-local", str(repo), str(tmp_path / "copy"))
    support.git(tmp_path / "copy", "remote", "set-url", "origin", "https://example.org/me/shop")
    there = World(tmp_path / "elsewhere" / "eve", tmp_path / "copy")
    there.root.parent.mkdir(parents=True)
    support.git(tmp_path, "clone", "-q", str(memory.root), str(there.root))
    assert there.memory("rebuild").code == 0
    assert [each["id"] for each in there.json("list")] == [each["id"] for each in memory.json("list")]
    assert "canary note fact" in there.memory("show", "gateway-rule").stdout


def test_both_machines_have_everything_and_the_other_version_of_a_page(pair: list[Machine]) -> None:
    now = time.time()
    for number, machine in enumerate(pair):
        machine.live(3, day=number + 1)
        stop_something(machine)
        note(machine, "carts", "Carts hold %d items" % (10 + number), now - 100 + number)
        note(machine, "only-%d" % number, "Fact number %d is here" % number, now)
        machine.memory("rate", "deploy", "2", "--note", "from %d" % number)
        machine.memory("task", "start", "gifts", "--next", "Step %d" % number)
        machine.memory("task", "checkpoint", "gifts", "--note", "Checked on %d" % number)
    settle(pair)
    assert_same(pair)
    for machine in pair:
        assert len(machine.json("list")) == 6
        assert "Carts hold 11 items" in machine.memory("show", "carts").stdout
        (former,) = machine.project.glob("archive/notes/carts.*-????????.md")
        assert "Carts hold 10 items" in former.read_text("utf-8")
        assert former.name in machine.memory("review").stdout
        assert len(machine.json("list", "--notes")) == 3
        assert len((machine.project / "LEARNING/SIGNALS/ratings.jsonl").read_text("utf-8").splitlines()) == 2
        points = json.loads((machine.project / "STATE/progress/gifts.json").read_text("utf-8"))["checkpoints"]
        assert {"Checked on 0", "Checked on 1"} <= {point["note"] for point in points}
        assert len([*machine.project.glob("SECURITY/*/*/*/audit.jsonl")]) == 2
        stop_something(machine)
    settle(pair)
    assert_same(pair)


def test_deletions_and_forget_win_over_older_content_and_lose_against_newer(pair: list[Machine]) -> None:
    one, two = pair
    one.live(3)
    now = time.time()
    for name in ("gone", "kept", "secret"):
        note(one, name, "The %s note says so" % name, now - 1000)
    settle(pair)
    ids = [each["id"] for each in one.json("list")]
    assert one.memory("forget", ids[0], "secret", "--yes").code == 0
    one.memory("note", "remove", "gone")
    one.memory("note", "remove", "kept")
    old = two.project / "LEARNING/topics/gone.md"
    old.write_text(old.read_text("utf-8").replace("says so", "was changed earlier"), "utf-8")
    os.utime(str(old), (now - 500, now - 500))
    new = two.project / "LEARNING/topics/kept.md"
    new.write_text(new.read_text("utf-8").replace("says so", "was changed later"), "utf-8")
    os.utime(str(new), (now + 500, now + 500))
    settle(pair)
    assert_same(pair)
    for machine in pair:
        assert [each["id"] for each in machine.json("list")] == ids[1:]
        assert [each["note"] for each in machine.json("list", "--notes")] == ["project/kept"]
        assert "was changed later" in machine.memory("show", "kept").stdout
        assert not [*machine.project.glob("**/*secret*")]


@pytest.mark.parametrize("is_archived_first", [True, False])
def test_a_text_forgotten_while_its_session_is_archived_elsewhere_goes(
    pair: list[Machine], is_archived_first: bool
) -> None:
    session = pair[0].work("Plan the zanzibar trip", "The zanzibar trip is planned. Wrote a letter.", ("letter.md",))
    files.write(str(pair[0].session_dir(session) / "artifacts" / "a.txt"), b"a")
    settle(pair)
    assert pair[0].memory("forget", "--text", "zanzibar", "--yes").code == 0
    assert pair[1].json("archive", "--before", "2099-01-01", "--open")["sessions"] == 1
    settle(pair[::-1] if is_archived_first else pair)
    assert_same(pair)
    for machine in pair:
        assert machine.memory("restore", "--all").code == 0
        assert [name for name, data in machine.files().items() if b"zanzibar" in data.lower()] == []
        assert (machine.session_dir(session) / "artifacts" / "a.txt").read_bytes() == b"a"
        assert "Wrote a letter." in machine.memory("show", session.id[:8]).stdout


def test_an_episode_that_one_machine_retires_is_archived_on_both(pair: list[Machine]) -> None:
    pair[0].live(4)
    settle(pair)
    (pair[0].root / "config.json").write_text('{"retention_episodes": 2, "retention_days": 10000}', "utf-8")
    Life(pair[0].home, pair[0].repo).start()
    settle(pair)
    assert_same(pair)
    assert [len([*machine.root.glob("archive/*/session-*.json")]) for machine in pair] == [2, 2]


def test_a_session_resumed_on_two_machines_is_the_one_that_ended_later(pair: list[Machine]) -> None:
    session = pair[0].work("Paint the shop", "The shop is painted in green.")
    settle(pair)
    for machine, colour in zip(pair, ("red", "blue")):
        own = support.Session(machine.repo, machine.home, session.id)
        machine.work("And in %s?" % colour, "The shop is painted in %s now." % colour, session=own)
        time.sleep(1.1)  # sessions end at whole seconds
    settle(pair)
    assert_same(pair)
    for machine in pair:
        assert "painted in blue" in machine.memory("show", session.id[:8]).stdout


def test_a_running_session_comes_along_but_runs_on_its_own_machine_alone(pair: list[Machine]) -> None:
    session = pair[0].work("Paint the shop", "The shop is painted in green.", pid=os.getpid(), end=False)
    env = session.environment(pid=os.getpid())
    support.run_hook("user_prompt_submit", session.prompt("And the door"), home=pair[0].home, env=env)
    settle(pair)
    for machine, state in zip(pair, ("ACTIVE", "elsewhere")):
        assert [row.split()[3] for row in machine.memory("list").stdout.splitlines()[1:]] == [state]
    assert "no session is running here" in pair[1].memory("status").stdout


# Any order, any moment -------------------------------------------------------------------------------
class Schedule:
    """Machines on which chance does something, and syncs."""

    def __init__(self, top: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.machines = [Machine(top, name) for name in ("one", "two", "three")]
        for machine in self.machines:
            machine.live(2, day=1 + self.machines.index(machine))
        self.now = time.time() - 100_000

    def step(self, has_sync: bool = True) -> None:
        machine, what = self.chance.choice(self.machines), self.chance.randrange(8 if has_sync else 7)
        name = self.chance.choice("abc")
        path = machine.project / "LEARNING" / "topics" / (name + ".md")
        self.now += self.chance.choice((1, 10, 100))
        if what < 2:
            note(machine, name, "Fact %d of chance" % self.chance.randrange(1000), self.now)
        elif what == 2 and path.exists():
            machine.memory("note", "remove", name)
        elif what == 3:
            machine.memory("briefing", "set", stdin=b"- Page %d\n" % self.chance.randrange(1000))
        elif what == 4:
            sessions = machine.json("list")
            machine.memory("forget", self.chance.choice(sessions)["id"], "--yes") if sessions[2:] else machine.live(2)
        elif what == 5:
            machine.memory("rate", "deploy", "3", "--note", "number %d" % self.chance.randrange(1000))
        elif what == 6:
            machine.memory("thread", "rename", machine.json("list")[0]["id"], "Title %d" % self.chance.randrange(9))
        else:
            machine.sync()


@pytest.mark.parametrize("seed", SEEDS)
def test_any_schedule_and_any_order_of_syncs_end_in_the_same_memory(tmp_path: Path, seed: int) -> None:
    top, copy, results = tmp_path / "machines", tmp_path / "copy", []
    schedule = Schedule(top, seed)
    for _ in range(30):
        schedule.step()
    settle(schedule.machines)
    assert_same(schedule.machines)
    for _ in range(30):
        schedule.step(has_sync=False)
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        shutil.copytree(str(top), str(copy), symlinks=True)
        settle([schedule.machines[number] for number in order])
        assert_same(schedule.machines)
        results.append(schedule.machines[0].shared())
        shutil.rmtree(str(top))
        shutil.move(str(copy), str(top))
    assert [name for name in {*results[0], *results[1]} if results[0].get(name) != results[1].get(name)] == []
    assert results[0] == results[1] == results[2]


def killing_git(top: Path, number: int, after: bool) -> dict[str, str | None]:
    """An environment whose git kills the command that calls it for the n-th time, before its work or after it."""
    folder, count = top / "bin", top / "count"
    folder.mkdir(exist_ok=True)
    count.write_text("0", "utf-8")
    real = shutil.which("git")
    script = '#!/bin/sh\ncase "$*" in *--batch*) exec %s "$@";; esac\n' % real  # it works as long as its caller does
    script += "n=$(($(cat %s) + 1)); echo $n > %s\n" % (count, count)
    script += '[ $n = %d ] && { %s kill -9 $PPID; exit 1; }\nexec %s "$@"\n'
    work = '%s "$@" >/dev/null 2>&1;' % real if after else ""
    (folder / "git").write_text(script % (number, work, real), "utf-8")
    (folder / "git").chmod(0o755)
    return {"PATH": "%s%s%s" % (folder, os.pathsep, os.environ["PATH"])}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_kill_at_any_call_of_git_is_finished_by_the_next_sync(tmp_path: Path, after: bool) -> None:
    pair = [Machine(tmp_path, name) for name in ("one", "two")]
    for number, machine in enumerate(pair):
        machine.live(2, day=number + 1)
        machine.sync()
    settle(pair)
    killed = []
    for call in range(1, 100) if len(SEEDS) > 1 else range(1 + sys.version_info[1] % 7, 100, 7):
        for machine in pair:
            note(machine, "carts", "Carts of %s, time %d" % (machine.home.name, call), time.time() + call)
            fact = "Fact %d of %s" % (call, machine.home.name)
            machine.memory("remember", fact, "--topic", "facts-" + machine.home.name)
        pair[0].sync()
        died = pair[1].run("memory", "sync", env=killing_git(tmp_path, call, after), before=[])
        killed += [call] * (died.code == -9)
        settle([pair[1], pair[0]])
        assert_same(pair)
        if died.code != -9:
            break
    assert len(killed) > 2
    for machine in pair:
        facts = {fact for each in machine.json("list", "--notes") for fact in each["facts"]}
        assert {"Fact %d of %s" % (call, name) for call in killed for name in ("one", "two")} <= facts


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_kill_or_a_full_disk_at_a_file_operation_loses_nothing(pair: list[Machine]) -> None:
    one, two = pair
    one.live(2)
    settle(pair)

    def run(plan: Plan) -> interposer.Outcome:
        between, env = Interposer(plan, str(two.root)), support.clean_environment(two.home)
        work = partial(cli.main, ["memory", "sync"])
        return interposer.run(work, between.install, stdin=b"", env=env, cwd=str(two.repo))

    chance = random.Random(sys.version_info[1])
    rounds = 12 if len(SEEDS) > 1 else 5
    for number in range(rounds):
        one.live(2, day=number + 2)
        note(one, "carts", "Carts, time %d" % number, time.time() + number)
        note(two, "carts", "Other carts, time %d" % number, time.time() + number)
        one.sync()
        plan = Plan(KILL, chance.randrange(1, 60)) if number % 3 else Plan(28, chance.randrange(1, 40), stays=True)
        outcome = run(plan)
        assert "Traceback" not in outcome.stderr
        settle([two, one])
        assert_same(pair)
    assert len(two.json("list", "--limit", "99")) == 2 + rounds * 2


def process(machine: Machine, *words: str) -> support.Result:
    command = [sys.executable, str(HARNESS), "memory", "sync", *words]
    return support.run(command, b"", support.clean_environment(machine.home), machine.repo)


def test_three_machines_with_many_sessions_sync_at_once(tmp_path: Path) -> None:
    machines = [Machine(tmp_path, name) for name in ("one", "two", "three")]
    support.git(tmp_path, "init", "-q", "--bare", str(machines[0].remote))
    count = 200 if len(SEEDS) > 1 else 40
    for number, machine in enumerate(machines):
        machine.live(count, day=number + 1)
    with ThreadPoolExecutor(3) as pool:
        runs = [*pool.map(lambda machine: process(machine, "init", str(machine.remote)), machines)]
    assert [each.code for each in runs] == [0, 0, 0], runs
    settle(machines)
    assert_same(machines)
    assert all(len(machine.json("list", "--limit", "1000")) == 3 * count for machine in machines)


def test_sessions_go_on_while_their_machine_syncs(pair: list[Machine]) -> None:
    one, two = pair
    one.live(2)
    settle(pair)
    one.live(20, day=2)
    one.sync()
    with ThreadPoolExecutor(1) as pool:
        syncs = pool.submit(lambda: [process(two) for _ in range(4)])
        ids = {two.work("Ask number %d" % n, "Answer number %d is here." % n).id[:8] for n in range(6)}
        assert [each for each in syncs.result() if each.code not in (0, 2) or "Traceback" in each.stderr] == []
    settle([two, one])
    assert_same(pair)
    assert ids <= {each["id"] for each in one.json("list", "--limit", "99")}
    assert len(one.json("list", "--limit", "99")) == 28
    note(one, "carts", "Carts hold ten", time.time())
    one.sync()
    holder = support.hold_lock(two.project / "LEARNING" / "notes.lock")
    assert "again" in two.sync(code=2)  # it waits, then says so
    holder.kill()
    holder.wait()
    settle([two, one])
    assert_same(pair)


# What stays private ----------------------------------------------------------------------------------
def test_a_remote_with_code_or_for_everybody_is_refused(pair: list[Machine]) -> None:
    machine = pair[0]
    machine.live(1)
    support.git(machine.repo, "remote", "add", "fork", "https://example.org/eve/shop.git")
    for url in ("git@example.org:me/shop.git", "https://example.org/me/shop", "git@example.org:eve/shop", "."):
        assert "holds the code" in machine.memory("sync", "init", url).stderr
    assert "may be public" in machine.memory("sync", "init", "https://github.com/me/memory").stderr
    assert machine.memory("sync").code == 2
    assert not (machine.root / "sync" / "config.json").exists()


def test_a_remote_that_came_after_the_last_session_leads_the_other_machine_to_it(pair: list[Machine]) -> None:
    one, two = pair
    support.git(one.repo, "remote", "remove", "origin")
    session = one.work("Count the stock", "The stock is counted.", ("stock.py",))
    support.git(one.repo, "remote", "add", "origin", "git@example.org:me/shop.git")
    settle(pair)
    assert [row["id"] for row in two.json("list")] == [session.id[:8]]


def test_projects_can_be_left_out(pair: list[Machine], tmp_path: Path) -> None:
    one, two = pair
    one.live(3)
    other = support.make_repo(tmp_path / "one" / "diary", "git@example.org:me/diary.git")
    World(one.home, other).work("Dear diary", "This is private, all of it.")
    assert one.memory("sync", "exclude", "diary").code == 0  # before anything is sent
    one.sync("init", str(one.remote))
    two.sync()
    assert [path.name.rpartition("-")[0] for path in support.project_dirs(two.root)] == ["shop"]
    assert len(two.json("list")) == 3
    two.sync()
    assert [path.name.rpartition("-")[0] for path in support.project_dirs(one.root)] == ["diary", "shop"]


def test_purged_history_holds_nothing_that_was_forgotten(pair: list[Machine]) -> None:
    one, two = pair
    one.live(2)
    one.memory("remember", "The zanzibar plan is secret", "--topic", "zanzibar")
    settle(pair)
    assert one.memory("forget", "zanzibar", "--yes").code == 0
    assert "Nothing was changed" in one.sync("purge-history")
    assert "may keep" in one.sync("purge-history", "--yes")
    two.memory("remember", "Something new", "--topic", "news")
    settle([two, one])
    assert_same(pair)
    for repository in (one.remote, one.root / ".git", two.root / ".git"):
        objects = support.git(repository, "--git-dir", str(repository), "log", "--all", "-p", "--format=%H")
        assert "zanzibar" not in objects
    assert "zanzibar" not in "".join(machine.memory("search", "zanzibar").stdout for machine in pair)


# Without a word --------------------------------------------------------------------------------------
def test_automatic_sync_is_an_entry_in_the_settings_and_leaves_its_result(pair: list[Machine]) -> None:
    machine = pair[0]
    machine.live(1)
    machine.sync()
    assert machine.memory("sync", "--auto", "on").code == 2
    env = support.clean_environment(machine.home)
    install = [sys.executable, str(support.ROOT / "install.py"), "--statusline"]
    assert support.run(install, b"", env, machine.repo).code == 0
    settings = machine.home / ".claude" / "settings.json"
    before = settings.read_bytes()
    assert machine.memory("sync", "--auto", "on").code == 0
    hooks = json.loads(settings.read_text("utf-8"))["hooks"]
    commands = [
        [hook["command"] for group in hooks[event] for hook in group["hooks"] if hook.get("async")]
        for event in ("SessionStart", "SessionEnd")
    ]
    assert commands[0] == commands[1]
    config, mark = machine.root / "sync" / "config.json", machine.root / "sync" / "started"
    config.write_text(json.dumps({**json.loads(config.read_text("utf-8")), "last": {}}), "utf-8")
    support.run(["/bin/sh", "-c", *commands[0]], b"{}", env, machine.repo)
    while not json.loads(config.read_text("utf-8"))["last"]:
        time.sleep(0.05)
    assert "nothing to do" in machine.memory("status").stdout
    assert "  on\n" in machine.memory("sync", "status").stdout
    started = os.stat(str(mark)).st_mtime_ns
    support.run(["/bin/sh", "-c", *commands[0]], b"{}", env, machine.repo)
    assert os.stat(str(mark)).st_mtime_ns == started  # not again so soon
    assert support.run(install, b"", env, machine.repo).code == 0  # an upgrade keeps it
    assert "sync --background" in settings.read_text("utf-8")
    shutil.rmtree(str(machine.remote))
    machine.memory("remember", "News", "--topic", "news")
    machine.sync(code=2)
    assert "warn  sync" in machine.memory("doctor").stdout
    assert machine.memory("sync", "off").code == 0
    assert settings.read_bytes() == before
    assert stat.S_IMODE((machine.root / "sync" / "config.json").stat().st_mode) == 0o600


def test_a_file_of_a_remote_leads_nowhere_else(pair: list[Machine], tmp_path: Path) -> None:
    one, two = pair
    one.live(1)
    one.sync()
    clone = tmp_path / "clone"
    support.git(tmp_path, "clone", "-q", str(one.remote), str(clone))
    support.git(clone, "checkout", "-q", "-B", "main", "origin/main")
    project = next(path for path in clone.iterdir() if path.name.startswith("shop"))
    (project / "LEARNING" / "topics").mkdir(parents=True, exist_ok=True)
    os.symlink("/etc/passwd", str(project / "LEARNING" / "topics" / "evil.md"))
    for name in ("health/x.json", "sync/config.json", "evil.sh", "%s/STATE/live/x.json" % project.name, ".hidden/x"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text("{}", "utf-8")
    support.git(clone, "add", "-A", "-f")
    support.git(clone, "commit", "-q", "-m", "Evil")
    subprocess.run(["git", "push", "-q", "origin", "main"], cwd=str(clone), check=True)
    two.sync()
    settle(pair)
    for machine in pair:
        assert not [*machine.root.glob("**/evil*"), *machine.root.glob("health/x.json"), *machine.root.glob(".hidden")]
    assert one.memory("verify").code == two.memory("verify").code == 0
