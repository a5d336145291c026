"""What the real client does with the guard's verdicts: refused, asked about, or let pass without a trace."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Iterator

import pytest
from fake_api import MAIN, SUBAGENT, Answer, Request, bash, call, say, text_of, together, write
from world import World, files_below

KEY, HOSTS = "what only the owner of the key may read", "github.com is a known host"
DELETE, PUSH, SHOW_KEY = "rm -rf ~", "git push --force origin trunk", "cat ~/.ssh/id_rsa"
# Rules as generous as anybody could write them.
ALLOW = ["Agent", "Bash", "Bash(rm *)", "Bash(git push *)", "Edit", "Grep", "Read", "Read(~/.ssh/**)", "Write"]
HOME_REFUSED = (
    "Harness guard [delete.home]: `rm -rf ~` deletes the home directory",
    "Instead: Delete named files or folders inside the project",
)
KEY_REFUSED = ("Harness guard [path.secret]: `", "reaches for private keys or credentials", "Instead: Ask the user")
PUSH_REFUSED = (
    "Harness guard [git.force-push]: `%s` rewrites a shared branch on the remote" % PUSH,
    "Instead: Push to a branch of your own, or use --force-with-lease",
    "can confirm it in this session",
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, binary: str) -> Iterator[World]:
    """A world of its own: should the guard fail, it is this home that goes."""
    made = World(tmp_path_factory.mktemp("guard"), binary)
    (made.home / ".ssh").mkdir(mode=0o700)
    (made.home / ".ssh" / "id_rsa").write_text(KEY, encoding="utf-8")
    (made.home / ".ssh" / "known_hosts").write_text(HOSTS, encoding="utf-8")
    path = made.home / ".claude" / "settings.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["permissions"]["allow"] += ALLOW
    path.write_text(json.dumps(settings), encoding="utf-8")
    try:
        yield made
    finally:
        made.close()


def project_with_remote(world: World, name: str) -> Path:
    """A project whose branch can be pushed by force only."""
    project, remote = world.project(name), world.base / (name + ".git")
    world.git(world.base, "init", "-q", "--bare", str(remote))
    world.git(project, "remote", "add", "origin", str(remote))
    world.git(project, "push", "-q", "origin", "trunk")
    world.git(project, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "--amend", "-m", "Anew")
    return project


def tips(project: Path) -> list[str]:
    """Where the branch is, here and on the remote."""
    both = (project, project.with_name(project.name + ".git"))
    return [subprocess.check_output(["git", "rev-parse", "trunk"], cwd=str(path)).decode() for path in both]


def read_key(world: World) -> list[Answer]:
    key = world.home / ".ssh" / "id_rsa"
    return [
        call("Read", file_path=str(key)),
        bash(SHOW_KEY),
        call("Grep", pattern="owner", path=str(key), output_mode="content"),
    ]


def outcomes(request: Request) -> list[str]:
    """What the calls of the newest turn came to, in their order: results come as they are ready."""
    (*_, turn) = [message for message in request.body["messages"] if message["role"] == "assistant"]
    results = {result["tool_use_id"]: result for result in request.tool_results()}
    ids = [block["id"] for block in turn["content"] if block["type"] == "tool_use"]
    return [("error: " if results[i].get("is_error") else "") + text_of(results[i]["content"]) for i in ids]


def assert_refused(outcome: str, tool: str, words: tuple[str, ...]) -> None:
    assert outcome.startswith("error: PreToolUse:%s hook error: Harness guard [" % tool)
    assert not [text for text in words if text not in outcome], outcome


def assert_key_refused(read: str, bashed: str, grepped: str) -> None:
    for outcome, tool in ((read, "Read"), (bashed, "Bash"), (grepped, "Grep")):
        assert_refused(outcome, tool, KEY_REFUSED)


def events(world: World, session: str) -> list[dict[str, Any]]:
    """The audit trail's events of a session."""
    lines = [line for path in world.memory(session).glob("SECURITY/*/*/audit.jsonl") for line in path.open("rb")]
    return [event for event in map(json.loads, lines) if event["session"] == session]


def summary(events: list[dict[str, Any]]) -> list[tuple[str, str, str, str, bool]]:
    return sorted((e["event"], e["rule"], e["tool"], e["decision"], "agent" in e) for e in events)


def assert_home_is_whole(world: World) -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in files_below(world.home / ".ssh")}
    assert kept == {"id_rsa": KEY, "known_hosts": HOSTS}


def everyday(project: Path, name: str) -> list[Answer]:
    file = project / name
    return [
        write(file, "one\n"),
        call("Edit", file_path=str(file), old_string="one", new_string="two"),
        bash("cat %s ~/.ssh/known_hosts" % name),
        bash("mkdir -p build/deep && rm -rf build && echo 'rm -rf ~; cat ~/.ssh/id_rsa'"),
    ]


