"""Which directories share a memory and which must not, on repositories made, moved and replaced for real."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World
from life import Life

from harness_memory.project import identity as project

NOW = "2026-11-16T06:00:00Z"
LATER = "2026-11-17T06:00:00Z"
HTTPS = "https://token@github.com/Org/My.Repo.git"
SSH = "git@github.com:Org/My.Repo"


class Sessions:
    """Starts sessions: locate and record, as SessionStart does."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def see(self, cwd: Path | str, launch_dir: Path | str = "") -> project.Project:
        return project.locate(str(self.root), str(launch_dir), str(cwd))

    def start(self, cwd: Path | str, now: str = NOW) -> str:
        """The id of the memory; the rest of the session has to find the same one."""
        found = self.see(cwd)
        project.record(found, now)
        assert self.see(cwd).id == found.id
        return found.id

    def facts(self, id: str) -> dict[str, Any]:
        value = json.loads((self.root / id / "project.json").read_bytes().decode("utf-8"))
        assert isinstance(value, dict)
        return value


@pytest.fixture
def sessions(store_root: Path) -> Sessions:
    return Sessions(store_root)


def plain(path: Path, *names: str) -> Path:
    path.mkdir(parents=True)
    for number, name in enumerate(names):
        (path / name).write_text(name)
        # A time no archive would restore, and no file system rounds up to a whole millisecond.
        stamp = 1_700_000_000_000_000_000 + number * 1_000_000_000 + 123_456_700
        os.utime(str(path / name), ns=(stamp, stamp))
    return path


