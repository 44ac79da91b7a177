"""What a seed decides before a world begins: who does what, and what goes wrong.

Pure: a plan is a value.  What happens between the lines (order, splits, delays) the same seed
decides while the world runs.
"""

from dataclasses import dataclass
from random import Random
from typing import Literal

from accord.connection import Limits
from tests.simulation.runtime.loop import POLICIES, Policy

Behaviour = Literal[
    "ask",
    "iterate",
    "iterate_slowly",
    "break",
    "cancel_in_loop",
    "cancel_later",
    "raise",
    "time_out",
]
StepKind = Literal[
    "say",
    "stream",
    "think",
    "tool",
    "ask_permission",
    "cancellable_tool",
    "open_tool",
    "sleep",
    "plan",
    "title",
    "big",
    "parallel",
    "stubborn",
    "swallow",
    "fail",
    "limit",
    "log_out",
    "chatter",
    "stop",
    "file",
    "command",
    "form",
]
_STEPS: tuple[tuple[StepKind, int], ...] = (
    ("say", 8),
    ("stream", 8),
    ("think", 2),
    ("tool", 5),
    ("ask_permission", 5),
    ("cancellable_tool", 2),
    ("open_tool", 2),
    ("sleep", 5),
    ("plan", 1),
    ("title", 1),
    ("big", 1),
    ("parallel", 2),
    ("stubborn", 2),
    ("swallow", 2),
    ("fail", 1),
    ("limit", 2),
    ("log_out", 1),
    ("chatter", 1),
    ("stop", 1),
    ("file", 4),
    ("command", 5),
    ("form", 2),
)
_BEHAVIOURS: tuple[tuple[Behaviour, int], ...] = (
    ("ask", 5),
    ("iterate", 5),
    ("iterate_slowly", 1),
    ("break", 2),
    ("cancel_in_loop", 2),
    ("cancel_later", 3),
    ("raise", 1),
    ("time_out", 2),
)
Extra = Literal["list", "set_option", "cancel_tool", "extension", "prompt_and_leave"]
_EXTRAS: tuple[Extra, ...] = ("list", "set_option", "cancel_tool", "extension", "prompt_and_leave")
Fault = Literal["none", "drop", "agent_crash", "client_crash"]
Wire = Literal["lossy", "pipes", "memory"]
StoreKind = Literal["memory", "slow", "sqlite"]
Framing = Literal["lines", "content-length"]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that the agent does in a turn."""

    kind: StepKind
    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt: what the agent does about it and how the client follows it."""

    key: str
    steps: tuple[Step, ...]
    behaviour: Behaviour
    after: int
    seconds: float
    # When it is sent, where the prompts of a session are not sent one after the other.
    starts: float


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """One session and all that happens in it."""

    prompts: tuple[Prompt, ...]
    at_once: bool
    cancels_at: tuple[float, ...]
    closes_at: float | None
    watches: bool
    # What else the program does meanwhile, and when.
    extras: tuple[tuple[float, Extra], ...]
    # It is closed when all is done, loaded again, and must be what it was.
    reopens: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """One world."""

    seed: int
    policy: Policy
    version: int
    wire: Wire
    framing: Framing
    store: StoreKind
    limits: Limits
    retry: int
    needs_login: bool
    strict: bool
    decides: str
    sessions: tuple[SessionPlan, ...]
    fault: Fault
    # The moment, or the number of frames on the wire.
    fault_at: float
    fault_after: int | None
    loses: bool
    # What happens after the first life: the sessions are loaded and used once more.
    again: tuple[Prompt, ...]


def _weighted(random: Random, table: tuple[tuple[str, int], ...]) -> str:
    return random.choices([one for one, _ in table], [weight for _, weight in table])[0]


def _moment(random: Random) -> float:
    """Some time soon: most things that go wrong do so while something is under way."""
    return random.choice((0.0, 0.0005, 0.01, 0.1, 1.0, 4.0)) * random.random()


def _step(random: Random) -> Step:
    kind = _weighted(random, _STEPS)
    count = random.choice((1, 2, 3, 5, 12, 30)) if kind == "stream" else random.randint(1, 2)
    seconds = random.choice((0.0, 0.001, 0.05, 0.5, 2.5, 5.0)) * random.random()
    return Step(kind, count, seconds)  # type: ignore[arg-type]


def _prompt(random: Random, key: str) -> Prompt:
    steps = tuple(_step(random) for _ in range(random.randint(0, 5)))
    behaviour = _weighted(random, _BEHAVIOURS)
    return Prompt(
        key=key,
        steps=steps,
        behaviour=behaviour,  # type: ignore[arg-type]
        after=random.randint(0, 6),
        seconds=_moment(random),
        starts=_moment(random),
    )


def _session(random: Random, name: str, *, most: int) -> SessionPlan:
    count = random.randint(1, most)
    return SessionPlan(
        prompts=tuple(_prompt(random, f"{name}p{number}") for number in range(count)),
        at_once=random.random() < 0.45,
        cancels_at=tuple(_moment(random) for _ in range(random.choice((0, 0, 0, 1, 2)))),
        closes_at=_moment(random) if random.random() < 0.15 else None,
        watches=random.random() < 0.15,
        extras=tuple(
            (_moment(random), random.choice(_EXTRAS)) for _ in range(random.choice((0, 0, 1, 3)))
        ),
        reopens=random.random() < 0.2,
    )


def _limits(random: Random) -> Limits:
    return Limits(
        backlog_bytes=random.choice((1024 * 1024, 2000, 0)),
        pending_requests=random.choice((1024, 1024, 3, 1)),
        prompts_queued=random.choice((16, 2, 0)),
        turn_updates=random.choice((4096, 8, 1)),
        close_seconds=random.choice((5.0, 0.5, 0.02)),
        early_updates=random.choice((1024, 2)),
    )


def plan_of(seed: int) -> Plan:
    """The world of this seed."""
    random = Random(seed)
    sessions = random.choice((1, 1, 2, 3))
    return Plan(
        seed=seed,
        policy=random.choice(POLICIES),
        version=random.choice((1, 2)),
        wire=random.choice(("lossy", "pipes", "pipes", "memory")),
        framing=random.choice(("lines", "lines", "lines", "content-length")),
        store=random.choice(("memory", "memory", "memory", "slow", "slow", "sqlite")),
        limits=_limits(random),
        retry=random.choice((0, 1, 3)),
        needs_login=random.random() < 0.2,
        strict=random.random() < 0.5,
        decides=random.choice(("yes", "no", "late", "never")),
        sessions=tuple(_session(random, f"s{n}", most=4 - n) for n in range(sessions)),
        fault=random.choice(("none", "none", "none", "drop", "agent_crash", "client_crash")),
        fault_at=_moment(random),
        fault_after=random.choice((None, random.randint(5, 80))),
        loses=random.random() < 0.5,
        again=tuple(
            _prompt(random, f"s{n}again") for n in range(sessions) if random.random() < 0.5
        ),
    )
