"""What is learnt from a transcript, and what is left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import support
from life import Life

from harness_memory.session import absorb, capture, transcript

ROOT = "/home/user/project"


def always() -> bool:
    return True


@pytest.fixture
def paper(tmp_path: Path) -> support.Transcript:
    return support.Transcript(tmp_path / "t.jsonl", "11111111-2222-3333-4444-555555555555", ROOT)


def absorbed(paper: support.Transcript, state: capture.Capture | None = None) -> capture.Capture:
    state = state or capture.Capture()
    reading = transcript.Reading(str(paper.path), state.cursor)
    try:
        absorb.absorb(state, reading.entries(always), (ROOT,))
        state.cursor = reading.place
    finally:
        reading.close()
    return state


def test_a_whole_turn(paper: support.Transcript) -> None:
    paper.injected("old memory: use jQuery").prompt("add a greeting").noise()
    paper.text("Let me look.").read(ROOT + "/a.py").write(ROOT + "/greet.py").edit(ROOT + "/src/b.py")
    paper.text("I added greet().").turn_end()
    state = absorbed(paper)
    assert state.prompts() == ["add a greeting"]
    assert state.answer == "I added greet()."
    assert state.files == ["greet.py", "src/b.py"]
    assert state.tools == {"Read": 1, "Write": 1, "Edit": 1}
    assert (state.model, state.branch, state.turn) == (support.MODEL, "main", "answered")
    assert "jQuery" not in json.dumps(state)


NOT_PROMPTS = [
    "<command-name>/compact</command-name>\n            <command-message>compact</command-message>",
    "<local-command-stdout>Set model to x</local-command-stdout>",
    "<local-command-caveat>The command below was run directly</local-command-caveat>",
    "<task-notification>\n<task-id>a</task-id>",
    "<system-reminder>\nThe user named this session.\n</system-reminder>",
    "<bash-input>ls</bash-input>",
    "[Request interrupted by user]",
    "Stop hook feedback:\nplease go on",
]


@pytest.mark.parametrize("text", NOT_PROMPTS)
def test_what_nobody_asked(paper: support.Transcript, text: str) -> None:
    paper.synthetic(text)
    assert absorbed(paper).prompts() == []


@pytest.mark.parametrize("flag", ["isMeta", "isCompactSummary", "isSidechain"])
def test_flagged_entries_are_nobodys_prompt(paper: support.Transcript, flag: str) -> None:
    paper.line({"parentUuid": None, flag: True, "type": "user", "message": {"role": "user", "content": "hello"}})
    assert absorbed(paper).prompts() == []


def test_prompts_in_blocks_with_reminders_between(paper: support.Transcript) -> None:
    paper.synthetic(
        [
            {"type": "text", "text": "<system-reminder>memory</system-reminder>"},
            {"type": "text", "text": "fix it"},
            {"type": "image"},
        ]
    )
    assert absorbed(paper).prompts() == ["fix it"]


def test_only_writes_that_succeeded_count(paper: support.Transcript) -> None:
    paper.prompt("go").write(ROOT + "/no.py", error="denied").edit(ROOT + "/no2.py", error="not found")
    paper.tool_use("Write", {"file_path": ROOT + "/unfinished.py", "content": ""})
    paper.write(ROOT + "/yes.py")
    notebook = paper.tool_use("NotebookEdit", {"notebook_path": ROOT + "/n.ipynb", "new_source": "x"})
    paper.tool_result(notebook, "ok")
    shell = paper.tool_use("Bash", {"command": "sed -i s/a/b/ c.txt"})
    paper.tool_result(shell, "", result={"stdout": "", "bashEditDiff": {"files": [{"filePath": ROOT + "/c.txt"}]}})
    assert absorbed(paper).files == ["yes.py", "n.ipynb", "c.txt"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (ROOT + "/a.py", "a.py"),
        (ROOT + "/./x//y.py", "x/y.py"),
        (ROOT + "/../other/a.py", ""),
        (ROOT + "2/a.py", ""),
        ("/etc/passwd", ""),
        ("a.py", ""),
        (ROOT, ""),
        ("", ""),
    ],
)
def test_paths_are_relative_to_the_project(path: str, expected: str) -> None:
    assert absorb.relative_path(path, (ROOT,)) == expected


FIXED = [
    ("pytest tests/x.py", "python3 -m pytest tests/x.py", False),
    ("python tests/x.py", "python3 tests/x.py", True),
    ("npm test", "npm run test:unit", True),
    ("git push", "git push -u origin main", True),
    ("cd web && npm ci", "cd web && npm install", True),
    ("FOO=1 make build", "make build -j1", True),
    ("cargo build --release", "cargo test", True),
    ("ls missing", "git status --short", False),
    ("grep -rn foo src lib app", "grep bar docs/one docs/two docs/three", False),
]


@pytest.mark.parametrize(("failed", "passed", "is_pair"), FIXED)
def test_commands_that_failed_then_passed_in_another_form(
    paper: support.Transcript, failed: str, passed: str, is_pair: bool
) -> None:
    paper.prompt("go").bash(failed, "boom", exit_code=1).bash("echo between").bash(passed, "fine")
    assert absorbed(paper).fixed == ([[failed, passed]] if is_pair else [])


def test_the_same_command_passing_later_is_no_lesson(paper: support.Transcript) -> None:
    paper.prompt("go").bash("make test", exit_code=2).bash("make test").bash("make test -j2")
    state = absorbed(paper)
    assert (state.fixed, state.failed) == ([], [])


def test_a_refused_command_did_not_fail(paper: support.Transcript) -> None:
    paper.prompt("go")
    tool = paper.tool_use("Bash", {"command": "npm publish"})
    paper.line(
        {
            "parentUuid": "x",
            "isSidechain": False,
            "type": "user",
            "toolUseResult": "User rejected tool use",
            "toolDenialKind": "user-rejected",
            "message": {
                "content": [{"type": "tool_result", "tool_use_id": tool, "is_error": True, "content": "rejected"}]
            },
        }
    )
    paper.bash("npm publish --dry-run")
    assert absorbed(paper).fixed == []


def test_todos_of_older_clients(paper: support.Transcript) -> None:
    for statuses in (["pending", "pending"], ["completed", "in_progress"]):
        todos = [{"content": "step %d" % n, "status": status, "activeForm": "x"} for n, status in enumerate(statuses)]
        paper.tool_result(paper.tool_use("TodoWrite", {"todos": todos}), "ok")
    assert absorbed(paper).open_todos() == ["step 1"]
    paper.tool_result(paper.tool_use("TodoWrite", {"todos": []}), "ok")
    assert absorbed(paper).open_todos() == []


def test_tasks_of_newer_clients(paper: support.Transcript) -> None:
    for number, subject in enumerate(["write tests", "write docs", "drop this"], 1):
        created = paper.tool_use("TaskCreate", {"subject": subject, "description": "d"})
        paper.tool_result(
            created, "Task #%d created" % number, result={"task": {"id": str(number), "subject": subject}}
        )
    for number, status in (("1", "completed"), ("2", "in_progress"), ("3", "deleted"), ("9", "completed")):
        paper.tool_result(paper.tool_use("TaskUpdate", {"taskId": number, "status": status}), "Updated")
    assert absorbed(paper).open_todos() == ["write docs"]


def test_skills_typed_and_called(paper: support.Transcript) -> None:
    paper.command("melt", "the ice")
    paper.tool_result(paper.tool_use("Skill", {"skill": "heavy", "args": ""}), "ok")
    state = absorbed(paper)
    assert state.skills == ["melt", "heavy"]
    assert state.prompts() == ["/melt the ice"]


def test_outside_text_leaves_a_taint(paper: support.Transcript) -> None:
    for name in ("WebFetch", "mcp__jira__get", "Bash"):
        paper.tool_result(paper.tool_use(name, {"url": "x", "command": "ls"}), "ok")
    assert absorbed(paper).outside == ["WebFetch", "mcp__jira__get"]


@pytest.mark.parametrize(
    ("last", "turn"), [("interrupt", "interrupted"), ("api_error", "failed"), ("prompt", "asked"), ("tool", "working")]
)
def test_how_the_last_turn_stands(paper: support.Transcript, last: str, turn: str) -> None:
    paper.prompt("one").text("One done.")
    if last == "tool":
        paper.prompt("two").tool_use("Bash", {"command": "sleep 9"})
    elif last == "prompt":
        paper.prompt("two")
    else:
        getattr(paper.prompt("two"), last)()
    assert absorbed(paper).turn == turn


def test_a_long_pause_is_not_work(paper: support.Transcript) -> None:
    import datetime

    paper.turn("one", "One done.")
    worked = absorbed(paper).worked_seconds
    paper.now += datetime.timedelta(days=3)
    paper.turn("two", "Two done.")
    assert absorbed(paper).worked_seconds < 3 * worked + 5


def test_many_prompts_keep_the_first_and_the_last(paper: support.Transcript) -> None:
    for number in range(30):
        paper.prompt("ask %d" % number).text("ok")
    assert absorbed(paper).prompts() == ["ask %d" % n for n in (0, 1, 2, 25, 26, 27, 28, 29)]


LONG = 'a word "quoted" and \\ a line\n' * 200


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.parametrize("size", [1, 20, 200])
def test_long_results_are_skimmed_to_the_same(paper: support.Transcript, size: int, is_old: bool) -> None:
    text = "".join(LONG.splitlines(True)[:size])
    paper.prompt("go").bash("make a", text, exit_code=1).bash("make a b", text).write(ROOT + "/a.py", text)
    paper.edit(ROOT + "/b.py", text, text).edit(ROOT + "/c.py", text, text, error=text).read(ROOT + "/d.py", text)
    task = {"task": {"id": "7", "subject": "s"}}
    paper.tool_result(paper.tool_use("TaskCreate", {"subject": "later"}), text, result=task)
    diff = {"stdout": text, "bashEditDiff": {"files": [{"filePath": ROOT + "/e.py"}]}}
    paper.tool_result(paper.tool_use("Bash", {"command": "sed"}), text, result=diff)
    lines = paper.path.read_bytes().splitlines()
    if is_old:  # before the turn's own fields came last
        ahead = ("parentUuid", "isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch")
        entries = [json.loads(line) for line in lines]
        lines = [
            json.dumps({**{k: e[k] for k in ahead if k in e}, **e}, separators=(",", ":")).encode() for e in entries
        ]
        paper.path.write_bytes(b"\n".join(lines) + b"\n")
    whole = capture.Capture()
    absorb.absorb(whole, [json.loads(line) for line in lines if transcript.is_wanted(line)], (ROOT,))
    skimmed = absorbed(paper)
    assert {**skimmed, "cursor": {}} == whole
    assert skimmed["files"] == ["a.py", "b.py", "e.py"]
    assert skimmed["todos"] == {"7": ["later", "pending"]}


def test_what_was_said_is_never_left_as_it_was(paper: support.Transcript) -> None:
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "Key: " + "ghp_" + "a1B2" * 9}]}}
    state = capture.Capture()

    def entries() -> Any:
        yield said
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        absorb.absorb(state, entries(), (ROOT,))
    assert state.keys() == capture.Capture().keys()
    assert state.answer.startswith("Key: [redacted")


def test_titles_last_wins(paper: support.Transcript) -> None:
    paper.title("first").title("second")
    assert absorbed(paper).title == "second"


def test_each_pass_reads_only_what_was_appended(paper: support.Transcript) -> None:
    paper.turn("one", "One done.", files=[ROOT + "/one.py"])
    state = absorbed(paper)
    size = paper.path.stat().st_size
    assert state.cursor[0] == size
    paper.turn("two", "Two done.", files=[ROOT + "/two.py"])
    reading = transcript.Reading(str(paper.path), state.cursor)
    entries = list(reading.entries(always))
    reading.close()
    assert len(entries) == 4
    state = absorbed(paper, state)
    assert (state.files, state.prompts(), state.tools) == (["one.py", "two.py"], ["one", "two"], {"Write": 2})


def test_half_a_line_waits_for_its_end(paper: support.Transcript) -> None:
    paper.prompt("one")
    whole = paper.path.read_bytes()
    paper.text("One done.")
    tail = paper.path.read_bytes()[len(whole) :]
    for cut in (1, len(tail) // 2, len(tail) - 1):
        paper.path.write_bytes(whole + tail[:cut])
        state = absorbed(paper)
        assert state.answer == ""
        with paper.path.open("ab") as file:
            file.write(tail[cut:])
        assert absorbed(paper, state).answer == "One done."


@pytest.mark.parametrize("how", ["truncated", "replaced", "shrunk and regrown"])
def test_a_transcript_that_is_another_file_is_read_anew(paper: support.Transcript, how: str) -> None:
    paper.turn("one", "One done.", files=[ROOT + "/one.py"]).turn("two", "Two done.", files=[ROOT + "/two.py"])
    state = absorbed(paper)
    data = paper.path.read_bytes()
    if how == "truncated":
        paper.path.write_bytes(data[: data.index(b"two")].rpartition(b"\n")[0] + b"\n")
    elif how == "replaced":
        copy = paper.path.with_suffix(".new")
        copy.write_bytes(data)
        copy.replace(paper.path)
    else:
        paper.path.write_bytes(b'{"type":"mode","mode":"x"}\n' + data)
    reading = transcript.Reading(str(paper.path), state.cursor)
    assert reading.is_restart
    fresh = capture.restarted(state)
    for entry in reading.entries(always):
        absorb.absorb(fresh, [entry], (ROOT,))
    reading.close()
    assert fresh.prompts() == ["one", "two"]
    assert fresh["files"][0] == "one.py"


@pytest.mark.parametrize("has_ids", [True, False])
def test_a_replaced_transcript_tells_nothing_twice(life: Life, has_ids: bool) -> None:
    path = life.transcript.path
    said = "Step %s is done as it was planned, with every part of it in place and nothing left to do."
    life.start()
    for number, ask in enumerate(("Ask A", "go on", "Ask B", "go on"), 1):
        life.turn(ask, said % number, "%d.py" % number)
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        copy = path.with_suffix(".new")
        copy.write_bytes(b"".join(support.encode({k: e[k] for k in e if has_ids or k != "promptId"}) for e in lines))
        copy.replace(path)
    life.end()
    assert life.episode["asked"] == ["Ask A", "go on", "Ask B", "go on"]
    assert life.episode["what_was_done"] == "\n\n".join(said % number for number in range(1, 5))


def test_what_a_transcript_no_longer_tells_was_asked_before(paper: support.Transcript) -> None:
    state = absorbed(paper.turn("one", "One done.").turn("two", "Two done."))
    paper.path.unlink()
    state = absorbed(paper.turn("three", "Three done.").turn("four", "Four done."), capture.restarted(state))
    assert state.prompts() == ["one", "two", "three", "four"]


@pytest.mark.parametrize("how", ["begun anew", "cut"])
def test_what_a_transcript_no_longer_tells_was_done_all_the_same(life: Life, how: str) -> None:
    path = life.transcript.path
    said = "Step %s is done as it was planned, with every part of it in place and nothing left to do."
    life.start()
    life.turn("one", said % "one", "one.py")
    data = path.read_bytes()
    life.turn("two", said % "two", "two.py")
    path.unlink()
    if how == "cut":
        path.write_bytes(data)
    life.turn("three", said % "three", "three.py")
    life.end()
    assert life.episode["asked"] == ["one", "two", "three"]
    assert sorted(life.episode["files_changed"]) == ["one.py", "three.py", "two.py"]
    for step in ("one", "two", "three"):
        assert life.episode["what_was_done"].count(said % step) == 1
    assert life.episode["tools"]["Write"] == (
        3 if how == "begun anew" else 2
    )  # which of them are the same nobody knows


def test_damaged_and_foreign_lines_are_stepped_over(paper: support.Transcript) -> None:
    paper.prompt("one").raw(b'{"type":"user","message":\n').raw(
        b"\xff\xfe\x00\n\n[1,2]\nnull\n" + b'{"type":"assistant","message":7}\n'
    )
    paper.line({"type": "something-new", "content": "x"}).text("One done.")
    state = absorbed(paper)
    assert (state.prompts(), state.answer) == (["one"], "One done.")


def test_lines_beyond_all_reason_are_skipped(paper: support.Transcript, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness_memory.base import settings

    monkeypatch.setattr(settings, "TRANSCRIPT_LINE_MAX_BYTES", 50_000)
    monkeypatch.setattr(settings, "TRANSCRIPT_CHUNK_BYTES", 4096)
    paper.prompt("one").write(ROOT + "/big.py", "y" * 300_000).write(ROOT + "/small.py").text("One done.")
    state = absorbed(paper)
    assert state.files == ["small.py"]
    assert state.answer == "One done."
    assert state.cursor[0] == paper.path.stat().st_size


def test_a_long_result_is_known_without_decoding_it(paper: support.Transcript) -> None:
    paper.prompt("one").bash("make", "x" * 50_000, exit_code=2).bash("make all", 'y "is_error":true \n' * 5000)
    state = absorbed(paper)
    assert state.fixed == [["make", "make all"]]


def test_time_running_out_leaves_the_rest_for_next_time(paper: support.Transcript) -> None:
    for number in range(200):
        paper.turn("ask %d" % number, "ok", files=[ROOT + "/%d.py" % number])
    state = capture.Capture()
    reading = transcript.Reading(str(paper.path), state.cursor)
    answers = iter([True, False])
    for entry in reading.entries(lambda: next(answers)):
        absorb.absorb(state, [entry], (ROOT,))
    state.cursor = reading.place
    reading.close()
    assert 0 < state.cursor[0] < paper.path.stat().st_size
    assert absorbed(paper, state).files == ["%d.py" % number for number in range(200)]


def test_secrets_reach_no_file(life: Life) -> None:
    secrets = ["ghp_" + "a1B2" * 9, "sk-ant-api03-" + "Ab9_" * 20, "AKIA" + "ABCDEFGHIJKLMNOP", "hunter2hunter2"]
    github, anthropic, aws, word = secrets
    life.start()
    life.prompt("use %s to push" % github)
    life.transcript.bash("export ANTHROPIC_API_KEY=%s" % anthropic, exit_code=1).bash(
        "export ANTHROPIC_API_KEY=%s " % anthropic + "x"
    )
    life.transcript.bash("curl https://bob:%s@example.org" % word, exit_code=1).title("deploy with %s" % aws)
    life.transcript.tool_result(
        life.transcript.tool_use("TaskCreate", {"subject": "rotate %s" % aws}), "Task #1 created"
    )
    answer = "Pushed with %s and %s." % (github, aws)
    life.transcript.text(answer)
    life.stop(answer)
    (life.cwd / ".claude").mkdir()
    (life.cwd / ".claude" / "completion-checkpoint.json").write_text(
        json.dumps({"what_was_done": "set password=%s" % word, "key": anthropic}), "utf-8"
    )
    life.stop(answer)
    life.end()
    stored = support.snapshot(life.store)
    for name, data in stored.items():
        for secret in secrets:
            assert secret.encode() not in data, name
    assert any(b"[redacted:" in data for data in stored.values())


def test_the_recorded_answer_may_come_late(life: Life) -> None:
    """The client still writes when Stop fires: the hook waits a moment for it."""
    import subprocess
    import time

    life.start()
    life.prompt("one")
    env = support.clean_environment(life.home, life.session.environment(pid=life.pid))
    with subprocess.Popen(support.hook_command("stop"), stdin=subprocess.PIPE, env=env, cwd=life.cwd) as hook:
        assert hook.stdin is not None
        hook.stdin.write(support.encode(life.session.stop("One done.")))
        hook.stdin.close()
        time.sleep(0.15)
        life.transcript.write(life.cwd / "late.py").text("One done.")
        assert hook.wait(timeout=20) == 0
    assert life.episode["files_changed"] == ["late.py"]
