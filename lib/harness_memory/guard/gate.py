"""PreToolUse, the way in: every tool call passes here, nearly all of them in less time than an empty Python takes.

    payload → findings (none: silence) → `decision` → reply

So nothing is imported before it is needed, `os` included. Whatever goes wrong before there is a verdict is answered
with a question to the user, never with silence; whatever goes wrong after it changes nothing of it.
"""

from __future__ import annotations

from ..base import settings
from ..base.payload import read_payload, system, was_cut
from ..base.watchdog import attempt, ending, give_way, watch
from .quick import is_harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_KINDS, _FOLDER, _PLAIN = 0o170000, 0o040000, 0o100000  # of `st_mode`, without the `stat` module
MAX_WHOLE_CHARS = 10_000  # a text of a payload that was cut is whole, if it is no longer than this


class Environment:
    """The environment as text, without `os`."""

    __slots__ = ("raw",)

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def get(self, name: str, default: str = "") -> str:
        value = self.raw.get(name.encode("utf-8", "replace") if system.__name__ == "posix" else name)
        if value is None:
            return default
        return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)

    def __getitem__(self, name: str) -> str:
        return self.get(name)


class Quiet:
    """The policy of those who have none of their own; loads what it is asked for."""

    custom = ()

    @property
    def protected(self) -> tuple[str, ...]:
        from .gitrules import PROTECTED

        return PROTECTED

    def branch(self, cwd: str) -> str:
        from .policy import branch

        return branch(cwd)


class Question:
    """One tool call, and where it is asked."""

    __slots__ = ("cwd", "env", "given", "home", "payload", "project", "root", "tool", "tree")

    def __init__(self, payload: dict[str, Any], env: Environment, tree: str) -> None:
        self.payload = payload
        self.env = env
        self.tree = tree if tree != "." else ""
        self.tool = _text(payload.get("tool_name"))
        given = payload.get("tool_input")
        self.given: dict[str, Any] = given if isinstance(given, dict) else {}
        self.home = (env.get("HOME") or env.get("USERPROFILE")).replace("\\", "/").rstrip("/") or "/"
        self.cwd = _text(payload.get("cwd")).replace("\\", "/") or env.get("PWD") or self.home
        self.project = env.get(settings.ENV_PROJECT_DIR).replace("\\", "/").rstrip("/")
        self.project = self.project or repository(self.cwd, self.home) or self.cwd
        self.root = store_root(env, self.home)

    def is_plain(self) -> bool:
        """Whether nobody has rules of their own here."""
        return not any(
            _exists(path + "/" + settings.GUARD_FILE) for path in (self.root, self.project + "/" + settings.CLAUDE_DIR)
        )

    def scope(self) -> Any:
        from .paths import Scope

        return Scope(home=self.home, project=self.project, cwd=self.cwd, root=self.root, tree=self.tree, env=self.env)


class Verdict:
    """What the guard has to say, None until it is known."""

    __slots__ = ("reply",)

    def __init__(self) -> None:
        self.reply: bytes | None = None


def run(tree: str) -> None:
    """Answer one call and leave the process. `tree` is where this installation lies."""
    env = Environment(system.environ)
    verdict = Verdict()
    reply = b""
    try:
        if env.get(settings.ENV_SWITCH).strip().lower() not in settings.OFF_WORDS:
            _watch(env, verdict)
            reply = answer(env, tree, verdict)
    except BaseException as error:  # noqa: BLE001  (what cannot be judged is asked)
        reply = _without_more(env, verdict, error)
    leave(reply)


def answer(env: Environment, tree: str, verdict: Verdict) -> bytes:
    payload = read_payload()
    question = Question(payload, env, tree)
    if question.tool == "Skill":
        verdict.reply = b""
        return _moment(payload)
    policy: Any = Quiet()
    if not question.is_plain():
        from .policy import load

        policy = load(question.root, question.project)
    found = findings(question, policy)
    reply = b""
    if found:
        from .decision import decide

        reply = decide(question, policy, found)
    verdict.reply = reply
    _stamp(question.root)
    if not reply and _exists(question.root + "/" + settings.TRIGGERS_MARK):
        return _moment(payload)
    return reply


