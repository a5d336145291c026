"""The one error the command line raises itself: what is wrong, where, and what to do, in one sentence or two."""

from __future__ import annotations

COULD_NOT = 2


class Refusal(Exception):
    pass
