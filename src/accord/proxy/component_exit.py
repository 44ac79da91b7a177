"""The exit of a component of a chain: how long it may take, and what is said of it.

It is told as a sentence for people and as data for programs.

Must not know who is told.
"""

from __future__ import annotations

from typing import Any, Final

from accord.proxy.hop import Hop
from accord.transport.transport import Ended

AGENT_EXIT_SECONDS_MAX: Final = 10.0
"""How long an agent may take to exit after its client has stopped sending."""
STDERR_LINES_MAX: Final = 5
STDERR_CHARACTERS_MAX: Final = 2000


def gone_sentence(hop: Hop, why: Ended) -> str:
    """Return a sentence about a neighbour that is gone."""
    said = f"{hop.name} is gone: {why.reason}"
    lines = why.stderr_tail.strip().splitlines()
    return f"{said}; its last line on stderr: {lines[-1][:200]}" if lines else said


def gone_data(hop: Hop, why: Ended) -> dict[str, Any]:
    """Return the same for programs: the component, its exit status, and its last stderr lines."""
    found: dict[str, Any] = {"reason": "component_gone", "component": hop.name}
    if why.exit_status is not None:
        found["exitStatus"] = why.exit_status
    lines = why.stderr_tail.strip().splitlines()
    if lines:
        found["stderr"] = "\n".join(lines[-STDERR_LINES_MAX:])[-STDERR_CHARACTERS_MAX:]
    return found
