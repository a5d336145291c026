from __future__ import annotations

import json
import os
import random
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Callable

import pytest
import support
from commandline import run_here
from test_jsonedit import Scribe

from harness_memory import __version__
from harness_memory.base import invocation, jsontext
from harness_memory.setup import entries, interpreter, merge, registry, selftest, settingsfile
from harness_memory.setup.command import main as command_line
from harness_memory.setup.installation import Place, install, plan_install, plan_uninstall, uninstall

POSIX = pytest.mark.skipif(os.name == "nt", reason="POSIX shells, links and modes")
PYENV = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
TREE = "/opt/harness memory"
PYTHON = "/usr/bin/python3"
OURS = ("hooks", "permissions")

HOOK = '{"hooks": [{"type": "command", "command": "echo mine"}]}'
SHAPES = {
    "empty": b"",
    "blank": b" \r\n",
    "bom only": b"\xef\xbb\xbf",
    "braces": b"{}",
    "braces and newline": b"{}\n",
    "spaced braces": b"{ }\n",
    "broken braces": b"{\n}\n",
    "one line": b'{"model":"opus","env":{"A":"1"}}',
    "one line, spaced": b'{"model": "opus", "env": {"A": "1"}}\n',
    "two spaces": b'{\n  "model": "opus"\n}\n',
    "four spaces": b'{\n    "model": "opus",\n    "env": {\n        "A": "1"\n    }\n}\n',
    "tabs": b'{\n\t"model": "opus"\n}\n',
    "no indentation": b'{\n"model": "opus"\n}\n',
    "crlf": b'{\r\n  "model": "opus",\r\n  "hooks": {\r\n  }\r\n}\r\n',
    "bom": b'\xef\xbb\xbf{\n  "model": "opus"\n}\n',
    "no newline at the end": b'{\n  "model": "opus"\n}',
    "newlines at the end": b'\n{\n  "model": "opus"\n}\n\n\n',
    "commas first": b'{ "model": "opus"\n, "env": {}\n, "permissions": { "allow": ["A"] }\n}\n',
    "our containers, empty": b'{\n  "hooks": {},\n  "permissions": {"allow": [ ], "deny": []}\n}\n',
    "empty events": b'{\n  "hooks": {"Stop": [], "SessionEnd": [\n  ]}\n}\n',
    "foreign hooks": (
        '{\n  "hooks": {\n    "Stop": [\n      %s\n    ],\n    "PreToolUse": [%s]\n  }\n}\n' % (HOOK, HOOK)
    ).encode(),
    "foreign hooks, one line": ('{"hooks": {"Stop": [%s], "SessionStart": [%s, %s]}}' % (HOOK, HOOK, HOOK)).encode(),
    "odd entries": b'{"hooks": {"Stop": [7, null, {"hooks": 3}, {"hooks": [{"command": 5}, "x"]}], "Odd": "x"}}',
    "permissions": b'{\n  "permissions": {\n    "allow": [\n      "Bash(ls *)"\n    ],\n    "deny": ["X"]\n  }\n}\n',
    "a rule of ours already": b'{"permissions": {"allow": ["Read(~/.claude/memory/**)", "Bash(ls)"]}}',
    "escapes": b'{\n  "a\\u0062": "\\u00e9\\ud83d\\ude00\\/",\n  "n": "\xc3\xa9"\n}\n',
    "numbers": b'{"n": [1e400, 12345678901234567890, -0, 1.50, 1E+2]}',
    "not utf-8": b'{\n  "a": "\xff\xfe"\n}\n',
    "duplicate keys": b'{"hooks": 5, "permissions": [], "hooks": {}, "permissions": {}}',
    "line separators": b'{\n  "a": "\xe2\x80\xa8\x0c\xc2\x85"\n}\n'.replace(b"\x0c", b""),
}


def wanted(tree: str = TREE, python: str = PYTHON, store: str = "/home/you/.claude/memory") -> entries.Entries:
    return entries.entries(tree, python, [store], "/home/you")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    folder = tmp_path / "config"
    folder.mkdir()
    return Place(TREE, "user", str(folder / "settings.json"), str(tmp_path / "memory"))


def put(place: Place, data: bytes) -> bytes:
    Path(place.settings).write_bytes(data)
    return data


def get(place: Place) -> bytes:
    return Path(place.settings).read_bytes()


def do_install(place: Place, new: entries.Entries | None = None) -> bytes:
    new = new or wanted()
    install(place, new, PYTHON, plan_install(place, new))
    return get(place)


def do_uninstall(place: Place) -> None:
    uninstall(place, plan_uninstall(place, wanted()))


def values(data: bytes) -> Any:
    text = data.decode("utf-8-sig", "surrogateescape")
    return json.loads(text, parse_int=str, parse_float=str) if text.strip() else {}


def is_subsequence(small: bytes, large: bytes) -> bool:
    rest = iter(large)
    return all(byte in rest for byte in small)


@pytest.mark.parametrize("shape", SHAPES)
def test_round_trip(place: Place, shape: str) -> None:
    before = put(place, SHAPES[shape])
    installed = do_install(place)
    assert do_install(place) == installed
    seen, old = values(installed), values(before)
    assert list(seen)[: len(old)] == list(old)
    assert {k: v for k, v in seen.items() if k not in OURS} == {k: v for k, v in old.items() if k not in OURS}
    for event, group in wanted().groups.items():
        foreign = old.get("hooks", {}).get(event, [])
        assert seen["hooks"][event][:-1] == foreign
        assert merge.commands(settingsfile.decode(installed), TREE)[event] == group["hooks"][0]["command"]
    assert set(wanted().rules) <= set(seen["permissions"]["allow"])
    if b"}" in before and b" ]" not in before and not any(hole in before for hole in (b"{ }", b"{\n}", b"  }\r\n}")):
        assert is_subsequence(before.rstrip(), installed)
    assert (b"\r\n" in installed) == (b"\r\n" in before.rstrip()) or shape == "blank"
    if b"\r\n" in before.strip():
        assert b"\n" not in installed.replace(b"\r\n", b"")
    do_uninstall(place)
    assert get(place) == before
    assert os.listdir(os.path.dirname(place.settings)) == ["settings.json"]
    assert not os.path.exists(place.store)