def assert_undisturbed(request: Request, project: Path, name: str) -> None:
    written, edited, shown, cleaned = outcomes(request)
    assert written.startswith("File created successfully at: %s " % (project / name))
    assert edited.startswith("The file %s has been updated successfully." % (project / name))
    assert (shown, cleaned) == ("two\n" + HOSTS, "rm -rf ~; cat ~/.ssh/id_rsa")
    assert not (project / "build").exists()
    answer = request.body["messages"][-1]
    assert [block["type"] for block in answer["content"]] == ["tool_result"] * 4, "something was added"


def test_refusals_reach_the_model_its_subagents_and_the_audit_trail(world: World) -> None:
    project = project_with_remote(world, "refused")
    before = tips(project)
    prompt, errand = "Try everything there is", "Try to find the key"
    world.api.play(errand, together(*read_key(world)), say("There is none."))
    agent = call("Agent", description="Find it", prompt=errand, subagent_type="general-purpose")
    tried = together(bash(DELETE), bash(PUSH), *read_key(world), agent)
    done = "Nothing of it was done."
    answers = (together(*everyday(project, "plain.txt")), tried, say(done), say(done))  # again after the subagent
    ended = world.run(project, prompt, *answers, tools=("Grep",))
    assert (ended.code, ended.errors) == (0, "")
    harmless, refused = world.api.requests(prompt, MAIN)[1:3]
    assert_undisturbed(harmless, project, "plain.txt")
    deletion, push, *keys = outcomes(refused)[:5]
    assert_refused(deletion, "Bash", HOME_REFUSED)
    assert_refused(push, "Bash", PUSH_REFUSED)
    assert tips(project) == before
    assert_home_is_whole(world)
    (inside,) = world.api.requests(errand, SUBAGENT)[1:]
    assert_key_refused(*keys)
    assert_key_refused(*outcomes(inside))
    assert not [request for request in world.api.requests() if KEY in json.dumps(request.body)]
    secret = [
        ("path_access_denied", "path.secret", tool, "deny", is_agent)
        for tool in ("Bash", "Grep", "Read")
        for is_agent in (False, True)
    ]
    blocked = [("tool_blocked", rule, "Bash", "deny", False) for rule in ("delete.home", "git.force-push")]
    assert summary(events(world, ended.session)) == [*secret, *blocked]
    result = world.python("harness", "memory", "audit", "verify", cwd=project)
    assert result.returncode == 0, result.stdout


def test_bypassing_permissions_lifts_no_refusal(world: World) -> None:
    project = world.project("bypassed")
    tried = together(bash(DELETE), bash(PUSH), *read_key(world))
    # For root the client bypasses nothing without the word that this is a sandbox.
    how: dict[str, Any] = {"options": ("--permission-mode", "bypassPermissions"), "env": {"IS_SANDBOX": "1"}}
    session = world.run(project, "Work without permissions", tried, say("Done."), tools=("Grep",), **how).session
    _, last = world.api.requests("Work without permissions", MAIN)
    deletion, push, *keys = outcomes(last)
    assert_refused(deletion, "Bash", HOME_REFUSED)
    assert_refused(push, "Bash", PUSH_REFUSED)
    assert_key_refused(*keys)
    assert_home_is_whole(world)
    assert len(events(world, session)) == 5


def test_terminal_asks_about_a_forced_push_and_obeys_the_answer(world: World) -> None:
    project = project_with_remote(world, "asked")
    here, there = tips(project)
    session, terminal = world.terminal(project)
    terminal.see("auto mode on")

    def ask(prompt: str) -> None:
        world.api.play(prompt, together(bash(DELETE), bash(PUSH)), say("It is pushed."))
        terminal.submit(prompt)
        terminal.see_now(PUSH_REFUSED[0])
        terminal.see_now("Do you want to proceed? ❯ 1. Yes 2. No")

    ask("Push it if no one minds")
    terminal.answer("2", lambda: "interrupted by user" in world.transcript(session), "No is heard")
    assert tips(project) == [here, there]
    ask("Push it, it is agreed")
    terminal.answer("1", lambda: len(world.api.requests("Push it, it is agreed")) == 2, "Yes is heard")
    assert tips(project) == [here, here]
    deletion, push = outcomes(world.api.requests("Push it, it is agreed")[-1])
    assert_refused(deletion, "Bash", HOME_REFUSED)
    assert "(forced update)" in push
    asked = [("confirm_prompted", "git.force-push", "Bash", "ask", False)] * 2
    assert summary(events(world, session)) == [*asked, *[("tool_blocked", "delete.home", "Bash", "deny", False)] * 2]
