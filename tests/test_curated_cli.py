"""`briefing`, `profile` and `why`: what people keep in a memory, and what a session was told of it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

import pytest
import support
from commandline import HARNESS, World

from harness_memory import cli
from harness_memory.base import lock, settings
from harness_memory.cli import versions

POSIX = os.name == "posix"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def world(home: Path, repo: Path) -> World:
    return World(home, repo)


def put(world: World, text: str | bytes, *words: str) -> support.Result:
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    return world.memory(*(words or ("briefing", "set")), stdin=data)


def kept(world: World) -> dict[str, str]:
    """The versions there are, by the end of their names."""
    paths = sorted(world.project.glob("briefing.md*"))
    return {path.name[len("briefing.md") :]: path.read_bytes().decode("utf-8") for path in paths}


# briefing ------------------------------------------------------------------------------------------


def test_no_briefing_yet(world: World) -> None:
    shown = world.memory("briefing")
    assert (shown.code, shown.stdout) == (2, "")
    assert "briefing set" in shown.stderr
    assert world.memory("briefing", "rollback").code == 2
    assert "yet" in world.memory("briefing", "history").stdout
    assert world.json("briefing", "history") == []
    assert not world.root.exists()


def test_set_keeps_two_versions_and_shows_the_difference(world: World) -> None:
    first = put(world, "# One\nshared\n")
    assert (first.code, first.stderr) == (0, "")
    assert "+# One" in first.stdout
    assert kept(world) == {"": "# One\nshared\n"}
    second = put(world, "# Two\nshared\n")
    for text in ("-# One", "+# Two", " shared", "briefing.md.1"):
        assert text in second.stdout
    put(world, "# Three\n")
    put(world, "# Four\n")
    assert kept(world) == {"": "# Four\n", ".1": "# Three\n", ".2": "# Two\nshared\n"}
    assert world.memory("briefing", "show").stdout == "# Four\n"
    assert world.json("briefing")["text"] == "# Four\n"
    assert world.json("verify")["findings"] == []


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (b"\xef\xbb\xbf# A\r\nb\r\n", "# A\nb\n"),
        (b"\n\n# A\n\n- x\n\n\n", "# A\n\n- x\n"),
        (b"no line end", "no line end\n"),
        ("Ünï 你好\n\tTab\n".encode(), "Ünï 你好\n\tTab\n"),
        (b"[a link](x)\n", "[a link](x)\n"),
    ],
)
def test_what_is_written(world: World, given: bytes, written: str) -> None:
    assert put(world, given).code == 0
    assert kept(world) == {"": written}
    again = world.json("briefing", "set", stdin=given)
    assert (again["changed"], again["diff"]) == (False, "")
    assert "Nothing changed" in put(world, given).stdout
    assert kept(world) == {"": written}
    shown = world.run("memory", "briefing", "show")
    assert put(world, shown.stdout).stdout.startswith("Nothing changed")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"# A\n\xff\n", "not UTF-8 at byte 4"),
        (b"# A\n\x00\n", "binary"),
        (b'{"a": 1}\n', "holds JSON"),
        (b"x" * (settings.CURATED_MAX_BYTES + 1), "larger than"),
        (b"x\n" * (settings.BRIEFING_LINES + 1), "--force"),
    ],
    ids=["empty", "blank", "bytes", "binary", "json", "huge", "long"],
)
def test_what_is_refused_changes_nothing(world: World, given: bytes, said: str) -> None:
    put(world, "# One\n")
    before = world.files()
    result = put(world, given)
    assert (result.code, result.stdout) == (2, "")
    assert said in result.stderr
    assert world.files() == before


def test_eighty_lines_and_force(world: World) -> None:
    assert put(world, "x\n" * settings.BRIEFING_LINES).code == 0
    result = put(world, "y\n" * (settings.BRIEFING_LINES + 1), "briefing", "set", "--force")
    assert (result.code, "the first 80 lines" in result.stdout) == (0, True)


def test_secrets_are_redacted(world: World) -> None:
    result = put(world, "Push with %s\n" % SECRET)
    assert (result.code, "redacted" in result.stdout, SECRET in result.stdout) == (0, True, False)
    assert not [name for name, data in world.files().items() if SECRET.encode() in data]


def test_rollback_and_its_undoing(world: World) -> None:
    put(world, "# One\n")
    assert world.memory("briefing", "rollback").code == 2
    put(world, "# Two\n")
    put(world, "# Three\n")
    back = world.memory("briefing", "rollback")
    assert (back.code, "-# Three" in back.stdout, "+# Two" in back.stdout) == (0, True, True)
    assert kept(world) == {"": "# Two\n", ".1": "# Three\n", ".2": "# One\n"}
    assert world.json("briefing", "rollback")["changed"] is True
    assert kept(world) == {"": "# Three\n", ".1": "# Two\n", ".2": "# One\n"}
    (world.project / "briefing.md").unlink()
    assert world.memory("briefing", "rollback").code == 0
    assert kept(world) == {"": "# Two\n", ".2": "# One\n"}


def test_history_tells_date_and_first_line(world: World) -> None:
    old = time.time() - 86400 * 3
    for text in ("# One\n", "\n# Two\n\nmore\n"):
        put(world, text)
        os.utime(str(world.project / "briefing.md"), (old, old))
    now, before = world.json("briefing", "history")
    assert (now["lines"], now["first"], before["lines"], before["first"]) == (3, "# Two", 1, "# One")
    assert now["changed"] == before["changed"]  # a copy keeps the time of its version
    rows = world.memory("briefing", "history").stdout.splitlines()
    assert [row.split()[0] for row in rows] == ["VERSION", "briefing.md", "briefing.md.1"]


def test_another_writer_is_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    put(world, "# One\n")
    path = world.project / "briefing.md"
    monkeypatch.setattr("harness_memory.cli.curate._LOCK_SECONDS", 0.1)
    monkeypatch.setenv("HARNESS_MEMORY_HOME", str(world.root))
    monkeypatch.chdir(world.repo)
    before = world.files()
    with lock.Lock(str(path) + ".lock") as held:
        assert held
        assert cli.main(["memory", "briefing", "rollback"]) == 2
    (world.project / "briefing.md.lock").unlink()
    assert world.files() == before


@pytest.mark.skipif(not POSIX, reason="symbolic links")
def test_a_briefing_that_cannot_be_read_is_kept_as_it_is(world: World, tmp_path: Path) -> None:
    put(world, "# One\n")
    path = world.project / "briefing.md"
    path.unlink()
    path.symlink_to(tmp_path / "secret.txt")
    (tmp_path / "secret.txt").write_text("elsewhere", encoding="utf-8")
    shown = world.memory("briefing")
    assert (shown.code, "symbolic link" in shown.stderr) == (2, True)
    assert put(world, "# Two\n").code == 0
    assert (path.is_symlink(), (world.project / "briefing.md.1").is_symlink()) == (False, True)
    assert (tmp_path / "secret.txt").read_text(encoding="utf-8") == "elsewhere"


@pytest.mark.skipif(not POSIX, reason="pseudo-terminals")
def test_a_terminal_gets_no_escape_sequences(world: World) -> None:
    import pty

    put(world, b"red \x1b[31m\n")
    assert b"\x1b" not in put(world, b"blue \x1b[34m\n").stdout.encode()  # the difference is ours
    leader, follower = pty.openpty()
    env = support.clean_environment(world.home)
    command = [sys.executable, str(HARNESS), "memory", "briefing"]
    subprocess.run(command, cwd=str(world.repo), env=env, stdout=follower, check=True)
    os.close(follower)
    assert b"blue \\x1b[34m" in os.read(leader, 4096)
    os.close(leader)


# Versions when a process is killed -----------------------------------------------------------------

Act = Callable[[str], None]


def rewrite(path: str) -> None:
    versions.replace(path, b"new", 2)


@pytest.mark.parametrize(
    ("left", "act", "then"),
    [
        ("b 1 2", rewrite, {"": "new", ".1": "b", ".2": "1"}),
        ("b - 1", rewrite, {"": "new", ".1": "b", ".2": "1"}),  # killed after the first rename
        ("b b 1", rewrite, {"": "new", ".1": "b", ".2": "1"}),  # killed before the last
        ("- 1 2", rewrite, {"": "new", ".1": "1", ".2": "2"}),
        ("b 1 2", versions.swap, {"": "1", ".1": "b", ".2": "2"}),
        ("- 1 2", versions.swap, {"": "1", ".2": "2"}),
        ("b 1 2 b", versions.settle, {"": "b", ".1": "1", ".2": "2"}),  # a swap killed after its first step
        ("1 1 2 b", versions.settle, {"": "1", ".1": "b", ".2": "2"}),  # and after its second
        ("x 1 2 b", versions.settle, {"": "x", ".1": "b", ".2": "1"}),  # and written by hand since
        ("1 1 2 b", versions.swap, {"": "b", ".1": "1", ".2": "2"}),
        ("1 1 2 b", rewrite, {"": "new", ".1": "1", ".2": "b"}),
    ],
)
def test_versions_after_a_kill(tmp_path: Path, left: str, act: Act, then: dict[str, str]) -> None:
    for ending, text in zip(("", ".1", ".2", ".0"), left.split()):
        if text != "-":
            (tmp_path / ("page.md" + ending)).write_text(text, encoding="utf-8")
    act(str(tmp_path / "page.md"))
    assert {p.name[len("page.md") :]: p.read_text(encoding="utf-8") for p in tmp_path.iterdir()} == then


REPLACING = """
for n in range(int(sys.argv[2]), 10**9):
    versions.replace(sys.argv[1], b"%09d" % n * 1000, 2)
