"""A scripted model over HTTP that serves chat completions, as the agents of all frameworks use them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def call(name: str, arguments: str) -> dict[str, Any]:
    """An answer with one tool call, its arguments as the model wrote them."""
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


class ScriptedModel:
    """The requests it received, and the answers it has left."""

    def __init__(self, script: list[Any]) -> None:
        self.script = list(script)
        self.requests: list[Any] = []
        self.url = ""

    def heard(self) -> list[str]:
        """The tool results in the last request."""
        return [message["content"] for message in self.requests[-1]["messages"] if message["role"] == "tool"]

    def answer(self, request: Any) -> Any:
        self.requests.append(request)
        said = self.script.pop(0) if self.script else "done"
        message: dict[str, Any] = {"role": "assistant", "content": said if isinstance(said, str) else None}
        if isinstance(said, dict):
            message["tool_calls"] = [{**said, "id": f"call_{len(self.requests)}"}]
        reason = "tool_calls" if "tool_calls" in message else "stop"
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "finish_reason": reason, "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }


@contextmanager
def scripted(*script: Any) -> Iterator[ScriptedModel]:
    """Serves a script."""
    model = ScriptedModel(list(script))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            answer = json.dumps(model.answer(json.loads(self.rfile.read(length)))).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_arguments: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
