"""What a session is given: the right parts, within the budget, never twice, and nothing that acts as an order."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World
from life import Life, failures

from harness_memory.base import clock, settings
from harness_memory.inject import injection as inject

CAP = 8000
DONE = "Totals are rounded once, at the end."


def past(life: Life, ask: str = "totals are off by a cent", answer: str = DONE) -> Life:
    """A finished earlier session that left something open."""
    earlier = life.another()
    earlier.transcript.prompt(ask)
    add_todo(earlier, "test the guest cart")
    earlier.transcript.write(earlier.cwd / "cart" / "totals.py").text(answer)
    earlier.stop(answer)
    earlier.end()
    return earlier


def add_todo(life: Life, subject: str, number: str = "1") -> None:
    tool = life.transcript.tool_use("TaskCreate", {"subject": subject})
    life.transcript.tool_result(tool, "Task #%s created" % number, result={"task": {"id": number}})


def brief(life: Life, text: str) -> Path:
    path = life.project / "briefing.md"
    path.write_bytes(text.encode("utf-8"))
    return path


def in_order(text: str, *parts: str) -> bool:
    positions = [text.find(part) for part in parts]
    return -1 not in positions and positions == sorted(positions)


def test_the_next_session_starts_with_what_matters_in_order(life: Life) -> None:
    lesson = "`pytest` needs the `-p no:cacheprovider` flag in this container, because the cache folder is read-only."
    life.another().turn("Run the tests", "All tests pass now. " + lesson)
    earlier = past(life)
    brief(earlier, "# Shop\n- Prices are in cents.\n")
    (earlier.project / "MEMORY.md").write_text("# Notes\n- [tax](tax.md) VAT is included\n", "utf-8")
    (life.store / "user").mkdir()
    (life.store / "user" / "MEMORY.md").write_text("- prefers tabs\n", "utf-8")
    text = life.start().context
    parts = ["<harness-memory", "Prices are in cents.", "Totals are rounded once", "next: test the guest cart"]
    parts += ["VAT is included", "prefers tabs", "`show <id>`"]
    assert in_order(text, *parts, "`search WORD`", "`checkpoint --done", "`remember ", "</harness-memory-")
    assert text.count(lesson) == 1, "a headline and a lesson"
    assert text.count("[%s]" % earlier.meta["date"]) >= 3
    assert text.count("<harness-memory-") == text.count("</harness-memory-") == 1


def test_a_session_that_runs_beside_is_named_with_its_files(life: Life) -> None:
    sibling = Life(life.home, life.cwd, pid=os.getpid())
    sibling.start()
    sibling.turn("Move the ledger to cents", "Moved it.", "ledger.py")
    sibling.prompt("Now the invoices")
    text = life.start().context
    assert "Running now beside this session" in text
    assert "%s: Now the invoices [ledger.py]" % sibling.session.id[:8] in text


def test_a_full_memory_does_not_cut_the_briefing(life: Life) -> None:
    earlier = past(life)
    lines = ["- line %02d: %s" % (n, "the words of a rule that someone wrote " * 2) for n in range(80)]
    brief(earlier, "\n".join(lines) + "\n")
    index = ["- [note %03d](note-%03d.md) a fact that is worth a line in the index" % (n, n) for n in range(150)]
    (earlier.project / "MEMORY.md").write_text("\n".join(index) + "\n", "utf-8")
    text = life.start().context
    assert all(line.rstrip() in text for line in lines)
    assert in_order(text, "test the guest cart", "note-000", "`show <id>`")
    assert inject.units(text) <= 9500


def test_the_injected_commands_work(life: Life) -> None:
    earlier = past(life)
    text = life.start().context
    env = support.clean_environment(life.home, life.session.environment(pid=life.pid))
    id = earlier.meta["session_id"]
    own = text.partition("Commands begin with `")[2].partition("`")[0]
    commands = {
        "show " + id: "Totals are rounded once",
        "search rounded": id,
        'checkpoint --done "…" --remains "…" --learned "…"': "ecorded",
        'remember "Prices are in cents"': "Noted",
        "thread close " + id: "closed",
    }
    assert all("`%s " % command.split()[0] in text for command in commands)
    for command, expected in commands.items():
        words = shlex.split(own + " " + command)
        done = subprocess.run(words, env=env, cwd=life.cwd, stdout=subprocess.PIPE, check=True)
        assert expected in done.stdout.decode("utf-8")


def test_sessions_of_the_same_branch_and_folder_come_first(life: Life) -> None:
    for branch, folder in (("main", ""), ("main", "docs"), ("feature", "web"), ("main", "web"), ("other", "docs")):
        support.git(life.cwd, "checkout", "-q", "-B", branch)
        each = life.another()
        each.transcript.branch = branch
        files = [folder + "/x.py"] * bool(folder)
        each.turn("work", "Worked on %s in %s, and it took some time." % (branch, folder), *files)
        each.end()
    support.git(life.cwd, "checkout", "-q", "main")
    (life.cwd / "web").mkdir(exist_ok=True)
    life.session.cwd = str(life.cwd / "web")
    menu = [line.split("Worked on ")[1].split(",")[0] for line in life.start().context.splitlines() if "Worked" in line]
    assert (menu[0], menu[3], menu[4:]) == ("main in web", "other in docs", ["main in "])


def test_resume_gives_only_what_is_new(life: Life) -> None:
    earlier = past(life)
    path = brief(earlier, "- Prices are in cents.\n")
    assert "Totals are rounded" in life.start().context
    assert life.start("resume").stdout == ""
    path.write_text("- Prices are in cents.\n- Tax is 19 %.\n", "utf-8")
    text = life.start("resume").context
    assert "- Prices are in cents.\n- Tax is 19 %." in text, "a changed briefing comes whole"
    assert "test the guest cart" not in text
    past(life, ask="job", answer="Another job was done quite well.")
    text = life.start("resume").context
    assert ("Another job" in text, "cents" in text) == (True, False)
    path.write_text("- Prices are in cents.\n", "utf-8")
    assert "cents" in life.start("resume").context, "so does one that was taken back"


def test_a_session_is_not_given_its_own_work(life: Life) -> None:
    life.start()
    life.prompt("one")
    add_todo(life, "still to do")
    life.transcript.text("One is done, but there is something left.")
    life.stop("One is done, but there is something left.")
    assert life.start("resume").stdout == ""
    assert life.prompt("One is done, but there is something left, and that is what?").stdout == ""


def test_new_steps_and_notes_come_with_what_they_belong_to(life: Life) -> None:
    earlier = past(life)
    notes = earlier.project / "MEMORY.md"
    notes.write_text("- VAT is included\n", "utf-8")
    life.start()
    earlier.start("resume")
    earlier.prompt("go on")
    add_todo(earlier, "ship it", "2")
    earlier.transcript.text("Half of it.")
    earlier.stop("Half of it.")
    notes.write_text("- VAT is included\n- ships on Mondays\n#12 crash on empty cart\n", "utf-8")
    text = life.start("resume").context
    assert "Totals are rounded once, at the end.\n  next: test the guest cart\n  next: ship it" in text
    assert "] ships on Mondays" in text
    assert "#12 crash on empty cart" in text
    assert "VAT" not in text
    os.utime(notes, (1_000_000_000, 1_000_000_000))
    assert life.start("resume").stdout == "", "another day is not news"


def test_an_unchanged_memory_gives_the_same_bytes(life: Life) -> None:
    past(life)
    other = life.another()
    frame = re.compile("(?<=harness-memory-)[0-9a-f]{8}")  # of the session, so that no record can close the block
    texts = [each.start(source).stdout for each, source in ((life, "startup"), (other, "startup"), (life, "clear"))]
    assert texts[0] == texts[2] != texts[1]
    assert {frame.sub("", text) for text in texts} == {frame.sub("", texts[0])}


def test_a_fork_is_given_what_its_parent_was_not(life: Life) -> None:
    path = brief(past(life), "- Prices are in cents.\n")
    life.start()
    life.turn("one", "One done.", "one.py")
    last = life.capture["last"]
    assert life.another().start("fork", seconds_since_last_response=time.time() - last).stdout == ""
    path.write_text("- Prices are in euros.\n", "utf-8")
    text = life.another().start("fork", seconds_since_last_response=time.time() - last).context
    assert ("euros" in text, "test the guest cart" in text) == (True, False)
    assert "Totals are rounded" in life.another().start("fork", seconds_since_last_response=10**6).context


@pytest.mark.parametrize("damage", ['{"seen": [[1]], "own": [[1]]}', "{"])
def test_a_damaged_receipt_silences_nothing(life: Life, damage: str) -> None:
    past(life)
    life.start()
    (life.directory / "injected.json").write_text(damage, "utf-8")
    page = life.directory / "session_memory_context.md"
    page.unlink()
    page.mkdir()
    assert "Totals are rounded" in life.start("resume").context
    assert failures(life.store) == []


def profile(life: Life, text: str = "- never above 40 degrees\n") -> None:
    (life.project / "profiles").mkdir()
    (life.project / "profiles" / "melt.md").write_text(text, "utf-8")


def call_skill(life: Life, skill: str, **extra: Any) -> support.Result:
    return life.run("pre_tool_use", {**life.session.tool_call("Skill", {"skill": skill, "args": ""}), **extra})


def test_a_called_skill_brings_its_profile_to_each_conversation(life: Life) -> None:
    life.start()
    profile(life)
    result = call_skill(life, "plugin:melt")
    assert result.json["hookSpecificOutput"]["hookEventName"] == "PreToolUse"
    assert "never above 40 degrees" in result.context
    assert call_skill(life, "melt").stdout == ""
    assert "never above 40 degrees" in call_skill(life, "melt", agent_id="a1", agent_type="x").context
    life.start("compact")
    assert "never above 40 degrees" in call_skill(life, "melt").context


def test_a_skill_without_profile_brings_its_last_sessions(life: Life) -> None:
    for number in range(7):
        each = life.another()
        each.transcript.command("melt", "part %d" % number)
        each.transcript.write(each.cwd / ("p%d.py" % number)).text("Melted part %d of the great glacier." % number)
        each.stop("Melted part %d of the great glacier." % number)
        each.end()
    life.start()
    assert life.prompt("/melt more").context.count("Melted part") == settings.SKILL_SESSIONS_SHOWN
    assert life.prompt("/unheard-of x").stdout == ""


@pytest.mark.parametrize("typed", ["/../../etc/passwd", "/", "/a/b", "/" + "x" * 500, "/con.fig", "/ melt"])
def test_no_skill_names_a_path(life: Life, typed: str) -> None:
    life.start()
    profile(life)
    assert life.prompt(typed).stdout == ""
    assert failures(life.store) == []


def test_the_tag_of_a_block_is_the_sessions_own_and_cannot_be_known_before(life: Life) -> None:
    brief(past(life), "- Prices are in cents.\n")
    payload = life.session._payload("SubagentStart", {"agent_id": "a1", "agent_type": "Explore"}, {})
    results = [life.start(), life.run("subagent_start", payload), life.start("clear"), life.another().start()]
    (life.directory / "injected.json").unlink()  # all that is left is what any program of the session knows
    results.append(life.start("clear"))
    tags = [result.context.partition(" ")[0] for result in results]
    assert tags[0].startswith("<harness-memory-")
    assert tags[0] == tags[1] == tags[2]
    assert len({*tags}) == 3


def test_long_files_are_cut_and_named(life: Life) -> None:
    earlier = past(life)
    path = brief(earlier, "# Shop\n%s\n- important\n" % ("x" * 20_000) + "".join("- fact %d\n" % n for n in range(300)))
    notes = "".join("- note %d %s\n" % (n, "wide " * 30) for n in range(199))
    (earlier.project / "MEMORY.md").write_text(notes, "utf-8")
    text = life.start().context
    assert 7500 < inject.units(text) <= CAP
    assert in_order(text, "xxx…", "- important", "(223 more; %s)" % path)
    assert life.start("resume").stdout == "", "what was cut is not news"


def test_the_configured_cap_stays_in_bounds(life: Life) -> None:
    brief(past(life), "".join("- %s %d\n" % ("wide words 😀 " * 20, n) for n in range(80)))
    config = life.store / "config.json"
    config.write_text('{"injection_units": 50000}', "utf-8")
    assert 8000 < inject.units(life.start().context) <= 9500
    config.write_text('{"injection_units": 2000}', "utf-8")
    assert inject.units(life.another().start().context) <= 2000
    config.write_text('{"injection_units": 300}', "utf-8")
    result = life.another().start()
    assert "injection_units" in result.json["systemMessage"]
    assert result.context


@pytest.mark.parametrize("before", [0, 440, 480, 496])
@pytest.mark.parametrize("hidden", ["", "\u200b"])
def test_no_part_of_a_secret_is_given_where_a_line_is_cut(life: Life, before: int, hidden: str) -> None:
    brief(past(life), "%s ghp_%s%s %s\n" % ("word " * (before // 5), hidden, "a1B2" * 9, "more " * 40_000))
    assert "a1B2" not in life.start().stdout
    assert "a1B2" not in (life.directory / "session_memory_context.md").read_text("utf-8")


PAGES = {"link": None, "huge": b"x" * 2_000_000, "binary": b"a\0b", "latin-1": b"- caf\xe9 au lait\n"}
PAGES["crlf and bom"] = b"\xef\xbb\xbf- one\r\n"


@pytest.mark.parametrize("kind", PAGES)
@pytest.mark.parametrize("file", ["briefing.md", "MEMORY.md"])
def test_a_page_that_cannot_be_used_is_named(life: Life, tmp_path: Path, kind: str, file: str) -> None:
    path, data = past(life).project / file, PAGES[kind]
    if data is None:
        (tmp_path / "secret").write_text("SECRET", "utf-8")
        path.symlink_to(tmp_path / "secret")
    else:
        path.write_bytes(data)
    text = life.start().context
    assert ("Totals are rounded" in text, "SECRET" in text) == (True, False)
    if kind == "crlf and bom":
        assert ("one\n" in text, "Problems with this memory" in text) == (True, False)
    else:
        assert in_order(text, "Problems with this memory", str(path), "Totals are rounded")
    assert failures(life.store) == []


def test_the_receipt_says_what_when_from_where_and_why(life: Life) -> None:
    path = brief(past(life), "- Prices are in cents.\n")
    text = life.start().context
    page = (life.directory / "session_memory_context.md").read_text("utf-8")
    assert text in page
    assert in_order(page, "SessionStart (startup)", "- briefing: 1 line from `%s`" % path)
    (entry,) = json.loads((life.directory / "injected.json").read_text("utf-8"))["log"]
    assert entry["units"] == inject.units(text)
    assert entry["tokens"] == (entry["units"] + 3) // 4
    assert [each["name"] for each in entry["parts"]] == ["briefing", "open", "usage"]


def test_of_many_injections_the_sums_are_kept(tmp_path: Path) -> None:
    loaded = inject.load_receipt(str(tmp_path))
    texts = ["Injection number %d." % number for number in range(settings.INJECTIONS_LOGGED + 7)]
    for number, text in enumerate(texts):
        loaded.record(str(tmp_path), inject.Injection(text, []), "UserPromptSubmit", "recall", 1_000_000 + number)
    log = inject.load_receipt(str(tmp_path)).log
    assert (len(log), log[0]["why"], log[1]["why"]) == (settings.INJECTIONS_LOGGED, "earlier", "recall")
    assert sum(entry["units"] for entry in log) == sum(map(len, texts))
    page = (tmp_path / settings.RECEIPT_FILE).read_text("utf-8")
    assert [page.count(text + "\n") for text in texts] == [1] * len(texts)


def test_notes_come_by_relevance_and_doubtful_ones_are_marked(life: Life) -> None:
    world = World(life.home, life.cwd)
    (life.cwd / "tax.py").write_text("RATE = 19", "utf-8")
    (life.cwd / "mail.py").write_text("HOST = 1", "utf-8")
    assert world.memory("note", "add", "Tax", "VAT is included", "--file", "tax.py").code == 0
    assert world.memory("note", "add", "Mail", "Mail goes out hourly", "--file", "mail.py").code == 0
    assert world.memory("note", "add", "Guest cart", "A guest has no address").code == 0
    past(life)
    later = time.time() + 2 * 86400  # a file whose time moved and whose content did not is not in doubt
    for name, text in (("tax.py", "RATE = 7"), ("mail.py", "HOST = 1")):
        (life.cwd / name).write_text(text, "utf-8")
        os.utime(life.cwd / name, (later, later))
    text = life.start().context
    assert in_order(text, "A guest has no address", "VAT is included")
    assert "CHECK: changed or gone since it was verified: tax.py" in text
    assert text.count("CHECK: ") == 1
    for path in (life.store / "user", *life.store.glob("*/LEARNING/topics")):
        for note in path.glob("guest*.md"):
            note.write_text(note.read_text("utf-8").replace(clock.iso(time.time())[:10], "2024-01-02"), "utf-8")
    text = life.another().start().context
    assert "CHECK: not verified since 2024-01-02" in text


@pytest.mark.parametrize("tools", [None, ["WebFetch"]])
def test_what_comes_of_a_session_names_text_from_outside(life: Life, tools: list[str] | None) -> None:
    life.start()
    life.turn("Which zorp should the cart use?", "The zorp limit of the carts is 12: the queue is small.", "cart.py")
    life.end()
    (path,) = life.store.glob("*/episodes/*.json")
    value = json.loads(path.read_text("utf-8"))
    del value["taint"]  # an older episode has none
    value.update({"decisions": ["Carts are emptied at night"], **({"taint": tools} if tools else {})})
    path.write_text(json.dumps(value), "utf-8")
    later = life.another()
    later.prompt("go on")
    told = life.run("pre_tool_use", later.session.tool_call("Edit", {"file_path": str(life.cwd / "cart.py")})).context
    recalled = later.prompt("what is the zorp limit of the carts?").context
    given = [line for line in later.start().context.splitlines() if "emptied at night" in line]
    for text, what in ((recalled, "12"), (told, "last changed"), ("".join(given), "at night")):
        assert (what in text, text.count("with text from WebFetch")) == (True, int(bool(tools))), text
    assert failures(life.store) == []
