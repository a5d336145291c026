"""What a repository says about itself, read from its `.git` files without starting a process."""

from __future__ import annotations

import os
import stat

from . import settings

_O_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_HEX = frozenset("0123456789abcdef")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", "\\": "\\", '"': '"'}

_SSH = ("ssh", "git+ssh", "ssh+git")
_DEFAULT_PORTS = {"https": "443", "http": "80", "git": "9418", "ftp": "21", "ftps": "990"}
_SAME_HOST = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
_AZURE = "dev.azure.com"
_AZURE_SSH = ("ssh.dev.azure.com", "vs-ssh.visualstudio.com")
_AZURE_OLD = ".visualstudio.com"


class Repository:
    """`root` is the top of the work tree, `git_dir` belongs to it, `common_dir` to all its work trees."""

    __slots__ = ("common_dir", "git_dir", "root")

    def __init__(self, root: str, git_dir: str, common_dir: str) -> None:
        self.root = root
        self.git_dir = git_dir
        self.common_dir = common_dir


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
    except (OSError, ValueError):  # ValueError: NUL in a path
        pass
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
    for path in (os.path.join(repo.common_dir, "config"), os.path.join(repo.git_dir, "config.worktree")):
        data = _read(path, settings.GIT_CONFIG_MAX_BYTES)
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


def normalize_remote(url: str, base: str = "") -> str:
    """One spelling for all URLs of a repository: `host/org/repo`, or `file:<real path>`; "" when unusable.

    Never holds a user, a password or a control character. Paths keep their case; relative ones start at `base`.
    """
    url = url.strip()
    if not url or len(url) > settings.REMOTE_MAX_CHARS:
        return ""
    if not _is_windows_path(url):
        helper, separator, address = url.partition("::")
        if separator and _is_word(helper):  # `<helper>::<address>`, see gitremote-helpers(7)
            inner = _normalize(address, base)
            return _visible(helper.lower() + "::" + inner) if inner else ""
    return _visible(_normalize(url, base))


# Finding -----------------------------------------------------------------------------------------


def _at(directory: str) -> Repository | None:
    dot = os.path.join(directory, ".git")
    try:
        mode = os.stat(dot).st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = 0
    if stat.S_ISDIR(mode) and _has(dot, "HEAD"):
        return _repository(directory, os.path.realpath(dot))
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
    if not _points_back(git_dir, directory):
        # Anybody may write a `.git` file that names another's repository: it gets an identity of its own.
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
    return Repository(root, git_dir, common_dir)


def _has(directory: str, name: str) -> bool:
    try:
        os.lstat(os.path.join(directory, name))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _read(path: str, limit: int) -> bytes:
    """The first `limit` bytes of a regular file, links followed; nothing when there is none."""
    try:
        fd = os.open(path, _O_READ)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(fd, limit) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return b""
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


# Remotes -----------------------------------------------------------------------------------------


def _normalize(url: str, base: str) -> str:
    if _is_windows_path(url):
        return _windows_path(url)
    scheme, separator, rest = url.partition("://")
    if separator and _is_word(scheme):
        scheme = scheme.lower()
        return _file_url(rest) if scheme == "file" else _network(scheme, rest)
    head = url.partition("/")[0]
    if ":" in head:
        return _scp(url, head)
    return _local(os.path.join(base, url))


def _network(scheme: str, rest: str) -> str:
    authority, path = _split(rest.partition("?")[0].partition("#")[0])
    host, port = _host_port(authority)
    if port and not _is_port(port) and "@" in rest:
        # A password with a raw `/`, `?` or `#` in it: none of it may end up in the name.
        authority, path = _split(rest.rpartition("@")[2].partition("?")[0].partition("#")[0])
        host, port = _host_port(authority)
    if port and not _is_port(port):
        return ""
    if scheme in _SSH or port.lstrip("0") == _DEFAULT_PORTS.get(scheme):
        port = ""
    name = _named(host, port, path)
    return name if not name or scheme in _SSH or scheme in _DEFAULT_PORTS else scheme + "://" + name


