"""How long sessions are kept: whole, without artifacts, archived; and back again."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
import support
from commandline import HARNESS, World

from harness_memory.base import clock, settings
from harness_memory.base import files as store
from harness_memory.base.lock import Lock
from harness_memory.memory import archive as vault
from harness_memory.memory import forget, retention
from harness_memory.project import identity
from harness_memory.session import capture, episode, sessions, tombstones

DAY = 86400


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    """One session of today; older ones are added by `aged`."""
    world = World(home, repo)
    store.ensure_private(str(world.root))
    ours = identity.locate(str(world.root), str(repo), str(repo))
    identity.record(ours, clock.iso(time.time()))
    aged(world, 0, "of today", number=99)
    return world


def aged(world: World, days: float, name: str, *, remains: str = "", number: int = 0) -> str:
    """A session that ended so many days ago, as the hooks leave it; its short id."""
    at, memory = time.time() - days * DAY - 60, str(world.project)
    claude_id = "%08x-0000-4000-8000-%012x" % (int(days * 1000) + number, number)
    session = sessions.open_session(memory, claude_id, at, "project")
    state = capture.Capture()
    state.asks, state.answer, state.turn, state.root = [["", name]], name + ": done.", "answered", "r" + name
    state.ended, state.todos = clock.iso(at + 60), {"1": [remains, "pending"]} if remains else {}
    value = episode.build(session, state, str(world.repo), "", True)
    session.meta.update(status="COMPLETED", ended=state.ended, summary=value["what_was_done"])
    capture.save(session.dir, state)
    store.write(os.path.join(session.artifacts, "output.txt"), b"an output\n")
    store.write(os.path.join(session.dir, "summary.md"), episode.summary_page(value).encode())
    session.save()
    support.publish(memory, session.episode_name, episode.render(value))
    return session.id


def claude_id(world: World, short_id: str) -> str:
    return next(str(value["session_id"]) for value in support.episodes(world.root) if value["id"] == short_id)


def work(world: World) -> dict[str, list[str]]:
    return {path.name: sorted(p.name for p in path.iterdir()) for path in world.project.glob("WORK/*/*")}


def menu(world: World) -> bytes:
    return (world.project / "INDEX.md").read_bytes()


def assert_sound(world: World) -> None:
    before = world.files()
    assert world.memory("rebuild").code == 0
    assert world.files() == before
    checked = world.memory("verify")
    assert checked.code == 0, checked.stdout


def cut_off(data: bytes) -> bytes:
    return data[: len(data) // 2]


def garbled(data: bytes) -> bytes:
    """What reads well and is not what it was."""
    plain = gzip.decompress(data)
    packed = gzip.compress(plain.replace(b"an output", b"an 0utput"))
    return packed[:-8] + data[-8:]


def without_a_member(data: bytes) -> bytes:
    """A header that passes for the end, however sound the file is."""
    plain = bytearray(gzip.decompress(data))
    at = plain.index(b"WORK/", 512)
    plain[at : at + 1] = b"X"
    return gzip.compress(bytes(plain))


class TestPrune:
    def test_a_week_whole_a_month_without_artifacts_then_archived(self, world: World) -> None:
        ids = {days: aged(world, days, "work %s" % days) for days in (6.5, 7.5, 29.5, 30.5, 60)}
        before = menu(world)
        preview = world.json("prune", "--dry-run")[0]
        assert (preview["kept"], preview["artifacts_pruned"], preview["archived"]) == (2, 2, 2)
        assert len(work(world)) == 6
        (report,) = world.json("prune")
        assert {**report, "archives": [], "dry_run": True} == {**preview, "archives": []}
        left = work(world)
        assert "artifacts" in left[ids[6.5]]
        assert left[ids[7.5]] == left[ids[29.5]] == ["META.yaml", "capture.json", "summary.md"]
        assert ids[30.5] not in left
        assert ids[60] not in left
        assert menu(world) == before  # episodes have a retention of their own
        assert_sound(world)
        assert world.json("prune")[0]["artifacts_pruned"] == 0

    def test_deleted_if_so_configured(self, world: World) -> None:
        gone = aged(world, 40, "old")
        store.write(str(world.root / "config.json"), b'{"work_after": "delete"}')
        (report,) = world.json("prune")
        assert (report["deleted"], report["archives"]) == (1, [])
        assert gone not in work(world)
        assert not (world.root / "archive").exists()

    def test_a_word_that_is_no_setting_is_said(self, world: World) -> None:
        aged(world, 40, "old")
        store.write(str(world.root / "config.json"), b'{"work_after": "burn"}')
        assert world.json("prune")[0]["archived"] == 1
        assert "work_after" in world.memory("doctor").stdout

    def test_notes_nobody_used_are_proposed(self, world: World) -> None:
        world.memory("remember", "Totals are rounded once", "--topic", "totals")
        (note,) = world.project.glob("LEARNING/topics/totals.md")
        day = time.strftime("%Y-%m-%d")
        note.write_text(note.read_text("utf-8").replace(day, "2020-01-01"), "utf-8")
        for path in (note, *world.project.glob("STATE/used/*")):
            os.utime(str(path), (1, 1e9))
        (report,) = world.json("prune")
        assert len(report["unused_notes"]) == 1
        assert "list --unused" in world.memory("prune").stdout
        assert note.is_file()

    def test_older_than(self, world: World) -> None:
        aged(world, 5, "of this week")
        assert world.json("prune", "--older-than", "4d")[0]["archived"] == 1
        assert world.memory("prune", "--older-than", "soon").code == 2

    def test_a_session_at_work_is_left_alone(self, world: World, client: support.Client) -> None:
        mine = aged(world, 50, "long ago")
        session = sessions.find_short(str(world.project), mine)
        assert session
        sessions.mark_live(str(world.project), session, {}, str(world.repo))
        (report,) = world.json("prune")
        assert report["archived"] == 0
        assert mine in work(world)

    def test_a_damaged_record_stays_and_is_named(self, world: World) -> None:
        mine = aged(world, 50, "long ago")
        (meta,) = world.project.glob("WORK/*/%s/META.yaml" % mine)
        meta.write_bytes(b"nothing")
        done = world.memory("prune")
        assert done.code == 1
        assert "cannot be read" in done.stdout
        assert mine in work(world)

    @pytest.mark.skipif(os.name == "nt", reason="no such names there")
    def test_what_could_not_come_back_is_not_packed(self, world: World) -> None:
        mine, other = aged(world, 50, "long ago", number=1), aged(world, 51, "before that", number=2)
        (folder,) = world.project.glob("WORK/*/" + mine)
        (folder / "a\\b.txt").write_text("of a person", "utf-8")
        (report,) = world.json("prune", code=1)
        assert "has a name that is not restored" in report["left"][mine]
        assert (folder / "a\\b.txt").read_text("utf-8") == "of a person"
        assert other not in work(world)

    def test_a_pruned_session_that_goes_on_is_the_same(self, world: World) -> None:
        mine = aged(world, 40, "long ago", number=7)
        world.json("prune")
        claude_id = next(v["session_id"] for v in support.episodes(world.root) if v["id"] == mine)
        again = sessions.open_session(str(world.project), claude_id, time.time(), "project")
        (name,) = (path.name for path in (world.project / "episodes").glob("*-%s.json" % mine))
        assert (again.id, again.episode_name) == (mine, name)
        other = sessions.open_session(str(world.project), claude_id[:8] + "-1111", time.time(), "project")
        assert other.id != mine


class TestArchive:
    def before(self, days: float) -> str:
        return time.strftime("%Y-%m-%d", time.localtime(time.time() - days * DAY))

    def test_there_and_back(self, world: World) -> None:
        old = [aged(world, 50 + n, "old %d" % n, number=n) for n in range(3)]
        kept = aged(world, 10, "younger")
        before = world.files()
        report = world.json("archive", "--before", self.before(20))
        assert (report["sessions"], report["open"]) == (3, 0)
        assert all(name.encode() not in menu(world) for name in old)
        assert kept.encode() in menu(world)
        assert_sound(world)
        listed = world.json("restore")
        assert {entry["id"] for entry in listed} == {*old}
        assert listed[0]["headline"].startswith("old")

        assert world.json("restore", old[0])["restored"] == [old[0]]
        assert old[0].encode() in menu(world)
        assert world.json("restore", "--all")["refused"] == []
        assert {name: data for name, data in world.files().items() if not name.startswith("archive")} == before
        assert_sound(world)

    def test_open_threads_stay(self, world: World) -> None:
        open_one = aged(world, 50, "half done", remains="The other half")
        report = world.json("archive", "--before", self.before(20))
        assert (report["sessions"], report["open"]) == (0, 1)
        assert open_one in work(world)
        told = world.memory("archive", "--before", self.before(20), "--dry-run").stdout
        assert "1 session of a thread that is still open stays (--open takes it too)." in told
        assert world.json("archive", "--before", self.before(20), "--open")["sessions"] == 1

    def test_open_threads_stay_whatever_became_of_the_ledger(self, world: World) -> None:
        open_one = aged(world, 50, "half done", remains="The other half")
        (world.project / "STATE" / "conversation_state.json").unlink()
        assert world.json("archive", "--before", self.before(20))["sessions"] == 0
        assert open_one in work(world)

    def test_dry_run(self, world: World) -> None:
        aged(world, 50, "old")
        before = world.files()
        assert world.json("archive", "--before", self.before(20), "--dry-run")["sessions"] == 1
        assert world.files() == before

    def test_what_went_on_is_not_overwritten(self, world: World) -> None:
        mine = aged(world, 50, "old", number=3)
        claude_id = next(v["session_id"] for v in support.episodes(world.root) if v["id"] == mine)
        world.json("archive", "--before", self.before(20))
        again = sessions.open_session(str(world.project), claude_id, time.time(), "project")
        again.save()
        found = world.json("restore", mine, code=1)
        assert (found["restored"], found["refused"]) == ([], [mine])

    def test_only_what_was_written_counts(self, world: World) -> None:
        one, two = (aged(world, 50 + n, "old %d" % n, number=n) for n in (1, 2))
        world.json("archive", "--before", self.before(20))
        assert world.json("restore", one)["restored"] == [one]
        assert world.json("restore", "--all")["restored"] == [two]
        assert world.json("restore", "--all")["restored"] == []
        assert "here already" in world.memory("restore", "--all").stdout

    def test_a_session_put_away_in_parts_is_one(self, world: World) -> None:
        mine = aged(world, 50, "old")
        before = world.files()
        world.json("prune")  # its directory
        world.json("archive", "--before", self.before(20))  # and its episode
        assert [entry["id"] for entry in world.json("restore")] == [mine]
        assert world.memory("restore").stdout.count(mine) == 1
        assert world.json("restore", "--all")["restored"] == [mine]
        assert {name: data for name, data in world.files().items() if not name.startswith("archive")} == before

    def test_the_newest_of_a_session_is_brought_back(self, world: World) -> None:
        mine = aged(world, 50, "old")
        world.json("prune")
        world.json("restore", "--all")
        (page,) = world.project.glob("WORK/*/%s/summary.md" % mine)
        page.write_text("# Corrected\n", "utf-8")
        world.json("archive", "--before", self.before(20))
        assert world.json("restore", mine)["restored"] == [mine]
        assert page.read_text("utf-8") == "# Corrected\n"

    def test_it_is_private_and_any_tar_reads_it(self, world: World) -> None:
        mine = aged(world, 50, "old")
        (path,) = map(Path, world.json("archive", "--before", self.before(20))["archives"])
        if os.name == "posix":
            assert path.stat().st_mode & 0o077 == 0
        with tarfile.open(str(path)) as archive:
            found = [name for name in archive.getnames() if mine in name]
        assert len(found) == 5

    def test_it_can_be_searched(self, world: World) -> None:
        mine = aged(world, 50, "the quagga matter")
        assert world.memory("search", "quagga", "--archived").code == 1
        (path,) = world.json("archive", "--before", self.before(20))["archives"]
        (hit,) = world.json("search", "Quagga", "matter", "--archived")
        assert (hit["id"], hit["file"], hit["kind"]) == (mine, path, "archived")
        assert world.memory("search", "quagga").code == 1

    def test_the_same_is_not_packed_twice(self, world: World) -> None:
        aged(world, 50, "old")
        world.json("archive", "--before", self.before(20))
        world.json("restore", "--all")
        assert world.json("archive", "--before", self.before(20))["archives"] == []
        assert len(list(world.root.rglob("*.tar.gz"))) == 1

    @pytest.mark.parametrize("spoil", [cut_off, garbled, without_a_member, lambda data: b""])
    def test_the_same_is_packed_again_if_its_archive_is_damaged(
        self, world: World, spoil: Callable[[bytes], bytes]
    ) -> None:
        mine = aged(world, 50, "old")
        before = world.files()
        (path,) = map(Path, world.json("archive", "--before", self.before(20))["archives"])
        world.json("restore", "--all")
        path.write_bytes(spoil(path.read_bytes()))
        (again,) = world.json("archive", "--before", self.before(20))["archives"]
        assert again != str(path)
        assert mine not in work(world)
        path.unlink()
        assert world.json("restore", "--all")["restored"] == [mine]
        assert {name: data for name, data in world.files().items() if not name.startswith("archive")} == before

    @pytest.mark.parametrize(
        ("path", "ours"),
        [
            ("episodes/session-2026-01-01T000000Z-a1.json", True),
            ("WORK/2026-01-01/a1/META.yaml", True),
            ("WORK/2026-01-01/a1/artifacts/x.json", True),
            ("WORK/2026-01-01/../../briefing.md", False),
            ("WORK/2026-01-01/a1", False),
            ("/etc/passwd", False),
            ("briefing.md", False),
            ("episodes/../briefing.md", False),
            ("episodes/session-x/y.json", False),
        ],
    )
    def test_no_path_leads_out(self, path: str, ours: bool) -> None:
        assert vault.is_ours(path) is ours

    def test_dropped_from_every_archive(self, world: World) -> None:
        one, two = (aged(world, 50 + n, "secret plan %d" % n, number=n) for n in (1, 2))
        world.json("archive", "--before", self.before(20))
        root, memory = str(world.root), str(world.project)
        texts = [(entry["id"], text) for _, entry, _, text in vault.texts(root, memory, [])]
        assert {id for id, text in texts if "secret plan" in text} == {one, two}
        assert vault.drop(root, memory, lambda entry: entry["id"] == one) == 1
        assert {entry["id"] for _, entry, _, _ in vault.texts(root, memory, [])} == {two}
        assert vault.drop(root, memory, lambda entry: True) == 1
        assert not list((world.root / "archive").rglob("*.*"))


class TestDamaged:
    def archived(self, world: World, number: int) -> tuple[str, Path]:
        mine = aged(world, 50 + number, "old %d" % number, number=number)
        (path,) = map(Path, world.json("archive", "--before", TestArchive().before(20))["archives"])
        return mine, path

    @pytest.mark.parametrize("spoil", [cut_off, garbled, lambda data: b""])
    def test_the_others_are_restored_whole(self, world: World, spoil: Callable[[bytes], bytes]) -> None:
        (one, _), (two, path), (three, _) = (self.archived(world, number) for number in (1, 2, 3))
        path.write_bytes(spoil(path.read_bytes()))
        done = world.memory("restore", "--all")
        assert (done.code, done.stdout) == (2, "Restored 2 sessions.\n")
        assert path.name in done.stderr
        assert "damaged" in done.stderr
        assert {one, three} < {*work(world)}
        assert all(name.encode() in menu(world) for name in (one, three))
        assert two not in work(world)
        again = world.json("restore", "--all", code=2)
        assert (again["restored"], again["unread"]) == ([], [str(path)])
        assert world.memory("restore", one).code == 0

    def test_of_a_damaged_one_what_is_whole_is_restored(self, world: World) -> None:
        one, two = (aged(world, 50 - n, "old %d" % n, number=n) for n in (1, 2))
        (artifacts,) = world.project.glob("WORK/*/%s/artifacts" % two)
        (artifacts / "noise").write_bytes(os.urandom(4000))
        before = world.files()
        (path,) = map(Path, world.json("archive", "--before", TestArchive().before(20))["archives"])
        path.write_bytes(path.read_bytes()[:-2500])
        world.memory("rebuild")  # after which recall knows nothing of them
        assert world.json("restore", "--all", code=2)["restored"] == [one]
        assert two not in work(world)
        after = world.files()
        assert [name for name in before if one in name and after.get(name) != before[name]] == []
        assert {found["file"] for found in world.json("verify", code=1)["findings"]} == {str(path)}

    def test_an_older_copy_stands_in(self, world: World) -> None:
        mine, _ = self.archived(world, 1)
        world.json("restore", "--all")
        (page,) = world.project.glob("WORK/*/%s/summary.md" % mine)
        former = page.read_bytes()
        page.write_text("# Corrected\n", "utf-8")
        (path,) = map(Path, world.json("archive", "--before", TestArchive().before(20))["archives"])
        path.write_bytes(cut_off(path.read_bytes()))
        assert world.json("restore", "--all", code=2)["restored"] == [mine]
        assert page.read_bytes() == former


class TestLeft:
    """What was not done is not said to be."""

    @pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
    @pytest.mark.parametrize("words", [("archive", "--before", TestArchive().before(20)), ("prune",)])
    def test_what_cannot_be_packed(self, world: World, words: tuple[str, ...]) -> None:
        one, two = (aged(world, 50 + n, "old %d" % n, number=n) for n in (1, 2))
        (directory,) = world.project.glob("WORK/*/" + one)
        (directory / "link").symlink_to("/etc/hostname")
        done = world.memory(*words)
        assert done.code == 1
        assert "Archived 1 session." in done.stdout or "1 archived" in done.stdout
        assert "%s stays: link: is a symbolic link" % one in done.stdout
        assert one in work(world)
        assert two not in work(world)
        report = world.json(*words, code=1)
        assert one in (report if words[0] == "archive" else report[0])["left"]

    @pytest.mark.parametrize("after", ["archive", "delete"])
    def test_what_is_at_work(self, world: World, after: str) -> None:
        mine, stripped = aged(world, 50, "old", number=1), aged(world, 20, "younger", number=2)
        store.write(str(world.root / "config.json"), b'{"work_after": "%s"}' % after.encode())
        values = [value for value in support.episodes(world.root) if value["id"] in (mine, stripped)]
        live = world.project / "STATE" / "live"
        locks = [live / (value["session_id"] + ".lock") for value in values]
        with support.hold_lock(locks[0]) as first, support.hold_lock(locks[1]) as second:
            (report,) = world.json("prune", code=1)
            first.kill()
            second.kill()
        assert (report["artifacts_pruned"], report[after + "d"]) == (0, 0)
        assert report["left"] == dict.fromkeys((mine, stripped), "it is at work")
        assert "artifacts" in work(world)[mine]
        (report,) = world.json("prune")
        assert (report["artifacts_pruned"], report[after + "d"], report["left"]) == (1, 1, {})


class TestAtOnce:
    @pytest.mark.parametrize(
        "words",
        [
            ("archive", "--before", "2099-01-01"),
            ("prune",),
            ("restore", "--all"),
            ("forget", "{id}", "--yes"),
        ],
    )
    def test_one_command_at_a_time(self, world: World, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
        mine = aged(world, 50, "old")
        world.json("archive", "--before", TestArchive().before(20))
        other = aged(world, 40, "another")
        put_away = sorted((world.root / "archive").rglob("*"))
        monkeypatch.setattr(vault, "_LOCK_SECONDS", 0.02)
        with support.hold_lock(world.project / "STATE" / settings.ARCHIVE_LOCK) as holder:
            refused = world.memory(*(word.format(id=mine) for word in words))
            assert (refused.code, refused.stdout) == (2, "") or words[0] == "forget"
            assert "another command is at work on the archives" in refused.stderr
            assert world.memory("prune", "--dry-run").code == 0
            holder.kill()
        assert other in work(world)
        assert sorted((world.root / "archive").rglob("*")) == put_away
        assert world.memory(*(word.format(id=mine) for word in words)).code == 0

    def test_what_is_done_is_found_out_alone(self, world: World) -> None:
        """Another command may have put away by then what was to be."""
        aged(world, 50, "old")
        memory, read = str(world.project), os.listdir
        seen: list[bool] = []

        def is_busy(path: str) -> Any:
            if path == os.path.join(memory, "WORK"):
                with Lock(os.path.join(memory, "STATE", settings.ARCHIVE_LOCK), 0) as held:
                    seen.append(held)
            return read(path)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "listdir", is_busy)
            world.json("archive", "--before", TestArchive().before(20))
            looked = len(seen)
            world.json("restore", "--all")
        assert 0 < looked < len(seen)
        assert not any(seen)

    @pytest.mark.parametrize("what", ["directory", "episode", "both"])
    def test_what_went_on_after_it_was_packed_stays(self, world: World, what: str) -> None:
        for number in (1, 2):
            aged(world, 60 - number, "old %d" % number, number=number)
        root, memory = str(world.root), str(world.project)
        found, _ = retention.before(memory, time.time() - 20 * DAY, with_open=True)
        first, second = (os.path.basename(each.directory) for each in found)
        page, story = (os.path.join(found[1].directory, "summary.md"), found[1].episode)

        def go_on() -> None:
            if what != "episode":
                store.write(page, b"# New work\n")
            if what != "directory":
                value = {**(episode.load(memory, story) or {}), "what_was_done": "New work."}
                support.publish(memory, story, episode.render(value))

        steps = iter([go_on, lambda: None])
        made = retention.put_away(root, memory, found, time.time(), lambda: next(steps)())
        assert (made.number, made.left) == (1, {second: "it went on meanwhile"})
        assert first not in work(world)
        told = (episode.load(memory, story) or {})["what_was_done"]
        assert told == ("old 2: done." if what == "directory" else "New work.")
        assert (second in work(world)) is (what != "episode")
        assert what == "episode" or Path(page).read_text("utf-8") == "# New work\n"
        if what == "episode":
            assert {*world.json("restore", "--all")["restored"]} == {first, second}
        assert_sound(world)

    def test_what_was_resumed_and_has_no_record_yet_stays_archived(self, world: World) -> None:
        mine = aged(world, 50, "old")
        memory = str(world.project)
        session = sessions.find_short(memory, mine)
        assert session
        claude_id = str(session.meta["claude_session"])
        world.json("archive", "--before", TestArchive().before(20), "--open")
        begun = sessions.open_session(memory, claude_id, time.time(), "")
        sessions.mark_live(memory, begun, {}, str(world.repo))  # and its hook was killed then
        assert mine in world.memory("restore", "--all").stdout
        assert mine not in work(world)
        sessions.unmark_live(memory, claude_id)
        assert world.json("restore", "--all")["restored"] == [mine]
        assert_sound(world)

    @pytest.mark.parametrize("act", ["strip", "remove", "put away"])
    def test_what_went_on_after_the_plan_stays(self, world: World, act: str) -> None:
        mine = aged(world, 20, "old")
        memory = str(world.project)
        plan = retention.plan(memory, time.time(), 7, 30 if act == "strip" else 7, lambda: None)
        session = sessions.find_short(memory, mine)
        assert session
        session.meta["ended"] = clock.iso(time.time())
        session.save()
        if act == "strip":
            assert retention.strip(memory, *plan.stripped) == "it went on meanwhile"
        elif act == "remove":
            assert retention.remove(memory, plan.away, lambda: None).left == {mine: "it went on meanwhile"}
        else:
            made = retention.put_away(str(world.root), memory, plan.away, time.time(), lambda: None)
            assert (made.archives, made.left) == ([], {mine: "it went on meanwhile"})
        assert "artifacts" in work(world)[mine]

    def test_what_is_forgotten_is_not_put_away(self, world: World) -> None:
        """It was read before, perhaps, and all of it is removed only now."""
        mine, other = (aged(world, 50 + n, "old %d" % n, number=n) for n in (1, 2))
        tombstones.add(str(world.project), time.time(), sessions=[claude_id(world, mine)])
        report = world.json("archive", "--before", TestArchive().before(20), code=1)
        assert (report["sessions"], report["left"]) == (1, {mine: "it was forgotten"})
        assert [entry["id"] for entry in world.json("restore")] == [other]

    def test_what_is_forgotten_is_not_brought_back(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        mine, other = (aged(world, 50 + n, "old %d" % n, number=n) for n in (1, 2))
        world.json("archive", "--before", TestArchive().before(20))
        with monkeypatch.context() as patch:
            patch.setattr(forget, "doubt", interrupted)
            assert world.memory("forget", mine, "--yes").code == 130
        found = world.json("restore", "--all", code=1)
        assert (found["restored"], found["forgotten"]) == ([other], [mine])
        assert "%s was forgotten" % mine in world.memory("restore", mine).stdout
        assert mine not in work(world)
        assert world.memory("forget", mine, "--yes").code == 0
        assert world.memory("restore", "--all").code == 0

    @pytest.mark.parametrize("is_at_work", [True, False])
    def test_what_is_resumed_meanwhile_is_not_brought_back(
        self, world: World, monkeypatch: pytest.MonkeyPatch, is_at_work: bool
    ) -> None:
        mine = aged(world, 50, "old")
        id = claude_id(world, mine)
        world.json("archive", "--before", TestArchive().before(20))
        real = retention._taken

        def taken(*told: Any) -> dict[str, str]:
            """One that looks before the session goes on."""
            found = real(*told)
            if not is_at_work:
                world.work("More of it", "The answer to that.", session=support.Session(world.repo, world.home, id))
            return found

        monkeypatch.setattr(retention, "_taken", taken)
        monkeypatch.setattr(retention, "_LOCK_SECONDS", 0.05)
        with Lock(sessions.lock(str(world.project), id, 0).path if is_at_work else str(world.home / "no.lock"), 1):
            found = world.json("restore", "--all", code=1)
        assert (found["restored"], found["refused"]) == ([], [mine])
        assert len([value for value in support.episodes(world.root) if value["id"] == mine]) == (not is_at_work)
        assert_sound(world)

    def test_what_a_forgotten_session_did_later_is_put_away(self, world: World) -> None:
        mine = aged(world, 50, "old")
        tombstones.add(str(world.project), time.time() - 60 * DAY, sessions=[claude_id(world, mine)])
        assert world.json("archive", "--before", TestArchive().before(20))["sessions"] == 1
        assert world.json("restore", "--all")["restored"] == [mine]

    @pytest.mark.parametrize("has_links", [True, False])
    def test_no_archive_takes_the_place_of_another(
        self, tmp_path: Path, has_links: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Even where there are no locks."""

        def no_link(source: str, target: str) -> None:
            raise PermissionError(1, "Operation not permitted", target)

        if not has_links:
            monkeypatch.setattr(os, "link", no_link)
        root = str(tmp_path)
        inner: list[str] = []

        def bundles() -> Iterator[vault.Bundle]:
            yield bundle("a")
            inner.append(vault.pack(root, "/p", [bundle("b")], 1e9))
            vault.tidy(root, "/p")

        outer = vault.pack(root, "/p", bundles(), 1e9)
        assert [*vault.files(root, "/p", outer, lambda _: True)] == [*bundle("a").files.items()]
        assert [*vault.files(root, "/p", *inner, lambda _: True)] == [*bundle("b").files.items()]
        assert {entry["id"] for _, entry in vault.entries(root, "/p")} == {"a", "b"}

    def test_one_that_could_not_be_packed_leaves_nothing(self, tmp_path: Path) -> None:
        def bundles() -> Iterator[vault.Bundle]:
            raise OSError(28, "No space left on device")
            yield

        with pytest.raises(OSError, match="No space"):
            vault.pack(str(tmp_path), "/p", bundles(), 1e9)
        assert vault.pack(str(tmp_path), "/p", [], 1e9) == ""
        assert os.listdir(vault.folder(str(tmp_path), "/p")) == []

    def test_an_index_that_a_killed_run_left_is_forgotten_too(self, world: World) -> None:
        mine = aged(world, 50, "the secret plan")
        world.json("archive", "--before", TestArchive().before(20))
        (path,) = (world.root / "archive").rglob("*.tar.gz")
        path.unlink()
        assert vault.drop(str(world.root), str(world.project), lambda entry: entry["id"] == mine) == 1
        assert not list((world.root / "archive").rglob("*.*"))


