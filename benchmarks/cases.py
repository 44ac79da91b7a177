"""What is measured: the implementations, the scenarios, and the command line of each case.

Knows nothing of results.  Every implementation is a set of programs that do the same work over
the same wire, so any client can be paired with any agent.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "benchmarks"
OURS = "accord"
# The same programs in the newer version of the protocol; no floor is about it.
OURS_IN_V2 = "accord-v2"
# Starts alone: the built-in agent, and the smallest example that it is held against.
BUILT_IN = "accord-agent"
HELLO = "accord-hello"
OFFICIAL_PYTHON = "official-python"
OFFICIAL_TYPESCRIPT = "official-typescript"

STREAM_MESSAGES = 20_000
REPLAY_MESSAGES = 20_000
SESSIONS, MESSAGES_PER_SESSION = 100, 100
CALLS = 3_000
READ_MEGABYTES = 8


@dataclass(frozen=True)
class Scenario:
    """One kind of work, as the first words of a client's command line."""

    name: str
    arguments: tuple[str, ...]
    messages: int = 0


SCENARIOS = (
    Scenario("stream", ("stream", str(STREAM_MESSAGES), "40"), STREAM_MESSAGES),
    Scenario(
        "conc",
        ("conc", str(SESSIONS), str(MESSAGES_PER_SESSION)),
        SESSIONS * MESSAGES_PER_SESSION,
    ),
    Scenario("replay", ("replay", str(REPLAY_MESSAGES)), REPLAY_MESSAGES),
    Scenario("rpc", ("rpc", str(CALLS))),
    Scenario("read", ("read", str(READ_MEGABYTES))),
    Scenario("cold", ()),
)
MESSAGES = {scenario.name: scenario.messages for scenario in SCENARIOS}
# Pairs of different implementations are run on these only.
CROSSED = ("stream", "rpc")


@dataclass(frozen=True)
class Implementation:
    """The programs of one implementation, and what must exist for them to run."""

    name: str
    client: tuple[str, ...]
    agent: tuple[str, ...]
    minimal_agent: tuple[str, ...]
    needs: tuple[Path, ...]
    environment: tuple[tuple[str, str], ...] = ()
    # Scenarios that it cannot run.
    without: tuple[str, ...] = ()

    def missing(self) -> Path | None:
        """The first thing that is needed and not there."""
        return next((path for path in self.needs if not path.exists()), None)


def _python(name: str, interpreter: Path, folder: str) -> Implementation:
    program = str(interpreter)
    return Implementation(
        name,
        client=(program, "-m", f"benchmarks.{folder}.client"),
        agent=(program, "-m", f"benchmarks.{folder}.agent"),
        # As a user starts it: a file, no package around it.
        minimal_agent=(program, str(HERE / folder / "minimal_agent.py")),
        needs=(interpreter, HERE / folder / "client.py"),
    )


def _node(name: str, folder: str) -> Implementation:
    node = shutil.which("node") or "node"
    return Implementation(
        name,
        client=(node, str(HERE / folder / "client.mjs")),
        agent=(node, str(HERE / folder / "agent.mjs")),
        minimal_agent=(node, str(HERE / folder / "minimal_agent.mjs")),
        needs=(Path(node), ROOT / "node_modules" / "@agentclientprotocol" / "sdk"),
    )


def _start(name: str, *command: str) -> Implementation:
    """Something that is started and nothing else."""
    without = tuple(scenario.name for scenario in SCENARIOS if scenario.name != "cold")
    # A folder that is not there: what the user has set up is not measured, and nothing is stored.
    nobody = str(HERE / "results" / "nobody")
    return Implementation(
        name,
        client=(),
        agent=(),
        minimal_agent=(sys.executable, *command),
        needs=(),
        environment=(("ACCORD_CONFIG_DIR", nobody), ("ACCORD_STATE_DIR", nobody)),
        without=without,
    )


def implementations() -> dict[str, Implementation]:
    """All implementations, ours first, whether they can run here or not."""
    official = os.environ.get(
        "BENCH_OFFICIAL_PYTHON", str(ROOT / ".venvs" / "acp-0.12" / "bin" / "python")
    )
    return {
        OURS: _python(OURS, Path(sys.executable), "accord"),
        OURS_IN_V2: replace(
            _python(OURS_IN_V2, Path(sys.executable), "accord"),
            environment=(("BENCH_VERSION", "2"),),
            # A v2 client serves no files, and a start knows no version.
            without=("rpc", "read", "cold"),
        ),
        BUILT_IN: _start(BUILT_IN, "-m", "accord", "agent"),
        HELLO: _start(HELLO, str(ROOT / "examples" / "hello_agent.py")),
        OFFICIAL_PYTHON: _python(OFFICIAL_PYTHON, Path(official), "official_python"),
        OFFICIAL_TYPESCRIPT: _node(OFFICIAL_TYPESCRIPT, "official_typescript"),
    }


@dataclass(frozen=True)
class Case:
    """One command whose single line of output is one result.

    `label` is the implementation's name, or `client<-agent` where the two differ.
    """

    scenario: str
    label: str
    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()


def cases(chosen: list[Implementation], scenarios: list[str], *, cross: bool) -> list[Case]:
    """Every case of a round; implementations alternate within a scenario."""
    return [
        _case(scenario, client, agent)
        for scenario in SCENARIOS
        if scenario.name in scenarios
        for client in chosen
        if scenario.name not in client.without
        for agent in chosen
        if client is agent or (cross and _crosses(scenario, client, agent))
    ]


def _crosses(scenario: Scenario, client: Implementation, agent: Implementation) -> bool:
    # Whoever was told to speak one version only does not meet everybody.
    return scenario.name in CROSSED and not (client.environment or agent.environment)


def _case(scenario: Scenario, client: Implementation, agent: Implementation) -> Case:
    label = client.name if client is agent else f"{client.name}<-{agent.name}"
    if scenario.name == "cold":
        command = (sys.executable, "-m", "benchmarks.cold", *agent.minimal_agent)
    else:
        command = (*client.client, *scenario.arguments, "--", *agent.agent)
    return Case(scenario.name, label, command, client.environment)


def limit_cases(scenarios: list[str]) -> list[Case]:
    """What the machine and the interpreters allow, without any implementation of the protocol."""
    python, node = sys.executable, shutil.which("node") or "node"
    start = (python, "-m", "benchmarks.cold")
    found = [
        Case("cold", "limit:python", (*start, python, "-I", str(HERE / "limits" / "start.py"))),
        Case("cold", "limit:node", (*start, node, str(HERE / "limits" / "start.mjs"))),
        Case("rpc", "limit:blocking", (python, "-m", "benchmarks.limits.round_trip", str(CALLS))),
    ]
    found += [
        Case("stream", f"limit:{mode}", (python, "-m", "benchmarks.limits.reader", mode))
        for mode in ("split", "json", "msgspec", "accord")
    ]
    return [case for case in found if case.scenario in scenarios]
