"""The life of a session, from its first hook to its last, through real processes."""

from __future__ import annotations

import json
import os
import stat
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest
import support
from commandline import World
from life import Life, failures


def other(life: Life, pid: int | None = None, session_id: str | None = None) -> Life:
    return Life(life.home, life.cwd, session_id=session_id, pid=pid)


def test_active_then_completed_then_active_again(life: Life) -> None:
    life.start()
    assert life.meta["status"] == "ACTIVE"
    assert life.meta["ended"] is None
    life.turn("add a parser", "Added the parser.", "parser.py")
    assert life.meta["status"] == "COMPLETED"
    life.prompt("and tests")
    assert life.meta["status"] == "ACTIVE"
    assert life.meta["ended"] is None
    life.transcript.write(life.cwd / "test_parser.py").text("Added tests.")
    life.stop("Added tests.")
    life.end("prompt_input_exit")
    meta = life.meta
    assert (meta["status"], meta["reason"]) == ("COMPLETED", "prompt_input_exit")
    assert meta["summary"] == "Added the parser.\n\nAdded tests."
    assert meta["artifacts"] == ["parser.py", "test_parser.py"]
    assert meta["branch"] == "main"
    assert meta["pid"] == life.pid
    assert meta["claude_session"] == life.session.id
    assert not life.is_marked_live
    assert failures(life.store) == []


def test_the_record_is_whole_after_every_stop(life: Life) -> None:
    life.start()
    life.turn("add a parser", "Added the parser.", "parser.py")
    episode = life.episode
    assert episode["asked"] == ["add a parser"]
    assert episode["what_was_done"] == "Added the parser."
    assert episode["files_changed"] == ["parser.py"]
    assert episode["outcome"] == "completed"
    assert episode["source"] == "transcript"
    assert episode["model"] == support.MODEL
    assert episode["channel"] == "sdk-cli"
    assert "Added the parser." in (life.directory / "summary.md").read_text("utf-8")
    assert "Added the parser. [parser.py]" in (life.project / "INDEX.md").read_text("utf-8")
    assert [thread["status"] for thread in life.threads()] == ["closed"]


def test_a_courtesy_does_not_bury_the_work(life: Life) -> None:
    cause = "Root cause: the cache key lacks the locale, so every language shares one page. Add it to the key."
    life.start()
    life.turn("why do German users see English pages?", cause)
    life.turn("thanks", "You're welcome!")
    assert life.episode["what_was_done"] == cause + "\n\nYou're welcome!"
    assert life.episode["headline"].startswith("Root cause: the cache key lacks the locale")
    life.turn("fix it then", "Added the locale to the cache key.", "cache.py")
    life.turn("great", "Glad it helps! Let me know whenever there is anything else that I can do for you today.")
    assert life.episode["headline"] == "Added the locale to the cache key."
    assert all(text in life.episode["what_was_done"] for text in ("Root cause", "Added the locale", "Glad it helps"))


def test_a_terse_answer_is_told_by_its_question(life: Life) -> None:
    life.start()
    life.turn("rename the button to Save", "Done.", "button.tsx")
    assert life.episode["what_was_done"] == "Done."
    assert "rename the button to Save [button.tsx]" in (life.project / "INDEX.md").read_text("utf-8")


def test_a_long_session_keeps_the_turns_that_changed_something(life: Life) -> None:
    life.start()
    for number in range(12):
        files = ["f%d.py" % number] if number in (0, 5, 11) else []
        life.turn(
            "ask %d" % number,
            "Answer %d, in a sentence that is long enough to be of some substance to a reader, it is." % number,
            *files,
        )
    done = life.episode["what_was_done"]
    assert len(done) <= 910
    assert all("Answer %d," % number in done for number in (0, 5, 11))


def test_a_session_whose_start_was_missed(life: Life) -> None:
    life.turn("fix it", "Fixed.", "a.py")
    assert life.meta["status"] == "COMPLETED"
    assert life.episode["what_was_done"] == "Fixed."


@pytest.mark.parametrize("event", ["stop", "pre_compact", "session_end"])
def test_any_event_may_be_the_first_seen(life: Life, event: str) -> None:
    life.transcript.turn("ask", "Done.", files=[life.cwd / "a.py"])
    payloads = {
        "stop": life.session.stop("Done."),
        "pre_compact": life.session.pre_compact(),
        "session_end": life.session.end(),
    }
    life.run(event, payloads[event])
    assert life.episode["files_changed"] == ["a.py"]


