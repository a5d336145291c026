"""Which item a person means: by an id, by the beginning of one, or by "last"."""

from __future__ import annotations

import os

from ..base import files, settings
from ..memory import records
from ..session import liveness, sessions
from . import arguments
from .output import Refusal, local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from ..memory.archive import Archived
    from ..memory.records import Record

    Item = TypeVar("Item")
    Ids = Callable[[Item], Iterable[str]]

_LISTED = _RECENT = 20


def matches(word: str, items: Iterable[Item], ids: Ids[Item]) -> list[Item]:
    """The items that `word` names exactly, else those with an id that begins with it, in any case."""
    items = [*items]
    exact = [item for item in items if word in ids(item)]
    return exact or [i for i in items if word and any(id.lower().startswith(word.lower()) for id in ids(i))]


def one(word: str, items: Iterable[Item], ids: Ids[Item], what: str, shown: Callable[[Item], str], see: str) -> Item:
    """The one item that `word` means; a Refusal names the candidates, or the command that lists all."""
    candidates = matches(word, items, ids)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        rows = "\n".join("  " + shown(item) for item in candidates[:_LISTED])
        raise Refusal('"%s" matches %d %ss. Give more of the id:\n%s' % (word, len(candidates), what, rows))
    raise Refusal('no %s "%s" here. See: harness memory %s' % (what, word, see))


def matching(every: list[Record], word: str) -> list[Record]:
    return matches(os.path.basename(word.replace("\\", "/")), every, _ids(word))


def _ids(word: str) -> Callable[[Record], Iterable[str]]:
    """A session's ids; Claude's own begins with the short one, and only a longer word needs it read."""
    is_long, end = len(word) > settings.SHORT_ID_CHARS[0], -len(".json")
    return lambda each: (each.id, each.episode_name, each.episode_name[:end], each.claude_id if is_long else "")


def shown(item: Record | Archived) -> str:
    return "%s  %s  %s" % (item.id, local(item.started), item.headline)


def last(every: list[Record]) -> Record | None:
    """The session that worked last. Inside Claude Code the present session is never the one that is meant."""
    present = os.environ.get(settings.ENV_SESSION_ID, "")
    # Of many sessions only those are read that began or were written last: a resumed one began long ago.
    written = sorted(every, key=lambda record: max(map(files.modified, record.paths.values()), default=0.0))[-_RECENT:]
    others = [record for record in {*every[:_RECENT], *written} if not present or record.claude_id != present]
    return max(others, key=lambda record: (record.seen, record.started), default=None)


def session(every: list[Record], word: str) -> Record:
    """The one session that is meant by an id, its beginning, an episode's file name, or "last"."""
    if word != "last":
        return one(os.path.basename(word.replace("\\", "/")), every, _ids(word), "session", shown, "list")
    newest = last(every)
    if not newest:
        raise Refusal("no session is remembered here yet. Other projects: harness memory list --all-projects")
    return newest


def archived(every: Iterable[Archived], word: str) -> Archived:
    """The one archived session that is meant."""
    return one(word, every, lambda each: (each.id, each.claude_id), "archived session", shown, "restore")


def present(project_dir: str) -> str:
    """The short id of the session that calls us; "" outside of one."""
    claude_id = os.environ.get(settings.ENV_SESSION_ID, "")
    work = str(sessions.read_marker(project_dir, claude_id).get("work", "")) if claude_id else ""
    return work.rpartition("/")[2] or sessions.safe_id(claude_id)[: settings.SHORT_ID_CHARS[0]] if claude_id else ""


def running(project_dir: str, word: str | None) -> tuple[str, dict[str, Any]]:
    """Claude's id and the marker of the session to write to: by name, else the present, else the only one here."""
    present, markers = os.environ.get(settings.ENV_SESSION_ID, ""), sessions.live_markers(project_dir)
    if word:
        ids = {present, *(marker["claude_session"] for marker in markers)}
        ids.update(record.claude_id for record in records.load_all(project_dir) if record.session)
        claude_id = one(word, ids - {""}, lambda id: (id,), "session", str, "list")
        return claude_id, sessions.read_marker(project_dir, claude_id)
    if present:
        own = (sessions.read_marker(directory, present) for directory in (project_dir, *arguments.all_dirs()))
        return present, next(filter(None, own), {})
    live = [marker for marker in markers if liveness.is_alive(marker["process"]) is not False]
    if len(live) == 1:
        return live[0]["claude_session"], live[0]
    names = [sessions.safe_id(marker["claude_session"])[:8] for marker in live]
    what = "%d sessions run here (%s)" % (len(names), ", ".join(names)) if names else "no session runs in this project"
    raise Refusal("which session? %s. Nothing was recorded. Name it: --session ID (see: harness memory list)" % what)
