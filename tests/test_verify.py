"""`verify` over stores that real hooks wrote: every rule broken once, and what must be left alone."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any, Callable

import pytest
import support
from commandline import World

from harness_memory import cli
from harness_memory.base import files as store
from harness_memory.base import settings
from harness_memory.notes import shelf

POSIX = os.name == "posix"
LONG_AGO = time.time() - 3 * settings.STRAY_FILE_SECONDS


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> World:
    top = tmp_path_factory.mktemp("original")
    world = World(top / "home", support.make_repo(top / "project"))
    assert world.memory("briefing", "set", stdin=b"# Forms\n").code == 0  # so that the session is told something
    session = world.work("Add a login form", "Added a login form.", ("src/login.py",), end=False)
    words = ("--remains", "Tests", "--task-id", "login", "--task-remaining", "Reset", "--session", session.id)
    assert world.memory("checkpoint", "--done", "Added the form", *words).code == 0
    return world


@pytest.fixture
def sound(original: World, tmp_path: Path) -> World:
    """A copy of that store to break."""
    shutil.copytree(str(original.home), str(tmp_path / "copy"), symlinks=True)
    return World(tmp_path / "copy", original.repo)


def put(path: Path, data: bytes | str, mode: int = 0o600) -> Path:
    store.ensure_dir(str(path.parent))
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    path.chmod(mode)
    return path


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def edit_meta(old: str, new: str) -> Callable[[Path], None]:
    def change(project: Path) -> None:
        path = only(project, "WORK/*/*/META.yaml")
        text = path.read_text(encoding="utf-8")
        assert old in text
        put(path, text.replace(old, new, 1))

    return change


def edit_json(pattern: str, **fields: Any) -> Callable[[Path], None]:
    def change(project: Path) -> None:
        path = only(project, pattern)
        put(path, json.dumps({**json.loads(path.read_text(encoding="utf-8")), **fields}))

    return change


def write(name: str, data: bytes | str) -> Callable[[Path], None]:
    def change(project: Path) -> None:
        put(project / name, data)

    return change


def overwrite(pattern: str, data: bytes | str) -> Callable[[Path], None]:
    def change(project: Path) -> None:
        put(only(project, pattern), data)

    return change


def instead_of(pattern: str) -> Callable[[Path], None]:
    def change(project: Path) -> None:
        path = only(project, pattern)
        path.unlink()
        path.mkdir(mode=0o700)

    return change


def temporary(age_seconds: float) -> Callable[[Path], None]:
    def change(project: Path) -> None:
        path = put(project / "STATE" / ".x.json.1.2.tmp", b"{")
        os.utime(str(path), (time.time() - age_seconds,) * 2)

    return change


def link(project: Path) -> None:
    (project / "MEMORY.md").symlink_to(project / "INDEX.md")


def open_to_others(project: Path) -> None:
    (project / "INDEX.md").chmod(0o644)


def open_directory(project: Path) -> None:
    (project / "episodes").chmod(0o755)


def lose_meta(project: Path) -> None:
    path = only(project, "WORK/*/*/META.yaml")
    path.unlink()
    os.utime(str(path.parent), (LONG_AGO, LONG_AGO))


def rename_episode(project: Path) -> None:
    path = only(project, "episodes/*.json")
    path.rename(path.with_name(path.name.replace("session-2", "session-1")))


def remove(name: str) -> Callable[[Path], None]:
    return lambda project: (project / name).unlink()


@pytest.fixture
def verify(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """The same in this process: a table of sixty cases would start too many others."""

    def run(world: World, *words: str) -> tuple[int, str]:
        monkeypatch.setenv("HOME", str(world.home))
        monkeypatch.setenv("USERPROFILE", str(world.home))
        monkeypatch.chdir(world.repo)
        code = cli.main(["memory", "verify", *words])
        return code, capsys.readouterr().out

    return run


def noted(text: str) -> Callable[[Path], None]:
    """A note, listed in the index."""

    def change(project: Path) -> None:
        write("LEARNING/topics/parser.md", text)(project)
        with shelf.Writing(shelf.project_shelf(str(project))):
            pass

    return change


LEFT_ALONE = {
    "as the hooks left it": lambda project: None,
    "a young temporary file": temporary(5),
    "notes by hand": noted("---\nname: parser\n---\n\n- Ünïcode facts\n"),
    "a note without frontmatter": noted("# Parser\n\n- Facts\n"),
    "a briefing and its former version": write("briefing.md.1", "# Before\n"),
    "a briefing": write("briefing.md", "# Ünïcode\n" * 200),
    "a profile": write("profiles/melt.md", "- low heat\n"),
    "a former profile": write("profiles/melt-2.md.1", "- low heat\n"),
    "an index of notes": write("MEMORY.md", "- [parser](LEARNING/topics/parser.md)\n"),
    "ratings": write("LEARNING/SIGNALS/ratings.jsonl", '{"rating": 4}\n{"rating": 2}\n'),
    "an empty log": write("SECURITY/2026/11/audit.jsonl", ""),
    "any artifact": write("WORK/2026-11-16/notes.md", "# kept\n"),
    "files of other programs": write(".DS_Store", b"\x00\x01"),
    "meta by hand": edit_meta("status: COMPLETED", "status: COMPLETED  # all done"),
    "another key in meta": edit_meta("status: ", "mood: good\nstatus: "),
}  # fmt: skip

BROKEN: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "meta: no yaml": (overwrite("WORK/*/*/META.yaml", "a: [\n"), "META.yaml", "YAML"),
    "meta: binary": (overwrite("WORK/*/*/META.yaml", b"\xff\xfe\x00"), "META.yaml", "UTF-8"),
    "meta: empty": (overwrite("WORK/*/*/META.yaml", ""), "META.yaml", "session_id is missing"),
    "meta: no status": (edit_meta("status: COMPLETED", "state: COMPLETED"), "META.yaml", "status is missing"),
    "meta: status": (edit_meta("status: COMPLETED", "status: DONE"), "META.yaml", "'DONE'"),
    "meta: date": (edit_meta("date: ", "date: '2001-01-01' #"), "META.yaml", "2001-01-01"),
    "meta: id": (edit_meta("session_id: ", "session_id: other #"), "META.yaml", "'other'"),
    "meta: started": (edit_meta("started: ", "started: yesterday #"), "META.yaml", "started"),
    "meta: absolute artifact": (edit_meta("- src/login.py", "- /etc/passwd"), "META.yaml", "/etc/passwd"),
    "meta: windows artifact": (edit_meta("- src/login.py", "- 'C:\\x'"), "META.yaml", "relative"),
    "meta: climbing artifact": (edit_meta("- src/login.py", "- a/../../b"), "META.yaml", "relative"),
    "meta: missing": (lose_meta, "WORK", "no META.yaml"),
    "meta: a directory": (instead_of("WORK/*/*/META.yaml"), "META.yaml", "directory"),
    "episode: no json": (overwrite("episodes/*.json", '{"schema": 1,\n x'), "episodes", "JSON"),
    "episode: newer": (edit_json("episodes/*.json", schema=99), "episodes", "newer"),
    "episode: field": (edit_json("episodes/*.json", thread=None), "episodes", "thread"),
    "episode: item": (edit_json("episodes/*.json", files_changed=[1]), "episodes", "files_changed"),
    "episode: absolute": (edit_json("episodes/*.json", files_changed=["/etc/x"]), "episodes", "/etc/x"),
    "episode: name": (rename_episode, "episodes", "is named"),
    "episode: size": (edit_json("episodes/*.json", tags=["x" * 50_000]), "episodes", "bytes"),
    "episode: NaN": (overwrite("episodes/*.json", '{"schema": NaN}'), "episodes", "NaN"),
    "episode: deep": (overwrite("episodes/*.json", "[" * 100_000), "episodes", "deep"),
    "episode: huge": (overwrite("episodes/*.json", b" " * (5 << 20)), "episodes", "larger"),
    "episode: a directory": (instead_of("episodes/*.json"), "episodes", "directory"),
    "json: a list": (overwrite("project.json", "[]"), "project.json", "no JSON object"),
    "json: two documents": (write("other.json", "{}\n{}\n"), "other.json", "Extra data"),
    "jsonl: two on a line": (write("LEARNING/SIGNALS/ratings.jsonl", "{}\n{}{}\n"), "ratings.jsonl", "one JSON object"),
    "jsonl: no object": (write("LEARNING/SIGNALS/ratings.jsonl", "{}\n\n{}\n"), "ratings.jsonl", "one JSON object"),
    "jsonl: cut off": (write("LEARNING/SIGNALS/ratings.jsonl", '{"a": 1}\n{"b"'), "ratings.jsonl", "cut off"),
    "markdown: bytes": (write("LEARNING/topics/a.md", b"# \xff\n"), "a.md", "UTF-8"),
    "markdown: binary": (write("LEARNING/topics/a.md", b"# \x00\n"), "a.md", "binary"),
    "markdown: json": (write("LEARNING/topics/a.md", '{"a": 1}\n'), "a.md", "holds JSON"),
    "capture": (overwrite("WORK/*/*/capture.json", "{}"), "capture.json", "not what this version keeps"),
    "briefing: json": (write("briefing.md", "[1]"), "briefing.md", "holds JSON"),
    "briefing: empty": (write("briefing.md", ""), "briefing.md", "is empty"),
    "profile: empty": (write("profiles/melt.md", "\n"), "melt.md", "is empty"),
    "briefing: bytes": (write("briefing.md.2", b"\xff"), "briefing.md.2", "UTF-8"),
    "briefing: size": (write("briefing.md", "x\n" * settings.CURATED_MAX_BYTES), "briefing.md", "larger"),
    "briefing: name": (write("briefing.md.bak", "x\n"), "briefing.md.bak", "no file of the store"),
    "profile: name": (write("profiles/My Skill.md", "x\n"), "My Skill.md", "not named after a skill"),
    "profile: binary": (write("profiles/melt.md", b"\x00"), "melt.md", "binary"),
    "notes: not listed": (write("LEARNING/topics/a.md", "- fact\n"), "MEMORY.md", "missing"),
    "notes: a type of its own": (noted("---\ntype: idea\n---\n- x\n"), "parser.md", "none of user"),
    "notes: no YAML": (noted("---\nname: [\n---\n- x\n"), "parser.md", "YAML"),
    "notes: binary": (write("MEMORY.md", b"\x00"), "MEMORY.md", "binary"),
    "receipt: binary": (overwrite("WORK/*/*/session_memory_context.md", b"\x00"), "session_memory", "binary"),
    "injected: no json": (overwrite("WORK/*/*/injected.json", "{"), "injected.json", "JSON"),
    "injected: shape": (overwrite("WORK/*/*/injected.json", '{"log": 1}'), "injected.json", "no list"),
    "task: shape": (edit_json("STATE/progress/*.json", sessions=1), "progress", "sessions"),
    "task: name": (edit_json("STATE/progress/*.json", task_id="else"), "progress", "named"),
    "marker": (edit_json("STATE/live/*.json", claude_session="else"), "live", "name its session"),
    "an old temporary file": (temporary(2 * settings.STRAY_FILE_SECONDS), ".tmp", "temporary"),
    "a foreign file": (write("backup.zip", b"PK"), "backup.zip", "no file of the store"),
    "a strange day": (write("WORK/someday/x/summary.md", "# x\n"), "WORK", "day"),
    "a stale index": (overwrite("INDEX.md", "# Session Memory Index\n"), "INDEX.md", "stale"),
    "a missing view": (remove("STATE/current-work.json"), "current-work.json", "missing"),
    "a task that lost a note": (edit_json("STATE/progress/*.json", checkpoints=[]), "progress", "stale"),
}
if POSIX:
    BROKEN["a link"] = (link, "MEMORY.md", "symbolic link")
    BROKEN["a readable file"] = (open_to_others, "INDEX.md", "0644")
    BROKEN["a readable directory"] = (open_directory, "episodes", "0755")


@pytest.mark.parametrize("change", LEFT_ALONE.values(), ids=list(LEFT_ALONE))
def test_left_alone(sound: World, verify: Callable[..., tuple[int, str]], change: Callable[[Path], None]) -> None:
    change(sound.project)
    code, text = verify(sound)
    assert (code, "as it should be" in text) == (0, True), text


@pytest.mark.parametrize(("change", "file", "what"), BROKEN.values(), ids=list(BROKEN))
def test_found(
    sound: World, verify: Callable[..., tuple[int, str]], change: Callable[[Path], None], file: str, what: str
) -> None:
    change(sound.project)
    before = sound.files()
    code, text = verify(sound, "--json")
    found = json.loads(text)["findings"]
    assert code == 1
    assert [f for f in found if file in f["file"] and what in f["what"]], found
    assert all(f["remedy"] and f["file"].startswith(str(sound.root)) for f in found)
    assert sound.files() == before


@pytest.mark.parametrize("name", ["meta: no yaml", "episode: newer", "jsonl: no object", "a stale index"])
def test_the_page_tells_the_same(sound: World, verify: Callable[..., tuple[int, str]], name: str) -> None:
    change, file, what = BROKEN[name]
    change(sound.project)
    code, text = verify(sound)
    assert (code, file in text, what in text) == (1, True, True)


def test_line_numbers(sound: World) -> None:
    put(sound.project / "LEARNING" / "SIGNALS" / "ratings.jsonl", "{}\n{}\noops\n")
    edit_meta("status: COMPLETED", "status: DONE")(sound.project)
    lines = {Path(f["file"]).name: f["line"] for f in sound.json("verify", code=1)["findings"]}
    assert lines["ratings.jsonl"] == 3
    assert lines["META.yaml"] == 5
    assert "ratings.jsonl:3 is not exactly one JSON object" in sound.memory("verify").stdout


def test_files_of_no_project_are_checked_too(sound: World) -> None:
    put(sound.root / "config.json", "{nope")
    put(sound.root / "health" / "failures" / "1-1.json", "nope")
    found = sound.json("verify", "--all-projects", code=1)["findings"]
    assert {Path(f["file"]).name for f in found} == {"config.json", "1-1.json"}


def test_rebuild_heals_what_verify_says_it_does(sound: World) -> None:
    (sound.project / "INDEX.md").unlink()
    put(sound.project / "STATE" / "conversation_state.json", "{}")
    assert {f["remedy"] for f in sound.json("verify", code=1)["findings"]} == {"run: harness memory rebuild"}
    assert sound.memory("rebuild").code == 0
    assert sound.json("verify")["findings"] == []


def test_like_stands_with_like(sound: World) -> None:
    put(sound.project / "INDEX.md", "# Session Memory Index\n")
    put(only(sound.project, "WORK/*/*/summary.md"), "")
    assert sound.memory("verify").stdout.count("Run: harness memory rebuild:") == 1


def test_many_alike_are_summed_up(sound: World) -> None:
    for number in range(30):
        put(sound.project / ("x%d.zip" % number), b"PK")
    lines = sound.memory("verify").stdout.splitlines()
    assert "30 findings" in lines[0]
    assert len(lines) < 12
    assert len(sound.json("verify", code=1)["findings"]) == 30


def test_nothing_to_verify(world_of_nothing: World) -> None:
    assert world_of_nothing.json("verify")["findings"] == []
    for words in (("verify",), ("verify", "--all-projects")):
        result = world_of_nothing.memory(*words)
        assert (result.code, "Nothing is remembered here" in result.stdout) == (0, True)
        assert "as it should be" not in result.stdout
    assert world_of_nothing.json("verify", "--all-projects")["projects"] == []


@pytest.fixture
def world_of_nothing(home: Path, repo: Path) -> World:
    return World(home, repo)


def test_two_hundred_episodes_are_checked_quickly(sound: World) -> None:
    project = sound.project
    path = only(project, "episodes/*.json")
    value = json.loads(path.read_text(encoding="utf-8"))
    value["tasks"] = []
    for number in range(200):
        other = {**value, "id": "%08x" % number, "thread": "%08x" % number}
        put(project / "episodes" / path.name.replace(value["id"], other["id"]), json.dumps(other, indent=2))
    assert sound.memory("rebuild").code == 0
    began = time.perf_counter()
    assert sound.json("verify")["findings"] == []
    assert time.perf_counter() - began < 3  # under 1 on a quiet machine
