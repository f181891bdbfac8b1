"""Functions as tools: schemas from types, validation errors from types, timeouts, failures, async."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import sys
import threading
import time
import uuid
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import pydantic
import pytest

from callwright import Gate, Settled, Tool, Toolbox, ToolFailure, TransientFailure, tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(TypedDict, total=False):
    """A place."""

    x: int
    y: int


@dataclasses.dataclass
class Size:
    width: int
    height: int = 1


class Booking(pydantic.BaseModel):
    """Books a room."""

    room: str = pydantic.Field(description="Its number.")
    start: int
    end: int

    @pydantic.field_validator("room")
    @classmethod
    def exists(cls, room: str) -> str:
        if not room.startswith("R"):
            raise ValueError("rooms start with R")
        return room

    @pydantic.model_validator(mode="after")
    def in_order(self) -> Booking:
        if self.end < self.start:
            raise ValueError("end is before start")
        return self


class TestSchemas:
    def test_hints_and_docstring(self) -> None:
        @tool
        def search(
            query: str,
            limit: int = 10,
            ratio: Optional[float] = None,
            tags: list[str] = [],
            mode: Literal["fast", "deep"] = "fast",
            where: Annotated[str, "A town."] = "",
        ) -> list[str]:
            """Searches.

            In all shops.

            Args:
                query: What to look for,
                    in a few words.
                limit (int): How many.
            Returns:
                The names.
            """
            return []

        assert search.description == "Searches.\n\nIn all shops."
        assert search.input_schema == {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for, in a few words."},
                "limit": {"type": "integer", "description": "How many.", "default": 10},
                "ratio": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "mode": {"enum": ["fast", "deep"], "default": "fast"},
                "where": {"type": "string", "description": "A town.", "default": ""},
            },
            "required": ["query"],
            "additionalProperties": False,
        }
        assert repr(search) == "<tool search(query, limit, ratio, tags, mode, where)>"
        assert search(query="x") == []

    def test_sphinx_style(self) -> None:
        @tool
        def move(to: str) -> None:
            """Moves.

            :param to: Where to.
            :return: Nothing.
            """

        assert move.input_schema["properties"]["to"] == {"type": "string", "description": "Where to."}

    def test_values_of_types(self) -> None:
        seen: list[Any] = []

        @tool
        def paint(colour: Colour, point: Point, size: Size, sizes: list[Size], pair: tuple[int, Colour]) -> None:
            seen.append((colour, point, size, sizes, pair))

        arguments = (
            '{"colour": "red", "point": {"x": 1}, "size": {"width": 2}, "sizes": [{"width": 3, "height": 4}], '
            '"pair": [1, "blue"]}'
        )
        assert not Toolbox([paint]).invoke("paint", arguments).is_error
        assert seen == [(Colour.RED, {"x": 1}, Size(2, 1), [Size(3, 4)], (1, Colour.BLUE))]

    def test_an_int_is_a_float_where_one_is_wanted(self) -> None:
        @tool
        def half(of: float) -> str:
            return repr(of)

        assert Toolbox([half]).invoke("half", '{"of": 3}').text == "3.0"

    def test_what_has_no_schema(self) -> None:
        def anything(*args: int) -> None: ...
        def keyed(by: dict[int, str]) -> None: ...

        with pytest.raises(TypeError, match="name the parameters"):
            tool(anything)
        with pytest.raises(TypeError, match="JSON keys are strings"):
            tool(keyed)

    def test_a_plain_schema(self) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}

        @tool(schema=schema, name="double", description="Doubles.")
        def anything(**arguments: Any) -> int:
            return 2 * int(arguments["a"])

        assert Toolbox([anything]).invoke("double", {"a": 4}).text == "8"

    def test_tools_of_all_kinds_in_a_gate(self) -> None:
        def ping() -> None: ...

        names = [declared["name"] for declared in Gate([ping, Booking, {"name": "x"}]).tools]
        assert names == ["ping", "Booking", "x"]


class TestPydantic:
    @tool(effect="read", schema=Booking)
    def book(booking: Booking) -> dict[str, Any]:  # type: ignore[misc]
        """Books a room."""
        return {"room": booking.room, "hours": booking.end - booking.start}

    def test_its_schema_counts_and_its_value_arrives(self) -> None:
        settled = Toolbox([self.book]).invoke("book", '{"room": "R1", "start": "8", "end": 10}')
        assert (settled.text, settled.verdict) == ('{"room":"R1","hours":2}', "repaired")

    def test_its_validators_object_with_paths(self) -> None:
        box = Toolbox([self.book])
        settled = box.invoke("book", '{"room": "7", "start": 8, "end": 10}', session="s", round=0)
        assert settled.verdict == "refused" and settled.failure is not None
        assert settled.failure["code"] == "invalid_arguments"
        assert [issue["path"] for issue in settled.failure["issues"]] == ["/room"]
        assert settled.text == (
            "Please rewrite the input with valid arguments. Errors: room: Value error, rooms start with R"
        )
        settled = box.invoke("book", '{"room": "R1", "start": 8, "end": 7}')
        assert settled.text.endswith("Errors: Root object: Value error, end is before start")

    def test_a_model_as_a_parameter(self) -> None:
        @tool
        def check(booking: Booking, note: Union[str, Booking] = "") -> str:
            return booking.room

        box = Toolbox([check])
        assert box.invoke("check", '{"booking": {"room": "R1", "start": 1, "end": 2}}').text == "R1"
        settled = box.invoke("check", '{"booking": {"room": "1", "start": 1, "end": 2}}')
        assert settled.failure is not None and settled.failure["issues"][0]["path"] == "/booking/room"

    def test_a_model_as_a_result(self) -> None:
        @tool
        def current() -> Booking:
            return Booking(room="R1", start=1, end=2)

        assert Toolbox([current]).invoke("current", "{}").text == '{"room":"R1","start":1,"end":2}'


def failing(error: Exception, **options: Any) -> tuple[Settled, int]:
    runs = 0

    @tool(name="fail", **options)
    def fail() -> None:
        nonlocal runs
        runs += 1
        raise error

    return Toolbox([fail]).invoke("fail", "{}"), runs


class TestFailures:
    def test_its_own_words(self) -> None:
        settled, runs = failing(ToolFailure("sold_out", "Nothing is left.", hint="Try tomorrow.", next="ask_user"))
        assert settled.text == "Nothing is left. Try tomorrow." and runs == 1
        assert settled.failure is not None
        assert (settled.failure["class"], settled.failure["code"]) == ("logical", "sold_out")
        assert settled.failure["next"] == "ask_user"

    def test_any_other_exception_is_for_the_operator(self) -> None:
        events: list[Any] = []

        @tool
        def leak() -> None:
            raise RuntimeError("password=hunter2")

        box = Toolbox([leak], events=events.append)
        settled = box.invoke("leak", "{}")
        box.close()
        assert "hunter2" not in settled.text + settled.to_json()
        assert settled.failure is not None and settled.failure["code"] == "tool_error"
        assert "RuntimeError" in events[0]["operator_detail"]

    def test_what_passes_is_run_again_where_that_does_no_harm(self) -> None:
        busy = TransientFailure("The index is being rebuilt.", retry_after=0.001)
        assert failing(busy, effect="read")[1] == 3
        assert failing(busy, idempotent=True, retries=1)[1] == 2
        assert failing(busy, effect="write")[1] == 1
        # Also recognised by its message.
        settled, runs = failing(ConnectionResetError("connection reset by peer"), effect="read", retries=1)
        assert settled.failure is not None and settled.failure["code"] == "transient" and runs == 2

    def test_a_time_limit(self) -> None:
        ended = threading.Event()

        @tool(timeout=0.05)
        def hang() -> None:
            ended.wait(30)

        settled = Toolbox([hang]).invoke("hang", "{}")
        ended.set()
        assert settled.failure is not None and settled.failure["code"] == "timeout"

    def test_a_time_limit_of_the_policy(self) -> None:
        @tool
        async def hang() -> None:
            await asyncio.sleep(30)

        box = Toolbox([hang], policy='[tool.hang]\ntimeout = 0.05\n')
        settled = box.invoke("hang", "{}")
        assert settled.failure is not None and settled.failure["code"] == "timeout"

    def test_an_own_timeout_error_is_not_ours(self) -> None:
        settled, _ = failing(TimeoutError("upstream"))
        assert settled.failure is not None and settled.failure["code"] != "timeout"


class TestAsync:
    async def test_functions_of_both_kinds_side_by_side(self) -> None:
        @tool
        async def wait(name: str) -> str:
            await asyncio.sleep(0.01)
            return name

        @tool
        def block(name: str) -> str:
            time.sleep(0.01)
            return name

        async with Toolbox([wait, block]) as box:
            calls = [{"tool": kind, "arguments": {"name": str(n)}} for n in range(3) for kind in ("wait", "block")]
            settled = await box.ainvoke_all(calls, session="s")
            assert [one.text for one in settled] == ["0", "0", "1", "1", "2", "2"]
            assert "async tool wait" in repr(wait)

    async def test_a_time_limit(self) -> None:
        @tool(timeout=0.02)
        async def hang() -> None:
            await asyncio.sleep(30)

        settled = await Toolbox([hang]).ainvoke("hang", {})
        assert settled.failure is not None and settled.failure["code"] == "timeout"

    async def test_a_cancelled_task_counts_as_cancelled(self) -> None:
        events: list[Any] = []
        started = asyncio.Event()

        @tool
        async def hang() -> None:
            started.set()
            await asyncio.sleep(30)

        box = Toolbox([hang], events=events.append)
        task = asyncio.create_task(box.ainvoke("hang", {}))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        box.close()
        assert events[0]["output_failure"]["code"] == "cancelled"

    async def test_budgets(self) -> None:
        @tool(effect="destructive")
        async def pay(amount: int) -> str:
            return "paid"

        box = Toolbox([pay])
        assert not (await box.ainvoke("pay", {"amount": 3}, session="s", round=0)).is_error
        again = await box.ainvoke("pay", {"amount": 3}, session="s", round=1)
        assert again.failure is not None and again.failure["code"] == "retry_budget_exceeded"


def test_repr() -> None:
    @tool
    def ping() -> None: ...

    assert repr(Toolbox([ping])) == "<Toolbox of ping>"
    assert isinstance(ping, Tool)


def test_equal_failures_look_equal() -> None:
    """A thread may be done before or after its result is asked for, which must not show in the failure."""

    @tool
    def broken(query: str) -> str:
        raise KeyError(query)

    seen = set()
    with Toolbox([broken]) as box:
        for number in range(100):
            results = [box.invoke("broken", {"query": "tea"}, session=str(number), turn=1, round=at) for at in range(4)]
            seen.add(tuple(result.failure["code"] for result in results))
    assert seen == {("tool_error", "tool_error", "tool_error", "repeated_call")}


def test_a_bug_in_a_tool_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    @tool
    def broken() -> str:
        raise KeyError("shelf")

    with Toolbox([broken]) as box:
        assert "internal error" in box.invoke("broken", {}).text
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("callwright", "ERROR")
    assert "KeyError: 'shelf'" in caplog.text and "futures" not in caplog.text


def test_a_tool_that_exits_has_failed() -> None:
    @tool
    def leaves() -> str:
        sys.exit(2)

    @tool
    async def leaves_later() -> str:
        sys.exit(2)

    with Toolbox([leaves, leaves_later]) as box:
        assert box.invoke("leaves", {}).failure["code"] == "tool_error"
        assert box.invoke("leaves_later", {}).failure["code"] == "tool_error"
        assert asyncio.run(box.ainvoke("leaves", {})).failure["code"] == "tool_error"
        assert asyncio.run(box.ainvoke("leaves_later", {})).failure["code"] == "tool_error"


def test_an_async_tool_inside_a_running_loop() -> None:
    @tool
    async def slow() -> str:
        return "done"

    async def main() -> None:
        with pytest.raises(RuntimeError, match="await toolbox.ainvoke"):
            box.invoke("slow", {})
        assert (await box.ainvoke("slow", {})).text == "done"

    box = Toolbox([slow])
    asyncio.run(main())


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan"), 1e300])
def test_a_timeout_outside_the_range_of_a_policy(timeout: float) -> None:
    with pytest.raises(ValueError, match="ping: timeout: expected seconds from 0.001 to 86400"):
        tool(name="ping", timeout=timeout)(lambda: None)


def test_wrong_options_name_the_tool() -> None:
    with pytest.raises(ValueError, match="ping: effect: expected one of unknown, read, write, destructive, got 'reed'"):
        tool(name="ping", effect="reed")(lambda: None)
    with pytest.raises(ValueError, match="ping: retries: expected an integer from 0 to 10, got -1"):
        tool(name="ping", retries=-1)(lambda: None)
    with pytest.raises(ValueError, match="next: expected one of fix_arguments"):
        ToolFailure("c", "d", next="banana")
    with pytest.raises(ValueError, match="retry_after: expected seconds from 0"):
        TransientFailure("later", retry_after=float("nan"))

    class Shop:
        def search(self, query: str) -> str:
            return query

    with pytest.raises(TypeError, match="search: a method needs its object"):
        tool(Shop.search)
    assert Toolbox([Shop().search]).invoke("search", {"query": "tea"}).text == "tea"


def test_every_next_step_is_known_to_the_gate() -> None:
    from callwright import _toolbox

    @tool
    def fails(step: str) -> str:
        raise ToolFailure("c", "It did not work.", next=step)

    with Toolbox([fails]) as box:
        for step in _toolbox._NEXT:
            assert box.invoke("fails", {"step": step}).failure["next"] == step


def test_a_failure_with_half_a_surrogate_pair() -> None:
    @tool
    def reads() -> str:
        raise ToolFailure("missing", "There is no file caf\udce9.txt.")

    assert "caf" in Toolbox([reads]).invoke("reads", {}).text


def test_ordinary_results_are_json() -> None:
    @tool
    def everything() -> Any:
        return {
            "day": datetime.date(2026, 11, 18),
            "at": datetime.datetime(2026, 11, 18, 12, 30),
            "price": decimal.Decimal("1.10"),
            "id": uuid.UUID(int=1),
            "colour": Colour.RED,
            "tags": {"b", "a"},
            "path": pathlib.PurePosixPath("a/b"),
            1: [(1, 2)],
            None: True,
        }

    assert json.loads(Toolbox([everything]).invoke("everything", {}).text) == {
        "day": "2026-11-18",
        "at": "2026-11-18T12:30:00",
        "price": "1.10",
        "id": "00000000-0000-0000-0000-000000000001",
        "colour": "red",
        "tags": ["a", "b"],
        "path": "a/b",
        "1": [[1, 2]],
        "null": True,
    }
