"""The tools that the official conformance suite calls. The suite defines their names and behaviour."""

import asyncio

import mcp.types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPError
from media import as_text, png, wav
from questions import IN_THE_MIDDLE, INTERVIEWS, STRING, ask_now

# Seconds between two notifications, so that they arrive one by one.
PAUSE = 0.05

BUS = InMemorySubscriptionBus()


def text(words):
    return {"type": "text", "text": words}


def resource(uri, words):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": words}}


PICTURE = {"type": "image", "data": as_text(png()), "mimeType": "image/png"}
SOUND = {"type": "audio", "data": as_text(wav()), "mimeType": "audio/wav"}

# Tools that always return the same content.
CONTENT = {
    "test_simple_text": [text("plain words")],
    "test_image_content": [PICTURE],
    "test_audio_content": [SOUND],
    "test_embedded_resource": [resource("test://embedded-resource", "words within")],
    "test_multiple_content_types": [text("three kinds"), PICTURE, resource("test://mixed-content-resource", "third")],
    "json_schema_2020_12_tool": [text("called")],
    "test_header_argument": [text("called")],
}


async def log(context):
    for number in range(3):
        await context.session.send_log_message("info", f"line {number}", related_request_id=context.request_id)
        await asyncio.sleep(PAUSE)
    return "logged"


async def make_progress(context):
    for percent in (0, 50, 100):
        await context.session.report_progress(percent, 100)
        await asyncio.sleep(PAUSE)
    return "made progress"


async def leave_stream(context):
    """The answer is sent after the client has reconnected."""
    if context.close_sse_stream is not None:
        await context.close_sse_stream()
    await asyncio.sleep(4 * PAUSE)
    return "came back"


def tell(event):
    """Publishes an event but changes nothing, because other scenarios list things at the same time."""

    async def told(context):
        await BUS.publish(event)
        return "told"

    return told


async def need_sampling(context):
    able = context.session.client_capabilities
    if able is None or able.sampling is None:
        missing = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "only for clients that sample", missing)
    return "possible"


# Tools that do something.
DEEDS = {
    "test_tool_with_logging": log,
    "test_logging_tool": log,
    "test_tool_with_progress": make_progress,
    "test_reconnection": leave_stream,
    "test_trigger_tool_change": tell(ToolsListChanged()),
    "test_trigger_prompt_change": tell(PromptsListChanged()),
    "test_missing_capability": need_sampling,
}

FAILING = "test_error_handling"


def arguments(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


# The tools with arguments. The keywords of the first are those that the suite checks for.
SCHEMAS = {
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"city": STRING}}},
        "type": "object",
        "properties": {"address": {"$ref": "#/$defs/address"}, "phone": STRING, "email": STRING},
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"required": ["address"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
    "test_sampling": arguments(["prompt"], prompt=STRING),
    "test_elicitation": arguments(["message"], message=STRING),
    "test_header_argument": arguments(place={"type": "string", "x-mcp-header": "Place"}),
}

NAMES = [*CONTENT, *DEEDS, *IN_THE_MIDDLE, *INTERVIEWS, FAILING]


async def list_tools(context, params):
    tools = [
        types.Tool(name=name, description=f"For the check of {name}.", input_schema=SCHEMAS.get(name, arguments()))
        for name in NAMES
    ]
    return types.ListToolsResult(tools=tools)


def result(*content, failed=False):
    return types.CallToolResult.model_validate({"content": content, "isError": failed})


async def call_tool(context, params):
    name = params.name
    if name in CONTENT:
        return result(*CONTENT[name])
    if name == FAILING:
        return result(text("it always fails"), failed=True)
    if name in DEEDS:
        return result(text(await DEEDS[name](context)))
    if name in IN_THE_MIDDLE:
        return result(text(await ask_now(context, IN_THE_MIDDLE[name](params.arguments))))
    if name in INTERVIEWS:
        asked, said = INTERVIEWS[name].next(context, params)
        return asked or result(text(said))
    raise MCPError(types.INVALID_PARAMS, f"no tool is called {name}")
