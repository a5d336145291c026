"""One name for a repository, however its address is written: ssh, https, scp-like, a path."""

from __future__ import annotations

import os

from ..base.text import hexdigest

_SSH = ("ssh", "git+ssh", "ssh+git")
_DEFAULT_PORTS = {"https": "443", "http": "80", "git": "9418"}
_FOLDING = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "dev.azure.com")  # `Org/App` is `org/app`


def normalize(url: str, base: str = "") -> str:
    """One spelling for all URLs of a repository: `host/org/repo`, or `file:<real path>`; "" when unusable.

    Never holds a user, a password or a control character. Paths keep their case; relative ones start at `base`."""
    url = url.strip()
    scheme, separator, rest = url.partition("://")
    scheme, head = scheme.lower(), url.partition("/")[0]
    if not url or len(url) > 4096:
        return ""
    if separator and scheme == "file":
        from urllib.parse import unquote

        path = unquote(rest, errors="surrogateescape").partition("/")[2]
        name = _local(path if os.name == "nt" and os.path.splitdrive(path)[0] else "/" + path)
    elif separator:
        name = _network(scheme, rest)
    elif ":" not in head or (os.name == "nt" and os.path.splitdrive(url)[0]):
        name = _local(os.path.join(base, url))
    else:  # `user@host:path`, as git reads it: the host ends at the first colon
        host, _, path = url.partition(":")
        if {"@", ":"} <= {*path.partition("/")[0]}:  # perhaps meant as a password: no part of it goes into a name
            path = hexdigest(path)[:16]
        name = _named(host.rpartition("@")[2], path)
    return "".join([char if char.isprintable() else "%%%02X" % ord(char) for char in name])


def folded(name: str) -> str:
    """The name on hosts that do not tell `Org/App` from `org/app`."""
    return name.lower() if name.partition("/")[0] in _FOLDING else name


def _network(scheme: str, rest: str) -> str:
    authority, _, path = rest.partition("?")[0].partition("#")[0].partition("/")
    authority = authority.rpartition("@")[2]
    bracket = authority.find("]") + 1  # an address of IPv6
    host, _, port = authority[bracket:].partition(":")
    if port and not (port.isascii() and port.isdigit()):
        return ""  # the beginning of a password with a raw `/`, `?` or `#` in it
    if port and scheme not in _SSH and port != _DEFAULT_PORTS.get(scheme):
        host += ":" + port  # a port of ssh says nothing about the repository
    name = _named(authority[:bracket] + host, path)
    return name if not name or scheme in _SSH or scheme in _DEFAULT_PORTS else scheme + "://" + name


def _named(host: str, path: str) -> str:
    host = host.rstrip(".").lower()
    if not host or not host.isprintable() or " " in host:
        return ""
    path = path.rstrip("/")
    parts = [part for part in (path[:-4] if path.endswith(".git") else path).split("/") if part]
    parts = parts[1:] if parts[:1] == ["~"] else parts  # the login directory, where relative paths start anyway
    service, _, site = host.partition(".")
    host = site if service in ("ssh", "altssh", "www") and site in _FOLDING else host
    if (host, parts[:1], len(parts)) == ("dev.azure.com", ["v3"], 4):
        parts = [parts[1], parts[2], "_git", parts[3]]
    return "/".join([host, *parts])


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