def interrupted(*told: Any) -> None:
    raise KeyboardInterrupt


def bundle(name: str) -> vault.Bundle:
    entry = {"id": name, "session_id": "", "started": "", "ended": "", "headline": "", "episode": ""}
    path = "WORK/2026-01-01/%s/META.yaml" % name
    return vault.Bundle({**entry, "work": "2026-01-01/" + name, "digest": "d" + name}, {path: name.encode()})


INTERRUPTED = """
import os, sys
sys.path.insert(0, %r)
from harness_memory.base import files as store
from harness_memory.memory import archive as vault
from harness_memory.memory import retention
at, seen = int(sys.argv[1]), [0]
def counted(function):
    def call(*given, **named):
        seen[0] += 1
        if seen[0] == at:
            os._exit(9)
        return function(*given, **named)
    return call
for module, names in ((os, ("replace", "unlink", "rmdir", "fsync")), (store, ("write",))):
    for name in names:
        setattr(module, name, counted(getattr(module, name)))
from harness_memory.cli import main
sys.exit(main(["memory", "archive", "--before", sys.argv[2]]))
"""


@pytest.mark.parametrize("at", [1, 2, 4, 7, 11, 14, 16, 18])
def test_killed_at_any_point_nothing_is_lost(world: World, at: int) -> None:
    mine = aged(world, 50, "old")
    day = TestArchive().before(20)
    wanted = {
        str(p.relative_to(world.project)): p.read_bytes()
        for p in world.project.rglob("*%s*/**/*" % mine)
        if p.is_file()
    }
    wanted = {**wanted, **{"episodes/" + p.name: p.read_bytes() for p in world.project.glob("episodes/*%s*" % mine)}}
    code = INTERRUPTED % str(HARNESS.parent / "lib")
    env = support.clean_environment(world.home)
    subprocess.run([sys.executable, "-c", code, str(at), day], env=env, cwd=str(world.repo), check=False)
    assert world.memory("archive", "--before", day).code == 0
    assert world.memory("restore", "--all").code == 0
    assert {name: (world.project / name).read_bytes() for name in wanted} == wanted
    assert world.memory("rebuild").code == 0
    assert mine.encode() in menu(world)


