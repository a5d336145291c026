"""Every writer (each hook, each writing command) killed or failing at one of its file operations, and what must hold.

A scene is a home in which everything is in use, copied back before each trial. After the fault the next session starts
and the living one ends; then every record is as it was before the operation or as it is after it, nothing is damaged,
`verify` is clean and `rebuild` changes no byte.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import tarfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, NamedTuple

import full_memory
import interposer
import protocol
import support
from image import Image
from interposer import KILL, Interposer, Outcome, Plan
from life import Life, failures

from harness_memory import cli

Records = Dict[str, str]
IDS = {name: "%08x-0000-4000-8000-%012x" % (n * 0x1111111, n) for n, name in enumerate(("live", "new", "next"), 1)}

# Files that are rendered from others, or only say who is running: `verify` and `rebuild` judge those.
_DERIVED = re.compile(
    r"(^|/)(INDEX\.md|MEMORY\.md|capture\.json|injected\.json|session_memory_context\.md|current-work\.json|summary\.md"
    r"|conversation_state\.json|project\.json|(backfill|forgotten)\.json|[^/]*\.lock|\.[^/]*)$|/STATE/(recall|live|dirty|rows[^/]*)"
    r"|^health/|^guard/|triggers|LEARNING/archive/|[^/]*\.idx$"
)
_FORMER = re.compile(r"\.md\.\d$")
_HEAD = re.compile(r"\n *\"audit_head\": [^\n]*")  # a record is whole without it: the trail may be unreadable for now
# Instants, hashes and numbers of processes: two runs of one operation differ in them.
_VARYING = re.compile(r"\d{4}-\d\d-\d\d(T[\d:]+(\.\d+)?Z?)?|[0-9a-f]{12,}|\d{9,}|\"(duration_minutes|pid)\": \d+")


def records(store: Path) -> Records:
    """Every fact of a store by its path, archived ones too; a live file stands before its archived copy."""
    found: dict[str, bytes] = {}
    for path in sorted(store.glob("archive/*/*.tar*")):
        found.update({path.parent.name + "/" + name: data for name, data in _archived(path)})
    for path in sorted(store.rglob("*")):
        if path.is_file() and path.suffix not in (".gz", ".tar") and path.parts[len(store.parts)] != "archive":
            found[path.relative_to(store).as_posix()] = path.read_bytes()
    texts = {
        name: data.decode("utf-8", "backslashreplace") for name, data in found.items() if not _DERIVED.search(name)
    }
    former = [name for name in texts if _FORMER.search(name)]  # which number a former version has does not matter
    texts.update({_FORMER.sub("", name) + ": " + texts.pop(name): "" for name in former})
    return {_VARYING.sub("#", name): _VARYING.sub("#", _HEAD.sub("", text)) for name, text in texts.items()}


def _archived(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(str(path)) as archive:
            for member in archive.getmembers():
                file = archive.extractfile(member)
                yield member.name, file.read() if file else b""
    except (tarfile.TarError, OSError, EOFError):
        yield path.name, b"damaged"


class Writer(NamedTuple):
    """An operation that writes; `run` gets the scene and a plan."""

    name: str
    run: Callable[[Scene, Plan], Outcome]
    event: str = ""  # of a hook
    expected: str = ""  # the guard's decision


class Scene:
    def __init__(self, top: Path) -> None:
        self.top = top
        self.home = top / "world" / "home"
        (self.home / ".claude").mkdir(parents=True)
        (self.home / ".claude" / "settings.json").write_text('{\n  "model": "opus"  \n}\n', "utf-8")
        self.repo = support.make_repo(top / "world" / "shop", "git@example.org:me/shop.git")
        self.store = self.home / ".claude" / "memory"
        self.clients = {name: support.Client() for name in IDS}
        other = support.make_repo(top / "world" / "else", "git@example.org:me/else.git")
        elsewhere = full_memory.Memory(self.home, other)
        elsewhere.play("Feed the birds", "The birds are fed at noon, all of them.", ["birds.py"]).end()
        self.memory = full_memory.fill(self.home, self.repo, lambda place: "canary " + place)
        live = self.life("live")
        live.start()
        live.turn("Cover the cart", "The cart is covered with tests, forty of them.", "cart.py")
        live.prompt("And the guest cart?")
        live.transcript.write(self.repo / "guest.py").text("The guest cart is covered now.")
        stray = Life(self.home, self.repo, "77777777-0000-4000-8000-000000000007")
        stray.transcript.turn("From before", "That was before any memory of it.", files=["early.py"])
        os.utime(str(stray.transcript.path), (1, time.time() - 40 * 86400))
        time.sleep(1.1)  # a start and a checkpoint are ordered by the second
        self.image = Image(top / "world")
        self.other = next(path for path in support.project_dirs(self.store) if path.name.startswith("else"))
        self.elsewhere = support.snapshot(self.other)

    def close(self) -> None:
        for client in self.clients.values():
            client.kill()

    def life(self, name: str) -> Life:
        return Life(self.home, self.repo, IDS[name], pid=self.clients[name].pid)

    def run(self, action: Callable[[], Any], plan: Plan, stdin: bytes, env: dict[str, str | None]) -> Outcome:
        between, surroundings = Interposer(plan, str(self.top / "world")), support.clean_environment(self.home, env)
        return interposer.run(action, between.install, stdin=stdin, env=surroundings, cwd=str(self.repo))

    def go_on(self) -> None:
        """The next session starts, the living one answers and ends; what the dead left behind is old by then."""
        then = time.time() - 2 * 86400
        for path in (self.home / ".claude").rglob("*"):
            if path.name.endswith((".tmp", ".lock")):
                os.utime(str(path), (then, then))
        for path in (self.repo / ".claude").glob("*.claimed"):
            stem, _, _ = path.name[: -len(".claimed")].rpartition(".")
            path.rename(path.with_name("%s.%d.claimed" % (stem, then * 1e9)))
        self.life("next").start()
        live = self.life("live")
        live.stop("The guest cart is covered now.")
        live.end()


# The writers -----------------------------------------------------------------------------------------
def hook(name: str, script: str, session: str, payload: Callable[[Any], dict[str, Any]], expected: str = "") -> Writer:
    path = support.HOOKS / (script + ".py")
    code = compile(path.read_bytes(), str(path), "exec")

    def run(scene: Scene, plan: Plan) -> Outcome:
        life = scene.life(session)
        environment = life.session.environment(pid=life.pid)
        names = {"__name__": "__main__", "__file__": str(path)}
        return scene.run(lambda: exec(code, names), plan, support.encode(payload(life.session)), environment)

    return Writer(name, run, protocol.EVENTS[script], expected)


def tool(name: str, tool_name: str, fields: dict[str, str], expected: str = "") -> Writer:
    return hook(name, "pre_tool_use", "live", lambda session: session.tool_call(tool_name, fields), expected)


def command(*words: str) -> Writer:
    def run(scene: Scene, plan: Plan) -> Outcome:
        environment: dict[str, str | None] = {"CLAUDE_CODE_SESSION_ID": IDS["live"]}
        return scene.run(lambda: cli.main(["memory", *words]), plan, b"- Deploys are on Tuesday\n", environment)

    return Writer(" ".join(words), run)


HOOKS = [
    hook("start", "session_start", "new", lambda session: session.start()),
    hook("resume", "session_start", "live", lambda session: session.start("resume")),
    hook("start after compacting", "session_start", "live", lambda session: session.start("compact")),
    hook("prompt", "user_prompt_submit", "live", lambda session: session.prompt("canary ask: which totals?")),
    hook("first prompt", "user_prompt_submit", "new", lambda session: session.prompt("Which stock is counted?")),
    hook("prompt that is a skill", "user_prompt_submit", "live", lambda session: session.prompt("/deploy now")),
    hook("stop", "stop", "live", lambda session: session.stop("The guest cart is covered now.")),
    hook("before compacting", "pre_compact", "live", lambda session: session.pre_compact()),
    hook("end", "session_end", "live", lambda session: session.end()),
    hook("subagent", "subagent_start", "live", lambda session: session._payload("SubagentStart", {}, {})),
    tool("denied call", "Bash", {"command": "rm -rf ~"}, "deny"),
    tool("asked call", "Bash", {"command": "git reset --hard"}, "ask"),
    tool("skill", "Skill", {"skill": "deploy"}),
    tool("trigger", "Bash", {"command": "make deploy"}),
]
COMMANDS = [command(*words) for words in full_memory.WRITING]
WRITERS = [*HOOKS, *COMMANDS]


# Trials ----------------------------------------------------------------------------------------------
class Trial:
    """One scene, and the records in it with and without each writer's work."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        scene.go_on()
        self.before = records(scene.store)
        self._done: dict[str, tuple[Records, Outcome]] = {}

    def undisturbed(self, writer: Writer) -> tuple[Records, Outcome]:
        if writer.name not in self._done:
            self.scene.image.restore()
            outcome = writer.run(self.scene, Plan())
            assert (outcome.code, outcome.stderr) == (0, ""), (writer, outcome)
            self.scene.go_on()
            self._done[writer.name] = records(self.scene.store), outcome
        return self._done[writer.name]

    def points(self, writer: Writer, act: int) -> int:
        """At how many operations the writer can be killed, or meet this fault."""
        return sum(name in Plan(act).kinds for name, _ in self.undisturbed(writer)[1].operations)

    def run(self, writer: Writer, plan: Plan) -> list[str]:
        """What is wrong after a trial."""
        after = self.undisturbed(writer)[0]
        self.scene.image.restore()
        outcome = writer.run(self.scene, plan)
        problems: list[str] = []
        if plan.act == KILL:
            problems += [] if outcome.is_killed else ["was not killed: %r" % outcome]
        else:
            problems += manners(writer, outcome)
            for stamp in support.failures(self.scene.store):
                problems += [] if "Errno %d" % plan.act in stamp.read_text("utf-8") else [stamp.read_text("utf-8")]
                stamp.unlink()
        self.scene.go_on()
        problems += mixtures(records(self.scene.store), self.before, after)
        if support.snapshot(self.scene.other) != self.scene.elsewhere:
            problems.append("the other project has changed")
        problems += ["stamped: %s" % error for error in failures(self.scene.store)]
        return ["%s, %r: %s" % (writer.name, plan, each) for each in problems + self.complaints()]

    def complaints(self) -> list[str]:
        """What the product itself finds wrong, and what a rebuild would change."""
        memory = self.scene.memory
        checked = memory.memory("verify")
        found = ["verify: " + checked.stdout + checked.stderr] if checked.code else []
        before = memory.files()
        memory.memory("rebuild")
        after = memory.files()
        changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
        changed = [name for name in changed if not name.endswith(".lock") and "triggers" not in name]
        return found + ["rebuild changed " + name for name in changed]


