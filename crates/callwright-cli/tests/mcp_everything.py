"""A real MCP client that uses every feature of the official example server, and prints what it got."""

import asyncio
import os
import re
import sys
import warnings

import mcp.types as types
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

warnings.simplefilter("ignore")

# The prefix of names when there are several servers. It is not shown, nor is anything of the other servers.
PREFIX = os.environ.get("CALLWRIGHT_TEST_PREFIX", "")


def show(what, result):
    if hasattr(result, "model_dump_json"):
        result = result.model_dump_json(by_alias=True)
    # Times and random ids differ from run to run.
    text = re.sub(r"\d+:\d+:\d+( [AP]M)?|\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", str(result))
    line = f"{what} {text}"
    print(line.replace(PREFIX, "") if PREFIX else line)


async def elicit(context, params):
    show("asked", params)
    return types.ElicitResult(action="decline")


async def sample(context, params):
    show("sampled", params)
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(type="text", text="sampled"), model="none"
    )


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///tmp/root")])


async def progress(done, total, message):
    show("progress", (done, total, message))


CALLS = [
    ("echo", {"message": "hello ✓ \u2028 \"quoted\""}),
    ("get-sum", {"a": 2, "b": 3.5}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-annotated-message", {"messageType": "success"}),
    ("get-resource-links", {"count": 2}),
    ("get-resource-reference", {"resourceType": "Text", "resourceId": 2}),
    ("get-structured-content", {"location": "Chicago"}),
    ("get-tiny-image", {}),
    ("get-roots-list", {}),
    ("toggle-subscriber-updates", {}),
    ("trigger-sampling-request", {"prompt": "hi", "maxTokens": 10}),
    ("trigger-elicitation-request", {}),
]


async def converse(session):
    hello = await session.initialize()
    if PREFIX:
        # callwright answers for all of them.
        assert hello.server_info.name == "callwright", hello
        hello = hello.protocol_version
    show("initialize", hello)
    show("ping", await session.send_ping())
    # The server adds some of its tools once it knows the client's capabilities.
    await asyncio.sleep(0.5)
    cursor = None
    while True:
        page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        page.tools = [tool for tool in page.tools if tool.name.startswith(PREFIX)]
        show("tools", page)
        cursor = page.next_cursor
        if not cursor:
            break
    for name, arguments in CALLS:
        try:
            show(name, await session.call_tool(PREFIX + name, arguments))
        except MCPError as error:
            show(name, error)
    show("resources", await session.list_resources())
    show("templates", await session.list_resource_templates())
    show("read", await session.read_resource("demo://resource/static/document/features.md"))
    show("read", await session.read_resource("demo://resource/dynamic/text/1"))
    show("subscribe", await session.subscribe_resource("demo://resource/dynamic/text/1"))
    show("unsubscribe", await session.unsubscribe_resource("demo://resource/dynamic/text/1"))
    prompts = await session.list_prompts()
    prompts.prompts = [prompt for prompt in prompts.prompts if prompt.name.startswith(PREFIX)]
    show("prompts", prompts)
    show("prompt", await session.get_prompt(PREFIX + "simple-prompt"))
    show("prompt", await session.get_prompt(PREFIX + "args-prompt", {"city": "Oslo"}))
    reference = types.PromptReference(type="ref/prompt", name=PREFIX + "completable-prompt")
    show("complete", await session.complete(reference, {"name": "department", "value": "E"}))
    show("level", await session.set_logging_level("debug"))
    long = PREFIX + "trigger-long-running-operation"
    show(long, await session.call_tool(long, {"duration": 0.3, "steps": 3}, progress_callback=progress))
    try:
        await session.call_tool(long, {"duration": 60, "steps": 2}, read_timeout_seconds=0.3)
    except MCPError as error:
        show("cancelled", error)
    try:
        await session.read_resource("demo://nothing")
    except MCPError as error:
        show("error", error)
    show("after", await session.call_tool(PREFIX + "echo", {"message": "still here"}))


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with stdio_client(server) as streams:
        async with ClientSession(
            *streams, elicitation_callback=elicit, sampling_callback=sample, list_roots_callback=roots
        ) as session:
            await converse(session)


asyncio.run(main())
