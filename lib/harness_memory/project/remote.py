"""One name for a repository, however its address is written: ssh, https, scp-like, a path."""

from __future__ import annotations

import os

from ..base.text import hexdigest

_SSH = ("ssh", "git+ssh", "ssh+git")
_DEFAULT_PORTS = {"https": "443", "http": "80", "git": "9418", "ftp": "21", "ftps": "990"}
_SAME_HOST = {
    "ssh.github.com": "github.com", "www.github.com": "github.com", "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}  # fmt: skip
_FOLDING = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "dev.azure.com")  # `Org/App` is `org/app`
_AZURE, _AZURE_OLD = "dev.azure.com", ".visualstudio.com"


def normalize(url: str, base: str = "") -> str:
    """One spelling for all URLs of a repository: `host/org/repo`, or `file:<real path>`; "" when unusable.

    Never holds a user, a password or a control character. Paths keep their case; relative ones start at `base`.
    """
    url = url.strip()
    if not url or len(url) > 4096:
        return ""
    helper, separator, address = url.partition("::")  # `<helper>::<address>`, see gitremote-helpers(7)
    is_helped = bool(separator) and _is_word(helper)
    name = _name(address if is_helped else url, base)
    name = helper.lower() + "::" + name if name and is_helped else name
    return "".join([char if char.isprintable() else "%%%02X" % ord(char) for char in name])


def _name(url: str, base: str) -> str:
    if os.name == "nt" and os.path.splitdrive(url)[0]:
        return _local(url)
    scheme, separator, rest = url.partition("://")
    scheme = scheme.lower()
    if separator and scheme == "file":
        from urllib.parse import unquote

        host, _, path = unquote(rest, errors="surrogateescape").partition("/")
        path = path if os.name == "nt" and os.path.splitdrive(path)[0] else "/" + path
        return _local(path if host.lower() in ("", "localhost") else "//" + host + path)
    if separator and _is_word(scheme):
        return _network(scheme, rest)
    head = url.partition("/")[0]
    if ":" not in head:
        return _local(os.path.join(base, url))
    # `user@host:path`, `[user@host:port]:path`, `user@[::1]:path`, as git reads them: without brackets, the host ends
    # at the first colon, whatever follows. A port says nothing about the repository.
    bracket = url.find("@[") + 1
    is_bracketed = url[bracket : bracket + 1] == "["
    host, _, path = url[bracket + 1 :].partition("]") if is_bracketed else url.partition(":")
    host = host.rpartition("@")[2]
    if {"@", ":"} <= {*path.partition("/")[0]}:  # perhaps meant as a password: no part of it goes into a name
        path = hexdigest(path)[:16]
    return _named("[" + host + "]" if host.count(":") > 1 else host.partition(":")[0], "", path.lstrip(":"))


def folded(name: str) -> str:
    """The name on hosts that do not tell `Org/App` from `org/app`."""
    return name.lower() if name.partition("/")[0] in _FOLDING else name


def _is_word(text: str) -> bool:
    bare = text.replace("+", "").replace("-", "").replace(".", "")
    return text.isascii() and text[:1].isalnum() and bare.isalnum()


def _network(scheme: str, rest: str) -> str:
    # The second try is for a password with a raw `/`, `?` or `#` in it: none of it may end up in the name.
    for address in (rest, rest.rpartition("@")[2]):
        authority, _, path = address.partition("?")[0].partition("#")[0].partition("/")
        authority = authority.rpartition("@")[2]
        bracket = authority.find("]") + 1  # an address of IPv6
        host, _, port = authority[bracket:].partition(":")
        if not port or (port.isascii() and port.isdigit()):
            break
    else:
        return ""
    if scheme in _SSH or port.lstrip("0") == _DEFAULT_PORTS.get(scheme):
        port = ""
    name = _named(authority[:bracket] + host, port, path)
    return name if not name or scheme in _SSH or scheme in _DEFAULT_PORTS else scheme + "://" + name


def _named(host: str, port: str, path: str) -> str:
    host = host.rstrip(".").lower()
    if not host or not host.isprintable() or " " in host:
        return ""
    parts = [part for part in path.split("/") if part]
    if parts and parts[-1].endswith(".git"):
        parts[-1] = parts[-1][:-4]
    if parts[:1] == ["~"]:  # the login directory, where relative paths start anyway
        del parts[0]
    host, parts = _SAME_HOST.get(host, host), [part for part in parts if part]
    if host in ("ssh.dev.azure.com", "vs-ssh.visualstudio.com") and len(parts) == 4 and parts[0].lower() == "v3":
        host, parts = _AZURE, [parts[1], parts[2], "_git", parts[3]]
    elif host.endswith(_AZURE_OLD) and "_git" in parts:
        parts = parts[1:] if parts[0].lower() == "defaultcollection" else parts
        host, parts = _AZURE, [host[: -len(_AZURE_OLD)], *parts]
    if host == _AZURE and len(parts) == 3 and parts[1] == "_git":
        parts = [parts[0], parts[2], "_git", parts[2]]  # a project's first repository bears its name
    return "/".join([host + ":" + port if port else host, *parts])


def _local(path: str) -> str:
    if not os.path.isabs(path):
        return ""
    try:
        real = os.path.realpath("/" + path.lstrip("/") if os.name != "nt" else path)
        if not os.path.exists(real) and os.path.exists(real + ".git"):
            real += ".git"
    except (OSError, ValueError):
        real = os.path.normpath(path)
    parent, name = os.path.split(real)
    return "file:" + os.path.normcase(parent if name == ".git" else real)
