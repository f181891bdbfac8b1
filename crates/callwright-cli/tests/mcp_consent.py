"""A real MCP client that pays twice, with a user who answers: `mcp_consent.py HOW MODE ANSWER TOOL COMMAND... | URL`

HOW is `form` if the client shows the user the forms that servers send, and `program` if it asks the user itself.
"""

import asyncio
import sys
import warnings

import mcp.types as types
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

warnings.simplefilter("ignore")

how, mode, answer, tool, *server = sys.argv[1:]


async def user(_context, params):
    print("asked", params.message)
    # Other requests continue meanwhile.
    print("meanwhile", len((await client.list_tools()).tools))
    if answer in ("decline", "cancel"):
        return types.ElicitResult(action=answer)
    return types.ElicitResult(action="accept", content={"answer": answer})


def show(result):
    print("error" if result.is_error else "ok", result.content[0].text)
    return result


async def main():
    global client
    at = server[0]
    if not at.startswith("http"):
        at = stdio_client(StdioServerParameters(command=at, args=server[1:]))
    callback = user if how == "form" else None
    async with Client(at, mode=mode, elicitation_callback=callback, read_timeout_seconds=60) as client:
        show(await client.call_tool(tool, {"to": "Ann"}))
        result = show(await client.call_tool(tool, {"to": "Ann"}))
        question = (result.meta or {}).get("callwright/question")
        if how == "program" and question:
            print("asked", question["message"])
            consent = {"question": question["id"], "answer": answer}
            meta = {"callwright/consent": consent}
            show(await client.call_tool(tool, {"to": "Ann"}, meta=meta))


asyncio.run(main())
