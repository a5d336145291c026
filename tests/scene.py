"""A home in which everything is in use, and which can be put back as it was.

Two projects; in the first sessions that ended, one that died, one that lives and has left a checkpoint and
a turn that no Stop has seen; notes in every scope, a briefing with a former version, a profile, a task, threads,
ratings, an archive, events of the guard.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import time
from pathlib import Path
from typing import Any, Optional, Tuple

import interposer
import support
from commandline import World
from interposer import Outcome, Plan
from life import Life

from harness_memory import cli
from harness_memory.setup import entries, installation, settingsfile

Saved = Tuple[int, int, Optional[bytes]]  # mode, time in ns, content (None: a directory)

IDS = {
    name: "%08x-0000-4000-8000-%012x" % (number * 0x1111111, number)
    for number, name in enumerate(("ended", "tidied", "old", "dead", "live", "next", "new", "stray"), 1)
}
CANARY = "quetzalcoatl"  # a word of the other project alone
OLD = 40 * 86400.0


class Scene:
    def __init__(self, top: Path) -> None:
        self.top = top
        self.home = top / "home"
        (self.home / ".claude").mkdir(parents=True)
        self.repo = support.make_repo(top / "shop", "git@example.org:me/shop.git")
        self.other = support.make_repo(top / "else", "git@example.org:me/else.git")
        for repo in (self.repo, self.other):
            shutil.rmtree(str(repo / ".git" / "hooks"))
        self.store = self.home / ".claude" / "memory"
        self.world = World(self.home, self.repo)
        self.clients = {name: support.Client(support.CAMPAIGN_SECONDS) for name in IDS}
        self.saved: dict[str, Saved] = {}
        build(self)
        self.save()

    def close(self) -> None:
        for client in self.clients.values():
            client.kill()

    @property
    def project(self) -> Path:
        return next(path for path in support.project_dirs(self.store) if path.name.startswith("shop"))

    def life(self, name: str, repo: Path | None = None) -> Life:
        return Life(self.home, repo or self.repo, IDS[name], pid=self.clients[name].pid)

    # Putting back
    def save(self) -> None:
        self.saved = {path: (mode, modified, _content(path, mode)) for path, mode, modified in _walk(self.top)}

    def reset(self) -> None:
        found = {path: (mode, modified) for path, mode, modified in _walk(self.top)}
        for path in sorted(found.keys() - self.saved.keys(), reverse=True):
            _remove(path, found[path][0])
        for path, (mode, modified, content) in self.saved.items():
            if found.get(path) != (mode, modified):
                _restore(path, mode, modified, content)
        for path, (_, modified, content) in self.saved.items():
            if content is None:
                os.utime(path, ns=(modified, modified))

    # Doing
    def hook(self, script: str, name: str, payload: dict[str, Any], plan: Plan | None = None) -> Outcome:
        """A hook of the session of that name."""
        life = self.life(name)
        env = support.clean_environment(self.home, life.session.environment(pid=life.pid))
        code = compile((support.HOOKS / (script + ".py")).read_bytes(), script, "exec")
        names = {"__name__": "__main__", "__file__": str(support.HOOKS / (script + ".py"))}
        return interposer.run(
            lambda: exec(code, names), plan or Plan(), stdin=support.encode(payload), env=env, cwd=payload["cwd"]
        )

    def command(self, words: tuple[str, ...], stdin: bytes = b"", plan: Plan | None = None) -> Outcome:
        """In a session, as Claude runs it; what concerns the guard by a person at a terminal."""
        is_person = words[0] != "memory"
        env = support.clean_environment(self.home, {"CLAUDE_CODE_SESSION_ID": None if is_person else IDS["live"]})

        def work() -> int:
            if is_person:
                sys.stdin.isatty = sys.stdout.isatty = lambda: True  # type: ignore[method-assign]
            return cli.main(list(words))

        return interposer.run(work, plan or Plan(), stdin=stdin, env=env, cwd=str(self.repo))

    def install(self, plan: Plan, *, out: bool = False) -> Outcome:
        """What install.py does to files, and takes back; without the proof, which is processes of their own."""
        settings_path, memory = str(self.home / ".claude" / "settings.json"), str(self.store)
        place = installation.Target(str(support.ROOT), "user", settings_path, memory)
        wanted = entries.entries(str(support.ROOT), sys.executable, [memory], str(self.home))

        def work() -> int:
            try:
                if out:
                    installation.uninstall(place, installation.plan_uninstall(place, wanted))
                else:
                    installation.install(place, wanted, sys.executable, installation.plan_install(place, wanted))
            except (settingsfile.Refused, OSError) as error:  # as install.py does
                print(error, file=sys.stderr)
                return 1
            return 0

        return interposer.run(work, plan, stdin=b"", env=support.clean_environment(self.home), cwd=str(self.home))

    def go_on(self, with_: str = "live") -> None:
        """What happens next: another session starts, the living one has its turn and ends, and so does one more."""
        self.age()
        self.expect("session_start", "next", self.life("next").session.start())
        live = self.life("live").session
        self.expect("stop", "live", live.stop("The guest cart is covered now."))
        for name in {"live", with_}:
            self.expect("session_end", name, self.life(name).session.end())

    def expect(self, script: str, name: str, payload: dict[str, Any]) -> None:
        outcome = self.hook(script, name, payload)
        assert (outcome.code, outcome.stderr) == (0, ""), outcome

    def age(self) -> None:
        """Temporary files and claims that were left become old enough for nobody to be at work on them."""
        then = time.time() - 2 * 86400
        for path in (self.home / ".claude").rglob("*"):
            if path.name.endswith((".tmp", ".lock")):
                os.utime(str(path), (then, then))
        for path in (self.repo / ".claude").glob("*.claimed"):
            stem, _, _ = path.name[: -len(".claimed")].rpartition(".")
            path.rename(path.with_name("%s.%d.claimed" % (stem, then * 1e9)))


def build(scene: Scene) -> None:
    other = Life(scene.home, scene.other, pid=scene.clients["old"].pid)
    other.start()
    other.turn("Where does %s live?" % CANARY, "The %s lives in temples, as far as anybody knows." % CANARY, "bird.py")
    other.end()
    scene.world.memory("remember", "A %s is fed at noon" % CANARY, "--topic", CANARY, cwd=scene.other)
    old = scene.life("old")
    old.start()
    old.turn("Draw the first plan", "The first plan is drawn, with two doors.", "plan.md")
    old.end()
    _make_old(old)
    say = scene.world.memory
    assert say("archive", "--before", time.strftime("%Y-%m-%d"), "--open").code == 0
    for name, what in (("ended", "Round the totals"), ("tidied", "Tidy the parser")):
        life = scene.life(name)
        life.start()
        life.turn(what, "%s: that is done, and tested in full." % what, name + ".py")
        life.transcript.prompt("And then?")
        life.end()
    _make_old(scene.life("tidied"))
    for scope, topic in (("project", "deploy"), ("project", "cart"), ("user", "style")):
        say("note", "add", topic, "%s needs care" % topic.title(), "It came up twice", "--scope", scope)
    say("note", "add", "release", "Ask Ada first", "--trigger", "command: make release")
    say("note", "add", "twice", "Cart needs care", "Tabs are four wide")
    say("note", "add", "older", "The parser is slow", "--description", "Speed of the parser")
    for page in ("# Shop\n\n- Totals are in cents\n", "# Shop\n\n- Totals are in cents\n- Deploys are on Monday\n"):
        assert say("briefing", "set", stdin=page.encode()).code == 0
    assert say("profile", "set", "melt", stdin=b"# melt\n\n- Mind the copper\n").code == 0
    assert say("task", "start", "User login", "--next", "Schema").code == 0
    assert say("rate", "melt", "4", "--note", "Fine").code == 0
    assert say("thread", "rename", IDS["ended"][:8], "Totals to the cent").code == 0
    play(scene)
    scene.clients["dead"].kill()
    folder = scene.repo / ".claude"
    folder.mkdir(exist_ok=True)
    checkpoint = {"what_was_done": "Covered the guest cart", "what_remains": ["Cover the gift cart"]}
    (folder / "completion-checkpoint.json").write_text(json.dumps(checkpoint), "utf-8")
    (scene.home / ".claude" / "settings.json").write_text('{\n  "model": "opus"  \n}\n', "utf-8")
    stray = scene.life("stray").transcript.turn("From before", "That was before any memory of it.", files=["early.py"])
    os.utime(str(stray.path), (time.time() - OLD, time.time() - OLD))
    time.sleep(1.5)  # what has just begun is told from what was there


def play(scene: Scene) -> None:
    """The session that dies with its client, and the one that lives on."""
    dead, live = scene.life("dead"), scene.life("live")
    dead.start()
    dead.turn("Count the stock", "The stock is counted by shelf, and it adds up.", "stock.py")
    time.sleep(1.1)  # starts are told apart by the second
    live.start()
    live.turn("Cover the cart", "The cart is covered with tests, forty of them.", "cart.py")
    note = ("note", "add", "here", "This branch is red", "--scope", "local")
    scene.world.memory(*note, env={"CLAUDE_CODE_SESSION_ID": IDS["live"]})
    live.run("pre_tool_use", live.session.tool_call("Bash", {"command": "git push --force origin main"}))
    live.prompt("And the guest cart?")
    live.transcript.write(scene.repo / "guest.py").write(scene.repo / ".claude" / "completion-checkpoint.json")
    live.transcript.text("The guest cart is covered now.")
    dead.transcript.prompt("Now sort it").write(scene.repo / "sorted.py").text("The stock is sorted by name now.")


def _make_old(life: Life) -> None:
    """As if the session had been forty days ago."""
    then = time.time() - OLD
    (path,) = life.store.glob("*/episodes/*-%s.json" % life.session.id[:8])
    work = life.directory
    value = json.loads(path.read_text("utf-8"))
    day, old_day = value["started"][:10], time.strftime("%Y-%m-%d", time.gmtime(then))
    for file in (path, work / "META.yaml", work / "capture.json"):
        file.write_text(file.read_text("utf-8").replace(day, old_day), "utf-8")
    name = path.name.replace(day, old_day)
    target = work.parent.parent / old_day / work.name
    target.parent.mkdir(mode=0o700, exist_ok=True)
    path.rename(path.with_name(name))
    work.rename(target)
    if not list(work.parent.iterdir()):
        work.parent.rmdir()
    for file in (path.with_name(name), *target.rglob("*")):
        os.utime(str(file), (then, then))
    World(life.home, life.cwd).memory("rebuild")


def _walk(top: Path) -> Any:
    pending = [str(top)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                info = entry.stat(follow_symlinks=False)
                yield entry.path, info.st_mode, info.st_mtime_ns
                if stat.S_ISDIR(info.st_mode):
                    pending.append(entry.path)


def _content(path: str, mode: int) -> bytes | None:
    return None if stat.S_ISDIR(mode) else Path(path).read_bytes()


def _remove(path: str, mode: int) -> None:
    if stat.S_ISDIR(mode):
        os.rmdir(path)
    else:
        os.unlink(path)


def _restore(path: str, mode: int, modified: int, content: bytes | None) -> None:
    if content is None:
        if not os.path.isdir(path):
            os.mkdir(path)
    else:
        with open(path, "wb") as file:
            file.write(content)
        os.utime(path, ns=(modified, modified))
    os.chmod(path, stat.S_IMODE(mode))