def findings(question: Question, policy: Any) -> list[tuple[str, str, str]]:
    """Every rule that stands against a call, with what it is about."""
    command = question.given.get("command")
    if question.tool == "Bash":
        if not isinstance(command, str):
            return [("guard.failed", "Bash without the text of a command", "")]
        if was_cut() and len(command) > MAX_WHOLE_CHARS:
            return [("guard.unreadable", "a command too long to be read whole", "")]
        if isinstance(policy, Quiet) and is_harmless(command, (question.root, question.tree)):
            return []
    scope = question.scope()
    if not isinstance(policy, Quiet):
        policy.confine(scope)
    if question.tool == "Bash":
        from .judge import findings as judged

        return judged(str(command), scope, question.env, policy)
    from .tools import findings as of_tool

    return of_tool(question.tool, question.given, scope, question.env, policy)


def _moment(payload: dict[str, Any]) -> bytes:
    """The occasion to hand over a skill's profile, or a note that waits for a command or a path."""
    from ..hook import runner

    return runner.handle("PreToolUse", payload)


def _without_more(env: Environment, verdict: Verdict, error: BaseException) -> bytes:
    """What can be said at once when something failed or is late: the verdict, if there is one."""
    asked = unsure(env, error)
    return asked if verdict.reply is None else verdict.reply


def unsure(env: Environment, error: BaseException) -> bytes:
    """The question to the user; the failure is on record then."""
    try:
        from .decision import failed

        return failed(env, error)
    except BaseException:  # noqa: BLE001  (even then not in silence)
        return _LAST_RESORT


_LAST_RESORT = (
    b'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason":'
    b' "Harness guard: this call could not be judged. See: harness memory doctor"}}'
)


def _watch(env: Environment, verdict: Verdict) -> None:
    def late() -> None:
        what = "no verdict" if verdict.reply is None else "a verdict, but nothing to go with it"
        error = TimeoutError("%s within %.1f seconds" % (what, settings.GUARD_DEADLINE_SECONDS))
        said = [_LAST_RESORT if verdict.reply is None else verdict.reply]
        attempt(lambda: said.append(_without_more(env, verdict, error)))
        leave(said[-1], is_late=True)

    watch(settings.GUARD_DEADLINE_SECONDS, late)


def leave(reply: bytes, *, is_late: bool = False) -> None:
    if not ending.acquire(not is_late):
        give_way()
        system._exit(0)
    try:
        while reply:
            reply = reply[system.write(1, reply) :]
    except OSError:
        pass
    system._exit(0)


def store_root(env: Environment, home: str) -> str:
    """As `store.root_from`, without `os`; a relative path is from where the client runs."""
    own = env.get(settings.ENV_HOME)
    if own[:1] == "~":
        own = home + own[1:]
    root = own or (env.get(settings.ENV_CONFIG_DIR) or home + "/" + settings.CLAUDE_DIR) + "/" + settings.STORE_DIR
    root = root.replace("\\", "/") if system.__name__ == "nt" else root
    return root if root[:1] == "/" or root[1:2] == ":" else env.get("PWD") + "/" + root


def repository(path: str, home: str) -> str:
    """The nearest folder from `path` up that is a repository, short of the home directory; "" for none."""
    for _ in range(settings.PARENTS_SEARCHED):
        if path in ("", "/", home):
            break
        if _exists(path + "/.git"):
            return path
        path = path.rpartition("/")[0]
    return ""


def _exists(path: str) -> bool:
    try:
        system.lstat(path)
    except (OSError, ValueError):
        return False
    return True


def _stamp(root: str) -> None:
    """`doctor` sees by this that the hook runs."""
    health = root + "/" + settings.HEALTH_DIR
    folder = health + "/" + settings.LAST_RUN_DIR
    path = folder + "/PreToolUse"
    try:
        if _is_own(health, _FOLDER) and _is_own(folder, _FOLDER) and _is_own(path, _PLAIN):
            system.utime(path)
            return
    except OSError:
        pass
    from ..base import files

    try:
        files.confine(root)
        files.ensure_private(root)
        files.touch(path)
    except OSError:
        pass  # a store that cannot be written is `doctor`'s own finding


def _is_own(path: str, kind: int) -> bool:
    """Whether a path is no link, has no second name elsewhere, and belongs to us."""
    info = system.lstat(path)
    is_single = info.st_nlink == 1 or kind == _FOLDER
    return info.st_mode & _KINDS == kind and is_single and (system.__name__ == "nt" or info.st_uid == system.geteuid())


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
