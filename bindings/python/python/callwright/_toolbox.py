"""Python functions as tools, and a way to call them.

Takes a model's call; returns what the model gets. The gate judges the call and its result; this module runs the
function in between, within its timeout, and reports the outcome to the gate.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import dataclasses
import functools
import inspect
import logging
import random
import time
import traceback
import typing
from collections.abc import Awaitable, Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

from ._callwright import Settled, Ticket
from ._results import plain
from ._types import Objections, codec, load_members, parameters, pointer

if TYPE_CHECKING:
    from ._gate import Gate

#: How many threads the functions of one toolbox may use, including those that timed out.
_MOST_THREADS = 64

#: How many seconds a tool may take, and how often it may be retried, as in a policy file.
_SHORTEST, _LONGEST = 0.001, 86_400.0
_MOST_RETRIES = 10

_EFFECTS = ("unknown", "read", "write", "destructive")
_NEXT = ("fix_arguments", "retry_same", "retry_later", "change_approach", "continue", "ask_user", "stop")

#: Gets the exceptions that are bugs in a tool, which the model must not see.
_log = logging.getLogger("callwright")


class ToolFailure(Exception):
    """A failure in the tool's own words: a stable code for programs, and a sentence for the model.

    Any other exception is a bug in the tool: the model gets a short safe line, and the details go to the operator: to
    the logger ``callwright``, and with the event. ``next`` is what the model should do: ``fix_arguments``,
    ``retry_same``, ``retry_later``, ``change_approach``, ``continue``, ``ask_user`` or ``stop``.
    """

    kind = "reported"

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        hint: str | None = None,
        recommendations: Iterable[str] = (),
        next: str | None = None,
    ) -> None:
        super().__init__(f"{code}: {detail}")
        if next is not None and next not in _NEXT:
            raise ValueError(f"next: expected one of {', '.join(_NEXT)}, got {next!r}")
        self.code, self.detail, self.hint, self.next = _text(code), _text(detail), hint and _text(hint), next
        self.recommendations = [_text(line) for line in recommendations]

    def outcome(self) -> dict[str, Any]:
        """The failure in the form that the gate takes."""
        return {
            "kind": self.kind,
            "code": self.code,
            "detail": self.detail,
            "hint": self.hint,
            "next": self.next,
            "recommendations": self.recommendations,
        }


class TransientFailure(ToolFailure):
    """A temporary failure: a rate limit, an overload. A read-only tool is run again."""

    kind = "transient"

    def __init__(self, detail: str, *, code: str | None = None, retry_after: float | None = None, **more: Any) -> None:
        super().__init__(code or "transient", detail, **more)
        if retry_after is not None and not 0 <= retry_after <= _LONGEST:
            raise ValueError(f"retry_after: expected seconds from 0 to {_LONGEST:.0f}, got {retry_after!r}")
        self._own_code, self.retry_after = code, retry_after

    def outcome(self) -> dict[str, Any]:
        wait = None if self.retry_after is None else int(self.retry_after * 1000)
        return {**super().outcome(), "code": self._own_code, "retry_after_ms": wait}


@dataclasses.dataclass(frozen=True)
class Tool:
    """A function with the schema of its arguments."""

    function: Callable[..., Any]
    name: str
    description: str | None
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    effect: str | None = None
    idempotent: bool = False
    timeout: float | None = None
    retries: int | None = None
    load: Callable[[dict[str, Any]], tuple[tuple[Any, ...], dict[str, Any]]] | None = dataclasses.field(
        default=None, repr=False
    )

    def __post_init__(self) -> None:
        if self.timeout is not None and not _SHORTEST <= self.timeout <= _LONGEST:
            raise ValueError(
                f"{self.name}: timeout: expected seconds from {_SHORTEST} to {_LONGEST:.0f}, got {self.timeout!r}"
            )
        if self.retries is not None and self.retries not in range(_MOST_RETRIES + 1):
            raise ValueError(f"{self.name}: retries: expected an integer from 0 to {_MOST_RETRIES}, got {self.retries!r}")
        if self.effect is not None and self.effect not in _EFFECTS:
            raise ValueError(f"{self.name}: effect: expected one of {', '.join(_EFFECTS)}, got {self.effect!r}")

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(
            getattr(self.function, "__call__", None)
        )

    def declaration(self) -> dict[str, Any]:
        """The tool as MCP declares it."""
        declared: dict[str, Any] = {"name": self.name, "inputSchema": self.input_schema}
        if self.description:
            declared["description"] = self.description
        if self.output_schema is not None:
            declared["outputSchema"] = self.output_schema
        if self.idempotent:
            declared["annotations"] = {"idempotentHint": True}
        return declared

    def bind(self, arguments: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments in the form that the function takes. Raises :class:`Objections` if a type objects."""
        return ((), arguments) if self.load is None else self.load(arguments)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function, without the gate."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        kind = "async tool" if self.is_async else "tool"
        takes = ", ".join(self.input_schema.get("properties", {}))
        return f"<{kind} {self.name}({takes})>"


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    schema: Any = None,
    output_schema: Any = None,
    effect: str | None = None,
    idempotent: bool = False,
    timeout: float | None = None,
    retries: int | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    schema: Any = None,
    output_schema: Any = None,
    effect: str | None = None,
    idempotent: bool = False,
    timeout: float | None = None,
    retries: int | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Turns a function into a tool: its type hints become the schema, its docstring the description.

    ``schema`` replaces the hints: with a JSON Schema, the function gets the arguments as keywords; with a Pydantic
    model, a dataclass or a TypedDict, it gets one value of that type. ``effect`` is what the tool does to the world:
    ``read``, ``write`` or ``destructive``.
    """

    def make(function: Callable[..., Any]) -> Tool:
        made_schema, load, documented = _schema_of(function, schema)
        declared_output = output_schema
        if declared_output is not None and not isinstance(declared_output, dict):
            declared_output = codec(declared_output).schema
        return Tool(
            function=function,
            name=name or _name(function),
            description=description or documented,
            input_schema=made_schema,
            output_schema=declared_output,
            effect=effect,
            idempotent=idempotent,
            timeout=timeout,
            retries=retries,
            load=load,
        )

    return make if function is None else make(function)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _text(text: str) -> str:
    """A text that can be encoded: half a surrogate pair, as in the name of a file, becomes a replacement character."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _schema_of(function: Callable[..., Any], schema: Any) -> tuple[dict[str, Any], Any, str | None]:
    if isinstance(schema, dict):
        return schema, None, inspect.getdoc(function)
    if schema is not None:
        made = codec(schema)
        load_one = made.load or (lambda values: values)
        return made.schema, lambda values: ((load_one(values),), {}), inspect.getdoc(function)
    if isinstance(function, type) and hasattr(function, "model_json_schema"):
        # A model class is a tool that returns its instance.
        made = codec(function)
        return made.schema, lambda values: ((), load_members({}, values)), made.schema.get("description")
    documented, described = _docstring(function)
    target = function if inspect.isroutine(function) or isinstance(function, type) else type(function).__call__
    try:
        hints = typing.get_type_hints(target, include_extras=True)
    except NameError as error:
        raise NameError(f"{_name(function)}: {error}; define the types of its parameters in the module") from error
    names: dict[str, Any] = {}
    required: set[str] = set()
    defaults: dict[str, Any] = {}
    positional: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"{_name(function)}: `{parameter}` cannot be expressed in a schema; name the parameters")
        if parameter.name == "self" and not names and parameter.annotation is parameter.empty:
            raise TypeError(f"{_name(function)}: a method needs its object; make the tool of a bound method, tool(object.method)")
        names[parameter.name] = hints.get(parameter.name, Any)
        if parameter.default is parameter.empty:
            required.add(parameter.name)
        else:
            defaults[parameter.name] = parameter.default
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(parameter.name)
    made_schema, loads = parameters(names, required, described, defaults)
    made_schema["additionalProperties"] = False

    def load(values: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        members = load_members(loads, values) if loads else dict(values)
        first = tuple(members.pop(name) for name in positional if name in members)
        return first, members

    return made_schema, load if loads or positional else None, documented


def _docstring(function: Callable[..., Any]) -> tuple[str | None, dict[str, str]]:
    """The text of a docstring, and its parameter descriptions: Google and Sphinx style."""
    text = inspect.getdoc(function)
    if not text:
        return None, {}
    described: dict[str, str] = {}
    kept: list[str] = []
    section, name = "", ""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(":param "):
            name, _, words = stripped[len(":param ") :].partition(":")
            name = name.split()[-1] if name.split() else name
            described[name] = words.strip()
        elif stripped.startswith(":"):
            name = ""
        elif stripped in ("Args:", "Arguments:", "Parameters:"):
            section = "args"
        elif section and line[:1].strip() and stripped.endswith(":"):
            section = "other"
        elif section == "args" and ":" in stripped and len(line) - len(line.lstrip()) <= 4:
            name, _, words = stripped.partition(":")
            name = name.split("(")[0].strip()
            described[name] = words.strip()
        elif section == "args" and stripped and name in described:
            described[name] += " " + stripped
        elif not section:
            kept.append(line)
    return "\n".join(kept).strip() or None, described


class Toolbox:
    """Tools with a gate in front of them, ready to be called.

    >>> @tool
    ... def add(a: int, b: int = 1) -> int:
    ...     '''Adds two whole numbers.'''
    ...     return a + b
    >>> box = Toolbox([add])
    >>> box.invoke("add", '{"a": "2", "b": 3}').text
    '5'
    >>> box.invoke("add", '{"b": 3}').text
    'Please rewrite the input with valid arguments. Errors: a: Required (integer)'
    """

    def __init__(self, tools: Iterable[Tool | Callable[..., Any]], **options: Any) -> None:
        from ._gate import Gate

        made = [entry if isinstance(entry, Tool) else tool(entry) for entry in tools]
        self.tools: dict[str, Tool] = {entry.name: entry for entry in made}
        effects: dict[str, Any] = {entry.name: entry.effect for entry in made if entry.effect}
        self.gate = Gate(made, effects={**effects, **options.pop("effects", {})}, **options)
        self._threads: concurrent.futures.ThreadPoolExecutor | None = None

    def declarations(self, provider: str) -> list[dict[str, Any]]:
        """The tools as declared in a request to the provider."""
        declared: list[dict[str, Any]] = self.gate.declarations(provider)
        return declared

    def invoke(self, call: Any, arguments: Any = None, **place: Any) -> Settled:
        """Judges a call, runs it if it may run, and judges its result. ``place`` is ``session``, ``turn``, ``round``,
        ``id`` and ``finish_reason``. Async functions run in their own event loop, so inside a running one use
        :meth:`ainvoke`."""
        ticket, bound = self._open(call, arguments, place, is_async=False)
        if not ticket:
            return _refusal(ticket)
        run = self._run(ticket)
        while True:
            outcome = self._once(ticket, bound, run)
            wait = run.wait_before_retry(outcome)
            if wait is None:
                return run.close(ticket, outcome)
            time.sleep(wait)

    async def ainvoke(self, call: Any, arguments: Any = None, **place: Any) -> Settled:
        """The async version. Functions that are not async run in a thread. If the task is cancelled, the call counts as
        cancelled."""
        ticket, bound = self._open(call, arguments, place, is_async=True)
        if not ticket:
            return _refusal(ticket)
        run = self._run(ticket)
        try:
            while True:
                outcome = await self._once_async(ticket, bound, run)
                wait = run.wait_before_retry(outcome)
                if wait is None:
                    return run.close(ticket, outcome)
                await asyncio.sleep(wait)
        except asyncio.CancelledError:
            run.close(ticket, {"failed": {"kind": "cancelled" if run.attempts else "not_started"}})
            raise

    async def ainvoke_all(self, calls: Iterable[Any], **place: Any) -> list[Settled]:
        """Invokes the calls of one model answer concurrently. Returns one result per call, in the same order."""
        return list(await asyncio.gather(*(self.ainvoke(call, **place) for call in calls)))

    async def __aenter__(self) -> Toolbox:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        self.close()

    def __enter__(self) -> Toolbox:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Delivers the last events and stops the threads."""
        self.gate.flush_events()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    def _open(self, call: Any, arguments: Any, place: dict[str, Any], *, is_async: bool) -> tuple[Ticket, Any]:
        verdict = self.gate.judge(call, arguments, id=place.get("id"), finish_reason=place.get("finish_reason"))
        bound, objections = None, []
        known = self.tools.get(verdict.tool)
        if verdict and known is not None:
            if known.is_async and not is_async and _in_event_loop():
                raise RuntimeError(f"{known.name} is async and an event loop is running: use `await toolbox.ainvoke(…)`")
            try:
                bound = known.bind(verdict.arguments)
            except Objections as error:
                objections = error.objections
            except (ValueError, TypeError) as error:
                objections = [(pointer([]), str(error))]
        return self.gate.open(call, arguments, objections=objections, **place), bound

    def _run(self, ticket: Ticket) -> _Run:
        return _Run(self.gate, self.tools[ticket.tool])

    def _once(self, ticket: Ticket, bound: Any, run: _Run) -> dict[str, Any]:
        args, kwargs = bound
        run.start()
        if run.tool.is_async:
            return run.caught(lambda: asyncio.run(asyncio.wait_for(_awaited(run.tool, *args, **kwargs), run.timeout)))
        if run.timeout == float("inf"):
            return run.caught(lambda: _called(run.tool, *args, **kwargs))
        context = contextvars.copy_context()
        future = self._pool().submit(context.run, functools.partial(_called, run.tool, *args, **kwargs))
        outcome = run.caught(lambda: future.result(run.timeout))
        future.cancel()
        return outcome

    async def _once_async(self, ticket: Ticket, bound: Any, run: _Run) -> dict[str, Any]:
        args, kwargs = bound
        run.start()

        async def call() -> Any:
            if run.tool.is_async:
                return await _awaited(run.tool, *args, **kwargs)
            context = contextvars.copy_context()
            called = functools.partial(context.run, functools.partial(_called, run.tool, *args, **kwargs))
            return await asyncio.get_running_loop().run_in_executor(self._pool(), called)

        limit = None if run.timeout == float("inf") else run.timeout
        return await run.caught_async(lambda: asyncio.wait_for(call(), limit))

    def _pool(self) -> concurrent.futures.ThreadPoolExecutor:
        if self._threads is None:
            self._threads = concurrent.futures.ThreadPoolExecutor(_MOST_THREADS, "callwright")
        return self._threads

    def __repr__(self) -> str:
        return f"<Toolbox of {', '.join(self.tools) or 'no tools'}>"


class _Run:
    """One call in progress: its limits, its attempts, its time."""

    def __init__(self, gate: Gate, tool: Tool) -> None:
        self.gate, self.tool = gate, tool
        self.timeout, _ = gate.run_plan(tool.name, tool.timeout, tool.retries)
        self.attempts = 0
        self.began = 0.0

    def start(self) -> None:
        self.attempts += 1
        self.began = self.began or time.monotonic()

    def caught(self, call: Callable[[], Any]) -> dict[str, Any]:
        try:
            return {"output": plain(call())}
        except Exception as error:
            return self._failed(error)

    async def caught_async(self, call: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
        try:
            return {"output": plain(await call())}
        except Exception as error:
            return self._failed(error)

    def _failed(self, error: Exception) -> dict[str, Any]:
        if isinstance(error, ToolFailure):
            return {"failed": error.outcome()}
        ran_out = time.monotonic() - self.began >= self.timeout
        if ran_out and isinstance(error, (TimeoutError, asyncio.TimeoutError, concurrent.futures.TimeoutError)):
            return {"failed": {"kind": "timed_out", "after_ms": int(self.timeout * 1000)}}
        own = error.with_traceback(_of_tool(error.__traceback__))
        _log.error("the tool %r failed", self.tool.name, exc_info=own)
        # The error comes first: long texts are cut, and its wording may show that the failure is temporary.
        what = "".join(traceback.format_exception_only(own)).strip()
        trace = "".join(traceback.format_exception(own)).strip()
        return {"failed": {"kind": "internal", "for_operator": _text(f"{what}\n{trace}")}}

    def wait_before_retry(self, outcome: dict[str, Any]) -> float | None:
        failed = outcome.get("failed")
        if failed is None:
            return None
        return self.gate.wait_before_retry(self.tool.name, failed, self.attempts, random.random(), self.tool.retries)

    def close(self, ticket: Ticket, outcome: dict[str, Any]) -> Settled:
        seconds = time.monotonic() - self.began if self.began else 0.0
        return ticket.close(**outcome, attempts=self.attempts, seconds=seconds)


def _refusal(ticket: Ticket) -> Settled:
    settled = ticket.settled
    assert settled is not None
    return settled


def _called(tool: Tool, *args: Any, **kwargs: Any) -> Any:
    """Calls a function. If it tries to exit the program, that is an error of the tool."""
    try:
        return tool.function(*args, **kwargs)
    except SystemExit as error:
        raise RuntimeError(f"the tool called sys.exit({error.code!r})") from error


async def _awaited(tool: Tool, *args: Any, **kwargs: Any) -> Any:
    try:
        return await tool.function(*args, **kwargs)
    except SystemExit as error:
        raise RuntimeError(f"the tool called sys.exit({error.code!r})") from error


#: The functions that call a tool's own: the frames of a traceback up to theirs say nothing about the tool, and differ
#: with the timing of threads, so that equal failures would look different.
_CALLERS = (_called.__code__, _awaited.__code__)


def _of_tool(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that belongs to the tool, or all of it if the tool was not reached."""
    part = trace
    while part is not None:
        if part.tb_frame.f_code in _CALLERS:
            return part.tb_next or trace
        part = part.tb_next
    return trace


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
