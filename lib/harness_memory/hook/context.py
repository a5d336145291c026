"""What every handler needs first: the project, the session with its lock, the client's process."""

from __future__ import annotations

import os

from ..base import files, settings
from ..base.text import brief
from ..project.context import Context, Project
from ..session import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.capture import Capture
    from ..session.sessions import Session
    from .runner import Run


class HookContext(Context):
    """`with context as session:` opens the session under its lock; Busy when another hook holds it."""

    __slots__ = ("_lock", "launch", "project", "run")

    def __init__(self, run: Run) -> None:
        event = run.event
        self.run = run
        self.launch = event.launch_dir or event.cwd
        self.project = project = self._project()
        ends = run.ends - settings.WRITE_RESERVE_SECONDS
        super().__init__(run.root, project.dir, project.root, project.remote, ends, (self.launch,))
        wait = min(settings.LOCK_WAIT_SECONDS, max(0.0, run.left() / 2))
        self._lock = sessions.lock(project.dir, event.session_id, wait, is_needed=True)

    def _project(self) -> Project:
        """The project that the session was launched in, by its marker if it has one; a start looks for itself."""
        run, event = self.run, self.run.event
        if event.name != "SessionStart":
            directory, marker = sessions.find_marker(run.root, event.session_id)
            if self.launch and marker.get("launch") == self.launch:
                name, root, remote = (str(marker.get(key) or "") for key in ("name", "root", "remote"))
                return Project(directory, name, root, remote, branch="")
        from ..project import identity

        return identity.locate(run.root, event.launch_dir, event.cwd)

    def __enter__(self) -> Session:
        self._lock.__enter__()
        session = sessions.open_session(self.project_dir, self.run.event.session_id, self.run.now, self.project.name)
        self.project.branch = self.project.branch or str(session.meta.get("branch") or "")
        return session

    def __exit__(self, *exc: object) -> None:
        self._lock.__exit__(*exc)

    def marker(self) -> dict[str, Any]:
        return sessions.read_marker(self.project_dir, self.run.event.session_id)

    def process(self, marker: dict[str, Any]) -> dict[str, Any]:
        """The client's process; as marked before, while its number is the same."""
        pid, marked = self.run.event.client_pid, marker.get("process") or {}
        if pid and marked.get("pid") == pid:
            return dict(marked)
        from ..session import liveness

        return liveness.client_process(pid)

    def activate(self, session: Session, process: dict[str, Any], marker: dict[str, Any]) -> None:
        event, branch = self.run.event, brief(self.project.branch, settings.NAME_CHARS)
        facts = {"transcript": event.transcript_path, "branch": branch, "model": event.model, "channel": event.channel}
        sessions.activate(self.project, session, process, self.launch, marker, **facts)

    def record(self, session: Session, facts: dict[str, Any], *, is_over: bool = False) -> bool:
        """Bring the record up to date, with `facts` in META, then what is derived from it; whether it is whole."""
        from ..session import record

        event = self.run.event
        if session.is_new:  # its start was missed
            self.activate(session, self.process({}), {})
        session.meta.update(facts, transcript=event.transcript_path or session.meta.get("transcript"))
        now, message, title = self.run.now if event.name == "Stop" else 0.0, event.last_message, event.title
        gathered = record.update(self, session, message=message, title=title, now=now, is_over=is_over)
        if gathered.is_changed:
            from ..memory import views

            wait = min(settings.LOCK_WAIT_SECONDS, max(0.0, self.left() / 2))
            views.refresh(self.project_dir, wait, changed=session.episode_name)
        if gathered.state.notes_read:
            self._mark_notes(session, gathered.state)
        injected = os.path.join(session.dir, settings.INJECTED_FILE)
        if b'"used": ""' in files.read_part(injected, settings.FILE_MAX_BYTES):
            from ..inject import usefulness

            usefulness.settle(session.dir, gathered.state, message)
        return gathered.is_whole

    def _mark_notes(self, session: Session, state: Capture) -> None:
        from ..notes import shelf as notebook
        from ..session import capture

        for shelf in notebook.shelves(self.store_root, self.project_dir):
            for folder, name in map(os.path.split, state.notes_read):
                if folder == shelf.folder:
                    shelf.mark_used(name[: -len(".md")])
        state.notes_read = []
        capture.save(session.dir, state)

    def close(self, session: Session) -> None:
        sessions.close(self.project_dir, session)
        self._lock.discard()
