"""A prompt calls for something earlier: the few sessions and notes that matter, once a session."""

from __future__ import annotations

import os

from .. import recall
from ..base import config, invocation, neutral, settings
from ..base.text import cut
from ..inject import compose as inject
from ..inject import receipt
from ..recall import cache, documents, stock
from ..recall.segment import Damaged
from ..session import capture
from ..session.sessions import day_and_id
from . import reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..recall.stock import Stock
    from ..session.sessions import Session
    from .scene import Scene

# Stems of what people say to keep work going: they ask for nothing that could be remembered.
_GO_AHEAD = frozenset(
    ("again", "ahead", "commit", "continu", "correct", "do", "done", "fine", "fix", "go", "good", "great", "hello")
    + ("hi", "keep", "next", "nice", "no", "nope", "ok", "okai", "perfect", "proceed", "push", "redo", "retri", "run")
    + ("stop", "sure", "test", "thank", "undo", "wait", "ya", "ye", "yeah", "yep", "yes")
)


def begin(scene: Scene, session: Session, state: dict[str, Any]) -> dict[str, Any] | None:
    """The caller holds the session's lock."""
    run = scene.run
    settled = config.load(run.root)
    if not settled["recall_items"] or run.left() < settings.RECALL_RESERVE_SECONDS or not _asks(run.event.prompt):
        return None
    told = receipt.load(session.dir)
    found = _found(scene, session, state, told, settled["recall_items"])
    if not found:
        return None
    is_held = receipt.is_held_back(str(session.meta["claude_session"]), settled["recall_holdout"])
    injection = _composed(scene, found, is_held=is_held)
    told["recalled"] += [item["item"] for part, _ in injection.shown for item in part.items]
    if is_held:
        injection.hold()
    why = "held back" if is_held else "recall"
    receipt.record(session, told, injection, run.event.name, why, run.now, state["files_total"])
    return reply.context(run.event.name, injection.text)


def _asks(prompt: str) -> bool:
    """Whether a prompt says anything beyond "yes, go on"."""
    return any(word not in _GO_AHEAD for word in recall.terms(prompt[: settings.ASK_CHARS]))


def _found(scene: Scene, session: Session, state: dict[str, Any], told: dict[str, Any], most: int) -> list[list[Any]]:
    """What is shown of each thing worth handing over, best first."""
    run = scene.run
    found = stock.open_stock(run.root, scene.project.dir)
    if found is None:
        return []
    context = {
        "prompts": [ask for ask in capture.asks(state) if not run.event.prompt.startswith(ask.rstrip("…"))],
        "branch": scene.project.branch,
        "files": state["files"],
    }
    own = {session.id, *told["own"], state["thread"]}
    skip = _Skipped(found, run.root, scene.project.dir, session.dir, own, {*told["recalled"]})
    try:
        found.settle(run.now)
        picked = recall.pick(found, run.event.prompt, now=run.now, context=context, limit=most, skip=skip)
    except (Damaged, IndexError):  # the next start makes it anew
        for home in (scene.project.dir, os.path.join(run.root, settings.USER_DIR)):
            cache.drop(home)
        return []
    finally:
        found.close()
    return [found.records[id] for _, id in picked]


class _Skipped:
    """What must not be handed over, looked at only when it would be."""

    __slots__ = ("dirs", "own", "source", "told")

    def __init__(
        self, source: Stock, root: str, project_dir: str, session_dir: str, own: set[str], told: set[str]
    ) -> None:
        self.source = source
        self.dirs = (root, project_dir, session_dir)
        self.own = own
        self.told = told

    def __contains__(self, id: object) -> bool:
        name = str(id)
        kind = self.source.records[name][1]
        if kind == documents.SESSION and day_and_id(name)[1] in self.own:
            return True
        root, project_dir, _ = self.dirs
        is_stale = name in self.told or stock.is_gone(root, project_dir, name, kind)
        return is_stale or (kind == documents.NOTE and self._does_not_hold(name))

    def _does_not_hold(self, ref: str) -> bool:
        root, project_dir, session_dir = self.dirs
        slug = ref.partition("/")[2]
        if self.source.is_hidden(ref) or os.path.exists(os.path.join(session_dir, settings.LOCAL_DIR, slug + ".md")):
            return True
        if not stock.are_notes_newer(root, project_dir):
            return False
        from ..notes import shelf as notebook

        shelves = notebook.shelves(root, project_dir)
        note = next((shelf.note(slug) for shelf in shelves if shelf.scope == ref.partition("/")[0]), None)
        return note is None or bool(notebook.fate_of(shelves, note))


def _composed(scene: Scene, found: list[list[Any]], *, is_held: bool) -> inject.Injection:
    """As many of the items as fit whole."""
    for count in range(len(found), 0, -1):
        part = _part(scene, found[:count])
        for item in part.items:
            item["held"] = is_held
        injection = inject.compose([part], settings.RECALL_UNITS, scene.project.name)
        if injection.shown and injection.shown[0][1] == len(part.lines):
            return injection
    return injection


def _part(scene: Scene, found: list[list[Any]]) -> inject.Part:
    lines: list[str] = []
    items = []
    for id, kind, day, line, files in found:
        name = day_and_id(id)[1] if kind == documents.SESSION else id.rpartition("/")[2]
        scope = "user" if id.startswith("user/") and kind == documents.NOTE else scene.project.name
        label = "" if kind == documents.SESSION else kind + ": "
        lines.append(neutral.line("- [%s %s] %s" % (scope, day, label + cut(line, settings.RECALL_LINE_CHARS))))
        lines += ["  files: " + neutral.line(_some(files))] if files else []
        verb = "restore" if kind == documents.ARCHIVED else "show"
        lines.append(
            neutral.one_line_of("  whole: %s %s %s" % (invocation.own_command(), verb, invocation.quote(name)))
        )
        items.append({"item": id, "kind": kind, "files": files})
    part = inject.Part("recall", "Earlier, and perhaps about this", lines, "", "")
    part.items = items
    return part


def _some(files: list[str]) -> str:
    shown = ", ".join(files[: settings.RECALL_FILES_SHOWN])
    more = len(files) - settings.RECALL_FILES_SHOWN
    return shown + (", +%d" % more if more > 0 else "")
