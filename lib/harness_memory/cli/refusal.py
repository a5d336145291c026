"""The error that the command line raises itself: what failed, where, and what to do, in one or two sentences."""

from __future__ import annotations

COULD_NOT = 2


class Refusal(Exception):
    pass
