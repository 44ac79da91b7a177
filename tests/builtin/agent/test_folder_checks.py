"""A session is opened in a folder that can be worked in, or not at all."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from accord.builtin.folder_checks import faults_of
from tests.agent.draft.draft_client import draft_client
from tests.agent.raw_client import RawClient, raw_client
from tests.builtin.agent.turns import begin, made, say

MISSING = "does not exist; create it, or open the session in another folder"


def _openings(version: int, session_id: str) -> list[tuple[str, dict[str, Any]]]:
    """Every request that opens a session, without its folder."""
    known: list[tuple[str, dict[str, Any]]] = [
        (method, {"sessionId": session_id}) for method in ("session/resume", "session/fork")
    ]
    if version == 1:
        known.append(("session/load", {"sessionId": session_id}))
    else:
        known.append(("session/resume", {"sessionId": session_id, "replayFrom": {"type": "start"}}))
    return [("session/new", {}), *known]


async def _refusals(client: RawClient, session_id: str, folder: str) -> set[str]:
    """What each way to open a session says about this folder."""
    said: set[str] = set()
    for method, params in _openings(client.version, session_id):
        error = await client.error(method, {**params, "cwd": folder, "mcpServers": []})
        assert error["code"] == -32602
        said.add(error["message"])
    return said


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("version", [1, 2])
async def test_no_session_is_opened_in_a_folder_that_is_not_there(
    version: int, is_open: bool, tmp_path: Path
) -> None:
    """Issue 14: told at once, with what to do; the session that was asked for stays as it was."""
    agent = made()
    (tmp_path / "file").write_text("x")
    async with raw_client(agent, version=version) as client:
        session = (await begin(client, tmp_path))["sessionId"]
        await say(client, session, "hello")
        if not is_open:
            await client.result("session/close", {"sessionId": session})
        gone = str(tmp_path / "gone")
        (said,) = await _refusals(client, session, gone)
        assert said == f"Invalid params: the folder {gone} {MISSING}"
        for name in ("file", "file/in/it"):
            (said,) = await _refusals(client, session, str(tmp_path / name))
            assert f"{tmp_path / 'file'} is a file, not a folder" in said
            assert said.endswith(f"such as {tmp_path}")
        listed = await client.result("session/list", {})
        assert [(one["sessionId"], one["cwd"]) for one in listed["sessions"]] == [
            (session, str(tmp_path))
        ]
        # Nothing is held: it can still be opened where it was.
        await client.result(
            "session/resume", {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        )


async def test_a_session_that_does_not_exist_is_told_before_its_folder() -> None:
    """V1-LOAD-10: -32002."""
    async with raw_client(made()) as client:
        error = await client.error(
            "session/load", {"sessionId": "none", "cwd": "/nope/x", "mcpServers": []}
        )
        assert error["code"] == -32002


@pytest.mark.parametrize("how", ["listed", "entered", "broken", "odd"])
async def test_a_folder_that_cannot_be_read_is_told(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 14: tests may run as a user who may read everything, so the system's word is played."""

    def refuse(path: str) -> Any:
        raise {"listed": PermissionError(13, "no"), "broken": OSError(5, "Input/output error")}[how]

    if how == "entered":
        monkeypatch.setattr("accord.builtin.folder_checks.os.access", lambda path, mode: False)
    elif how != "odd":
        monkeypatch.setattr("accord.builtin.folder_checks.os.scandir", refuse)
    name = str(tmp_path) + ("\0" if how == "odd" else "")
    async with raw_client(made()) as client:
        error = await client.error("session/new", {"cwd": name, "mcpServers": []})
    said = error["message"]
    assert "open the session in another folder" in said
    assert {"broken": "Input/output error", "odd": "does not exist"}.get(how, "permissions") in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_a_folder_of_somebody_else_is_told(tmp_path: Path) -> None:
    """Issue 14: the same with the real permissions."""
    private = tmp_path / "private"
    private.mkdir(mode=0o000)
    assert len(await faults_of([str(private)])) == 1


@pytest.mark.parametrize("version", [1, 2])
async def test_a_second_folder_that_is_gone_is_told_once_and_left_out(
    version: int, tmp_path: Path
) -> None:
    """Ours: an editor sends all folders of a window; a missing one must not refuse it."""
    gone = str(tmp_path / "gone")
    async with raw_client(made(), version=version) as client:
        session = (await begin(client, tmp_path, additionalDirectories=[gone]))["sessionId"]
        for _ in range(2):
            await say(client, session, "hello")
            where = {"cwd": str(tmp_path), "additionalDirectories": [gone], "mcpServers": []}
            await client.result("session/resume", {"sessionId": session, **where})
        await say(client, session, "hello")
        told = f"The session continues without this folder: the folder {gone} does not exist."
        # In a message, or as a notice where the client takes those.
        assert json.dumps(client.updates()).count(told) == 1


async def test_clients_of_the_draft_are_told_too(tmp_path: Path) -> None:
    """Issue 14: in every version; a load of the draft sends no folder, the session has one."""
    folder = tmp_path / "here"
    folder.mkdir()
    async with draft_client(made()) as client:
        gone = {"workingDirectory": str(tmp_path / "gone")}
        assert MISSING in (await client.error("session/new", gone))["message"]
        made_one = await client.result("session/new", {"workingDirectory": str(folder)})
        folder.rmdir()
        error = await client.error("session/load", {"sessionId": made_one["sessionId"]})
        assert MISSING in error["message"]