@pytest.mark.skipif(os.name == "nt", reason="no pseudo terminals there")
def test_a_meter_shows_on_terminals_alone(world: World) -> None:
    import pty

    aged(world, 50, "old")
    assert world.memory("prune", "--dry-run").stderr == ""
    leader, follower = pty.openpty()
    command = [sys.executable, str(HARNESS), "memory", "prune"]
    env = support.clean_environment(world.home, {"TERM": "xterm"})
    done = subprocess.run(command, env=env, cwd=str(world.repo), stdout=subprocess.PIPE, stderr=follower, check=True)
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    assert "\rLooking at sessions" in shown
    assert "\rPruning [####################] 100%" in shown
    assert b"\r" not in done.stdout


@pytest.mark.parametrize(
    "spoil",
    [
        lambda index: index.unlink(),
        lambda index: index.write_bytes(b""),
        lambda index: index.write_bytes(b"no index\n"),
        lambda index: index.write_bytes(index.read_bytes()[:-9]),
    ],
)
def test_an_index_that_is_lost_is_made_anew(world: World, spoil: Callable[[Path], object]) -> None:
    ids = {aged(world, 50 + n, "old %d" % n, number=n) for n in range(3)}
    world.json("archive", "--before", TestArchive().before(20))
    (index,) = world.root.rglob("sessions-*.jsonl")
    before = index.read_bytes()
    spoil(index)
    findings = world.json("verify", "--all-projects", code=1)["findings"]
    assert any("rebuild" in finding["remedy"] for finding in findings)
    assert world.json("rebuild")[0]["changed"] == [index.relative_to(world.root).as_posix()]
    assert sorted(index.read_bytes().split(b"\n")) == sorted(before.split(b"\n"))
    assert world.json("verify", "--all-projects")["findings"] == []
    assert {*world.json("restore", "--all")["restored"]} == ids


