"""The audit trail: what a line holds, what a killed writer leaves, and every way to tamper with it named."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import audit_storm
import pytest
import support
from life import Life

from harness_memory.audit import trail
from harness_memory.audit import verify as chain
from harness_memory.base import settings
from harness_memory.memory import views

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX limits and links")

SEPTEMBER = 1788500000.0  # 2026-09-04
MONTH_SECONDS = 31 * 86400
FIELDS = {
    "event": "tool_blocked",
    "tool": "Bash",
    "command": "rm -rf ~",
    "reason": "Deletes the home directory",
    "session": "a1b2c3d4-1111-2222-3333-444455556666",
    "rule": "delete-home",
}


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for the disk a thousand times tells nothing."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


def write(project: Path, *months: int, **fields: Any) -> list[str]:
    """One event in each of the months given, counted from September."""
    return [trail.append(str(project), {**FIELDS, **fields}, SEPTEMBER + month * MONTH_SECONDS) for month in months]


def files(project: Path) -> list[Path]:
    return [Path(path) for path in trail.files(str(project))]


def rows(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(True)


def verdict(project: Path) -> tuple[str, str, int] | None:
    """Kind, file and line of the first break."""
    broken = chain.verify(str(project)).broken
    return broken and (broken.kind, os.path.relpath(broken.path, str(project / "SECURITY")), broken.line)


def keep_head(project: Path, head: str, name: str = "session-2026-09-04T000000Z-0a1b2c3d.json") -> None:
    """An episode that knows a head, and is otherwise as small as one can be."""
    texts = dict.fromkeys(("id", "started", "ended", "what_was_done", "outcome", "thread"), "x")
    lists: dict[str, Any] = {"asked": [], "what_remains": [], "files_changed": [], "tags": [], "learnings": []}
    rest = {"tasks": [], "commands_failed_then_fixed": [], "duration_minutes": 1, "schema": 1}
    (project / "episodes").mkdir(exist_ok=True)
    (project / "episodes" / name).write_text(json.dumps({**texts, **lists, **rest, "audit_head": head}))


# What a line holds ---------------------------------------------------------------------------------


def test_the_form_of_a_line(tmp_path: Path) -> None:
    hashes = write(tmp_path, 0, 0, 1)
    september, october = files(tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in (september, october)] == [
        "SECURITY/2026/09/audit.jsonl",
        "SECURITY/2026/10/audit.jsonl",
    ]
    previous = ""
    for number, line in enumerate(rows(september) + rows(october), 1):
        event = json.loads(line)
        assert line.decode() == json.dumps(event, ensure_ascii=False) + "\n"
        assert list(event) == [
            *("ts", "event", "tool", "command", "reason", "session", "rule", "seq", "prev", "hash"),
        ]
        assert (event["seq"], event["prev"]) == (number, previous)
        previous = event.pop("hash")
        assert previous == hashlib.sha256(json.dumps(event, ensure_ascii=False).encode()).hexdigest()
        assert previous == hashes[number - 1]
        assert {**event, **FIELDS} == event
    assert trail.head(str(tmp_path)) == "3:" + hashes[-1]
    if os.name == "posix":
        for path in (september, september.parent, tmp_path / "SECURITY", tmp_path / "SECURITY" / "audit.lock"):
            assert path.stat().st_mode & 0o077 == 0


LONG = "echo " + "word " * 200
TOKEN = "ghp_abcdefghijABCDEFGHIJ0123456789abcd"
CONTENT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a path": ({"path": "~/.ssh/id_rsa"}, {"path": "~/.ssh/id_rsa"}),
    "lines stay": ({"command": "a <<X\nb\nX"}, {"command": "a <<X\nb\nX"}),
    "any script": ({"command": "rm 'é\u2028😀'"}, {"command": "rm 'é 😀'"}),
    "half a pair": ({"command": "rm \ud800"}, {"command": "rm ?"}),
    "no text": ({"command": ["rm"], "path": None}, {"command": None, "path": None}),
    "a secret": ({"command": "GH=%s rm -rf ~" % TOKEN}, {"command": "GH=[redacted:github-token] rm -rf ~"}),
    "a secret in a reason": ({"reason": "wrote " + TOKEN}, {"reason": "wrote [redacted:github-token]"}),
    "a secret in a path": ({"path": "https://u:hunter22x@h/x"}, {"path": "https://u:[redacted:password]@h/x"}),
    "a long command": ({"command": LONG}, {"command_chars": len(LONG)}),
    "a short one": ({"command": "x" * 500}, {"command": "x" * 500, "command_chars": None}),
    "more fields": ({"tier": "block", "depth": 3, "once": True}, {"tier": "block", "depth": 3, "once": True}),
    "ours are ours": ({"seq": 99, "hash": "x", "torn": "x", "ts": "x", "command_chars": 7}, {"seq": 1, "torn": None}),
    "nothing to say": ({"reason": None, "rule": "", "session": 7}, {"reason": "", "rule": "", "session": ""}),
}


@pytest.mark.parametrize(("given", "kept"), CONTENT.values(), ids=list(CONTENT))
def test_content(tmp_path: Path, given: dict[str, Any], kept: dict[str, Any]) -> None:
    fields = {key: value for key, value in FIELDS.items() if key != "command"}
    trail.append(str(tmp_path), {**fields, **given}, SEPTEMBER)
    (event,) = trail.events(str(tmp_path))
    assert {key: event.get(key) for key in kept} == kept
    assert len(event.get("command", "")) <= settings.AUDIT_COMMAND_CHARS
    assert list(event)[-3:] == ["seq", "prev", "hash"]
    assert verdict(tmp_path) is None


def test_no_cut_splits_a_secret(tmp_path: Path) -> None:
    for start in range(440, 505, 3):
        write(tmp_path, 0, command="echo ".ljust(start, "x") + " " + TOKEN + " tail" * 40)
    text = files(tmp_path)[0].read_text("utf-8")
    assert "ghp_" not in text
    assert "[redacted" in text


def test_an_unknown_event_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no event"):
        write(tmp_path, 0, event="something")
    assert not (tmp_path / "SECURITY").exists()


def test_a_clock_set_back_goes_on_in_the_later_month(tmp_path: Path) -> None:
    write(tmp_path, 1, 0, 2)
    assert [len(rows(path)) for path in files(tmp_path)] == [2, 1]
    assert [event["ts"][:7] for event in trail.events(str(tmp_path))] == ["2026-10", "2026-09", "2026-11"]
    assert verdict(tmp_path) is None


def test_an_append_reads_the_end_alone(tmp_path: Path) -> None:
    write(tmp_path, 0)
    (path,) = files(tmp_path)
    last = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(1 << 34)  # a hole of 16 GB: whoever reads it all is still reading
        file.write(b"\n" + last)
    try:
        write(tmp_path, 0)
        assert trail.head(str(tmp_path)).startswith("2:")
    finally:
        path.unlink()


def test_what_an_append_loads(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from harness_memory.audit import trail as audit\n"
        "audit.append(sys.argv[2], {'event': 'tool_blocked', 'command': 'rm -rf ~ && git push -f'}, 1.0)\n"
        "dear = {'re', 'json', 'hashlib', '_hashlib', 'datetime', 'typing', 'harness_memory.audit.verify'}\n"
        "print(*sorted(dear & {*sys.modules}))"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(support.LIB), str(tmp_path)]
    assert subprocess.check_output(command).split() == []


# Tampering -----------------------------------------------------------------------------------------

SEPT, OCT, NOV = "2026/09/audit.jsonl", "2026/10/audit.jsonl", "2026/11/audit.jsonl"
MONTHS = (0, 0, 0, 0, 1, 1, 2, 2)


def lines_of(name: str, change: Callable[[list[bytes]], list[bytes]]) -> Callable[[Path], None]:
    def edit(project: Path) -> None:
        path = project / "SECURITY" / name
        path.write_bytes(b"".join(change(rows(path))))

    return edit


def swap(one: int, other: int) -> Callable[[list[bytes]], list[bytes]]:
    def change(found: list[bytes]) -> list[bytes]:
        found[one], found[other] = found[other], found[one]
        return found

    return change


def resealed(line: bytes, **changes: Any) -> bytes:
    """The line with other content and a hash of its own that fits."""
    event = {**json.loads(line), **changes}
    del event["hash"]
    body = json.dumps(event, ensure_ascii=False)
    return ('%s, "hash": "%s"}\n' % (body[:-1], hashlib.sha256(body.encode()).hexdigest())).encode()


def drop_month(name: str) -> Callable[[Path], None]:
    return lambda project: shutil.rmtree(str((project / "SECURITY" / name).parent))


def swap_months(project: Path) -> None:
    one, other = project / "SECURITY" / SEPT, project / "SECURITY" / NOV
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


def drop_everything(project: Path) -> None:
    shutil.rmtree(str(project / "SECURITY"))


def begin_anew(project: Path) -> None:
    drop_everything(project)
    write(project, *MONTHS, 2, tool="Write")  # the same once more would be the same


def cut_and_go_on(project: Path) -> None:
    lines_of(NOV, lambda found: found[:1])(project)
    write(project, 2, 2, 2, tool="Write")


def disguise_as_torn(project: Path) -> None:
    lines_of(NOV, lambda found: [found[0], found[1][:-30]])(project)
    write(project, 2)


TAMPERED: dict[str, tuple[Callable[[Path], None], str, str, int]] = {
    "a word changed": (lines_of(SEPT, lambda f: [f[0], f[1].replace(b"~", b"/"), *f[2:]]), "changed", SEPT, 2),
    "a hash changed": (lines_of(SEPT, lambda f: [f[0][:-4] + b'0"}\n', *f[1:]]), "changed", SEPT, 1),
    "a number changed": (lines_of(OCT, lambda f: [f[0].replace(b'"seq": 5', b'"seq": 6'), f[1]]), "changed", OCT, 1),
    "spaces changed": (lines_of(SEPT, lambda f: [f[0], f[1].replace(b", ", b","), *f[2:]]), "malformed", SEPT, 2),
    "changed and sealed": (lines_of(SEPT, lambda f: [f[0], resealed(f[1], tool="X"), *f[2:]]), "changed", SEPT, 2),
    "last of a month sealed": (lines_of(SEPT, lambda f: [*f[:3], resealed(f[3], tool="X")]), "changed", SEPT, 4),
    "the last one sealed": (lines_of(NOV, lambda f: [f[0], resealed(f[1], tool="X")]), "truncated", NOV, 2),
    "the first removed": (lines_of(SEPT, lambda f: f[1:]), "removed", SEPT, 1),
    "one removed": (lines_of(SEPT, lambda f: [f[0], *f[2:]]), "removed", SEPT, 2),
    "the last of a month removed": (lines_of(SEPT, lambda f: f[:3]), "removed", OCT, 1),
    "a copy inserted": (lines_of(SEPT, lambda f: [*f[:3], f[0], f[3]]), "inserted", SEPT, 4),
    "a later copy inserted": (lines_of(SEPT, lambda f: [f[0], f[2], *f[1:]]), "inserted", SEPT, 2),
    "a line doubled": (lines_of(SEPT, lambda f: [f[0], f[0], *f[1:]]), "inserted", SEPT, 2),
    "the last doubled": (lines_of(NOV, lambda f: [*f, f[-1]]), "inserted", NOV, 3),
    "a forged one": (lines_of(SEPT, lambda f: [f[0], resealed(f[1], tool="X"), *f[1:]]), "inserted", SEPT, 2),
    "text inserted": (lines_of(SEPT, lambda f: [f[0], b"hello\n", *f[1:]]), "inserted", SEPT, 2),
    "an empty line": (lines_of(SEPT, lambda f: [f[0], b"\n", *f[1:]]), "inserted", SEPT, 2),
    "neighbours swapped": (lines_of(SEPT, swap(1, 2)), "reordered", SEPT, 2),
    "the first two swapped": (lines_of(SEPT, swap(0, 1)), "reordered", SEPT, 1),
    "the last two swapped": (lines_of(NOV, swap(0, 1)), "reordered", NOV, 1),
    "one moved down": (lines_of(SEPT, lambda f: [f[0], f[2], f[3], f[1]]), "reordered", SEPT, 2),
    "one moved up": (lines_of(SEPT, lambda f: [f[3], *f[:3]]), "reordered", SEPT, 1),
    "months swapped": (swap_months, "reordered", SEPT, 1),
    "not JSON": (lines_of(OCT, lambda f: [b"{}\n", f[1]]), "malformed", OCT, 1),
    "half a line": (lines_of(SEPT, lambda f: [f[0][:50] + b"\n", *f[1:]]), "malformed", SEPT, 1),
    "lines joined": (lines_of(SEPT, lambda f: [f[0], f[1][:-1], *f[2:]]), "malformed", SEPT, 2),
    "a last line of text": (lines_of(NOV, lambda f: [*f, b"hello\n"]), "malformed", NOV, 3),
    "a last line without end": (lines_of(NOV, lambda f: [*f, b"hello"]), "malformed", NOV, 3),
    "a line of megabytes": (lines_of(NOV, lambda f: [f[0], b"x" * 3_000_000 + b"\n", f[1]]), "malformed", NOV, 2),
    "the tail cut": (lines_of(NOV, lambda f: f[:1]), "truncated", NOV, 1),
    "half of the last cut": (lines_of(NOV, lambda f: [f[0], f[1][:60]]), "truncated", NOV, 1),
    "the last month removed": (drop_month(NOV), "truncated", OCT, 2),
    "a middle month removed": (drop_month(OCT), "removed", NOV, 1),
    "the first month removed": (drop_month(SEPT), "removed", OCT, 1),
    "everything removed": (drop_everything, "truncated", ".", 0),
    "begun anew": (begin_anew, "truncated", NOV, 2),
    "cut, and gone on": (cut_and_go_on, "truncated", NOV, 2),
    "disguised as torn": (disguise_as_torn, "truncated", NOV, 3),
}  # fmt: skip


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("pristine") / "project"
    write(project, *MONTHS)
    keep_head(project, trail.head(str(project)))
    return project


@pytest.fixture
def sound(pristine: Path, tmp_path: Path) -> Path:
    shutil.copytree(str(pristine), str(tmp_path / "copy"))
    return tmp_path / "copy"


def test_left_alone(sound: Path) -> None:
    found = chain.verify(str(sound))
    assert (found.broken, found.count, found.torn) == (None, 8, 0)
    assert found.head == trail.head(str(sound))
    write(sound, 2)
    assert verdict(sound) is None  # a trail may be longer than an episode knows
    assert chain.verify(str(sound / "nothing")).head == ""


@pytest.mark.parametrize(("tamper", "kind", "name", "number"), TAMPERED.values(), ids=list(TAMPERED))
def test_tampering(sound: Path, tamper: Callable[[Path], None], kind: str, name: str, number: int) -> None:
    tamper(sound)
    expected = (kind, name.replace("/", os.sep), number)
    before = {path: path.read_bytes() for path in files(sound)}
    assert verdict(sound) == expected
    assert {path: path.read_bytes() for path in files(sound)} == before
    if kind != "truncated":
        write(sound, 3)  # whoever goes on neither fails nor covers it up
        assert (verdict(sound) or ())[1:] == expected[1:]


def put_byte(path: Path, at: int, value: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes([value]))


def test_no_byte_can_be_changed(tmp_path: Path) -> None:
    write(tmp_path, 0, 0, 0)
    (path,) = files(tmp_path)
    whole = path.read_bytes()
    for at in range(len(whole)):
        put_byte(path, at, whole[at] ^ 1)
        found = verdict(tmp_path)
        put_byte(path, at, whole[at])
        assert found, at
        assert found[0] in ("changed", "malformed"), at
        assert found[2] == whole.count(b"\n", 0, at) + 1, at


def test_a_damaged_episode_says_nothing(sound: Path) -> None:
    (sound / "episodes" / "session-2026-09-04T000000Z-00000000.json").write_text('{"audit_head": "99:x"')
    keep_head(sound, "garbage", "session-2026-09-05T000000Z-00000001.json")
    assert verdict(sound) is None


@posix
def test_a_link_is_not_followed(sound: Path, tmp_path: Path) -> None:
    path = sound / "SECURITY" / NOV
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere").read_bytes()
    for act in (lambda: write(sound, 2), lambda: chain.verify(str(sound)), lambda: trail.head(str(sound))):
        with pytest.raises(OSError):  # noqa: PT011
            act()
    assert (tmp_path / "elsewhere").read_bytes() == before


# Torn lines ----------------------------------------------------------------------------------------


def test_a_torn_line_at_any_byte(tmp_path: Path) -> None:
    first, second = write(tmp_path, 0, 0)
    (path,) = files(tmp_path)
    one, two = rows(path)
    for kept in [*range(0, 20, 3), *range(20, len(two) - 80, 37), *range(len(two) - 80, len(two) + 1, 5)]:
        path.write_bytes(one + two[:kept])
        found = chain.verify(str(tmp_path))
        is_whole = kept >= len(two) - 1
        assert (found.broken, found.count, found.torn) == (None, 1 + is_whole, int(kept > 0 and not is_whole)), kept
        write(tmp_path, 0, tool="Write")
        found = chain.verify(str(tmp_path))
        assert (found.broken, found.count, found.torn) == (None, 2 + is_whole, int(kept > 0 and not is_whole)), kept
        numbers = [event["seq"] for event in trail.events(str(tmp_path))]
        assert numbers == list(range(1, 3 + is_whole))
        keep_head(tmp_path, "2:" + second)
        assert (verdict(tmp_path) is None) == is_whole  # an acknowledged event cannot be passed off as torn
        keep_head(tmp_path, "1:" + first)
        assert verdict(tmp_path) is None


def tear(project: Path, month: int, size: int = 40) -> None:
    """What a writer leaves that dies after `size` bytes."""
    copy = project.parent / "torn-copy"
    shutil.copytree(str(project), str(copy))
    write(copy, month)
    newest = files(copy)[-1]
    target = project / newest.relative_to(copy)
    old = target.read_bytes() if target.exists() else b""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(old + newest.read_bytes()[len(old) :][:size])
    shutil.rmtree(str(copy))


TEARS: dict[str, tuple[int, ...]] = {
    "once": (0,),
    "twice": (0, 0),
    "three times": (0, 0, 0),
    "in the old month": (0, 1),
    "first in a month": (1,),
    "first in a month, twice": (1, 1),
    "in both": (0, 1, 1),
}


@pytest.mark.parametrize("months", TEARS.values(), ids=list(TEARS))
def test_torn_again(tmp_path: Path, months: tuple[int, ...]) -> None:
    project = tmp_path / "project"
    write(project, 0)
    for month in months:
        tear(project, month)
        assert verdict(project) is None
    write(project, months[-1], months[-1])
    found = chain.verify(str(project))
    assert (found.broken, found.count, found.torn) == (None, 3, 1)
    torn = next(event for event in trail.events(str(project)) if "torn" in event)
    assert (torn["seq"], list(torn)[-4:]) == (2, ["seq", "prev", "torn", "hash"])


def test_a_torn_first_line(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    tear(project, 0)
    assert trail.head(str(project)) == ""
    write(project, 0)
    found = chain.verify(str(project))
    assert (found.broken, found.count, found.torn) == (None, 1, 1)


@pytest.mark.parametrize(
    ("change", "kind", "number"),
    [
        (lambda f: [f[0], *f[2:]], "removed", 2),
        (lambda f: [f[0], f[1][:-2] + b"\n", *f[2:]], "changed", 2),
        (lambda f: [f[0], f[1], b"x\n", *f[2:]], "changed", 2),
        (lambda f: [f[0], f[1], f[3]], "malformed", 2),
    ],
    ids=["removed", "shortened", "grown", "its witness removed"],
)
def test_a_torn_line_is_part_of_the_chain(
    tmp_path: Path, change: Callable[[list[bytes]], list[bytes]], kind: str, number: int
) -> None:
    project = tmp_path / "project"
    write(project, 0)
    tear(project, 0)
    write(project, 0, 0)
    lines_of(SEPT, change)(project)
    assert verdict(project) == (kind, SEPT.replace("/", os.sep), number)


FULL_DISK = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from harness_memory.audit import trail as audit
audit.append(sys.argv[2], {"event": "tool_blocked"}, 1.0)
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
try:
    audit.append(sys.argv[2], {"event": "tool_blocked", "reason": "x" * 200}, 1.0)
except OSError:
    print("refused")
"""


