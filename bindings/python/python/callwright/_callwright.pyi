from collections.abc import Sequence
from types import TracebackType
from typing import Any, final

from typing_extensions import Self, disjoint_base

__all__ = [
    "Call",
    "Error",
    "Gate",
    "Settled",
    "Summary",
    "Ticket",
    "Verdict",
    "__version__",
    "after_fork",
    "close_all",
    "main",
    "replay",
]

__version__: str

class Error(ValueError):
    """A mistake in the program, never in the model's output: an unreadable tool file or policy, or a call in an unknown
    format."""

@final
class Call:
    """A call that a model wrote into a message as text."""

    @property
    def tool(self) -> str: ...
    @property
    def id(self) -> Any: ...
    @property
    def arguments(self) -> Any: ...
    @property
    def notation(self) -> str | None: ...

@final
class Verdict:
    """The gate's verdict on a call: ``valid``, ``repaired``, ``refused`` or ``unjudged``. Truthy if the call may
    run."""

    @property
    def verdict(self) -> str: ...
    @property
    def tool(self) -> str:
        """The tool that was called; for a repaired call, the one that was meant."""
    @property
    def id(self) -> Any: ...
    @property
    def arguments(self) -> Any:
        """The arguments to run the tool with; for a refused call, what the model sent, if it could be read."""
    @property
    def edits(self) -> list[dict[str, Any]]:
        """The edits that were made, each with ``path``, ``rule``, ``grade``, ``before`` and ``after``."""
    @property
    def failure(self) -> dict[str, Any] | None:
        """Why the call was refused: ``class``, ``code``, ``next``, ``detail``, ``hint`` and ``issues``."""
    @property
    def warning(self) -> dict[str, Any] | None:
        """What the schema objects to in a call that the policy lets through anyway."""
    @property
    def feedback(self) -> str | None:
        """The text for the model instead of a result, if the call was refused."""
    def render(self, shape: str) -> dict[str, Any]:
        """The verdict in a provider's format: a call that may run as a call, a refused one as the tool result for the
        model."""
    def to_json(self) -> str:
        """The verdict line of the contract, as ``callwright check --format json`` prints it."""
    def to_dict(self) -> dict[str, Any]: ...
    def __bool__(self) -> bool: ...

