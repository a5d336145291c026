"""Reading repositories made by git itself, configurations in every spelling, and remotes both ways."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import support

from harness_memory.base import settings
from harness_memory.project import git, remote


def found(start: Path | str) -> git.Repository:
    repo = git.find(str(start))
    assert repo is not None
    return repo


def real(path: Path) -> str:
    return os.path.realpath(str(path))


def fake_git_dir(path: Path, config: bytes = b"", head: bytes = b"ref: refs/heads/main\n") -> Path:
    path.mkdir(parents=True)
    (path / "HEAD").write_bytes(head)
    (path / "config").write_bytes(config)
    return path


def origin_of(tmp_path: Path, config: bytes) -> str:
    fake_git_dir(tmp_path / "r" / ".git", config)
    return git.origin_url(found(tmp_path / "r"))


# Finding -----------------------------------------------------------------------------------------


def test_finds_the_top_from_anywhere_inside(repo: Path) -> None:
    deep = repo / "a" / "b"
    deep.mkdir(parents=True)
    for start in (repo, deep, repo / "not" / "there", repo / ".git", repo / ".git" / "hooks"):
        at = found(start)
        assert (at.root, at.git_dir, at.common_dir) == (real(repo), real(repo / ".git"), real(repo / ".git"))


def test_agrees_with_git_on_worktrees(repo: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    support.git(repo, "worktree", "add", "-q", "-b", "side", str(tree))
    at = found(tree)
    assert at.root == real(tree)
    assert at.git_dir == os.path.realpath(support.git(tree, "rev-parse", "--absolute-git-dir"))
    assert at.common_dir == real(repo / ".git")
    assert git.branch(at) == "side"
    assert git.branch(found(repo)) == "main"


def test_agrees_with_git_on_submodules(repo: Path, tmp_path: Path) -> None:
    inner = support.make_repo(tmp_path / "inner")
    support.git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    at = found(repo / "sub")
    assert at.root == real(repo / "sub")
    assert at.common_dir == at.git_dir == real(repo / ".git" / "modules" / "sub")
    assert git.origin_url(at) == str(inner)


def test_bare_repository_and_its_worktrees(repo: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    support.git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    for start in (bare, bare / "refs" / "heads"):
        assert (found(start).root, found(start).common_dir) == (real(bare), real(bare))
    support.git(bare, "worktree", "add", "-q", str(tmp_path / "wt"), "main")
    assert found(tmp_path / "wt").common_dir == real(bare)


def test_a_git_file_may_name_a_relative_directory(tmp_path: Path) -> None:
    fake_git_dir(tmp_path / "p" / ".bare")
    (tmp_path / "p" / ".git").write_text("gitdir: ./.bare\r\n")
    assert found(tmp_path / "p").git_dir == real(tmp_path / "p" / ".bare")


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")
def test_follows_links_to_the_real_place(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo)
    assert found(tmp_path / "link").root == real(repo)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".git").symlink_to(repo / ".git")
    assert found(tmp_path / "other").common_dir == os.path.join(real(tmp_path / "other"), ".git")
    support.git(repo, "config", "core.worktree", str(tmp_path / "other"))
    assert found(tmp_path / "other").common_dir == real(repo / ".git")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    git.find(str(tmp_path / "loop"))


NO_REPOSITORY = [
    b"",
    b"gitdir:",
    b"gitdir: .git",
    b"gitdir: .",
    b"gitdir: ../../../../../../etc",
    b"gitdir: /nowhere/at/all\n",
    b"gitdir: a\0b",
    b"nonsense \xff\xfe",
    b"gitdir: " + b"x/" * 100_000,
]


@pytest.mark.parametrize("content", NO_REPOSITORY, ids=range(len(NO_REPOSITORY)))
def test_a_git_file_leading_nowhere_hides_the_repository_above(repo: Path, content: bytes) -> None:
    (repo / "inner").mkdir()
    (repo / "inner" / ".git").write_bytes(content)
    assert git.find(str(repo / "inner")) is None


def test_a_directory_without_head_is_passed_over(repo: Path) -> None:
    (repo / "inner" / ".git" / "objects").mkdir(parents=True)
    assert found(repo / "inner").root == real(repo)


def test_files_pointing_at_each_other_end(tmp_path: Path) -> None:
    for one, other in (("a", "b"), ("b", "a")):
        (tmp_path / one).mkdir()
        (tmp_path / one / ".git").write_text("gitdir: ../%s/.git" % other)
    assert git.find(str(tmp_path / "a")) is None
    loop = fake_git_dir(tmp_path / "c" / ".git")
    (loop / "commondir").write_text(".")
    assert found(tmp_path / "c").common_dir == real(loop)
    (loop / "commondir").write_bytes(b"../gone\n")
    assert git.find(str(tmp_path / "c")) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    directory = fake_git_dir(tmp_path / "r" / ".git")
    for name in ("HEAD", "config"):
        (directory / name).unlink()
        os.mkfifo(str(directory / name))
    assert (git.branch(found(tmp_path / "r")), git.origin_url(found(tmp_path / "r"))) == ("", "")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX file modes")
def test_a_git_directory_closed_to_us_is_no_repository(repo: Path) -> None:
    inner = support.make_repo(repo / "inner")
    code = "import sys; sys.path.insert(0, %r); from harness_memory.project import git; print(git.find(%r))"
    command = [*support.bound_by_modes(), sys.executable, "-c", code % (str(support.LIB), str(inner))]
    (inner / ".git").chmod(0)
    try:
        assert subprocess.check_output(command).strip() == b"None"
    finally:
        (inner / ".git").chmod(0o700)


@pytest.mark.parametrize("start", ["", "relative", "/nowhere\0/x", "/" + "x" * 5000, "/a" * 3000, "\ud800"])
def test_odd_starts_raise_nothing(start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert git.find(start) is None


def test_the_way_up_is_bounded(repo: Path) -> None:
    assert git.find(os.path.join(str(repo), *["d"] * (settings.PARENTS_SEARCHED - 1))) is not None
    assert git.find(os.path.join(str(repo), *["d"] * settings.PARENTS_SEARCHED)) is None


# Branch ------------------------------------------------------------------------------------------


def test_branch_as_git_leaves_it(repo: Path) -> None:
    support.git(repo, "checkout", "-q", "-b", "feature/ünï")
    assert git.branch(found(repo)) == "feature/ünï"
    support.git(repo, "checkout", "-q", "--detach")
    assert git.branch(found(repo)) == "detached@" + support.git(repo, "rev-parse", "HEAD")[:12]


HEADS = [
    (b"ref: refs/heads/main", "main"),
    (b"ref:refs/heads/x/y\r\n", "x/y"),
    (b"ref: refs/remotes/origin/x\n", "refs/remotes/origin/x"),
    (b"ref: refs/heads/a\x1b[31m\xe2\x80\xae\x00b\n", "a[31mb"),
    (b"ref: refs/heads/" + b"x" * 500, "x" * 200),
    (b"ref: refs/heads/.invalid\n", ""),
    (b"A" * 40, "detached@" + "a" * 12),
    (b"ab" * 32 + b"\n", "detached@" + "ab" * 6),
    (b"abc\n", ""),
    (b"", ""),
    (b"\xff\xfe\x00", ""),
]


@pytest.mark.parametrize(("head", "expected"), HEADS)
def test_branch_of_a_head(tmp_path: Path, head: bytes, expected: str) -> None:
    fake_git_dir(tmp_path / "r" / ".git", head=head)
    assert git.branch(found(tmp_path / "r")) == expected


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege")
def test_branch_of_a_head_that_is_a_link(tmp_path: Path) -> None:
    directory = fake_git_dir(tmp_path / "r" / ".git")
    (directory / "HEAD").unlink()
    (directory / "HEAD").symlink_to("refs/heads/old-style")
    assert git.branch(found(tmp_path / "r")) == "old-style"


# Origin ------------------------------------------------------------------------------------------

CONFIGS = [
    b'[remote "origin"]\n\turl = u\n',
    b'[remote "origin"]\nurl=u',
    b'[REMOTE "origin"] URL = u',
    b"[remote.origin]\n url = u\n",
    b'[core] [remote "origin"] url = u\n',
    b'[core]\nx = [remote\ny = \xc4\xb0\xff[remote "origin"]\n[branch "b"]\n\tremote = o\n[Remote "origin"]\nurl=u',
    b'[core]\n\tx = 1\n [core] [remote "origin"]\n\turl = u\n',
    b"\xef\xbb\xbf[remote.ORIGIN]\r\n\turl = u\r\n",
    b'[remote   "ori\\gin"] # why\n\turl = "u" ; because\n',
    b'[remote "origin"]\n\tfetch = +refs/*:refs/*\n\turl = \\\n  u\n',
    b'[remote "origin"]\n\turl = u\n\turl = second\n',
    b'[remote "origin"]\n\turl = u\n[core]\n\tbare = false\n[remote "origin"]\n\turl = second\n',
    b'[remote "upstream"]\n\turl = other\n[remote "origin"]\n\tpushurl = p\n\turl = u\n',
    b'[core]\n\tx = a \\\n[remote "origin"]\n[remote "origin"]\n\turl = u\n',
    b'[core]\n\tx = "y # \\" "\n# [remote "origin"]\n[remote "origin"]\n\turl = u\n',
]


@pytest.mark.parametrize("config", CONFIGS)
def test_origin_in_every_spelling_agrees_with_git(tmp_path: Path, config: bytes) -> None:
    assert origin_of(tmp_path, config) == "u"
    path = tmp_path / "r" / ".git" / "config"
    listed = support.git(tmp_path, "config", "-f", str(path), "--get-all", "remote.origin.url")
    assert listed.split("\n")[0] == "u"


VALUES = [
    (b"a b  c ", "a b  c"),
    (b'"  spaced  " ', "  spaced  "),
    (b'a"#;"b # c', "a#;b"),
    (b"a;b", "a"),
    ("/srv/ünï\u3000/日本".encode(), "/srv/ünï\u3000/日本"),
    (b"/srv/\xe9", "/srv/\udce9"),
    (b'x\\\\y\\"z', 'x\\y"z'),
    (b"C:\\repos\\x", "C:\\repos\\x"),
    (b"", ""),
]


@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_origin_values(tmp_path: Path, value: bytes, expected: str) -> None:
    assert origin_of(tmp_path, b'[remote "origin"]\n\turl = ' + value + b"\n") == expected


NO_ORIGIN = [
    b"",
    b'[remote "Origin"]\n\turl = x\n',
    b'[remote "upstream"]\n\turl = x\n',
    b'[remote]\n\turl = x\n[remote.x "origin"]\n\turl = x\n',
    b'[remote "origin"]\n\tpushurl = x\n\turls = x\n\turl\n',
    b'# [remote "origin"]\n\turl = x\n',
    b'[remote "origin"\n\turl = x\n',
    b'[remote "origin\n\turl = x\n',
    b'[branch "x"]\n\tdescription = a \\\n[remote "origin"] \\\nurl = x\n',
    b'[remote "origin"]\n\turl = x\n\turl =\n',
    b'[include]\n\tpath = other\n[remote "o"]\n',
    b"[remote",
    b'[core]\n\tx = [remote "origin"] url = x\n',
    b"[[[[remote]]]] = = = \\",
    b"\0" * 1000 + b"[remote\0",
]


@pytest.mark.parametrize("config", NO_ORIGIN)
def test_configurations_without_origin(tmp_path: Path, config: bytes) -> None:
    assert origin_of(tmp_path, config) == ""


def test_origin_of_a_worktree_configuration(repo: Path) -> None:
    (repo / ".git" / "config.worktree").write_text('[remote "origin"]\n\turl = w\n')
    assert git.origin_url(found(repo)) == "w"
    support.git(repo, "remote", "add", "origin", "c")
    assert git.origin_url(found(repo)) == "c"


def test_a_huge_configuration_is_read_in_part(tmp_path: Path) -> None:
    filler = b'[branch "b"]\n\tmerge = refs/heads/b\n' * 300_000
    assert len(filler) > 10_000_000
    assert origin_of(tmp_path, b'[remote "origin"]\n\turl = u\n' + filler) == "u"
    config = tmp_path / "r" / ".git" / "config"
    config.write_bytes(filler + b'[remote "origin"]\n\turl = u\n')
    assert git.origin_url(found(tmp_path / "r")) == ""
    room = settings.GIT_CONFIG_MAX_BYTES - len(b'#\n[remote "origin"]\n\turl = cut')
    config.write_bytes(b"#" * room + b'\n[remote "origin"]\n\turl = cut-in-the-middle\n')
    assert git.origin_url(found(tmp_path / "r")) == ""


def test_clones_are_told_from_beginnings(repo: Path, tmp_path: Path) -> None:
    support.git(tmp_path, "clone", "-q", str(repo), str(tmp_path / "clone"))
    assert git.is_clone(found(tmp_path / "clone"))
    assert not git.is_clone(found(repo))


# Remotes -----------------------------------------------------------------------------------------

SAME = {
    "github.com/Org/Repo": [
        "https://github.com/Org/Repo",
        "https://github.com/Org/Repo.git",
        "https://github.com/Org/Repo.git/",
        "https://github.com//Org/Repo///",
        "https://GitHub.COM:443/Org/Repo.git",
        "https://github.com./Org/Repo",
        "https://www.github.com/Org/Repo",
        "HTTPS://user@github.com/Org/Repo",
        "https://user:pa:ss@github.com/Org/Repo.git",
        "https://oauth2:ghp_abc@def@github.com/Org/Repo",
        "https://user:pa/ss?#@github.com/Org/Repo",
        "https://github.com/Org/Repo.git?token=secret#readme",
        "http://github.com:80/Org/Repo",
        "http://github.com:/Org/Repo",
        "git://github.com/Org/Repo.git",
        "git://github.com:9418/Org/Repo.git",
        "ssh://git@github.com/Org/Repo.git",
        "ssh://git@github.com:22/Org/Repo",
        "ssh://git@ssh.github.com:443/Org/Repo.git",
        "git+ssh://git@github.com/Org/Repo",
        "ssh+git://git@github.com/Org/Repo",
        "git@github.com:Org/Repo.git",
        "git@github.com:/Org/Repo.git",
        "git@ssh.github.com:Org/Repo",
        "github.com:Org/Repo",
        "user:secret@github.com:Org/Repo.git",
        "[git@github.com:2222]:Org/Repo.git",
        "  git@github.com:Org/Repo.git\r\n",
    ],
    "gitlab.com/a/b/c": [
        "ssh://git@altssh.gitlab.com:443/a/b/c.git",
        "https://gitlab.com/a/b/c",
        "git@gitlab.com:a/b/c",
    ],
    "bitbucket.org/t/r": ["ssh://git@altssh.bitbucket.org:443/t/r.git", "https://me@bitbucket.org/t/r.git"],
    "git.example.org/p/r": ["ssh://git@git.example.org:7999/p/r.git", "https://git.example.org/p/r.git"],
    "git.example.org:8443/p/r": ["https://git.example.org:8443/p/r.git", "http://u:p@git.example.org:8443/p/r/"],
    "dev.azure.com/org/proj/_git/repo": [
        "git@ssh.dev.azure.com:v3/org/proj/repo",
        "ssh://git@ssh.dev.azure.com:22/v3/org/proj/repo",
        "https://org@dev.azure.com/org/proj/_git/repo",
        "https://org.visualstudio.com/proj/_git/repo",
        "https://org.visualstudio.com/DefaultCollection/proj/_git/repo",
        "org@vs-ssh.visualstudio.com:v3/org/proj/repo",
    ],
    "dev.azure.com/org/repo/_git/repo": [
        "https://dev.azure.com/org/_git/repo",
        "git@ssh.dev.azure.com:v3/org/repo/repo",
    ],
    "[2001:db8::1]/o/r": [
        "ssh://git@[2001:DB8::1]:2222/o/r.git",
        "https://[2001:db8::1]/o/r",
        "git@[2001:db8::1]:o/r.git",
        "[2001:db8::1]:o/r.git",
    ],
    "[::1]:8080/r": ["http://[::1]:8080/r.git"],
    "host/~user/r": ["ssh://host/~user/r.git", "user@host:~user/r"],
    "host/r": ["host:~/r.git", "host:r", "host:/r/.git"],
    "host/my%20repo": ["https://host/my%20repo.git", "ssh://host/my%20repo"],
    "host/o@x/r": ["git@host:o@x/r"],
    "host/a/b%1Bc%0Ad": ["https://host/a/b\x1bc\nd"],
    "codecommit::us-east-1://repo": ["codecommit::us-east-1://profile@repo"],
    "keybase://team/x/r": ["keybase://team/x/r.git"],
    "gcrypt::host/o/r": ["gcrypt::ssh://git@host/o/r.git", "gcrypt::git@host:o/r"],
}

DIFFERENT = [
    ("https://github.com/a/r", "https://github.com/b/r"),
    ("https://github.com/a/r", "https://github.com/a/R"),
    ("https://github.com/a/r", "https://gitlab.com/a/r"),
    ("https://h/a/r", "https://h:8443/a/r"),
    ("https://h:8080/r", "https://h:8443/r"),
    ("http://[::1]/r", "http://[::2]/r"),
    ("host:a/r", "host:a-r"),
    ("host:~user/r", "host:r"),
    ("https://host/my%20repo", "https://host/my repo"),
    ("codecommit::us-east-1://repo", "codecommit::eu-west-1://repo"),
    ("https://dev.azure.com/o/p/_git/a", "https://dev.azure.com/o/p/_git/b"),
    ("https://github.com/a/r", "/github.com/a/r"),
    ("gcrypt::host:r", "host:r"),
]

UNUSABLE = [
    "",
    " ",
    "\n",
    "https://",
    "https:///x/y",
    "ssh://@/x",
    "https://host:port/x",
    ":x",
    "x" * 5000,
    "a b:c",
    "rel/x",
]


@pytest.mark.parametrize(("expected", "url"), [(name, url) for name, urls in SAME.items() for url in urls])
def test_spellings_that_agree(expected: str, url: str) -> None:
    assert remote.normalize(url) == expected


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_remotes_that_differ(one: str, other: str) -> None:
    assert remote.normalize(one)
    assert remote.normalize(other)
    assert remote.normalize(one) != remote.normalize(other)


@pytest.mark.parametrize("url", UNUSABLE)
def test_unusable_remotes(url: str) -> None:
    assert remote.normalize(url) == ""


HOSTILE = [
    "a::" * 1000 + "x",
    "\ud800://x/y",
    "file:///\ud800%ff",
    "https://h/\0\u202e\u2028",
    "file:///a\0b",
    "[",
    "[]:",
    "\\\\",
    "https://[",
    "ssh://[::1",
    "file://",
    "file:///%",
    "git@[x",
    "://",
    "::",
    "a::",
    "C:/",
    "https://h/" + "../" * 9,
]


@pytest.mark.parametrize("url", HOSTILE)
def test_hostile_remotes_stay_printable(url: str) -> None:
    assert remote.normalize(url, "/base").isprintable()


SECRETS = [
    "https://u:hunter2@h/x",
    "https://hunter2@h/x",
    "https://u:hun/hunter2@h/x",
    "https://u:a#hunter2@h/x",
    "https://h/x?t=hunter2",
    "u:hunter2@h:x",
    "codecommit::r://hunter2@x",
]


@pytest.mark.parametrize("url", SECRETS)
def test_no_credential_survives(url: str) -> None:
    assert remote.normalize(url)
    assert "hunter2" not in remote.normalize(url)


@pytest.mark.skipif(os.name == "nt", reason="POSIX paths")
def test_local_paths(tmp_path: Path) -> None:
    here = real(tmp_path)
    (tmp_path / "my repo").mkdir()
    (tmp_path / "bare.git").mkdir()
    (tmp_path / "both").mkdir()
    (tmp_path / "both.git").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "my repo")
    table = [
        (here + "/my repo", here + "/my repo"),
        (here + "/my repo/", here + "/my repo"),
        ("/" + here + "//my repo/.git", here + "/my repo"),
        ("file://" + here + "/my%20repo", here + "/my repo"),
        ("file://localhost" + here + "/my repo", here + "/my repo"),
        ("./my repo", here + "/my repo"),
        ("../" + os.path.basename(here) + "/link", here + "/my repo"),
        (here + "/bare", here + "/bare.git"),
        (here + "/bare.git", here + "/bare.git"),
        (here + "/both", here + "/both"),
        (here + "/both.git", here + "/both.git"),
        ("file:///c%23/x#y", "/c#/x#y"),
    ]
    for url, path in table:
        assert remote.normalize(url, here) == "file:" + path, url
    assert remote.normalize("my repo") == ""


@pytest.mark.skipif(os.name == "nt", reason="resolved on the disk there")
@pytest.mark.parametrize("url", ["C:\\Repos\\X", "c:/repos/x/", "file:///C:/Repos/X", "C:/repos/x/.git"])
def test_windows_paths_elsewhere(url: str) -> None:
    assert remote.normalize(url) == "file:c:/repos/x"
    assert remote.normalize("\\\\server\\share\\x") == "file://server/share/x"


def test_loads_nothing_dear() -> None:
    names = "harness_memory.project.git, harness_memory.project.identity"
    code = "import sys; sys.path.insert(0, %r); import " + names + "; print(*sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", code % str(support.LIB)]
    loaded = set(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().split())
    assert not loaded & {
        "re",
        "json",
        "hashlib",
        "subprocess",
        "pathlib",
        "typing",
        "functools",
        "contextlib",
        "ntpath",
    }
