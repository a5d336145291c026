"""The client in a pseudo-terminal of its own, driven as a person would: look, type, press Enter."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time
from typing import Callable

# Makes the slave side the controlling terminal, so that closing the master hangs up the client as a closed window does.
LAUNCH = "import fcntl,os,sys,termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[()][A-Z0-9]|.)")
PROMPT_SIGN = "❯"


def wait_until(
    true: Callable[[], object], what: str, seconds: float = 300.0, again: Callable[[], object] | None = None
) -> None:
    """Until it is true, doing `again` twice a second if there is such a thing."""
    start = acted = time.monotonic()
    while not true():
        now = time.monotonic()
        if now > start + seconds:
            raise AssertionError("waited %d s in vain until %s" % (seconds, what))
        if again and (now > acted + 0.5 or acted == start):
            acted = now
            again()
        time.sleep(0.02)


class Terminal:
    def __init__(self, command: list[str], cwd: str, env: dict[str, str]) -> None:
        self._master, slave = pty.openpty()
        self._columns = 160
        self._resize()
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, *command], cwd=cwd, env=env,
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self._output = b""
        self._is_open = True
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.see(PROMPT_SIGN)

    def submit(self, text: str) -> None:
        """Enter comes apart from the text, and only once the text is on the screen: together they would be a paste."""
        start = len(self._output)
        os.write(self._master, text.encode())
        self.see(text, start)
        self.press("\r")

    def answer(self, key: str, heard: Callable[[], object], what: str) -> None:
        """A dialog is drawn before it listens: the key is pressed until something comes of it."""
        wait_until(heard, what, again=lambda: self.press(key))

    def press(self, key: str) -> None:
        os.write(self._master, key.encode())

    def see(self, text: str, start: int = 0, again: Callable[[], object] | None = None) -> None:
        wanted = "".join(text.split())  # blanks may be drawn as cursor moves
        wait_until(lambda: wanted in "".join(self.screen(start).split()), "the terminal shows %r" % text, again=again)

    def see_now(self, text: str) -> None:
        """On a screen that is drawn anew: over other text, only the characters that differ are drawn."""
        self.see(text, len(self._output), again=self._redraw)

    def _redraw(self) -> None:
        self._columns ^= 1
        self._resize()

    def _resize(self) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, self._columns, 0, 0))

    def hang_up(self) -> None:
        """What closing the window does: the master goes, and the kernel sends SIGHUP to the client."""
        if self._is_open:
            self._is_open = False
            self._reader.join()
            os.close(self._master)

    def wait(self) -> int:
        return self.process.wait(timeout=300)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.hang_up()

    def screen(self, start: int = 0) -> str:
        return ESCAPES.sub(b"", self._output[start:]).decode("utf-8", "replace")

    def _read(self) -> None:
        while self._is_open:
            if select.select([self._master], [], [], 0.1)[0]:
                try:
                    self._output += os.read(self._master, 65536)
                except OSError:  # Linux says EIO once the other side is closed
                    return