@pytest.mark.parametrize("size", [1 << 20, 1500 << 20])
def test_an_archive_padded_with_zeros_is_damaged_and_costs_nobody_time(world: World, size: int) -> None:
    mine = aged(world, 50, "old")
    world.json("archive", "--before", TestArchive().before(20))
    (path,) = world.root.rglob("sessions-*.tar.gz")
    with path.open("r+b") as file:
        file.truncate(size)
    found = world.memory("search", "old", "--archived")
    assert (found.code, "ends in zeros" in found.stderr) == (2, True)
    assert "ends in zeros" in str(world.json("verify", "--all-projects", code=1)["findings"])
    assert world.memory("restore", mine).code == 2


def test_search_texts_survive_a_damaged_archive(world: World) -> None:
    aged(world, 50, "old")
    world.json("archive", "--before", TestArchive().before(20))
    (index,) = world.root.rglob("sessions-*.jsonl")
    index.write_bytes(b"nonsense\n" + index.read_bytes())
    assert len({entry["id"] for _, entry in vault.entries(str(world.root), str(world.project))}) == 1


@pytest.mark.parametrize("spoil", [cut_off, garbled, without_a_member, lambda data: b"no archive"])
def test_a_damaged_archive_is_known_by_reading_it(world: World, spoil: Callable[[bytes], bytes]) -> None:
    aged(world, 50, "old")
    (path,) = map(Path, world.json("archive", "--before", TestArchive().before(20))["archives"])
    root, memory, name = str(world.root), str(world.project), path.name[: -len(vault.ENDING)]
    held, trouble = vault.sound(root, memory, name)
    assert (held, trouble) == ({entry["digest"] for _, entry in vault.entries(root, memory)}, None)
    path.write_bytes(spoil(path.read_bytes()))
    held, trouble = vault.sound(root, memory, name)
    assert held == set()
    assert trouble or spoil is without_a_member


