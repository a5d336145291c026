#!/usr/bin/env python3
"""From nothing to a session that knows the past: `python3 bench/first_recall.py`.

A fresh home with 28 transcripts of earlier sessions; then what a newcomer types, `git clone` and `install.py
--backfill`, and the hooks of the next session: what its first prompt brings back. Prints the seconds of each step.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "lib")]
import support  # noqa: E402

SESSIONS = 28
SUBJECTS = ("rounding of cart totals", "refresh of the signing keys", "mail of guest orders", "search by product name")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="harness-first-") as folder:
        home = Path(folder).resolve()
        repo = support.make_repo(home / "shop")
        for number in range(SESSIONS):
            subject, session = SUBJECTS[number % 4], support.Session(repo, home)
            at = datetime.now(timezone.utc) - timedelta(days=1 + number)
            done = "Corrected the %s, step %d." % (subject, number)
            session.transcript(at=at).turn("Correct the %s" % subject, done, files=[repo / "a.py"])
            os.utime(session.transcript_path, (at.timestamp(), at.timestamp()))
        steps, env = [], {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        clone = ["git", "clone", "-q", str(ROOT), "harness-memory"]
        for command in (clone, [sys.executable, "harness-memory/install.py", "--backfill"]):
            began = time.perf_counter()
            subprocess.run(command, cwd=str(home), env=env, check=True, stdout=subprocess.DEVNULL)
            steps.append((" ".join([os.path.basename(command[0]), *command[1:]]), time.perf_counter() - began))
        settings = json.loads((home / ".claude" / "settings.json").read_text("utf-8"))
        session, began, text = support.Session(repo, home), time.perf_counter(), b""
        asked = session.prompt("How did we correct the rounding of cart totals?")
        for event, payload in (("SessionStart", session.start()), ("UserPromptSubmit", asked)):
            hook, data = settings["hooks"][event][0]["hooks"][0]["command"], json.dumps(payload).encode()
            text = subprocess.run(hook, shell=True, cwd=str(repo), env=env, input=data, stdout=subprocess.PIPE).stdout
        steps.append(("the next session's start and first prompt", time.perf_counter() - began))
    for name, seconds in steps:
        print("%6.2f s  %s" % (seconds, name))
    is_recalled = b"rounding of cart totals" in text
    total, what = sum(seconds for _, seconds in steps), "brings back" if is_recalled else "MISSES"
    print("%6.2f s  in all; the prompt %s an earlier session" % (total, what))
    return 0 if is_recalled else 1


if __name__ == "__main__":
    raise SystemExit(main())
