"""Reading repositories that git itself made, and those that no git would make."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
import support

from harness_memory.base import settings
from harness_memory.project import git

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX links, pipes and modes")


def find(start: Path | str) -> git.Repository:
    repo = git.find(str(start))[1]
    assert repo is not None
    return repo


def real(path: Path) -> str:
    return os.path.realpath(str(path))


def fake_git_dir(path: Path, config: bytes = b"", head: bytes = b"ref: refs/heads/main\n") -> Path:
    path.mkdir(parents=True)
    (path / "HEAD").write_bytes(head)
    (path / "config").write_bytes(config)
    return path


# Finding ---------------------------------------------------------------------------------------
def test_the_top_is_found_from_anywhere_inside(repo: Path) -> None:
    (repo / "a" / "b").mkdir(parents=True)
    for start in (repo, repo / "a" / "b", repo / "not" / "there", repo / ".git" / "hooks"):
        at = find(start)
        assert (at.root, at.git_dir, at.common_dir) == (real(repo), real(repo / ".git"), real(repo / ".git"))
    assert git.find(os.path.join(str(repo), *["d"] * settings.PARENTS_SEARCHED))[1] is None


def test_a_worktree_shares_the_common_directory(repo: Path, tmp_path: Path) -> None:
    support.git(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    at = find(tmp_path / "tree")
    assert at.git_dir == os.path.realpath(support.git(tmp_path / "tree", "rev-parse", "--absolute-git-dir"))
    assert (at.root, at.common_dir) == (real(tmp_path / "tree"), real(repo / ".git"))
    assert (git.branch(at), git.branch(find(repo))) == ("side", "main")


def test_the_worktrees_of_a_bare_repository_are_found(repo: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    support.git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    assert git.find(str(bare))[1] is None  # a folder of files that anyone may send
    support.git(bare, "worktree", "add", "-q", str(tmp_path / "wt"), "main")
    assert find(tmp_path / "wt").common_dir == real(bare)


@posix
def test_a_link_to_a_git_directory_that_does_not_know_it_leads_nowhere(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo)
    assert find(tmp_path / "link").root == real(repo)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".git").symlink_to(repo / ".git")
    assert git.find(str(tmp_path / "other"))[1] is None
    support.git(repo, "config", "core.worktree", str(tmp_path / "other"))
    assert find(tmp_path / "other").common_dir == real(repo / ".git")


@pytest.mark.parametrize(
    "content",
    [b"", b"gitdir:", b"gitdir: .git", b"gitdir: ../../../etc", b"gitdir: /nowhere\n", b"gitdir: a\0b", b"\xff\xfe"],
)
def test_a_git_file_that_leads_nowhere_hides_the_repository_above(repo: Path, content: bytes) -> None:
    (repo / "inner").mkdir()
    (repo / "inner" / ".git").write_bytes(content)
    assert git.find(str(repo / "inner"))[1] is None


def test_a_git_directory_without_head_is_passed_over(repo: Path) -> None:
    (repo / "inner" / ".git" / "objects").mkdir(parents=True)
    assert find(repo / "inner").root == real(repo)


@posix
def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    directory = fake_git_dir(tmp_path / "r" / ".git")
    for name in ("HEAD", "config"):
        (directory / name).unlink()
        os.mkfifo(str(directory / name))
    assert (git.branch(find(tmp_path / "r")), git.origin_url(find(tmp_path / "r"))) == ("", "")


# Branch and origin -----------------------------------------------------------------------------
# In the data files bytes are written as Latin-1.
@pytest.mark.parametrize(("head", "expected"), support.rows("git/heads.jsonl"))
def test_the_branch_is_what_head_names(tmp_path: Path, head: str, expected: str) -> None:
    fake_git_dir(tmp_path / "r" / ".git", head=head.encode("latin-1"))
    assert git.branch(find(tmp_path / "r")) == expected


@pytest.mark.parametrize(("config", "expected"), support.rows("git/origins.jsonl"))
def test_the_origin_is_what_git_would_fetch_from(tmp_path: Path, config: str, expected: str) -> None:
    fake_git_dir(tmp_path / "r" / ".git", config.encode("latin-1"))
    assert git.origin_url(find(tmp_path / "r")) == expected


@pytest.mark.parametrize("code", [errno.ESTALE, errno.ENOTCONN, errno.EACCES, errno.EIO, errno.ETIMEDOUT])
def test_an_error_that_passes_makes_no_other_project_of_a_repository(
    repo: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    real = os.stat

    def fail(path: str, **options: Any) -> os.stat_result:
        if str(path).endswith(".git"):
            raise OSError(code, os.strerror(code), path)
        return real(path, **options)

    monkeypatch.setattr(os, "stat", fail)
    with pytest.raises(OSError, match=os.strerror(code)):
        git.find(str(repo))
