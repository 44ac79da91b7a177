"""Files, terminals and forms as v1 agents use them through the client."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.client.permissions.permissions import Permissions
from accord.client.services.elicitation import Elicitations
from tests.client.scripted_agent import Json, ScriptedAgent, connected
from tests.hang_limit import HANG_SECONDS

FULL: Json = {"files": None, "terminals": None}


async def run(script: Any, folder: Path, version: int = 1, **options: Any) -> Any:
    """Open a session in the folder and let the agent play; gives the session."""
    done = anyio.Event()

    async def whole(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await script(agent)
        done.set()

    async with connected(whole, version, **{**FULL, **options}) as (client, _):
        session = await client.new_session(folder)
        await done.wait()
        return session


async def call(agent: ScriptedAgent, method: str, **params: Any) -> Json:
    """Ask something of the client; the whole answer."""
    return await agent.answer_to(agent.request(method, {"sessionId": "s1", **params}))


@pytest.mark.rule("V1-SESS-24")
async def test_files_are_read_and_written_beneath_the_roots(tmp_path: Path) -> None:
    """D1 file-system; R additional-directories: the root set is enforced."""
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")

    async def script(agent: ScriptedAgent) -> None:
        path = str(tmp_path / "a.txt")
        answer = await call(agent, "fs/read_text_file", path=path, line=2, limit=1)
        assert answer["result"]["content"].rstrip("\n") == "two"
        new = str(tmp_path / "b.txt")
        assert (await call(agent, "fs/write_text_file", path=new, content="x"))["result"] == {}
        missing = await call(agent, "fs/read_text_file", path=str(tmp_path / "no"))
        assert missing["error"]["code"] == -32002
        outside = await call(agent, "fs/read_text_file", path="/etc/hostname")
        assert outside["error"]["data"]["reason"] == "permission_denied"
        relative = await call(agent, "fs/read_text_file", path="a.txt")
        assert relative["error"]["code"] == -32602

    await run(script, tmp_path, permissions=Permissions.allow_all())
    assert (tmp_path / "b.txt").read_text() == "x"


@pytest.mark.parametrize("character", ["x", "ü"])
async def test_a_large_file_is_read_whole(tmp_path: Path, character: str) -> None:
    """Ours: however it is encoded, one answer arrives."""
    text = f'\t"{character}"\n' * 100_000
    (tmp_path / "big.txt").write_text(text)

    async def script(agent: ScriptedAgent) -> None:
        answer = await call(agent, "fs/read_text_file", path=str(tmp_path / "big.txt"))
        assert answer["result"] == {"content": text}

    await run(script, tmp_path, permissions=Permissions.allow_all())


@pytest.mark.parametrize("asked", [False, True])
async def test_a_write_needs_a_permission_even_if_the_agent_never_asked(
    tmp_path: Path, asked: bool
) -> None:
    """Issue 2: a grant for that tool call covers it, else the user is asked, else refused."""
    path = str(tmp_path / "a.txt")

    async def script(agent: ScriptedAgent) -> None:
        if asked:
            params = {
                "sessionId": "s1",
                "toolCall": {
                    "toolCallId": "t",
                    "kind": "edit",
                    "locations": [{"path": path}],
                },
                "options": [{"optionId": "y", "name": "y", "kind": "allow_once"}],
            }
            answer = await agent.answer_to(agent.request("session/request_permission", params))
            assert answer["result"]["outcome"]["optionId"] == "y"
        answer = await call(agent, "fs/write_text_file", path=path, content="x")
        assert ("result" in answer) is asked
        if not asked:
            assert answer["error"]["data"]["reason"] == "permission_denied"

    async def only_when_asked(request: Any) -> bool:
        return bool(request.origin == "agent")

    await run(script, tmp_path, permissions=Permissions.ask(only_when_asked))
    assert (tmp_path / "a.txt").exists() is asked


async def test_without_permissions_writes_and_commands_are_refused(tmp_path: Path) -> None:
    """Issue 2: that is the default when no `permissions=` is given."""

    async def script(agent: ScriptedAgent) -> None:
        path = str(tmp_path / "a")
        for method, params in (
            ("fs/write_text_file", {"path": path, "content": ""}),
            ("terminal/create", {"command": "touch", "args": [path]}),
        ):
            answer = await call(agent, method, **params)
            assert answer["error"]["data"]["reason"] == "permission_denied"
        asked = agent.ask_permission()
        answer = await agent.answer_to(asked)
        assert answer["result"]["outcome"].get("optionId") in (None, "reject_once")

    await run(script, tmp_path, permissions=None)
    assert list(tmp_path.iterdir()) == []


async def test_a_terminal_runs_shows_its_output_and_is_released(tmp_path: Path) -> None:
    """D1 terminals; the transcript shows it as v2 agents show theirs."""

    async def script(agent: ScriptedAgent) -> None:
        created = await call(
            agent,
            "terminal/create",
            command=sys.executable,
            args=["-c", "import os; print(os.environ['X'], os.getcwd()); raise SystemExit(3)"],
            env=[{"name": "X", "value": "x"}],
        )
        terminal = {"terminalId": created["result"]["terminalId"]}
        ended = (await call(agent, "terminal/wait_for_exit", **terminal))["result"]
        assert ended["exitCode"] == 3
        shown = (await call(agent, "terminal/output", **terminal))["result"]
        assert shown["output"] == f"x {tmp_path}\n"
        assert (shown["truncated"], shown["exitStatus"]["exitCode"]) == (False, 3)
        assert (await call(agent, "terminal/kill", **terminal))["result"] == {}
        assert (await call(agent, "terminal/release", **terminal))["result"] == {}
        gone = await call(agent, "terminal/output", **terminal)
        assert gone["error"]["code"] == -32002

    session = await run(script, tmp_path, permissions=Permissions.allow_all())
    [terminal] = session.transcript.terminals
    assert terminal.exit_status.exit_code == 3
    assert terminal.text == f"x {tmp_path}\n"


async def test_terminals_end_with_the_connection(tmp_path: Path) -> None:
    """Issue 2: all gone when the connection ends."""
    flag = tmp_path / "flag"

    async def script(agent: ScriptedAgent) -> None:
        program = f"import time; open({str(flag)!r}, 'w').close(); time.sleep(60)"
        created = await call(agent, "terminal/create", command=sys.executable, args=["-c", program])
        assert "result" in created
        while not flag.exists():
            await anyio.sleep(0.01)

    with anyio.fail_after(HANG_SECONDS):
        await run(script, tmp_path, permissions=Permissions.allow_all())


@pytest.mark.rule("V1-CAP-01")
@pytest.mark.parametrize("version", [1, 2])
async def test_services_that_are_not_offered_are_not_there(tmp_path: Path, version: int) -> None:
    """v1's pages 3: behind a missing capability -32601; v2 has no such methods at all."""
    options = {} if version == 2 else {"files": False, "terminals": False}

    async def script(agent: ScriptedAgent) -> None:
        for method in ("fs/read_text_file", "terminal/create", "elicitation/create", "nonsense"):
            error = (await call(agent, method))["error"]
            assert (error["code"], error["data"]) == (-32601, {"method": method})

    await run(script, tmp_path, version, permissions=Permissions.allow_all(), **options)


