"""What a seed decides before a world with a gateway begins.  Pure: a plan is a value."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from accord.gateway.configuration.agent_settings import ProcessPer
from accord.gateway.configuration.rights import Role
from tests.simulation.runtime.loop import POLICIES, Policy

ActKind = Literal["prompt", "prompt", "cancel", "leave", "cut", "sleep", "stall", "list", "intrude"]
ACTS: Final[tuple[ActKind, ...]] = (
    *("prompt", "prompt", "prompt", "prompt", "sleep", "sleep"),
    *("cancel", "leave", "cut", "stall", "list", "intrude"),
)
"""What a person does: prompts are the most of it, and `intrude` tries what their role forbids."""


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that a person does, and how long it takes."""

    kind: ActKind
    seconds: float
    # Of a prompt: the pieces of text, and whether the agent asks for permission.
    pieces: int
    asks: bool
    # Of a prompt: whether the person waits for its end.
    waits: bool


@dataclass(frozen=True, slots=True)
class PersonPlan:
    """One person: what they may do, the version of their client, and what they do."""

    name: str
    role: Role
    version: Literal[1, 2]
    acts: tuple[Act, ...]
    answer_seconds: float


@dataclass(frozen=True, slots=True)
class GatewayPlan:
    """One world.  Nothing is known to be broken by it: `fault` is what `run` asks for."""

    seed: int
    policy: Policy
    # The version that the agent speaks.
    version: Literal[1, 2]
    process: ProcessPer
    people: tuple[PersonPlan, ...]
    # When the gateway and the newest process of the agent are killed, counted from the start.
    gateway_dies: tuple[float, ...]
    agent_dies: tuple[float, ...]
    disk_seconds: float
    grace_seconds: float
    fault: str = "none"


def _moment(random: Random) -> float:
    return random.choice((0.01, 0.3, 2.0, 8.0)) * random.random()


def _act(random: Random) -> Act:
    return Act(
        kind=random.choice(ACTS),
        seconds=_moment(random),
        pieces=random.choice((0, 1, 3, 10, 40, 120)),
        asks=random.random() < 0.25,
        waits=random.random() < 0.7,
    )


def _person(random: Random, name: str, role: Role) -> PersonPlan:
    return PersonPlan(
        name=name,
        role=role,
        version=random.choice((1, 2)),
        acts=tuple(_act(random) for _ in range(random.randint(1, 8))),
        answer_seconds=_moment(random),
    )


def gateway_plan_of(seed: int) -> GatewayPlan:
    """The world of this seed."""
    random = Random(seed)
    others: list[tuple[str, Role]] = [("bob", "editor"), ("cyd", "viewer"), ("dan", "admin")]
    people = [_person(random, "ann", "admin")]
    people += [_person(random, *one) for one in others[: random.choice((0, 1, 2, 3))]]
    return GatewayPlan(
        seed=seed,
        policy=random.choice(POLICIES),
        version=random.choice((1, 2)),
        process=random.choice(("session", "connection")),
        people=tuple(people),
        gateway_dies=tuple(_moment(random) for _ in range(random.choice((0, 0, 1, 1, 2)))),
        agent_dies=tuple(_moment(random) for _ in range(random.choice((0, 0, 1, 2)))),
        disk_seconds=random.choice((0.0, 0.001, 0.02)),
        grace_seconds=random.choice((600.0, 600.0, 0.5)),
    )
