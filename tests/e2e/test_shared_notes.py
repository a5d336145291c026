"""A note that one person shared is in the request of another person's session, after `git pull`."""

from __future__ import annotations

from pathlib import Path

from fake_api import say
from world import World

FACT = "Prices are kept in cents, as whole numbers"


def test_a_shared_note_reaches_another_home(world: World, binary: str, tmp_path: Path) -> None:
    project = world.project("market")
    (tmp_path / "other").mkdir()
    other = World(tmp_path / "other", binary)
    try:
        clone = other.base / "market"
        other.git(other.base, "clone", "-q", str(project), str(clone))
        for words in (("note", "add", "Prices", FACT), ("share", "prices")):
            done = world.python("harness", "memory", *words, cwd=project)
            assert done.returncode == 0, done.stdout
        world.git(project, "add", "-A")
        world.git(project, "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "Share")
        other.run(clone, "Before the pull", say("Nothing is known."))
        assert not [block for block in other.blocks("Before the pull") if FACT in block]
        other.git(clone, "pull", "-q")
        other.run(clone, "How are prices kept?", say("In cents."))
        (block, *_) = other.blocks("How are prices kept?")
        assert "- [team] prices: " + FACT in block
        assert other.failures() == []
    finally:
        other.close()
