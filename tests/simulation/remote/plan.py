"""What a seed decides about a remote world: transport, limits, and what the network does."""

from dataclasses import dataclass, replace
from random import Random
from typing import Literal, get_args

from accord.transport.remote_limits import RemoteLimits
from tests.simulation.plan import Plan, Prompt, SessionPlan, plan_of
from tests.simulation.remote.http_server import Mishap
from tests.simulation.remote.network import CutKind, Fate, Outage

Transport = Literal["websocket", "http2", "http1"]
Dialect = Literal["v1", "v2", "draft"]

# What both versions and the draft can say, so that the same checks hold for all of them.
_DRAFT_STEPS = ("say", "stream", "sleep", "big", "stop", "parallel")
_DRAFT_BEHAVIOURS = ("ask", "iterate", "iterate_slowly")
MISHAPS: tuple[Mishap, ...] = get_args(Mishap)


@dataclass(frozen=True, slots=True)
class RemotePlan:
    """One remote world; `life` is what both peers do."""

    life: Plan
    transport: Transport
    dialect: Dialect
    limits: RemoteLimits
    # Our own listener, or any ASGI server.
    server: Literal["listener", "asgi"]
    # Whether the connection must outlive everything that the network does.
    must_survive: bool
    # Whether the network may fail before the client is connected; then connecting may fail.
    from_the_start: bool
    # Whether it goes on while the client closes the connection.
    until_the_end: bool
    # Whether the client is cut off for good, and unnoticed, just before it closes.
    vanishes: bool
    # How likely it is that something is done to a connection, and to a request.
    cut_chance: float
    mishap_chance: float
    cut_bytes: int
    cut_seconds: float
    outages: tuple[Outage, ...]
    # More is not done in one world.
    troubles_max: int
    # When the server notices that a client is gone: soon, or long after the client has come back.
    server_silence_seconds: float


def fate_of(plan: RemotePlan, random: Random) -> Fate | None:
    """Draw what happens to a new connection."""
    if random.random() >= plan.cut_chance:
        return None
    kinds: tuple[CutKind, ...] = ("reset", "reset", "end", "half_open", "answers_lost", "stall")
    return Fate(
        kind=random.choice(kinds),
        to_server=random.random() < 0.5,
        after_bytes=random.randint(0, plan.cut_bytes),
        after_seconds=plan.cut_seconds * random.random(),
        seconds=random.choice((0.01, 0.3, 3.0)) * random.random(),
        loses=random.random() < 0.7,
    )


def _simple_session(session: SessionPlan) -> SessionPlan:
    """Without what the draft has no words for, or other rules."""
    prompts = tuple(_simple_prompt(prompt) for prompt in session.prompts)
    return replace(
        session,
        prompts=prompts,
        at_once=False,
        cancels_at=(),
        closes_at=None,
        watches=False,
        extras=(),
        reopens=False,
    )


def _simple_prompt(prompt: Prompt) -> Prompt:
    behaviour = prompt.behaviour if prompt.behaviour in _DRAFT_BEHAVIOURS else "ask"
    steps = tuple(step for step in prompt.steps if step.kind in _DRAFT_STEPS)
    return replace(prompt, behaviour=behaviour, steps=steps)


def _life(seed: int, dialect: Dialect, random: Random) -> Plan:
    """The life of the local world of this seed, without its own misfortunes."""
    plan = plan_of(seed)
    version = 2 if dialect == "v2" else 1
    limits = plan.limits._replace(backlog_bytes=random.choice((1024 * 1024, 2000)))
    life = replace(
        plan,
        version=version,
        framing="lines",
        fault="none",
        limits=limits,
        store="slow" if plan.store == "slow" else "memory",
    )
    if dialect == "draft":
        sessions = tuple(map(_simple_session, life.sessions))
        life = replace(life, sessions=sessions, needs_login=False, again=(), retry=0)
    return life


def _generous(random: Random) -> RemoteLimits:
    keep_alive, silence = random.choice(((15.0, 30.0), (15.0, 30.0), (2.0, 5.0)))
    return RemoteLimits(
        acknowledge_frames=random.choice((256, 3, 1)),
        acknowledge_seconds=random.choice((2.0, 0.05)),
        acknowledge_bytes=random.choice((1024 * 1024, 500)),
        early_messages=random.choice((256, 256, 2, 0)),
        reconnect_seconds_max=random.choice((10.0, 1.0)),
        keep_alive_seconds=keep_alive,
        silence_seconds=silence,
    )


def _tight(random: Random) -> RemoteLimits:
    return replace(
        _generous(random),
        kept_bytes=random.choice((0, 200, 3000, 8 * 1024 * 1024)),
        grace_seconds=random.choice((0.5, 5.0, 60.0)),
        backlog_bytes=random.choice((1024 * 1024, 8 * 1024 * 1024)),
        early_seconds=random.choice((1.0, 30.0)),
        early_bytes=random.choice((300, 1024 * 1024)),
    )


def _outages(random: Random, seconds_max: float) -> tuple[Outage, ...]:
    made: list[Outage] = []
    for _ in range(random.choice((0, 0, 1, 2))):
        begins = random.choice((0.1, 2.0, 20.0)) * random.random()
        lasts = seconds_max * random.random()
        made.append(Outage(begins, begins + lasts, random.random() < 0.7))
    return tuple(made)


def remote_plan_of(seed: int) -> RemotePlan:
    """The remote world of this seed."""
    random = Random(f"remote {seed}")
    dialect = random.choice(("v1", "v1", "v2", "v2", "draft"))
    must_survive = random.random() < 0.65
    # A client that knows that an agent speaks the draft tries version 1 too if that fails.
    from_the_start = random.random() < 0.15 and dialect != "draft"
    return RemotePlan(
        life=_life(seed, dialect, random),  # type: ignore[arg-type]
        transport=random.choice(("websocket", "http2", "http2", "http1")),
        dialect=dialect,  # type: ignore[arg-type]
        limits=_generous(random) if must_survive else _tight(random),
        must_survive=must_survive,
        from_the_start=from_the_start,
        until_the_end=random.random() < 0.3,
        vanishes=random.random() < 0.1,
        cut_chance=random.choice((0.0, 0.3, 0.6, 0.9)),
        mishap_chance=random.choice((0.0, 0.0, 0.05, 0.3)),
        cut_bytes=random.choice((300, 3000, 20_000)),
        cut_seconds=random.choice((0.5, 5.0, 40.0)),
        outages=_outages(random, 10.0 if must_survive else random.choice((10.0, 100.0))),
        troubles_max=random.choice((1, 5, 20)),
        server=random.choice(("listener", "listener", "asgi")),
        server_silence_seconds=random.choice((30.0, 100.0)),
    )


__all__ = ["MISHAPS", "RemotePlan", "fate_of", "remote_plan_of"]
