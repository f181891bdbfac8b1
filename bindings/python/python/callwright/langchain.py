"""A guard for LangChain and LangGraph agents.

    from callwright.langchain import Guard

    agent = create_agent(model, tools, middleware=[Guard(policy="callwright.toml")])
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from ._callwright import Ticket
from ._guarding import LateGate

__all__ = ["Guard"]


class Guard(AgentMiddleware):
    """Judges every tool call of an agent before its tool runs, and every result before the model reads it.

    The tools are those of the agent. ``options`` are those of :class:`callwright.Gate`. A conversation is a LangGraph
    thread; without a checkpointer, every invocation of the agent is one.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._late = LateGate(options)
        self._known: dict[str, BaseTool] = {}

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        self._show(request.tools)
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        self._show(request.tools)
        return await handler(request)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Handles calls whose arguments are not JSON: the agent would otherwise end silently."""
        message = state["messages"][-1]
        if not isinstance(message, AIMessage) or not message.invalid_tool_calls:
            return None
        calls, told = list(message.tool_calls), []
        for invalid in message.invalid_tool_calls:
            name, id = invalid.get("name") or "", invalid.get("id") or uuid.uuid4().hex
            verdict = self._late.gate.judge(name, invalid.get("args") or "", id=id)
            if verdict:
                calls.append({"name": verdict.tool, "args": verdict.arguments, "id": id, "type": "tool_call"})
            else:
                refused = self._late.gate.open(name, invalid.get("args") or "", id=id, session=_session(state, runtime))
                told.append(_refusal(refused, {"name": name, "id": id}))
        rest = [invalid for invalid in message.invalid_tool_calls if any(one.tool_call_id == invalid.get("id") for one in told)]
        update: dict[str, Any] = {
            "messages": [message.model_copy(update={"tool_calls": calls, "invalid_tool_calls": rest}), *told]
        }
        if not calls:
            update["jump_to"] = "model"
        return update

    @hook_config(can_jump_to=["model"])
    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return self.after_model(state, runtime)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        with self._open(request) as ticket:
            if not ticket:
                return _refusal(ticket, request.tool_call)
            return _settle(ticket, handler(self._request(request, ticket)))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        with self._open(request) as ticket:
            if not ticket:
                return _refusal(ticket, request.tool_call)
            return _settle(ticket, await handler(self._request(request, ticket)))

    def _show(self, tools: list[Any]) -> None:
        self._known = {tool.name: tool for tool in tools if isinstance(tool, BaseTool)}
        # Not strict: a strict schema demands more than the tool does.
        self._late.show(convert_to_openai_tool(tool) for tool in self._known.values())

    def _open(self, request: Any) -> Ticket:
        call = request.tool_call
        if request.tool is not None and request.tool.name not in self._known:
            # A graph without a guarded model call: only the tool itself is known.
            self._show([*self._known.values(), request.tool])
        session = _session(request.state, request.runtime)
        return self._late.gate.open(call["name"], call["args"], id=call["id"], session=session)

    def _request(self, request: Any, ticket: Ticket) -> Any:
        call = request.tool_call
        if ticket.verdict != "repaired":
            return request
        tool = self._known.get(ticket.tool, request.tool)
        return request.override(tool_call={**call, "name": ticket.tool, "args": ticket.arguments}, tool=tool)


def _refusal(ticket: Ticket, call: Any) -> ToolMessage:
    return ToolMessage(ticket.close().text, tool_call_id=call["id"], name=call["name"], status="error")


def _settle(ticket: Ticket, result: Any) -> Any:
    """What the model gets for a result. Commands, images and lists of blocks pass unchanged."""
    if not isinstance(result, ToolMessage) or not isinstance(result.content, str):
        return result
    settled = ticket.close(result.content, is_error=result.status == "error")
    if settled.text == result.content:
        return result
    status = "error" if settled.is_error else "success"
    return result.model_copy(update={"content": settled.text, "status": status})


def _session(state: Any, runtime: Any) -> str:
    config = getattr(runtime, "config", None)
    if config is None:
        try:
            from langgraph.config import get_config

            config = get_config()
        except RuntimeError:
            config = {}
    configurable = (config or {}).get("configurable", {})
    thread = configurable.get("thread_id")
    if thread is not None:
        return str(thread)
    # The first message of an invocation has a unique id.
    messages = state.get("messages") if isinstance(state, dict) else getattr(state, "messages", None)
    first = messages[0] if messages else None
    return str(getattr(first, "id", None) or id(first))
