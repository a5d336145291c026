"""A Messages API on loopback that answers from a script.

A scene belongs to a prompt: its answers are given, in order, to the requests whose newest matching user text
contains that prompt. Several sessions can therefore talk to one server at once without mixing.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable, Iterator

MAIN, SUBAGENT, COMPACTION, SIDE = "main", "subagent", "compaction", "side"
SUMMARY = """<analysis>Looked back.</analysis>
<summary>The conversation in short.
<session-record>
Decided: vouchers are rows, because they expire one by one
Prefers: never round in the browser
Learned: the shop's clock is in UTC
Open: print vouchers
</session-record>
</summary>"""


class Answer:
    """The server's reply to one request: blocks, or a refusal or silence, both repeated for every retry."""

    def __init__(self, blocks: list[dict[str, Any]], *, status: int = 200, hangs: bool = False) -> None:
        self.blocks, self.status, self.hangs = blocks, status, hangs
        self.before: Callable[[], object] | None = None


def say(text: str) -> Answer:
    return Answer([{"type": "text", "text": text}])


def call(tool: str, **arguments: Any) -> Answer:
    return Answer([{"type": "tool_use", "name": tool, "input": arguments}])


def bash(command: str) -> Answer:
    return call("Bash", command=command, description="Run a command")


def write(path: Path, text: str = "text\n") -> Answer:
    return call("Write", file_path=str(path), content=text)


def together(*answers: Answer) -> Answer:
    """The tool calls of several answers, made in one turn."""
    return Answer([block for answer in answers for block in answer.blocks])


def hang() -> Answer:
    return Answer([], hangs=True)


def after(look: Callable[[], object], answer: Answer) -> Answer:
    """The answer, given once `look` has run: a way to see the store in mid-turn."""
    answer.before = look
    return answer


class Request:
    __slots__ = ("body", "kind", "prompt")

    def __init__(self, kind: str, prompt: str | None, body: dict[str, Any]) -> None:
        self.kind, self.prompt, self.body = kind, prompt, body

    def messages(self) -> str:
        return json.dumps([self.body.get("system"), self.body.get("messages")], ensure_ascii=False)

    def text(self) -> str:
        """All that the model reads, as it reads it: system prompt, messages, results of tools."""
        contents = [self.body.get("system"), *(message["content"] for message in self.body["messages"])]
        results = [result.get("content") for result in self.tool_results()]
        return "\n".join(text_of(content) for content in [*contents, *results])

    def tool_results(self) -> list[dict[str, Any]]:
        return [b for m in self.body["messages"] for b in _blocks(m["content"]) if b.get("type") == "tool_result"]


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def text_of(content: Any) -> str:
    return "\n".join(b.get("text", "") for b in _blocks(content) if b.get("type") == "text")


def classify(body: dict[str, Any], headers: dict[str, str]) -> str:
    messages = body.get("messages") or [{}]
    newest = "\n".join(text_of(m.get("content")) for m in messages[-2:] if m.get("role") != "assistant")
    if "create a detailed summary of" in newest or "Respond with TEXT ONLY" in newest:
        return COMPACTION
    if "x-claude-code-agent-id" in headers or "cc_is_subagent=true" in text_of(body.get("system")):
        return SUBAGENT
    return MAIN if body.get("tools") else SIDE


class FakeApi:
    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.closing = threading.Event()
        self._requests: list[Request] = []
        self._scenes: dict[str, list[Answer]] = {}
        self._issued = 0
        self._server = _Server(("127.0.0.1", 0), _handler_for(self))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return "http://127.0.0.1:%d" % self._server.server_address[1]

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def play(self, prompt: str, *answers: Answer) -> None:
        with self._changed:
            self._scenes[prompt] = list(answers)

    def requests(self, prompt: str | None = None, kind: str | None = None) -> list[Request]:
        with self._changed:
            return [r for r in self._requests if prompt in (None, r.prompt) and kind in (None, r.kind)]

    def wait_for(self, prompt: str, count: int) -> None:
        """Until so many requests of a scene have come in."""
        with self._changed:
            has_come = self._changed.wait_for(lambda: sum(r.prompt == prompt for r in self._requests) >= count, 300)
        assert has_come, "request %d of %r never came" % (count, prompt)

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        kind = classify(body, headers)
        with self._changed:
            prompt = None if kind in (COMPACTION, SIDE) else self._scene_of(body)
            self._requests.append(Request(kind, prompt, body))
            self._changed.notify_all()
            script = self._scenes.get(prompt or "")
            if script:
                return script.pop(0) if script[0].blocks else script[0]
        if kind == COMPACTION:
            return say(SUMMARY)
        return say('{"title": "A title"}') if kind == SIDE else Answer([], status=400)

    def _scene_of(self, body: dict[str, Any]) -> str | None:
        users = [m for m in body.get("messages") or [] if m.get("role") == "user"]
        texts = [text_of(message.get("content")) for message in reversed(users)]
        prompts = sorted(self._scenes, key=len, reverse=True)
        return next((prompt for text in texts for prompt in prompts if prompt in text), None)

    def message(self, answer: Answer, model: str) -> dict[str, Any]:
        with self._changed:
            self._issued += 1
            number = self._issued
        blocks = [
            dict(block, id="toolu_%06d_%d" % (number, i)) if block["type"] == "tool_use" else block
            for i, block in enumerate(answer.blocks)
        ]
        uses_tools = any(block["type"] == "tool_use" for block in blocks)
        message = {"id": "msg_%06d" % number, "type": "message", "role": "assistant", "model": model, "content": blocks}
        reason = {"stop_reason": "tool_use" if uses_tools else "end_turn", "stop_sequence": None}
        return {**message, **reason, "usage": {"input_tokens": 100, "output_tokens": 20}}


def stream(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": dict(message, content=[], stop_reason=None)}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = dict(block, text=""), {"type": "text_delta", "text": block["text"]}
        else:
            empty = dict(block, input={})
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": message["usage"]}
    yield {"type": "message_stop"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a killed client says no goodbye
            super().handle_error(request, client_address)


def _handler_for(api: FakeApi) -> type:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self._reply(200, {})

        def do_GET(self) -> None:
            self._reply(200, {"data": [], "has_more": False})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            path = self.path.split("?")[0]
            if path.endswith("/count_tokens"):
                self._reply(200, {"input_tokens": len(raw) // 4 + 1})
            elif path.endswith("/messages"):
                body = json.loads(raw)
                self._answer(api.take(body, {k.lower(): v for k, v in self.headers.items()}), body)
            else:
                self._reply(200, {})

        def _answer(self, answer: Answer, body: dict[str, Any]) -> None:
            if answer.before:
                answer.before()
            if answer.hangs:
                api.closing.wait()
            elif answer.status != 200:
                error = {"type": "invalid_request_error", "message": "the script refuses, or has no answer left"}
                self._reply(answer.status, {"type": "error", "error": error})
            else:
                message = api.message(answer, body.get("model", "unknown"))
                self._stream(message) if body.get("stream") else self._reply(200, message)

        def _reply(self, status: int, value: dict[str, Any]) -> None:
            self._send(status, "application/json", json.dumps(value).encode())

        def _stream(self, message: dict[str, Any]) -> None:
            events = ["event: %s\ndata: %s\n\n" % (e["type"], json.dumps(e)) for e in stream(message)]
            self._send(200, "text/event-stream", "".join(events).encode())

        def _send(self, status: int, content_type: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", content_type)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

    return Handler
