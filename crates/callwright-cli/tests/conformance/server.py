"""A real MCP server with everything that the official conformance suite asks a server for. It says its port.

`server.py`, or over TLS: `server.py CERTIFICATE KEY`
"""

import asyncio
import base64
import json
import os
import socket
import sys
import threading
from typing import Annotated

import mcp.types as types
import uvicorn
from events import Events
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

# So that a client gives back what the server told it to keep, and nothing else.
server = MCPServer("conformance", request_state_security=RequestStateSecurity(keys=[b"k" * 32]))


def tool(function):
    return server.tool(description=function.__doc__ or "Does what the suite asks for.")(function)


def prompt(function):
    return server.prompt(description="Says what the suite asks for.")(function)


def text(text):
    return types.TextContent(type="text", text=text)


def image():
    return types.ImageContent(type="image", data=PIXEL, mime_type="image/png")


def embedded(uri, text, kind="text/plain"):
    contents = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


# What every revision has.


@tool
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@tool
def test_image_content() -> list[types.ImageContent]:
    return [image()]


@tool
def test_audio_content() -> list[types.AudioContent]:
    return [types.AudioContent(type="audio", data=SOUND, mime_type="audio/wav")]


@tool
def test_embedded_resource() -> list[types.EmbeddedResource]:
    return [embedded("test://embedded-resource", "This is an embedded resource content.")]


@tool
def test_multiple_content_types() -> list[types.TextContent | types.ImageContent | types.EmbeddedResource]:
    mixed = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return [text("Multiple content types test:"), image(), mixed]


@tool
def test_error_handling() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


@tool
async def test_tool_with_logging(ctx: Context) -> str:
    for step in ("started", "processing", "completed"):
        await ctx.info(f"Tool execution {step}")
        await asyncio.sleep(0.02)
    return "done"


@tool
async def test_tool_with_progress(ctx: Context) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(0.02)
    return "done"


@tool
async def test_reconnection(ctx: Context) -> str:
    """Ends the stream of its answer, which comes on another one."""
    await ctx.close_sse_stream()
    await asyncio.sleep(0.2)
    return "Reconnection test completed"


@tool
def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "none",
) -> str:
    """Has an argument that clients repeat in a header."""
    return region


