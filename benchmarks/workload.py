"""What the Python programs of the benchmark have in common: texts, clocks, the line they print.

Only the standard library, because it is imported in the environments of other SDKs too.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

TEXT_40 = "the quick brown fox jumps over the lazy "
OLD_TEXT = "".join(f"    value_{i} = compute(x, {i})\n" for i in range(10))
NEW_TEXT = "".join(f"    value_{i} = compute(y, {i} + 1)\n" for i in range(10))
PLAN_STEPS = ("Read the code", "Write the change", "Run the tests", "Report")
EDITED_PATH = "/proj/src/module.py"

SMALL_FILE = "print('hello')\n" * 8
BIG_PATH = "/big"
_BIG_LINE = '    value = "some text here"  # a comment of a source line\n'
MEGABYTE = 1 << 20

# A client that has waited this long for updates after the answer calls them lost.
SETTLE_SECONDS_MAX = 5.0


def replay_count() -> int:
    """How many updates `session/load` streams; the driver sets it for agent and client alike."""
    return int(os.environ.get("BENCH_REPLAY_N", "20000"))


def condensed_count(updates: int) -> int:
    """How many updates remain of a replay when each item is sent once, in its last state.

    Of ten updates two are about one tool call and one is the plan, of which there is only one.
    """
    return updates // 10 * 8 + 1


def chunk_text(size: int) -> str:
    """Text of exactly `size` characters."""
    return (TEXT_40 * (size // len(TEXT_40) + 1))[:size]


def big_file(megabytes: int) -> str:
    """The content of the file behind BIG_PATH."""
    size = megabytes * MEGABYTE
    return (_BIG_LINE * (size // len(_BIG_LINE) + 1))[:size]


def file_content(path: str, big: str) -> str:
    """What a client answers to `fs/read_text_file`."""
    return big if path == BIG_PATH else SMALL_FILE


def cpu_seconds() -> float:
    """User and system time of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_memory_mb() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@dataclass(frozen=True)
class Command:
    """The command line of a client program: a scenario, its numbers, and how to start the agent."""

    scenario: str
    numbers: tuple[int, ...]
    agent: tuple[str, ...]

    @classmethod
    def parse(cls, argv: list[str]) -> Command:
        """Read `SCENARIO NUMBER... -- COMMAND...`."""
        end = argv.index("--")
        scenario, *numbers = argv[:end]
        return cls(scenario, tuple(int(number) for number in numbers), tuple(argv[end + 1 :]))

    @property
    def expected(self) -> int:
        """How many updates the scenario brings."""
        match self.scenario:
            case "stream" | "replay":
                return self.numbers[0]
            case "conc":
                return self.numbers[0] * self.numbers[1]
            case _:
                return 0

    @property
    def prompt(self) -> str:
        """What the agent is asked, once per session."""
        match self.scenario:
            case "conc":
                return f"stream {self.numbers[1]} 40"
            case "read":
                return f"read {BIG_PATH}"
            case _:
                return " ".join((self.scenario, *map(str, self.numbers)))


@dataclass
class Measurement:
    """One run of a client, from just before the request to just after the last handler."""

    command: Command
    started: float = field(default_factory=time.perf_counter)
    cpu_before: float = field(default_factory=cpu_seconds)

    result: dict[str, Any] = field(default_factory=dict)

    def stop(self, count: int, expected: int | None = None) -> None:
        """The last update was handled.

        `expected`: where the agent sends fewer updates than the scenario has.
        """
        self.result = {
            "elapsed_s": time.perf_counter() - self.started,
            "cpu_client_s": cpu_seconds() - self.cpu_before,
            "count": count,
            "expected": self.command.expected if expected is None else expected,
            "peak_client_mb": peak_memory_mb(),
        }

    def show(self, agent: dict[str, Any]) -> None:
        """Print the result with the agent's own figures: one line of JSON."""
        print(json.dumps({**self.result, "agent": agent}), flush=True)


@dataclass
class Latencies:
    """Times of sequential calls, as the agent saw them."""

    seconds: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        """What the agent reports about them."""
        ordered = sorted(self.seconds)
        return {
            "calls_per_s": len(ordered) / sum(ordered),
            "p50_us": ordered[len(ordered) // 2] * 1e6,
            "p99_us": ordered[int(len(ordered) * 0.99)] * 1e6,
        }


@dataclass
class AgentFigures:
    """What an agent's work costs it, from the first prompt until somebody asks.

    Asked by `_bench/figures` after the work, so that neither asking nor telling is measured, and
    what the agent did to get its last bytes out is.
    """

    values: dict[str, float] = field(default_factory=dict)
    cpu_before: float | None = None

    def begin(self) -> None:
        """Work starts; of several prompts at once the first one counts."""
        if self.cpu_before is None:
            self.cpu_before = cpu_seconds()

    def report(self) -> dict[str, float]:
        """The answer to `_bench/figures`."""
        assert self.cpu_before is not None, "nothing was measured"
        return {**self.values, "cpu_s": cpu_seconds() - self.cpu_before}


def settled(count: Callable[[], int], expected: int, deadline: float) -> bool:
    """Whether a client may stop waiting for updates: all are there, or hope is lost."""
    return count() >= expected or time.perf_counter() > deadline


def client_command() -> Command:
    """The command of this process."""
    return Command.parse(sys.argv[1:])
