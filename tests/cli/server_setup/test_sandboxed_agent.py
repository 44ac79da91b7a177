"""An agent whose command line takes a while to make."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import anyio
import pytest

from accord.cli.server_setup.sandboxed_agent import SandboxedAgent
from accord.machine.sandbox.options import SandboxRefused
from tests.hang_limit import HANG_SECONDS
from tests.proxy.wires import Wire

pytestmark = pytest.mark.anyio

ECHO = "import sys; sys.stdout.write(sys.stdin.readline()); sys.stdout.flush()"


def agent(prepare: object, folder: Path) -> SandboxedAgent:
    return SandboxedAgent(prepare, cwd=folder, env=dict(os.environ), stderr=lambda _: None)  # type: ignore[arg-type]


async def test_the_event_loop_goes_on_while_the_sandbox_is_prepared(tmp_path: Path) -> None:
    """Ours: everybody else of the gateway would wait."""
    goes_on = threading.Event()

    def prepare() -> tuple[str, ...]:
        assert goes_on.wait(HANG_SECONDS), "the event loop stood still"
        return sys.executable, "-c", ECHO

    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            transport = agent(prepare, tmp_path)
            assert transport.backlog == 0
            wire = Wire(transport)  # type: ignore[arg-type]
            async with anyio.create_task_group() as starting:
                starting.start_soon(transport.start, wire, tasks)
                await anyio.lowlevel.checkpoint()
                goes_on.set()
            wire.request(1, "x")
            assert (await wire.hear())["method"] == "x"
            await transport.aclose()
            tasks.cancel_scope.cancel()


async def test_a_sandbox_that_is_refused_starts_nothing(tmp_path: Path) -> None:
    """Ours: an error, never a process without a sandbox."""

    def prepare() -> tuple[str, ...]:
        raise SandboxRefused("not this one")

    transport = agent(prepare, tmp_path)
    async with anyio.create_task_group() as tasks:
        with pytest.raises(SandboxRefused, match="not this one"):
            await transport.start(Wire(transport), tasks)  # type: ignore[arg-type]
        assert transport.pid is None
        await transport.aclose()
