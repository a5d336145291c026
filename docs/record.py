#!/usr/bin/env python3
"""Make the pictures of README from a real run: `python3 docs/record.py`.

A home with two projects and the transcripts of eight sessions (`demo.json`); then the installer, the command line and
the hook of a session start, as they are. Writes `demo.svg`, an animated terminal, and, where there is Chromium,
`page.png`.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT / "tests" / "e2e"), str(ROOT / "tests"), str(ROOT / "lib"), str(ROOT / ".venvs" / "tests")]
import support  # noqa: E402
import test_page as browser  # noqa: E402

COLUMNS, ROWS, SECONDS = 84, 17, 5.0
WIDTH, LINE, LEFT, TOP = 8.43, 20, 18, 52
COLOURS = {"32": "#7ee0a1", "1;32": "#7ee0a1", "33": "#f1c36d", "31": "#ff9d9d", "1": "#ffffff"}


class Stage:
    """A throw-away home, and commands run in it on a terminal."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / ".local" / "bin").mkdir(parents=True)
        for number, scene in enumerate(json.loads((DOCS / "demo.json").read_text("utf-8"))):
            repo = home / scene["project"]
            if not repo.exists():
                support.make_repo(repo)
            at = datetime.now(timezone.utc) - timedelta(days=scene["days"], hours=number % 5)
            session = support.Session(repo, home)
            made = session.transcript(branch=scene["branch"], at=at, step_seconds=150.0, entrypoint="cli")
            made.turn(scene["ask"], scene["answer"], files=[repo / name for name in scene["files"]])
            os.utime(session.transcript_path, (at.timestamp(), at.timestamp() + 3600))

    def env(self) -> dict[str, str]:
        path = os.pathsep.join([str(self.home / ".local" / "bin"), os.environ["PATH"]])
        return {"HOME": str(self.home), "PATH": path, "TERM": "xterm-256color", "LANG": "C.UTF-8"}

    def run(self, command: str, folder: str) -> str:
        program = (
            "import os,pty,sys; os.environ['COLUMNS']='%d'; sys.exit(pty.spawn(['sh','-c',sys.argv[1]])>>8)" % COLUMNS
        )
        words = [sys.executable, "-c", program, command]
        done = subprocess.run(
            words, cwd=str(self.home / folder), env=self.env(), stdin=subprocess.DEVNULL, capture_output=True
        )
        return done.stdout.decode("utf-8", "replace").replace("\r", "")

    def start(self, folder: str) -> str:
        """What a session start shows in the terminal."""
        session = support.Session(self.home / folder, self.home)
        env = {**self.env(), **{key: value for key, value in session.environment(interactive=True).items() if value}}
        reply = support.run_hook("session_start", session.start(), home=self.home, env={**env})
        return "  SessionStart:startup says: %s" % json.loads(reply.stdout)["systemMessage"]


def scenes(stage: Stage) -> list[tuple[str, str]]:
    install = stage.run("python3 %s --backfill" % (ROOT / "install.py"), "shop")
    shown = [("python3 install.py --backfill", install.replace(str(ROOT), "~/harness-memory"))]
    for command in ("harness memory search cart total", "harness memory list --all-projects", "harness memory open"):
        shown.append((command, stage.run(command, "shop")))
    stage.run("harness memory view --all-projects", "shop")
    return [*shown, ("claude", stage.start("shop"))]


def folded(text: str) -> list[str]:
    """Lines of the terminal; escape sequences take no room."""
    lines: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        plain = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if len(plain) <= COLUMNS:
            lines.append(line)
            continue
        words, row = plain.split(" "), ""
        for word in words:
            if len(row) + len(word) > COLUMNS:
                lines.append(row)
                row = ""
            row += word + " "
        lines.append(row.rstrip())
    return lines[: ROWS - 2]


def drawn(line: str, y: int) -> str:
    """One line as SVG: a run of one colour is one `tspan`."""
    parts, colour = [], ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            colour = COLOURS.get(part[2:-1], "")
        elif part:
            fill = ' fill="%s"' % colour if colour else ""
            parts.append("<tspan%s>%s</tspan>" % (fill, html.escape(part)))
    return '<text x="%d" y="%d" xml:space="preserve">%s</text>' % (LEFT, y, "".join(parts))


def animation(shown: list[tuple[str, str]]) -> str:
    total, groups, style = SECONDS * len(shown), [], []
    share = 100.0 / len(shown)
    for number, (command, output) in enumerate(shown):
        begin, end = share * number, share * (number + 1)
        typed = begin + share * 0.22
        frames = "0%%,%.2f%%{opacity:0}%.2f%%,%.2f%%{opacity:1}%.2f%%,100%%{opacity:0}"
        style.append("@keyframes s%d{%s}" % (number, frames % (max(0, begin - 0.01), begin, end - 0.02, end - 0.01)))
        style.append("@keyframes o%d{%s}" % (number, frames % (typed, typed + 0.01, end - 0.02, end - 0.01)))
        width = WIDTH * (len(command) + 2)
        style.append(
            "@keyframes t%d{0%%,%.2f%%{width:%dpx}%.2f%%,100%%{width:%dpx}}" % (number, begin, 2 * WIDTH, typed, width)
        )
        for letter, timing in (("s", "step-end"), ("o", "step-end"), ("t", "linear")):
            style.append(".%s%d{animation:%s%d %ds %s infinite}" % (letter, number, letter, number, total, timing))
        clip = '<clipPath id="c%d"><rect class="t%d" x="%d" y="%d" height="24" width="0"/></clipPath>'
        prompt = (
            '<text x="%d" y="%d" clip-path="url(#c%d)" xml:space="preserve"><tspan fill="#5cc9bf">$ </tspan>%s</text>'
        )
        lines = [drawn(line, TOP + LINE * (at + 1)) for at, line in enumerate(folded(output))]
        groups.append(
            '<g class="s%d">%s%s<g class="o%d">%s</g></g>'
            % (
                number,
                clip % (number, number, LEFT, TOP - 17),
                prompt % (LEFT, TOP, number, html.escape(command)),
                number,
                "".join(lines),
            )
        )
    width, height = int(2 * LEFT + COLUMNS * WIDTH), TOP + LINE * (ROWS - 1)
    font = "font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
    dots = "".join(
        '<circle cx="%d" cy="18" r="5.5" fill="%s"/>' % (20 + 18 * at, fill)
        for at, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" '
        'aria-label="A terminal: install with backfill, the line at a session start, search, list and open">'
        "<style>text{%s;fill:#d7deea}%s</style>"
        '<rect width="100%%" height="100%%" rx="10" fill="#141a23"/>%s%s</svg>\n'
        % (width, height, width, height, font, "".join(style), dots, "".join(groups))
    )


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="harness-demo-") as folder:
        stage = Stage(Path(folder).resolve())
        for fact in ("Never deploy on Fridays", "Amounts are cents, as integers"):
            stage.run("%s %s memory remember '%s'" % (sys.executable, ROOT / "harness", fact), "shop")
        (DOCS / "demo.svg").write_text(animation(scenes(stage)), "utf-8")
        program = next(filter(None, map(shutil.which, browser.NAMES)), None)
        if program:
            page = browser.Browser(program, stage.home / "profile")
            page.open(stage.home / ".claude" / "memory" / "view.html", width=1280, height=860)
            picture = page.call("Page.captureScreenshot", format="png")["data"]
            (DOCS / "page.png").write_bytes(base64.b64decode(picture))
            page.close()


if __name__ == "__main__":
    main()
