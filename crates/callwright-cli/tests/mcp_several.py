"""A real MCP client of several servers, which accepts whatever lifecycle they use, and prints what it got."""

import asyncio
import json
import sys
import warnings

from mcp import MCPError, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

warnings.simplefilter("ignore")


async def main():
    calls = json.loads(sys.argv[1])
    server = StdioServerParameters(command=sys.argv[2], args=sys.argv[3:])
    async with Client(stdio_client(server)) as client:
        print(client.protocol_version)
        print(json.dumps([tool.name for tool in (await client.list_tools()).tools]))
        for name, arguments in calls:
            try:
                result = await client.call_tool(name, arguments)
                print(name, result.is_error, result.content[0].text)
            except MCPError as error:
                print(name, error)


asyncio.run(main())
