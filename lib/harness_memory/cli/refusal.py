"""The one error the command line raises itself: what is wrong, where, and what to do, in one sentence or two."""

from __future__ import annotations

NOT_DONE = 1
WRONG_USAGE = 2


class Refusal(Exception):
    def __init__(self, message: str, code: int = NOT_DONE) -> None:
        super().__init__(message)
        self.code = code
