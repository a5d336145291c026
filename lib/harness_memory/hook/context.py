"""What every handler needs first: the project, the session with its lock, the client's process."""

from __future__ import annotations

import os

from ..base import files, settings
from ..base.text import brief
from ..project import identity
from ..project.context import Context
from ..session import sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.record import Gathered
    from ..session.sessions import Session
    from .runner import Run


class HookContext(Context):
    """`with context as session:` opens the session under its lock; Busy when another hook holds it."""

    __slots__ = ("_lock", "project", "run")

    def __init__(self, run: Run) -> None:
        event = run.event
        self.run = run
        self.project = identity.locate(run.root, event.launch_dir, event.cwd)
        ends = run.ends - settings.WRITE_RESERVE_SECONDS
        folders = (event.launch_dir or event.cwd,)
        super().__init__(run.root, self.project.dir, self.project.root, self.project.remote, ends, folders)
        wait = min(settings.LOCK_WAIT_SECONDS, max(0.0, run.left() / 2))
        self._lock = sessions.lock(self.project.dir, event.session_id, wait, is_needed=True)

    def __enter__(self) -> Session:
        self._lock.__enter__()
        session = sessions.at_marker(self.project_dir, self.marker())
        if session:
            return session
        from ..session.opening import open_session

        return open_session(self.project_dir, self.run.event.session_id, self.run.now, self.project.name)

    def __exit__(self, *exc: object) -> None:
        self._lock.__exit__(*exc)

    def marker(self) -> dict[str, Any]:
        return sessions.read_marker(self.project_dir, self.run.event.session_id)

    def process(self, marker: dict[str, Any]) -> dict[str, Any]:
        """The client's process; as marked before, while its number is the same."""
        pid, marked = self.run.event.client_pid, marker.get("process")
        if pid and isinstance(marked, dict) and marked.get("pid") == pid:
            return marked
        from ..session import liveness

        return liveness.client_process(pid)

    def activate(self, session: Session, process: dict[str, Any], marker: dict[str, Any]) -> None:
        event = self.run.event
        facts = {**self._facts(), "model": event.model, "channel": event.channel}
        # The marker first, so that the sweep finds what a killed hook leaves.
        sessions.mark_live(self.project_dir, session, process, self.root, marker)
        sessions.activate(session, process, **facts)

    def _facts(self) -> dict[str, str]:
        branch = brief(self.project.branch, settings.NAME_CHARS)
        return {"transcript": self.run.event.transcript_path, "branch": branch}

    def resume(self, session: Session) -> None:
        """Take up a session in the middle of its life, also when its start was missed."""
        if session.is_new:
            self.activate(session, self.process({}), {})
            return
        facts = {
            "transcript": self.run.event.transcript_path,
            "branch": brief(self.project.branch, settings.NAME_CHARS),
        }
        session.meta.update({name: value for name, value in facts.items() if value})

    def publish(self, session: Session, gathered: Gathered, message: str = "") -> None:
        """Write the record, then bring what is derived from it up to date."""
        from ..session import capture, record

        if record.publish(self, session, gathered):
            from ..memory import views

            wait = min(settings.LOCK_WAIT_SECONDS, max(0.0, self.left() / 2))
            views.refresh(self.project_dir, wait)
        if gathered.state.notes_read:
            from ..notes import shelf as notebook

            for path in gathered.state.notes_read:
                for shelf in notebook.shelves(self.store_root, self.project_dir):
                    if os.path.dirname(path) == shelf.folder:
                        notebook.mark_used(shelf, os.path.basename(path)[: -len(".md")])
            gathered.state.notes_read = []
            capture.save(session.dir, gathered.state)
        injected = os.path.join(session.dir, settings.INJECTED_FILE)
        if b'"used": ""' in files.read_head(injected, settings.FILE_MAX_BYTES):
            from ..base import health
            from ..inject import usefulness

            with health.noted(self.store_root, "usefulness"):
                usefulness.settle(session.dir, gathered.state, message)

    def close(self, session: Session) -> None:
        sessions.close(self.project_dir, session)
        self._lock.discard()
