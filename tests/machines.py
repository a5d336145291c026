"""Several machines of one person: a HOME each, clones of one project, and a bare repository between them."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import Any

import support
from commandline import World

from harness_memory.base import files

# What may differ between machines, or says who they are.
OWN = re.compile(
    r"^(\.git/|health/|sync/|guard/|triggers$)|/project\.json$|\.(lock|tmp)$|/STATE/(recall|live|used|triggers)"
    r"|rows\.cache|-told$"
)
STARTS = "2026-10-%02dT%02d:%02d:%02dZ"


class Machine(World):
    def __init__(self, top: Path, name: str) -> None:
        (top / name / ".claude" / "memory").mkdir(parents=True, mode=0o700)
        (top / name / ".claude" / "memory").chmod(0o700)
        super().__init__(top / name, support.make_repo(top / name / "shop", "git@example.org:me/shop.git"))
        (self.root / "config.json").write_text('{"retention_episodes": 100000, "retention_days": 10000}', "utf-8")
        (self.root / "config.json").chmod(0o600)
        self.remote = top / "remote.git"

    def sync(self, *words: str, code: int = 0, **options: Any) -> str:
        is_new = not (self.root / "sync" / "config.json").exists()
        result = self.memory("sync", *(["init", str(self.remote)] if is_new else words), **options)
        assert result.code == code, result
        return result.stdout + result.stderr

    def shared(self) -> dict[str, bytes]:
        """The memory but for what is this machine's own."""
        return {name: data for name, data in self.files().items() if not OWN.search(name)}

    def live(self, count: int, day: int = 1) -> None:
        """Sessions as the hooks leave them: one by the hooks, the others like it."""
        session = self.work("Count the stock of the shop", "The stock is counted, all of it.", ("stock.py",))
        texts = {path: path.read_text("utf-8") for path in self.session_dir(session).iterdir() if path.is_file()}
        texts[self.episode(session)] = self.episode(session).read_text("utf-8")
        started = json.loads(texts[self.episode(session)])["started"]
        for number in range(count - 1):
            own, start = "a" + str(uuid.uuid4())[1:], STARTS % (day, number // 3600, number // 60 % 60, number % 60)
            for path, text in texts.items():
                name = str(path).replace(session.id[:8], own[:8]).replace(started[:10], start[:10])
                name = name.replace(started.replace(":", ""), start.replace(":", ""))
                name = name.replace(started.replace(":", "")[10:], start.replace(":", "")[10:])
                text = text.replace(session.id, own).replace(session.id[:8], own[:8])
                text = text.replace(started, start).replace(started[:10], start[:10])
                files.write(name, text)
        assert self.memory("rebuild").code == 0


def settle(machines: list[Machine]) -> None:
    """Sync until nobody has anything left to do."""
    for _ in range(4):
        results = [machine.sync() for machine in machines]
        if all("nothing to do" in result for result in results):
            return
    raise AssertionError("there is always something to do")


def assert_same(machines: list[Machine]) -> None:
    first = machines[0].shared()
    for machine in machines:
        other = machine.shared()
        differing = [name for name in {*first, *other} if first.get(name) != other.get(name)]
        assert differing == [], [(name, first.get(name), other.get(name)) for name in differing]
        checked = machine.memory("verify", "--all-projects")
        assert checked.code == 0, checked.stdout
        assert machine.memory("audit", "verify").code == 0
    history = support.git(machines[0].remote, "log", "--all", "--name-only", "--format=", "main")
    assert [name for name in history.splitlines() if OWN.search(name) and not name.endswith("project.json")] == []
