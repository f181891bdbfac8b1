"""The guard for LangChain agents, with the real framework and a scripted model over HTTP."""

from __future__ import annotations

from typing import Any, Optional

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent  # noqa: E402
from langchain_core.tools import tool  # noqa: E402
from langchain_openai import ChatOpenAI  # noqa: E402
from scripted_model import ScriptedModel, call, scripted  # noqa: E402

from callwright.langchain import Guard  # noqa: E402


def agent(model: ScriptedModel, ran: list[Any], **options: Any) -> Any:
    @tool
    def search_orders(query: str, limit: int = 10, tags: Optional[list[str]] = None) -> str:
        """Searches orders."""
        ran.append((query, limit, tags))
        return f"{limit} orders"

    chat = ChatOpenAI(model="scripted", base_url=model.url, api_key="none", max_retries=0)
    return create_agent(chat, [search_orders], middleware=[Guard(**options)])


ASK: Any = {"messages": [("user", "lamps")]}


async def test_the_model_hears_why_and_recovers() -> None:
    ran: list[Any] = []
    with scripted(call("search_orders", '{"limit": "ten"}'), call("search_orders", '{"query": "lamp"}'), "Ten.") as model:
        state = await agent(model, ran).ainvoke(ASK)
        assert model.heard() == [
            "Please rewrite the input with valid arguments. "
            'Errors: query: Required; limit: expected integer, received string "ten"',
            "10 orders",
        ]
    assert state["messages"][-1].content == "Ten." and ran == [("lamp", 10, None)]


def test_repairs_without_an_event_loop() -> None:
    ran: list[Any] = []
    with scripted(call("search_orders", '{"query": "lamp", "limit": "5", "tags": "[\\"a\\"]"}'), "Done.") as model:
        agent(model, ran).invoke(ASK)
    assert ran == [("lamp", 5, ["a"])]


async def test_a_wrong_name() -> None:
    ran: list[Any] = []
    with scripted(call("SearchOrders", '{"query": "lamp"}'), "Done.") as model:
        await agent(model, ran).ainvoke(ASK)
    assert ran == [("lamp", 10, None)]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_arguments_that_are_not_json(asynchronous: bool) -> None:
    ran: list[Any] = []
    with scripted(
        call("search_orders", "{'query': 'lamp',}"), call("search_orders", '{"query": "la'), "Sorry."
    ) as model:
        made = agent(model, ran)
        state = await made.ainvoke(ASK) if asynchronous else made.invoke(ASK)
        heard = model.heard()
    assert ran == [("lamp", 10, None)]
    assert state["messages"][-1].content == "Sorry."
    assert heard[0] == "10 orders" and "cut off" in heard[1]


async def test_budgets_and_loops() -> None:
    ran: list[Any] = []
    same = call("search_orders", '{"query": "lamp"}')
    with scripted(same, same, same, same, "Enough.") as model:
        await agent(model, ran).ainvoke(ASK)
        heard = model.heard()
    assert len(ran) == 3 and "same" in heard[3]
