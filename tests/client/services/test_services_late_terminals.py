"""Terminals that a service of anybody's has started when the agent is gone already."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from accord.client.permissions.permissions import Permissions
from accord.client.services.service_interfaces import RunsTerminals
from accord.client.services.services import Services
from accord.client.wire.v1.terminals import TerminalRequests
from accord.connection.connection import IncomingRequest
from accord.errors import RequestError
from accord.schema.codec import encode
from accord.schema.struct import Raw


class Slow:
    """Its `create` goes on while the connection ends, and is not to be cancelled any more."""

    def __init__(self) -> None:
        self.services: Services
        self.open: list[str] = []

    async def create(self, session_id: str, command: str, args: Any, **more: Any) -> str:
        await self.services.aclose()
        self.open.append("t1")
        return "t1"

    async def release(self, session_id: str, terminal_id: str) -> None:
        self.open.remove(terminal_id)

    def close_all(self) -> None:
        self.open.clear()


async def test_a_command_that_starts_behind_the_end_of_the_services_is_released() -> None:
    """Found by the simulator: what a service started for a connection is over with it."""

    terminals = Slow()
    permissions = Permissions.allow_all()
    options: Any = SimpleNamespace(
        permissions=permissions, files=None, terminals=terminals, elicitation=None
    )
    connection: Any = SimpleNamespace()
    services = terminals.services = Services(options, connection)
    session: Any = SimpleNamespace(id="s", cwd="/")
    link: Any = SimpleNamespace(services=services, session=lambda _id: session)
    requests = TerminalRequests(link, cast(RunsTerminals, terminals), False)
    params = Raw(encode({"sessionId": "s", "command": "sleep"}))
    work = requests.create(IncomingRequest(1, "terminal/create", params))
    assert callable(work)
    with pytest.raises(RequestError, match="the connection has ended"):
        await work()
    assert terminals.open == []
