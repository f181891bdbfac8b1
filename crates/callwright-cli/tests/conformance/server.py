"""A real MCP server with everything that the official conformance suite requires of a server. Prints its port.

`server.py`, or over TLS: `server.py CERTIFICATE KEY`
"""

import asyncio
import re
import socket
import sys

import mcp.types as types
import uvicorn
from journal import Journal
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from media import as_text, png
from questions import PROMPT_INTERVIEW
from tools import BUS, PICTURE, call_tool, list_tools, resource, text

# Prompts: the names of their arguments, and their messages.
PROMPTS = {
    "test_simple_prompt": ([], lambda: [text("say something")]),
    "test_prompt_with_arguments": (["arg1", "arg2"], lambda arg1, arg2: [text(f"{arg1} before {arg2}")]),
    "test_prompt_with_embedded_resource": (["resourceUri"], lambda resourceUri: [resource(resourceUri, "read this")]),
    "test_prompt_with_image": ([], lambda: [PICTURE, text("look at it")]),
}
ASKING_PROMPT = "test_input_required_result_prompt"

RESOURCES = {
    "test://static-text": {"mimeType": "text/plain", "text": "words that stay"},
    "test://static-binary": {"mimeType": "image/png", "blob": as_text(png())},
    "test://watched-resource": {"mimeType": "text/plain", "text": "words to watch"},
}
TEMPLATE = "test://template/{id}/data"


async def list_prompts(context, params):
    def prompt(name, arguments=()):
        arguments = [types.PromptArgument(name=one, required=True) for one in arguments]
        return types.Prompt(name=name, description=f"For the check of {name}.", arguments=arguments)

    prompts = [prompt(name, arguments) for name, (arguments, _) in PROMPTS.items()]
    return types.ListPromptsResult(prompts=[*prompts, prompt(ASKING_PROMPT)])


async def get_prompt(context, params):
    if params.name == ASKING_PROMPT:
        asked, said = PROMPT_INTERVIEW.next(context, params)
        if asked:
            return asked
        content = [text(said)]
    elif params.name in PROMPTS:
        content = PROMPTS[params.name][1](**(params.arguments or {}))
    else:
        raise MCPError(types.INVALID_PARAMS, f"no prompt is called {params.name}")
    messages = [{"role": "user", "content": one} for one in content]
    return types.GetPromptResult.model_validate({"messages": messages})


async def list_resources(context, params):
    resources = [types.Resource(uri=uri, name=uri, mime_type=one["mimeType"]) for uri, one in RESOURCES.items()]
    return types.ListResourcesResult(resources=resources)


async def list_templates(context, params):
    return types.ListResourceTemplatesResult(
        resource_templates=[types.ResourceTemplate(uri_template=TEMPLATE, name="by id", mime_type="text/plain")]
    )


async def read_resource(context, params):
    contents = RESOURCES.get(params.uri)
    if by_id := re.fullmatch(TEMPLATE.replace("{id}", "([^/]+)"), params.uri):
        contents = {"mimeType": "text/plain", "text": f"the words of {by_id[1]}"}
    if contents is None:
        raise MCPError(types.INVALID_PARAMS, "no such resource", {"uri": params.uri})
    return types.ReadResourceResult.model_validate({"contents": [{"uri": params.uri, **contents}]})


async def complete(context, params):
    return types.CompleteResult(completion=types.Completion(values=[params.argument.value + "s"]))


async def accept(context, params):
    return types.EmptyResult()


server = Server(
    "conformance",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_read_resource=read_resource,
    on_subscribe_resource=accept,
    on_unsubscribe_resource=accept,
    on_subscriptions_listen=ListenHandler(BUS),
    on_completion=complete,
    on_set_logging_level=accept,
)
# The state that clients return is sealed: a modified one is refused.
server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=None))


async def serve(certificate=None, key=None):
    """Runs until the input ends."""
    # A disconnected client reconnects after this many milliseconds.
    app = server.streamable_http_app(event_store=Journal(), retry_interval=100)
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    web = uvicorn.Server(uvicorn.Config(app, log_level="error", ssl_certfile=certificate, ssl_keyfile=key))
    print(listener.getsockname()[1], flush=True)
    serving = asyncio.create_task(web.serve(sockets=[listener]))
    await asyncio.to_thread(sys.stdin.read)
    web.should_exit = web.force_exit = True
    await serving


asyncio.run(serve(*sys.argv[1:]))
