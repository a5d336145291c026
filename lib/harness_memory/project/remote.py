"""One name for a repository, however its address is written: ssh, https, scp-like, a path."""

from __future__ import annotations

import os

from ..base import settings

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


def normalize(url: str, base: str = "") -> str:
    """One spelling for all URLs of a repository: `host/org/repo`, or `file:<real path>`; "" when unusable.

    Never holds a user, a password or a control character. Paths keep their case; relative ones start at `base`.
    """
    url = url.strip()
    if not url or len(url) > settings.REMOTE_MAX_CHARS:
        return ""
    helper, separator, address = url.partition("::")
    if separator and _is_word(helper):  # `<helper>::<address>`, see gitremote-helpers(7)
        inner = _spelled(address, base)
        return _visible(helper.lower() + "::" + inner) if inner else ""
    return _visible(_spelled(url, base))


def _spelled(url: str, base: str) -> str:
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
    host, port, path = _parts(rest)
    if not (port.isascii() and port.isdigit()) and port and "@" in rest:
        # A password with a raw `/`, `?` or `#` in it: none of it may end up in the name.
        host, port, path = _parts(rest.rpartition("@")[2])
    if port and not (port.isascii() and port.isdigit()):
        return ""
    if scheme in _SSH or port.lstrip("0") == _DEFAULT_PORTS.get(scheme):
        port = ""
    name = _named(host, port, path)
    return name if not name or scheme in _SSH or scheme in _DEFAULT_PORTS else scheme + "://" + name


def _parts(rest: str) -> tuple[str, str, str]:
    """Host, port and path of a URL after its scheme."""
    authority, _, path = rest.partition("?")[0].partition("#")[0].partition("/")
    authority = authority.rpartition("@")[2].lower()
    if authority.startswith("["):
        host, _, port = authority.partition("]")
        return host + "]", port[1:], path
    host, _, port = authority.partition(":")
    return host, port, path


def _scp(url: str, head: str) -> str:
    """`user@host:path`, `host:path`, `[host:port]:path`; a port says nothing about the repository."""
    at = head.rfind("@")
    if ":" in head[at:] and not url.startswith("["):
        url = url[at + 1 :]
    if url.startswith("["):
        inner, _, path = url[1:].partition("]")
        host = inner.rpartition("@")[2]
        host = "[" + host + "]" if host.count(":") > 1 else host.partition(":")[0]
        return _named(host.lower(), "", path.lstrip(":"))
    host, _, path = url.partition(":")
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


def _is_word(text: str) -> bool:
    bare = text.replace("+", "").replace("-", "").replace(".", "")
    return text.isascii() and text[:1].isalnum() and bare.isalnum()


def _file_url(rest: str) -> str:
    from urllib.parse import unquote

    host, _, path = unquote(rest, errors="surrogateescape").partition("/")
    if _is_windows_path(path):
        return _windows_path(path)
    return _local("/" + path if host.lower() in ("", "localhost") else "//" + host + "/" + path)


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
    """Text with its unprintable characters percent-encoded."""
    if text.isprintable():
        return text
    codes = [char.encode("utf-8", "surrogatepass").hex().upper() for char in text]
    pairs = ["".join(["%" + code[at : at + 2] for at in range(0, len(code), 2)]) for code in codes]
    return "".join([char if char.isprintable() else pair for char, pair in zip(text, pairs)])