def _scp(url: str, head: str) -> str:
    """`user@host:path`, `host:path`, `[host:port]:path`; a port says nothing about the repository."""
    after_user = url[head.rfind("@") + 1 :] if ":" in head[head.rfind("@") :] else url
    if head.startswith("["):
        inner, _, path = url[1:].partition("]")
        host = inner.rpartition("@")[2]
        if host.count(":") > 1:
            host = "[" + host + "]"
        return _named(host.lower() if host[:1] == "[" else host.partition(":")[0].lower(), "", path.lstrip(":"))
    if after_user.startswith("["):
        return _scp(after_user, after_user.partition("/")[0])
    host, _, path = after_user.partition(":")
    return _named(host.rpartition("@")[2].lower(), "", path)


def _named(host: str, port: str, path: str) -> str:
    host = host.rstrip(".")
    if not host or not host.isprintable() or " " in host:
        return ""
    parts = [part for part in path.split("/") if part]
    if parts and parts[-1].endswith(".git"):
        parts[-1] = parts[-1][:-4]
    if parts[:1] == ["~"]:  # the login directory, where relative paths start anyway
        del parts[0]
    host, parts = _azure(_SAME_HOST.get(host, host), [part for part in parts if part])
    return "/".join([host + ":" + port if port else host, *parts])


def _azure(host: str, parts: list[str]) -> tuple[str, list[str]]:
    if host in _AZURE_SSH and len(parts) == 4 and parts[0].lower() == "v3":
        return _AZURE, [parts[1], parts[2], "_git", parts[3]]
    if host.endswith(_AZURE_OLD) and "_git" in parts:
        if parts[0].lower() == "defaultcollection":
            parts = parts[1:]
        host, parts = _AZURE, [host[: -len(_AZURE_OLD)], *parts]
    if host == _AZURE and len(parts) == 3 and parts[1] == "_git":
        parts = [parts[0], parts[2], "_git", parts[2]]  # a project's first repository bears its name
    return host, parts


def _split(rest: str) -> tuple[str, str]:
    authority, _, path = rest.partition("/")
    return authority, path


def _host_port(authority: str) -> tuple[str, str]:
    authority = authority.rpartition("@")[2].lower()
    if authority.startswith("["):
        host, _, port = authority.partition("]")
        return host + "]", port[1:]
    host, _, port = authority.partition(":")
    return host, port


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _is_word(text: str) -> bool:
    return text.isascii() and text[:1].isalnum() and text.replace("+", "").replace("-", "").replace(".", "").isalnum()


def _file_url(rest: str) -> str:
    try:
        host, path = _split(_percent_decoded(rest))
    except UnicodeError:
        return ""
    if _is_windows_path(path):
        return _windows_path(path)
    return _local("/" + path if host.lower() in ("", "localhost") else "//" + host + "/" + path)


def _percent_decoded(text: str) -> str:
    first, *rest = text.split("%")
    out = first.encode("utf-8", "surrogateescape")
    for part in rest:
        code = part[:2].lower()
        is_code = len(code) == 2 and _HEX.issuperset(code)
        out += bytes([int(code, 16)]) if is_code else b"%"
        out += part[2 if is_code else 0 :].encode("utf-8", "surrogateescape")
    return out.decode("utf-8", "surrogateescape")


def _is_windows_path(path: str) -> bool:
    if path[1:2] == ":" and path[2:3] in ("/", "\\") and path[1:4] != "://":
        return path[0].isascii() and path[0].isalpha()
    return path.startswith("\\\\")


def _windows_path(path: str) -> str:
    if os.name == "nt":
        return _local(path)
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    if parts[-1:] == [".git"]:
        parts.pop()
    return "file:" + ("//" if path[0] == "\\" else "") + "/".join(parts).lower() if parts else ""


def _local(path: str) -> str:
    if not os.path.isabs(path):
        return ""
    if os.name != "nt":
        path = "/" + path.lstrip("/")
    try:
        real = os.path.realpath(path)
        if not os.path.exists(real) and os.path.exists(real + ".git"):
            real += ".git"
    except (OSError, ValueError):
        real = os.path.normpath(path)
    parent, name = os.path.split(real)
    return "file:" + os.path.normcase(parent if name == ".git" else real)


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join([char if char.isprintable() else _percent_encoded(char) for char in text])


def _percent_encoded(char: str) -> str:
    return "".join(["%%%02X" % byte for byte in char.encode("utf-8", "surrogatepass")])
