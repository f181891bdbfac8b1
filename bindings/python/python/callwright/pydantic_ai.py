"""A guard for Pydantic AI agents.

    from callwright.pydantic_ai import Guard

    agent = Agent("openai:gpt-5", capabilities=[Guard(policy="callwright.toml")])
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ModelRetry

from ._guarding import LateGate
from ._results import plain
from ._types import pointer

__all__ = ["Guard"]


class Guard(AbstractCapability[Any]):
    """Judges every call of a function tool before it is validated, and every result before the model reads it.

    The tools are those of the agent. ``options`` are those of :class:`callwright.Gate`. A conversation is one run.
    """

    def __init__(self, **options: Any) -> None:
        self._late = LateGate(options)

    async def prepare_tools(self, ctx: Any, tool_defs: list[Any]) -> list[Any]:
        self._late.show(
            {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters_json_schema}
            for tool in tool_defs
        )
        return tool_defs

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        """Corrects tool names: unknown ones are handled before any other hook runs."""
        known = {tool["name"] for tool in self._late.gate.tools}
        for part in response.parts:
            if getattr(part, "part_kind", None) == "tool-call" and part.tool_name not in known:
                verdict = self._late.gate.judge(part.tool_name, _sent(part.args))
                if verdict and verdict.tool in known:
                    part.tool_name = verdict.tool
        return response

    async def before_tool_validate(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
        verdict = self._late.gate.judge(tool_def.name, _sent(args), id=call.tool_call_id)
        if verdict:
            return verdict.arguments if verdict.verdict == "repaired" else args
        raise ModelRetry(self._refusal(ctx, call, tool_def, args, []))

    async def on_tool_validate_error(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, error: Any) -> Any:
        """Words the complaints of a tool's own types like those of its schema."""
        if not isinstance(error, ValidationError):
            raise error
        objections = [(pointer(one["loc"]), one["msg"]) for one in error.errors(include_url=False)]
        raise ModelRetry(self._refusal(ctx, call, tool_def, args, objections)) from error

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        if tool_def.name not in {tool["name"] for tool in self._late.gate.tools}:
            return await handler(args)
        with self._late.gate.open(tool_def.name, _sent(call.args), id=call.tool_call_id, **_place(ctx)) as ticket:
            if not ticket:
                # Not a reason to retry: the model gets it as the result.
                return ticket.close().text
            try:
                result = await handler(args)
            except ModelRetry as error:
                ticket.close(failed={"kind": "reported", "code": "tool_reported_failure", "detail": error.message})
                raise
            output = plain(result)
            settled = ticket.close(output)
            unchanged = not settled.is_error and settled.notice is None and settled.output_verdict == "passed"
            return result if unchanged else settled.text

    def _refusal(self, ctx: Any, call: Any, tool_def: Any, args: Any, objections: list[tuple[str, str]]) -> str:
        place = _place(ctx)
        ticket = self._late.gate.open(tool_def.name, _sent(args), id=call.tool_call_id, objections=objections, **place)
        return ticket.close().text


def _sent(args: Any) -> Any:
    return {} if args is None else args


def _place(ctx: Any) -> dict[str, Any]:
    return {"session": str(ctx.run_id), "round": ctx.run_step}