class OwnFiles:
    """A service of somebody else's, sync and read-only."""

    def read_text(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        return f"{session_id} {path} {line} {limit}"


async def test_a_service_may_be_anybodys(tmp_path: Path) -> None:
    """Issue 2: each of them replaceable; what it lacks is not offered."""
    offered: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        offered.append(agent.received[0]["params"]["clientCapabilities"]["fs"])
        answer = await call(agent, "fs/read_text_file", path="/x", line=None)
        assert answer["result"] == {"content": "s1 /x None None"}
        answer = await call(agent, "fs/write_text_file", path="/x", content="")
        assert answer["error"]["code"] == -32601

    await run(script, tmp_path, files=OwnFiles(), permissions=Permissions.allow_all())
    assert offered == [{"readTextFile": True, "writeTextFile": False}]


@pytest.mark.rule("V1-ELIC-02", "V1-ELIC-03", "V1-ELIC-17")
@pytest.mark.parametrize("version", [1, 2])
async def test_forms_are_filled_in_and_other_modes_refused(tmp_path: Path, version: int) -> None:
    """D1 elicitation: an unadvertised mode is -32602, unknown ids of pages are ignored."""

    async def script(agent: ScriptedAgent) -> None:
        key = "clientCapabilities" if version == 1 else "capabilities"
        assert agent.received[0]["params"][key]["elicitation"] == {"form": {}}
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        form = {"mode": "form", "message": "Who?", "requestedSchema": schema}
        answer = await call(agent, "elicitation/create", **form)
        assert answer["result"] == {"action": "accept", "content": {"name": "me"}}
        page = {"mode": "url", "message": "Go", "elicitationId": "e", "url": "https://x.example"}
        for other in (page, {"mode": "_odd", "message": "?"}):
            answer = await call(agent, "elicitation/create", **other)
            assert answer["error"]["code"] == -32602
        for params in ({"elicitationId": "e"}, {"elicitationId": 5}):
            agent.write({"jsonrpc": "2.0", "method": "elicitation/complete", "params": params})

    elicitation = Elicitations(on_form=lambda form: {"name": "me"})
    await run(
        script,
        tmp_path,
        version,
        elicitation=elicitation,
        permissions=Permissions.allow_all(),
    )
