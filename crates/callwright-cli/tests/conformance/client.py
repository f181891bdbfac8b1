"""A real MCP client for the scenarios of the official conformance suite. `client.py WAY URL`

The suite passes the scenario and the protocol revision in environment variables. WAY is `direct`, or `http` or `stdio`
to connect through the program named by `CALLWRIGHT`.
"""

import os
import sys

SCENARIO = os.environ["MCP_CONFORMANCE_SCENARIO"]
if SCENARIO.startswith("auth/"):
    # Login compares the server's name with the URL that the client used, which is the guard's.
    sys.exit()

import asyncio
import json
import subprocess
import urllib.parse

import mcp.types as types
from mcp import StdioServerParameters
from mcp.client.client import Client

# This scenario's own server only supports the older protocols, whatever the suite says.
IS_MODERN = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"] >= "2026" and SCENARIO != "json-schema-ref-no-deref"
VALUES = {"string": "x", "integer": 5, "number": 3, "boolean": False, "object": {}, "array": [], "null": None}


async def sample(context, params):
    return types.CreateMessageResult(role="assistant", content=types.TextContent(type="text", text="said"), model="none")


async def roots(context):
    return types.ListRootsResult(roots=[])


async def elicit(context, params):
    properties = params.requested_schema.get("properties", {})
    content = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
    return types.ElicitResult(action="accept", content=content or {"confirmed": True})


def arguments(tool):
    properties = tool.input_schema.get("properties", {})
    required = tool.input_schema.get("required", [])
    return {name: VALUES[properties.get(name, {}).get("type", "string")] for name in required}


async def call(client, name, given):
    try:
        result = await client.call_tool(name, given)
        print(name, result.model_dump_json(by_alias=True, exclude_none=True))
    except Exception as error:
        print(name, "failed:", error)


async def main(server):
    mode = "auto" if IS_MODERN else "legacy"
    async with Client(
        server, mode=mode, sampling_callback=sample, list_roots_callback=roots, elicitation_callback=elicit
    ) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        print("tools", *tools)
        told = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
        if calls := told.get("toolCalls"):
            for one in calls:
                await call(client, one["name"], one.get("arguments") or {})
        elif SCENARIO == "json-schema-2020-12-preservation":
            schema = tools["json_schema_2020_12_tool"].input_schema
            await call(client, "json_schema_echo", {"schema": schema})
        elif SCENARIO != "json-schema-ref-no-deref":
            for tool in tools.values():
                await call(client, tool.name, arguments(tool))


def guard_listens(guard, url):
    """Returns the guard's address once it is listening."""
    for line in guard.stderr:
        if "listening at" in line:
            at = next(word for word in line.split() if word.startswith("http://"))
            return urllib.parse.urljoin(at, urllib.parse.urlsplit(url).path)


way, url = sys.argv[1:]
guarded = [os.environ.get("CALLWRIGHT"), "mcp", "--upstream", url]
if way == "direct":
    asyncio.run(main(url))
elif way == "stdio":
    asyncio.run(main(StdioServerParameters(command=guarded[0], args=guarded[1:])))
else:
    guard = subprocess.Popen([*guarded, "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    try:
        asyncio.run(main(guard_listens(guard, url)))
    finally:
        guard.terminate()
        guard.wait()