@final
class Settled:
    """A call with its outcome, and what the model gets."""

    @property
    def text(self) -> str:
        """What the model gets."""
    @property
    def is_error(self) -> bool: ...
    @property
    def verdict(self) -> str: ...
    @property
    def output_verdict(self) -> str | None:
        """``ok`` if the model gets the result unchanged, else ``refused``; ``None`` without a result."""
    @property
    def failure(self) -> dict[str, Any] | None: ...
    @property
    def fingerprint(self) -> str | None:
        """The fingerprint that identifies the call, if it was refused as a repetition."""
    @property
    def notice(self) -> dict[str, Any] | None: ...
    def message(self, shape: str) -> dict[str, Any]:
        """The tool result in a provider's format."""
    def to_json(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class Ticket:
    """Permission to run one call, once. Falsy if the call is refused."""

    @property
    def tool(self) -> str: ...
    @property
    def arguments(self) -> Any:
        """The arguments to run the tool with; ``None`` if the call is refused."""
    @property
    def verdict(self) -> str: ...
    @property
    def edits(self) -> list[dict[str, Any]]: ...
    @property
    def fingerprint(self) -> str | None: ...
    @property
    def settled(self) -> Settled | None:
        """The call with its outcome; for a refused call, the refusal. ``None`` while it runs."""
    def close(
        self,
        output: Any = None,
        *,
        is_error: bool = False,
        failed: dict[str, Any] | None = None,
        finding: dict[str, Any] | None = None,
        notes: Sequence[str] | None = None,
        attempts: int = 1,
        seconds: float | None = None,
    ) -> Settled:
        """Ends the call with the tool's answer: JSON, text or bytes. A refused call stays refused."""
    def __enter__(self) -> Ticket: ...
    def __exit__(
        self, _kind: type[BaseException] | None, exception: BaseException | None, _trace: TracebackType | None
    ) -> bool: ...
    def __bool__(self) -> bool: ...

@disjoint_base
class Gate:
    """Judges calls of a set of tools."""

    def __new__(
        cls,
        tools: str,
        options: str = "{}",
        events: Sequence[Any] = ...,
        event_values: str = "masked",
        previous: Gate | None = None,
    ) -> Self: ...
    def judge(
        self, call: Any, arguments: Any = None, *, id: Any = None, finish_reason: str | None = None
    ) -> Verdict:
        """Judges one call by itself, without history. Takes a call in any provider's format, or the name of a tool and
        its arguments as text or a dictionary."""
    def accepts(self, tool: str, arguments: Any) -> bool:
        """Whether a call of the tool with these arguments is valid exactly as it is."""
    def open(
        self,
        call: Any,
        arguments: Any = None,
        *,
        session: str | None = None,
        turn: int | None = None,
        round: int | None = None,
        id: Any = None,
        finish_reason: str | None = None,
        objections: Sequence[tuple[str, str]] = ...,
    ) -> Ticket:
        """Judges one call and asks whether it may run now. A call without a session is not part of a conversation and
        is not counted."""
    def rescue(
        self, text: str, *, id: Any = None, finish_reason: str | None = None
    ) -> tuple[list[Call], str, tuple[str, str] | None]: ...
    def answer(self, session: str, reply: Any) -> None:
        """Passes the user's answer to the gate: ``"stop"``, ``{"allow_once": fingerprint}`` or
        ``{"allow_tool": name}``."""
    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools in order, as the gate read them: ``name``, ``description``, ``effect``, ``idempotent``,
        ``quarantined``, ``input_schema`` and ``output_schema``."""
    @property
    def warnings(self) -> list[str]:
        """Warnings, one sentence each."""
    def declarations(self, shape: str) -> list[dict[str, Any]]:
        """The tools as declared in a request to the provider."""
    def check(self, record: Any) -> Settled:
        """Judges a recorded call together with its recorded outcome, as ``callwright check`` does with a line."""
    def settings(self, tool: str) -> dict[str, Any]:
        """The settings of a tool, from the policy and its own declaration."""
    @property
    def admission(self) -> dict[str, Any]:
        """The thresholds for repeated calls."""
    def run_plan(self, tool: str, timeout: float | None = None, retries: int | None = None) -> tuple[float, int]:
        """How a tool is run: its timeout in seconds and its retries, from the policy, these settings of the tool itself
        and the defaults."""
    def wait_before_retry(
        self, tool: str, failed: dict[str, Any], runs: int, random: float, retries: int | None = None
    ) -> float | None:
        """How many seconds to wait before a call that has run ``runs`` times runs again; ``None`` if it does not."""
    def flush_events(self, timeout: float = 2.0) -> bool:
        """Waits until all events are delivered; false if that takes longer than the timeout."""
    def event_stats(self) -> dict[str, dict[str, Any]]:
        """Delivered and lost events, by sink."""

@final
class Summary:
    """The counts of a replay. Summaries of parts merge in any order and grouping."""

    def __new__(cls) -> Self: ...
    def merge(self, *others: Summary) -> Summary:
        """The sum of this summary and others. A part with an id counts once, however often it is merged."""
    def to_bytes(self) -> bytes:
        """The summary as compressed bytes."""
    @staticmethod
    def from_bytes(bytes: bytes) -> Summary:
        """Reads the output of ``to_bytes`` or ``--emit-summary``."""
    def report(self, format: str = "text", *, about: str | None = None, columns: int = 100) -> str:
        """The report: ``text`` for people, ``json`` for programs, ``html`` as a page."""
    @property
    def records(self) -> int: ...
    @property
    def calls(self) -> int: ...
    @property
    def refused(self) -> int: ...
    @property
    def parts(self) -> list[str]: ...
    @property
    def is_interrupted(self) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...

def replay(
    records: Any,
    paths: Sequence[str],
    tools: str | None,
    policy: str | None,
    part: str | None,
    workers: int | None,
    name: str,
) -> Summary: ...
def close_all() -> int: ...
def after_fork() -> None: ...
def main(arguments: Sequence[str]) -> int: ...
