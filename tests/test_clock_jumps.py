"""Clocks that are wrong, set back, set ahead, or in another zone: one record a session, none lost, none aged by it."""

from __future__ import annotations

import calendar
import os
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable

import pytest
import support
from commandline import World
from life import Life, failures

from harness_memory.base import files as store
from harness_memory.base.lock import Lock

DAY = 86400
YEAR = 365 * DAY
ZONE = "import time; time.tzset()\n"
# A clock that is `offset` seconds ahead; what is left to the kernel is set right afterwards, by `redate`.
CLOCK = """
import time
offset = %r
true_time, true_ns = time.time, time.time_ns
local, universal, form = time.localtime, time.gmtime, time.strftime
time.time = lambda: true_time() + offset
time.time_ns = lambda: true_ns() + int(offset * 10**9)
time.localtime = lambda seconds=None: local(time.time() if seconds is None else seconds)
time.gmtime = lambda seconds=None: universal(time.time() if seconds is None else seconds)
time.strftime = lambda how, at=None: form(how, time.localtime() if at is None else at)
"""


def redate(top: Path, since: float, offset: float) -> None:
    """What was written after `since` is given the time that a clock ahead by `offset` would have given it."""
    for folder, folders, files in os.walk(str(top)):
        for name in (*files, *folders):
            path = os.path.join(folder, name)
            modified = os.lstat(path).st_mtime
            if since <= modified <= time.time() + 1 and not os.path.islink(path):
                os.utime(path, (max(0.0, modified + offset),) * 2)


class Timed(Life):
    """A session under a clock of its own."""

    offset = 0.0

    def at(self, instant: float | str) -> Timed:
        """From now on it is `2026-11-16T01:58:08Z`, or so many seconds since 1970."""
        moment = epoch(instant) if isinstance(instant, str) else instant
        self.offset = moment - time.time()
        self.under = ZONE + CLOCK % self.offset
        self.transcript.now = datetime.fromtimestamp(max(0.0, moment), timezone.utc)
        return self

    def run(self, script: str, payload: Any) -> support.Result:
        began = time.time() - 0.01
        redate(self.home, began, self.offset)  # what the transcript got meanwhile
        result = super().run(script, payload)
        redate(self.home, began, self.offset)
        return result


