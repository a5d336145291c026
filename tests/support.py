"""What tests and benches share: payloads and transcripts as the client writes them, and a way to run a hook."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import shutil
import subprocess
import sys
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Iterable, Mapping

ROOT = Path(__file__).resolve().parent.parent
LIB = ROOT / "lib"
DATA = ROOT / "tests" / "data"
HOOKS = ROOT / "hooks"
FLAGS = ("-I", "-S", "-X", "utf8")

CLIENT_VERSION = "2.1.325"
MODEL = "claude-opus-5-5"
HANG_SECONDS = 240  # no process takes so long, on the busiest machine
_IDS = itertools.count(0x10000000, 0x00020001)  # of sessions: those of one second stay in their order

# What a process cannot do without; everything else of the caller's environment stays outside.
_KEPT = ("PATH", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH")


def lines(name: str) -> list[str]:
    """The lines of a file in tests/data."""
    return [line for line in (DATA / name).read_text(encoding="utf-8").split("\n") if line]


def rows(name: str) -> list[Any]:
    """The values of a file of JSON lines in tests/data."""
    return [json.loads(line) for line in lines(name)]


def command_lines(name: str) -> list[list[str]]:
    """The words of every line of a file in tests/data, quoted as in a shell."""
    return [shlex.split(line) for line in lines(name)]


# Running a hook --------------------------------------------------------------------------------
class Result:
    """What one hook process left behind."""

    def __init__(self, code: int, stdout: bytes, stderr: bytes) -> None:
        self.code = code
        self.stdout = stdout.decode("utf-8").replace(os.linesep, "\n")
        self.stderr = stderr.decode("utf-8", "replace").replace(os.linesep, "\n")

    def __repr__(self) -> str:
        return "Result(code=%r, stdout=%r, stderr=%r)" % (self.code, self.stdout, self.stderr)

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)

    @property
    def context(self) -> str:
        """The text the model gets to see; empty when there is none."""
        if not self.stdout.strip():
            return ""
        return str(self.json.get("hookSpecificOutput", {}).get("additionalContext", ""))


def clean_environment(home: Path | str, extra: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """A minimal environment with `home`; a value of None in `extra` removes a name."""
    env: dict[str, str | None] = {name: os.environ.get(name) for name in _KEPT}
    env.update({"HOME": str(home), "USERPROFILE": str(home), "LANG": "C.UTF-8"})
    env.update(extra or {})
    return {name: value for name, value in env.items() if value is not None}


def run(command: list[str], data: bytes, env: dict[str, str], cwd: Path | str, **options: Any) -> Result:
    """A process to its end."""
    options.update(input=data, capture_output=True, timeout=HANG_SECONDS, check=False)
    done = subprocess.run(command, env=env, cwd=str(cwd), **options)
    return Result(done.returncode, done.stdout, done.stderr)


def hook_command(script: str, interpreter: str = sys.executable) -> list[str]:
    return [interpreter, *FLAGS, str(HOOKS / (script + ".py"))]


def encode(payload: Mapping[str, Any] | bytes) -> bytes:
    """Payloads arrive as the client sends them: one line of JSON."""
    if isinstance(payload, bytes):
        return payload
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"


def run_hook(
    script: str,
    payload: Mapping[str, Any] | bytes,
    *,
    home: Path | str,
    env: Mapping[str, str | None] | None = None,
    cwd: Path | str | None = None,
    under: str = "",
) -> Result:
    """Run `hooks/<script>.py` as the client does, in the payload's `cwd` by default; the code `under` runs first."""
    command = hook_command(script)
    if under:
        code = "import runpy, sys; sys.path.insert(0, %r)\n%s\nrunpy.run_path(%r, run_name='__main__')"
        command[-1:] = ["-c", code % (str(LIB), under, command[-1])]
    if cwd is None:
        named = payload.get("cwd") if isinstance(payload, Mapping) else None
        cwd = named if isinstance(named, str) and os.path.isdir(named) else home
    return run(command, encode(payload), clean_environment(home, env), cwd)


