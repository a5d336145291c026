"""One tool call and the rules against it. Nearly every call ends here, so nothing is imported early, `os` included."""

from __future__ import annotations

from ..base import settings
from ..base.process import system
from ..base.typing import Any
from .quick import is_harmless


class Environment:
    """The environment as text, without `os`."""

    __slots__ = ("raw",)

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def get(self, name: str) -> str:
        value = self.raw.get(name.encode("utf-8", "replace") if system.__name__ == "posix" else name, "")
        return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


class Question:
    __slots__ = ("cwd", "env", "given", "home", "payload", "project", "root", "tool", "tree")

    def __init__(self, payload: dict[str, Any], env: Environment, tree: str) -> None:
        self.payload = payload
        self.env = env
        self.tree = tree if tree != "." else ""
        self.tool = str(payload.get("tool_name") or "")
        given = payload.get("tool_input")
        self.given: dict[str, Any] = given if isinstance(given, dict) else {}
        self.home = (env.get("HOME") or env.get("USERPROFILE")).replace("\\", "/").rstrip("/") or "/"
        self.cwd = str(payload.get("cwd") or "").replace("\\", "/") or env.get("PWD") or self.home
        self.project = env.get(settings.ENV_PROJECT_DIR).replace("\\", "/").rstrip("/")
        self.project = self.project or repository(self.cwd, self.home) or self.cwd
        self.root = store_root(env, self.home)

    def policy(self) -> Any:
        """The rules in force here; None where no rule file exists."""
        folders = (self.root, self.project + "/" + settings.CLAUDE_DIR)
        if not any(exists(folder + "/" + settings.GUARD_FILE) for folder in folders):
            return None
        from .policy import load

        return load(self.root, self.project)

    def scope(self) -> Any:
        from .paths import Scope

        return Scope(self)


def findings(question: Question, policy: Any) -> list[tuple[str, str, str]]:
    """Every rule that stands against a call, with what it is about."""
    command = question.given.get("command")
    if question.tool != "Bash":
        from .tools import findings as of_tool

        found = of_tool(question.tool, question.given, question.scope(), policy)
    elif not isinstance(command, str):
        return [("guard.failed", "Bash without the text of a command", "")]
    elif policy is None and is_harmless(command, (question.root, question.tree)):
        return []
    else:
        from .judge import findings as of_command  # without the module of all other tools

        found = of_command(command, question.scope(), policy)
    if policy is not None and policy.custom:
        from . import match

        found += policy.custom_findings(match.facts(question))
    return found


def store_root(env: Environment, home: str) -> str:
    """As `files.root_from`, without `os`. A relative path starts where the client runs."""
    own = env.get(settings.ENV_HOME)
    own = home + own[1:] if own[:1] == "~" else own
    root = own or (env.get(settings.ENV_CONFIG_DIR) or home + "/" + settings.CLAUDE_DIR) + "/" + settings.STORE_DIR
    root = root.replace("\\", "/") if system.__name__ == "nt" else root
    return root if root[:1] == "/" or root[1:2] == ":" else env.get("PWD") + "/" + root


def repository(path: str, home: str) -> str:
    """The nearest repository from `path` upwards, below the home directory; "" without one."""
    for _ in range(settings.PARENTS_SEARCHED):
        if path in ("", "/", home):
            break
        if exists(path + "/.git"):
            return path
        path = path.rpartition("/")[0]
    return ""


def exists(path: str) -> bool:
    try:
        system.lstat(path)
    except (OSError, ValueError):
        return False
    return True