@posix
def test_a_full_disk(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", "-c", FULL_DISK, str(support.LIB), str(tmp_path)]
    assert subprocess.check_output(command).split() == [b"refused"]
    (path,) = files(tmp_path)
    assert path.stat().st_size == 300
    write(tmp_path, 0)
    found = chain.verify(str(tmp_path))
    assert (found.broken, found.count, found.torn) == (None, 2, 1)


def test_a_held_lock_records_nothing(tmp_path: Path) -> None:
    write(tmp_path, 0)
    before = files(tmp_path)[0].read_bytes()
    with support.hold_lock(tmp_path / "SECURITY" / "audit.lock") as holder:
        with pytest.raises(TimeoutError):
            trail.append(str(tmp_path), FIELDS, SEPTEMBER, 0.05)
        holder.kill()
    assert files(tmp_path)[0].read_bytes() == before


@posix
def test_many_writers_and_some_killed(tmp_path: Path) -> None:
    storm = audit_storm.Storm(tmp_path, processes=8, events=40, seed=3, interpreter=sys.executable)
    assert storm.problems() == []
    assert storm.killed
    assert chain.verify(str(storm.project)).torn
    assert chain.verify(str(storm.project)).count >= 6 * 40


# Heads ---------------------------------------------------------------------------------------------


def test_the_head_after_a_known_one(tmp_path: Path) -> None:
    project = str(tmp_path)
    assert trail.next_head(project, "") == ""
    write(tmp_path, 0, 0)
    second = trail.head(project)
    assert trail.next_head(project, "") == trail.next_head(project, second) == second
    write(tmp_path, 1, 2)
    assert trail.next_head(project, second) == trail.head(project)  # grown from it
    for path in files(tmp_path)[1:]:
        path.unlink()
    lines_of(SEPT, lambda found: found[:1])(tmp_path)
    assert trail.next_head(project, second) == second  # cut
    write(tmp_path, 0, 0, 0, tool="Write")
    assert trail.next_head(project, second) == second  # cut, and gone on
    shutil.rmtree(str(tmp_path / "SECURITY"))
    assert trail.next_head(project, second) == second


def test_episodes_keep_the_head(life: Life) -> None:
    life.start()
    life.turn("Add a form", "Added the form.", "a.py")
    assert "audit_head" not in life.episode
    project = life.project
    write(project, 0, 0)
    life.turn("Add tests", "Added the tests.", "b.py")
    assert list(life.episode.items())[-1] == ("audit_head", trail.head(str(project)))
    assert verdict(project) is None
    lines_of(SEPT, lambda found: found[:1])(project)
    life.turn("Anything else?", "Nothing that I know of, all is done and tested.", "d.py")
    assert verdict(project) == ("truncated", SEPT.replace("/", os.sep), 1)
    drop_everything(project)
    life.turn("Are you sure?", "Yes, all of it is done and tested by now.", "e.py")
    life.end()
    assert verdict(project) == ("truncated", ".", 0)


def test_housekeeping_and_rebuild_leave_the_trail_alone(life: Life) -> None:
    life.start()
    life.turn("Add a form", "Added the form.", "a.py")
    life.end()
    project = life.project
    write(project, 0, 1)
    tear(project, 1)
    (episode,) = (project / "episodes").glob("*.json")
    shutil.copy(str(episode), str(episode.with_name("session-2026-01-01T000000Z-00000000.json")))
    before = {path: path.read_bytes() for path in files(project)}
    (life.store / "config.json").write_text('{"retention_episodes": 1}')
    long_ago = 1_000_000.0
    for path in sorted((project / "SECURITY").rglob("*")):
        os.utime(str(path), (long_ago, long_ago))
    Life(life.home, life.cwd, pid=life.pid).start()
    views.rebuild(str(project), 5)
    assert [path.name for path in (project / "episodes").glob("*.json")] == [episode.name]
    assert {path: path.read_bytes() for path in files(project)} == before
    assert (project / "SECURITY" / "audit.lock").exists()
