"""What SessionStart clears away, and what it must not touch."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import support
from life import Life


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
CASES = ("user_prompt_submit", "stop", "session_start", "pre_tool_use", "pre_tool_use, harmless")
CASES += ("pre_tool_use, quoted", "pre_tool_use, Write", "pre_tool_use, asked")


@pytest.mark.parametrize("case", CASES)
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
