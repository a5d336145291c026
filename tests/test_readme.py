"""What README promises is what the code has."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import support
from commandline import World

from harness_memory import cli
from harness_memory.base import settings
from harness_memory.guard import decision, policy
from harness_memory.setup import settingsfile

README = (support.ROOT / "README.md").read_text(encoding="utf-8")


def first_column(heading: str) -> list[str]:
    """The first cells of the table below a heading (or below the words that lead to it)."""
    rows = README.partition(heading)[2].partition("| --- |")[2].splitlines()[1:]
    cells = []
    for row in rows:
        if not row.startswith("|"):
            break
        cells.append(row.split("|")[1].strip())
    return cells


def test_every_verb_is_in_the_table() -> None:
    named = [re.sub(r"`harness memory (\w+).*`", r"\1", cell) for cell in first_column("## See it")]
    assert named == [row[0] for row in cli.VERBS]


def test_every_verb_of_the_guard_is_in_the_table() -> None:
    named = [re.sub(r"`harness guard ([\w-]+).*`", r"\1", cell) for cell in first_column("## Guard")]
    assert named == [row[0] for row in cli.GUARD_VERBS]


def test_the_rules_shown_are_good_ones() -> None:
    (shown,) = re.findall(r"^```json\n(.*?)^```", README, re.M | re.S)
    rules = policy.Policy()
    rules.apply(json.loads(shown), "README", only_tighten=False)
    assert rules.problems == []


def test_the_denial_shown_is_the_real_one() -> None:
    said = decision.sentence(decision.Verdict("delete.home", "deny", "rm -rf ~", "~"), policy.Policy())
    assert said in " ".join(README.split())


def test_every_hook_is_in_the_table() -> None:
    assert first_column("## What happens when") == [event for event, _, _ in settingsfile.HOOKS]


def test_every_setting_is_in_the_table_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", README, re.M)
    assert dict(rows) == {key: str(value) for key, value in settings.DEFAULTS.items()}


def test_the_commands_exist() -> None:
    for script in re.findall(r"python3 ([\w/.]+)", README):
        assert (support.ROOT / script).is_file(), script


def test_the_files_named_are_those_written() -> None:
    for name in (settings.META_FILE, settings.SUMMARY_FILE, settings.INDEX_FILE, settings.CONVERSATION_FILE):
        assert name in README
    assert settings.CURRENT_WORK_FILE in README
    assert all(name in README for name in (settings.ENV_HOME, settings.ENV_SWITCH, settings.ENV_CONFIG_DIR))


@pytest.mark.parametrize("page", ["RELIABILITY.md", "SECURITY.md"])
def test_every_proof_that_a_page_names_is_there(page: str) -> None:
    text = (support.ROOT / page).read_text(encoding="utf-8")
    tests = set(re.findall(r"`(test_\w+)`", text))
    files = set(re.findall(r"\b((?:bench|tests)/[\w/]+\.py)\b", text))
    assert tests
    assert [name for name in tests if not (support.ROOT / "tests" / (name + ".py")).is_file()] == []
    assert [name for name in files if not (support.ROOT / name).is_file()] == []


def test_the_exit_codes_are_as_told(home: Path, repo: Path) -> None:
    world = World(home, repo)
    world.work("Add a form", "Added a form that asks for the name.")
    told = README.partition("Exit codes: ")[2].partition("\n\n")[0]
    assert "0 done, 1 problems were found (a search: nothing matched;\n`guard check`: it would be stopped)" in told
    for words in (("search", "zanzibar"), ("related", "zanzibar.py"), ("forget", "--text", "zanzibar")):
        assert world.memory(*words).code == 1
    assert world.memory("forget", "--until", "2001-01-01").code == 1
    assert world.run("guard", "check", "rm -rf ~").code == 1
    assert "2 it could not be done, for example an unknown id" in told
    assert world.memory("forget", "zz").code == world.memory("show", "zz").code == 2
    assert "`install.py`: 0 done, 1 refused,\nfailed or not confirmed, 2 wrong options" in told  # see test_install
