"""What SessionStart clears away, and what it must not touch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import support
from life import Life

from harness_memory.session import liveness


def aged(path: Path, seconds: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}", "utf-8")
    os.utime(path, (time.time() - seconds, time.time() - seconds))
    return path


def test_stray_temporaries_go_and_fresh_ones_stay(life: Life) -> None:
    life.start()
    places = [
        life.store,
        life.project,
        life.project / "episodes",
        life.project / "STATE",
        life.project / "STATE" / "live",
    ]
    old = [aged(place / ".x.json.1.2.tmp", 7200) for place in places]
    fresh = [aged(place / ".y.json.1.2.tmp", 60) for place in places]
    foreign = aged(life.project / "notes.tmp", 7200)
    life.start("resume")
    assert not any(path.exists() for path in old)
    assert all(path.exists() for path in fresh)
    assert foreign.exists()


def test_lock_files_of_ended_sessions_go(life: Life) -> None:
    life.start()
    stale = aged(life.project / "STATE" / "live" / "dead.lock", 7200)
    held = aged(life.project / "STATE" / "live" / "held.lock", 7200)
    with support.hold_lock(held) as holder:
        os.utime(held, (time.time() - 7200, time.time() - 7200))
        life.start("resume")
        assert held.exists()
        holder.kill()
    assert not stale.exists()
    assert (life.project / "STATE" / "live" / (life.session.id + ".lock")).exists()


def test_stale_async_tasks_go(life: Life, tmp_path: Path) -> None:
    tasks = life.cwd / ".claude" / "async-tasks"
    old = aged(tasks / "a.json", 8 * 86400)
    kept = [
        aged(tasks / "b.json", 6 * 86400),
        aged(tasks / "c.txt", 30 * 86400),
        aged(life.cwd / ".claude" / "settings.json", 30 * 86400),
    ]
    life.start()
    assert not old.exists()
    assert all(path.exists() for path in kept)


def test_async_tasks_behind_a_link_are_not_ours(life: Life, tmp_path: Path) -> None:
    victim = aged(tmp_path / "elsewhere" / "a.json", 30 * 86400)
    (life.cwd / ".claude").mkdir()
    (life.cwd / ".claude" / "async-tasks").symlink_to(victim.parent, target_is_directory=True)
    life.start()
    assert victim.exists()


def test_the_sweep_goes_on_where_it_stopped(life: Life, client: support.Client) -> None:
    """More dead sessions than one start has time for: none is lost, each is buried in the end."""
    lives = [Life(life.home, life.cwd, pid=client.pid) for _ in range(12)]
    for each in lives:
        each.transcript.turn("ask", "Done.", files=[each.cwd / "a.py"])
        each.run("user_prompt_submit", each.session.prompt("more"))
    client.kill()
    with support.Client() as second_client:
        for _ in range(12):
            if all(each.meta["status"] == "ABANDONED" for each in lives):
                break
            Life(life.home, life.cwd, pid=second_client.pid).start()
    assert [each.meta["status"] for each in lives] == ["ABANDONED"] * 12
    assert all(each.episode["files_changed"] == ["a.py"] for each in lives)


def test_a_dead_session_of_another_work_tree_keeps_its_paths(
    life: Life, tmp_path: Path, client: support.Client
) -> None:
    tree = tmp_path / "tree"
    support.git(life.cwd, "worktree", "add", "-q", str(tree))
    other = Life(life.home, tree, pid=client.pid)
    other.start()
    other.prompt("one")
    other.transcript.write(tree / "src" / "one.py")
    client.kill()
    with support.Client() as second_client:
        life.pid = second_client.pid
        life.start()
    assert other.meta["status"] == "ABANDONED"
    assert other.episode["files_changed"] == ["src/one.py"]


def test_a_process_is_known_by_more_than_its_number() -> None:
    me = liveness.client_process(os.getpid())
    if "start" not in me:
        pytest.skip("this platform does not tell when a process began")
    assert liveness.is_alive(me) is True
    assert liveness.is_alive({**me, "start": "1"}) is False
    assert liveness.is_alive({**me, "boot": "0000:" + me["boot"].partition(":")[2]}) is False
    assert liveness.is_alive({**me, "boot": "0000:1"}) is None
    assert liveness.is_alive({**me, "host": "another"}) is None
    assert liveness.is_alive({}) is None
    assert liveness.is_same(me, dict(me))
    assert not liveness.is_same(me, {**me, "start": "1"})
    assert not liveness.is_same({}, {})


def test_without_a_told_pid_the_nearest_ancestor_counts(life: Life) -> None:
    life.pid = None
    life.fresh = True
    life.start()
    (marker,) = life.store.glob("*/STATE/live/*.json")
    process = json.loads(marker.read_text("utf-8"))["process"]
    if not process:
        pytest.skip("this platform does not tell a process's parents")
    assert process["pid"] == os.getpid()


@pytest.mark.parametrize("word", ["0", "-5", "x", "99999999999", "1.5", "٣"])
def test_a_pid_that_is_none(life: Life, word: str) -> None:
    life.extra["CLAUDE_PID"] = word
    life.start()
    assert life.meta["status"] == "ACTIVE"


def test_a_lost_capture_is_read_again_from_the_transcript(life: Life) -> None:
    life.start()
    life.turn("one", "One done.", "one.py")
    (life.directory / "capture.json").unlink()
    life.turn("two", "Two done.", "two.py")
    assert (life.episode["asked"], life.episode["what_was_done"]) == (["one", "two"], "One done.\n\nTwo done.")
    assert life.episode["asked"] == ["one", "two"]
    assert life.episode["files_changed"] == ["one.py", "two.py"]


QUIET = {
    "re",
    "json",
    "datetime",
    "hashlib",
    "traceback",
    "typing",
    "pathlib",
    "dataclasses",
    "enum",
    "subprocess",
    "tempfile",
    "argparse",
    "logging",
    "shutil",
    "uuid",
    "random",
    "textwrap",
    "glob",
    "contextlib",
    "functools",
    "collections",
    "threading",
    "signal",
    "socket",
    "warnings",
}
ALWAYS = """clock digest events git handlers handlers.scene jsontext lock payload project redact remote runner
    session settings store text watchdog yaml"""
STOP = """handlers.stop archive capture documents episode harness health ledger place recent transcript views
    recall recall.index recall.stem recall.tuning recall.vocabulary recall.words"""
START = """handlers.session_start capture config consolidation curated harness health housekeeping inert inject liveness
    place receipt reply sources"""
GUARD = "guard guard.gate guard.quick jsontext payload settings watchdog"
READER = "guard.calls guard.judge guard.outputs guard.paths guard.shell guard.words guard.wrappers"
ANSWER = """clock digest git guard.allowance guard.audit guard.decision guard.gitrules guard.policy guard.rules
    guard.runners inert lock project redact remote store text"""
SKILL = "handlers.pre_tool_use handlers.skill curated harness inert inject receipt reply sources"
OURS = {
    "user_prompt_submit": {*ALWAYS.split(), "handlers.user_prompt_submit", "capture", "harness"},
    "pre_tool_use": {*ALWAYS.split(), *GUARD.split(), *SKILL.split()},
    "pre_tool_use, harmless": {*GUARD.split()},
    "pre_tool_use, quoted": {*GUARD.split(), *READER.split()},
    "pre_tool_use, Write": {*GUARD.split(), "guard.paths", "guard.shell", "guard.tools", "guard.words"},
    "pre_tool_use, asked": {*GUARD.split(), *READER.split(), *ANSWER.split()},
    "stop": {*ALWAYS.split(), *STOP.split()},
    "session_start": {*ALWAYS.split(), *START.split()},
}


@pytest.mark.parametrize("case", sorted(OURS))
def test_what_a_quiet_run_loads(life: Life, case: str) -> None:
    """Pinned, because every import is paid at every event."""
    life.start()
    life.transcript.turn("one", "One done.", files=[life.cwd / "a.py"])
    harmless = life.session.tool_call("Bash", {"command": "git status"})
    life.run("pre_tool_use", harmless)  # the first one makes what the others touch
    payload = {
        "pre_tool_use": life.session.tool_call("Skill", {"skill": "melt"}),
        "pre_tool_use, harmless": harmless,
        "pre_tool_use, quoted": life.session.tool_call("Bash", {"command": "git commit -m 'rm -rf /'"}),
        "pre_tool_use, Write": life.session.tool_call("Write", {"file_path": str(life.cwd / "a.py"), "content": "x"}),
        "pre_tool_use, asked": life.session.tool_call("Bash", {"command": "git reset --hard"}),
        "session_start": life.session.start("resume"),
        "user_prompt_submit": life.session.prompt("two"),
        "stop": life.session.stop("One done."),
    }[case]
    code = (
        "import sys\n"
        "system = sys.modules[%r]\n"  # what `os` takes its `_exit` from
        "leave = system._exit\n"
        "def tell(code):\n"
        "    print('\\n' + '\\n'.join(sys.modules)); sys.stdout.flush(); leave(code)\n"
        "system._exit = tell\n"
        "__file__ = %r\n"
        "exec(compile(open(__file__).read(), __file__, 'exec'))\n"
    ) % (os.name, str(support.HOOKS / (case.partition(",")[0] + ".py")))
    env = support.clean_environment(life.home, life.session.environment(pid=life.pid))
    bare = subprocess.check_output(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", "import sys; print('\\n'.join(sys.modules))"], env=env
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", code],
        input=support.encode(payload),
        env=env,
        cwd=life.cwd,
        stdout=subprocess.PIPE,
        check=True,
    )
    loaded = set(done.stdout.decode().splitlines()) - set(bare.decode().split())
    assert not loaded & QUIET
    if case in ("pre_tool_use, harmless", "pre_tool_use, quoted", "pre_tool_use, Write"):
        assert not loaded & {"os", "stat", "errno", "codecs", "_collections_abc"}
