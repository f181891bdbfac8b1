"""A server that answers the prompts of trial.py as Qwen2.5-Coder-0.5B behind llama.cpp does: every call as text in a
fence.

    python as_the_model.py        prints its port, serves until its input ends

It has the three APIs of llama.cpp with their quirks: streams of the responses API have no item and event numbers.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.dont_write_bytecode = True
from trial import PROMPTS


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


# The model's answers, in the order of the prompts: eleven valid calls, a number that lost its zeros, two tools that do
# not exist.
SAID = [
    call("get_weather", city="Paris"),
    call("get_weather", city="Oslo", days=3),
    call("get_weather", city="Berlin"),
    call("read_file", path="README.md"),
    call("config.json"),
    call("read_file", path="/etc/hostname"),
    call("find_order", order=42, zeros=True),
    call("find_order", order="A-1177"),
    call("convert", amount=20, source="EUR", target="USD"),
    call("convert", amount=1500.5, source="JPY", target="EUR"),
    call("schedule_review", date="2026-12-01"),
    call("create_event", title="Lunch", date="2026-12-24", attendees=["anna@example.com"]),
    call("search", query="retry budgets"),
    call("search", query="time-outs", limit=5),
]


def text_for(request):
    messages = request.get("messages") or request.get("input")
    prompt = messages[-1]["content"]
    if isinstance(prompt, list):
        prompt = "".join(part.get("text", "") for part in prompt)
    return "```json\n" + json.dumps(SAID[PROMPTS.index(prompt)], indent=2) + "\n```"


def pieces(text):
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def chat(text, is_streamed):
    if not is_streamed:
        message = {"role": "assistant", "content": text}
        return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 200, "completion_tokens": 40, "total_tokens": 240}}
    deltas = [{"role": "assistant", "content": None}, *({"content": piece} for piece in pieces(text)), {}]
    events = [{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
               "choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}]} for delta in deltas]
    return [*events, "[DONE]"]


def responses(text, is_streamed):
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [item],
             "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
             "usage": {"input_tokens": 200, "output_tokens": 40, "total_tokens": 240,
                       "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}}
    if not is_streamed:
        return whole
    begun = {**whole, "status": "in_progress", "output": []}
    return [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": "response.output_item.added", "item": {**item, "status": "in_progress", "content": []}},
        {"type": "response.content_part.added", "item_id": "msg_1", "part": {**part, "text": ""}},
        *({"type": "response.output_text.delta", "item_id": "msg_1", "delta": piece} for piece in pieces(text)),
        {"type": "response.output_text.done", "item_id": "msg_1", "text": text},
        {"type": "response.content_part.done", "item_id": "msg_1", "part": part},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": whole},
    ]


def messages(text, is_streamed):
    usage = {"input_tokens": 200, "output_tokens": 40}
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}],
             "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
    if not is_streamed:
        return whole
    return [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}} for piece in pieces(text)),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        is_streamed = request.get("stream", False)
        api = {"completions": chat, "responses": responses, "messages": messages}[self.path.rsplit("/", 1)[-1]]
        answer = api(text_for(request), is_streamed)
        if is_streamed:
            body = "".join(self.event(event) for event in answer)
        else:
            body = json.dumps(answer)
        body = body.encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if is_streamed else "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @staticmethod
    def event(event):
        if isinstance(event, str):
            return f"data: {event}\n\n"
        name = f"event: {event['type']}\n" if "type" in event else ""
        return f"{name}data: {json.dumps(event)}\n\n"

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
