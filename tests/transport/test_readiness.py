"""Timers of a transport: as many as it wants, and none after its end."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest

from accord.transport.readiness import driver_for

pytestmark = pytest.mark.anyio


async def test_every_timer_ends_with_its_driver() -> None:
    """Ours: setting a timer while another one runs does not hide that one."""
    rung: list[str] = []

    def note(name: str) -> Callable[[], None]:
        return lambda: rung.append(name)

    last = anyio.Event()
    async with anyio.create_task_group() as tasks:
        closed, other = driver_for(tasks), driver_for(tasks)
        closed.later(0.001, note("first"))
        closed.later(0.001, note("second"))
        closed.close()
        other.later(0.002, note("third"))
        other.later(0.002, last.set)
        await last.wait()
    assert rung == ["third"]
