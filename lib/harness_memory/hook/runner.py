"""The one place where a hook meets the outside: stdin, stdout, environment, clock, exit code.

Protocol: one JSON object on standard input; on standard output nothing, one JSON object that Claude Code
understands, or (PreCompact) a sentence for it; always exit code 0 and an empty standard error. A failure leaves a
stamp in the store (see `health`), and the session goes on without us.
"""

from __future__ import annotations

import os
import sys
import time

from ..base import files, jsontext, settings
from ..base.process import BadPayload, attempt, leave, pin, read_payload, watch
from ..base.text import brief, brief_of, clean
from ..base.typing import Any, Callable, Mapping, Sequence
from ..project import Context, Project
from ..session import sessions
from ..session.sessions import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..inject.injection import Part, Receipt


class Event:
    """What the client sends, checked. Nothing here is a path before `safe_id` or `locate` has checked it."""

    def __init__(self, name: str, payload: Mapping[str, Any], env: Mapping[str, str]) -> None:
        self.name, self.payload = name, payload
        self.session_id = self.text("session_id", 1000) or clean(env.get(settings.ENV_SESSION_ID), 1000)
        if not self.session_id:
            raise BadPayload("the payload has no session_id")
        self.cwd, self.transcript_path = _path(payload.get("cwd")), _path(payload.get("transcript_path"))
        self.agent_id, self.source = self.text("agent_id"), self.text("source")
        most = settings.TEXT_FIELD_MAX_CHARS
        self.prompt = self.text("prompt", most) or self.text("error", most)
        tool_input = payload["tool_input"] if isinstance(payload.get("tool_input"), dict) else {}
        self.skill = clean(tool_input.get("skill"), settings.NAME_CHARS)
        self.command = clean(tool_input.get("command"), most)
        self.path = _path(tool_input.get("file_path") or tool_input.get("notebook_path"))
        self.launch_dir = _path(env.get(settings.ENV_PROJECT_DIR))
        self.channel = clean(env.get(settings.ENV_ENTRYPOINT), 40)
        self.is_attended = env.get(settings.ENV_ATTENDED) != "0" and self.channel != "sdk-cli"
        pid = env.get(settings.ENV_CLIENT_PID, "")
        self.client_pid = int(pid) if pid.isascii() and pid.isdigit() and len(pid) < 10 else 0

    def text(self, key: str, limit: int = settings.NAME_CHARS) -> str:
        return clean(self.payload.get(key), limit)

    def label(self, key: str) -> str:
        return brief_of(self.payload.get(key), settings.NAME_CHARS)


def _path(value: object) -> str:
    path = clean(value, settings.PATH_CHARS)
    return "" if "\0" in path else path


class Run(Context):
    """An event in its project. `with run as session:` opens the session under its lock, or raises OSError."""

    __slots__ = ("_marker", "event", "launch", "lock", "now", "project", "rules")

    def __init__(self, event: Event, store_root: str, ends: float, rules: Sequence[dict[str, Any]]) -> None:
        self.event, self.now, self.rules = event, time.time(), rules  # of notes, met by a tool call
        self.launch = event.launch_dir or event.cwd
        # A session stays in the project that it was launched in: its marker knows which. A start looks for itself.
        is_start = event.name == "SessionStart"
        directory, self._marker = ("", {}) if is_start else sessions.find_marker(store_root, event.session_id)
        if self.launch and self._marker.get("launch") == self.launch:
            name, root, remote = (str(self._marker.get(key) or "") for key in ("name", "root", "remote"))
            self.project = project = Project(directory, name, root, remote, branch="")
        else:
            from ..project import identity

            self.project = project = identity.locate(store_root, event.launch_dir, event.cwd)
        # Reading must leave time for writing.
        super().__init__(store_root, project.dir, project.root, project.remote, ends - 0.5, (self.launch,))
        self.lock = sessions.lock(project.dir, event.session_id, self.patience(), is_needed=True)

    def __enter__(self) -> Session:
        self.lock.__enter__()
        claude_id, project = self.event.session_id, self.project
        session = sessions.at_marker(project.dir, self._marker)
        if not session:
            from ..session import life

            session = life.open_session(project.dir, claude_id, self.now, project.name)
        project.branch = project.branch or str(session.meta.get("branch") or "")
        return session

    def __exit__(self, *exc: object) -> None:
        self.lock.__exit__(*exc)

    def activate(self, session: Session, process: dict[str, Any] | None = None) -> None:
        """Make the session ACTIVE, run by `process`, else as marked before while the client's number is the same."""
        from ..session import life

        event, marker = self.event, self._marker or sessions.read_marker(self.project_dir, session.claude_id)
        process = process or marker.get("process") or {}
        if not process or event.client_pid not in (0, process.get("pid")):
            process = life.client_process(event.client_pid)
        branch, model = brief(self.project.branch, settings.NAME_CHARS), event.label("model")
        facts = {"transcript": event.transcript_path, "branch": branch, "model": model, "channel": event.channel}
        life.activate(self.project, session, process, self.launch, marker, **facts)

    def patience(self) -> float:
        return min(settings.LOCK_WAIT_SECONDS, max(0.0, self.left() / 2))

    def hand_over(self, session: Session, injected: Receipt, parts: list[Part], why: str) -> dict[str, Any] | None:
        """Reply with the parts, on the receipt of the session; the caller holds its lock."""
        from ..inject.injection import compose

        injection = compose(parts, 4000, self.project.name, injected)
        injected.offer(parts)
        if injection.text:
            injected.record(session.dir, injection, self.event.name, why, self.now)
        return self.reply(injection.text)

    def reply(self, text: str, message: str = "") -> dict[str, Any] | None:
        """Text for the model, and a line that only the user sees; None when there is neither."""
        own = {"hookEventName": self.event.name, "additionalContext": text}  # the client ignores any other event name
        values = {"systemMessage": message, "hookSpecificOutput": own if text else None}
        return {key: value for key, value in values.items() if value} or None


