"""What a repository says about itself, read from its `.git` files without starting a process."""

from __future__ import annotations

import os
import stat

from ..base import files, settings

_O_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_HEX = frozenset("0123456789abcdef")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", "\\": "\\", '"': '"'}


class Repository:
    """`root` is the top of the work tree, `git_dir` belongs to it, `common_dir` to all its work trees.

    One that `is_borrowed` names a git directory that knows nothing of it; its `common_dir` is then but a name.
    """

    __slots__ = ("common_dir", "git_dir", "root")

    def __init__(self, root: str, git_dir: str, common_dir: str) -> None:
        self.root = root
        self.git_dir = git_dir
        self.common_dir = common_dir

    @property
    def is_borrowed(self) -> bool:
        return self.common_dir == os.path.join(self.root, ".git") != self.git_dir


def find(start: str) -> Repository | None:
    """The repository that `start` lies in.

    As in git, a `.git` directory without HEAD is passed over, while a `.git` file that leads nowhere
    (or a directory we may not enter) ends the search: what lies above is another repository.
    """
    try:
        directory = os.path.realpath(start)
        bare = None
        for _ in range(settings.PARENTS_SEARCHED):
            found = _at(directory)
            if found is not None and found.root != found.git_dir:
                return found
            bare = bare or found
            parent = os.path.dirname(directory)
            if parent == directory:
                break
            directory = parent
        return bare  # inside a work tree a bare repository is but content of it: anybody may commit one
    except (OSError, ValueError) as error:  # ValueError: NUL in a path
        if files.is_passing(error):
            raise  # without its repository a directory would be another project
    return None


def branch(repo: Repository) -> str:
    path = os.path.join(repo.git_dir, "HEAD")
    head = _text(_read(path, settings.GIT_FILE_MAX_BYTES)).strip()
    if not head.startswith("ref:"):
        try:
            head = "ref:" + os.readlink(path)  # how git pointed HEAD at a branch before 2005
        except (OSError, ValueError):
            sha = head.lower()
            return "detached@" + sha[:12] if len(sha) >= 40 and _HEX.issuperset(sha) else ""
    name = head[4:].strip()
    if name.startswith("refs/heads/"):
        name = name[11:]
    if name == ".invalid":  # the placeholder of a repository that keeps its refs in reftables
        return ""
    return "".join([char for char in name if char.isprintable()])[: settings.BRANCH_CHARS]


def origin_url(repo: Repository) -> str:
    """The URL git would fetch `origin` from, by the repository's own configuration (includes are not followed)."""
    if repo.is_borrowed:
        return ""
    for path in (os.path.join(repo.common_dir, "config"), os.path.join(repo.git_dir, "config.worktree")):
        # A link may lead to the configuration of any repository.
        data = b"" if os.path.islink(path) else _read(path, settings.GIT_CONFIG_MAX_BYTES, is_needed=True)
        if len(data) == settings.GIT_CONFIG_MAX_BYTES:
            data = data[: data.rfind(b"\n") + 1]
        # One character for each byte, so that positions hold in lower case too.
        urls = _origin_urls(data.decode("latin-1").replace("\r\n", "\n"))
        if urls:
            return _text(urls[0].encode("latin-1"))
    return ""


def is_clone(repo: Repository) -> bool:
    """Whether it began as a clone, as far as its log reaches back."""
    first = _read(os.path.join(repo.common_dir, "logs", "HEAD"), settings.GIT_FILE_MAX_BYTES).partition(b"\n")[0]
    return b"\tclone: from " in first


# Finding -----------------------------------------------------------------------------------------


def _at(directory: str) -> Repository | None:
    dot = os.path.join(directory, ".git")
    try:
        mode = os.stat(dot).st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = 0
    if stat.S_ISDIR(mode) and _has(dot, "HEAD"):
        git_dir = os.path.realpath(dot)
        return _repository(directory, git_dir) if git_dir == dot else _named(directory, dot, git_dir)
    if stat.S_ISREG(mode):
        return _linked(directory, dot)
    if os.path.basename(directory) != ".git" and all(_has(directory, name) for name in ("HEAD", "objects", "refs")):
        return _repository(directory, directory)
    return None


def _linked(directory: str, dot: str) -> Repository:
    content = _path(_read(dot, settings.GIT_FILE_MAX_BYTES))
    git_dir = os.path.realpath(os.path.join(directory, content[7:].strip()))
    if not content.startswith("gitdir:") or not _has(git_dir, "HEAD"):
        raise NotADirectoryError(dot)
    return _named(directory, dot, git_dir)


def _named(directory: str, dot: str, git_dir: str) -> Repository:
    """With a git directory that a `.git` file or link names, which anybody may write: it has to know this work tree.

    Else it gets an identity of its own."""
    if not _points_back(git_dir, directory):
        return Repository(directory, git_dir, dot)
    return _repository(directory, git_dir)


