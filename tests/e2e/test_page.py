"""The page that `harness memory view` writes, in a real browser: what it shows, reports and requests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Iterator

import pytest

from harness_memory.cli import view

HOSTILE = '<img src=x onerror="document.title=1"></script><script>document.title=1</script> ${7*7} {{data}} \u202e'
SESSIONS = 5000
OPEN_SECONDS = 1.0  # of the page's own thread: what a person waits where nothing else runs
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--no-first-run", "--disable-background-networking", "--remote-debugging-pipe"),
)


class Browser:
    """Chromium without a window, over a pipe; `troubles` are errors of its console, `requests` addresses asked for."""

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


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, NAMES)), "")
    if not program:
        message = "no Chromium on this machine: the page was not tested"
        pytest.fail(message) if os.environ.get("CI", "").lower() in ("true", "1") else pytest.skip(message)
    made = Browser(program, tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


def session(number: int, text: str) -> dict[str, Any]:
    day = "2026-%02d-%02dT08:00:00Z" % (1 + number % 11, 1 + number % 28)
    value = {"id": "%08x" % number, "started": day, "state": "COMPLETED", "outcome": "completed", "minutes": 5}
    value.update(headline="Session %d %s" % (number, text), what_was_done=("Rounded totals. %s " % text) * 8)
    value.update(
        asked=[text], tags=[text[:20] or "cart"], branch=text[:20] or "main", files_changed=["src/%s.py" % text]
    )
    value.update(decisions=[{"what": text, "why": text}], what_remains=[text] if number % 9 == 0 else [])
    return {**value, "recalled": [["session", "%08x" % (number - 1), "read"], ["note", text, ""]], "tokens": 900}


def page(path: Path, number: int, text: str = "cart") -> Path:
    project = {"id": "shop-520a3161183e", "name": "shop" + text, "path": text, "notes": [], "open": [], "audit": []}
    work = {"id": "00000000", "title": text, "next_steps": [text], "blockers": [text], "sessions": ["00000000"]}
    note = {"name": text, "about": text, "type": "project", "facts": [text], "enforce": "ask", "triggers": [text]}
    note.update(after=[text], require=[text])
    event = {"ts": "2026-11-01T08:00:00Z", "event": "asked", "command": text, "reason": text, "rule": text}
    project.update(open=[work], notes=[note], audit=[event], sessions=[session(n, text) for n in range(number)])
    data = {"version": "0", "at": "2026-11-18T10:00:00Z", "projects": [project, {**project, "id": "b-520a3161183f"}]}
    path.write_text(view.page(json.loads(json.dumps({**data, "notes": [note]}))), "utf-8")
    return path


def test_five_thousand_sessions_open_at_once_and_are_found(chromium: Browser, tmp_path: Path) -> None:
    path = page(tmp_path / "page.html", SESSIONS // 2)
    chromium.call("Performance.enable", timeDomain="threadTicks")
    chromium.open(path)
    metrics = {each["name"]: each["value"] for each in chromium.call("Performance.getMetrics")["metrics"]}
    assert 0 < metrics["TaskDuration"] < OPEN_SECONDS
    chromium.press("2")
    assert chromium.wait("(document.querySelector('[role=status]') || {}).textContent") == "5,000 sessions"
    chromium.press("/")
    chromium.wait("document.activeElement.id === 'search'")
    for key in "session 2345":
        chromium.press(key)
    chromium.wait("document.querySelector('[role=status]').textContent === '2 of 5,000 sessions'")
    chromium.press("Escape")
    chromium.press("j")
    chromium.wait("document.activeElement.className === 'row'")
    chromium.value("document.activeElement.click()")
    assert chromium.wait("(document.getElementById('headline') || {}).textContent") == "Session 2345 cart"
    chromium.press("Escape")
    chromium.wait("!document.getElementById('detail')")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (500, "light"), (375, "dark")])
def test_hostile_text_stays_text_on_every_page(chromium: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    path = page(tmp_path / "page.html", 30, HOSTILE)
    del chromium.requests[:], chromium.troubles[:]
    for part in ("", "#sessions", "#s/shop-520a3161183e/00000009", "#open", "#notes", "#recall", "#audit"):
        chromium.open(path, part, width=width, height=800, scheme=scheme)
        assert chromium.value("document.querySelectorAll('main img, main script').length") == 0
        assert "Harness Memory" in chromium.value("document.title")
        assert "onerror" in chromium.value("document.querySelector('main').textContent")
        assert chromium.value("document.documentElement.scrollWidth") <= width
        assert chromium.value("Math.max(...[...nav.children].map((tab) => tab.getBoundingClientRect().right))") <= width
        nameless = "[...document.querySelectorAll('input, select, button, a')].filter(e => !(e.textContent.trim()"
        nameless += " || e.getAttribute('aria-label') || e.closest('label'))).length"
        assert chromium.value(nameless) == 0
    assert chromium.troubles == []
    assert {each for each in chromium.requests if not each.startswith(("data:", "about:"))} == {path.as_uri()}
