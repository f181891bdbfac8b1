"""An MCP client of the official SDK. It performs the steps in its arguments and prints one outcome per line.

`client.py URL MODE STEP...`
"""

import asyncio
import json
import sys

from mcp import Client
from mcp_types import ElicitResult


def shown(result):
    return json.dumps(result.model_dump(mode="json", by_alias=True, exclude_none=True))


async def user(_context, params):
    print("asked", params.message)
    if params.message.endswith("What now?"):
        return ElicitResult(action="accept", content={"answer": "allow_once"})
    return ElicitResult(action="accept", content={"sure": True})


async def run(url, mode, steps):
    async with Client(
        url, mode=mode, read_timeout_seconds=60, elicitation_callback=user
    ) as client:
        for step in steps:
            if step == "about":
                print(client.protocol_version, client.server_info, client.server_capabilities)
            elif step == "tools":
                print(shown(await client.list_tools()))
            elif step == "resources":
                print(shown(await client.list_resources()))
                print(shown(await client.read_resource("thing://one")))
            elif step == "prompts":
                print(shown(await client.list_prompts()))
                print(shown(await client.get_prompt("ask", {"what": "things"})))
            elif step == "missing":
                try:
                    print(shown(await client.read_resource("thing://none")))
                except Exception as error:
                    print("failed:", error)
            else:
                name, _, arguments = step.partition(" ")
                told = []

                async def progress(at, total, message):
                    told.append(f"{at}/{total} {message}")

                result = await client.call_tool(
                    name, json.loads(arguments or "{}"), progress_callback=progress
                )
                text = result.content[0].text if result.content else ""
                if len(text) > 2000:
                    text = f"{len(text)} {hash(text) == hash('0123456789' * (len(text) // 10))}"
                print("error" if result.is_error else "ok", text, *told, sep=" | ")
            sys.stdout.flush()


asyncio.run(run(sys.argv[1], sys.argv[2], sys.argv[3:]))
