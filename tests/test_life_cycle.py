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
from life import Life, failures

CAUSE = "Root cause: the cache key lacks the locale, so every language shares one page. Add it to the key."


def test_session_is_active_completed_and_active_again(life: Life) -> None:
    life.start()
    assert (life.meta["status"], life.meta["ended"]) == ("ACTIVE", None)
    life.turn("add a parser", "Added the parser.", "parser.py")
    assert life.meta["status"] == "COMPLETED"
    life.prompt("and tests")
    assert (life.meta["status"], life.meta["ended"]) == ("ACTIVE", None)
    life.transcript.write(life.cwd / "test_parser.py").text("Added tests.")
    life.stop("Added tests.")
    life.end("prompt_input_exit")
    meta = life.meta
    assert (meta["status"], meta["reason"]) == ("COMPLETED", "prompt_input_exit")
    assert meta["summary"] == "Added the parser.\n\nAdded tests."
    assert meta["artifacts"] == ["parser.py", "test_parser.py"]
    assert (meta["branch"], meta["claude_session"]) == ("main", life.session.id)
    assert meta["pid"] == (None if os.name == "nt" else life.pid)  # Windows does not say when a process began
    assert (life.is_marked_live, failures(life.store)) == (False, [])


def test_record_is_whole_after_every_stop(life: Life) -> None:
    life.start()
    life.turn("add a parser", "Added the parser.", "parser.py")
    episode = life.episode
    expected = {
        "asked": ["add a parser"],
        "what_was_done": "Added the parser.",
        "files_changed": ["parser.py"],
        "outcome": "completed",
        "source": "transcript",
        "model": support.MODEL,
        "channel": "sdk-cli",
        "branch": "main",
    }
    assert {key: episode[key] for key in expected} == expected
    seed = ["session_id", "project", "skill_used", "what_was_done", "files_changed", "outcome", "duration_minutes"]
    assert list(episode)[: len(seed)] == seed
    assert "Added the parser." in (life.directory / "summary.md").read_text("utf-8")
    assert "Added the parser. [parser.py]" in (life.project / "INDEX.md").read_text("utf-8")
    assert [thread["status"] for thread in life.threads()] == ["closed"]


def test_courtesy_does_not_hide_the_work(life: Life) -> None:
    life.start()
    life.turn("why do German users see English pages?", CAUSE)
    life.turn("thanks", "You're welcome!")
    assert "the cache key lacks the locale" in life.episode["what_was_done"]
    assert "welcome" not in life.episode["what_was_done"]
    assert life.episode["headline"].startswith("Root cause: the cache key lacks the locale")
    life.turn("fix it then", "Added the locale to the cache key.", "cache.py")
    life.turn("great", "Glad it helps! Let me know whenever there is anything else that I can do for you today.")
    assert life.episode["headline"] == "Added the locale to the cache key."
    assert all(text in life.episode["what_was_done"] for text in ("Root cause", "Added the locale"))


@pytest.mark.parametrize("event", ["stop", "pre_compact", "session_end"])
def test_any_event_may_be_the_first_seen(life: Life, event: str) -> None:
    life.transcript.turn("ask", "Done.", files=[life.cwd / "a.py"])
    session = life.session
    payloads = {"stop": session.stop("Done."), "pre_compact": session.pre_compact(), "session_end": session.end()}
    life.run(event, payloads[event])
    assert life.episode["files_changed"] == ["a.py"]


@pytest.mark.parametrize("ask", ["", "never mind"])
def test_session_without_an_answer_leaves_a_record_but_no_episode(life: Life, ask: str) -> None:
    life.start()
    if ask:
        life.prompt(ask)
    life.end()
    assert (life.meta["status"], life.meta["summary"]) == ("ABANDONED", ask or None)
    assert not life.has_episode
    assert not (life.project / "INDEX.md").exists()


def test_without_a_transcript_the_payloads_speak(life: Life) -> None:
    life.start()
    life.run("user_prompt_submit", life.session.prompt("what is this?"))
    life.stop("A demo.")
    assert (life.episode["asked"], life.episode["what_was_done"]) == (["what is this?"], "A demo.")


def test_subagent_events_leave_the_record_alone(life: Life) -> None:
    inside = {"agent_id": "ae90a165ac0d2df8c", "agent_type": "general-purpose"}
    life.stop("Sub done.", **inside)
    assert not support.meta_files(life.store)
    life.start()
    life.turn("work", "Worked.", "a.py")
    before = support.snapshot(life.store)
    life.start(**inside)
    life.run("user_prompt_submit", life.session.prompt("sub", **inside))
    life.stop("Sub done.", **inside)
    life.run("pre_compact", life.session.pre_compact(**inside))
    life.run("session_end", life.session.end(**inside))
    assert support.snapshot(life.store) == before


@pytest.mark.parametrize("word", ["off", "OFF", "0", "false"])
def test_switch_turned_off_leaves_nothing(life: Life, word: str) -> None:
    life.extra["HARNESS_MEMORY"] = word
    life.start()
    life.turn("work", "Worked.")
    assert not life.store.exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes: the profile folder is private")
