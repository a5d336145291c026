"""PreCompact: record the conversation before the client compacts it, and say what its summary should keep."""

from __future__ import annotations

from .context import HookContext
from .stop import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .runner import Run

KEEP = (
    "Keep in the summary: the user's last request in their own words, open todos, every file changed and why, "
    "decisions with their reasons, and commands that failed with what worked instead."
)


def handle(run: Run) -> str:
    context = HookContext(run)
    with context as session:
        record(context, session, {})
    return KEEP
