"""Chromium without a window, spoken to over a pipe: what a page shows, reports and requests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--no-first-run", "--disable-background-networking", "--remote-debugging-pipe"),
)


def find() -> str:
    return next(filter(None, map(shutil.which, NAMES)), "")


class Browser:
    """One page at a time; `troubles` are errors of its console, `requests` the addresses that it asked for."""

    def __init__(self, program: str, profile: Path) -> None:
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        # The protocol is spoken on the descriptors 3 and 4, whatever they are here.
        words = 'exec "$@" 3<&%d 4>&%d' % (theirs_in, theirs_out)
        command = ["bash", "-c", words, "sh", program, *OPTIONS, "--user-data-dir=%s" % profile, "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(theirs_in, theirs_out), stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out = os.fdopen(ours_in, "rb", 0), os.fdopen(ours_out, "wb", 0)
        self._buffer, self._number, self._session = b"", 0, ""
        self.troubles: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._in.close()
        self._out.close()

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, path: Path, part: str = "", *, width: int = 1280, height: int = 1000, scheme: str = "light") -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        media = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=media)
        self.call("Page.navigate", url="about:blank")  # another part of the same page would not load it again
        self.call("Page.navigate", url=path.as_uri() + part)
        self.wait("(document.documentElement || {dataset: {}}).dataset.ready")

    def wait(self, code: str) -> Any:
        """The value of an expression once it is true."""
        return self.value(
            "new Promise(r => { const f = () => { const v = %s; v ? r(v) : setTimeout(f, 10) }; f() })" % code
        )

    def value(self, code: str) -> Any:
        done = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def press(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            data = self._in.read(1 << 16)
            assert data, "the browser has ended"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        method, params = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.troubles.append(str(params["exceptionDetails"]))
        elif method == "Log.entryAdded" or (method == "Runtime.consoleAPICalled" and params["type"] == "error"):
            self.troubles.append(str(params))
        return message