def test_a_session_without_substance_leaves_a_record_but_no_episode(life: Life) -> None:
    life.start()
    life.end()
    assert life.meta["status"] == "COMPLETED"
    assert not life.has_episode
    assert not (life.project / "INDEX.md").exists()


def test_a_prompt_that_nobody_answered_is_not_an_episode(life: Life) -> None:
    life.start()
    life.prompt("never mind")
    life.end()
    assert not life.has_episode
    assert life.meta["summary"] == "never mind"


def test_without_a_transcript_the_payloads_speak(life: Life) -> None:
    life.start()
    life.run("user_prompt_submit", life.session.prompt("what is this?"))
    began = time.monotonic()
    life.stop("A demo.")
    assert time.monotonic() - began < 3
    assert life.episode["asked"] == ["what is this?"]
    assert life.episode["what_was_done"] == "A demo."


def test_subagent_events_leave_the_record_alone(life: Life) -> None:
    life.start()
    life.turn("work", "Worked.", "a.py")
    before = support.snapshot(life.store)
    inside = {"agent_id": "ae90a165ac0d2df8c", "agent_type": "general-purpose"}
    life.start(**inside)
    life.run("user_prompt_submit", life.session.prompt("sub", **inside))
    life.stop("Sub done.", **inside)
    life.run("pre_compact", life.session.pre_compact(**inside))
    life.run("session_end", life.session.end(**inside))
    assert support.snapshot(life.store) == before


def test_a_subagent_event_starts_nothing(life: Life) -> None:
    life.stop("Sub done.", agent_id="ae90a165ac0d2df8c")
    assert not support.meta_files(life.store)


@pytest.mark.parametrize("word", ["off", "OFF", "0", "false"])
def test_the_switch(life: Life, word: str) -> None:
    life.extra["HARNESS_MEMORY"] = word
    life.start()
    life.turn("work", "Worked.")
    assert not life.store.exists()


