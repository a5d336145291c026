"""What a session leaves: headline, what was done, what is open, decisions, commits, and how later sessions close it."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import pytest
import support
from life import Life

from harness_memory.session import account, digest

ANSWERS: list[dict[str, Any]] = json.loads((support.ROOT / "tests/data/session/answers.json").read_text("utf-8"))
STEPS: list[list[Any]] = json.loads((support.ROOT / "tests/data/session/steps.json").read_text("utf-8"))


def work(life: Life) -> dict[str, Any]:
    return dict(json.loads((life.project / "STATE" / "current-work.json").read_text("utf-8")))


@pytest.mark.parametrize("case", ANSWERS, ids=[case["name"] for case in ANSWERS])
def test_an_answer_leaves_what_a_reader_would_keep(life: Life, case: dict[str, Any]) -> None:
    life.start()
    life.turn(case["prompt"], case["answer"], *case.get("files", ()))
    episode = life.episode
    assert episode["headline"] == case["headline"]
    assert episode["what_remains"] == case.get("left", [])
    for field in ("decisions", "plan", "blockers", "tags"):
        assert episode[field] == case.get(field, episode[field]), field
    told = "\n".join([episode["what_was_done"], *episode["decisions"], *episode["learnings"]])
    assert all(told.count(text) == 1 for text in case.get("done", ()))
    assert not any(text in told for text in case.get("not done", ("```",)))


def test_commits_are_the_headline_whoever_made_them(life: Life) -> None:
    life.start()
    life.prompt("Fix the lexer")
    command = "git add -A && git commit -m \"$(cat <<'EOF'\nCount the depth of comments\n\nThey nest.\nEOF\n)\""
    life.transcript.bash(command, "[main 1a2b3c4] Count the depth of comments\n 1 file changed")
    life.transcript.text("You're absolutely right! Done.")
    log = life.cwd / ".git" / "logs" / "HEAD"
    times = {"Long ago": 1_000_000_000, "Test the lexer": int(time.time()) + 2, "Tomorrow": int(time.time()) + 90_000}
    line = "%040x %040x A <a@example.org> %d +0000\tcommit: %s\n"
    log.write_text("".join(line % (1, 2, at, subject) for subject, at in times.items()), "utf-8")
    os.utime(log, (time.time() + 2, time.time() + 2))
    life.stop("You're absolutely right! Done.")
    assert life.episode["commits"] == ["Count the depth of comments", "Test the lexer"]
    assert life.episode["headline"] == "Count the depth of comments; Test the lexer"


@pytest.mark.parametrize(("last", "outcome"), [("interrupt", "interrupted"), ("api_error", "failed")])
def test_a_turn_that_was_cut_off_says_so(life: Life, last: str, outcome: str) -> None:
    life.start()
    life.prompt("Make the cache safe for threads")
    life.transcript.write(life.cwd / "cache.py")
    getattr(life.transcript, last)()
    life.end()
    assert life.episode["headline"] == "Make the cache safe for threads (%s)" % outcome
    assert (life.episode["outcome"], life.meta["status"], life.meta["reason"]) == (outcome, "ABANDONED", outcome)


def test_a_look_into_the_memory_leaves_no_episode(life: Life) -> None:
    life.start()
    life.turn("/harness-recall cart rounding", "Two earlier sessions match: the cart fix and the invoice change.")
    life.end()
    assert not life.has_episode


def test_the_title_of_another_session_is_not_taken(life: Life) -> None:
    life.transcript.line({"type": "summary", "summary": "Somebody else's work", "leafUuid": "11111111-2222"})
    life.start()
    life.turn("Add a greeting", "Added the greeting to the start page.", "start.py")
    assert life.episode["title"] == ""


def test_a_later_session_that_does_an_open_step_closes_it(life: Life) -> None:
    life.start()
    life.turn("Add vouchers", "Vouchers work.\n\nNext steps:\n- Let vouchers expire\n- Print vouchers", "v.py")
    life.end()
    assert work(life)["active_tasks"][0]["next_steps"] == ["Let vouchers expire", "Print vouchers"]
    assert work(life)["active_tasks"][0]["close"] == "harness memory thread close " + life.session.id[:8]
    second = life.another()
    second.start()
    second.turn("go on", "Vouchers expire after a year now.", "v.py")
    second.end()
    assert work(life)["active_tasks"][0]["next_steps"] == ["Print vouchers"]
    third = life.another()
    third.start()
    third.turn("Print the vouchers", "Added a page that prints them.", "print.py")
    third.end()
    assert work(life)["active_tasks"] == []
    assert len(work(life)["completed_today"]) == 3


@pytest.mark.parametrize(("step", "answer", "file", "is_closed"), STEPS)
def test_a_changed_file_that_a_step_names_helps_to_close_it(step: str, answer: str, file: str, is_closed: bool) -> None:
    said = digest.of_answer(answer, 1, set(), is_work=True)
    assert account.closed(said, [], [file], [step]) == [step] * is_closed
    assert account.closed(said, [], ["other.py"], [step]) == [step] * (is_closed and not file)


def test_an_offer_is_open_until_somebody_goes_on(life: Life) -> None:
    life.start()
    life.turn("Why is the export slow?", "The join has no index, so it spills to disk. Want me to add the index?")
    assert work(life)["active_tasks"][0]["next_steps"] == ["Want me to add the index?"]
    second = life.another()
    second.start()
    second.turn("Rename the helper", "Renamed the helper in every module that calls it.", "helper.py")
    assert work(life)["active_tasks"] == []


def test_a_step_is_open_once_until_a_turn_takes_it_up(life: Life) -> None:
    answer = "Vouchers work.\n\nI left two things undone:\n- guest cart isn't tested\n- printed vouchers lack a date"
    life.start()
    life.prompt("Add vouchers")
    task = {"id": "1", "subject": "Cover the guest cart"}
    life.transcript.tool_result(life.transcript.tool_use("TaskCreate", task), result={"task": task}).text(answer)
    life.transcript.bash("make test", "ok").text("The tests pass.")
    life.stop("The tests pass.")
    assert life.episode["what_remains"] == ["Cover the guest cart", "printed vouchers lack a date"]
    life.turn("ok", "Printed vouchers have a date now.\n\nNext step: send the vouchers by mail as well.", "t.py")
    assert life.episode["what_remains"] == ["Cover the guest cart", "send the vouchers by mail as well."]
    assert "undone" not in life.episode["what_was_done"]


def test_files_that_a_shell_command_writes_count(life: Life) -> None:
    life.start()
    life.prompt("Move it")
    life.transcript.bash("git mv old.py new.py && sed -i 's/old/new/' src/use.py && echo x > notes.txt; ls > /dev/null")
    life.transcript.text("Moved it.")
    life.stop("Moved it.")
    assert life.episode["files_changed"] == ["old.py", "new.py", "src/use.py", "notes.txt"]


def test_an_error_is_kept_with_its_command(life: Life) -> None:
    life.start()
    life.prompt("Build it")
    life.transcript.bash("make all", "a.c:3: error: unknown type name 'u8'\nmake: *** [all] Error 1", exit_code=2)
    life.transcript.bash("CFLAGS=-std=c11 make all", "ok").text("It builds with C11.")
    life.stop("It builds with C11.")
    assert life.episode["errors"] == ["make all: make: *** [all] Error 1"]
    fixes = [{"failed": "make all", "fixed": "CFLAGS=-std=c11 make all"}]
    assert life.episode["commands_failed_then_fixed"] == fixes


def test_only_what_was_listed_as_open_outlives_its_turn(life: Life) -> None:
    steps = "## Next steps\n- Rotate the staging key\n- Document the flag"
    life.start()
    life.turn("Import the orders", "Added the import.\n\n%s\n\nShould I also sort the rows?" % steps, "orders.py")
    assert "Should I also sort the rows?" in life.episode["what_remains"]
    life.turn("Document the flag", "Documented the flag in the manual. Want me to push the branch?", "manual.md")
    assert life.episode["what_remains"] == ["Rotate the staging key", "Want me to push the branch?"]


def test_a_session_is_remembered_by_few_decisions_and_by_no_talk(life: Life) -> None:
    names = ["orders", "invoices", "refunds", "letters", "uploads", "reports"]
    reasons = ["Kept %s in memory instead of on disk, because the %s queue is small." % (name, name) for name in names]
    talk = ["Let me load the task tools because they are missing.", "(I chose plain words because of the audience.)"]
    life.start()
    life.turn("Which queues stay in memory?", "\n\n".join([*talk, *reasons]))
    assert len(life.episode["decisions"]) == 3
    assert {*life.episode["decisions"]} <= {*reasons}