@pytest.mark.parametrize("shape", [name for name in SHAPES if b":" in SHAPES[name] and b"[ ]" not in SHAPES[name]])
def test_without_the_backup_the_text_is_the_same(place: Place, shape: str) -> None:
    """The parts are taken out one by one, as they are when the file was edited in between."""
    before = put(place, SHAPES[shape])
    installed = do_install(place)
    original = settingsfile.decode(before)
    stripped = merge.strip(settingsfile.decode(installed), TREE, tuple(wanted().rules), original)
    if shape in ("crlf", "empty events"):  # an empty container loses the white space in it
        assert json.loads(stripped) == json.loads(original)
    else:
        assert stripped == original


@pytest.mark.parametrize("seed", range(support.volume(40)))
def test_round_trip_of_random_documents(place: Place, seed: int) -> None:
    scribe = Scribe(seed)
    chance = random.Random(seed)
    text = scribe.container("{", 0) + chance.choice(["", "\n", "\r\n"])
    before = put(place, chance.choice(["", "\ufeff"]).encode() + text.encode())
    try:
        installed = do_install(place)
    except settingsfile.Refused:
        with pytest.raises(merge.WrongShape):
            merge.merge(settingsfile.decode(before), wanted(), TREE)
        assert get(place) == before
        return
    assert do_install(place) == installed
    old = values(before)
    assert {k: v for k, v in values(installed).items() if k not in OURS} == {
        k: v for k, v in old.items() if k not in OURS
    }
    stripped = merge.strip(settingsfile.decode(installed), TREE, tuple(wanted().rules), settingsfile.decode(before))
    assert values(stripped.encode()) == old
    do_uninstall(place)
    assert get(place) == before


def test_edits_made_in_between_stay(place: Place) -> None:
    put(place, b'{\n  "model": "opus",\n  "hooks": {\n    "Stop": [\n      %s\n    ]\n  }\n}\n' % HOOK.encode())
    text = do_install(place).decode()
    text = text.replace('"opus"', '"sonnet"').replace('"allow": [', '"allow": [\n      "Bash(make *)",')
    put(place, text.encode())
    do_uninstall(place)
    assert get(place).decode() == (
        '{\n  "model": "sonnet",\n  "hooks": {\n    "Stop": [\n      %s\n    ]\n  },\n'
        '  "permissions": {\n    "allow": [\n      "Bash(make *)"\n    ]\n  }\n}\n' % HOOK
    )


def test_a_file_rewritten_by_the_client_loses_only_our_parts(place: Place) -> None:
    put(place, b'{"model":"opus","hooks":{}}')
    seen = json.loads(do_install(place))
    seen["theme"] = "dark"
    put(place, json.dumps(seen, indent=2).encode())
    do_uninstall(place)
    assert get(place) == b'{\n  "model": "opus",\n  "hooks": {},\n  "theme": "dark"\n}'


def test_a_foreign_hook_put_into_our_group_stays(place: Place) -> None:
    put(place, b"{}")
    seen = json.loads(do_install(place))
    mine = {"type": "command", "command": "echo mine"}
    seen["hooks"]["Stop"][0]["hooks"].append(mine)
    put(place, json.dumps(seen).encode())
    do_install(place)
    assert json.loads(get(place)) == seen
    do_uninstall(place)
    assert json.loads(get(place)) == {"hooks": {"Stop": [{"hooks": [mine]}]}}


def test_a_file_that_we_made_is_removed_again(place: Place) -> None:
    os.rmdir(os.path.dirname(place.settings))
    assert json.loads(do_install(place)) == wanted().as_settings()
    assert registry.find(place.store, place.settings)["created"] is True
    do_install(place)
    do_uninstall(place)
    assert not os.path.exists(os.path.dirname(place.settings))


def test_a_folder_that_we_made_goes_with_the_last_install_in_it_and_only_when_empty(place: Place) -> None:
    folder = Path(place.settings).parent
    folder.rmdir()
    other = Place(TREE, "local", str(folder / "settings.local.json"), place.store)
    for keepsake in (False, True):
        do_install(place)
        do_install(other)
        do_uninstall(place)
        assert os.listdir(str(folder)) == ["settings.local.json"]
        if keepsake:
            (folder / "CLAUDE.md").write_text("mine")
        do_uninstall(other)
        assert folder.exists() is keepsake


def test_a_file_that_we_made_stays_when_more_was_put_into_it(place: Place) -> None:
    seen = json.loads(do_install(place))
    put(place, json.dumps({"model": "opus", **seen}).encode())
    do_uninstall(place)
    assert get(place) == b'{"model": "opus"}'


OLDER = [
    'p=\'/old/python\'; s=\'/old place/hooks/stop.py\'; [ -f "$s" ] && "$p" "$s" # harness-memory',
    '"C:/Python38/python.exe" -I -S "C:/old place/hooks/stop.py" harness-memory',
    "python3 '%s/hooks/stop.py'" % TREE,
    "%s/hooks/stop.py" % TREE,
]


@pytest.mark.parametrize("command", OLDER)
def test_an_older_entry_is_renewed_where_it_stands(place: Place, command: str) -> None:
    group = {"hooks": [{"type": "command", "command": command, "timeout": 60, "statusMessage": "x"}]}
    foreign = json.loads(HOOK)
    old_rule = "Bash(python3 /old/harness memory *)"
    put(place, json.dumps({"hooks": {"Stop": [group, foreign]}, "permissions": {"allow": [old_rule, "X"]}}).encode())
    seen = json.loads(do_install(place))
    new = wanted().groups["Stop"]["hooks"][0]
    assert seen["hooks"]["Stop"] == [{"hooks": [{**new, "statusMessage": "x"}]}, foreign]
    assert seen["permissions"]["allow"] == [wanted().rules[1], "X", wanted().rules[0]]
    do_uninstall(place)
    assert json.loads(get(place)) == {"hooks": {"Stop": [foreign]}, "permissions": {"allow": ["X"]}}


LEFT_ALONE = [
    "python3 /home/you/hooks/stop.py",
    "python3 /x%s/hooks/stop.py" % TREE,
    "echo harness-memory",
    "python3 /home/you/hooks/stop.py # not harness-memory, really",
]