"""
SWAPPING = """
while True:
    versions.swap(sys.argv[1])
"""


@pytest.mark.skipif(not POSIX, reason="signals of POSIX")
@pytest.mark.parametrize("script", [REPLACING, SWAPPING], ids=["replacing", "swapping"])
def test_a_killed_writer_leaves_every_version(tmp_path: Path, script: str) -> None:
    """Killed at any moment, the present version is whole and those before it are there."""
    path = tmp_path / "page.md"
    for number in (1, 2, 3):
        versions.replace(str(path), b"%09d" % number * 1000, 2)
    head = "import sys; sys.path.insert(0, %r)\nfrom harness_memory.cli import versions\nprint(flush=True)\n"
    chance = random.Random(4)
    newest = 3
    for _ in range(support.volume(8)):
        command = [sys.executable, "-c", head % str(support.LIB) + script, str(path), str(newest + 1)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.random() * 0.05)
            process.kill()
        assert path.exists()
        versions.settle(str(path))
        texts = [p.read_bytes() for p in tmp_path.iterdir() if not p.name.endswith(".tmp")]
        assert all(text == text[:9] * 1000 for text in texts)
        numbers = sorted({int(text[:9]) for text in texts})
        newest = numbers[-1]
        assert numbers[-2:] == [newest - 1, newest]
        assert script is REPLACING or numbers == [1, 2, 3]


# profile -------------------------------------------------------------------------------------------


def test_profiles(world: World) -> None:
    assert "No profiles" in world.memory("profile").stdout
    assert world.memory("profile", "show", "melt").code == 2
    assert not world.root.exists()
    first = put(world, "- low heat\n", "profile", "set", "/kitchen:Melt")
    assert (first.code, "+- low heat" in first.stdout) == (0, True)
    path = world.project / "profiles" / "melt.md"
    assert path.read_bytes() == b"- low heat\n"
    assert "-- low heat" in put(world, "- lower heat\n", "profile", "set", "melt").stdout
    put(world, "- lowest heat\n", "profile", "set", "melt")
    assert sorted(p.name for p in path.parent.iterdir()) == ["melt.md", "melt.md.1"]
    assert world.memory("profile", "show", "melt").stdout == "- lowest heat\n"
    put(world, "- sharp knife\n", "profile", "set", "cut")
    assert [row["skill"] for row in world.json("profile", "list")] == ["cut", "melt"]
    assert "- sharp knife" in world.memory("profile").stdout
    assert world.json("verify")["findings"] == []


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        (("set",), "x\n", "which skill?"),
        (("show",), "", "which skill?"),
        (("set", "../../x"), "x\n", "cannot be the name"),
        (("set", "a b"), "x\n", "cannot be the name"),
        (("set", "melt"), "x\n" * (settings.PROFILE_LINES + 1), "--force"),
        (("set", "melt"), "", "is empty"),
        (("drop", "melt"), "", "invalid choice"),
    ],
)
def test_wrong_profiles_are_refused(world: World, words: tuple[str, ...], given: str, said: str) -> None:
    result = put(world, given, "profile", *words)
    assert (result.code, result.stdout) == (2, "")
    assert said in result.stderr
    assert not world.root.exists()


# why -----------------------------------------------------------------------------------------------


def test_why_shows_what_a_session_was_told(world: World) -> None:
    untold = world.work("Add a form", "Added the form to the page.", ("a.py",))
    injected = world.session_dir(untold) / settings.INJECTED_FILE
    for path in (injected, injected.with_name(settings.RECEIPT_FILE)):
        if path.exists():  # the very first session may be told one line
            path.unlink()
    assert "nothing was injected" in world.memory("why", "last").stdout
    assert world.json("why", untold.id[:8]) == []
    assert "told: nothing" in world.memory("status").stdout
    put(world, "# Always use tabs\n")
    told = world.work("Add another", "Added another to the page.", ("b.py",))
    page = world.memory("why").stdout
    for text in ("Always use tabs", "SessionStart", "briefing.md", "tokens"):
        assert text in page
    log = world.json("why", told.id[:6])
    assert log == json.loads((world.session_dir(told) / settings.INJECTED_FILE).read_text(encoding="utf-8"))["log"]
    assert "told: ~%d tokens at start" % log[0]["tokens"] in world.memory("status").stdout
    assert world.json("status")["last"]["told"][0]["why"] == "startup"
    assert settings.RECEIPT_FILE in world.memory("show", "last").stdout
    missing = world.memory("why", "zzz")
    assert (missing.code, missing.stdout) == (2, "")


def test_why_is_of_the_present_session_first(world: World) -> None:
    put(world, "# Always use tabs\n")
    world.work("One", "Did the first thing.", ("a.py",))
    present = world.work("Two", "Did the second thing.", ("b.py",), end=False)
    env: dict[str, str | None] = {"CLAUDE_CODE_SESSION_ID": present.id}
    assert world.json("why", env=env) == world.json("why", present.id)
    assert world.json("why", "last", env=env) != world.json("why", present.id)


@pytest.mark.parametrize("data", [b"{oops", b"\xff", b'{"schema": 1, "seen": [], "profiles": [], "log": [1, {}]}'])
def test_a_damaged_receipt_stops_nothing(world: World, data: bytes) -> None:
    put(world, "# Always use tabs\n")
    session = world.work("One", "Did the first thing.", ("a.py",))
    (world.session_dir(session) / settings.INJECTED_FILE).write_bytes(data)
    (world.session_dir(session) / settings.RECEIPT_FILE).unlink()
    for words in (("why",), ("why", "--json"), ("status",), ("status", "--json")):
        assert world.memory(*words).code == 0
