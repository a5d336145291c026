"""What a repository says about itself, read from its `.git` files without starting a process."""

from __future__ import annotations

import errno
import os
import stat

from ..base import files, settings
from ..base.typing import Iterator

_O_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
HEX = frozenset("0123456789abcdef")
_LASTING = (errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL)
_REFS_MAX_BYTES = 4 * 1024 * 1024
_COMMIT_MAX_BYTES = 256 * 1024


class Repository:
    """`root` is the top of the work tree, `git_dir` belongs to it, `common_dir` to all its work trees."""

    __slots__ = ("common_dir", "git_dir", "root")

    def __init__(self, root: str, git_dir: str, common_dir: str) -> None:
        self.root, self.git_dir, self.common_dir = root, git_dir, common_dir


def find(start: str) -> tuple[str, Repository | None]:
    """The top of the work tree that `start` lies in, or `start`, and the repository there.

    A `.git` that leads nowhere, or to what does not know its folder, makes a top without a repository."""
    top = start
    try:
        real = top = os.path.realpath(start)
        for _ in range(min(settings.PARENTS_SEARCHED, real.count(os.sep) + 1)):
            repo = _at(top)
            if repo is not None:
                return top, repo
            top = os.path.dirname(top)
        return real, None
    except (OSError, ValueError) as error:  # ValueError: NUL in a path
        is_lasting = not isinstance(error, OSError) or isinstance(error, files.MISSING) or error.errno in _LASTING
        if not is_lasting:
            raise  # without its repository a directory would be another project
    return top, None


def branch(repo: Repository) -> str:
    head = _read(os.path.join(repo.git_dir, "HEAD")).strip()
    if not head.startswith("ref:"):
        return "detached@" + head[:12].lower() if len(head) >= 40 and HEX.issuperset(head.lower()) else ""
    name = head[4:].strip()
    name = name[11:] if name.startswith("refs/heads/") else name
    # A repository that keeps its refs in reftables has `.invalid`.
    return "".join([c for c in name if c.isprintable()])[: settings.NAME_CHARS] if name != ".invalid" else ""


def origin_url(repo: Repository) -> str:
    """The first URL of `origin` in the repository's own configuration (includes are not followed)."""
    path = os.path.join(repo.common_dir, "config")
    if os.path.islink(path):
        return ""  # the configuration of any repository
    return next((value for *name, value in _settings(path) if name == ['[remote"origin"]', "url"]), "")


def commits(repo: Repository, since: float, until: float) -> list[str]:
    """Subjects of the commits made here in that time, by the log of HEAD; an amended one counts once."""
    log = files.read_part(os.path.join(repo.git_dir, "logs", "HEAD"), 64 * 1024, from_end=True)
    found: list[str] = []
    for line in log.decode("utf-8", "replace").split("\n"):
        head, _, action = line.partition("\t")
        kind, _, subject = action.partition(": ")
        time = head.rpartition("> ")[2].partition(" ")[0]
        if kind in ("commit", "commit (initial)", "commit (amend)") and time.isdigit() and since <= int(time) <= until:
            found = [*found[: -1 if kind == "commit (amend)" else None], subject]
    return found


def tips(repo: Repository) -> list[str]:
    """The commits of HEAD, of its branch at `origin` and of the default branch there, as far as files say it."""
    refs = ["refs/remotes/origin/" + name for name in (branch(repo), "HEAD") if name and ".." not in name]
    commits = [_commit(repo, repo.git_dir, "HEAD"), *(_commit(repo, repo.common_dir, ref) for ref in refs)]
    return [*dict.fromkeys(filter(None, commits))]


def _commit(repo: Repository, directory: str, name: str) -> str:
    for _ in range(5):
        text = _read(os.path.join(directory, *name.split("/")), 512).strip()
        if not text.startswith("ref: refs/") or ".." in text or "\0" in text:
            break
        directory, name = repo.common_dir, text[5:]
    if not text:
        refs = _read(os.path.join(repo.common_dir, "packed-refs"), _REFS_MAX_BYTES)
        text = refs.partition(" %s\n" % name)[0].rpartition("\n")[2] if name in refs else ""
    return text if len(text) in (40, 64) and HEX.issuperset(text) else ""


def has_any(repo: Repository, commits: list[str]) -> bool:
    """Whether one of these commits is here, by its content: refs, names and indexes are claims, links lead astray."""
    objects = os.path.join(repo.common_dir, "objects")
    packs = os.path.join(objects, "pack")
    folders = [] if os.path.islink(objects) else files.folders(objects)
    indexes = [os.path.join(packs, name) for name in files.names(packs) if name.endswith(".idx") and packs in folders]
    for id in [id for id in commits if len(id) in (40, 64) and HEX.issuperset(id)]:
        path = os.path.join(objects, id[:2], id[2:])
        is_loose = os.path.dirname(path) in folders and _is_content(id, files.read_part(path, _COMMIT_MAX_BYTES))
        if is_loose or any(_is_packed(index, id) for index in indexes):
            return True
    return False