@pytest.mark.parametrize("command", LEFT_ALONE)
def test_somebody_elses_command_is_left_alone(place: Place, command: str) -> None:
    foreign = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}
    before = put(place, json.dumps(foreign).encode())
    assert json.loads(do_install(place))["hooks"]["Stop"][0] == foreign["hooks"]["Stop"][0]
    do_uninstall(place)
    assert get(place) == before


def test_a_moved_tree_store_and_interpreter_are_followed_and_undone(place: Place) -> None:
    before = put(place, SHAPES["foreign hooks"])
    do_install(place, wanted("/older/tree", "/older/python", "/older/store"))
    seen = do_install(place)
    assert b"older" not in seen
    assert do_install(place) == seen
    do_uninstall(place)
    assert get(place) == before


@pytest.mark.parametrize(
    "shape",
    [
        "empty",
        "braces",
        "one line",
        "two spaces",
        "crlf",
        "bom",
        "our containers, empty",
        "foreign hooks",
        "permissions",
    ]
    + ["a rule of ours already", "duplicate keys"],
)
def test_an_install_with_another_memory_is_undone_there_too(place: Place, tmp_path: Path, shape: str) -> None:
    before = put(place, SHAPES[shape])
    elsewhere = Place(TREE, place.scope, place.settings, str(tmp_path / "else where"))
    do_install(elsewhere, wanted(store=elsewhere.store))
    do_install(place)
    do_uninstall(place)
    assert get(place) == before
    assert [os.path.exists(path) for path in (elsewhere.store, place.store)] == [False, False]


