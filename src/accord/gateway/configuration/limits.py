"""How much of a gateway one principal may use."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from accord.configuration.toml_table import Table

UNLIMITED: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PrincipalLimits:
    """Bounds for each principal; 0 means none."""

    # At the same time: connections of clients, live sessions, processes of agents.
    connections: int = 32
    sessions: int = 64
    processes: int = 16
    # Of all connections of the principal together; for a short time five times as many.
    frames_per_second: int = 200
    bytes_per_second: int = 8 << 20


def read_limits(table: Table) -> PrincipalLimits:
    """Read the table `limits`; what it does not name has its default.

    Raises:
        ConfigError: a limit is not a whole number of 0 or more.
    """
    inner = table.table("limits")
    said = {one.name: inner.whole(one.name, least=UNLIMITED) for one in fields(PrincipalLimits)}
    return PrincipalLimits(**{name: value for name, value in said.items() if value is not None})


__all__ = ["UNLIMITED", "PrincipalLimits", "read_limits"]
