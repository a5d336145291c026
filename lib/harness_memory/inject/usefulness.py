"""Whether what a session was handed was of use to it: read, edited or named.

Each item in `injected.json` (see `receipt`) is settled at Stop from what the session did since: `used` is
"read" when it asked for the item or opened its file, "edited" when it changed one of its files, "named" when
its answer gives the id. Evidence, not proof: a file may be edited for other reasons.
"""

from __future__ import annotations

from ..session.sessions import day_and_id, is_episode_name
from . import receipt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..session.capture import Capture

READ, EDITED, NAMED = "read", "edited", "named"
_ID_CHARS = 8  # a shorter name may stand in any sentence
_PREFIX_CHARS = 3


def settle(session_dir: str, state: Capture, message: str) -> None:
    """Mark the items of a session that turned out to be of use; the caller holds its lock."""
    told = receipt.load(session_dir)
    is_changed = False
    for item in told["items"]:
        item_used = "" if item["used"] else use_of(item, state, message)
        if item_used:
            item["used"] = item_used
            is_changed = True
    if is_changed:
        receipt.save(session_dir, told)


def use_of(item: dict[str, Any], state: Capture, message: str) -> str:
    name = name_of(item)
    if not name:
        return ""
    if any(_means(word, name) for word in state.looked):
        return READ
    first = max(0, item["before"] - (state.files_total - len(state.files)))
    if item["files"] and set(state.files[first:]).intersection(item["files"]):
        return EDITED
    is_telling = len(name) >= _ID_CHARS and (name.isalnum() or "-" in name)
    return NAMED if is_telling and name in (message or state.answer) else ""


def name_of(item: dict[str, Any]) -> str:
    """What people and our command line call an item: a session's short id, a note's slug."""
    name = str(item["item"])
    return day_and_id(name)[1] if is_episode_name(name) else name.rpartition("/")[2]


def _means(word: str, name: str) -> bool:
    """Whether a word given to our command line, or a file's name, stands for an item."""
    word = word.rpartition("/")[2]
    for ending in (".md", ".json"):
        word = word[: -len(ending)] if word.endswith(ending) else word
    return word == name or word.endswith("-" + name) or (len(word) >= _PREFIX_CHARS and name.startswith(word))
