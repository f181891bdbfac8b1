"""A real MCP server with one tool, which reports how often it ran: `mcp_pay.py`, or `mcp_pay.py http`, which prints its
port.
"""

import os
import socket
import sys
import threading

from mcp.server.mcpserver import MCPServer

server = MCPServer("bank")
runs = 0


@server.tool()
def pay(to: str) -> str:
    """Pays."""
    global runs
    runs += 1
    return f"paid {to}, {runs}"


def end_with_input():
    sys.stdin.read()
    os._exit(0)


if "http" in sys.argv:
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=end_with_input, daemon=True).start()
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])
else:
    server.run("stdio")
