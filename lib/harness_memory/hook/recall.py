"""A prompt calls for earlier work: the few sessions and notes that matter, once a session."""

from __future__ import annotations

import os
import time

from ..base import config, invocation, neutral, settings
from ..base.text import cut
from ..inject import compose as inject
from ..inject import receipt
from ..recall import cache, ranking
from ..recall.index import ARCHIVED, NOTE, SESSION
from ..recall.terms import terms
from ..session.sessions import day_and_id
from . import reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..recall.index import Record
    from ..session.capture import Capture
    from ..session.sessions import Session
    from .context import HookContext

# Stems of what people say to keep work going.
_GO_AHEAD = frozenset(
    ("again", "ahead", "commit", "continu", "correct", "do", "done", "fine", "fix", "go", "good", "great", "hello")
    + ("hi", "keep", "next", "nice", "no", "nope", "ok", "okai", "perfect", "proceed", "push", "redo", "retri", "run")
    + ("stop", "sure", "test", "thank", "undo", "wait", "ya", "ye", "yeah", "yep", "yes")
)


def begin(scene: HookContext, session: Session, state: Capture) -> dict[str, Any] | None:
    """The caller holds the session's lock."""
    run = scene.run
    items = config.load(run.root)["recall_items"]
    is_asking = any(word not in _GO_AHEAD for word in terms(run.event.prompt[: settings.ASK_CHARS]))
    if not items or not is_asking or run.left() < settings.RECALL_RESERVE_SECONDS:
        return None
    told = receipt.load(session.dir)
    try:
        records = _search(scene, session, state, told, items)
    except cache.DAMAGE:
        cache.drop(scene.project.dir)
        return None
    if not records:
        return None
    injection = _composed(scene, records)
    told["recalled"] += [item["item"] for part, _ in injection.shown for item in part.items]
    receipt.record(session, told, injection, run.event.name, "recall", run.now, state.files_total)
    return reply.context(run.event.name, injection.text)


def _search(scene: HookContext, session: Session, state: Capture, told: dict[str, Any], most: int) -> list[Record]:
    """What is worth injecting, best first."""
    run, project_dir = scene.run, scene.project.dir
    own = frozenset((session.id, *told["own"], state.thread))
    ends = min(run.ends - settings.RECALL_RESERVE_SECONDS, time.monotonic() + settings.RECALL_REFRESH_SECONDS)
    source = cache.open_source(run.root, project_dir, run.now, ends, own=own, is_whole=False)
    if source is None:
        return []

    def is_unwanted(number: int) -> bool:
        record = source.record(number)
        if record.id in told["recalled"] or (record.kind == SESSION and day_and_id(record.id)[1] in own):
            return True
        local = os.path.join(session.dir, settings.LOCAL_DIR, record.id.rpartition("/")[2] + ".md")
        if record.kind == NOTE and os.path.exists(local):
            return True
        return not os.path.isfile(cache.path_of(run.root, project_dir, record))

    prompt = run.event.prompt
    prompts = [ask for ask in state.prompts() if not prompt.startswith(ask.rstrip("…"))]
    query = ranking.Query(prompt, prompts=prompts, branch=scene.project.branch, files=state.files)
    return [source.record(number) for number in ranking.pick(source, query, run.now, is_unwanted, most)]


def _composed(scene: HookContext, records: list[Record]) -> inject.Injection:
    """As many of the records as fit whole."""
    for count in range(len(records), 0, -1):
        part = _part(scene.project.name, records[:count])
        injection = inject.compose([part], settings.RECALL_UNITS, scene.project.name)
        if injection.shown and injection.shown[0][1] == len(part.lines):
            break
    return injection


def _part(project: str, records: list[Record]) -> inject.Part:
    lines: list[str] = []
    for each in records:
        name = day_and_id(each.id)[1] if each.kind == SESSION else each.id.rpartition("/")[2]
        scope = "user" if each.id.startswith("user/") else project
        label = "" if each.kind == SESSION else each.kind + ": "
        text = label + cut(each.line, settings.RECALL_LINE_CHARS)
        lines.append(neutral.line("- [%s %s] %s" % (scope, each.day, text)))
        more = len(each.files) - settings.RECALL_FILES_SHOWN
        files = ", ".join(each.files[: settings.RECALL_FILES_SHOWN]) + (", +%d" % more if more > 0 else "")
        lines += ["  files: " + neutral.line(files)] if files else []
        verb = "restore" if each.kind == ARCHIVED else "show"
        command = "%s %s %s" % (invocation.own_command(), verb, invocation.quote(name))
        lines.append(neutral.one_line_of("  whole: " + command))
    part = inject.Part("recall", "Possibly related earlier work", lines)
    part.items = [{"item": each.id, "kind": each.kind, "files": each.files} for each in records]
    return part
