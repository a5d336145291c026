"""A prompt calls for earlier work: the few sessions and notes that matter, once a session."""

from __future__ import annotations

import os
import time

from ..base import config, neutral, settings
from ..base.text import cut
from ..inject.injection import Part, compose, load_receipt
from ..recall import cache, ranking
from ..recall.index import ARCHIVED, NOTE, SESSION
from ..recall.terms import terms
from ..session.sessions import day_and_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..inject.injection import Receipt
    from ..recall.index import Record
    from ..session.capture import Capture
    from ..session.sessions import Session
    from .runner import Run

# What people say to keep work going.
_WORDS = (
    "again ahead commit continue correct do done fine fix go good great hello hi keep next nice no nope ok okay perfect"
    " proceed push redo retry run stop sure test thank undo wait ya ye yeah yep yes"
)
_GO_AHEAD = frozenset(terms(_WORDS))


def begin(run: Run, session: Session, state: Capture) -> dict[str, Any] | None:
    """The caller holds the session's lock."""
    most = int(config.load(run.store_root)["recall_items"])
    is_asking = any(word not in _GO_AHEAD for word in terms(run.event.prompt[: settings.ASK_CHARS]))
    if not most or not is_asking or run.left() < settings.RECALL_RESERVE_SECONDS:
        return None
    injected = load_receipt(session.dir)
    try:
        records = _search(run, session, state, injected, most)
    except cache.DAMAGE:
        cache.drop(run.project_dir)
        return None
    part, injection = Part("recall", "Possibly related earlier work", []), None
    for record in records:
        count, is_session = len(part.lines), record.kind == SESSION
        name = day_and_id(record.id)[1] if is_session else record.id.rpartition("/")[2]
        text = ("" if is_session else record.kind + ": ") + cut(record.line, 200)
        label = "user " if record.id.startswith("user/") else ""
        part.add(neutral.line("- [%s%s] %s" % (label, record.day, text)), record.id, record.kind, record.files)
        more = len(record.files) - settings.RECALL_FILES_SHOWN
        files = ", ".join(record.files[: settings.RECALL_FILES_SHOWN]) + (", +%d" % more if more > 0 else "")
        part.lines += ["  files: " + neutral.line(files)] if files else []
        part.add_command("restore" if record.kind == ARCHIVED else "show", name)
        trial = compose([part], settings.RECALL_UNITS, run.project.name, run.event.session_id)
        if not trial.shown or trial.shown[0][1] < len(part.lines):
            del part.lines[count:]  # only whole items
            break
        injection = trial
        injected.recalled.append(record.id)
    if injection is None:
        return None
    injected.record(session.dir, injection, run.event.name, "recall", run.now, state.files_total)
    return run.reply(injection.text)


def _search(run: Run, session: Session, state: Capture, injected: Receipt, most: int) -> list[Record]:
    """What is worth injecting, best first."""
    root, project_dir, prompt = run.store_root, run.project_dir, run.event.prompt
    own = frozenset((session.id, *injected.own, state.thread))
    ends = min(run.ends - settings.RECALL_RESERVE_SECONDS, time.monotonic() + 0.3)  # to take in new documents
    source = cache.open_source(root, project_dir, run.now, ends, own=own, is_whole=False)

    def is_unwanted(number: int) -> bool:
        record = source.record(number)
        if record.id in injected.recalled or (record.kind == SESSION and day_and_id(record.id)[1] in own):
            return True
        local = os.path.join(session.dir, settings.LOCAL_DIR, record.id.rpartition("/")[2] + ".md")
        is_overridden = record.kind == NOTE and os.path.exists(local)
        return is_overridden or not os.path.isfile(cache.path_of(root, project_dir, record))

    prompts = [ask for ask in state.prompts() if not prompt.startswith(ask.rstrip("…"))]
    query = ranking.Query(prompt, prompts=prompts, branch=run.project.branch, files=state.files)
    return [source.record(number) for number in ranking.pick(source, query, run.now, is_unwanted, most)]
