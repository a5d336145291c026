"""What a session's capture learns from a transcript, and what it leaves alone."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import support
from life import Life

from harness_memory.base import settings
from harness_memory.project import relative_path
from harness_memory.session import capture, transcript

ROOT = "/home/user/project"
DATA: dict[str, Any] = json.loads((support.ROOT / "tests" / "data" / "session" / "capture.json").read_text("utf-8"))
STEP = "Step %s is done as it was planned, with every part of it in place and nothing left to do."


@pytest.fixture
def paper(tmp_path: Path) -> support.Transcript:
    return support.Transcript(tmp_path / "t.jsonl", "11111111-2222-3333-4444-555555555555", ROOT)


def absorbed(paper: support.Transcript, state: capture.Capture | None = None, chunks: int = 10**6) -> capture.Capture:
    state = state or capture.Capture()
    has_time = iter([True] * chunks + [False])
    reading = transcript.Reading(str(paper.path), state.places.get(""))
    if reading.is_restart:
        transcript.restart(state)
    transcript.absorb(state, reading.entries(lambda: next(has_time)), (ROOT,))
    state.places[""] = reading.place
    reading.file.close()
    return state


def test_turn_with_tools_and_noise_leaves_ask_answer_files(paper: support.Transcript) -> None:
    paper.injected("old memory: use jQuery").prompt("add a greeting").noise()
    paper.text("Let me look.").read(ROOT + "/a.py").write(ROOT + "/greet.py").edit(ROOT + "/src/b.py")
    paper.text("I added greet().").turn_end()
    state = absorbed(paper)
    assert (state.prompts(), state.answer, state.files) == (
        ["add a greeting"],
        "I added greet().",
        ["greet.py", "src/b.py"],
    )
    assert state.calls == 3
    assert (state.model, state.branch, state.turn) == (support.MODEL, "main", "answered")


@pytest.mark.parametrize("entry", DATA["not prompts"])
def test_entry_of_the_client_is_not_a_prompt(paper: support.Transcript, entry: Any) -> None:
    if isinstance(entry, str):
        paper.synthetic(entry)
    else:
        paper.line({"parentUuid": None, **entry, "type": "user", "message": {"role": "user", "content": "hello"}})
    assert absorbed(paper).prompts() == []


def test_prompt_in_blocks_is_read_without_reminders(paper: support.Transcript) -> None:
    texts = ("<system-reminder>memory</system-reminder>", "fix it")
    paper.synthetic([*({"type": "text", "text": text} for text in texts), {"type": "image"}])
    assert absorbed(paper).prompts() == ["fix it"]


def test_writes_that_failed_or_have_no_result_do_not_count(paper: support.Transcript) -> None:
    paper.prompt("go").write(ROOT + "/no.py", error="denied").edit(ROOT + "/no2.py", error="not found")
    paper.tool_use("Write", {"file_path": ROOT + "/unfinished.py", "content": ""})
    paper.write(ROOT + "/yes.py")
    notebook = paper.tool_use("NotebookEdit", {"notebook_path": ROOT + "/n.ipynb", "new_source": "x"})
    paper.tool_result(notebook, "ok")
    shell = paper.tool_use("Bash", {"command": "sed -i s/a/b/ c.txt"})
    paper.tool_result(shell, "", result={"stdout": "", "bashEditDiff": {"files": [{"filePath": ROOT + "/c.txt"}]}})
    assert absorbed(paper).files == ["yes.py", "n.ipynb", "c.txt"]


def test_paths_are_relative_to_the_project_or_left_out() -> None:
    assert {path: relative_path(path, (ROOT,)) for path in DATA["paths"]} == DATA["paths"]


@pytest.mark.parametrize(("failed", "passed", "is_pair"), DATA["commands"])
def test_command_that_passes_in_another_form_is_a_lesson(
    paper: support.Transcript, failed: str, passed: str, is_pair: bool
) -> None:
    paper.prompt("go").bash(failed, "boom" * 20_000, exit_code=1).bash("echo between").bash(passed, "fine")
    assert absorbed(paper).fixed == ([[failed, passed]] if is_pair else [])


def test_todos_of_older_clients_follow_the_last_list(paper: support.Transcript) -> None:
    for statuses in (["pending", "pending"], ["completed", "in_progress"]):
        todos = [{"content": "step %d" % n, "status": status, "activeForm": "x"} for n, status in enumerate(statuses)]
        paper.tool_result(paper.tool_use("TodoWrite", {"todos": todos}), "ok")
    assert absorbed(paper).open_todos() == ["step 1"]
    paper.tool_result(paper.tool_use("TodoWrite", {"todos": []}), "ok")
    assert absorbed(paper).open_todos() == []


def test_tasks_of_newer_clients_follow_their_updates(paper: support.Transcript) -> None:
    for number, subject in enumerate(["write tests", "write docs", "drop this"], 1):
        created = paper.tool_use("TaskCreate", {"subject": subject, "description": "d"})
        paper.tool_result(created, "created", result={"task": {"id": str(number), "subject": subject}})
    for task, status in (("1", "completed"), ("2", "in_progress"), ("3", "deleted"), ("9", "completed")):
        paper.tool_result(paper.tool_use("TaskUpdate", {"taskId": task, "status": status}), "Updated")
    assert absorbed(paper).open_todos() == ["write docs"]


def test_skills_titles_and_outside_tools_are_noted(paper: support.Transcript) -> None:
    paper.title("first").title("second").command("melt", "the ice")
    for name, options in (("Skill", {"skill": "heavy"}), ("WebFetch", {"url": "x"}), ("mcp__jira__get", {})):
        paper.tool_result(paper.tool_use(name, options), "ok")
    state = absorbed(paper)
    assert (state.title, state.skills, state.prompts()) == ("second", ["melt", "heavy"], ["/melt the ice"])
    assert state.outside == ["WebFetch", "mcp__jira__get"]


@pytest.mark.parametrize(
    ("last", "turn"), [("interrupt", "interrupted"), ("api_error", "failed"), ("", "asked"), ("tool", "working")]
)
def test_last_turn_stands_as_its_last_entry_says(paper: support.Transcript, last: str, turn: str) -> None:
    paper.prompt("one").text("One done.").prompt("two")
    if last == "tool":
        paper.tool_use("Bash", {"command": "sleep 9"})
    elif last:
        getattr(paper, last)()
    assert absorbed(paper).turn == turn


def test_many_prompts_keep_the_first_and_the_last(paper: support.Transcript) -> None:
    for number in range(30):
        paper.prompt("ask %d" % number).text("ok")
    assert absorbed(paper).prompts() == ["ask %d" % n for n in (0, 1, 2, 25, 26, 27, 28, 29)]


def test_half_a_line_waits_for_its_end(paper: support.Transcript) -> None:
    whole = paper.prompt("one").path.read_bytes()
    tail = paper.text("One done.").path.read_bytes()[len(whole) :]
    for cut in (1, len(tail) // 2, len(tail) - 1):
        paper.path.write_bytes(whole + tail[:cut])
        state = absorbed(paper)
        assert state.answer == ""
        with paper.path.open("ab") as file:
            file.write(tail[cut:])
        assert absorbed(paper, state).answer == "One done."


@pytest.mark.parametrize("has_ids", [True, False])
def test_transcript_replaced_each_turn_counts_prompts_and_answers_once(life: Life, has_ids: bool) -> None:
    path = life.transcript.path
    life.start()
    for number, ask in enumerate(("Ask A", "go on", "Ask B", "go on"), 1):
        life.turn(ask, STEP % number, "%d.py" % number)
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        kept = [{key: entry[key] for key in entry if has_ids or key != "promptId"} for entry in lines]
        path.write_bytes(b'{"type":"mode"}\n' + b"".join(map(support.encode, kept)))
    life.end()
    assert life.episode["asked"] == ["Ask A", "go on", "Ask B", "go on"]
    assert life.episode["what_was_done"] == "\n\n".join(STEP % number for number in range(1, 5))


@pytest.mark.parametrize("how", ["begun anew", "cut"])
def test_work_that_a_transcript_lost_stays_in_the_episode(life: Life, how: str) -> None:
    path = life.transcript.path
    life.start()
    life.turn("one", STEP % "one", "one.py")
    data = path.read_bytes()
    life.turn("two", STEP % "two", "two.py")
    path.unlink()
    if how == "cut":
        path.write_bytes(data)
    life.turn("three", STEP % "three", "three.py")
    life.end()
    assert life.episode["asked"] == ["one", "two", "three"]
    assert sorted(life.episode["files_changed"]) == ["one.py", "three.py", "two.py"]
    assert [life.episode["what_was_done"].count(STEP % step) for step in ("one", "two", "three")] == [1, 1, 1]


def test_damaged_and_foreign_lines_are_skipped(paper: support.Transcript) -> None:
    paper.prompt("one").raw(b'{"type":"user","message":\n')
    paper.raw(b"\xff\xfe\x00\n\n[1,2]\nnull\n" + b'{"type":"assistant","message":7}\n')
    paper.line({"type": "something-new", "content": "x"}).text("One done.")
    state = absorbed(paper)
    assert (state.prompts(), state.answer) == (["one"], "One done.")


def test_line_beyond_the_limit_is_skipped(paper: support.Transcript, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "TRANSCRIPT_LINE_MAX_BYTES", 50_000)
    monkeypatch.setattr(settings, "TRANSCRIPT_CHUNK_BYTES", 4096)
    paper.prompt("one").write(ROOT + "/big.py", "y" * 300_000).write(ROOT + "/small.py").text("One done.")
    state = absorbed(paper)
    assert (state.files, state.answer) == (["small.py"], "One done.")
    assert state.places[""][0] == paper.path.stat().st_size


def test_reading_that_runs_out_of_time_goes_on_next_time(
    paper: support.Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "TRANSCRIPT_CHUNK_BYTES", 65536)
    for number in range(100):
        paper.turn("ask %d" % number, "ok", files=[ROOT + "/%d.py" % number])
    state = absorbed(paper, chunks=1)
    assert 0 < state.places[""][0] < paper.path.stat().st_size
    assert absorbed(paper, state).files == ["%d.py" % number for number in range(100)]


def test_capture_of_an_older_version_is_read_on(tmp_path: Path) -> None:
    (tmp_path / "capture.json").write_text(json.dumps(DATA["old"]), "utf-8")
    state = capture.load(str(tmp_path))
    assert (state.prompts(), state.files, state.last) == (["do it"], ["a.py"], 5.5)
    capture.save(str(tmp_path), state)
    assert capture.load(str(tmp_path)).prompts() == ["do it"]


def test_stop_waits_for_lines_that_the_client_still_writes(life: Life) -> None:
    life.start()
    life.prompt("one")
    env = support.clean_environment(life.home, life.session.environment(pid=life.pid))
    with subprocess.Popen(support.hook_command("stop"), stdin=subprocess.PIPE, env=env, cwd=life.cwd) as hook:
        assert hook.stdin is not None
        hook.stdin.write(support.encode(life.session.stop("One done.")))
        hook.stdin.close()
        time.sleep(0.15)
        life.transcript.write(life.cwd / "late.py").text("One done.")
        assert hook.wait(support.HANG_SECONDS) == 0
    assert life.episode["files_changed"] == ["late.py"]


def test_subagent_files_count_its_words_do_not(life: Life) -> None:
    life.start()
    life.prompt("delegate")
    folder = life.transcript.path.with_suffix("") / "subagents"
    agent = support.Transcript(folder / "agent-1.jsonl", life.session.id, life.cwd)
    agent.prompt("you are a helper").write(life.cwd / "x.py").text("Helper done.")
    agent.path.write_bytes(agent.path.read_bytes().replace(b'"isSidechain":false', b'"isSidechain":true'))
    life.transcript.text("It was delegated.")
    life.stop("It was delegated.")
    assert (life.episode["files_changed"], life.episode["asked"]) == (["x.py"], ["delegate"])
    assert life.episode["what_was_done"] == "It was delegated."


def test_a_stop_reads_only_what_was_appended(life: Life) -> None:
    life.start()
    life.turn("Rename the parser", "Renamed it. " * 60)
    path = life.transcript.path
    path.write_bytes(path.read_bytes().replace(b"Rename the parser", b"Rewrite history!!"))
    life.turn("Go on", "Went on.")
    assert life.episode["asked"] == ["Rename the parser", "Go on"]


def test_passages_hold_what_was_said_without_code_logs_and_tables(life: Life) -> None:
    answer = "Fixed. The cache key lacked the tenant.\n\n```py\nx = 1\n```\n\n| a | b |\n| - | - |\n\n- Run `make` once"
    life.start()
    life.turn("Why is the cache wrong?\n\nIt shows other tenants.", answer, "cache.py")
    said = [(each["turn"], each["by"], each["text"]) for each in life.episode["passages"]]
    assert said == [
        (0, "user", "Why is the cache wrong?"),
        (0, "user", "It shows other tenants."),
        (0, "claude", "Fixed."),
        (0, "claude", "The cache key lacked the tenant."),
        (0, "claude", "Run `make` once"),
    ]


def test_passages_of_a_long_session_keep_what_tells_most_of_every_turn(paper: support.Transcript) -> None:
    for number in range(60):
        chatter = " ".join("%s look at it now and say more then." % word for word in "abcdefghijklmn")
        paper.turn("ask %d" % number, "%s\nPort %d of `gateway_%d` is taken." % (chatter, 8000 + number, number))
    state = absorbed(paper)
    texts = [each.text for each in state.words]
    kept = " ".join(texts)
    assert sum(map(len, texts)) <= settings.PASSAGES_CHARS
    assert all("`gateway_%d`" % number in kept for number in range(60))