@pytest.mark.parametrize("name", ["a", "artifacts/" + "n" * 60, "artifacts/" + "n" * 90, "artifacts/ümläut.txt"])
@pytest.mark.parametrize("size", [0, 1, 511, 512, 513])
def test_every_tar_reads_what_is_packed(tmp_path: Path, name: str, size: int) -> None:
    path, data = "WORK/2026-01-01/a1b2c3d4/" + name, b"x" * size
    entry = {"id": "a1b2c3d4", "session_id": "", "started": "", "ended": "", "headline": "", "episode": ""}
    bundle = vault.Bundle({**entry, "work": "2026-01-01/a1b2c3d4", "digest": "d"}, {path: data, path + "2": b"more"})
    packed = vault.pack(str(tmp_path), "/p", [bundle], 1e9)
    assert dict(vault.files(str(tmp_path), "/p", packed, lambda _: True)) == bundle.files
    with tarfile.open(os.path.join(vault.folder(str(tmp_path), "/p"), packed + vault.ENDING)) as archive:
        found = archive.getmember(path)
    assert (found.mode, found.size, found.mtime, found.isreg()) == (0o600, size, 1e9, True)


@pytest.mark.parametrize("now", [-1e9, 8.4e9, 8.7e9, 3.2e10])
def test_whatever_the_clock_says_what_is_packed_is_read(tmp_path: Path, now: float) -> None:
    packed = vault.pack(str(tmp_path), "/p", [bundle("a")], now)
    assert dict(vault.files(str(tmp_path), "/p", packed, lambda _: True)) == bundle("a").files


def test_plan_counts_every_session(world: World) -> None:
    aged(world, 50, "old")
    seen: list[Any] = []
    plan = retention.plan(str(world.project), time.time(), 7, 30, lambda: seen.append(1))
    assert (len(seen), plan.kept, len(plan.away)) == (2, 1, 1)
    assert json.dumps([aged.claude_id for aged in plan.away])