def _is_packed(index: str, id: str) -> bool:
    """By an index of version 2: magic, 256 sums of ids by first byte, the sorted ids, as many checksums and offsets."""
    raw, size, head = bytes.fromhex(id), len(id) // 2, files.read_part(index, 1032)
    sums = [0, *(int.from_bytes(head[at : at + 4], "big") for at in range(8, 1032, 4))]
    before, count = sums[raw[0]], min(sums[raw[0] + 1] - sums[raw[0]], 1 << 20)
    rows = files.read_part(index, count * size, start=1032 + before * size)
    row = next((at // size for at in range(0, len(rows), size) if rows.startswith(raw, at)), None)
    if row is None or not head.startswith(b"\377tOc\0\0\0\2"):
        return False
    offset = files.read_part(index, 4, start=1032 + sums[256] * (size + 4) + (before + row) * 4)
    data = files.read_part(index[:-3] + "pack", _COMMIT_MAX_BYTES, start=int.from_bytes(offset, "big"))
    start = next((at for at, byte in enumerate(data) if byte < 128), 0) + 1  # after its kind and size
    return _is_content(id, data[start:], is_bare=True)


def _is_content(id: str, deflated: bytes, *, is_bare: bool = False) -> bool:
    """Whether these bytes are the commit; one that is packed as the difference to another is not found."""
    import hashlib
    import zlib

    try:
        data = zlib.decompressobj().decompress(deflated, _COMMIT_MAX_BYTES)
    except zlib.error:
        return False
    data = b"commit %d\0%s" % (len(data), data) if is_bare else data
    return data.startswith(b"commit ") and hashlib.new("sha1" if len(id) == 40 else "sha256", data).hexdigest() == id


def _at(directory: str) -> Repository | None:
    dot = os.path.join(directory, ".git")
    try:
        is_file = stat.S_ISREG(os.stat(dot).st_mode)
    except files.MISSING:
        return None
    content = _read(dot).strip("\r\n") if is_file else ""
    git_dir = os.path.realpath(os.path.join(directory, content[7:].strip()) if content[:7] == "gitdir:" else dot)
    try:
        os.lstat(os.path.join(git_dir, "HEAD"))
    except files.MISSING:
        if is_file:
            raise
        return None
    # Anyone may write a `.git` file or link that names a git directory: it has to know this work tree, as a linked
    # one, or (a submodule) as its own.
    if git_dir != dot:
        trees = [_read(os.path.join(git_dir, "gitdir")).strip("\r\n")]
        rows = _settings(os.path.join(git_dir, "config"))
        trees += [os.path.join(value, ".git") for _, key, value in rows if key == "worktree"]
        if directory not in [os.path.realpath(os.path.join(git_dir, os.path.dirname(tree))) for tree in trees if tree]:
            raise NotADirectoryError(dot)
    common = os.path.realpath(os.path.join(git_dir, _read(os.path.join(git_dir, "commondir")).strip("\r\n")))
    # `commondir` may name any repository: its own work trees lie inside it.
    is_own = os.path.dirname(git_dir) == os.path.join(common, "worktrees")
    return Repository(directory, git_dir, common if is_own else git_dir)


def _read(path: str, limit: int = 16 * 1024) -> str:
    """The beginning of a regular file, links followed; "" when it is missing."""
    try:
        fd = os.open(path, _O_READ)
    except files.MISSING:
        return ""
    data = files.drain(fd, limit if stat.S_ISREG(os.fstat(fd).st_mode) else 0)
    return data.decode("utf-8", "surrogateescape").lstrip("\ufeff")


def _settings(path: str) -> Iterator[tuple[str, str, str]]:
    """(section, key, value) of each line; a megabyte is 10,000 branches, what lies beyond is left unread."""
    section = ""
    for line in _read(path, 1024 * 1024).replace("\\\n", "").split("\n"):
        if line.strip().startswith("["):
            kind, _, name = line.strip().partition(" ")
            section = kind.lower() + name.strip()
        key, equals, value = line.partition("=")
        if equals:
            yield section, key.strip().lower(), _value(value)


def _value(text: str) -> str:
    """A value without its quotes, escaped backslashes and comment."""
    text = text.strip()
    bare = text[1:].partition('"')[0] if text[:1] == '"' else text.replace(" ;", " #").partition(" #")[0]
    return bare.replace("\\\\", "\\").strip()
