"""The checks, by role.  Each module has checks and monitors as module-level values."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from accord.conformance.check import Check, Monitor, Role
from accord.conformance.rule import Version

# Role and version -> the modules that have their checks and monitors.
MODULES: dict[tuple[Role, Version], tuple[str, ...]] = {
    ("agent", "1"): (
        "agent.wire_monitors",
        "agent.v1.message_monitors",
        "agent.v1.turn_monitors",
        "agent.v1.initialize",
        "agent.v1.wire",
        "agent.v1.pending_requests",
        "agent.v1.sessions",
        "agent.v1.session_history",
        "agent.v1.forks_and_archives",
        "agent.v1.turns",
        "agent.v1.modes_and_options",
        "agent.v1.extensions",
        "agent.faults",
        "agent.v1.notices_and_forms",
    ),
    ("agent", "2"): (
        "agent.wire_monitors",
        "agent.v2.message_monitors",
        "agent.v2.state_monitors",
        "agent.v2.initialize_and_wire",
        "agent.v2.open_requests",
        "agent.v2.batches",
        "agent.v2.sessions",
        "agent.v2.turns",
        "agent.v2.background_and_locations",
        "agent.faults",
    ),
    ("agent", "draft"): ("agent.draft.monitors", "agent.draft.requests", "agent.faults"),
    ("client", "1"): (
        "client.v1.initialize",
        "client.v1.wire",
        "client.v1.logins",
        "client.v1.turns",
        "client.v1.files_and_terminals",
        "client.v1.session_state",
        "client.v1.reopened_sessions",
        "client.v1.whole_runs",
        "client.faults",
    ),
    ("client", "2"): (
        "client.v2.wire_and_initialize",
        "client.v2.session_state",
        "client.v2.whole_runs",
        "client.faults",
    ),
    ("client", "draft"): ("client.draft",),
}


def gather(role: Role, version: Version) -> tuple[Sequence[Check[Any]], Sequence[Monitor]]:
    """Every check and every monitor for one role and version."""
    checks: list[Check[Any]] = []
    monitors: list[Monitor] = []
    for name in MODULES[role, version]:
        for value in vars(import_module(f"{__name__}.{name}")).values():
            if isinstance(value, Check) and (value.role, value.version) == (role, version):
                checks.append(value)
            if isinstance(value, Monitor) and (value.role, value.version) == (role, version):
                monitors.append(value)
    return checks, monitors
