"""A guard for the tools of the OpenAI Agents SDK.

    from callwright.openai_agents import guard, run_config

    agent = Agent(name="orders", tools=guard([search_orders, refund]))
    result = await Runner.run(agent, text, run_config=run_config())
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from agents import FunctionTool, RunConfig

from ._gate import Gate
from ._guarding import loosened, session_of

__all__ = ["guard", "run_config"]


def guard(
    tools: Iterable[Any], *, session: Callable[[Any], str] | None = None, **options: Any
) -> list[Any]:
    """The same tools behind one gate. Hosted tools and handoffs pass unchanged.

    ``session`` returns the conversation for a tool's context; without it, every run is one. ``options`` are those of
    :class:`callwright.Gate`.
    """
    tools = list(tools)
    functions = [tool for tool in tools if isinstance(tool, FunctionTool)]
    gate = Gate([_declaration(tool) for tool in functions], **options)
    names = session or (lambda context: session_of(context.usage))
    return [_guarded(tool, gate, names) if isinstance(tool, FunctionTool) else tool for tool in tools]


def run_config(**settings: Any) -> RunConfig:
    """A run configuration that reports calls of unknown tools to the model instead of ending the run."""
    settings.setdefault("tool_not_found_behavior", "return_error_to_model")
    return RunConfig(**settings)


def _declaration(tool: FunctionTool) -> dict[str, Any]:
    schema = tool.params_json_schema
    # A strict schema lists every parameter as required; the function behind it does not.
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": loosened(schema) if tool.strict_json_schema else schema,
    }


def _guarded(tool: FunctionTool, gate: Gate, session: Callable[[Any], str]) -> FunctionTool:
    invoke = tool.on_invoke_tool

    async def on_invoke_tool(context: Any, arguments: str) -> Any:
        _warn_of_unknown_tools(context)
        call = {"tool": tool.name, "arguments": arguments, "id": getattr(context, "tool_call_id", None)}
        with gate.open(call, session=session(context)) as ticket:
            if not ticket:
                return ticket.close().text
            sent = arguments if ticket.verdict != "repaired" else _text(ticket.arguments)
            output = await invoke(context, sent)
            if not isinstance(output, str):
                # Images and files pass unchanged.
                return output
            settled = ticket.close(output)
            return output if settled.text == output else settled.text

    return dataclasses.replace(tool, on_invoke_tool=on_invoke_tool)


def _text(arguments: Any) -> str:
    import json

    return json.dumps(arguments, ensure_ascii=False)


_warned = False


def _warn_of_unknown_tools(context: Any) -> None:
    global _warned
    config = getattr(context, "run_config", None)
    if not _warned and getattr(config, "tool_not_found_behavior", None) == "raise_error":
        _warned = True
        warnings.warn(
            "a call of an unknown tool ends this run before callwright sees it; "
            "pass run_config=callwright.openai_agents.run_config()",
            RuntimeWarning,
            stacklevel=3,
        )
