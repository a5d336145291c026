"""What every handler needs first: the project, the session with its lock, the client's process."""

from __future__ import annotations

from ..base import settings
from ..base.text import brief
from ..project.context import Context, Project
from ..session import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.sessions import Session
    from .runner import Run


class HookContext(Context):
    """`with context as session:` opens the session under its lock; Busy when another hook holds it."""

    __slots__ = ("_lock", "_marker", "launch", "project", "run")

    def __init__(self, run: Run) -> None:
        self.run, event = run, run.event
        self.launch = event.launch_dir or event.cwd
        # A session stays in the project that it was launched in: its marker knows which. A start looks for itself.
        is_start = event.name == "SessionStart"
        directory, marker = ("", {}) if is_start else sessions.find_marker(run.root, event.session_id)
        self._marker = marker
        if self.launch and marker.get("launch") == self.launch:
            name, root, remote = (str(marker.get(key) or "") for key in ("name", "root", "remote"))
            self.project = project = Project(directory, name, root, remote, branch="")
        else:
            from ..project import identity

            self.project = project = identity.locate(run.root, event.launch_dir, event.cwd)
        ends = run.ends - settings.WRITE_RESERVE_SECONDS
        super().__init__(run.root, project.dir, project.root, project.remote, ends, (self.launch,))
        self._lock = sessions.lock(project.dir, event.session_id, self.patience(), is_needed=True)

    def __enter__(self) -> Session:
        self._lock.__enter__()
        claude_id, project = self.run.event.session_id, self.project
        session = sessions.at_marker(project.dir, self._marker)
        session = session or sessions.open_session(project.dir, claude_id, self.run.now, project.name)
        project.branch = project.branch or str(session.meta.get("branch") or "")
        return session

    def __exit__(self, *exc: object) -> None:
        self._lock.__exit__(*exc)

    def activate(self, session: Session, process: dict[str, Any] | None = None) -> None:
        """Make the session ACTIVE, run by `process`, else as marked before while the client's number is the same."""
        event, marker = self.run.event, sessions.read_marker(self.project_dir, session.claude_id)
        process = process or marker.get("process") or {}
        if not process or event.client_pid not in (0, process.get("pid")):
            from ..session import liveness

            process = liveness.client_process(event.client_pid)
        branch = brief(self.project.branch, settings.NAME_CHARS)
        facts = {"transcript": event.transcript_path, "branch": branch, "model": event.model, "channel": event.channel}
        sessions.activate(self.project, session, process, self.launch, marker, **facts)

    def close(self, session: Session) -> None:
        sessions.close(self.project_dir, session)
        self._lock.discard()

    def patience(self) -> float:
        return min(settings.LOCK_WAIT_SECONDS, max(0.0, self.left() / 2))
