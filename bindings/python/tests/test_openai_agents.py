"""The guard for the OpenAI Agents SDK, with the real SDK and a scripted model over HTTP."""

from __future__ import annotations

from typing import Any, Optional

import pytest

agents = pytest.importorskip("agents")

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled  # noqa: E402
from openai import AsyncOpenAI  # noqa: E402
from scripted_model import ScriptedModel, call, scripted  # noqa: E402

from callwright import openai_agents  # noqa: E402
from callwright.openai_agents import guard, run_config  # noqa: E402

set_tracing_disabled(True)


def tools(ran: list[Any], **options: Any) -> list[Any]:
    @function_tool
    def search_orders(query: str, limit: int = 10, tags: Optional[list[str]] = None) -> str:
        """Searches orders."""
        ran.append((query, limit, tags))
        return f"{limit} orders"

    return guard([search_orders], **options)


async def run(model: ScriptedModel, guarded: list[Any], config: Any = None) -> Any:
    client = AsyncOpenAI(base_url=model.url, api_key="none", max_retries=0)
    agent = Agent(name="orders", tools=guarded, model=OpenAIChatCompletionsModel("scripted", client))
    return await Runner.run(agent, "lamps", run_config=config or run_config())


async def test_the_model_hears_why_and_recovers() -> None:
    ran: list[Any] = []
    with scripted(
        call("search_orders", '{"limit": "ten"}'), call("search_orders", '{"query": "lamp", "limit": 5, "tags": null}'), "Five."
    ) as model:
        result = await run(model, tools(ran))
        assert model.requests[1]["messages"][-1]["content"] == (
            "Please rewrite the input with valid arguments. "
            'Errors: query: Required; limit: expected integer, received string "ten"'
        )
    assert result.final_output == "Five." and ran == [("lamp", 5, None)]


async def test_repairs() -> None:
    ran: list[Any] = []
    with scripted(call("search_orders", '{"query": "lamp", "limit": "5", "tags": "[\\"a\\"]"}'), "Done.") as model:
        await run(model, tools(ran))
    assert ran == [("lamp", 5, ["a"])]


async def test_never_by_a_schema_that_was_made_strict() -> None:
    ran: list[Any] = []
    guarded = tools(ran)
    assert set(guarded[0].params_json_schema["required"]) == {"query", "limit", "tags"}
    with scripted(call("search_orders", '{"query": "lamp"}'), "Done.") as model:
        await run(model, guarded)
        assert model.heard() == ["10 orders"]
    assert ran == [("lamp", 10, None)]


async def test_an_unknown_tool_is_told_with_the_run_config() -> None:
    with scripted(call("find_weather", "{}"), "Sorry.") as model:
        result = await run(model, tools([]))
    assert result.final_output == "Sorry."


async def test_without_the_run_config_there_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_agents, "_warned", False)
    with scripted(call("search_orders", '{"query": "lamp"}'), "Done.") as model:
        with pytest.warns(RuntimeWarning, match="unknown tool ends this run"):
            await run(model, tools([]), agents.RunConfig())


async def test_budgets_and_loops() -> None:
    ran: list[Any] = []
    same = call("search_orders", '{"query": "lamp"}')
    with scripted(same, same, same, same, "Enough.") as model:
        await run(model, tools(ran))
        heard = model.heard()
    assert len(ran) == 3 and heard[0] == "10 orders"
    assert "same" in heard[3] and heard[3] != "10 orders"
