"""Text that no shell would take, or too long a one: what stands in command position, and paths, decide alone."""

from __future__ import annotations

from . import paths
from .judge import QUIET, is_sure
from .quick import HINTS
from .shell import TILDE, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .judge import Finding
    from .paths import Scope

MAX_PIECES = 20_000
MAX_SHOWN = 40

_CATASTROPHIC = tuple(
    """
    rm dd mkfs shred wipefs fdisk rmdir del format chmod chown find eval mkfs.ext4
    """.split()
)
_BEFORE = frozenset("sudo then do else ! exec command env nohup time".split())


def coarse(text: str, scope: Scope) -> list[Finding]:
    """For text that no shell would take, or too long a one: a grave word in command position asks, a secret too."""
    lower = text.lower()
    if "downloadstring" in lower and ("iex" in lower or "invoke-expression" in lower):
        return [("remote.pipe-to-shell", "IEX of what was fetched", "")]
    cleaned = plain(text)
    for char in ";&|(){}`":
        cleaned = cleaned.replace(char, "\n")
    for char in "\\'\"":
        cleaned = cleaned.replace(char, "")
    pieces = dict.fromkeys(cleaned.split("\n"))
    if len(pieces) > MAX_PIECES:
        return [("guard.unreadable", "a script of %d commands" % len(pieces), "")]
    hints = [hint for hint in HINTS if hint in lower]
    own = [place for place in (*scope.root, *scope.tree) if place in lower]
    for piece in pieces:
        words = piece.split()
        if _is_loss(words) or _reaches(words, [*hints, *own], scope):
            return [("guard.unreadable", " ".join(words[:MAX_SHOWN]), "")]
    return []


def _is_loss(words: list[str]) -> bool:
    if "git" in words and _is_git_loss(words[words.index("git") + 1 :]):
        return True
    before = 0
    while before < len(words) and (words[before] in _BEFORE or "=" in words[before]):
        before += 1
    words = words[before:]
    if not words:
        return False
    name = words[0].rpartition("/")[2]
    if name in _CATASTROPHIC:
        return _is_grave(words)
    if "$" in name:
        flags = "".join([word for word in words[1:] if word[:1] == "-"])
        return "r" in flags.lower() and "f" in flags
    if len(words) == 1 or name in QUIET:
        return False
    from . import rules

    rule = rules.matched(name, words[1:MAX_SHOWN])
    return bool(rule) and rules.RULES[rule][0] in (rules.ASK, rules.DENY)


def _reaches(words: list[str], hints: list[str], scope: Scope) -> bool:
    """Whether a word is the path of a secret, or of ourselves."""
    for word in words if hints else ():
        lower = word.lower()
        if len(word) > 300 or not any(hint in lower for hint in hints):
            continue
        for path in lower.replace("<", ">").replace("=", ">").replace("$home", "~").split(">"):
            path = TILDE + path[1:] if path[:1] == "~" else path
            rule = paths.rule_for(path, paths.READ, scope.cwd, scope) if path else ""
            if rule in (paths.SECRET, paths.ENV) and is_sure(path, rule):
                return True
            if "/" in path and paths.rule_for(path, paths.WRITE, scope.cwd, scope).startswith("self."):
                return True
    return False


def _is_git_loss(words: list[str]) -> bool:
    verb = words[0] if words else ""
    flags = set(words[1:3])
    return bool(
        (verb == "reset" and "--hard" in words)
        or (verb == "clean" and any(flag[:2] == "-f" or "f" in flag for flag in flags if flag[:1] == "-"))
        or (verb == "push" and flags & {"-f", "--force", "--mirror"})
        or (verb == "stash" and flags & {"drop", "clear"})
        or (verb == "branch" and "-D" in flags)
    )


def _is_grave(words: list[str]) -> bool:
    name = words[0].rpartition("/")[2]
    flags = "".join([word for word in words[1:] if word[:1] == "-"])
    if name == "rm":
        return "r" in flags.lower()
    if name in ("chmod", "chown"):
        return "R" in flags
    if name == "find":
        return "-delete" in words or "-exec" in words
    if name == "dd":
        return any(word.startswith("of=") for word in words)
    return name != "eval" or "$" in " ".join(words)