class Client:
    """A process that stands for a running Claude Code: its pid is real, and it can be killed."""

    def __init__(self) -> None:
        sleep = [sys.executable, "-c", "import time; time.sleep(86400)"] if os.name == "nt" else ["sleep", "86400"]
        self._process = subprocess.Popen(sleep)
        self.pid = self._process.pid

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def hold_lock(*paths: Path) -> subprocess.Popen[bytes]:
    """A process that holds these locks until it is killed or its stdin is closed."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); from harness_memory.base.lock import Lock\n"
    code += "held = [Lock(path).__enter__() for path in sys.argv[2:]]; print(held, flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(LIB), *map(str, paths)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert b"False" not in process.stdout.readline()
    return process


# Git -------------------------------------------------------------------------------------------
_GIT_ENV: dict[str, str | None] = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
for _role in ("AUTHOR", "COMMITTER"):
    _GIT_ENV.update({"GIT_%s_NAME" % _role: "Ada", "GIT_%s_EMAIL" % _role: "ada@example.org"})
    _GIT_ENV["GIT_%s_DATE" % _role] = "2020-01-01T06:00:00Z"  # the same files and message make the same commit


def git(directory: Path | str, *arguments: str) -> str:
    """Run git without the user's own configuration."""
    environment = clean_environment(directory, _GIT_ENV)
    done = subprocess.run(["git", *arguments], cwd=str(directory), env=environment, capture_output=True, check=False)
    output = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
    assert done.returncode == 0, output
    return output


def make_repo(path: Path, remote: str | None = None) -> Path:
    """A repository on `main` with one commit."""
    path.mkdir(parents=True, exist_ok=True)
    if not shutil.which("git"):  # under Wine; the product reads these files and runs no git
        texts = {"README.md": "# demo\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": "%040d\n" % 1}
        texts.update(dict.fromkeys((".git/config", ".git/description", ".git/index", ".git/logs/HEAD"), ""))
        for name, text in texts.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(text, encoding="utf-8")
        return path
    git(path, "init", "-q")
    git(path, "symbolic-ref", "HEAD", "refs/heads/main")
    (path / "README.md").write_text("# demo\n", encoding="utf-8")
    git(path, "add", "README.md")
    git(path, "commit", "-q", "-m", "init")
    if remote:
        git(path, "remote", "add", "origin", remote)
    return path


