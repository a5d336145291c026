"""install.py: into the settings file and out of it, byte by byte; the proof; the deletion of a memory."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import support
from commandline import run_here

from harness_memory import __version__
from harness_memory.base import invocation
from harness_memory.cli.output import Refusal
from harness_memory.setup import selftest, settingsfile
from harness_memory.setup.command import find_python
from harness_memory.setup.command import main as command_line
from harness_memory.setup.installation import Installation

POSIX = pytest.mark.skipif(os.name == "nt", reason="POSIX shells, links and modes")
TREE = "/opt/harness memory"
PYTHON = "/usr/bin/python3"
OURS = ("hooks", "permissions")
MINE = {"type": "command", "command": "echo mine"}
FOREIGN = {"hooks": [MINE]}
SHAPES = {row["name"]: row["text"].encode("utf-8", "surrogateescape") for row in support.rows("install/settings.jsonl")}


def wanted(tree: str = TREE, python: str = PYTHON, store: str = "/home/you/.claude/memory", **more: Any) -> Any:
    return settingsfile.entries(tree, python, [store], "/home/you", **more)


class Target(NamedTuple):
    root: str
    scope: str
    settings: str
    store: str


@pytest.fixture
def target(tmp_path: Path) -> Target:
    folder = tmp_path / "config"
    folder.mkdir()
    (folder / "CLAUDE.md").write_text("mine")
    return Target(TREE, "user", str(folder / "settings.json"), str(tmp_path / "memory"))


def put(target: Target, content: Any) -> bytes:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    Path(target.settings).write_bytes(data)
    return data


def get(target: Target) -> bytes:
    return Path(target.settings).read_bytes()


def do_install(target: Target, new: settingsfile.Entries | None = None) -> bytes:
    Installation(*target).install(new or wanted(), PYTHON)
    return get(target)


def do_uninstall(target: Target) -> None:
    Installation(*target).uninstall(wanted(), [])


def values(data: bytes) -> Any:
    text = data.decode("utf-8-sig")
    return json.loads(text) if text.strip() else {}


@pytest.mark.parametrize("layout", SHAPES)
def test_install_and_uninstall_of_any_layout_gives_the_bytes_back(target: Target, layout: str) -> None:
    before = put(target, SHAPES[layout])
    installed = do_install(target)
    assert do_install(target) == installed
    seen, old = values(installed), values(before)
    assert {k: v for k, v in seen.items() if k not in OURS} == {k: v for k, v in old.items() if k not in OURS}
    for event, group in wanted().groups.items():
        assert seen["hooks"][event][:-1] == old.get("hooks", {}).get(event, [])
        assert seen["hooks"][event][-1]["hooks"][0]["command"] == group["hooks"][0]["command"]
    assert set(wanted().rules) <= set(seen["permissions"]["allow"])
    put(target, seen)  # as the client writes it, in a layout of its own
    Path(target.settings).with_name(".settings.json.7.1f.tmp").write_bytes(b"{")  # of an installer that was killed
    do_install(target)
    do_uninstall(target)
    assert get(target) == before
    assert sorted(os.listdir(os.path.dirname(target.settings))) == ["CLAUDE.md", "settings.json"]
    assert not os.path.exists(target.store)


@pytest.mark.parametrize("is_upgraded", [False, True])
@pytest.mark.parametrize(
    "before",
    [
        '{\n  "model": "opus",\n  "hooks": {\n    "Stop": [\n      7\n    ]\n  }\n}\n',
        '\ufeff{\r\n\t"model": "opus",\r\n\t"é": [\r\n\t\t1.5\r\n\t]\r\n}',
        '{"model": "opus", "permissions": {"deny": ["X"]}}\n',
        '{\n    "model": "opus",\n    "half": "\\ud800"\n}\n\n',
    ],
)
def test_edits_since_the_install_stay_and_only_our_entries_go(target: Target, before: str, is_upgraded: bool) -> None:
    put(target, before.encode())
    put(target, do_install(target).replace(b'"opus"', b'"sonnet"'))
    if is_upgraded:
        do_install(target, wanted("/elsewhere"))
    do_uninstall(target)
    assert get(target).decode() == before.replace('"opus"', '"sonnet"')
    assert not os.path.exists(target.settings + ".harness-memory.bak")


def test_a_foreign_hook_in_our_group_stays(target: Target) -> None:
    seen = json.loads(do_install(target, wanted(guard=False)))
    seen["hooks"]["PreToolUse"][0]["hooks"].append(MINE)
    put(target, seen)
    groups = json.loads(do_install(target))["hooks"]["PreToolUse"]
    assert groups == [{"matcher": "Skill", "hooks": [MINE]}, wanted().groups["PreToolUse"]]
    do_uninstall(target)
    assert json.loads(get(target)) == {"hooks": {"PreToolUse": [{"matcher": "Skill", "hooks": [MINE]}]}}


def test_a_file_that_the_install_made_is_removed_with_its_folder(target: Target) -> None:
    shutil.rmtree(os.path.dirname(target.settings))
    seen = json.loads(do_install(target))
    assert seen == {"hooks": {e: [g] for e, g in wanted().groups.items()}, "permissions": {"allow": wanted().rules}}
    do_install(target)
    do_uninstall(target)
    assert not os.path.exists(os.path.dirname(target.settings))


COMMANDS = support.rows("install/commands.jsonl")


@pytest.mark.parametrize("row", COMMANDS, ids=[row["command"] for row in COMMANDS])
def test_an_entry_of_an_older_install_is_renewed_and_a_command_of_others_stays(target: Target, row: Any) -> None:
    group = {"hooks": [{"type": "command", "command": row["command"], "timeout": 60}]}
    allow = ["Bash(python3 /old/harness memory *)", "X"] if row["is_ours"] else ["X"]
    put(target, {"hooks": {"Stop": [group, FOREIGN], "Notification": [group]}, "permissions": {"allow": allow}})
    others = [FOREIGN] if row["is_ours"] else [group, FOREIGN]
    seen = json.loads(do_install(target))
    assert seen["hooks"]["Stop"] == [*others, wanted().groups["Stop"]]
    assert ("Notification" in seen["hooks"]) is not row["is_ours"]
    assert seen["permissions"]["allow"] == ["X", *wanted().rules]
    do_uninstall(target)
    assert json.loads(get(target))["hooks"]["Stop"] == others


@pytest.mark.parametrize("row", support.rows("install/refused.jsonl"), ids=lambda row: row["problem"])
def test_an_unsuitable_file_is_refused_and_untouched(target: Target, row: Any) -> None:
    before = put(target, row["text"].encode("utf-8", "surrogateescape"))
    with pytest.raises(Refusal) as caught:
        do_install(target)
    assert row["problem"] in str(caught.value)
    assert get(target) == before


def test_the_first_backup_is_kept_and_a_stale_one_replaced(target: Target) -> None:
    put(target, b'{"a": 1}')
    do_install(target)
    put(target, get(target).replace(b'"a": 1', b'"a": 2'))
    do_install(target, wanted("/elsewhere"))
    assert Path(target.settings + ".harness-memory.bak").read_bytes() == b'{"a": 1}'
    put(target, b'{"b": 1}')
    do_install(target)
    do_uninstall(target)
    assert get(target) == b'{"b": 1}'


@POSIX
def test_links_modes_and_privacy_are_kept(target: Target, tmp_path: Path) -> None:
    real, victim, link = tmp_path / "dotfiles" / "claude.json", tmp_path / ".bashrc", Path(target.settings)
    real.parent.mkdir()
    real.write_bytes(b'{"a": 1}')
    real.chmod(0o640)
    link.symlink_to(real)
    victim.write_text("mine")
    backup = Path(target.settings + ".harness-memory.bak")
    backup.symlink_to(victim)  # a repository may bring one along
    do_install(target)
    assert (link.is_symlink(), victim.read_text()) == (True, "mine")
    assert {stat.S_IMODE(path.stat().st_mode) for path in (real, backup)} == {0o640}
    assert stat.S_IMODE(os.stat(target.store).st_mode) == 0o700
    do_uninstall(target)
    assert (link.is_symlink(), real.read_bytes(), os.listdir(str(real.parent))) == (True, b'{"a": 1}', ["claude.json"])
    real.chmod(0o444)
    with pytest.raises(Refusal, match="read-only"):
        do_install(target)
    assert real.read_bytes() == b'{"a": 1}'


@pytest.mark.parametrize("step", ["install", "uninstall"])
def test_settings_changed_since_they_were_read_are_not_overwritten(target: Target, step: str) -> None:
    put(target, {"model": "opus"})
    if step == "uninstall":
        do_install(target)
    read = Installation(*target)
    changed = put(target, {"theme": "dark", "hooks": {}})  # the client writes it while we run
    with pytest.raises(Refusal, match="another program"):
        read.install(wanted(), PYTHON) if step == "install" else read.uninstall(wanted(), [])
    assert get(target) == changed
    assert [name for name in os.listdir(os.path.dirname(target.settings)) if name.endswith(".tmp")] == []


@POSIX
def test_the_example_and_the_plugin_register_what_an_install_does() -> None:
    tree = "/path/to/harness-memory"
    text = settingsfile.render(settingsfile.merge({}, wanted(tree)), None)
    assert (support.ROOT / "settings.example.json").read_bytes() == text
    hooks = json.loads((support.HOOKS / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    assert hooks.pop("PostToolUseFailure")[0]["matcher"] == "Bash", "only clients that know a plugin's events read it"
    matchers = {event: groups[0]["matcher"] for event, groups in hooks.items() if "matcher" in groups[0]}
    assert ([*hooks], matchers) == ([event for event, _ in settingsfile.HOOKS], {"PreToolUse": "*"})
    for event, script in settingsfile.HOOKS:
        command = 'sh "${CLAUDE_PLUGIN_ROOT}/hooks/launch.sh" %s' % script[: -len(".py")]
        firm = {"onFailure": "block"} if event == "PreToolUse" else {}
        assert hooks[event][0]["hooks"] == [{"type": "command", "command": command, "timeout": 5, **firm}]
    plugin = json.loads((support.ROOT / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert (plugin["name"], plugin["version"]) == ("harness-memory", __version__)
    assert (support.ROOT / "CHANGELOG.md").read_text(encoding="utf-8").startswith("# Changelog\n\n## %s " % __version__)
    assert [name for _, name in settingsfile.HOOKS if not (support.HOOKS / name).is_file()] == []


@POSIX
def test_an_install_by_hand_is_the_same(tmp_path: Path) -> None:
    page = (support.ROOT / "docs" / "hand-install.md").read_text(encoding="utf-8").partition("## By hand")[2]
    script = "\n".join(re.findall(r"^\$ (.+)", page.partition("\n## ")[0], re.M))
    home, tree = tmp_path / "home", str(support.ROOT)
    env = support.clean_environment(home)
    done = subprocess.run(["sh", "-ec", script], cwd=tree, env=env, stdout=subprocess.PIPE, check=True)
    entries = settingsfile.entries(tree, PYTHON, [str(home / ".claude" / "memory")], str(home))
    assert done.stdout == settingsfile.render(settingsfile.merge({}, entries), None)
    copies = Installation(tree, "user", str(home / ".claude" / "settings.json"), str(tmp_path)).skills(PYTHON)
    assert {path: Path(path).read_bytes() for path in copies} == copies


@POSIX
@pytest.mark.parametrize(
    ("event", "answer"), [("PreToolUse", b'"deny"'), ("SessionStart", b"HARNESS_MEMORY_HOME in the env")]
)
def test_the_environment_of_a_project_does_not_reach_an_installed_hook(home: Path, event: str, answer: bytes) -> None:
    settle(home)
    entries = settingsfile.hooks(values((home / ".claude" / "settings.json").read_bytes()), str(support.ROOT))
    command = next(hook.command for hook in entries if hook.event == event)
    hostile = dict.fromkeys(("HARNESS_MEMORY_HOME", "CLAUDE_CONFIG_DIR"), str(home / "evil"))
    hostile["HARNESS_MEMORY"] = "off"
    payload = support.Session(home, home).tool_call("Bash", {"command": "rm -rf ~"})
    payload = payload if event == "PreToolUse" else support.Session(home, home).start()
    env = support.clean_environment(home, hostile)
    result = subprocess.run(["/bin/sh", "-c", command], input=support.encode(payload), capture_output=True, env=env)
    assert answer in result.stdout
    assert not (home / "evil").exists()
    assert (home / ".claude" / "memory" / "health").exists()


FOLDERS = ["plain", "a b", "it's", 'q"q', "$HOME", "`id`", "é ü", "-x", "b\\s", "n\nl", "x;y&z"]


@POSIX
def test_a_hook_that_cannot_run_says_so_at_the_start_and_the_guard_asks(tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    for name, here, gone in (("session_start.py", "too old", "has moved"), ("pre_tool_use.py", '"ask"', "")):
        script = tmp_path / name
        for words in (here, gone):
            script.write_text("") if words == here else script.unlink()
            said = subprocess.check_output(settingsfile.hook_command(str(old), str(script), "/m"), shell=True).decode()
            assert (words in said) if words else said == ""
            assert not said or json.loads(said)


@POSIX
@pytest.mark.parametrize(("python", "folder"), [(sys.executable, " ".join(FOLDERS)), ("/gone/python", "plain")])
def test_a_command_exits_with_0_whatever_its_path(tmp_path: Path, python: str, folder: str) -> None:
    script = tmp_path / folder / "hooks" / "stop.py"
    script.parent.mkdir(parents=True)
    script.write_text("import sys; print('ran'); sys.exit('complaint' if sys.flags.isolated else 2)")
    command = settingsfile.hook_command(python, str(script), str(tmp_path / folder / "memory"))
    assert settingsfile.is_our_command(command, "/nowhere")
    for output in (b"ran\n", b""):
        result = subprocess.run(["/bin/sh", "-c", command], capture_output=True)
        assert (result.returncode, result.stdout, result.stderr) == (0, output, b"")
        shutil.rmtree(str(script.parent), ignore_errors=True)


def test_windows_commands_run_a_script_and_ignore_its_absence(tmp_path: Path) -> None:
    new = settingsfile.entries(r"C:\My Tools\hm", r"C:\Py 3\python.exe", ["C:/m"], "C:/u", windows=True)
    command = new.groups["Stop"]["hooks"][0]["command"]
    assert command.startswith('"C:/Py 3/python.exe" -I -S -X utf8 -c "import os,sys;')
    assert command.endswith('" "C:/My Tools/hm/hooks/stop.py" "--store=C:/m" harness-memory')
    assert settingsfile.is_our_command(command, "C:/elsewhere")
    assert new.rules == ["Read(//c/m/**)", 'Bash("C:/Py 3/python.exe" "C:/My Tools/hm/harness" memory *)']
    script = tmp_path / "x.py"
    script.write_text("import sys; print(__file__, sys.flags.isolated, sys.argv[1])")
    words = shlex.split(settingsfile.hook_command(sys.executable, str(script), "C:/m", windows=True))
    for output in ("%s 1 --store=C:/m" % script.as_posix(), ""):
        result = subprocess.run(words, capture_output=True)
        assert (result.returncode, result.stdout.decode().strip(), result.stderr) == (0, output, b"")
        script.unlink() if script.exists() else None


@POSIX
def test_the_rules_open_the_store_and_are_the_command_that_the_model_reads() -> None:
    for store, rule in (("/h/.claude/memory", "Read(~/.claude/memory/**)"), ("/m/[x]*", r"Read(//m/\[x\]\*/**)")):
        assert settingsfile.read_rule(store, "/h") == rule
    for tree, command in (("/my hm", 'python3 "/my hm/harness" memory'), ("/$x", "python3 '/$x/harness' memory")):
        assert invocation.command(tree, PYTHON) == command
        assert wanted(tree).rules[1] == "Bash(%s *)" % command


def test_the_interpreter_is_outside_virtual_environments(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    code = (
        "import sys; sys.path.insert(0, %r); from harness_memory.setup.command import find_python; print(find_python())"
    )
    path = subprocess.check_output([str(python), "-c", code % str(support.LIB)], text=True).strip()
    assert os.path.isabs(path)
    assert not any((folder / "pyvenv.cfg").exists() for folder in (Path(path).parent, Path(path).parent.parent))
    probe = "import sys; print(sys.version_info[:2])"
    assert subprocess.check_output([path, "-c", probe], text=True).strip() == str(sys.version_info[:2])


def run(home: Path, *args: str, answer: str = "", cwd: Path | None = None, **env: str) -> support.Result:
    """install.py in this process; the hooks of its self-test are processes."""
    surroundings = support.clean_environment(home, env)
    ended = run_here(command_line, list(args), answer.encode(), surroundings, str(cwd or home))
    return support.Result(*ended)


def settle(home: Path, scope: str = "user", **env: str) -> None:
    """An install without its proof."""
    memory = env.get("HARNESS_MEMORY_HOME") or str(home / ".claude" / "memory")
    target = Target(str(support.ROOT), scope, settingsfile.locate(scope, env, str(home), str(home)), memory)
    do_install(target, settingsfile.entries(str(support.ROOT), find_python(), [memory], str(home)))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a user clones, in a folder with a difficult name."""
    root = tmp_path_factory.mktemp("clone") / "it's my $HOME"
    for name in ("lib", "hooks", ".claude-plugin"):
        shutil.copytree(str(support.ROOT / name), str(root / name), ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(str(support.ROOT / "install.py"), str(root))
    return root


def start(tree: Path, home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command, env = [sys.executable, str(tree / "install.py"), *args], support.clean_environment(home)
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=str(home), env=env)


def test_install_proves_that_the_hooks_run_and_uninstall_leaves_nothing(tree: Path, home: Path) -> None:
    (home / ".claude" / "CLAUDE.md").write_text("mine")
    result = start(tree, home)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    done, remembered, advice, undo = result.stdout.splitlines()[-4:]
    assert done.replace(os.sep, "/").startswith(
        "Installed: ~/.claude/settings.json (7 hooks, the guard, 0 skills; self-test passed)"
    )
    assert remembered == "Remembered: nothing yet; it begins with the next session"
    python = invocation.slashes(sys.executable) if os.name == "nt" else "python3"
    assert (advice.partition(python)[0], undo.partition(python)[0]) == ("See it  -> ", "Undo    -> ")
    assert list(tree.glob("lib/harness_memory/hook/__pycache__/runner.*.pyc"))
    assert sorted(os.listdir(str(home / ".claude" / "memory"))) == [".gitignore", "installs.json"]
    again = start(tree, home)
    assert (again.returncode, again.stdout.splitlines()[-4][:20]) == (0, "Already up to date: ")
    gone = start(tree, home, "--uninstall")
    assert (gone.returncode, gone.stderr, os.listdir(str(home / ".claude"))) == (0, "", ["CLAUDE.md"])
    (tree / "hooks" / "stop.py").rename(tree / "stop.py")
    broken = start(tree, home)
    (tree / "stop.py").rename(tree / "hooks" / "stop.py")
    assert (broken.returncode, "Undo: %s " % python in broken.stdout) == (1, True)
    assert "Stop              FAILED: the hook left no stamp of its run" in broken.stdout


@POSIX
def test_the_self_test_names_the_problem() -> None:
    for command, problem in {
        "exit 2": "exit code 2, expected 0",
        "echo '{x'": "the answer is not valid JSON",
        "cat >/dev/null": "the hook left no stamp of its run",
    }.items():
        assert [outcome.problem for outcome in selftest.play({"Stop": command}, os.environ)] == [problem]


def test_a_dry_run_shows_a_diff_and_changes_nothing(home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.write_bytes(b'{\r\n  "a": 1\r\n}')
    result = run(home, "--dry-run", "--backfill")
    assert (result.code, result.stderr) == (0, "")
    assert "Would read the transcripts of 0 earlier sessions" in result.stdout
    assert '-  "a": 1\n+  "a": 1,\n+  "hooks": {\n' in result.stdout
    assert "Would add the skill %s" % (home / ".claude/skills/harness-recall/SKILL.md") in result.stdout
    assert os.listdir(str(home / ".claude")) == ["settings.json"]
    assert path.read_bytes() == b'{\r\n  "a": 1\r\n}'


@POSIX
def test_harness_goes_on_the_path_and_into_the_status_line_and_leaves_both(home: Path) -> None:
    folder, path = home / ".local" / "bin", home / ".claude" / "settings.json"
    path.write_text('{"model": "opus"}')
    assert run(home).code == 0
    folder.mkdir(parents=True)
    env = {"PATH": "%s:%s" % (folder, os.environ["PATH"])}
    assert "Would link %s" % (folder / "harness") in run(home, "--dry-run", **env).stdout
    assert os.listdir(str(folder)) == []
    page = run(home, "--statusline", **env).stdout
    assert os.readlink(str(folder / "harness")) == str(support.ROOT / "harness")
    assert ("`~/.local/bin/harness`" in page, "--statusline" in page) == (True, False)
    assert run(home, **env).code == 0  # keeps it
    line = json.loads(path.read_text())["statusLine"]["command"]
    shown = subprocess.run(line, shell=True, input=b"{}", capture_output=True, env={"HOME": str(home)}, cwd=str(home))
    assert (shown.stdout, shown.stderr) == (b"Memory: empty\n", b"")
    assert " --store=%s statusline" % (home / ".claude" / "memory") in line
    assert "Would remove %s" % (folder / "harness") in run(home, "--uninstall", "--dry-run", **env).stdout
    run(home, "--uninstall", **env)
    assert (path.read_text(), os.listdir(str(folder))) == ('{"model": "opus"}', [])
    (folder / "harness").write_text("mine")
    path.write_text('{"statusLine": {"type": "command", "command": "mine"}}')
    page = run(home, "--statusline", **env).stdout
    assert ("bin/harness`" in page, (folder / "harness").read_text()) == (False, "mine")
    run(home, "--uninstall", **env)
    assert "mine" in path.read_text()


def test_each_scope_has_its_file(home: Path) -> None:
    (home / "work").mkdir()
    paths = (".claude/settings.json", "work/.claude/settings.json", "work/.claude/settings.local.json")
    for scope, path in zip(settingsfile.SCOPES, paths):
        page = run(home, "--scope", scope, "--dry-run", cwd=home / "work").stdout
        assert page.startswith("--- %s\n+++ %s\n" % (os.devnull, home / path))
    page = run(home, "--dry-run", CLAUDE_CONFIG_DIR=str(home / "other")).stdout
    assert "\n+++ %s\n" % (home / "other" / "settings.json") in page


@POSIX
def test_a_memory_behind_a_link_gets_a_rule_for_either_path(home: Path, tmp_path: Path) -> None:
    (home / ".claude").rmdir()
    real = Path(os.path.realpath(str(tmp_path))) / "dot files"
    real.mkdir()
    (home / ".claude").symlink_to(real)
    rows = [row.strip(' +,"') for row in run(home, "--dry-run").stdout.splitlines()]
    first = rows.index("Read(~/.claude/memory/**)")
    assert rows[first + 1] == "Read(/%s/memory/**)" % real


@pytest.mark.parametrize(
    "args", [("--purge",), ("--yes",), ("--scope", "world"), ("--guard", "--no-guard"), ("--uninstall", "--guard")]
)
def test_wrong_usage_is_exit_code_2(home: Path, args: tuple[str, ...]) -> None:
    assert run(home, *args).code == 2
    assert os.listdir(str(home / ".claude")) == []


def test_a_guard_that_was_left_out_stays_out(home: Path) -> None:
    path = home / ".claude" / "settings.json"
    page = run(home, "--no-guard").stdout
    assert "7 hooks, no guard (--guard adds it)" in page
    assert json.loads(path.read_text(encoding="utf-8"))["hooks"]["PreToolUse"][0]["matcher"] == "Skill"
    assert "Nothing to change" in run(home, "--dry-run").stdout
    assert run(home, "--dry-run", "--guard").stdout.count('"matcher": "*"') == 1


def test_obstacles_are_named(home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.write_text('{"disableAllHooks": true}')
    result = run(home, HARNESS_MEMORY_HOME=str(home / "elsewhere"))
    assert result.code == 0
    assert 'note: "disableAllHooks" is on' in result.stdout
    assert "note: HARNESS_MEMORY_HOME is set here" in result.stdout
    path.write_text('{\n  "a": 1 "b"\n}')
    result = run(home)
    assert (result.code, result.stdout) == (1, "")
    assert result.stderr.startswith("install.py: %s:2:10: not valid JSON: " % path)
    assert result.stderr.endswith("Nothing was changed.\n")

    result = run(home, HARNESS_MEMORY_HOME=str(home), CLAUDECODE="1")
    assert (result.code, "a terminal of your own" in result.stderr) == (1, True)


@POSIX
def test_a_folder_with_a_backslash_is_refused_before_anything_is_written(
    tree: Path, home: Path, tmp_path: Path
) -> None:
    shutil.copytree(str(tree), str(tmp_path / "a\\b"))
    done = start(tmp_path / "a\\b", home)
    assert (done.returncode, "a backslash in its name" in done.stderr) == (1, True)
    assert support.snapshot(home) == {}


def test_uninstall_keeps_the_memory_and_names_other_installs(home: Path) -> None:
    settle(home)
    settle(home, "local")
    result = run(home, "--uninstall")
    assert "Still installed in %s (--scope local)" % (home / ".claude" / "settings.local.json") in result.stdout
    assert (home / ".claude" / "memory").is_dir()
    assert "Nothing of ours in" in run(home, "--uninstall").stdout


def remember(memory: Path) -> None:
    """A memory as sessions leave it."""
    names = ["some-project-0123456789a%d/project.json" % number for number in (0, 1)]
    names += ["some-project-0123456789a0/episodes/session.json", "health/last-run/Stop", "user/MEMORY.md"]
    for name in [*names, "guard/allowed/a", "guard.json", "config.json", ".installs.json.1.f.tmp", "triggers.lock"]:
        (memory / name).parent.mkdir(parents=True, exist_ok=True)
        (memory / name).write_text("{}")


@pytest.mark.parametrize(
    ("args", "answer", "gone"), [((), "", False), ((), "y\n", False), ((), "yes\n", True), (("--yes",), "", True)]
)
def test_purge_deletes_after_a_yes(home: Path, args: tuple[str, ...], answer: str, gone: bool) -> None:
    settle(home)
    memory = home / ".claude" / "memory"
    remember(memory)
    what = "1 session of 1 project and 0 notes, in %s" % os.path.join("~", ".claude", "memory")
    assert "Would delete %s" % what in run(home, "--uninstall", "--purge", "--dry-run").stdout
    result = run(home, "--uninstall", "--purge", *args, answer=answer)
    assert result.code == (0 if gone else 1)
    assert ("Delete %s for good? Type yes: " % what in result.stdout) is not bool(args)
    assert ("Deleted %s\n" % what in result.stdout) is gone
    assert memory.exists() is not gone
    assert (home / ".claude" / "settings.json").exists() is not gone


@POSIX
def test_purge_leaves_and_names_what_is_not_ours(home: Path) -> None:
    shelf, precious = home / "shelf", home / "precious"
    foreign = ["notes.txt", "poetry.lock", "thesis/draft.md", "some-project/project.json"]
    foreign += ["other-0123456789ab/important.txt", "OTHER-0123456789ab/project.json"]
    for path in [*(shelf / name for name in foreign), precious / "project.json"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    settle(home, HARNESS_MEMORY_HOME=str(shelf))
    remember(shelf)
    (shelf / "linked-0123456789ab").symlink_to(precious)
    result = run(home, "--uninstall", "--purge", "--yes", HARNESS_MEMORY_HOME=str(shelf))
    assert (result.code, [*support.snapshot(precious)]) == (0, ["project.json"])
    assert [*support.snapshot(shelf)] == sorted(foreign)
    left = sorted({name.split("/")[0] for name in [*foreign, "linked-0123456789ab"]})
    assert "Left in it: %s\n" % ", ".join(left) in result.stdout


@pytest.mark.parametrize("store", [".", "..", ".claude", "work"])
def test_purge_of_another_folder_deletes_nothing(tmp_path: Path, store: str) -> None:
    home = tmp_path / "homes" / "user"
    for name in ("config.json", "user/x", "health/x"):
        (home / store / name).parent.mkdir(parents=True, exist_ok=True)
        (home / store / name).write_text("mine")
    before = [*support.snapshot(home.parent)]
    result = run(home, "--uninstall", "--purge", "--yes", HARNESS_MEMORY_HOME=str(home / store))
    assert (result.code, [*support.snapshot(home.parent)]) == (0, before)
    assert "No memory in %s\n" % os.path.abspath(str(home / store)) in result.stdout
    settle(home, HARNESS_MEMORY_HOME=str(home.parent))
    result = run(home, "--uninstall", "--purge", "--yes", HARNESS_MEMORY_HOME=str(home.parent))
    assert (result.code, "will not be deleted" in result.stderr) == (1, True)