def _points_back(git_dir: str, directory: str) -> bool:
    """Whether a git directory knows this work tree: as a linked one, or (a submodule) as its own."""
    linked = _path(_read(os.path.join(git_dir, "gitdir"), settings.GIT_FILE_MAX_BYTES))
    if linked and os.path.realpath(os.path.join(git_dir, linked)) == os.path.join(directory, ".git"):
        return True
    for line in _text(_read(os.path.join(git_dir, "config"), settings.GIT_CONFIG_MAX_BYTES)).splitlines():
        name, _, value = line.strip().partition("=")
        if name.strip().lower() == "worktree":
            return os.path.realpath(os.path.join(git_dir, value.strip().strip('"'))) == directory
    return False


def _repository(root: str, git_dir: str) -> Repository:
    common = _path(_read(os.path.join(git_dir, "commondir"), settings.GIT_FILE_MAX_BYTES))
    if not common:
        return Repository(root, git_dir, git_dir)
    common_dir = os.path.realpath(os.path.join(git_dir, common))
    if not os.path.isdir(common_dir):
        raise NotADirectoryError(common_dir)
    if os.path.dirname(git_dir) != os.path.join(common_dir, "worktrees"):
        common_dir = git_dir  # `commondir` may name any repository: its own work trees lie inside it
    return Repository(root, git_dir, common_dir)


def _has(directory: str, name: str) -> bool:
    try:
        os.lstat(os.path.join(directory, name))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _read(path: str, limit: int, *, is_needed: bool = False) -> bytes:
    """The first `limit` bytes of a regular file, links followed; nothing when there is none.

    One that `is_needed` and closed to us is an error: git itself does nothing without its configuration.
    """
    try:
        fd = os.open(path, _O_READ)
    except (OSError, ValueError) as error:
        if files.is_passing(error) or (is_needed and isinstance(error, PermissionError)):
            raise
        return b""
    try:
        return os.read(fd, limit) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    finally:
        os.close(fd)


def _path(data: bytes) -> str:
    return os.fsdecode(data).strip("\r\n")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").lstrip("\ufeff")


# Configuration: each rule takes the text and a position, and returns what it read and where it stopped ------------


def _origin_urls(text: str) -> list[str]:
    urls: list[str] = []
    section = ""
    lowered = text.lower()
    is_plain = "\\\n" not in text  # no line goes on in the next
    at = _next_remote(lowered, 0) if is_plain else 3 * text.startswith("\xef\xbb\xbf")
    while at < len(text):
        char = text[at]
        if char in " \t\n\r\f\v":
            at += 1
        elif char in "#;":
            at = _line_end(text, at)
        elif char == "[":
            section, at = _section(text, at)
        elif section != "remote.origin" and is_plain:
            at = _next_remote(lowered, at)
        else:
            key, value, at = _entry(text, at)
            if section == "remote.origin" and key == "url":
                urls = [*urls, value] if value else []  # an empty value clears the list
    return urls


def _next_remote(lowered: str, start: int) -> int:
    """Where the next line begins that may hold a header of a remote: configurations list hundreds of branches."""
    hit = lowered.find("[remote", start)
    while hit >= 0:
        line = max(start, lowered.rfind("\n", 0, hit) + 1)
        before = lowered[line:hit].strip("\xef\xbb\xbf \t\r\f\v")
        if not before:
            return hit
        if before.startswith("["):
            return line
        hit = lowered.find("[remote", hit + 1)
    return len(lowered)


def _section(text: str, at: int) -> tuple[str, int]:
    end = _line_end(text, at)
    head = text[at + 1 : end]
    quote = head.find('"')
    close = head.find("]")
    if close >= 0 and not 0 <= quote < close:
        return head[:close].strip().lower(), at + close + 2
    name = []
    index = quote + 1
    while quote >= 0 and index < len(head) and head[index] != '"':
        index += head[index] == "\\"
        name.append(head[index : index + 1])
        index += 1
    close = head.find("]", index)
    if close < 0:
        return "", end
    return head[:quote].strip().lower() + "." + "".join(name), at + close + 2


def _entry(text: str, at: int) -> tuple[str, str, int]:
    start = at
    while at < len(text) and (text[at].isalnum() or text[at] == "-"):
        at += 1
    key = text[start:at].lower()
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    if text[at : at + 1] != "=":
        return "", "", _line_end(text, at)
    value, at = _value(text, at + 1)
    return key, value, at


def _value(text: str, at: int) -> tuple[str, int]:
    out: list[str] = []
    kept = 0
    quoted = False
    while at < len(text):
        char = text[at]
        at += 1
        if char == "\n":
            break
        if char == "\\":
            after = text[at : at + 1]
            at += 1
            if after == "\n":
                continue
            out.append(_ESCAPES.get(after, "\\" + after))
        elif char == '"':
            quoted = not quoted
        elif quoted or char not in " \t#;":
            out.append(char)
        elif char in "#;":
            at = _line_end(text, at)
            break
        else:
            if out:
                out.append(char)
            continue
        kept = len(out)
    return "".join(out[:kept]), at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
