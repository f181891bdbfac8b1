"""A server that accepts anything that can be read as a call, and writes each to a file.

It reads lines as Python's text streams do, where a carriage return ends a line, and ignores the case of member names.
"""

import io
import json
import sys
from collections import Counter

seen = open(sys.argv[1], "w")
# As the official package reads it.
lines = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("get", "delete")]


def folded(value):
    if isinstance(value, dict):
        return {key.upper().lower(): folded(member) for key, member in value.items()}
    return value


def take(message):
    """The calls in a message."""
    if isinstance(message, list):
        for part in message:
            yield from take(part)
    if not isinstance(message, dict):
        return
    method, params = message.get("method"), message.get("params")
    if method == "tools/list":
        answer = {"jsonrpc": "2.0", "id": message.get("id"), "result": {"tools": TOOLS}}
        print(json.dumps(answer), flush=True)
    if method == "tools/call":
        if isinstance(params, list):
            params = dict(zip(["name", "arguments"], params))
        params = params if isinstance(params, dict) else {}
        arguments = params.get("arguments")
        number = arguments.get("n") if isinstance(arguments, dict) else None
        yield json.dumps([params.get("name"), number])


for line in lines:
    # Some readers take several values on a line.
    text, at, read = line.lstrip("\ufeff"), 0, json.JSONDecoder()
    while at < len(text.rstrip()):
        try:
            message, at = read.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        except ValueError:
            break
        for call in (Counter(take(message)) | Counter(take(folded(message)))).elements():
            print(call, file=seen, flush=True)