def epoch(text: str) -> float:
    return float(calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")))


@pytest.fixture
def begin(home: Path, repo: Path, client: support.Client) -> Callable[..., Timed]:
    return lambda instant: Timed(home, repo, pid=client.pid).at(instant)


def work(life: Timed, ask: str) -> Timed:
    """A whole session of one turn."""
    life.start()
    life.turn(ask, "Done, all of it, for %s." % ask, "a.py")
    life.end()
    return life


NOW = time.time()
JUMPS = {
    "hours back": (NOW, NOW - 3 * 3600),
    "years back": (NOW, NOW - 3 * YEAR),
    "to 1970": (NOW, 12.0),
    "out of 1970": (12.0, NOW),
    "back from 2100": (epoch("2100-03-01T00:00:00Z"), NOW),
    "over midnight": ("2026-06-11T23:59:50Z", "2026-06-12T00:00:10Z"),
}


@pytest.mark.parametrize("jump", JUMPS)
def test_a_session_over_a_jump_is_one_record(begin: Callable[..., Timed], world: World, jump: str) -> None:
    first, second = JUMPS[jump]
    life = begin(first)
    life.start()
    life.turn("one", "The first is done.", "one.py")
    life.at(second).turn("two", "The second is done.", "two.py")
    life.end()
    assert len(support.meta_files(life.store)) == 1
    assert life.episode["asked"] == ["one", "two"]
    assert life.episode["files_changed"] == ["one.py", "two.py"]
    assert life.episode["started"] <= life.episode["ended"]
    assert life.meta["started"] <= life.meta["ended"]
    assert 0 <= life.episode["duration_minutes"] < 60
    # It ended, and speaks again on whatever day it is by then.
    life.at(NOW).start("resume")
    life.turn("three", "The third is done.", "three.py")
    assert len(support.meta_files(life.store)) == 1
    assert life.episode["asked"] == ["one", "two", "three"]
    assert failures(life.store) == []
    world.assert_sound()


def test_sessions_under_different_clocks_are_all_listed(begin: Callable[..., Timed], world: World) -> None:
    lives = []
    for number, instant in enumerate((NOW - 5 * DAY, 12.0, NOW - 4 * DAY, NOW + 10 * YEAR, NOW - 3 * DAY, NOW)):
        lives.append(work(begin(instant), "the matter of number %d" % number))
    assert all(life.has_episode for life in lives)
    listed = world.json("list")
    assert [entry["id"] for entry in listed] == [lives[n].session.id[:8] for n in (3, 5, 4, 2, 0, 1)]
    world.assert_sound()
    for life in lives:  # also what lies in the future
        assert life.session.id[:8] in world.memory("search", "matter", "number").stdout
    told = begin(NOW).start().context
    assert all(life.session.id[:8] in told for life in lives)


def test_years_ahead_for_some_sessions_deletes_nothing(begin: Callable[..., Timed], world: World) -> None:
    for ago in (60, 30, 2):
        life = work(begin(NOW - ago * DAY), "work of %d days ago" % ago)
    tasks = life.cwd / ".claude" / "async-tasks"
    tasks.mkdir(parents=True)
    (tasks / "fresh.json").write_text("{}", "utf-8")
    known = {path.name for path in support.episode_files(life.store)}
    assert len(known) == 3
    for hours in (0, 1, 30):
        work(begin(NOW + 10 * YEAR + hours * 3600), "work of the future")
    begin(NOW).start()
    assert known < {path.name for path in support.episode_files(life.store)}
    assert (tasks / "fresh.json").exists()
    world.assert_sound()


def test_episodes_older_than_retention_go_at_a_start(begin: Callable[..., Timed], store_root: Path) -> None:
    for ago in (100, 95, 14, 8, 2):
        work(begin(NOW - ago * DAY), "work of %d days ago" % ago)
    work(begin(12.0), "work under a clock that stood still in 1970")
    begin(NOW).start()
    asked = [value["asked"][0] for value in support.episodes(store_root)]
    assert asked[1:] == ["work of %d days ago" % ago for ago in (14, 8, 2)]
    assert "1970" in asked[0]


def test_prune_does_not_trust_a_clock_that_is_years_ahead(
    begin: Callable[..., Timed], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = work(begin(NOW - 2 * DAY), "work")
    store.write(str(world.root / "config.json"), b'{"work_after": "delete"}')
    monkeypatch.setattr(time, "time", lambda: NOW + 3 * YEAR)
    (report,) = world.json("prune")
    assert (report["kept"], report["deleted"]) == (1, 0)
    assert "the clock may be wrong" in world.memory("prune").stdout
    assert life.directory.is_dir()
    (report,) = world.json("prune", "--older-than", "30d")
    assert report["deleted"] == 1


def test_files_of_the_future_are_in_nobodys_way(begin: Callable[..., Timed], world: World) -> None:
    life = begin(NOW)
    life.start()
    life.turn("one", "The first is done.", "one.py")
    temporary = life.project / "STATE" / ".x.json.1.2.tmp"
    temporary.write_text("{", "utf-8")
    for path in sorted(life.store.rglob("*"), reverse=True):
        os.utime(str(path), (NOW + 9 * YEAR, NOW + 9 * YEAR))
    other = begin(NOW)
    other.start()
    assert not temporary.exists()
    life.turn("two", "The second is done.", "two.py")
    assert life.episode["asked"] == ["one", "two"]
    with Lock(str(life.project / "STATE" / "views.lock"), 0) as held:
        assert held
    assert failures(life.store) == []
    world.assert_sound()
