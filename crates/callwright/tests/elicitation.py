"""A real MCP client for the example `ask_over_mcp`: pays three times, and answers the questions that come."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ElicitResult

answers = [
    ElicitResult(action="accept", content={"answer": "allow_once"}),
    ElicitResult(action="decline"),
]
questions = []


async def ask(context, params):
    questions.append(params.message)
    return answers[len(questions) - 1]


async def converse(ask_user):
    callback = {"elicitation_callback": ask} if ask_user else {}
    async with stdio_client(StdioServerParameters(command=sys.argv[1])) as streams:
        async with ClientSession(*streams, **callback) as session:
            await session.initialize()
            for _ in range(4):
                result = await session.call_tool("pay", {"to": "Ann", "amount": 5})
                failed = getattr(result, "is_error", getattr(result, "isError", None))
                print("error" if failed else "ok", result.content[0].text)


asyncio.run(converse(True))
print("asked", len(questions), questions[0])
asyncio.run(converse(False))