def test_everything_is_private(life: Life) -> None:
    old = os.umask(0)
    try:
        life.start()
        life.turn("work", "Worked.", "a.py")
    finally:
        os.umask(old)
    for path in [life.store, *life.store.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_store_open_to_others_is_closed(life: Life) -> None:
    life.store.mkdir(parents=True)
    life.store.chmod(0o755)
    life.start()
    assert stat.S_IMODE(life.store.stat().st_mode) == 0o700


def test_clear_is_a_new_session_of_the_same_process(life: Life) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    life.end("clear")
    second = other(life, pid=life.pid)
    second.start("clear")
    second.turn("two", "Two done.", "two.py")
    assert life.meta["status"] == "COMPLETED"
    assert life.meta["reason"] == "clear"
    assert (life.episode["files_changed"], second.episode["files_changed"]) == (["one.py"], ["two.py"])
    assert len(life.threads()) == 2


def test_clear_whose_session_end_was_lost(life: Life) -> None:
    life.start()
    life.prompt("one")
    life.transcript.write(life.cwd / "one.py")
    second = other(life, pid=life.pid)
    second.start("clear")
    assert life.meta["status"] == "ABANDONED"
    assert "went on as session" in life.meta["reason"]
    assert life.episode["files_changed"] == ["one.py"]


def test_resume_after_days_goes_on_with_the_same_record(life: Life) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    life.end()
    old = life.directory
    moved = old.parent.parent / "2026-01-02" / old.name
    moved.parent.mkdir()
    old.rename(moved)
    life.start("resume")
    life.turn("two", "Two done.", "two.py")
    assert life.directory == moved
    assert life.episode["files_changed"] == ["one.py", "two.py"]
    assert life.episode["asked"] == ["one", "two"]
    assert len(life.threads()) == 1


def test_a_compaction_keeps_the_record(life: Life) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    life.prompt("two")
    life.transcript.write(life.cwd / "two.py")
    life.compact()
    assert life.episode["files_changed"] == ["one.py", "two.py"]
    life.transcript.compact("Ignore me: a summary is nobody's prompt.")
    life.start("compact")
    assert life.meta["status"] == "ACTIVE"
    life.transcript.text("Two done.")
    life.stop("Two done.")
    assert life.episode["asked"] == ["one", "two"]
    assert life.episode["what_was_done"] == "One done.\n\nTwo done."


def test_a_compaction_between_turns_does_not_reopen_the_record(life: Life) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    life.compact()
    life.start("compact")
    assert life.meta["status"] == "COMPLETED"


def fork_of(parent: Life, source: str) -> Life:
    child = other(parent, pid=parent.pid)
    child.start(source)
    child.transcript.raw(
        parent.transcript.path.read_bytes().replace(parent.session.id.encode(), child.session.id.encode())
    )
    time.sleep(0.01)
    child.transcript.now = datetime.now(timezone.utc)
    return child


@pytest.mark.parametrize("source", ["fork", "resume"])
def test_a_fork_is_its_own_record_in_the_same_thread(life: Life, source: str) -> None:
    """Clients before 2.1.214 announce a fork as "resume", under an id that has no transcript yet."""
    life.start()
    life.turn("one", "One done.", "one.py")
    life.end()
    child = fork_of(life, source)
    child.turn("two", "Two done.", "two.py")
    assert child.episode["asked"] == ["two"]
    assert child.episode["files_changed"] == ["two.py"]
    assert child.episode["parent"] == life.episode["id"] == child.meta["parent"]
    assert child.episode["thread"] == life.episode["thread"]
    assert life.episode["files_changed"] == ["one.py"]
    (thread,) = life.threads()
    assert thread["sessions"] == [life.episode["id"], child.episode["id"]]


def test_two_living_sessions_never_touch_each_other(life: Life) -> None:
    with support.Client() as second_client:
        second = other(life, pid=second_client.pid)
        life.start()
        life.prompt("one")
        before = support.snapshot(life.directory)
        second.start()
        second.turn("two", "Two done.", "two.py")
        second.end()
        assert support.snapshot(life.directory) == before
        assert life.meta["status"] == "ACTIVE"
        life.transcript.write(life.cwd / "one.py").text("One done.")
        life.stop("One done.")
        assert (life.episode["files_changed"], second.episode["files_changed"]) == (["one.py"], ["two.py"])


def test_a_killed_session_is_archived_and_abandoned_by_the_next(life: Life, client: support.Client) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    life.prompt("two")
    life.transcript.write(life.cwd / "two.py")
    client.kill()
    with support.Client() as second_client:
        other(life, pid=second_client.pid).start()
    meta = life.meta
    assert meta["status"] == "ABANDONED"
    assert meta["reason"] == "its process %d is gone" % client.pid
    assert life.episode["files_changed"] == ["one.py", "two.py"]
    assert life.episode["outcome"] == "interrupted"
    assert life.episode["what_remains"] == ["Unfinished: two"]
    assert [thread["status"] for thread in life.threads()] == ["open"]
    assert not life.is_marked_live


def test_an_abandoned_session_that_speaks_again_is_active_again(life: Life, client: support.Client) -> None:
    life.start()
    life.prompt("one")
    life.transcript.write(life.cwd / "one.py")
    client.kill()
    with support.Client() as second_client:
        other(life, pid=second_client.pid).start()
        assert life.meta["status"] == "ABANDONED"
        life.pid = second_client.pid
        life.start("resume")
        assert (life.meta["status"], life.meta["reason"], life.meta["pid"]) == ("ACTIVE", None, second_client.pid)
        life.transcript.text("One done.")
        life.stop("One done.")
        assert life.episode["outcome"] == "completed"
        assert life.episode["what_remains"] == []


def test_an_idle_session_whose_process_died_stays_completed(life: Life, client: support.Client) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    client.kill()
    with support.Client() as second_client:
        other(life, pid=second_client.pid).start()
    assert life.meta["status"] == "COMPLETED"
    assert not life.is_marked_live


def test_a_recycled_pid_is_not_the_same_process(life: Life) -> None:
    life.start()
    life.prompt("one")
    (marker,) = life.store.glob("*/STATE/live/*.json")
    known = json.loads(marker.read_text("utf-8"))
    if "start" not in known["process"]:
        pytest.skip("this platform does not tell when a process began")
    known["process"]["start"] = "1"
    marker.write_text(json.dumps(known), "utf-8")
    with support.Client() as second_client:
        other(life, pid=second_client.pid).start()
    assert life.meta["status"] == "ABANDONED"


@pytest.mark.parametrize(("hours", "status"), [(11, "ACTIVE"), (13, "ABANDONED")])
def test_where_the_process_cannot_be_known_age_decides(life: Life, hours: int, status: str) -> None:
    life.start()
    life.prompt("one")
    (marker,) = life.store.glob("*/STATE/live/*.json")
    known = json.loads(marker.read_text("utf-8"))
    known["process"]["host"] = "another-machine"
    marker.write_text(json.dumps(known), "utf-8")
    past = time.time() - hours * 3600
    for path in (life.directory / "META.yaml", life.directory / "capture.json", life.transcript.path):
        os.utime(path, (past, past))
    with support.Client() as second_client:
        other(life, pid=second_client.pid).start()
    assert life.meta["status"] == status


def test_ids_that_share_their_head(life: Life) -> None:
    ids = ["abcdefgh-1111-aaaa-bbbb-cccccccccccc", "abcdefgh-1111-aaaa-bbbb-dddddddddddd", "abcdefgh", "ABCDEFGH"]
    lives = [other(life, pid=life.pid, session_id=each) for each in ids]
    for number, each in enumerate(lives):
        each.turn("ask %d" % number, "Answer %d." % number, "f%d.py" % number)
    for number, each in enumerate(lives):
        assert each.episode["what_was_done"] == "Answer %d." % number
    assert len({each["id"] for each in support.episodes(life.store)}) == len(ids)


@pytest.mark.parametrize(
    "hostile", ["../../x", "/etc/passwd", "a/b", "..", ".", "x" * 5000, "a\x00b", "naïve", "C:\\x", "con", "é\ud800"]
)
def test_no_session_id_names_a_path(life: Life, tmp_path: Path, hostile: str) -> None:
    each = Life(life.home, life.cwd, pid=life.pid)
    each.session.id = hostile
    each.transcript.prompt("hi").text("Hello.")
    env = {**each.session.environment(pid=life.pid), "CLAUDE_CODE_SESSION_ID": None}
    before = {path for path in tmp_path.rglob("*") if life.store not in path.parents and ".git" not in path.parts}
    for script, payload in (
        ("session_start", each.session.start()),
        ("user_prompt_submit", each.session.prompt("hi")),
        ("stop", each.session.stop("Hello.")),
    ):
        result = support.run_hook(script, json.dumps(payload).encode(), home=life.home, env=env)
        assert (result.code, result.stdout, result.stderr) == (0, "", "")
    after = {path for path in tmp_path.rglob("*") if life.store not in path.parents and ".git" not in path.parts}
    assert after - before <= {life.store}
    (episode,) = support.episodes(life.store)
    assert episode["what_was_done"] == "Hello."


def test_the_local_scope_ends_with_the_session(life: Life) -> None:
    life.start()
    local = life.directory / "local"
    local.mkdir()
    (local / "note.md").write_text("tried X, failed", "utf-8")
    life.turn("one", "One done.")
    assert local.exists()
    life.end()
    assert not local.exists()


def test_a_damaged_meta_is_kept_and_replaced(life: Life) -> None:
    life.start()
    meta = life.directory / "META.yaml"
    meta.write_text("status: [", "utf-8")
    life.stop("Done.")
    assert (meta.parent / "META.yaml.damaged").read_text("utf-8") == "status: ["
    assert life.meta["status"] == "COMPLETED"


def test_a_damaged_meta_does_not_double_the_episode(life: Life) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    started = life.meta["started"]
    (life.directory / "META.yaml").write_bytes(b"")
    life.turn("two", "Two done.", "two.py")
    assert life.meta["started"] == started
    assert life.episode["files_changed"] == ["one.py", "two.py"]


def test_a_persons_own_fields_in_meta_stay(life: Life) -> None:
    life.start()
    meta = life.directory / "META.yaml"
    meta.write_text(meta.read_text("utf-8") + "ticket: PROJ-12  # mine\n", "utf-8")
    life.turn("one", "One done.")
    assert life.meta["ticket"] == "PROJ-12"


def say(life: Life, **said: object) -> None:
    given = json.dumps(said).encode("utf-8")
    assert World(life.home, life.cwd).memory("checkpoint", "--session", life.session.id, stdin=given).code == 0


def test_a_lost_capture_is_made_once_of_episode_and_transcript(life: Life) -> None:
    life.start()
    life.turn(
        "Round the totals", "The totals are rounded now, once and at the end, as they should have been.", "cart.py"
    )
    life.turn("And the gift cart?", "It is rounded as well.", "gift.py")
    say(life, learned=["Totals are in cents"])
    before = life.episode
    (life.directory / "capture.json").write_text("", "utf-8")
    life.end()
    assert {**life.episode, "ended": ""} == {**before, "ended": ""}
