"""The guard for Pydantic AI agents, with the real framework and a scripted model over HTTP."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import AfterValidator  # noqa: E402
from pydantic_ai import Agent  # noqa: E402
from pydantic_ai.models.openai import OpenAIChatModel  # noqa: E402
from pydantic_ai.providers.openai import OpenAIProvider  # noqa: E402
from scripted_model import ScriptedModel, call, scripted  # noqa: E402

from callwright.pydantic_ai import Guard  # noqa: E402


def even(number: int) -> int:
    if number % 2:
        raise ValueError("only even numbers")
    return number


def agent(model: ScriptedModel, ran: list[Any], **options: Any) -> Any:
    chat = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=model.url, api_key="none"))
    made: Any = Agent(chat, capabilities=[Guard(**options)])

    @made.tool_plain(retries=3)
    def search_orders(
        query: str, limit: Annotated[int, AfterValidator(even)] = 10, tags: Optional[list[str]] = None
    ) -> str:
        """Searches orders."""
        ran.append((query, limit, tags))
        return f"{limit} orders"

    return made


async def test_the_model_hears_why_and_recovers() -> None:
    ran: list[Any] = []
    with scripted(call("search_orders", '{"limit": "ten"}'), call("search_orders", '{"query": "lamp"}'), "Ten.") as model:
        result = await agent(model, ran).run("lamps")
        heard = model.heard()
    assert result.output == "Ten." and ran == [("lamp", 10, None)]
    assert "Please rewrite the input with valid arguments. Errors: query: Required; limit: " in heard[0]
    assert heard[1] == "10 orders"


async def test_repairs_of_text_and_of_values() -> None:
    ran: list[Any] = []
    with scripted(
        call("search_orders", "{'query': 'lamp', 'limit': '4',}"),
        call("search_orders", '{"query": "la'),
        "Done.",
    ) as model:
        await agent(model, ran).run("lamps")
        heard = model.heard()
    assert ran == [("lamp", 4, None)] and "cut off" in heard[1]


async def test_a_wrong_name() -> None:
    ran: list[Any] = []
    with scripted(call("SearchOrders", '{"query": "lamp"}'), "Done.") as model:
        await agent(model, ran).run("lamps")
    assert ran == [("lamp", 10, None)]


async def test_validators_of_the_tool_object_in_our_words() -> None:
    ran: list[Any] = []
    with scripted(call("search_orders", '{"query": "lamp", "limit": 3}'), "Done.") as model:
        await agent(model, ran).run("lamps")
        (heard,) = model.heard()
    assert not ran
    assert "Please rewrite the input with valid arguments. Errors: limit: Value error, only even numbers" in heard


async def test_budgets_and_loops() -> None:
    ran: list[Any] = []
    same = call("search_orders", '{"query": "lamp"}')
    with scripted(same, same, same, same, "Enough.") as model:
        await agent(model, ran).run("lamps")
        heard = model.heard()
    assert len(ran) == 3 and "same" in heard[3]