# Payloads --------------------------------------------------------------------------------------
class Session:
    """One Claude Code session: builds the payload of each of its events."""

    def __init__(self, cwd: Path | str, home: Path | str, session_id: str | None = None) -> None:
        self.id = session_id or "%08x%s" % (next(_IDS), str(uuid.uuid4())[8:])
        self.cwd = str(cwd)
        self.home = str(home)
        slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in self.cwd)
        self.transcript_path = os.path.join(self.home, ".claude", "projects", slug, self.id + ".jsonl")
        self.prompt_id = ""

    def transcript(self, **options: Any) -> Transcript:
        return Transcript(self.transcript_path, self.id, self.cwd, **options)

    def environment(self, *, pid: int | None = None, interactive: bool = False) -> dict[str, str | None]:
        """What the client adds to a hook's environment."""
        return {
            "CLAUDECODE": "1",
            "CLAUDE_CODE_CHILD_SESSION": "1",
            "CLAUDE_CODE_ENTRYPOINT": "cli" if interactive else "sdk-cli",
            "CLAUDE_CODE_SESSION_ATTENDED": "1" if interactive else "0",
            "CLAUDE_CODE_SESSION_ID": self.id,
            "CLAUDE_PID": None if pid is None else str(pid),
            "CLAUDE_PROJECT_DIR": self.cwd,
        }

    def start(self, source: str = "startup", *, model: str | None = None, **extra: Any) -> dict[str, Any]:
        """`source` is startup, resume, clear, compact or fork."""
        own: dict[str, Any] = {"source": source}
        if model or source == "compact":
            own["model"] = model or MODEL
        if source in ("resume", "fork"):
            own.update(SHAPES["resumed"])
        return self._payload("SessionStart", own, extra, prompt_id=source == "compact")

    def prompt(self, text: str, **extra: Any) -> dict[str, Any]:
        self.prompt_id = str(uuid.uuid4())
        return self._payload("UserPromptSubmit", {"prompt": text}, extra, mode=True)

    def stop(self, last_assistant_message: str | None = None, **extra: Any) -> dict[str, Any]:
        own: dict[str, Any] = {"stop_hook_active": False}
        if last_assistant_message is not None:  # clients before 2.1.47 do not send it
            own["last_assistant_message"] = last_assistant_message
        own["background_tasks"] = []
        own["session_crons"] = []
        return self._payload("Stop", own, extra, mode=True, effort=True)

    def pre_compact(self, trigger: str = "auto", instructions: str | None = None, **extra: Any) -> dict[str, Any]:
        return self._payload("PreCompact", {"trigger": trigger, "custom_instructions": instructions}, extra)

    def tool_call(self, name: str, given: Mapping[str, Any], **extra: Any) -> dict[str, Any]:
        """PreToolUse; inside a subagent also `agent_id` and `agent_type`."""
        own = {"tool_name": name, "tool_input": dict(given), "tool_use_id": "toolu_" + uuid.uuid4().hex[:24]}
        return self._payload("PreToolUse", own, extra, mode=True, effort=True)

    def end(self, reason: str = "other", **extra: Any) -> dict[str, Any]:
        """`reason` is other, clear, resume or prompt_input_exit."""
        return self._payload("SessionEnd", {"reason": reason}, extra)

    def _payload(
        self,
        event: str,
        own: Mapping[str, Any],
        extra: Mapping[str, Any],
        *,
        prompt_id: bool = True,
        mode: bool = False,
        effort: bool = False,
    ) -> dict[str, Any]:
        payload: dict[str, Any] = {"session_id": self.id, "transcript_path": self.transcript_path, "cwd": self.cwd}
        if prompt_id and self.prompt_id:
            payload["prompt_id"] = self.prompt_id
        if mode:
            payload["permission_mode"] = "default"
        if effort:
            payload["effort"] = {"level": "medium"}
        return {**payload, "hook_event_name": event, **own, **extra}


# Transcripts -----------------------------------------------------------------------------------
SHAPES = json.loads((DATA / "client" / "shapes.json").read_text("utf-8"))
_PROSE = "The quick brown fox keeps a journal of every door it has opened. "