def mixtures(found: Records, old: Records, new: Records) -> list[str]:
    """Records that are neither as they were nor as they were to become."""
    wrong = [name for name in sorted({*found, *old, *new}) if found.get(name) not in (old.get(name), new.get(name))]
    return [
        "%s\n%s" % (name, "\n".join(_difference(found.get(name), other.get(name))))
        for name in wrong
        for other in (old, new)
    ]


def _difference(one: str | None, other: str | None) -> list[str]:
    if one is None or other is None:
        return ["was there" if one is None else "was not there"]
    return [*difflib.unified_diff(other.splitlines(), one.splitlines(), "before", "after", lineterm="", n=0)]


def manners(writer: Writer, outcome: Outcome) -> list[str]:
    """A hook exits 0 with output the client can read, and the guard does not give way; a command explains itself."""
    if not writer.event:
        is_explained = outcome.code in (0, 1) or (outcome.code == 2 and outcome.stderr.strip())
        return [] if is_explained and "Traceback" not in outcome.stderr else [repr(outcome)]
    wrong = protocol.complaints(writer.event, outcome.stdout.encode("utf-8"))
    wrong += [repr(outcome)] if outcome.code or outcome.stderr else []
    if writer.expected and not wrong:
        own = json.loads(outcome.stdout or "{}").get("hookSpecificOutput", {})
        wrong += [] if own.get("permissionDecision") in ("ask", "deny") else ["let through: %r" % outcome]
    return wrong
