"""What README and docs promise is what the code has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import support
from commandline import World

from harness_memory import cli
from harness_memory.base import config, settings
from harness_memory.guard import decision, policy
from harness_memory.setup import settingsfile

README = (support.ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((support.ROOT / "docs").glob("*.md"))}
ALL = "\n".join([README, *DOCS.values()])


def first_column(page: str, heading: str) -> list[str]:
    """The first cells of the table below a heading (or below the words that lead to it)."""
    rows = DOCS[page].partition(heading)[2].partition("| --- |")[2].splitlines()[1:]
    cells = []
    for row in rows:
        if not row.startswith("|"):
            break
        cells.append(row.split("|")[1].strip())
    return cells


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    assert len(README.splitlines()) <= 150
    linked = re.findall(r"\]\(([^)]+)\)", README)
    assert [name for name in linked if not (support.ROOT / name).is_file()] == []
    assert [name for name in DOCS if "docs/%s.md" % name not in linked] == []
    for name, text in DOCS.items():
        paths = [path for path in re.findall(r"\]\(([^)]+)\)", text) if not path.startswith("http")]
        assert [path for path in paths if not (support.ROOT / "docs" / path).is_file()] == [], name


def test_every_verb_is_in_the_table_of_its_group() -> None:
    for title, rows in cli.GROUPS["memory"].items():
        cells = first_column("commands", "## %s\n" % title)
        assert [re.sub(r"`harness memory (\w+).*`", r"\1", cell) for cell in cells] == [row.name for row in rows]
    own = [re.sub(r"`harness (\w+).*`", r"\1", cell) for cell in first_column("commands", "## Harness itself")]
    assert own == [*cli.verbs("")]


def test_every_command_that_a_page_shows_is_known(home: Path, repo: Path) -> None:
    verbs = {family: cli.verbs(family) for family in cli.GROUPS}
    for family, verb in re.findall(r"(?:`|\$ )harness (memory|guard) ([a-z][a-z-]+)", ALL):
        assert verb in verbs[family], verb
    world = World(home, repo)
    for words in re.findall(r"^\$ harness memory ([^#\n]+)", ALL, re.M):
        verb, *rest = re.sub(r'"[^"]*"', "x", words).split()
        page = world.memory(verb, "--help").stdout
        assert [word for word in rest if word.startswith("-") and word not in page] == []


def test_every_verb_of_the_guard_is_in_the_table() -> None:
    named = [re.sub(r"`harness guard ([\w-]+).*`", r"\1", cell) for cell in first_column("commands", "## The guard")]
    assert named == [*cli.verbs("guard")]


def test_the_rules_shown_are_good_ones() -> None:
    (shown,) = re.findall(r"^```json\n(.*?)^```", DOCS["guard"], re.M | re.S)
    rules = policy.Policy()
    rules.apply(json.loads(shown), "README", only_tighten=False)
    assert rules.problems == []


def test_the_denial_shown_is_the_real_one() -> None:
    said = decision.sentence(decision.Verdict("delete.home", "deny", "rm -rf ~", "~"), policy.Policy())
    assert said in " ".join(DOCS["guard"].split())


def test_every_hook_is_in_the_table() -> None:
    assert first_column("how-it-works", "## What happens when") == [event for event, _ in settingsfile.HOOKS]


def test_every_setting_is_in_the_table_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", DOCS["files"], re.M)
    assert dict(rows) == {key: str(value) for key, value in config.DEFAULTS.items()}


def test_the_commands_exist() -> None:
    for script in re.findall(r"python3 (?:~/harness-memory/)?([\w/]+\.py|harness)", ALL):
        assert (support.ROOT / script).is_file(), script


def test_the_files_named_are_those_written() -> None:
    for name in (settings.META_FILE, settings.SUMMARY_FILE, settings.INDEX_FILE, settings.CONVERSATION_FILE):
        assert name in DOCS["files"]
    assert settings.CURRENT_WORK_FILE in DOCS["files"]
    assert all(name in ALL for name in (settings.ENV_HOME, settings.ENV_SWITCH, settings.ENV_CONFIG_DIR))


def test_the_exit_codes_are_as_told(home: Path, repo: Path) -> None:
    world = World(home, repo)
    world.work("Add a form", "Added a form that asks for the name.")
    told = " ".join(DOCS["commands"].partition("Exit codes: ")[2].split())
    assert "0 done, 1 problems were found (a search: nothing matched; `guard check`: it would be stopped)" in told
    for words in (("search", "zanzibar"), ("related", "zanzibar.py"), ("forget", "--text", "zanzibar")):
        assert world.memory(*words).code == 1
    assert world.run("guard", "check", "rm -rf ~").code == 1
    assert "2 it could not be done, for example an unknown id" in told
    assert world.memory("forget", "zz").code == world.memory("show", "zz").code == 2
    assert "`install.py`: 0 done, 1 refused, failed or not confirmed, 2 wrong options" in told  # see test_install