def bare_init(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    support.git(path, "init", "-q")
    return path


def test_a_project_is_named_by_its_remote(repo: Path, sessions: Sessions) -> None:
    support.git(repo, "remote", "add", "origin", HTTPS)
    (repo / "sub").mkdir()
    found = sessions.see(repo / "sub")
    assert found.id == project.project_id("remote:github.com/org/my.repo")
    assert found.dir == str(sessions.root / found.id)
    assert (found.name, found.remote, found.branch) == ("my-repo", "github.com/org/my.repo", "main")
    assert found.root == os.path.realpath(str(repo))
    assert found.repo is not None
    assert not sessions.root.exists()


@pytest.mark.parametrize(("identity", "slug"), support.rows("identity/slugs.jsonl"))
def test_an_id_is_a_slug_and_a_hash(identity: str, slug: str) -> None:
    id = project.project_id(identity)
    assert id.rpartition("-")[0] == slug
    assert project.is_project_id(id)
    assert project.project_id("remote:github.com/org/repo") == "repo-14b1f9c8cd69"  # in every version


@pytest.mark.parametrize(
    "value", [None, 1, "", "x", "x-", "-0123456789ab", "x-0123456789AB", "../x-0123456789ab", "x-0123456789ab\n"]
)
def test_other_names_are_not_ids(value: object) -> None:
    assert not project.is_project_id(value)


CLAIMS = json.loads((support.ROOT / "tests" / "data" / "identity" / "claims.json").read_text("utf-8"))


@pytest.mark.parametrize("remote", [None, HTTPS])
@pytest.mark.parametrize("kind", CLAIMS)
def test_a_directory_that_only_names_a_repository_does_not_share_with_it(
    repo: Path, tmp_path: Path, sessions: Sessions, kind: str, remote: str | None
) -> None:
    if remote:
        support.git(repo, "remote", "add", "origin", remote)
    id = sessions.start(repo)
    other = plain(tmp_path / "other")
    for name, text in CLAIMS[kind]:
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text(text)
    if "link" in kind:
        if os.name == "nt":
            pytest.skip("symbolic links need a privilege")
        name = ".git" if kind == "link" else ".git/config"
        (other / name).symlink_to(repo / name)
    assert repo.name == "project"
    theirs = sessions.start(other)
    assert theirs != id
    assert (sessions.start(plain(other / "sub" / "folder"), LATER) == theirs) == (kind != "bare")  # that has no `.git`
    assert (sessions.start(repo, LATER), sessions.start(other, LATER)) == (id, theirs)
    repo.rename(tmp_path / "moved")
    if kind == "link":
        (other / ".git").unlink()
        (other / ".git").symlink_to(tmp_path / "moved" / ".git")
    assert sessions.start(other, LATER) != id


def test_a_folder_with_its_git_directory_elsewhere_is_one_project(tmp_path: Path, sessions: Sessions) -> None:
    top = plain(tmp_path / "top")
    support.git(top, "init", "-q", "--separate-git-dir", str(tmp_path / "elsewhere"))
    support.git(top, "remote", "add", "origin", HTTPS)
    id = sessions.start(plain(top / "sub" / "folder"))
    assert id == sessions.start(top) == project.project_id("dir:" + os.path.realpath(str(top)))
    assert [sessions.facts(id)[key] for key in ("remotes", "commits")] == [[], []]


def stranger(path: Path, url: str = HTTPS) -> Path:
    """Another repository that names the same remote."""
    made = bare_init(path)
    support.git(made, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", str(path))
    support.git(made, "remote", "add", "origin", url)
    return made


def test_a_remote_alone_opens_no_memory(repo: Path, tmp_path: Path, sessions: Sessions) -> None:
    support.git(repo, "remote", "add", "origin", HTTPS)
    mine = sessions.start(repo)
    for url in (HTTPS, SSH, "git@evil.example:x@github.com:Org/My.Repo"):
        theirs = sessions.start(stranger(tmp_path / str(abs(hash(url))), url))
        assert theirs != mine
    shutil.rmtree(str(repo))  # a path that is gone proves nothing either
    assert sessions.start(stranger(tmp_path / "later")) != mine


@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize("kind", ["clone", "shallow", "worktree", "renamed", "reclone", "bare"])
def test_checkouts_with_a_common_history_share(
    repo: Path, tmp_path: Path, sessions: Sessions, kind: str, is_gone: bool
) -> None:
    support.git(repo, "repack", "-q", "-a", "-d")
    origin, other = tmp_path / "origin.git", tmp_path / "other"
    support.git(tmp_path, "clone", "-q", "--bare", str(repo), str(origin))
    support.git(repo, "remote", "add", "origin", str(origin))
    support.git(repo, "fetch", "-q", "origin")
    support.git(origin, "gc", "-q")
    mine = sessions.start(repo)
    support.git(repo, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "unpushed")
    options = {"shallow": ["--depth", "1", "file://" + str(origin)]}
    if kind == "worktree":
        support.git(repo, "worktree", "add", "-q", str(other))
    elif kind == "renamed":
        repo.rename(other)
    else:
        support.git(tmp_path, "clone", "-q", *options.get(kind, [str(origin)]), str(other))
        support.git(other, "remote", "set-url", "origin", str(origin))
    if is_gone and kind not in ("worktree", "renamed"):
        shutil.rmtree(str(repo))
    assert sessions.start(other, LATER) == mine


def test_a_folder_that_borrows_objects_does_not_share(repo: Path, tmp_path: Path, sessions: Sessions) -> None:
    if os.name == "nt":
        pytest.skip("symbolic links need a privilege")
    support.git(repo, "remote", "add", "origin", HTTPS)
    mine = sessions.start(repo)
    head = support.git(repo, "rev-parse", "HEAD")
    for kind in ("refs", "name", "index", "alternates", "objects", "loose"):
        other = stranger(tmp_path / kind)
        if kind == "refs":
            (other / ".git/packed-refs").write_text("%s refs/heads/x\n" % head)
        elif kind == "name":  # of another commit
            (other / ".git/objects" / head[:2]).mkdir(exist_ok=True)
            (other / ".git/objects" / head[:2] / head[2:]).write_bytes(zlib.compress(b"commit 4\0tree"))
        elif kind == "index":  # the id, a checksum and the place of a commit that is another
            sums = bytes(4) * int(head[:2], 16) + b"\0\0\0\1" * (256 - int(head[:2], 16))
            (other / ".git/objects/pack/x.idx").write_bytes(b"\377tOc\0\0\0\2" + sums + bytes.fromhex(head) + bytes(8))
            (other / ".git/objects/pack/x.pack").write_bytes(b"\x14" + zlib.compress(b"tree"))
        elif kind == "alternates":
            (other / ".git/objects/info/alternates").write_text(str(repo / ".git/objects") + "\n")
        elif kind == "objects":
            shutil.rmtree(str(other / ".git/objects"))
            (other / ".git/objects").symlink_to(repo / ".git/objects")
        else:
            for path in (repo / ".git/objects").glob("??"):
                shutil.rmtree(str(other / ".git/objects" / path.name), ignore_errors=True)
                (other / ".git/objects" / path.name).symlink_to(path)
        assert sessions.start(other) != mine


def test_a_person_joins_a_folder_with_one_command(world: World, tmp_path: Path) -> None:
    support.git(world.repo, "remote", "add", "origin", HTTPS)
    world.work("Round the totals", "The totals are rounded once, at the end.", ("cart.py",))
    other = World(world.home, stranger(tmp_path / "other"))
    life = Life(world.home, other.repo)
    started = life.start()
    assert "rounded" not in started.stdout
    assert "adopt" in started.json["systemMessage"]
    life.turn("Weigh the parcels", "The parcels are weighed twice, on two scales.", "p.py")
    life.end()
    assert "systemMessage" not in Life(world.home, other.repo).start().json
    assert other.memory("adopt", env={"CLAUDECODE": "1"}).code == 2  # not for the model
    assert other.memory("adopt").code == 0
    assert "rounded once" in other.memory("list").stdout
    assert "weighed twice" in other.memory("search", "weighed", "--all-projects").stdout
    assert other.memory("adopt").code == 2


def test_a_session_acts_on_its_own_project_wherever_its_shell_went(world: World, life: Life, tmp_path: Path) -> None:
    elsewhere, evil = plain(tmp_path / "elsewhere", "a"), tmp_path / "evil"
    life.start()
    evil.mkdir()
    os.symlink(str(life.project), str(evil / life.project.name))  # a settings file of the project may name `evil`
    env = {**dict.fromkeys(("HARNESS_MEMORY_HOME", "CLAUDE_CONFIG_DIR"), str(evil)), "HARNESS_MEMORY": "off"}
    without_hooks = {**env, "CLAUDE_CODE_SESSION_ID": life.another().session.id}
    assert "a terminal of your own" in world.memory("list", env=without_hooks).stderr
    env["CLAUDE_CODE_SESSION_ID"] = life.session.id
    assert world.memory("remember", "Parcels are weighed twice", env=env, cwd=elsewhere).code == 0
    assert world.memory("task", "start", "Weigh them", env=env, cwd=elsewhere).code == 0
    assert "weighed twice" in world.memory("list", "--notes").stdout
    assert "Weigh them" in world.memory("open").stdout
    assert len(support.project_dirs(world.root)) == 1


def test_a_memory_under_the_name_as_written_is_found(repo: Path, sessions: Sessions) -> None:
    support.git(repo, "remote", "add", "origin", HTTPS)
    old = project.project_id("remote:github.com/Org/My.Repo")
    facts = {"schema": 1, "id": old, "identities": ["remote:github.com/Org/My.Repo"]}
    facts.update(remotes=["github.com/Org/My.Repo"], paths=[os.path.realpath(str(repo))])
    (sessions.root / old).mkdir(parents=True)
    (sessions.root / old / "project.json").write_text(json.dumps(facts))
    assert sessions.start(repo) == old
    support.git(repo, "remote", "set-url", "origin", HTTPS.lower())
    assert sessions.start(repo) == old


def test_forks_submodules_and_neighbours_are_projects_of_their_own(
    repo: Path, tmp_path: Path, sessions: Sessions
) -> None:
    inner = support.make_repo(tmp_path / "inner")
    support.git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    fork = tmp_path / "fork"
    support.git(repo, "remote", "add", "origin", HTTPS)
    shutil.copytree(str(repo), str(fork))
    support.git(fork, "remote", "set-url", "origin", "git@github.com:me/My.Repo")
    plain(tmp_path / "a" / "b")
    paths = [repo, repo / "sub", fork, inner, plain(tmp_path / "b"), tmp_path / "a", tmp_path / "a" / "b"]
    assert len({sessions.start(path) for path in paths}) == len(paths)


def test_a_project_that_gains_a_remote_keeps_its_memory(repo: Path, tmp_path: Path, sessions: Sessions) -> None:
    before = sessions.start(repo)
    support.git(repo, "remote", "add", "origin", HTTPS)
    assert sessions.see(repo).id == before
    assert sessions.start(repo, LATER) == before
    clone = support.make_repo(tmp_path / "clone", SSH)
    assert sessions.start(clone) == before
    facts = sessions.facts(before)
    assert [identity.partition(":")[0] for identity in facts["identities"]] == ["git", "remote"]
    assert facts["remotes"] == ["github.com/org/my.repo"]
    assert facts["paths"] == [os.path.realpath(str(path)) for path in (repo, clone)]
    alias = sessions.facts(project.project_id("remote:github.com/org/my.repo"))
    assert alias["alias_of"] == before
    support.git(repo, "remote", "remove", "origin")
    assert sessions.start(repo) == before
    support.git(repo, "remote", "add", "origin", "https://github.com/someone/else")
    assert sessions.start(repo) != before


@pytest.mark.parametrize("remote", ["", HTTPS])
def test_a_directory_that_becomes_a_repository_keeps_its_memory(
    tmp_path: Path, sessions: Sessions, remote: str
) -> None:
    names = ("a", "b", "c")
    place = plain(tmp_path / "app", *names)
    before = sessions.start(place)
    for name in names[:-1]:
        (place / name).write_text("edited since")
    support.make_repo(place, remote)
    assert sessions.see(place).id == before
    assert sessions.start(place, LATER) == before
    if not remote:
        support.git(place, "remote", "add", "origin", HTTPS)
        assert sessions.start(place) == before


def test_an_empty_directory_that_becomes_a_repository_starts_a_new_memory(tmp_path: Path, sessions: Sessions) -> None:
    place = plain(tmp_path / "app")
    before = sessions.start(place)
    assert sessions.start(support.make_repo(place)) != before


def test_a_clone_over_a_deleted_directory_starts_a_new_memory(repo: Path, tmp_path: Path, sessions: Sessions) -> None:
    place = plain(tmp_path / "app", "a", "b", "c")
    before = sessions.start(place)
    shutil.rmtree(str(place))
    support.git(tmp_path, "clone", "-q", str(repo), "app")
    assert sessions.start(place) != before


def test_a_moved_project_keeps_its_memory(repo: Path, tmp_path: Path, sessions: Sessions) -> None:
    notes = plain(tmp_path / "notes", "a", "b", "c", "d", "e")
    before = sessions.start(notes)
    (notes / "a").write_text("edited since")
    assert sessions.start(notes.rename(tmp_path / "moved notes")) == before
    before = sessions.start(repo)
    place = repo
    for name in ("second", "third", "project"):
        place = place.rename(tmp_path / name)
        assert sessions.start(place, LATER) == before
    assert [os.path.basename(path) for path in sessions.facts(before)["paths"]] == ["second", "third", "project"]


def template_of(kind: str, path: Path) -> Path:
    """What projects are made from, by copying it with all its times."""
    if kind == "folder":
        return plain(path, "Makefile", "LICENSE", ".editorconfig")
    made = bare_init(path)
    if kind == "git-without-description":
        (made / ".git" / "description").unlink()
    return made


@pytest.mark.parametrize("kind", ["folder", "git", "git-without-description"])
def test_copies_made_before_and_after_a_session_are_separate(tmp_path: Path, sessions: Sessions, kind: str) -> None:
    one = template_of(kind, tmp_path / "one")
    copies = [tmp_path / ("copy-%d" % number) for number in range(3)]
    shutil.copytree(str(one), str(copies[0]))
    first = sessions.start(one)
    shutil.copytree(str(one), str(copies[1]))
    seen = {first, sessions.start(copies[1])}
    moved = one.rename(tmp_path / "moved")
    shutil.copytree(str(moved), str(copies[2]))
    seen.update(sessions.start(copy) for copy in (copies[0], copies[2]))
    assert len(seen) == 4
    assert sessions.start(moved) == first


@pytest.mark.parametrize("old_remote", ["", HTTPS])
@pytest.mark.parametrize("new_remote", ["", "https://github.com/someone/else"])
def test_another_repository_at_the_path_gets_a_memory_of_its_own(
    repo: Path, sessions: Sessions, old_remote: str, new_remote: str
) -> None:
    before = sessions.start(repo)
    if old_remote:
        support.git(repo, "remote", "add", "origin", old_remote)
        assert sessions.start(repo) == before
    shutil.rmtree(str(repo))
    after = sessions.start(support.make_repo(repo, new_remote))
    assert after != before
    assert sessions.start(repo, LATER) == after
    assert before not in (sessions.start(repo), sessions.see(repo / "sub").id)


def test_the_launch_directory_decides(repo: Path, tmp_path: Path, sessions: Sessions) -> None:
    other = plain(tmp_path / "other")
    (repo / "sub").mkdir()
    home = sessions.see(repo).id
    assert [sessions.see(other, launched).id for launched in (repo, repo / "sub")] == [home, home]
    assert [sessions.see(repo, launched).id for launched in ("relative", tmp_path / "gone")] == [home, home]
    assert sessions.see(repo / "sub" / "deleted").id == home
    assert sessions.see(repo, other).id != home


ODD = ["", "relative/path", "/nowhere/at all", "/a\0b", "/" + "x" * 5000, "\ud800", "/\udcff", "../../..", "\\\\x\\y"]


@pytest.mark.parametrize("launch_dir", ODD)
@pytest.mark.parametrize("cwd", ODD)
def test_any_path_is_some_project(sessions: Sessions, launch_dir: str, cwd: str) -> None:
    found = sessions.see(cwd, launch_dir)
    assert project.is_project_id(found.id)
    assert os.path.isabs(found.root)
    assert not sessions.root.exists()


DAMAGED = [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"schema": 2, "new": true}', b"[" * 100_000]


@pytest.mark.parametrize("content", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_or_newer_record_is_left_alone(repo: Path, sessions: Sessions, content: bytes) -> None:
    id = sessions.start(repo)
    path = sessions.root / id / "project.json"
    path.write_bytes(content)
    assert sessions.start(repo, LATER) == id
    assert path.read_bytes() == content
    support.git(repo, "remote", "add", "origin", HTTPS)
    assert sessions.start(repo) != id  # what cannot be read proves nothing
