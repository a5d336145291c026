"""What memory has for an edit or a command at that moment: who last changed the file and why, what worked instead."""

from __future__ import annotations

import os
import time

from ..base import known, neutral
from ..base.text import cut, from_outside
from ..base.typing import Any
from ..inject.injection import Part, load_receipt
from ..project import relative_path
from ..recall import cache, ranking
from ..recall.index import SESSION
from ..recall.terms import path_term
from ..session import episode
from ..session.sessions import Session, day_and_id
from .runner import Run

_WHY_CHARS, _WORDS_MIN = 240, 4


def tell(run: Run, session: Session) -> dict[str, Any] | None:
    """The line that matters for this call, once a session."""
    event = run.event
    about = known.subject(event.text("tool_name"), {"file_path": event.path, "command": event.command})
    if not known.is_news(run.store_root, about, event.session_id):
        return None
    known.add(run.store_root, [known.key_of(about, event.session_id)])
    injected = load_receipt(session.dir)
    own, ends = frozenset((session.id, *injected.own)), time.monotonic() + 0.3
    source = cache.open_source(run.store_root, run.project_dir, run.now, ends, own=own, checkout=run.root)
    if event.path:
        scores = dict.fromkeys(source.postings(path_term(relative_path(event.path, run.roots))), 0.0)  # newest first
    else:
        scores = ranking.score(source, ranking.Query(event.command), run.now)
    for record in map(source.record, ranking.best(source, scores, 8)):
        name = day_and_id(record.id)[1] if record.kind == SESSION else ""
        value = episode.load(run.project_dir, record.id) if name and name not in own else None
        fixes = (value or {}).get("commands_failed_then_fixed", ())
        forms = [fix["fixed"] for fix in fixes if "$ " + " ".join(fix["failed"].split()) == about]
        said = "this command failed before; `%s` worked%s" % (forms[-1], from_outside(value)) if value and forms else ""
        is_told = record.id + "#-1" in injected.recalled  # with a prompt
        history = _of_file(event.path, value) if value and event.path and not is_told else said
        if history:
            part = Part("recall", "", [])
            part.add(neutral.line("- [%s %s] %s" % (record.day, name, history)), record.id, record.kind, record.files)
            return run.hand_over(session, injected, [part], "history")
        if value and event.path:
            break  # of an older session it would not be true
    return None


def _of_file(path: str, value: dict[str, Any]) -> str:
    """The session that changed it, with its decision about it, else what Claude said of it last; not of other files."""
    name = os.path.basename(path.replace("\\", "/"))

    def names_it(text: str) -> bool:
        return name in text or name.partition(".")[0] in text.replace("`", " ").split()

    units = [each["text"] for each in value.get("passages") or () if each["by"] == "claude"] or [value["what_was_done"]]
    texts = [
        text for text in (*(value.get("decisions") or ()), *reversed(units)) if names_it(text) and text[-1:] != "?"
    ]
    said = [text for text in texts if sum([word.isalpha() for word in text.split()]) >= _WORDS_MIN]  # no list of files
    why = min(said, key=lambda text: name not in text.split(" ")[0], default="")
    title = episode.headline({**value, "taint": ()})
    parts = [*([title] if title not in why else []), *([cut(why, _WHY_CHARS)] if why else [])]
    return "last changed %s: %s%s" % (name, " … ".join(parts), from_outside(value)) if parts else ""
