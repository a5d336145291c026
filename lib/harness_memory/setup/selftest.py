"""Proof that an install works: a short session played through the installed commands, and calls put to the guard.

All of it in a temporary memory and project; no call is run. The commands hide their errors from the client by
design, so the proof is the stamp that each hook leaves in the store.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

from ..base import health, settings
from ..base.typing import Fields
from .settingsfile import GUARD_EVENT, with_store

_FIELDS, _ROWS = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")).values()
# (answer of the guard by its default rules, tool, its argument); a path is below ~ or in the project.
CASES: list[tuple[str, str, str]] = [(answer, tool, about) for answer, tool, about in _ROWS]


class Outcome(NamedTuple):
    """One run of a command; `problem` is "" when it did what it should. The last three are set for the guard."""

    event: str
    milliseconds: int
    problem: str
    got: str
    expected: str = ""
    tool: str = ""
    about: str = ""


def play(commands: Mapping[str, str], env: Mapping[str, str]) -> Iterator[Outcome]:
    """Run each event's command."""
    with tempfile.TemporaryDirectory(prefix="harness-memory-selftest-") as folder:
        for event, command in commands.items():
            yield _run(event, command, _FIELDS.get(event, {}), folder, env)


def challenge(command: str, env: Mapping[str, str], cases: Sequence[tuple[str, str, str]]) -> Iterator[Outcome]:
    """Put calls to the guard's installed command, as the client does before it makes them."""
    with tempfile.TemporaryDirectory(prefix="harness-memory-selftest-") as folder:
        for expected, tool, about in cases:
            path = os.path.expanduser(about) if about[:1] == "~" else os.path.join(folder, "project", about)
            argument = {"command": about} if tool == "Bash" else {"file_path": path}
            fields = {"tool_name": tool, "tool_input": argument}
            _, milliseconds, problem, got, *_ = _run(GUARD_EVENT, command, fields, folder, env)
            wrong = "expected %s for `%s`, got %s" % (expected, about, got) if got != expected else ""
            yield Outcome("guard", milliseconds, problem or wrong, got, expected, tool, about)


def _run(event: str, command: str, fields: Fields, folder: str, env: Mapping[str, str]) -> Outcome:
    project, store = os.path.join(folder, "project"), os.path.join(folder, "memory")
    os.makedirs(project, exist_ok=True)
    payload = {"session_id": "5e1f7e57-0000-4000-8000-000000000000", "cwd": project, "hook_event_name": event}
    payload.update(transcript_path=os.path.join(folder, "none.jsonl"), permission_mode="default", **fields)
    surroundings = {name: value for name, value in env.items() if not name.startswith(("CLAUDE", settings.ENV_SWITCH))}
    surroundings.update({settings.ENV_HOME: store, settings.ENV_PROJECT_DIR: project, settings.ENV_ENTRYPOINT: "cli"})
    options: Any = {"cwd": project, "env": surroundings, "timeout": settings.HOOK_TIMEOUT_SECONDS}
    command = with_store(command, store)
    began, got = time.perf_counter(), "invalid"
    try:
        done = subprocess.run(command, input=json.dumps(payload).encode(), shell=True, capture_output=True, **options)
        # PreCompact answers with a sentence.
        reply = json.loads(done.stdout.decode("utf-8")) if done.stdout[:1] == b"{" else {}
        got = str((reply.get("hookSpecificOutput") or {}).get("permissionDecision", "silent"))
        failures = [record for record in health.failures(store) if record.get("event") == event]
        if done.returncode:
            problem = "exit code %d, expected 0" % done.returncode
        elif failures:
            problem = str(failures[-1].get("error", "failed"))
        else:
            stamp = os.path.join(store, settings.LAST_RUN_DIR, event)
            problem = "" if os.path.exists(stamp) else "the hook left no stamp of its run"
    except ValueError:
        problem = "the answer is not valid JSON"
    except subprocess.TimeoutExpired:
        problem = "not done within %d seconds" % settings.HOOK_TIMEOUT_SECONDS
    return Outcome(event, round((time.perf_counter() - began) * 1000), problem, got)