def test_a_rule_for_a_folder_that_does_not_know_of_us_stays(place: Place, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger"
    registry.put(str(stranger), {"settings": "/elsewhere/settings.json"})
    rule = entries.read_rule(str(stranger), "/home/you")
    seen = json.loads(do_install(place))
    seen["permissions"]["allow"].append(rule)
    put(place, json.dumps(seen).encode())
    do_uninstall(place)
    assert json.loads(get(place)) == {"permissions": {"allow": [rule]}}
    assert len(registry.load(str(stranger))) == 1


def test_doubled_and_dropped_entries_are_cleared(place: Place) -> None:
    seen = json.loads(do_install(place))
    seen["hooks"]["Stop"] *= 2
    seen["hooks"]["Notification"] = seen["hooks"]["Stop"][:1]
    put(place, json.dumps(seen).encode())
    assert json.loads(do_install(place)) == wanted().as_settings()


def test_a_matcher_is_set_where_we_stand_alone_and_never_on_others(place: Place) -> None:
    new = wanted()
    new.groups["Stop"] = {"matcher": "Bash", **new.groups["Stop"]}
    do_install(place)
    assert json.loads(do_install(place, new))["hooks"]["Stop"][0]["matcher"] == "Bash"
    shared = json.loads(do_install(place))
    shared["hooks"]["Stop"][0]["hooks"].insert(0, {"type": "command", "command": "echo mine"})
    put(place, json.dumps(shared).encode())
    stop = json.loads(do_install(place, new))["hooks"]["Stop"]
    assert stop == [{"hooks": [{"type": "command", "command": "echo mine"}], "matcher": ""}, new.groups["Stop"]]


def unguarded() -> entries.Entries:
    return entries.entries(TREE, PYTHON, ["/home/you/.claude/memory"], "/home/you", guard=False)


@pytest.mark.parametrize("shape", ["braces", "foreign hooks", "crlf"])
def test_the_guard_comes_and_goes_with_one_word(place: Place, shape: str) -> None:
    """An install of before the guard is one without it."""
    before = put(place, SHAPES[shape])
    old = do_install(place, unguarded())
    assert merge.matchers(settingsfile.decode(old), TREE)["PreToolUse"] == "Skill"
    new = do_install(place)
    assert new == old.replace(b'"Skill"', b'"*"')
    assert merge.matchers(settingsfile.decode(new), TREE)["PreToolUse"] == ""
    assert do_install(place) == new
    assert do_install(place, unguarded()) == old
    do_uninstall(place)
    assert get(place) == before


def test_the_guard_leaves_a_group_that_it_shares(place: Place) -> None:
    mine = {"type": "command", "command": "echo mine"}
    seen = json.loads(do_install(place, unguarded()))
    seen["hooks"]["PreToolUse"][0]["hooks"].append(mine)
    put(place, json.dumps(seen).encode())
    groups = json.loads(do_install(place))["hooks"]["PreToolUse"]
    assert groups == [{"matcher": "Skill", "hooks": [mine]}, wanted().groups["PreToolUse"]]
    groups[1]["hooks"].append(mine)
    put(place, json.dumps({**seen, "hooks": {**seen["hooks"], "PreToolUse": groups}}).encode())
    assert json.loads(do_install(place))["hooks"]["PreToolUse"] == groups


WRONG = [
    (b"[]", "the whole document should be an object"),
    (b"null", "the whole document should be an object"),
    (b'{"hooks": []}', '"hooks" should be an object {…}, but is an array'),
    (b'{"hooks": null}', '"hooks" should be an object {…}, but is null'),
    (b'{"hooks": {"Stop": {}}}', '"hooks.Stop" should be an array […], but is an object'),
    (b'{"permissions": "x"}', '"permissions" should be an object {…}, but is a string'),
    (b'{"permissions": {"allow": 5}}', '"permissions.allow" should be an array […], but is a number'),
    (b'{\n  "a": 1,\n}', "settings.json:2:9: not valid JSON: a comma must not stand before '}'"),
    (b"{\n  // x\n}", "settings.json:2:3: not valid JSON"),
    (b"\xff\xfe{\x00}\x00", "settings.json:1:1: not valid JSON"),
]


@pytest.mark.parametrize(("data", "message"), WRONG)
def test_what_cannot_be_merged_is_refused_and_untouched(place: Place, data: bytes, message: str) -> None:
    put(place, data)
    with pytest.raises(settingsfile.Refused) as caught:
        do_install(place)
    assert message in str(caught.value)
    assert get(place) == data
    assert os.listdir(os.path.dirname(place.settings)) == ["settings.json"]


def test_the_first_backup_is_kept_and_a_stale_one_replaced(place: Place) -> None:
    put(place, b'{"a": 1}')
    do_install(place)
    put(place, get(place).replace(b'"a": 1', b'"a": 2'))
    do_install(place, wanted("/elsewhere"))
    assert Path(place.backup).read_bytes() == b'{"a": 1}'
    put(place, b'{"b": 1}')
    do_install(place)
    do_uninstall(place)
    assert get(place) == b'{"b": 1}'


@POSIX
def test_links_and_modes_are_kept(place: Place, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "claude.json"
    target.parent.mkdir()
    target.write_bytes(b'{"a": 1}')
    target.chmod(0o640)
    link = Path(place.settings)
    link.symlink_to(target)
    do_install(place)
    assert link.is_symlink()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (target, Path(place.backup))] == [0o640, 0o640]
    assert os.listdir(str(target.parent)) == ["claude.json"]
    do_uninstall(place)
    assert (link.is_symlink(), target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (True, b'{"a": 1}', 0o640)


@POSIX
def test_new_files_are_private(place: Place) -> None:
    do_install(place)
    assert stat.S_IMODE(os.stat(place.settings).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(place.store).st_mode) == 0o700


@POSIX
@pytest.mark.parametrize("what", ["file", "folder"])
def test_read_only_means_hands_off(place: Place, what: str) -> None:
    put(place, b"{}")
    path = Path(place.settings) if what == "file" else Path(place.settings).parent
    path.chmod(0o444 if what == "file" else 0o555)
    try:
        with pytest.raises(settingsfile.Refused, match="read-only"):
            do_install(place)
    finally:
        path.chmod(0o755)
    assert get(place) == b"{}"


def test_a_memory_folder_that_is_a_file_is_refused_before_anything_changes(place: Place) -> None:
    put(place, b"{}")
    Path(place.store).write_text("x")
    with pytest.raises(settingsfile.Refused, match="memory folder"):
        do_install(place)
    assert get(place) == b"{}"


# What is registered ------------------------------------------------------------------------------
def test_the_example_is_exactly_what_would_be_written() -> None:
    tree, python = entries.EXAMPLE
    text = merge.merge("{}\n", wanted(tree, python), tree)
    assert (support.ROOT / "settings.example.json").read_text(encoding="utf-8") == text


def test_the_plugin_registers_the_same_hooks() -> None:
    text = (support.HOOKS / "hooks.json").read_text(encoding="utf-8")
    assert text == jsontext.pretty(entries.plugin_hooks())
    plugin = json.loads((support.ROOT / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert (plugin["name"], plugin["version"]) == ("harness-memory", __version__)


def test_every_registered_script_exists() -> None:
    assert [name for _, name, _ in entries.HOOKS if not (support.HOOKS / name).is_file()] == []


FOLDERS = ["plain", "a b", "it's", 'q"q', "$HOME", "`id`", "é ü", "-x", "b\\s", "n\nl", "x;y&z"]


@POSIX
@pytest.mark.parametrize(
    ("python", "folder"), [(sys.executable, each) for each in FOLDERS] + [("/gone/python", " ".join(FOLDERS))]
)
def test_a_command_never_fails_whatever_its_path(tmp_path: Path, python: str, folder: str) -> None:
    script = tmp_path / folder / "hooks" / "stop.py"
    script.parent.mkdir(parents=True)
    script.write_text("import sys; print('ran'); sys.exit('complaint' if sys.flags.isolated else 2)")
    command = entries.hook_command(python, str(script))
    assert entries.is_our_command(command, "/nowhere")
    for output in (b"ran\n", b""):
        result = subprocess.run(["/bin/sh", "-c", command], capture_output=True)
        assert (result.returncode, result.stdout, result.stderr) == (0, output, b"")
        shutil.rmtree(str(script.parent), ignore_errors=True)


@POSIX
def test_a_command_is_silent_without_any_python() -> None:
    command = entries.hook_command("/gone/python", str(support.HOOKS / "hooks.json"))
    result = subprocess.run(["/bin/sh", "-c", command], capture_output=True, env={"PATH": "/nowhere"})
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_windows_commands_have_forward_slashes_and_no_shell_words() -> None:
    new = entries.entries(r"C:\My Tools\hm", r"C:\Py 3\python.exe", ["C:/m"], "C:/u", windows=True)
    command = new.groups["Stop"]["hooks"][0]["command"]
    assert command.startswith('"C:/Py 3/python.exe" -I -S -X utf8 -c "import os,sys;')
    assert command.endswith('" "C:/My Tools/hm/hooks/stop.py" harness-memory')
    assert entries.hook_command(r"C:\py\python.exe", "x", windows=True).startswith("C:/py/python.exe -I")
    assert entries.is_our_command(command, "C:/elsewhere")
    assert new.rules == ["Read(//c/m/**)", 'Bash("C:/Py 3/python.exe" "C:/My Tools/hm/harness" memory *)']


def test_the_windows_launcher_runs_a_script_and_forgives_its_absence(tmp_path: Path) -> None:
    script = tmp_path / "hooks" / "x.py"
    script.parent.mkdir()
    script.write_text("import sys; print(__file__, sys.flags.isolated)")
    words = shlex.split(entries.hook_command(sys.executable, str(script), windows=True))
    for output in ("%s 1\n" % script, ""):
        result = subprocess.run(words, capture_output=True)
        assert (result.returncode, result.stdout.decode(), result.stderr) == (0, output, b"")
        shutil.rmtree(str(script.parent), ignore_errors=True)


@pytest.mark.parametrize(
    "command", ["python3 /opt/other/hooks/stop.py --name harness-memory", "echo harness-memory", "x # harness-memory"]
)
def test_commands_of_others_are_not_ours(command: str) -> None:
    assert not entries.is_our_command(command, "/nowhere")


@POSIX
def test_a_planted_backup_link_is_not_written_through(place: Place, tmp_path: Path) -> None:
    victim = tmp_path / ".bashrc"
    victim.write_text("mine")
    put(place, b"{}")
    Path(place.backup).symlink_to(victim)
    do_install(place)
    assert victim.read_text() == "mine"
    do_uninstall(place)
    assert (get(place), victim.read_text()) == (b"{}", "mine")


RULES = [
    ("/h/.claude/memory", "Read(~/.claude/memory/**)"),
    ("/h/.claude/memory2", "Read(//h/.claude/memory2/**)"),
    ("/mnt/my store", "Read(//mnt/my store/**)"),
    ("/mnt/[x]*", r"Read(//mnt/\[x\]\*/**)"),
]


@pytest.mark.parametrize(("store", "rule"), RULES)
def test_read_rules(store: str, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/h")
    assert entries.read_rule(store, "/h") == rule
    assert os.name == "nt" or entries.opened_folder(rule) == store


@pytest.mark.parametrize("rule", ["Read(//x/*)", "Read(x/**)", "Edit(//x/**)", "Read(//**)", "Bash(ls *)", ""])
def test_rules_unlike_ours_open_no_memory(rule: str) -> None:
    assert entries.opened_folder(rule) == ""


@pytest.mark.parametrize(
    ("tree", "command"),
    [
        ("/opt/hm", "python3 /opt/hm/harness memory"),
        ("/opt/my hm", 'python3 "/opt/my hm/harness" memory'),
        ("/opt/$x", "python3 '/opt/$x/harness' memory"),
    ],
)
def test_the_rule_is_the_command_that_the_model_is_told(tree: str, command: str) -> None:
    assert invocation.command(tree, PYTHON) == command
    rule = wanted(tree).rules[1]
    assert rule == "Bash(%s *)" % command
    assert entries.is_our_rule(rule)


def test_the_interpreter_is_that_of_no_virtual_environment(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    code = "import sys; sys.path.insert(0, %r); from harness_memory.setup import interpreter; print(interpreter.find())"
    found = subprocess.check_output([str(python), "-c", code % str(support.LIB)], text=True).strip()
    assert os.path.isabs(found)
    assert [
        str(path) for path in [Path(found).parent, Path(found).parent.parent] if (path / "pyvenv.cfg").exists()
    ] == []
    probe = "import sys; print(sys.version_info[:2])"
    assert subprocess.check_output([found, "-c", probe], text=True).strip() == str(sys.version_info[:2])


# install.py --------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a user clones, in a folder with a difficult name."""
    root = tmp_path_factory.mktemp("clone") / "it's my $HOME"
    for name in ("lib", "hooks"):
        shutil.copytree(str(support.ROOT / name), str(root / name), ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(str(support.ROOT / "install.py"), str(root))
    return root


def start(tree: Path, home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """install.py of a copy, as a process."""
    command = [sys.executable, str(tree / "install.py"), *args]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", cwd=str(home),
        env=support.clean_environment(home, {"PYTHONUTF8": "1"}), check=False,
    )  # fmt: skip


def run(home: Path, *args: str, answer: str = "", cwd: Path | None = None, **env: str) -> support.Result:
    """Our own install.py in this process; the hooks of its self-test are processes all the same."""
    surroundings = support.clean_environment(home, env)
    ended = run_here(command_line, list(args), answer.encode(), surroundings, str(cwd or home), "utf-8")
    return support.Result(*ended, 0.0)


def settle(
    home: Path, scope: str = "user", *, cwd: Path | None = None, tree: str = str(support.ROOT), **env: str
) -> None:
    """What install.py does, without the proof: for tests of what comes after it."""
    memory = env.get("HARNESS_MEMORY_HOME") or str(home / ".claude" / "memory")
    place = Place(tree, scope, settingsfile.locate(scope, env, str(home), str(cwd or home)), memory)
    do_install(place, entries.entries(tree, base_interpreter(), [memory], str(home)))


@lru_cache(maxsize=None)
def base_interpreter() -> str:
    return interpreter.find() or ""


def test_install_says_what_it_did_and_proves_it(tree: Path, home: Path) -> None:
    result = start(tree, home)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    settings_path = home / ".claude" / "settings.json"
    assert result.stdout.startswith("Installed into %s\n" % settings_path)
    assert "as it was before" not in result.stdout
    assert "in any project:" in result.stdout
    assert "--scope local is for you alone" not in result.stdout
    for event, _, _ in entries.HOOKS:
        assert "  %-17s ok, " % event in result.stdout
    assert "--uninstall" in result.stdout
    assert list((tree / "lib" / "harness_memory").glob("__pycache__/runner.*.pyc"))
    assert os.listdir(str(home / ".claude" / "memory")) == ["installs.json"]
    again = start(tree, home)
    assert (again.returncode, again.stdout.splitlines()[0]) == (0, "Already up to date: %s" % settings_path)
    gone = start(tree, home, "--uninstall")
    assert (gone.returncode, gone.stderr, os.listdir(str(home / ".claude"))) == (0, "", [])


def test_a_dry_run_shows_a_diff_and_changes_nothing(home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.write_bytes(b'{\r\n  "a": 1\r\n}')
    result = run(home, "--dry-run")
    assert (result.code, result.stderr) == (0, "")
    assert '-  "a": 1\n+  "a": 1,\n+  "hooks": {\n' in result.stdout
    assert "Would add the skill %s" % (home / ".claude/skills/harness-recall/SKILL.md") in result.stdout
    assert os.listdir(str(home / ".claude")) == ["settings.json"]
    assert path.read_bytes() == b'{\r\n  "a": 1\r\n}'


@pytest.mark.parametrize(
    ("args", "env", "path"),
    [
        ((), {}, ".claude/settings.json"),
        (("--scope", "user"), {"CLAUDE_CONFIG_DIR": "other"}, "other/settings.json"),
        (("--scope", "project"), {}, "work/.claude/settings.json"),
        (("--scope", "local"), {}, "work/.claude/settings.local.json"),
    ],
)
def test_where_a_scope_is(home: Path, args: tuple[str, ...], env: dict[str, str], path: str) -> None:
    work = home / "work"
    work.mkdir()
    extra = {name: str(home / value) for name, value in env.items()}
    told = run(home, *args, "--dry-run", cwd=work, **extra).stdout
    assert told.startswith("--- %s\n+++ %s\n" % (os.devnull, home / path))
    rule = "Read(/%s/memory/**)" % extra["CLAUDE_CONFIG_DIR"] if env else "Read(~/.claude/memory/**)"
    assert os.name == "nt" or '"%s"' % rule in told


def test_an_install_for_one_project(home: Path) -> None:
    work = home / "work"
    work.mkdir()
    result = run(home, "--scope", "project", cwd=work)
    assert (result.code, result.stderr) == (0, "")
    assert "where both files count" not in result.stdout
    assert "in this project:" in result.stdout
    assert "--scope local is for you alone" in result.stdout
    seen = json.loads((work / ".claude" / "settings.json").read_text(encoding="utf-8"))
    assert list(seen["hooks"]) == [event for event, _, _ in entries.HOOKS]
    assert run(home, "--scope", "project", "--uninstall", cwd=work).code == 0
    assert not (work / ".claude").exists()


@POSIX
def test_a_memory_behind_a_link_gets_a_rule_for_either_path(home: Path, tmp_path: Path) -> None:
    (home / ".claude").rmdir()
    target = Path(os.path.realpath(str(tmp_path))) / "dot files"
    target.mkdir()
    (home / ".claude").symlink_to(target)
    rows = [row.strip(' +,"') for row in run(home, "--dry-run").stdout.splitlines()]
    first = rows.index("Read(~/.claude/memory/**)")
    assert rows[first + 1] == "Read(/%s/memory/**)" % target
    settle(home)
    assert run(home, "--uninstall").code == 0
    assert list(target.iterdir()) == []


def test_invalid_settings_are_refused_in_one_sentence(home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.write_text('{\n  "a": 1,\n}')
    result = run(home)
    assert (result.code, result.stdout) == (1, "")
    assert result.stderr.startswith("install.py: %s:2:9: not valid JSON: " % path)
    assert result.stderr.endswith("Nothing was changed.\n")
    assert path.read_text() == '{\n  "a": 1,\n}'


@pytest.mark.parametrize(
    "args",
    [
        ("--purge",),
        ("--yes",),
        ("--scope", "world"),
        ("--frobnicate",),
        ("--guard", "--no-guard"),
        ("--uninstall", "--guard"),
    ],
)
def test_wrong_usage_exits_with_2(home: Path, args: tuple[str, ...]) -> None:
    assert run(home, *args).code == 2
    assert os.listdir(str(home / ".claude")) == []


def test_the_guard_can_be_left_out_for_good(home: Path) -> None:
    path = home / ".claude" / "settings.json"

    def matcher() -> str:
        return str(json.loads(path.read_text(encoding="utf-8"))["hooks"]["PreToolUse"][0]["matcher"])

    said = run(home).stdout
    assert (matcher(), "guard:             on: " in said, "--no-guard" in said, "  guard             ok, " in said) == (
        ("*", True, True, True)
    )
    said = run(home, "--no-guard").stdout
    assert (matcher(), "guard:             left out" in said, "guard             ok" in said) == ("Skill", True, False)
    assert "Nothing to change" in run(home, "--dry-run").stdout
    assert run(home, "--dry-run", "--guard").stdout.count('"matcher": "*"') == 1


# Deleting the memory -----------------------------------------------------------------------------
PROJECT = "some-project-0123456789a%d"


def remember(memory: Path) -> None:
    """A memory as sessions leave it: two projects, one of them under two ids."""
    for number, facts in enumerate(["{}", "{}", '{"alias_of": "%s"}' % (PROJECT % 0)]):
        folder = memory / (PROJECT % number) / "episodes"
        folder.mkdir(parents=True)
        (folder.parent / "project.json").write_text(facts)
        (folder / "session.json").write_text("{}")
    for name in (
        "health/last-run/Stop",
        "user/MEMORY.md",
        "guard/allowed/a",
        "guard.json",
        "config.json",
        ".installs.json.1.f.tmp",
    ):
        (memory / name).parent.mkdir(parents=True, exist_ok=True)
        (memory / name).write_text("{}")


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


@pytest.mark.parametrize(
    ("args", "answer", "gone"), [((), "", False), ((), "y\n", False), ((), "yes\n", True), (("--yes",), "", True)]
)
def test_purge_asks(home: Path, args: tuple[str, ...], answer: str, gone: bool) -> None:
    settle(home)
    memory = home / ".claude" / "memory"
    remember(memory)
    result = run(home, "--uninstall", "--purge", *args, answer=answer)
    assert result.code == (0 if gone else 1)
    what = "2 projects, config.json, guard, guard.json, health, user in %s" % memory
    assert ("Delete %s for good? Type yes: " % what in result.stdout) is not bool(args)
    assert ("Deleted %s\n" % what in result.stdout) is gone
    assert memory.exists() is not gone
    assert (home / ".claude" / "settings.json").exists() is not gone


def choose_theme(path: Path) -> None:
    """What the client does when somebody chooses something while we are at work."""
    chosen = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**chosen, "theme": "dark"}, indent=2), encoding="utf-8")


def test_settings_changed_while_purge_asks_are_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = home / ".claude" / "settings.json"
    path.write_text('{"model": "opus"}')
    settle(home)
    remember(home / ".claude" / "memory")

    def answer(question: str) -> str:
        choose_theme(path)
        return "yes"

    monkeypatch.setattr("builtins.input", answer)
    assert run(home, "--uninstall", "--purge").code == 0
    assert json.loads(path.read_text(encoding="utf-8")) == {"model": "opus", "theme": "dark"}
    assert not (home / ".claude" / "memory").exists()


def begin(place: Place, step: str) -> Callable[[], object]:
    """Plan a step, and leave its doing for later."""
    if step in ("install", "uninstall"):
        put(place, b'{"model": "opus"}')
    if step.startswith("uninstall"):
        do_install(place)
        return partial(uninstall, place, plan_uninstall(place, wanted()))
    return partial(install, place, wanted(), PYTHON, plan_install(place, wanted()))


STEPS = ["first install", "install", "uninstall", "uninstall that leaves no file"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("is_late", [False, True])
def test_settings_changed_since_they_were_read_are_not_overwritten(
    place: Place, monkeypatch: pytest.MonkeyPatch, step: str, is_late: bool
) -> None:
    path = Path(place.settings)
    finish = begin(place, step)
    check = settingsfile.check_unchanged

    def check_late(checked: str, before: bytes | None) -> None:
        if os.path.exists(place.store):  # an install has made it by the time it writes
            choose_theme(path)
        check(checked, before)

    if is_late:
        monkeypatch.setattr(settingsfile, "check_unchanged", check_late)
    else:
        choose_theme(path)
    with pytest.raises(settingsfile.Refused, match="changed meanwhile"):
        finish()
    left = json.loads(get(place))
    assert (left["theme"], "hooks" in left) == ("dark", step.startswith("uninstall"))
    assert [name for name in os.listdir(str(path.parent)) if name.endswith(".tmp")] == []


def test_a_refused_uninstall_leaves_the_skills(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(home).code == 0
    skills = home / ".claude" / "skills"
    before = files(skills)
    check = settingsfile.check_unchanged

    def check_late(path: str, content: bytes | None) -> None:
        choose_theme(Path(path))
        check(path, content)

    monkeypatch.setattr(settingsfile, "check_unchanged", check_late)
    result = run(home, "--uninstall")
    assert (result.code, "Nothing was changed." in result.stderr) == (1, True)
    assert before
    assert files(skills) == before


def test_purge_leaves_and_names_what_is_not_ours(home: Path) -> None:
    shelf = home / "shelf"
    foreign = [
        "notes.txt",
        "poetry.lock",
        "thesis/draft.md",
        "some-project/project.json",
        "other-0123456789ab/important.txt",
        "OTHER-0123456789ab/project.json",
    ]
    for name in foreign:
        (shelf / name).parent.mkdir(parents=True, exist_ok=True)
        (shelf / name).write_text("mine")
    settle(home, HARNESS_MEMORY_HOME=str(shelf))
    remember(shelf)
    result = run(home, "--uninstall", "--purge", "--yes", HARNESS_MEMORY_HOME=str(shelf))
    assert result.code == 0
    assert files(shelf) == sorted(foreign)
    left = sorted({name.split("/")[0] for name in foreign})
    assert "Left in it: %s\n" % ", ".join(left) in result.stdout


@POSIX
def test_purge_follows_no_link(home: Path) -> None:
    memory, precious = home / ".claude" / "memory", home / "precious"
    remember(memory)
    precious.mkdir()
    (precious / "project.json").write_text("{}")
    shutil.rmtree(str(memory / "user"))
    for name in ("linked-0123456789ab", "user"):
        (memory / name).symlink_to(precious)
    result = run(home, "--uninstall", "--purge", "--yes")
    assert "Left in it: linked-0123456789ab, user\n" in result.stdout
    assert files(precious) == ["project.json"]


@pytest.mark.parametrize("store", [".", "..", ".claude", "work"])
def test_purge_of_what_is_no_memory_deletes_nothing(home: Path, store: str) -> None:
    for name in ("config.json", "user/x", "health/x"):
        (home / store / name).parent.mkdir(parents=True, exist_ok=True)
        (home / store / name).write_text("mine")
    before = files(home.parent)
    result = run(home, "--uninstall", "--purge", "--yes", HARNESS_MEMORY_HOME=str(home / store))
    assert (result.code, files(home.parent)) == (0, before)
    assert "No memory in %s\n" % os.path.abspath(str(home / store)) in result.stdout


def test_purge_refuses_a_folder_that_holds_the_home(tmp_path: Path) -> None:
    home = tmp_path / "homes" / "user"
    home.mkdir(parents=True)
    settle(home, HARNESS_MEMORY_HOME=str(home.parent))
    result = run(home, "--uninstall", "--purge", "--yes", HARNESS_MEMORY_HOME=str(home.parent))
    assert (result.code, "will not be deleted" in result.stderr) == (1, True)
    assert (home / ".claude" / "settings.json").exists()


def test_purge_tells_before_and_claims_nothing_afterwards(home: Path) -> None:
    memory = home / ".claude" / "memory"
    settle(home)
    remember(memory)
    before = files(home)
    rehearsal = run(home, "--uninstall", "--purge", "--dry-run")
    assert (
        "\nWould delete 2 projects, config.json, guard, guard.json, health, user in %s\n" % memory in rehearsal.stdout
    )
    assert files(home) == before
    assert "Deleted 2 projects" in run(home, "--uninstall", "--purge", "--yes").stdout
    for option in ("--yes", "--dry-run"):
        again = run(home, "--uninstall", "--purge", option)
        assert (again.code, "No memory in %s\n" % memory in again.stdout) == (0, True)
        assert "elete" not in again.stdout


def test_purge_keeps_the_record_of_other_installs_that_still_stand(home: Path) -> None:
    memory = home / ".claude" / "memory"
    settle(home)
    settle(home, "local")
    remember(memory)
    result = run(home, "--uninstall", "--purge", "--yes")
    assert "Still installed in %s" % (home / ".claude" / "settings.local.json") in result.stdout
    assert files(memory) == ["installs.json"]
    (home / ".claude" / "settings.local.json").unlink()
    run(home, "--uninstall", "--purge", "--yes")
    assert not memory.exists()


# What is said ------------------------------------------------------------------------------------
def test_only_a_backup_that_exists_is_named(home: Path) -> None:
    settle(home, tree=TREE)
    assert "as it was before" not in run(home).stdout


def test_uninstall_finds_the_memory_of_an_install_with_another_environment(home: Path) -> None:
    path, memory = home / ".claude" / "settings.json", home / "x"
    path.write_bytes(b'{"hooks": { }}')
    settle(home, HARNESS_MEMORY_HOME=str(memory))
    remember(memory)
    result = run(home, "--uninstall")
    assert "The memory stays in %s (with HARNESS_MEMORY_HOME set to it, " % memory in result.stdout
    assert path.read_bytes() == b'{"hooks": { }}'
    assert os.listdir(str(home / ".claude")) == ["settings.json"]
    assert not (memory / "installs.json").exists()


def test_nothing_is_left_of_installs_in_every_scope(home: Path) -> None:
    work = home / "work"
    work.mkdir()
    (home / ".claude").rmdir()
    scopes = ("local", "user", "project")
    for scope in scopes:
        settle(home, scope, cwd=work)
    for scope in scopes:
        assert run(home, "--scope", scope, "--uninstall", cwd=work).code == 0
    assert (os.listdir(str(home)), os.listdir(str(work))) == (["work"], [])


def test_other_files_with_our_hooks_are_named(home: Path) -> None:
    work, other = home / "work", home / "other"
    for folder in (work, other):
        folder.mkdir()
        settle(home, "local", cwd=folder)
    note = "note: %s holds %s where both files count\n"
    local = work / ".claude" / "settings.local.json"
    told = run(home, "--scope", "project", cwd=work).stdout
    assert note % (local, "the same hooks, which run once") in told
    assert told.count("where both files count") == 1
    settle(home, "project", cwd=work, tree=TREE)
    told = run(home, cwd=work).stdout
    assert note % (local, "the same hooks, which run once") in told
    assert note % (work / ".claude" / "settings.json", "our hooks by other commands, so they run twice") in told
    assert note % (other / ".claude" / "settings.local.json", "the same hooks, which run once") in told
    assert told.count("where both files count") == 3


@POSIX
@pytest.mark.parametrize(("unbuffered", "option"), [("", "--dry-run"), ("1", "--scope=user")])
def test_a_closed_pipe_is_no_failure(home: Path, unbuffered: str, option: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    env = support.clean_environment(home, {"PYTHONUNBUFFERED": unbuffered})
    command = [sys.executable, str(support.ROOT / "install.py"), option]
    result = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, cwd=str(home), env=env)
    os.close(writer)
    assert (result.returncode, result.stderr) == (141, b"")
    is_installed = "Nothing to change" in run(home, "--dry-run").stdout
    assert is_installed is (option != "--dry-run")


LINGERING = """
import os, time
open(os.environ["SIGN"], "w").close()
try:
    time.sleep(20)
except KeyboardInterrupt:
    time.sleep(0.6)
    os.makedirs(os.environ["HARNESS_MEMORY_HOME"] + "/health")
"""


@POSIX
def test_an_interrupt_says_how_things_stand_and_leaves_nothing(tree: Path, home: Path, tmp_path: Path) -> None:
    slow, sign, temporary = tmp_path / "slow", tmp_path / "sign", tmp_path / "temporary"
    shutil.copytree(str(tree), str(slow))
    (slow / "hooks" / "session_start.py").write_text(LINGERING)
    temporary.mkdir()
    env = support.clean_environment(home, {"TMPDIR": str(temporary), "SIGN": str(sign)})
    with subprocess.Popen(
        [sys.executable, str(slow / "install.py")], cwd=str(home), env=env, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=heeding_interrupts,
    ) as process:  # fmt: skip
        ends = time.monotonic() + 30
        while not sign.exists() and time.monotonic() < ends:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, said = process.communicate(timeout=15)
    told = "install.py: stopped. The hooks are in %s. Run it again to finish.\n" % (home / ".claude" / "settings.json")
    assert (process.returncode, said.decode()) == (130, told)
    time.sleep(1)  # for what would still be at work
    assert os.listdir(str(temporary)) == []


def heeding_interrupts() -> None:
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which whoever works in the background ignores


def test_an_interrupt_before_anything_was_changed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness_memory.setup.command.install", interrupted)
    result = run(home)
    assert result.code == 130
    assert result.stderr == "install.py: stopped. The hooks are not in %s. Run it again to finish.\n" % (
        home / ".claude" / "settings.json"
    )


@POSIX
def test_a_present_folder_that_is_gone(home: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    words = ["sh", "-c", 'cd "$1" && rmdir "$1" && exec "$2" "$3"', "sh", str(gone), sys.executable]
    words.append(str(support.ROOT / "install.py"))
    done = subprocess.run(words, env=support.clean_environment(home), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    told = b"install.py: the folder you are in is gone. Go to another and try again. Nothing was changed.\n"
    assert done.stderr == told


def test_uninstall_keeps_the_memory_and_names_other_installs(home: Path) -> None:
    settle(home)
    settle(home, "local")
    result = run(home, "--uninstall")
    assert "Still installed in %s (--scope local)" % (home / ".claude" / "settings.local.json") in result.stdout
    assert (home / ".claude" / "memory").is_dir()
    assert "Nothing of ours in" in run(home, "--uninstall").stdout


def test_what_would_keep_it_from_working_is_said(home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.write_text('{"disableAllHooks": true}')
    result = run(home, HARNESS_MEMORY_HOME=str(home / "elsewhere"))
    assert result.code == 0
    assert 'note: "disableAllHooks" is on' in result.stdout
    assert "note: HARNESS_MEMORY_HOME is set here" in result.stdout
    assert "as it was before:  %s.harness-memory.bak\n" % path in result.stdout


def test_a_failed_self_test_decides_the_exit_code(tree: Path, home: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(str(tree), str(broken))
    (broken / "hooks" / "stop.py").unlink()
    result = start(broken, home)
    assert result.returncode == 1
    assert "Stop              FAILED: the hook left no sign of having run" in result.stdout
    assert "undo:" in result.stdout


@POSIX
@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("exit 2", "exit code 2, expected 0"),
        ("echo oops >&2", "unexpected words on standard error: oops"),
        ("echo '{x'", "the answer is not valid JSON"),
        ("cat >/dev/null", "the hook left no sign of having run"),
    ],
)
def test_the_self_test_sees_what_is_wrong(command: str, problem: str) -> None:
    assert [outcome.problem for outcome in selftest.play({"Stop": command}, os.environ)] == [problem]


@pytest.mark.parametrize("old", ["2.7", "3.6", "3.7"])
def test_an_old_python_is_told_so(old: str) -> None:
    found = sorted(PYENV.glob("versions/%s.*/bin/python" % old))
    if not found:
        pytest.skip("no Python %s here" % old)
    result = subprocess.run([str(found[0]), str(support.ROOT / "install.py")], capture_output=True)
    assert (result.returncode, result.stdout) == (1, b"")
    assert result.stderr.startswith(b"install.py: this is Python %s" % old.encode())
    for script in support.HOOKS.glob("*.py"):
        result = subprocess.run([str(found[0]), str(script)], input=b"{}", capture_output=True)
        assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


def test_what_a_killed_installer_left_goes_with_the_next(home: Path) -> None:
    folder = home / ".claude"
    skill = folder / "skills" / "harness-recall"
    skill.mkdir(parents=True)
    left = [
        folder / ".settings.json.77.tmp",
        folder / "..settings.json.77.tmp.77.1f.tmp",
        skill / ".SKILL.md.77.1f.tmp",
    ]
    young, foreign = folder / ".settings.json.78.tmp", folder / ".other.json.77.tmp"
    for path in (*left, young, foreign):
        path.write_bytes(b"{")
        os.utime(str(path), (1, 1))
    os.utime(str(young))
    assert run(home).code == 0
    assert [path for path in (*left, young, foreign) if path.exists()] == [young, foreign]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a disk that is always full")
def test_an_output_that_is_full_is_told_in_words(home: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, str(support.ROOT / "install.py"), "--dry-run"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=support.clean_environment(home),
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"install.py: [Errno 28] No space left on device")
    assert done.stderr.count(b"\n") == 1
