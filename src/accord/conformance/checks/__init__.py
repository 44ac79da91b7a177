"""The checks, by role.  Each module has checks and monitors as module-level values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any

from accord.conformance.check_definition import Check, Monitor, Role
from accord.conformance.network.address import Transport
from accord.conformance.rule_definition import Version

# By role and version: the modules with checks and monitors.
MODULES: dict[tuple[Role, Version], tuple[str, ...]] = {
    ("agent", "1"): (
        "agent.v1.message_monitors",
        "agent.v1.turn_monitors",
        "agent.v1.initialize",
        "agent.v1.wire",
        "agent.v1.open_requests",
        "agent.v1.sessions",
        "agent.v1.session_history",
        "agent.v1.forks_and_archives",
        "agent.v1.turns",
        "agent.v1.modes_and_options",
        "agent.v1.extensions_and_providers",
        "agent.faults",
        "agent.v1.notices_and_forms",
    ),
    ("agent", "2"): (
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
    ("agent", "draft"): ("agent.draft", "agent.faults"),
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


# By role and transport: the modules with the checks of that transport, for all versions.
TRANSPORT_MODULES: dict[tuple[Role, Transport], tuple[str, ...]] = {
    ("agent", "http"): ("agent.network.http",),
    ("agent", "websocket"): ("agent.network.websocket",),
    ("client", "http"): ("client.network.http",),
    ("client", "websocket"): ("client.network.websocket",),
}
# The rules that do not apply to a transport: lines are for pipes, HTTP has a status for arrays,
# and a WebSocket that does not begin with `initialize` is closed.
NOT_OVER: dict[Transport, tuple[str, ...]] = {
    "stdio": (),
    "http": ("TR-STDIO-*", "TR-BATCH-*", "V1-GEN-14", "V2-GEN-06"),
    "websocket": ("TR-STDIO-*", "V1-INIT-11", "V2-INIT-05"),
}


def gather(
    role: Role, version: Version, transport: Transport = "stdio"
) -> tuple[Sequence[Check[Any]], Sequence[Monitor]]:
    """Return every check and monitor for one role, version and transport."""
    found: list[Check[Any] | Monitor] = []
    for name in MODULES[role, version]:
        found += [one for one in _in_module(name) if (one.role, one.version) == (role, version)]
    for name in TRANSPORT_MODULES.get((role, transport), ()):
        found += [replace(one, version=version) for one in _in_module(name)]
    apply = [one for one in found if not all(_not_over(rule, transport) for rule in one.rules)]
    checks = [one for one in apply if isinstance(one, Check)]
    return checks, [one for one in apply if isinstance(one, Monitor)]


def _in_module(name: str) -> list[Check[Any] | Monitor]:
    values = vars(import_module(f"{__name__}.{name}")).values()
    return [one for one in values if isinstance(one, Check | Monitor)]


def _not_over(rule: str, transport: Transport) -> bool:
    return any(fnmatchcase(rule, like) for like in NOT_OVER[transport])
