"""What an agent loads behind its answer to `initialize`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.agent.raw_client import initialize_params, raw_client
from tests.agent.v2.play import made
from tests.hang_limit import HANG_SECONDS


@pytest.mark.parametrize("version", [1, 2])
async def test_what_is_declared_behind_the_answer_is_there_for_the_first_session(
    version: int,
) -> None:
    """Ours: an agent's start is somebody's wait; its settings need not be part of it."""
    agent = made()
    calls: list[str] = []

    @agent.on_initialized
    def declare() -> None:
        calls.append("once")
        agent.add_mode("late", "Late")

    for _ in range(2):
        async with raw_client(agent, version=version) as client:
            result = await client.result("session/new", {"cwd": "/", "mcpServers": []})
            assert [one["currentValue"] for one in result["configOptions"]] == ["late"]
    assert calls == ["once"]


async def test_what_fails_behind_the_answer_does_not_end_the_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ours: the client has its answer already."""
    agent = made()

    @agent.on_initialized
    def fail() -> None:
        raise ValueError("no disk")

    async with raw_client(agent, version=1) as client:
        assert "sessionId" in await client.result("session/new", {"cwd": "/", "mcpServers": []})
    assert "no disk" in caplog.text


async def test_what_is_loaded_meanwhile_waits_while_a_request_is_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: who opens a session at once is not kept waiting for what the first turn needs."""
    done: list[str] = []
    all_loaded = anyio.Event()

    def prepare(_dialect: str, *, files: bool) -> Iterator[None]:
        for _ in range(100):
            done.append("step")
            yield
        all_loaded.set()

    monkeypatch.setattr("accord.agent.serving.connection.prepare", prepare)
    agent = made()

    @agent.method("_test/slow")
    async def slow(_: dict[str, Any]) -> dict[str, Any]:
        done.append("served")
        for _number in range(10):
            await anyio.lowlevel.checkpoint()
        done.append("answered")
        return {}

    with anyio.fail_after(HANG_SECONDS):
        async with raw_client(agent, version=1, initialize=False, validate=False) as client:
            client.start("initialize", initialize_params(1, None))
            await client.answer(client.start("_test/slow", {}))
            await all_loaded.wait()
    served = done.index("served")
    assert done[served : served + 2] == ["served", "answered"]
    assert done[-1] == "step"


async def test_what_cannot_be_loaded_meanwhile_does_not_end_the_connection(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: it was nobody's request; who needs it loads it, and is told then."""

    def prepare(_dialect: str, *, files: bool) -> Iterator[None]:
        yield
        raise ImportError("gone")

    monkeypatch.setattr("accord.agent.serving.connection.prepare", prepare)
    async with raw_client(made(), version=1) as client:
        with anyio.fail_after(HANG_SECONDS):
            while "gone" not in caplog.text:
                await anyio.lowlevel.checkpoint()
        assert await client.new_session("/")


@pytest.mark.parametrize("offered", [False, True])
def test_what_reads_files_is_loaded_behind_the_answer_where_the_client_has_some(
    offered: bool,
) -> None:
    """Ours: the first file need not wait for it, and who never reads one does not load it."""
    program = (
        "import sys\n"
        "from accord.agent.preload import prepare\n"
        f"list(prepare('v1', files={offered}))\n"
        "print('accord.agent.tools.files' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [str(offered).encode()]


@pytest.mark.parametrize("collects", [False, True])
def test_the_collector_waits_for_the_event_loop_alone(collects: bool) -> None:
    """Ours: it is as the program had it while the agent serves, and when `run` is over."""
    program = (
        "import gc\n"
        "from accord import Agent\n"
        f"gc.{'enable' if collects else 'disable'}()\n"
        "agent = Agent('a', version='1')\n"
        "async def serve():\n"
        "    print(gc.isenabled(), gc.get_freeze_count() > 10_000)\n"
        "    raise SystemExit\n"
        "agent.serve_stdio = serve\n"
        "try:\n"
        "    agent.run()\n"
        "finally:\n"
        "    print(gc.isenabled())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == [str(collects), "True", str(collects)], done.stderr