def run(name: str, handler: str, finish: Callable[[], None]) -> None:
    """Have a module of this package handle one event and leave the process; never returns, never fails."""
    root, reply = "", b""
    pin(sys.argv)
    seconds = settings.SESSION_END_DEADLINE_SECONDS if name == "SessionEnd" else settings.DEADLINE_SECONDS

    def late() -> None:
        attempt(lambda: _stamp(root, name, "not done within its deadline; the next run does the rest"))
        leave(b"", is_late=True)

    try:
        if os.environ.get(settings.ENV_SWITCH, "").strip().lower() not in settings.OFF_WORDS:
            root = files.root_from(os.environ)
            files.confine(root)
            watch(seconds + 0.3, late)
            reply = _reply(name, handler, root, time.monotonic() + seconds, read_payload())
    except BaseException as error:  # noqa: BLE001  (the failure policy of every hook)
        _stamp(root, name, error)
        if name == "SessionStart" and isinstance(error, OSError):  # the store may take no stamp
            what = "Harness Memory: %s: %s." % (brief(str(error.filename or root), settings.ITEM_CHARS), error.strerror)
            what += " Nothing is remembered until that is corrected; then: harness memory backfill."
            reply = jsontext.compact({"systemMessage": what + " See: harness memory doctor"}).encode("utf-8", "replace")
    leave(reply, finish)


def trigger(payload: dict[str, Any], rules: list[dict[str, Any]]) -> bytes:
    """The reply to a tool call that is already read, and `rules` of notes that it met."""
    root, ends = files.root_from(os.environ), time.monotonic() + settings.GUARD_DEADLINE_SECONDS
    files.confine(root)
    return _reply("PreToolUse", "trigger", root, ends, payload, rules)


def _reply(
    name: str, handler: str, root: str, ends: float, payload: dict[str, Any], rules: Sequence[dict[str, Any]] = ()
) -> bytes:
    event = Event(name, payload, os.environ)
    if event.agent_id and name not in ("PreToolUse", "SubagentStart"):
        return b""  # a subagent neither starts nor ends its session
    opened = files.ensure_private(root)
    if opened:
        _stamp(root, name, opened)
    handle = __import__("%s.%s" % (__package__, handler), fromlist=["handle"]).handle
    reply = handle(Run(event, root, ends, rules))
    mark = os.path.join(root, settings.LAST_RUN_DIR, name)
    try:
        os.close(files.open_plain(mark, files.O_APPEND))  # a link, or another user's file, is an error
        os.utime(mark)
    except OSError:
        pass  # the reply matters more
    text = reply if isinstance(reply, str) else jsontext.compact(reply) if reply else ""
    return text.encode("utf-8", "replace")


def _stamp(root: str, name: str, error: BaseException | str) -> None:
    try:
        from ..base import health

        if root and getattr(error, "filename", "") != root:  # else the store itself is unusable
            health.note_failure(root, name, error)
    except BaseException:  # noqa: BLE001  (nowhere left to report it)
        pass