TEXT = {"type": "string"}
ADDRESS = {"$anchor": "addressDef", "type": "object", "properties": {"street": TEXT, "city": TEXT}}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {
        "name": TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": TEXT,
        "email": TEXT,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@tool
def json_schema_2020_12_tool() -> str:
    return "done"


# The package has no other way to declare a schema as it is.
server._tool_manager._tools["json_schema_2020_12_tool"].parameters = SCHEMA


@tool
async def test_trigger_tool_change(ctx: Context) -> str:
    server.add_tool(lambda: "there", name="test_dynamic_tool")
    server.remove_tool("test_dynamic_tool")
    await ctx.notify_tools_changed()
    return "changed"


@tool
async def test_trigger_prompt_change(ctx: Context) -> str:
    server.add_prompt(Prompt.from_function(lambda: "there", name="test_dynamic_prompt", description="is there"))
    server.remove_prompt("test_dynamic_prompt")
    await ctx.notify_prompts_changed()
    return "changed"


# Questions to the client in the middle of a call, up to 2025-11-25.


@tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    result = await ctx.session.create_message(
        messages=[types.SamplingMessage(role="user", content=text(prompt))],
        max_tokens=100,
        related_request_id=ctx.request_id,
    )
    return f"LLM response: {result.content.text}"


async def asked(ctx, message, schema):
    result = await ctx.elicit(message=message, schema=schema)
    content = result.data.model_dump_json() if result.action == "accept" else "{}"
    return f"action={result.action}, content={content}"


class Said(BaseModel):
    response: str


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field(default="active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = True


def titled(*names):
    return [{"const": name, "title": f"The {name}"} for name in names]


class Choices(BaseModel):
    untitledSingle: str = Field(json_schema_extra={"enum": ["option1", "option2", "option3"]})
    titledSingle: str = Field(json_schema_extra={"oneOf": titled("value1", "value2", "value3")})
    untitledMulti: list[str] = Field(json_schema_extra={"items": {"type": "string", "enum": ["option1", "option2"]}})
    titledMulti: list[str] = Field(json_schema_extra={"items": {"anyOf": titled("value1", "value2")}})
    legacyEnum: str = Field(json_schema_extra={"enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]})


@tool
async def test_elicitation(message: str, ctx: Context) -> str:
    return await asked(ctx, message, Said)


@tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    return await asked(ctx, "Please provide user information", Defaults)


@tool
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    return await asked(ctx, "Please choose", Choices)


@tool
async def test_missing_capability(ctx: Context) -> str:
    """Needs a client that samples."""
    can = ctx.session.client_capabilities
    if can is None or can.sampling is None:
        raise MCPError(
            code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool requires the client capability `sampling`",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return "done"


# Questions as the result of a call, since 2026-07-28.

Asks = str | types.InputRequiredResult


def ask(key="name", kind="string", message="What is it?"):
    schema = {"type": "object", "properties": {key: {"type": kind}}, "required": [key]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(prompt):
    message = types.SamplingMessage(role="user", content=text(prompt))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=50))


def answers(ctx):
    return ctx.input_responses or {}


def needs(state=None, **requests):
    return types.InputRequiredResult(input_requests=requests, request_state=state)


@tool
async def test_input_required_result_elicitation(ctx: Context) -> Asks:
    answer = answers(ctx).get("user_name")
    return f"Hello, {answer.content['name']}!" if answer else needs(user_name=ask())


@tool
async def test_input_required_result_sampling(ctx: Context) -> Asks:
    answer = answers(ctx).get("capital_question")
    return answer.content.text if answer else needs(capital_question=sample("What is the capital of France?"))


@tool
async def test_input_required_result_list_roots(ctx: Context) -> Asks:
    answer = answers(ctx).get("client_roots")
    return f"{len(answer.roots)} roots" if answer else needs(client_roots=types.ListRootsRequest())


@tool
async def test_input_required_result_request_state(ctx: Context) -> Asks:
    if "confirm" in answers(ctx) and ctx.request_state == "kept":
        return "state-ok"
    return needs("kept", confirm=ask("ok", "boolean"))


@tool
async def test_input_required_result_multiple_inputs(ctx: Context) -> Asks:
    requests = {"user_name": ask(), "greeting": sample("Greet"), "client_roots": types.ListRootsRequest()}
    return "all there" if answers(ctx).keys() >= requests.keys() else needs("several", **requests)


@tool
async def test_input_required_result_multi_round(ctx: Context) -> Asks:
    state = json.loads(ctx.request_state or '{"round":0}')
    if state["round"] == 1 and "step1" in answers(ctx):
        name = answers(ctx)["step1"].content["name"]
        return needs(json.dumps({"round": 2, "name": name}), step2=ask("color"))
    if state["round"] == 2 and "step2" in answers(ctx):
        return f"{state['name']} likes {answers(ctx)['step2'].content['color']}"
    return needs('{"round":1}', step1=ask())


@tool
async def test_input_required_result_tampered_state(ctx: Context) -> Asks:
    if ctx.request_state is None:
        return needs("first", confirm=ask("ok", "boolean"))
    return "state-ok"


@tool
async def test_input_required_result_capabilities(ctx: Context) -> types.InputRequiredResult:
    can = ctx.client_capabilities
    requests = {}
    if can is None or can.sampling is not None:
        requests["sample"] = sample("Say hello")
    if can is None or can.elicitation is not None:
        requests["ask"] = ask()
    return needs("able", **requests)


@prompt
async def test_input_required_result_prompt(ctx: Context) -> list[UserMessage] | types.InputRequiredResult:
    answer = answers(ctx).get("user_context")
    if answer:
        return [UserMessage(content=text(answer.content["context"]))]
    return needs(user_context=ask("context"))


# Resources, prompts and the rest.


@server.resource("test://static-text")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary")
def static_binary() -> bytes:
    return base64.b64decode(PIXEL)


@server.resource("test://template/{id}/data")
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.resource("test://watched-resource")
def watched() -> str:
    return "watched"


@prompt
def test_simple_prompt() -> list[UserMessage]:
    return [UserMessage(content=text("This is a simple prompt for testing."))]


@prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    return [UserMessage(content=text(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))]


@prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    resource = embedded(resourceUri, "Embedded resource content for testing.")
    return [UserMessage(content=resource), UserMessage(content=text("Please process it."))]


@prompt
def test_prompt_with_image() -> list[UserMessage]:
    return [UserMessage(content=image()), UserMessage(content=text("Please analyze the image above."))]


async def taken(ctx, params):
    return types.EmptyResult()


# The package has no other way to take these.
for method, params in [
    ("logging/setLevel", types.SetLevelRequestParams),
    ("resources/subscribe", types.SubscribeRequestParams),
    ("resources/unsubscribe", types.UnsubscribeRequestParams),
]:
    server._lowlevel_server.add_request_handler(method, params, taken)


@server.completion()
async def complete(ref, argument, context):
    return types.Completion(values=[], total=0, has_more=False)


def end_with_input():
    sys.stdin.read()
    os._exit(0)


app = server.streamable_http_app(event_store=Events(), retry_interval=100)
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(128)
print(listener.getsockname()[1], flush=True)
threading.Thread(target=end_with_input, daemon=True).start()
certificate, key = sys.argv[1:] or (None, None)
config = uvicorn.Config(app, log_level="error", ssl_certfile=certificate, ssl_keyfile=key)
uvicorn.Server(config).run(sockets=[listener])
