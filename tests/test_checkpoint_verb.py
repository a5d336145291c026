"""`checkpoint` over a store that real hooks wrote."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World

from harness_memory.base import settings


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, support.Session]:
    """A session in the middle of its second turn, for tests in which nothing may be written."""
    top = tmp_path_factory.mktemp("begun")
    world = World(top / "home", support.make_repo(top / "project"))
    session = world.work("Build it", "Begun.", ("a.py",), end=False)
    support.run_hook("user_prompt_submit", session.prompt("Go on"), home=world.home, env=session.environment())
    return world, session


@pytest.fixture
def busy(begun: tuple[World, support.Session], tmp_path: Path) -> World:
    """The same in a store to write to."""
    shutil.copytree(str(begun[0].home), str(tmp_path / "copy"))
    return World(tmp_path / "copy", begun[0].repo)


@pytest.fixture
def present(begun: tuple[World, support.Session]) -> support.Session:
    return begun[1]


def inside(session: support.Session) -> dict[str, str | None]:
    return {"CLAUDE_CODE_SESSION_ID": session.id, "CLAUDECODE": "1"}


def test_checkpoint_by_flags(busy: World, present: support.Session) -> None:
    words = ["--done", "Built the whole core", "--remains", "Tests", "--remains", "Docs", "--learned", "The cache lies"]
    words += ["--tag", "core", "--file", "b.py", "--outcome", "partial", "--skill", "build", "--rating", "4"]
    result = busy.memory("checkpoint", *words, env=inside(present))
    assert (result.code, result.stderr, len(result.stdout.splitlines())) == (0, "", 1)
    (artifact,) = busy.session_dir(present).glob("artifacts/checkpoint-*.json")
    assert artifact.name in result.stdout
    value = json.loads(busy.episode(present).read_text(encoding="utf-8"))
    assert (value["what_was_done"], value["what_remains"]) == ("Built the whole core", ["Tests", "Docs"])
    assert (value["outcome"], value["skill_used"], value["source"]) == ("partial", "build", "checkpoint")
    assert (value["learnings"], value["tags"]) == (["The cache lies"], ["core"])
    assert set(value["files_changed"]) == {"a.py", "b.py"}
    assert "Built the whole core" in (busy.project / "INDEX.md").read_text(encoding="utf-8")
    meta = busy.json("show", present.id)["meta"]
    assert (meta["status"], meta["summary"]) == ("ACTIVE", "Built the whole core")
    assert busy.json("verify")["findings"] == []
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert busy.memory("checkpoint", "--done", "Pushed with " + secret, env=inside(present)).code == 0
    assert not [name for name, data in busy.files().items() if secret.encode() in data]


@pytest.mark.parametrize("value", support.rows("session/checkpoints_on_stdin.jsonl"))
def test_checkpoint_on_stdin(busy: World, present: support.Session, value: dict[str, Any]) -> None:
    shown = busy.json("checkpoint", stdin=json.dumps(value).encode(), env=inside(present))
    assert Path(shown["artifact"]).is_file()
    made = json.loads(busy.episode(present).read_text(encoding="utf-8"))
    assert (made["what_was_done"], made["what_remains"]) == ("Built it", ["Docs"])


def test_files_become_relative_to_the_project_from_any_directory(busy: World, present: support.Session) -> None:
    inner, link = busy.repo / "src", busy.home / "link"
    inner.mkdir(exist_ok=True)
    link.symlink_to(busy.repo)
    files = [str(inner / "b.py"), "./src/c.py", "src/../d.py", str(link / "e.py")]
    words = [word for file in files for word in ("--file", file)]
    assert busy.memory("checkpoint", "--done", "Moved it", *words, env=inside(present), cwd=inner).code == 0
    made = json.loads(busy.episode(present).read_text(encoding="utf-8"))
    assert set(made["files_changed"]) == {"a.py", "src/b.py", "src/c.py", "d.py", "e.py"}
    assert busy.memory("checkpoint", "--done", "From afar", env=inside(present), cwd=busy.home).code == 0
    assert json.loads(busy.episode(present).read_text(encoding="utf-8"))["what_was_done"].endswith("From afar")


FILES = ("/etc/passwd", "../other/x.py", "~/x.py", ".", "")
REFUSED: list[tuple[tuple[str, ...], bytes, str]] = [
    *((("--done", "x", "--file", file), b"", "is not in the project") for file in FILES),
    (("--done", "x", "--session", "zzz"), b"", 'no session "zzz"'),
    (("--done", ""), b"", "empty"),
    (("--done", "x", "--rating", "6"), b"", "--rating"),
    (("--done", "x", "--outcome", "great"), b"", "--outcome"),
    ((), b"", "not valid JSON"),
    ((), b'{"what_was_done": "x",\n  oops}', "line 2 column 3"),
    ((), b'{"what_was_done": "\xff"}', "in position 19"),
    ((), b"[1, 2]", "not a checkpoint"),
    ((), b'{"what_was_done": "", "other": 1}', "not a checkpoint"),
    ((), b'{"what_was_done": "x", "tags": %s%s}' % (b"[" * 25000, b"]" * 25000), "not valid JSON"),
    ((), b'{"what_was_done": "x", "rating": %s}' % (b"9" * 20000), "not valid JSON"),
    ((), b'{"what_was_done": "%s"}' % (b"x" * settings.CHECKPOINT_MAX_BYTES), "larger than"),
]


@pytest.mark.parametrize(("words", "stdin", "message"), REFUSED, ids=range(len(REFUSED)))
def test_a_malformed_checkpoint_is_refused_whole(
    begun: tuple[World, support.Session], words: tuple[str, ...], stdin: bytes, message: str
) -> None:
    world, present = begun
    before = world.files()
    result = world.memory("checkpoint", *words, stdin=stdin, env=inside(present))
    assert (result.code, result.stdout, message in result.stderr) == (2, "", True), result
    assert world.files() == before


def test_the_present_session_may_be_named(empty: World) -> None:
    unseen = support.Session(empty.repo, empty.home)
    words = ("--done", "Worked without hooks", "--session", unseen.id[:8])
    assert empty.memory("checkpoint", *words).code == 2
    assert not empty.root.exists()
    assert empty.memory("checkpoint", *words, env=inside(unseen)).code == 0
    (row,) = empty.json("list")
    assert (row["session_id"], row["headline"], row["status"]) == (unseen.id, "Worked without hooks", "ACTIVE")
    assert empty.json("verify")["findings"] == []


def test_checkpoint_finds_the_only_running_session(world: World, client: support.Client, tmp_path: Path) -> None:
    nobody = world.memory("checkpoint", "--done", "x")
    assert nobody.code == 2
    assert "--session" in nobody.stderr
    one = world.work("One", "Did one.", ("a.py",), pid=client.pid, end=False)
    assert one.id[:8] in world.memory("checkpoint", "--done", "For one").stdout
    two = world.work("Two", "Did two.", ("b.py",), pid=os.getpid(), end=False)
    both = world.memory("checkpoint", "--done", "x")
    assert (both.code, one.id[:8] in both.stderr, two.id[:8] in both.stderr) == (2, True, True)
    assert two.id[:8] in world.memory("checkpoint", "--done", "For two", "--session", two.id[:6]).stdout


def test_an_ended_session_keeps_its_status(world: World) -> None:
    world.work("Speed up the parser", "The parser is twice as fast.", ("parser.py",))
    row = world.json("list")[0]
    before = world.json("show", row["id"])["meta"]
    assert world.memory("checkpoint", "--done", "Afterthought", "--session", row["id"]).code == 0
    after = world.json("show", row["id"])["meta"]
    assert (after["status"], after["ended"]) == (before["status"], before["ended"])
    assert after["summary"] == "Afterthought"
    assert world.json("status")["live"] == []
