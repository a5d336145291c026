"""What a person sees without asking, and the reports: start line, status line, digest, page, completion, upgrade."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import support
from commandline import World
from life import Life

ANSWER = "Cart totals are rounded once, at the end.\n\nStill to do:\n- Cover the guest cart with tests\n"
HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(1)"> & "quoted" \u2028 {{data}}'


@pytest.fixture
def shop(world: World) -> World:
    world.work("Totals are off by a cent", ANSWER, ("src/cart.py",))
    world.work("Refresh the JWKS before they expire", "JWKS are refreshed five minutes before they expire.")
    return world


def started(world: World, source: str = "startup", **env: str) -> str:
    session = support.Session(world.repo, world.home)
    result = support.run_hook("session_start", session.start(source), home=world.home, env={**env})
    return str((json.loads(result.stdout) if result.stdout.strip() else {}).get("systemMessage", ""))


def test_a_start_in_a_terminal_shows_one_line_and_only_there(world: World) -> None:
    assert started(world) == ""  # an empty memory
    world.work("Totals are off by a cent", ANSWER, ("src/cart.py",))
    line = started(world, CLAUDE_CODE_ENTRYPOINT="cli")
    assert line == "Harness Memory: 1 session here, 1 open: Cover the guest cart with tests · harness memory open"
    for quiet in ({"CLAUDE_CODE_SESSION_ATTENDED": "0"}, {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}):
        assert started(world, **quiet) == ""
    assert started(world, "compact") == ""
    (world.root / "config.json").write_text('{"start_line": "off", "consolidate_after_episodes": 1}')
    (world.root / "config.json").chmod(0o600)
    assert started(world, CLAUDE_CODE_ENTRYPOINT="sdk-cli") == ""  # what comes once a day waits for a person
    assert started(world).startswith("Harness Memory: ")
    assert started(world) == ""


def test_the_status_line_counts_sessions_and_names_what_is_open(shop: World) -> None:
    payload = json.dumps({"cwd": "/", "workspace": {"project_dir": str(shop.repo)}}).encode()
    shop.memory("task", "start", "Login \x1b[31mby mail")
    line = shop.run("statusline", stdin=payload, cwd=shop.home).stdout
    assert line.startswith("Memory: 2 sessions here, ")
    assert "Login by mail" in line
    assert shop.run("statusline", stdin=b"not json").stdout == line


def test_a_digest_tells_what_was_done_and_left_open_over_all_projects(shop: World, tmp_path: Path) -> None:
    other = World(shop.home, support.make_repo(tmp_path / "billing"))
    other.work("Add VAT", "Invoices show VAT.")
    committing, idle = Life(shop.home, other.repo), Life(shop.home, other.repo)
    idle.start()  # nothing is asked in it
    committing.start()
    committing.transcript.bash("git commit -m 'Print one total a page'", "[main 1a2b3c4] Print one total a page")
    committing.turn("Commit it", "Committed.", "page.py")
    shop.memory("task", "start", "Guest cart", "--next", "Cover it with tests")
    page = shop.memory("digest", "--week", cwd=shop.home).stdout
    assert ("4 sessions in 2 projects" in page, page.count("Print one total a page")) == (True, 1)
    for text in (", billing\n", "VAT", "## Still open", "Guest cart", "- [ ] Cover it with tests"):
        assert text in page
    value = shop.json("digest", "--day")
    assert sorted("VAT" in row["headline"] for row in value["sessions"] if row["project"] == "billing") == [False, True]
    assert shop.memory("digest", "--day", "2001-02-03").stdout.endswith("No session.\n")
    assert "billing" not in shop.memory("digest", "--since", "7d", "--project", ".").stdout
    assert shop.memory("digest", "--day", "soon").code == 2


def test_a_page_is_one_private_file_without_a_way_out(shop: World, tmp_path: Path) -> None:
    session = shop.work("Add a form", "Added a form.")
    path = shop.episode(session)
    value = json.loads(path.read_text("utf-8"))
    value.update(headline=HOSTILE, what_was_done=HOSTILE, asked=[HOSTILE])
    path.write_text(json.dumps(value), "utf-8")
    step = ("--after", "path: ui/**", "--require", "command: make build")
    assert shop.memory("remember", "Run make build after UI changes", *step).code == 0
    out = tmp_path / "page.html"
    assert shop.memory("view", "--out", str(out)).stdout == "Written: %s (3 sessions)\n" % out
    text = out.read_text("utf-8")
    assert os.name == "nt" or out.stat().st_mode & 0o777 == 0o600
    assert text.count("</script>") == 2
    assert "<img" not in text
    head, _, rest = text.partition('id="data">')
    data = json.loads(rest.partition("</script>")[0])
    code = head + rest.partition("</script>")[2].replace("http://www.w3.org/2000/svg", "")
    assert not [word for word in ("http:", "https:", "src=", "@import", "url(", "innerHTML", "fetch(") if word in code]
    assert [each["asked"] for each in data["projects"][0]["sessions"] if each["id"] == session.id[:8]] == [[HOSTILE]]
    (note,) = (each for each in data["projects"][0]["notes"] if "after" in each)
    assert (note["enforce"], note["after"], note["require"]) == ("ask", [step[1]], [step[3]])
    for kind, body in re.findall(r"<(style|script)>(.*?)</", text, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert "%s-src 'sha256-%s'; " % (kind, digest) in text.partition("default-src 'none'; ")[2]
    assert shop.memory("view", "--out", str(tmp_path)).code == 2
    assert shop.memory("view", "--out", str(out)).code == 0  # a page of ours
    out.write_text("{}", "utf-8")
    assert (shop.memory("view", "--out", str(out)).code, out.read_text("utf-8")) == (2, "{}")


def test_the_page_in_the_memory_goes_when_a_text_is_forgotten(shop: World) -> None:
    assert shop.memory("view").code == 0
    assert (shop.root / "view.html").is_file()
    assert shop.memory("verify", "--all-projects").code == 0
    assert shop.memory("forget", "--text", "rounded", "--yes").code == 0
    assert not (shop.root / "view.html").exists()


def test_help_shows_ten_everyday_verbs_first_and_fits_80_columns(world: World) -> None:
    page = world.run("memory", "--help").stdout
    assert max(map(len, page.splitlines())) <= 80
    rows = page.partition("Every day:\n")[2].partition("\n\n")[0].splitlines()
    everyday = ["status", "list", "show", "search", "open", "remember", "forget", "review", "why", "doctor"]
    assert [row.split()[0] for row in rows] == everyday


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_valid_and_knows_verbs_actions_and_options(world: World, shell: str, tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(world.run("completion", shell).stdout, "utf-8")
    text = script.read_text("utf-8")
    assert all(word in text for word in ("remember", "allow-once", "--all-projects", "rollback"))
    if shutil.which(shell):
        assert subprocess.run([shell, "-n", str(script)]).returncode == 0
    if shell == "bash" and shutil.which(shell):
        probe = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _harness; echo "${COMPREPLY[@]}"'
        probes = {"harness m": "memory", "harness memory thread cl": "close", "harness upg": "upgrade"}
        for words, answer in {**probes, "harness completion f": "fish"}.items():
            command = ["bash", "-c", probe, "bash", str(script), *words.split()]
            assert subprocess.check_output(command).decode().split() == [answer]


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_upgrade_pulls_and_installs_again(home: Path, tmp_path: Path) -> None:
    env = support.clean_environment(home, {"GIT_CONFIG_GLOBAL": os.devnull})

    def git(folder: Path, *words: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
        subprocess.run(["git", "-C", str(folder), *who, *words], check=True, env=env, capture_output=True)

    source, clone = tmp_path / "source", tmp_path / "clone"
    for name in ("lib", "hooks", "skills", ".claude-plugin"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(str(support.ROOT / name), str(source / name), ignore=ignored)
    for name in ("install.py", "harness"):
        shutil.copy(str(support.ROOT / name), str(source))
    git(source, "init", "-q", "-b", "main")
    git(source, "add", "-A")
    git(source, "commit", "-q", "-m", "One")
    git(tmp_path, "clone", "-q", str(source), str(clone))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *words], env=env, cwd=str(home), capture_output=True, text=True)

    assert run(str(clone / "install.py")).returncode == 0
    place = source / "lib" / "harness_memory" / "__init__.py"
    place.write_text(place.read_text().replace('__version__ = "', '__version__ = "9.'))
    git(source, "commit", "-qam", "Two")
    done = run(str(clone / "harness"), "upgrade")
    assert (done.returncode, "Installed again in 1 place." in done.stdout) == (0, True), done
    (record,) = json.loads((home / ".claude/memory/installs.json").read_text())["installs"]
    assert record["version"].startswith("9.")
    git(source, "commit", "-q", "--amend", "-m", "Rewritten")
    done = run(str(clone / "harness"), "upgrade")
    assert (done.returncode, "harness: git pull failed in " in done.stderr) == (2, True)


@pytest.mark.parametrize("theme", [":root {", ':root[data-theme="dark"] {'])
def test_the_colours_of_the_page_have_contrast(theme: str) -> None:
    css = (
        (support.LIB / "harness_memory" / "cli" / "view.html").read_text("utf-8").partition(theme)[2].partition("}")[0]
    )
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", css))

    def light(name: str) -> float:
        parts = [int(colours[name][at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    pairs = [(ink, ground) for ink in ("ink", "soft", "accent") for ground in ("ground", "card", "calm-ground")]
    pairs += [("ink", "mark"), *((name, name + "-ground") for name in ("good", "warn", "bad"))]
    ratios = {pair: (max(map(light, pair)) + 0.05) / (min(map(light, pair)) + 0.05) for pair in pairs}
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < 4.5} == {}


# When a new briefing is due, and from what it is made --------------------------------------------------
def worked(world: World, needed: int) -> World:
    """A memory of one session, and how many it takes."""
    world.work("Correct the totals", "Totals are rounded once, at the end.", ("totals.py",))
    chosen = {"consolidate_after_episodes": needed, "start_line": "off"}
    (world.root / "config.json").write_text(json.dumps(chosen), "utf-8")
    os.chmod(str(world.root / "config.json"), 0o600)
    return world


def test_a_start_says_in_one_line_once_a_day_that_it_is_due(world: World) -> None:
    worked(world, 1)
    assert started(world, "compact") == ""
    assert started(world).startswith("Harness Memory: 1 session and no consolidation yet. /harness-consolidate")
    assert started(world) == ""
    os.utime(world.project / "STATE" / "consolidation-told", (1, time.time() - 86500))
    assert "/harness-consolidate" in started(world)


def test_a_start_says_nothing_before_there_is_enough_or_after_it_was_done(world: World) -> None:
    worked(world, 2)
    assert started(world) == ""
    worked(world, 1)
    assert world.memory("consolidate", "--done").code == 0
    assert started(world) == ""


def test_consolidate_shows_what_is_new(world: World) -> None:
    worked(world, 1)
    first = world.json("consolidate")
    assert (first["last"], first["new"]) == (None, 1)
    assert first["sessions"][0]["what_was_done"] == "Totals are rounded once, at the end."
    shown = world.memory("consolidate").stdout
    assert all(text in shown for text in ("Correct the totals", "Totals are rounded once", "totals.py"))
    world.memory("consolidate", "--done")
    (episode,) = (world.project / "episodes").iterdir()
    os.utime(str(episode), (1, time.time() - 60))
    assert world.json("consolidate")["new"] == 0
    os.utime(str(episode), (1, time.time() + 60))  # the session went on
    assert world.json("consolidate")["new"] == 1