def prose(size: int) -> str:
    return (_PROSE * (size // len(_PROSE) + 1))[:size]


class Transcript:
    """Writes a session's JSONL line by line, with the client's field names in the client's order.

    Times start ten minutes ago (or at `at`) and move by `step_seconds` with every line.
    """

    def __init__(
        self,
        path: Path | str,
        session_id: str,
        cwd: Path | str,
        *,
        branch: str = "main",
        entrypoint: str = "sdk-cli",
        model: str = MODEL,
        at: datetime | None = None,
        step_seconds: float = 1.0,
    ) -> None:
        self.path = Path(path)
        self.session_id = session_id
        self.cwd = str(cwd)
        self.branch = branch
        self.entrypoint = entrypoint
        self.model = model
        self.now = at or datetime.now(timezone.utc) - timedelta(minutes=10)
        self.step = timedelta(seconds=step_seconds)
        self._parent: str | None = None
        self._prompt_id = ""
        self._prompts = 0
        self._messages = 0
        self._tools = 0
        self._open: dict[str, tuple[str, str]] = {}

    # What people and the model say
    def prompt(self, text: str, **extra: Any) -> Transcript:
        """A prompt somebody typed (or gave to `-p`, by the entrypoint), with the queue entries around it."""
        self._prompts += 1
        self._prompt_id = str(uuid.uuid4())
        typed = self.entrypoint == "cli"
        if not typed:
            self._plain("queue-operation", first={"operation": "enqueue", "timestamp": self._time()}, content=text)
            self._plain("queue-operation", first={"operation": "dequeue", "timestamp": self._time()})
        fields: dict[str, Any] = {"permissionMode": "default"}
        if typed:
            fields["origin"] = {"kind": "human"}
        fields["promptSource"] = "typed" if typed else "sdk"
        fields["turnOrigin"] = "human" if typed else "sdk"
        fields["turnPosition"] = {"promptIndex": self._prompts if typed else 0, "turnIndex": self._prompts}
        fields.update(extra)
        return self._user(text, after=fields)

    def synthetic(self, content: str | list[dict[str, Any]], *, meta: bool = False, **extra: Any) -> Transcript:
        """A user entry no person wrote: command echoes, reminders, task notifications, interrupts."""
        return self._user(content, before={"isMeta": True} if meta else None, after=extra)

    def command(self, name: str, args: str = "") -> Transcript:
        """A skill the user typed, `/name args`."""
        text = "<command-message>%s</command-message>\n<command-name>/%s</command-name>" % (name, name)
        return self.synthetic(text + ("\n<command-args>%s</command-args>" % args if args else ""))

    def interrupt(self) -> Transcript:
        return self.synthetic([{"type": "text", "text": "[Request interrupted by user for tool use]"}])

    def text(self, text: str, **extra: Any) -> Transcript:
        self._messages += 1
        return self._assistant({"type": "text", "text": text}, "end_turn", extra)

    def tool_use(self, name: str, tool_input: Mapping[str, Any], **extra: Any) -> str:
        """The model calls a tool; returns the id its result has to name."""
        self._tools += 1
        self._messages += 1
        tool_id = "toolu_%012d" % self._tools
        block = {"type": "tool_use", "id": tool_id, "name": name, "input": dict(tool_input)}
        self._assistant(block, "tool_use", {"toolInputStreamMs": 1, **extra})
        assert self._parent is not None
        self._open[tool_id] = (name, self._parent)
        return tool_id

    def tool_result(self, tool_id: str, output: str = "", *, error: bool = False, result: Any = None) -> Transcript:
        """`result` is the rich form in `toolUseResult`; the client writes a string there for a failure."""
        name, source = self._open.pop(tool_id)
        if error:
            block: dict[str, Any] = {"type": "tool_result", "content": output, "is_error": True, "tool_use_id": tool_id}
            result = "Error: " + output
        else:
            block = {"tool_use_id": tool_id, "type": "tool_result", "content": output}
            if name == "Bash":
                block["is_error"] = False
        if result is None and name == "Bash":
            result = {**SHAPES["bash_result"], "stdout": output}
        fields: dict[str, Any] = {"toolUseResult": {} if result is None else result}
        if name == "Bash":
            fields["sandboxed"] = False
        fields["sourceToolAssistantUUID"] = source
        fields["permissionDecision"] = SHAPES["accepted"]
        return self._user([block], after=fields)

    # The calls tests make most
    def bash(self, command: str, output: str = "", *, exit_code: int = 0) -> Transcript:
        tool_id = self.tool_use("Bash", {"command": command, "description": "Run it"})
        if exit_code:
            return self.tool_result(tool_id, "Exit code %d\n%s" % (exit_code, output), error=True)
        return self.tool_result(tool_id, output)

    def write(self, path: Path | str, content: str = "x = 1\n", *, error: str | None = None) -> Transcript:
        tool_id = self.tool_use("Write", {"file_path": str(path), "content": content})
        if error is not None:
            return self.tool_result(tool_id, error, error=True)
        rich = {**SHAPES["write_result"], "filePath": str(path), "content": content}
        return self.tool_result(tool_id, "File created successfully at: %s" % path, result=rich)

    def edit(self, path: Path | str, old: str = "1", new: str = "2", *, error: str | None = None) -> Transcript:
        tool_input = {"replace_all": False, "file_path": str(path), "old_string": old, "new_string": new}
        tool_id = self.tool_use("Edit", tool_input)
        if error is not None:
            return self.tool_result(tool_id, error, error=True)
        changed = {"filePath": str(path), "oldString": old, "newString": new, "originalFile": old}
        rich = {**SHAPES["edit_result"], **changed}
        return self.tool_result(tool_id, "The file %s has been updated successfully." % path, result=rich)

    def read(self, path: Path | str, content: str = "x = 1\n") -> Transcript:
        tool_id = self.tool_use("Read", {"file_path": str(path)})
        file = {"filePath": str(path), "content": content, "numLines": 1, "startLine": 1, "totalLines": 1}
        return self.tool_result(tool_id, "1\t" + content, result={"type": "text", "file": file})

    # What surrounds them
    def injected(self, text: str, event: str = "SessionStart") -> Transcript:
        """A hook's text as it comes back in the transcript."""
        named = {"hookName": event, "toolUseID": str(uuid.uuid4()), "hookEvent": event}
        attachment = {"type": "hook_additional_context", "content": [text], **named}
        reminder = "<system-reminder>\n%s hook additional context: %s\n</system-reminder>" % (event, text)
        rendered = {"rendered": [{"content": reminder}], "renderedRole": "system"}
        return self._entry({"attachment": attachment, "type": "attachment"}, rendered)

    def noise(self, size: int = 2000) -> Transcript:
        """The request snapshots between two turns; `size` characters in the largest."""
        digest = uuid.uuid4().hex * 2
        stamp: dict[str, Any] = {"timestamp": self._time(), "version": CLIENT_VERSION}
        self._plain("atis-latch", first={"atis": ""})
        self._plain("api-request-shape", shapeHash=digest, **stamp, shape=prose(size // 2))
        message = {"role": "user", "content": [{"type": "text", "text": prose(size)}]}
        self._plain("api-request-blob", hash=digest, message=message)
        digests = {"shapeHash": digest, "requestDigest": digest}
        return self._plain("api-request", id=str(uuid.uuid4()), **stamp, querySource="sdk", **digests)

    def compact(self, summary: str = "What happened so far.", trigger: str = "auto") -> Transcript:
        parent, self._parent = self._parent, None
        metadata = {**SHAPES["compact_metadata"], "trigger": trigger}
        fields = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": False}
        after = {"level": "info", "compactMetadata": metadata}
        self._entry(fields, after, lead={"logicalParentUuid": parent}, time_first=True)
        opening = "This session is being continued from a previous conversation that ran out of context.\n\nSummary:\n"
        return self._user(opening + summary, before={"isVisibleInTranscriptOnly": True, "isCompactSummary": True})

    def title(self, text: str) -> Transcript:
        self._plain("custom-title", first={"customTitle": text})
        return self._plain("agent-name", first={"agentName": text})

    def api_error(self, text: str = "API Error: 500 server error", status: int = 500) -> Transcript:
        message: dict[str, Any] = {"id": str(uuid.uuid4()), "model": "<synthetic>", "role": "assistant"}
        message.update(type="message", content=[{"type": "text", "text": text}])
        after = {"message": message, "error": "server_error", "isApiErrorMessage": True, "apiErrorStatus": status}
        return self._entry({"type": "assistant"}, after)

    def turn_end(self, last_prompt: str = "") -> Transcript:
        """What the client adds after the last answer of a turn."""
        self._plain("last-prompt", first={"lastPrompt": last_prompt, "leafUuid": self._parent})
        fields = {"type": "system", "subtype": "turn_duration", "durationMs": 720, "messageCount": 14}
        self._entry(fields, {"isMeta": False}, time_first=True)
        return self._plain("cost-state", totalCostUSD=0.05, totalAPIDuration=44, totalDuration=1461)

    def turn(self, ask: str, answer: str, *, files: Iterable[Path | str] = ()) -> Transcript:
        """A whole small turn: prompt, request noise, writes, answer."""
        self.prompt(ask).noise()
        for path in files:
            self.write(path)
        return self.text(answer).turn_end(ask)

    def raw(self, data: bytes) -> Transcript:
        """Any bytes, for damaged and foreign lines."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(data)
        return self

    def line(self, entry: Mapping[str, Any]) -> Transcript:
        return self.raw(json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n")

    # Shapes of lines
    def _time(self) -> str:
        self.now += self.step
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (self.now.microsecond // 1000)

    def _common(self) -> dict[str, Any]:
        common = {"userType": "external", "entrypoint": self.entrypoint, "cwd": self.cwd, "sessionId": self.session_id}
        return {**common, "version": CLIENT_VERSION, "gitBranch": self.branch}

    def _plain(self, kind: str, *, first: Mapping[str, Any] | None = None, **fields: Any) -> Transcript:
        return self.line({"type": kind, **(first or {}), "sessionId": self.session_id, **fields})

    def _entry(
        self,
        fields: Mapping[str, Any],
        after: Mapping[str, Any],
        *,
        lead: Mapping[str, Any] | None = None,
        time_first: bool = False,
    ) -> Transcript:
        own = str(uuid.uuid4())
        stamp = {"timestamp": self._time(), "uuid": own} if time_first else {"uuid": own, "timestamp": self._time()}
        entry = {"parentUuid": self._parent, **(lead or {}), "isSidechain": False, **fields, **stamp, **after}
        self._parent = own
        return self.line({**entry, **self._common()})

    def _user(
        self,
        content: str | list[dict[str, Any]],
        *,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> Transcript:
        message = {"role": "user", "content": content}
        fields = {"promptId": self._prompt_id, "type": "user", "message": message, **(before or {})}
        return self._entry(fields, after or {})

    def _assistant(self, block: Mapping[str, Any], stop_reason: str, extra: Mapping[str, Any]) -> Transcript:
        number = "msg_%012d" % self._messages
        message = {"id": number, "type": "message", "role": "assistant", "model": self.model, "content": [block]}
        message.update(stop_reason=stop_reason, stop_sequence=None, usage=SHAPES["usage"], stop_details=None)
        asked: dict[str, Any] = {"apiBlockIndex": 0, "requestId": "req_" + number, "requestRef": str(uuid.uuid4())}
        asked.update(requestedModel=self.model, promptCacheRequested="5m")
        fields = {"message": message, **extra, **asked, "type": "assistant"}
        return self._entry(fields, {"effort": "medium", "perTurnEffort": "medium", "madeBy": "model"})


# Looking at the store --------------------------------------------------------------------------
def project_dirs(store_root: Path) -> list[Path]:
    return sorted(path.parent for path in store_root.glob("*/project.json"))


def episode_files(store_root: Path) -> list[Path]:
    return sorted(store_root.glob("*/episodes/session-*.json"))


def episodes(store_root: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in episode_files(store_root)]


def publish(project: Path | str, name: str, data: bytes) -> None:
    """Write an episode and show it in the views."""
    from harness_memory.base import files
    from harness_memory.memory import views

    files.write(str(Path(project) / "episodes" / name), data)
    assert views.refresh(str(project))


def meta_files(store_root: Path) -> list[Path]:
    return sorted(store_root.glob("*/WORK/*/*/META.yaml"))


def failures(store_root: Path) -> list[Path]:
    return sorted((store_root / "health" / "failures").glob("*.json"))


def snapshot(directory: Path) -> dict[str, bytes]:
    """Every file below `directory` with its bytes."""
    paths = [path for path in sorted(directory.rglob("*")) if path.is_file()]
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}
