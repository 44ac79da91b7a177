"""One handler, one set of exceptions: whoever has the files and the terminals, and in any version.

The clients of v1 here offer everything and refuse it as the library's own client does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from accord import Agent, LocalProtocolError, RequestFailed, SpawnFailed, Turn
from accord.machine import AccessDenied, OutsideRoots
from accord.machine.errors import NoSuchFile
from tests.agent.raw_client import OPEN, raw_client
from tests.agent.test_agent_mistakes import ended

OFFERS = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
Refusal = tuple[int, str, dict[str, Any]]
NOT_THERE: Refusal = (-32002, "Not found", {"uri": "file:///x"})
OUTSIDE: Refusal = (-32052, "not here", {"reason": "permission_denied", "scope": "roots"})
FORBIDDEN: Refusal = (-32052, "not you", {"reason": "permission_denied"})
NO_COMMAND: Refusal = (-32602, "no such program", {"reason": "no such program", "path": "command"})


async def raised(
    work: Callable[[Turn], Awaitable[Any]], cwd: Path, version: int, refusal: Refusal
) -> BaseException:
    """What a handler sees of a refusal; in v2 it meets the machine itself."""
    agent = Agent("alike", version="1")
    agent.add_mode("auto", "Auto", allow="execute")
    caught: list[BaseException] = []

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        try:
            await work(turn)
        except Exception as error:
            caught.append(error)

    capabilities = OFFERS if version == 1 else {}
    async with raw_client(agent, version=version, capabilities=capabilities) as client:

        def refuse(_: Any) -> Any:
            request = client.frames[-1]
            client.refuse(request, *refusal)
            return OPEN

        for method in ("fs/read_text_file", "fs/write_text_file", "terminal/create"):
            client.serve[method] = refuse
        await ended(client, await client.new_session(str(cwd)), version)
    (error,) = caught
    return error


VERSIONS = pytest.mark.parametrize("version", [1, 2])


@VERSIONS
async def test_a_command_that_does_not_exist(version: int, tmp_path: Path) -> None:
    """Ours: who starts it is not the handler's business."""
    error = await raised(lambda turn: turn.run("no-such-cmd"), tmp_path, version, NO_COMMAND)
    assert isinstance(error, SpawnFailed)
    assert "no-such-cmd" in str(error)


async def test_a_command_that_the_client_forbids_is_not_one_that_failed(tmp_path: Path) -> None:
    """Ours: what the user does not allow is told apart from what does not work."""
    error = await raised(lambda turn: turn.run("ls"), tmp_path, 1, FORBIDDEN)
    assert isinstance(error, RequestFailed)


@VERSIONS
@pytest.mark.parametrize("writes", [False, True])
async def test_files_outside_of_the_roots(version: int, writes: bool, tmp_path: Path) -> None:
    """Ours: one class, whoever guards the roots."""

    async def work(turn: Turn) -> None:
        await (turn.write_text("/etc/passwd", "x") if writes else turn.read_text("/etc/passwd"))

    error = await raised(work, tmp_path, version, OUTSIDE)
    assert isinstance(error, OutsideRoots)
    assert error.path == "/etc/passwd"


@VERSIONS
@pytest.mark.parametrize("writes", [False, True])
async def test_files_that_are_missing(version: int, writes: bool, tmp_path: Path) -> None:
    """Ours: Python's own class, as everybody expects.  Folders on the way would be made."""
    (tmp_path / "no").write_text("not a folder")

    async def work(turn: Turn) -> None:
        await (turn.write_text("no/x", "x") if writes else turn.read_text("no/x"))

    error = await raised(work, tmp_path, version, NOT_THERE)
    assert type(error) is NoSuchFile
    assert isinstance(error, FileNotFoundError)
    assert error.filename == str(tmp_path / "no/x")
    assert str(error).startswith(f"{tmp_path / 'no/x'}: ")


async def test_files_that_the_user_does_not_allow(tmp_path: Path) -> None:
    """Ours: a refusal of the client's policy reads like one of the system."""
    error = await raised(lambda turn: turn.read_text("x"), tmp_path, 1, FORBIDDEN)
    assert type(error) is AccessDenied


@VERSIONS
@pytest.mark.parametrize(("option", "value"), [("zork", "a"), ("model", "zork"), ("model", True)])
async def test_an_option_that_the_agent_does_not_have_is_its_own_mistake(
    version: int, option: str, value: str | bool
) -> None:
    """Ours: -32602 would blame the client, which only sent a prompt."""
    agent = Agent("alike", version="1")
    agent.add_option("model", "Model", ["small", "large"])

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        with pytest.raises(LocalProtocolError, match=r"zork|True"):
            await turn.set_option(option, value)

    async with raw_client(agent, version=version) as client:
        outcome = await ended(client, await client.new_session(), version)
        assert outcome["stopReason"] == "end_turn"


async def test_a_model_that_does_not_exist_is_named_by_its_field() -> None:
    """Issue 4: the path of the bad field, which `session/set_model` calls `modelId`."""
    agent = Agent("alike", version="1")
    agent.add_option("model", "Model", ["small", "large"], category="model")
    async with raw_client(agent, validate=False) as client:
        session = await client.new_session()
        params = {"sessionId": session, "modelId": "huge"}
        error = await client.error("session/set_model", params)
    assert (error["code"], error["data"]["path"]) == (-32602, "$.modelId")
