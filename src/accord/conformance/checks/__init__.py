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
        "agent_wire_monitors",
        "agent_v1_monitors",
        "agent_v1_turn_monitors",
        "agent_v1_init",
        "agent_v1_wire",
        "agent_v1_sessions",
        "agent_v1_history",
        "agent_v1_turns",
        "agent_v1_rare",
        "agent_faults",
        "agent_v1_reports",
    ),
    ("agent", "2"): (
        "agent_wire_monitors",
        "agent_v2_monitors",
        "agent_v2_state_monitors",
        "agent_v2_start",
        "agent_v2_arrays",
        "agent_v2_sessions",
        "agent_v2_turns",
        "agent_v2_reports",
        "agent_faults",
    ),
    ("agent", "draft"): ("agent_draft_monitors", "agent_draft", "agent_faults"),
    ("client", "1"): (
        "client_v1_wire",
        "client_v1_start",
        "client_v1_turn",
        "client_v1_files",
        "client_v1_state",
        "client_faults",
    ),
    ("client", "2"): ("client_v2_wire", "client_v2_state", "client_faults"),
    ("client", "draft"): ("client_draft",),
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
