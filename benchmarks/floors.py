"""The speed that must hold, as data, and the judgement of medians by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.cases import BUILT_IN, HELLO, OFFICIAL_PYTHON, OFFICIAL_TYPESCRIPT, OURS

# (scenario, label, metric) -> median over all rounds
Medians = Mapping[tuple[str, str, str], float]

# faster: ours / theirs is at least the bound.     sooner: theirs / ours is at least the bound.
# share: ours / theirs is at most the bound.       at most: ours alone is at most the bound.
Comparison = Literal["faster", "sooner", "share", "at most"]


@dataclass(frozen=True)
class Floor:
    """One demand on our own figures."""

    title: str
    scenario: str
    metric: str
    comparison: Comparison
    bound: float
    against: str | None = None
    label: str = OURS

    def value(self, medians: Medians) -> float | None:
        """The figure that the bound is about; None when a side was not measured."""
        ours = medians.get((self.scenario, self.label, self.metric))
        if ours is None or self.against is None:
            return ours
        theirs = medians.get((self.scenario, self.against, self.metric))
        if theirs is None:
            return None
        return theirs / ours if self.comparison == "sooner" else ours / theirs

    def holds(self, value: float) -> bool:
        """Whether that figure is good enough."""
        if self.comparison in ("faster", "sooner"):
            return value >= self.bound
        return value <= self.bound


def _faster(against: str, **bounds: float) -> list[Floor]:
    return [
        Floor(_TITLES[name], name, _METRICS[name], "faster", bound, against)
        for name, bound in bounds.items()
    ]


_TITLES = {
    "stream": "stream",
    "conc": "100 sessions at once",
    "replay": "replay",
    "rpc": "round trips",
    "read": "8 MB read",
}
_METRICS = {
    "stream": "messages_per_s",
    "conc": "messages_per_s",
    "replay": "messages_per_s",
    "rpc": "calls_per_s",
    "read": "mb_per_s",
}

FLOORS: tuple[Floor, ...] = (
    *_faster(OFFICIAL_PYTHON, stream=6, conc=6, replay=8, rpc=1.7, read=2),
    Floor("start to initialize", "cold", "start_ms", "sooner", 4, OFFICIAL_PYTHON),
    Floor("memory of a minimal agent", "cold", "memory_mb", "share", 0.75, OFFICIAL_PYTHON),
    *_faster(OFFICIAL_TYPESCRIPT, stream=6, conc=6, replay=6, rpc=1.2, read=2),
    Floor("start of the built-in agent", "cold", "start_ms", "share", 1.5, HELLO, BUILT_IN),
    Floor("client's CPU per streamed message, µs", "stream", "client_cpu_us", "at most", 5),
    Floor("agent's CPU per streamed message, µs", "stream", "agent_cpu_us", "at most", 5),
)

# What `python -m benchmarks.remote` measures.
REMOTE_FLOORS: tuple[Floor, ...] = (
    *(
        Floor(f"stream over {name}", f"remote {scheme}", "messages_per_s", "faster", bound, against)
        for scheme, name in (("ws", "WebSocket"), ("http", "HTTP"))
        for against, bound in ((OFFICIAL_PYTHON, 8), (OFFICIAL_TYPESCRIPT, 4))
    ),
    Floor("request beside 100 idle streams, p99 ms", "remote post", "p99_ms", "at most", 5),
    Floor("memory of an idle WebSocket, KiB", "remote idle", "kib_each", "at most", 15),
)

# What `python -m benchmarks.gateway` measures.
GATEWAY_FLOORS: tuple[Floor, ...] = (
    Floor("gateway's CPU per event of a burst, µs", "gateway bursts", "cpu_us", "at most", 25),
    Floor("gateway's CPU per event, one a write, µs", "gateway writes", "cpu_us", "at most", 25),
)


@dataclass(frozen=True)
class Verdict:
    """A floor, the figure found, and whether it holds; None where nothing was measured."""

    floor: Floor
    value: float | None
    holds: bool | None


def judge(medians: Medians, floors: Sequence[Floor] = FLOORS) -> list[Verdict]:
    """Hold every floor against the medians."""
    verdicts = []
    for floor in floors:
        value = floor.value(medians)
        verdicts.append(Verdict(floor, value, None if value is None else floor.holds(value)))
    return verdicts
