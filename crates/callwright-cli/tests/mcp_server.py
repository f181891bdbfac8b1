"""A real MCP server with tools that fail in various ways. Its tool list has two pages."""

import asyncio
import os

import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


def tool(name, properties, output=None, read_only=False):
    return types.Tool(
        name=name,
        description=f"Does {name}.",
        input_schema={
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
        output_schema=output,
        annotations=types.ToolAnnotations(read_only_hint=read_only),
    )


NUMBER = {"type": "integer"}
PAGES = {
    None: [tool("add", {"a": NUMBER, "b": NUMBER}), tool("crash", {}), tool("big", {"megabytes": NUMBER})],
    "more": [
        tool("fail", {"path": {"type": "string"}}, read_only=True),
        tool(
            "weather",
            {"city": {"type": "string"}},
            output={"type": "object", "properties": {"degrees": NUMBER}, "required": ["degrees"]},
        ),
        tool("wait", {"number": NUMBER}),
    ],
}


async def list_tools(context, params):
    cursor = params.cursor if params else None
    return types.ListToolsResult(tools=PAGES[cursor], next_cursor=None if cursor else "more")


def text(text, **more):
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], **more)


async def call_tool(context, params):
    given = params.arguments or {}
    if params.name == "add":
        # No int() here: only numbers can be added.
        return text(str(given["a"] + given["b"] + 0))
    if params.name == "crash":
        os.write(2, b"Traceback: the disk is on fire\n")
        os._exit(7)
    if params.name == "big":
        return text("x" * (given["megabytes"] * 1_000_000))
    if params.name == "fail":
        return text(f"no such file: {given['path']}", is_error=True)
    if params.name == "weather":
        return text("warm", structured_content={"degrees": "warm"})
    if params.name == "wait":
        await asyncio.sleep(0.01)
        return text(f"waited {given['number']}")
    raise ValueError(params.name)


async def main():
    server = Server("goes-wrong", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
