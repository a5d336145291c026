"""What every handler looks up first: the project, the session and its lock, the client's process."""

from __future__ import annotations

import os

from ..base import files, health, settings
from ..base.text import brief
from ..project import identity
from ..session import record, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..project.context import Context
    from ..session.record import Gathered
    from ..session.sessions import Session
    from .runner import Run


class Scene:
    """`with scene as session:` works on the session's files alone."""

    __slots__ = ("_lock", "project", "run")

    def __init__(self, run: Run) -> None:
        self.run = run
        self.project = identity.locate(run.root, run.event.launch_dir, run.event.cwd)
        wait = min(settings.LOCK_WAIT_SECONDS, max(0.0, run.left() / 2))
        self._lock = sessions.lock(self.project.dir, run.event.session_id, wait)

    def __enter__(self) -> Session:
        if not self._lock.__enter__():
            raise TimeoutError("another hook of this session held its lock; the next run does this one's work")
        return self.session()

    def __exit__(self, *exc: object) -> None:
        self._lock.__exit__(*exc)

    def session(self) -> Session:
        return sessions.open_session(self.project.dir, self.run.event.session_id, self.run.now, self.project.name)

    def branch(self) -> str:
        return brief(self.project.branch, settings.NAME_CHARS)

    def marker(self) -> dict[str, Any]:
        return sessions.read_marker(self.project.dir, self.run.event.session_id)

    def process(self, marker: dict[str, Any]) -> dict[str, Any]:
        """The client's process; as marked before, while its number is the same."""
        told, known = self.run.event.client_pid, marker.get("process")
        if told and isinstance(known, dict) and known.get("pid") == told:
            return known
        from ..session import liveness

        return liveness.client_process(told)

    def activate(self, session: Session, process: dict[str, Any], marker: dict[str, Any]) -> None:
        """ACTIVE on disk: the marker first, so that recovery finds whatever we leave."""
        sessions.mark_live(self.project.dir, session, process, self.project.root, marker)
        if sessions.set_active(session, self.run.event, process, self.branch()):
            session.save(durable=session.is_new)

    def refresh(self, session: Session) -> None:
        """Take a session up in the middle of its life, whether or not its start was seen."""
        if session.is_new:
            self.activate(session, self.process({}), {})
            return
        for key, value in (("transcript", self.run.event.transcript_path), ("branch", self.branch())):
            session.meta[key] = value or session.meta.get(key)

    def close(self, session: Session) -> None:
        sessions.close(self.project.dir, session)
        self._lock.discard()

    def publish(self, session: Session, gathered: Gathered, message: str = "") -> None:
        """Write the record, then bring what is derived from it up to date."""
        place, root, project_dir = self.place(), self.run.root, self.project.dir
        if record.publish(place, session, gathered):
            from ..memory import views

            wait = min(settings.LOCK_WAIT_SECONDS, place.left() / 2)
            views.refresh(project_dir, changed=[session.episode_name], wait_seconds=wait)
        if gathered.state["notes_read"]:
            from ..notes import shelf as notebook

            for path in gathered.state["notes_read"]:
                for shelf in notebook.shelves(root, project_dir):
                    if os.path.dirname(path) == shelf.folder:
                        notebook.mark_used(shelf, os.path.basename(path)[: -len(".md")])
            gathered.state["notes_read"] = []
            sessions.save_capture(session, gathered.state)
        injected = os.path.join(session.dir, settings.INJECTED_FILE)
        if b'"used": ""' in files.read_head(injected, settings.FILE_MAX_BYTES):
            from ..inject import usefulness

            with health.noted(root, "usefulness"):
                usefulness.settle(session.dir, gathered.state, message)

    def place(self) -> Context:
        from ..project.context import Context

        run, project = self.run, self.project
        folders = (run.event.launch_dir or run.event.cwd,)
        ends = run.ends - settings.WRITE_RESERVE_SECONDS
        return Context(run.root, project.dir, project.root, project.remote, ends, folders)
