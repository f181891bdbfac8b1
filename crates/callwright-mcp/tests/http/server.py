"""An MCP server over streamable HTTP, of the official SDK. It says on which port it listens, and ends with its input.

`server.py [json] [stateless]`
"""

import asyncio
import os
import socket
import sys
import threading
from typing import Annotated

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Strict

server = MCPServer("things")
runs = 0


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def twice(value: Annotated[int, Strict()]) -> int:
    """Doubles a number, and takes no text for one."""
    return 2 * value


@server.tool()
def count() -> int:
    """Says how often it was called."""
    global runs
    runs += 1
    return runs


@server.tool()
async def slow(steps: int, pause: float, ctx: Context) -> str:
    """Takes its time, and says how far it is."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
        await asyncio.sleep(pause)
    return "done"


@server.tool()
def big(length: int) -> str:
    """A long text."""
    return "0123456789" * (length // 10)


class Sure(BaseModel):
    """What the user says."""

    sure: bool


def ask_user(amount: int) -> Elicit[Sure]:
    """Asks the user, in the middle of a call."""
    return Elicit(f"Pay {amount}?", Sure)


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
def pay(amount: int, answer: Annotated[Sure, Resolve(ask_user)]) -> str:
    """Pays, if the user is sure."""
    return f"paid {amount} {answer.sure}"


@server.resource("thing://one")
def one() -> str:
    """A resource."""
    return "the one thing ✓"


@server.prompt()
def ask(what: str) -> str:
    """A prompt."""
    return f"Tell me about {what}."


def end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


app = server.streamable_http_app(
    json_response="json" in sys.argv, stateless_http="stateless" in sys.argv
)
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(128)
print(listener.getsockname()[1], flush=True)
threading.Thread(target=end_with_input, daemon=True).start()
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
