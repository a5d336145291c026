"""Whether an injected item was of use to its session: read, edited or named.

At Stop, `used` of each item (see `injection`) becomes "read" when the session asked for the item or opened its file,
"edited" when it changed one of its files, "named" when its answer gives the id. Evidence, not proof.
"""

from __future__ import annotations

import os

from ..base import files, jsontext, settings
from ..session.sessions import day_and_id, is_episode_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..session.capture import Capture

_SPEC = {"items": [{"item": "text", "used": "text", "before": "count", "files": ["text"]}]}
_ID_CHARS = 8  # a shorter name may occur in any sentence
_PREFIX_CHARS = 3


def settle(directory: str, state: Capture, message: str) -> None:
    """Mark the items that were of use; the caller holds the session's lock."""
    path = os.path.join(directory, settings.INJECTED_FILE)  # read here: `injection` is more than a Stop needs
    receipt = files.load_json(path, _SPEC) or {"items": []}
    for item in receipt["items"]:
        id = str(item["item"])
        name = day_and_id(id)[1] if is_episode_name(id) else id.rpartition("/")[2]  # a short id, or a note's slug
        if item["used"] or not name:
            continue
        first = item["before"]
        if any(name in word or (len(word) >= _PREFIX_CHARS and name.startswith(word)) for word in state.looked):
            item["used"] = "read"
        elif set(state.files[first:]).intersection(item["files"]):
            item["used"] = "edited"
        elif len(name) >= _ID_CHARS and (name.isalnum() or "-" in name) and name in (message or state.answer):
            item["used"] = "named"
    files.write_if_changed(path, jsontext.compact(receipt).encode("utf-8", "replace") + b"\n")
