"""What kills and faults at every point have shown, each as a case of its own."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import time
from pathlib import Path

import interposer
import pinpoint
import pytest
import support
from commandline import World
from interposer import Plan
from life import Life, failures

from harness_memory.base import clock
from harness_memory.base import files as store
from harness_memory.cli import doctor
from harness_memory.notes import shelf as notebook
from harness_memory.project import identity
from harness_memory.session import episode, liveness, sessions, tombstones
from harness_memory.setup import entries, installation, purge

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    return World(home, repo)


@needs_fork
@pytest.mark.parametrize("fault", [errno.EIO, errno.EMFILE, errno.EINTR], ids=errno.errorcode.get)
def test_no_fault_makes_another_project_of_a_repository(life: Life, fault: int) -> None:
    support.git(life.cwd, "remote", "add", "origin", "git@example.org:me/shop.git")
    life.start()
    own = life.project.name
    seen = set()
    for number in range(1, 200):
        plan = Plan(fault, number)
        outcome = interposer.run(
            lambda: print(identity.locate(str(life.store), str(life.cwd), str(life.cwd)).id),
            plan,
            stdin=b"",
            env=support.clean_environment(life.home),
            cwd=str(life.cwd),
        )
        seen.add(outcome.stdout.strip())
        if sum(name in (plan.kinds or ()) for name, _ in outcome.operations) < number:
            break
    assert seen == {own, ""}


@needs_fork
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_nobody_is_dead_because_nobody_can_look(life: Life, tmp_path: Path) -> None:
    assert life.pid is not None
    process = liveness.client_process(life.pid)
    assert liveness.is_alive(process) is True
    for number in range(1, 5):
        outcome = interposer.run(
            lambda: print(liveness.is_alive(process)),
            Plan(errno.EMFILE, number, stays=True),
            stdin=b"",
            env={},
            cwd=str(tmp_path),
        )
        assert outcome.stdout.strip() in ("None", "True")


def test_a_marker_that_a_power_cut_emptied_still_tells_of_its_session(life: Life) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    (marker,) = life.store.glob("*/STATE/live/*.json")
    marker.write_bytes(b"")
    told = sessions.read_marker(str(life.project), life.session.id)
    assert told["claude_session"] == life.session.id
    assert life.directory.as_posix().endswith(told["work"])
    long_ago = time.time() - 86400
    for path in (marker, life.directory / "META.yaml", life.directory / "capture.json", life.transcript.path):
        os.utime(str(path), (long_ago, long_ago))
    with support.Client() as other:
        Life(life.home, life.cwd, pid=other.pid).start()
    assert not life.is_marked_live
    assert failures(life.store) == []


def test_a_checkpoint_of_a_compacted_session_is_not_given_to_a_dead_one(life: Life) -> None:
    with support.Client() as doomed:
        dead = Life(life.home, life.cwd, pid=doomed.pid)
        dead.start()
        dead.turn("count", "The stock is counted by shelf, and it adds up.", "stock.py")
        life.start()
        life.prompt("go on")
    time.sleep(2.1)
    folder = Path(life.cwd) / ".claude"
    folder.mkdir(exist_ok=True)
    path = folder / "completion-checkpoint.json"
    path.write_text(json.dumps({"what_was_done": "Covered the guest cart"}), "utf-8")
    life.start("compact")
    assert path.exists()
    assert not dead.is_marked_live
    life.transcript.text("Covered.")
    life.stop("Covered.")
    assert life.episode["what_was_done"] == "Covered the guest cart"
    assert "guest cart" not in dead.episode["what_was_done"]


def test_a_note_that_cannot_be_read_is_never_written_over(world: World) -> None:
    world.memory("note", "add", "big", "A fact", "Another fact")
    path = world.project / "LEARNING" / "topics" / "big.md"
    path.write_bytes(path.read_bytes() + b"- " + b"word " * 200_000)
    before = path.read_bytes()
    shelf = notebook.project_shelf(str(world.project))
    note = shelf.note("big")
    assert note is not None
    assert note.is_unreadable
    with pytest.raises(OSError, match="cannot be read"), notebook.Writing(shelf) as writing:
        writing.put(note)
    world.memory("compact")
    assert path.read_bytes() == before


def test_what_was_forgotten_is_put_aside_when_nobody_can_read_it(world: World, client: support.Client) -> None:
    first = world.work("one", "The zanzibar is closed on Mondays.", ("a.py",), pid=client.pid)
    world.memory("forget", "--text", "zanzibar", "--yes")
    path = Path(tombstones.path(str(world.project)))
    path.write_bytes(b"\0" * 40)
    assert world.memory("forget", first.id[:8], "--yes").code == 0
    assert path.with_name(path.name + ".damaged").read_bytes() == b"\0" * 40
    assert first.id in json.loads(path.read_text("utf-8"))["sessions"]


def test_rebuild_writes_a_summary_that_was_emptied(world: World, client: support.Client) -> None:
    made = world.work("one", "One is done, and tested in full.", ("a.py",), pid=client.pid)
    path = world.session_dir(made) / "summary.md"
    before = path.read_bytes()
    path.write_bytes(b"")
    told = world.memory("verify")
    assert told.code == 1
    assert "summary.md is empty" in told.stdout
    assert "summary.md" in world.memory("rebuild").stdout
    assert path.read_bytes() == before
    assert world.memory("verify").code == 0


def test_restore_brings_back_what_a_power_cut_emptied(world: World, client: support.Client) -> None:
    made = world.work("one", "One is done, and tested in full.", ("a.py",), pid=client.pid)
    tomorrow = time.strftime("%Y-%m-%d", time.localtime(time.time() + 2 * 86400))
    assert world.memory("archive", "--before", tomorrow, "--open").code == 0
    assert world.memory("restore", "--all").code == 0
    for path in (world.session_dir(made) / "META.yaml", world.episode(made)):
        path.write_bytes(b"")
    assert world.memory("restore", "--all").code == 0
    assert world.episode(made).read_bytes()
    assert world.memory("verify").code == 0, world.memory("verify").stdout


@pytest.mark.parametrize("key", ["id", "title", "sessions", "summary", "model"])
def test_a_ledger_that_lost_its_shape_is_made_anew(life: Life, key: str) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    path = life.project / "STATE" / "conversation_state.json"
    before = path.read_text("utf-8")
    (line,) = [each for each in before.split("\n") if each.startswith("    {")]
    thread = json.loads(line)
    del thread[key]
    path.write_text(before.replace(line, "    " + json.dumps(thread)), "utf-8")
    life.turn("two", "Two done.", "two.py")
    assert failures(life.store) == []
    assert life.threads()[0][key]
    assert life.threads()[0]["title"] == json.loads(before)["threads"][0]["title"]


def test_a_passing_error_says_nothing_of_a_file() -> None:
    for code, is_passing in ((errno.EIO, True), (errno.EMFILE, True), (errno.ENOENT, False), (errno.EACCES, False)):
        assert store.is_passing(OSError(code, "x")) is is_passing
    assert not store.is_passing(ValueError())


# Passing faults --------------------------------------------------------------------------------------


def remembered(world: World, client: support.Client, *answers: str) -> list[support.Session]:
    return [
        world.work("Ask %d" % number, answer, ("a%d.py" % number,), pid=client.pid)
        for number, answer in enumerate(answers)
    ]


def indexed(world: World) -> list[str]:
    """The episodes that the menu lists."""
    lines = (world.project / "INDEX.md").read_text("utf-8").splitlines()
    return sorted(line.split("`")[1].partition("/")[2] for line in lines if line.startswith("- `"))


def kept(world: World) -> list[str]:
    return sorted(path.name for path in (world.project / "episodes").glob("*.json"))


@needs_fork
@pytest.mark.parametrize("on", ["/episodes", ".json", "/STATE/progress"])
def test_rebuild_makes_no_view_of_what_it_could_not_read(world: World, client: support.Client, on: str) -> None:
    first, _ = remembered(world, client, "One is done, and tested in full.", "Two is done, and tested in full.")
    world.memory("checkpoint", "--session", first.id, "--done", "Half", "--task-id", "parser", "--task-title", "Parser")
    before = {name: (world.project / name).read_bytes() for name in ("INDEX.md", "STATE/current-work.json")}
    assert b"Parser" in before["STATE/current-work.json"]
    for outcome in pinpoint.everywhere(world.root, on, lambda plan: pinpoint.command(world, plan, "rebuild")):
        assert {name: (world.project / name).read_bytes() for name in before} == before, outcome
        assert indexed(world) == kept(world), outcome


@needs_fork
def test_no_version_of_a_page_is_lost_to_a_fault(world: World) -> None:
    pages = [b"# Shop\n\n- One\n", b"# Shop\n\n- Two\n"]
    for page in pages:
        assert world.memory("briefing", "set", stdin=page).code == 0
    for on in ("/briefing.md", "/briefing.md.1"):
        for outcome in pinpoint.everywhere(
            world.root, on, lambda plan: pinpoint.command(world, plan, "briefing", "rollback")
        ):
            kept = {path.read_bytes() for path in world.project.glob("briefing.md*") if path.suffix != ".lock"}
            assert kept == {*pages}, outcome


@needs_fork
def test_a_stop_that_cannot_read_an_episode_leaves_it_to_the_next_hook(
    life: Life, world: World, client: support.Client
) -> None:
    remembered(world, client, "One is done, and tested in full.")
    life.start()
    life.turn("two", "Two is half done, which is something.", "two.py")
    life.prompt("and the rest?")
    life.transcript.write(life.cwd / "rest.py").text("The rest of two is done as well.")
    payload = life.session.stop("The rest of two is done as well.")
    name = "-%s.json" % life.session.id[:8]
    for _ in pinpoint.everywhere(life.store, name, lambda plan: pinpoint.hook(life, plan, "stop", payload)):
        life.end()
        Life(life.home, life.cwd, pid=life.pid).start()
        assert indexed(world) == kept(world)
        assert "The rest of two" in (world.project / "INDEX.md").read_text("utf-8")


@needs_fork
def test_retention_does_not_guess_when_an_episode_ended(life: Life, world: World) -> None:
    """The session that began first was at work last."""
    life.start()
    life.turn("one", "One is begun, and it is of some length.", "one.py")
    (path,) = support.episode_files(life.store)
    value = json.loads(path.read_text("utf-8"))
    for number, days in enumerate((3, 2, 1)):
        started = clock.iso(time.time() - days * 86400)
        short = "%08x" % number
        ended = started if number else value["ended"]
        made = {**value, "id": short, "session_id": short, "thread": short, "started": started, "ended": ended}
        name = "session-%s-%s.json" % (clock.stamp(started), short)
        support.publish(life.project, name, episode.render(made))
    (life.store / "config.json").write_text(json.dumps({"retention_episodes": 3}), "utf-8")
    fresh = Life(life.home, life.cwd, pid=life.pid)
    payload = fresh.session.start()
    first = kept(world)[0]
    for outcome in pinpoint.everywhere(
        life.store, "-00000000.json", lambda plan: pinpoint.hook(fresh, plan, "session_start", payload)
    ):
        assert first in kept(world), outcome


@needs_fork
def test_a_session_that_goes_on_is_known_by_its_episode_or_not_begun(world: World, client: support.Client) -> None:
    (made,) = remembered(world, client, "One is done, and tested in full.")
    assert world.memory("prune", "--older-than", "0d").code == 0
    assert not list(world.project.glob("WORK/*/*"))
    life = Life(world.home, world.repo, made.id, pid=client.pid)
    for on in ("/episodes", "-%s.json" % made.id[:8]):
        for _ in pinpoint.everywhere(
            world.root, on, lambda plan: pinpoint.hook(life, plan, "session_start", made.start("resume"))
        ):
            life.turn("two", "Two is done, and that is more.", "two.py")
            assert len(kept(world)) == 1


_SHARED = ("/progress", "/trip.json", "/session_memory_context.md", "/injected.json", "/ratings.jsonl")
_FORGOTTEN = [("{id}", on) for on in (*_SHARED, "/WORK", "{id}.json")]
_FORGOTTEN += [("--text zanzibar", on) for on in (*_SHARED, "/capture.json", "/summary.md", "{id}.json")]


@needs_fork
@pytest.mark.parametrize(("what", "on"), _FORGOTTEN)
def test_what_is_said_to_be_forgotten_is(world: World, client: support.Client, what: str, on: str) -> None:
    trip, _ = remembered(world, client, "The Zanzibar trip is planned in full.", "This has nothing to do with it.")
    id = trip.id[:8]
    world.memory("checkpoint", "--done", "Zanzibar planned", "--task-id", "trip", "--task-title", "Zanzibar",
                 "--task-remaining", "book Zanzibar", "--skill", "melt", "--rating", "3", "--session", id)  # fmt: skip
    words = ("forget", *what.format(id=id).split(), "--yes")
    for outcome in pinpoint.everywhere(
        world.root, on.format(id=id), lambda plan: pinpoint.command(world, plan, *words)
    ):
        if outcome.code:
            assert outcome.stderr
            assert "Forgotten" not in outcome.stdout
            assert world.memory(*words).code in (0, 1, 2)  # 2: all that it was known by is gone
        left = [name for name, data in world.files().items() if b"zanzibar" in data.lower()]
        assert left == [], outcome


@needs_fork
def test_a_checkpoint_that_cannot_be_read_may_be_anothers(life: Life, client: support.Client) -> None:
    other = Life(life.home, life.cwd, pid=client.pid)
    for each in (life, other):
        each.start()
        each.turn("one", "One is done, and tested in full.", "one.py")
    path = life.cwd / ".claude" / "completion-checkpoint.json"
    path.parent.mkdir(exist_ok=True)
    life.transcript.write(path.with_name("completion-checkpoint-mine.json"))  # so that what names nobody is its own
    said = json.dumps({"session_id": other.session.id, "what_was_done": "Covered the guest cart"})
    payload = life.session.stop("Two is done.")

    def stop(plan: Plan) -> interposer.Outcome:
        path.write_text(said, "utf-8")
        return pinpoint.hook(life, plan, "stop", payload)

    for _ in pinpoint.everywhere(life.store, "/completion-checkpoint.json", stop):
        assert "guest cart" not in life.episode["what_was_done"]
        assert path.exists()


@needs_fork
def test_an_index_of_an_archive_that_cannot_be_removed_tells_nothing(world: World, client: support.Client) -> None:
    (trip,) = remembered(world, client, "The Zanzibar trip is planned in full.")
    assert world.json("archive", "--before", "2099-01-01", "--open")["sessions"] == 1
    plan = Plan(errno.EIO, 1, on=".jsonl")
    plan.kinds = ("unlink",)
    outcome = pinpoint.command(world, plan, "forget", trip.id[:8], "--yes")
    assert outcome.code == 0, outcome
    assert [name for name, data in world.files().items() if b"zanzibar" in data.lower()] == []
    assert world.memory("verify").code == 0


@needs_fork
def test_no_fault_gives_away_the_checkpoint_of_a_living_session(life: Life) -> None:
    with support.Client() as process:
        earlier = Life(life.home, life.cwd, pid=process.pid)
        earlier.start()
        earlier.turn("one", "One is done, and tested in full.", "one.py")
        earlier.end()
        life.start()
        life.prompt("two")
        path = life.cwd / ".claude" / "completion-checkpoint.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"what_was_done": "Covered the guest cart"}), "utf-8")
        fresh = Life(life.home, life.cwd, pid=process.pid)
        payload = fresh.session.start()
        for outcome in pinpoint.everywhere(
            life.store, path.name, lambda plan: pinpoint.hook(fresh, plan, "session_start", payload)
        ):
            assert path.exists(), outcome


def started(life: Life, plan: Plan) -> interposer.Outcome:
    return pinpoint.hook(life, plan, "session_start", life.session.start())


@needs_fork
@pytest.mark.parametrize("has_session", [False, True])
def test_an_orphan_survives_the_death_of_whoever_adopts_it(life: Life, tmp_path: Path, has_session: bool) -> None:
    folder = life.cwd / ".claude"
    if has_session:  # it ended, so that nothing but the checkpoint leads to it
        life.start()
        life.turn("one", "One done.")
        life.end()

    def begin(number: int) -> Life:
        home = tmp_path / ("home %d" % number)
        shutil.copytree(str(life.home), str(home))
        shutil.rmtree(str(folder), ignore_errors=True)
        folder.mkdir()
        path = folder / "completion-checkpoint.json"
        path.write_text(json.dumps({"what_was_done": "Wrote the parser.", "learnings": ["It is slow"]}), "utf-8")
        written = time.time() - (0 if has_session else 3 * 86400)
        os.utime(str(path), (written, written))
        return Life(home, life.cwd, pid=life.pid)

    seen = [each for each in started(begin(0), Plan()).operations if each[0] in interposer.CHANGES]
    named = [number for number, (_, on) in enumerate(seen, 1) if "completion-checkpoint" in on]
    moments = [n for n in range(named[0], named[-1] + 2) if seen[n - 1][0] not in ("create", "write", "fsync")]
    for number in moments[sys.version_info[1] % 3 :: 3]:  # other versions try the others
        killed = begin(number)
        assert started(killed, Plan(interposer.KILL, number, changes=True)).is_killed
        for claim in folder.glob("*.claimed"):
            stem, _, _ = claim.name[: -len(".claimed")].rpartition(".")
            claim.rename(claim.with_name("%s.%d.claimed" % (stem, time.time_ns() - 10**12)))
        started(Life(killed.home, life.cwd, pid=life.pid), Plan())
        found = [value for value in support.episodes(killed.store) if "Wrote the parser." in value["what_was_done"]]
        assert [value["learnings"] for value in found] == [["It is slow"]], seen[number - 1]
        assert not list(folder.iterdir())
        assert failures(killed.store) == []


@needs_fork
def test_a_fault_at_the_root_itself_holds_nobody_up(tmp_path: Path) -> None:
    plan = Plan(errno.EIO, 1, stays=True)
    env = support.clean_environment(tmp_path)
    outcome = interposer.run(lambda: print(doctor._standing("/a/b/c")), plan, stdin=b"", env=env, cwd=str(tmp_path))
    assert outcome.stdout == "/\n"


@needs_fork
def test_a_purge_that_was_killed_is_finished_by_the_next(life: Life, world: World) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    life.end()
    world.memory("note", "add", "style", "Tabs", "--scope", "user")
    path, root = str(life.home / ".claude" / "settings.json"), str(life.store)
    place = installation.Target(str(support.ROOT), "user", path, root)
    wanted = entries.entries(str(support.ROOT), sys.executable, [root], str(life.home))

    def purge_all() -> None:
        memory = purge.survey(root)
        installation.uninstall(place, installation.plan_uninstall(place, wanted), memory)

    def run(plan: Plan) -> interposer.Outcome:
        env = support.clean_environment(life.home)
        return interposer.run(purge_all, plan, stdin=b"", env=env, cwd=str(life.home))

    installation.install(place, wanted, sys.executable, installation.plan_install(place, wanted))
    saved = life.home.with_name("saved")
    shutil.copytree(root, str(saved))
    settings_then = Path(path).read_bytes()
    number, outcome = 0, None
    while outcome is None or outcome.is_killed:
        number += 1
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(str(saved), root)
        Path(path).write_bytes(settings_then)
        outcome = run(Plan(interposer.KILL, number, changes=True))
        assert run(Plan()).code == 0
        assert [path for path in life.store.rglob("*") if path.is_file()] == [], (number, outcome)
    assert number > 20