def test_every_file_is_private_under_any_umask(life: Life) -> None:
    life.store.mkdir(parents=True)
    life.store.chmod(0o755)
    old = os.umask(0)
    try:
        life.start()
        life.turn("work", "Worked.", "a.py")
    finally:
        os.umask(old)
    for path in [life.store, *life.store.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_clear_is_a_new_session_of_the_same_process(life: Life) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    life.end("clear")
    second = life.another()
    second.start("clear")
    second.turn("two", "Two done.", "two.py")
    assert (life.meta["status"], life.meta["reason"]) == ("COMPLETED", "clear")
    assert (life.episode["files_changed"], second.episode["files_changed"]) == (["one.py"], ["two.py"])
    assert len(life.threads()) == 2


def test_resume_after_days_goes_on_with_the_same_record(life: Life) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    life.end()
    moved = life.directory.parent.parent / "2026-01-02" / life.directory.name
    moved.parent.mkdir()
    life.directory.rename(moved)
    life.start("resume")
    life.turn("two", "Two done.", "two.py")
    assert life.directory == moved
    assert (life.episode["files_changed"], life.episode["asked"]) == (["one.py", "two.py"], ["one", "two"])
    assert len(life.threads()) == 1


@pytest.mark.parametrize("source", ["fork", "resume"])
def test_fork_is_its_own_record_in_the_same_thread(life: Life, source: str) -> None:
    """Clients before 2.1.214 announce a fork as "resume", under an id that has no transcript yet."""
    life.start()
    life.turn("one", "One done.", "one.py")
    life.end()
    child = life.another()
    child.start(source)
    history = life.transcript.path.read_bytes()
    child.transcript.raw(history.replace(life.session.id.encode(), child.session.id.encode()))
    time.sleep(0.01)
    child.transcript.now = datetime.now(timezone.utc)
    child.turn("two", "Two done.", "two.py")
    assert (child.episode["asked"], child.episode["files_changed"]) == (["two"], ["two.py"])
    assert child.episode["parent"] == life.episode["id"] == child.meta["parent"]
    assert life.episode["files_changed"] == ["one.py"]
    (thread,) = life.threads()
    assert thread["sessions"] == [life.episode["id"], child.episode["id"]]


@pytest.mark.skipif(
    os.name == "nt", reason="ids that differ in case alone are one file there; the client's are lower case"
)
def test_ids_that_share_their_head_have_records_of_their_own(life: Life) -> None:
    ids = ["abcdefgh-1111-aaaa-bbbb-cccccccccccc", "abcdefgh-1111-aaaa-bbbb-dddddddddddd", "abcdefgh", "ABCDEFGH"]
    lives = [life.another(each) for each in ids]
    for number, each in enumerate(lives):
        each.turn("ask %d" % number, "Answer %d." % number, "f%d.py" % number)
    assert [each.episode["what_was_done"] for each in lives] == ["Answer %d." % number for number in range(len(ids))]
    assert len({each["id"] for each in support.episodes(life.store)}) == len(ids)


@pytest.mark.parametrize(
    "hostile", ["../../x", "/etc/passwd", "..", ".", "x" * 5000, "a\x00b", "naïve", "C:\\x", "con", "é\ud800"]
)
def test_no_session_id_names_a_path(life: Life, tmp_path: Path, hostile: str) -> None:
    def outside() -> set[Path]:
        return {path for path in tmp_path.rglob("*") if life.store not in path.parents and ".git" not in path.parts}

    each = life.another()
    each.session.id = hostile
    each.transcript.prompt("hi").text("Hello.")
    env = {**each.session.environment(pid=life.pid), "CLAUDE_CODE_SESSION_ID": None}
    before = outside()
    payloads = {"session_start": each.session.start(), "user_prompt_submit": each.session.prompt("hi")}
    for script, payload in {**payloads, "stop": each.session.stop("Hello.")}.items():
        result = support.run_hook(script, json.dumps(payload).encode(), home=life.home, env=env)
        assert (result.code, result.stdout, result.stderr) == (0, "", "")
    assert outside() - before <= {life.store}
    (episode,) = support.episodes(life.store)
    assert episode["what_was_done"] == "Hello."


def test_local_scope_ends_with_the_session(life: Life) -> None:
    life.start()
    local = life.directory / "local"
    local.mkdir()
    (local / "note.md").write_text("tried X, failed", "utf-8")
    life.turn("one", "One done.")
    assert local.exists()
    life.end()
    assert not local.exists()


def test_own_fields_in_meta_stay(life: Life) -> None:
    life.start()
    meta = life.directory / "META.yaml"
    meta.write_text(meta.read_text("utf-8") + "ticket: PROJ-12  # mine\n", "utf-8")
    life.turn("one", "One done.")
    assert life.meta["ticket"] == "PROJ-12"
