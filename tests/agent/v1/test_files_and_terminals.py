"""Files and commands in v1: through the client where it offers them, else our own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.errors import RequestFailed
from tests.agent.raw_client import RawClient, raw_client

FILES = {"fs": {"readTextFile": True, "writeTextFile": True}}
TERMINAL = {"terminal": True}


def allow(_params: Any) -> Any:
    """Consent."""
    return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}


def agent_of(handler: Any) -> Agent:
    """An agent with this handler."""
    agent = Agent("files", version="1")
    agent.on_prompt(handler)
    return agent


async def busy(turn: Turn) -> None:
    """Uses everything that a client could do for it."""
    await turn.read_text("a.txt")
    await turn.edit("a.txt", "new")
    await turn.run(sys.executable, "-c", "print('hi')")
    await turn.ask_to_visit("Look", "https://example.com/")
    await turn.notice("info", "psst")
    async with turn.compaction():
        pass
    await turn.say("done")


@pytest.mark.rule("V1-CAP-01", "V1-CAP-08", "V1-FS-01", "V1-TERM-01", "V1-ELIC-01", "V1-ELIC-04")
@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"fs": {}, "elicitation": {}, "session": {}},
        {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
        {"fs": None, "terminal": None, "elicitation": None, "session": None},
        {"fs": {"readTextFile": 1}, "terminal": "yes", "elicitation": {"url": None, "form": 5}},
    ],
)
async def test_nothing_is_asked_of_a_client_that_offered_nothing(
    capabilities: dict[str, Any], tmp_path: Path
) -> None:
    """Spec: what is omitted is unsupported; the work is done by the agent itself."""
    (tmp_path / "a.txt").write_text("old", encoding="utf-8")
    async with raw_client(agent_of(busy), capabilities=capabilities) as client:
        client.serve["session/request_permission"] = allow
        session_id = await client.new_session(str(tmp_path))
        assert await client.prompt(session_id) == {"stopReason": "end_turn"}
    assert set(client.methods()) == {"session/update", "session/request_permission"}
    kinds = {one["sessionUpdate"] for one in client.updates()}
    assert kinds == {"agent_message_chunk", "tool_call", "tool_call_update"}
    assert client.text() == "done"
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("writes", [True, False])
@pytest.mark.rule("V1-CAP-02")
async def test_each_combination_of_file_capabilities_works(
    reads: bool, writes: bool, tmp_path: Path
) -> None:
    """Spec: each capability stands alone."""
    (tmp_path / "a.txt").write_text("disk", encoding="utf-8")
    stored: dict[str, str] = {}

    async def answer(turn: Turn) -> None:
        text = await turn.read_text("a.txt")
        await turn.write_text("b.txt", text + "!")

    def write(params: Any) -> Any:
        stored[params["path"]] = params["content"]
        return None

    offered = {"fs": {"readTextFile": reads, "writeTextFile": writes}}
    async with raw_client(agent_of(answer), capabilities=offered) as client:
        client.serve["fs/read_text_file"] = lambda _params: {"content": "unsaved"}
        client.serve["fs/write_text_file"] = write
        assert await client.prompt(await client.new_session(str(tmp_path))) == {
            "stopReason": "end_turn"
        }
    wanted = ("unsaved" if reads else "disk") + "!"
    target = tmp_path / "b.txt"
    assert (stored.get(str(target)) if writes else target.read_text(encoding="utf-8")) == wanted
    assert target.exists() is not writes


async def test_a_read_names_the_absolute_path_the_line_and_the_limit() -> None:
    """Schema: ReadTextFileRequest; absent where not wanted."""

    async def answer(turn: Turn) -> None:
        await turn.read_text("sub/../a.txt", line=3, limit=2)
        await turn.read_text("/else/where.txt")

    async with raw_client(agent_of(answer), capabilities=FILES) as client:
        client.serve["fs/read_text_file"] = lambda _params: {"content": "x"}
        session_id = await client.new_session("/project")
        await client.prompt(session_id)
    asked = [f["params"] for f in client.frames if f.get("method") == "fs/read_text_file"]
    assert asked == [
        {"sessionId": session_id, "path": "/project/a.txt", "line": 3, "limit": 2},
        {"sessionId": session_id, "path": "/else/where.txt"},
    ]


@pytest.mark.parametrize(
    ("reply", "raised"),
    [
        ({"code": -32002, "message": "none"}, "NoSuchFile"),
        ({"code": -32603, "message": "broken"}, "RequestFailed"),
        (None, "RemoteProtocolError"),
        ({"content": 5}, "RemoteProtocolError"),
    ],
)
async def test_what_a_client_may_answer_to_a_read(reply: Any, raised: str) -> None:
    """Ours: a missing file is Python's own error; nonsense is the client's, and named."""

    async def answer(turn: Turn) -> None:
        try:
            await turn.read_text("a.txt")
        except Exception as error:
            await turn.say(type(error).__name__)

    async with raw_client(agent_of(answer), capabilities=FILES) as client:
        turn = client.start_prompt(await client.new_session())
        request = await client.next("fs/read_text_file")
        if reply is not None and "code" in reply:
            client.refuse(request, reply["code"], reply["message"])
        else:
            client.reply(request, reply)
        assert (await client.answer(turn))["result"] == {"stopReason": "end_turn"}
    assert client.text() == raised


@pytest.mark.rule("V1-SESS-03", "V1-SESS-05", "V1-SESS-06", "V1-SESS-12", "V1-SESS-13")
async def test_own_files_keep_to_the_roots(tmp_path: Path) -> None:
    """RFD: the root set bounds file tools, links included; relative paths start at the cwd."""
    work, extra, outside = (tmp_path / name for name in ("work", "extra", "outside"))
    for folder in (work, extra, outside):
        folder.mkdir()
        (folder / "a.txt").write_text(folder.name, encoding="utf-8")
    (work / "link.txt").symlink_to(outside / "a.txt")

    async def answer(turn: Turn) -> None:
        for path in ("a.txt", str(extra / "a.txt"), str(outside / "a.txt"), "../outside/a.txt"):
            try:
                await turn.say(await turn.read_text(path) + " ")
            except Exception as error:
                await turn.say(type(error).__name__ + " ")
        for path in ("link.txt", "../outside/b.txt"):
            try:
                await turn.write_text(path, "x")
            except Exception as error:
                await turn.say(type(error).__name__ + " ")

    async with raw_client(agent_of(answer)) as client:
        session_id = await client.new_session(str(work), additionalDirectories=[str(extra)])
        assert await client.prompt(session_id) == {"stopReason": "end_turn"}
    assert client.text().split() == ["work", "extra", *["OutsideRoots"] * 4]
    assert (outside / "a.txt").read_text(encoding="utf-8") == "outside"
    assert not (outside / "b.txt").exists()


async def test_an_edit_shows_its_diff_asks_and_writes(tmp_path: Path) -> None:
    """Issue: False when the user said no, and then nothing was written."""
    (tmp_path / "a.txt").write_text("old\n", encoding="utf-8")

    async def answer(turn: Turn) -> None:
        await turn.say(str(await turn.edit(turn.text, "new\n", reason="Because")))

    async with raw_client(agent_of(answer)) as client:
        session_id = await client.new_session(str(tmp_path))
        client.serve["session/request_permission"] = lambda _params: {
            "outcome": {"outcome": "selected", "optionId": "reject_once"}
        }
        await client.prompt(session_id, "a.txt")
        assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "old\n"
        client.serve["session/request_permission"] = allow
        await client.prompt(session_id, "a.txt")
        await client.prompt(session_id, "b.txt")
        # Issue 14: what a file says already is asked of nobody.
        await client.prompt(session_id, "b.txt")
    assert client.text() == "FalseTrueTrueTrue"
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "new\n"
    assert (tmp_path / "b.txt").read_text(encoding="utf-8") == "new\n"
    asked = [f["params"] for f in client.frames if f.get("method") == "session/request_permission"]
    diff, reason = asked[0]["toolCall"]["content"]
    assert reason["content"]["text"] == "Because"
    assert (diff["path"], diff["oldText"], diff["newText"]) == (
        str(tmp_path / "a.txt"),
        "old\n",
        "new\n",
    )
    assert asked[2]["toolCall"]["content"][0].get("oldText") is None
    assert len(asked) == 3


# ---- terminals of the client


def terminals(client: RawClient, **answers: Any) -> None:
    """A client with one terminal that has exited with 0 and printed `out`."""
    whole = {
        "terminal/create": {"terminalId": "t1"},
        "terminal/wait_for_exit": {"exitCode": 0},
        "terminal/output": {"output": "out", "truncated": False, "exitStatus": {"exitCode": 0}},
        "terminal/kill": None,
        "terminal/release": {},
    }
    for method, result in whole.items():
        given = answers.get(method.rpartition("/")[2], result)
        client.serve[method] = _always(given)
    client.serve["session/request_permission"] = allow


def _always(result: Any) -> Any:
    return lambda _params: result


@pytest.mark.rule("V1-TERM-07", "V1-TOOL-09")
async def test_a_command_in_the_clients_terminal_is_shown_and_released() -> None:
    """Spec: content before the release."""

    async def answer(turn: Turn) -> None:
        done = await turn.run("make", "all", env={"A": "1"}, output_bytes=1000)
        await turn.say(f"{done.exit_code} {done.output}")

    async with raw_client(agent_of(answer), capabilities=TERMINAL) as client:
        terminals(client)
        session_id = await client.new_session("/project")
        assert await client.prompt(session_id) == {"stopReason": "end_turn"}
    create = next(f for f in client.frames if f.get("method") == "terminal/create")
    assert create["params"] == {
        "sessionId": session_id,
        "command": "make",
        "args": ["all"],
        "env": [{"name": "A", "value": "1"}],
        "cwd": "/project",
        "outputByteLimit": 1000,
    }
    assert client.text() == "0 out"
    shown = next(i for i, f in enumerate(client.frames) if "terminalId" in str(f.get("params")))
    assert "'type': 'terminal'" in str(client.frames[shown])
    assert shown < client.methods().index("terminal/release") + 2
    assert client.methods().count("terminal/release") == 1
    assert client.updates("tool_call_update")[-1]["status"] == "completed"


@pytest.mark.rule("V1-TERM-07")
async def test_a_command_that_takes_too_long_is_killed_read_and_released() -> None:
    """Spec: the timeout recipe; also after a kill the terminal is released."""

    async def answer(turn: Turn) -> None:
        done = await turn.run("sleep", "60", timeout=0.05)
        await turn.say(f"{done.timed_out} {done.signal}")

    async with raw_client(agent_of(answer), capabilities=TERMINAL) as client:
        killed = {"output": "", "truncated": False, "exitStatus": {"signal": "SIGKILL"}}
        terminals(client, output=killed)
        del client.serve["terminal/wait_for_exit"]
        assert await client.prompt(await client.new_session()) == {"stopReason": "end_turn"}
    used = [method for method in client.methods() if method.startswith("terminal/")]
    assert used == [
        f"terminal/{one}" for one in ("create", "wait_for_exit", "kill", "output", "release")
    ]
    assert client.text() == "True SIGKILL"
    assert client.updates("tool_call_update")[-1]["status"] == "failed"


@pytest.mark.rule("V1-TERM-07")
@pytest.mark.parametrize("failing", ["wait_for_exit", "output", "release"])
async def test_a_terminal_whose_client_fails_is_released(failing: str) -> None:
    """Spec: every terminal; an error of the client does not change that."""

    async def answer(turn: Turn) -> None:
        try:
            await turn.run("make")
        except RequestFailed as error:
            await turn.say(error.method)

    async with raw_client(agent_of(answer), capabilities=TERMINAL) as client:
        terminals(client)
        method = f"terminal/{failing}"
        del client.serve[method]
        turn = client.start_prompt(await client.new_session())
        client.refuse(await client.next(method), -32603)
        assert (await client.answer(turn))["result"] == {"stopReason": "end_turn"}
    assert client.methods().count("terminal/release") == 1
    assert client.text() == ("" if failing == "release" else method)


async def test_a_client_that_has_too_much_to_do_is_asked_again_for_the_release() -> None:
    """Ours, found by the simulator: what is not released runs on."""

    async def answer(turn: Turn) -> None:
        await turn.run("make")

    async with raw_client(agent_of(answer), capabilities=TERMINAL) as client:
        terminals(client)
        del client.serve["terminal/release"]
        turn = client.start_prompt(await client.new_session())
        client.refuse(await client.next("terminal/release"), -32058, data={"reason": "busy"})
        client.reply(await client.next("terminal/release"), {})
        assert "result" in await client.answer(turn)


async def test_a_client_that_makes_no_terminal_fails_the_command() -> None:
    """Ours: nothing to release, the tool call is failed, the handler may go on."""

    async def answer(turn: Turn) -> None:
        try:
            await turn.run("make")
        except Exception as error:
            await turn.say(type(error).__name__)

    async with raw_client(agent_of(answer), capabilities=TERMINAL) as client:
        terminals(client, create={})
        await client.prompt(await client.new_session())
    assert client.text() == "RemoteProtocolError"
    assert "terminal/release" not in client.methods()
    assert client.updates("tool_call_update")[-1]["status"] == "failed"


# ---- processes of our own


async def test_a_command_of_our_own_shows_its_output_as_text(tmp_path: Path) -> None:
    """v1 has no terminals of the agent: what they print is content of the tool call."""

    async def answer(turn: Turn) -> None:
        code = "import os; print(os.getcwd(), os.environ['A']); raise SystemExit(3)"
        done = await turn.run(sys.executable, "-c", code, env={"A": "b"})
        await turn.say(f"{done.exit_code} {done.output}")

    async with raw_client(agent_of(answer)) as client:
        client.serve["session/request_permission"] = allow
        await client.prompt(await client.new_session(str(tmp_path)))
    printed = f"{tmp_path} b\n"
    assert client.text() == f"3 {printed}"
    told = [one for one in client.updates("tool_call_update") if "content" in one]
    assert told[-1]["content"] == [
        {"type": "content", "content": {"type": "text", "text": printed}}
    ]
    assert client.updates("tool_call_update")[-1]["status"] == "failed"
    assert client.updates("tool_call_update")[-1]["rawOutput"]["exitCode"] == 3


async def test_a_command_that_cannot_start_fails_with_a_sentence() -> None:
    """Ours: an error class of ours, which names the command."""

    async def answer(turn: Turn) -> None:
        await turn.run("/no/such/program", "x")

    async with raw_client(agent_of(answer)) as client:
        client.serve["session/request_permission"] = allow
        error = (await client.answer(client.start_prompt(await client.new_session())))["error"]
    assert "/no/such/program" in error["message"]
    assert client.updates("tool_call_update")[-1]["status"] == "failed"


async def test_a_command_of_our_own_that_takes_too_long_is_killed() -> None:
    """Issue: no orphan process; the fixture looks for one."""

    async def answer(turn: Turn) -> None:
        done = await turn.run(sys.executable, "-c", "import time; time.sleep(60)", timeout=0.2)
        await turn.say(f"{done.timed_out} {done.exit_code}")

    async with raw_client(agent_of(answer)) as client:
        client.serve["session/request_permission"] = allow
        await client.prompt(await client.new_session())
    assert client.text() == "True None"


async def test_a_refused_command_does_not_run(tmp_path: Path) -> None:
    """Issue: `denied` says so."""

    async def answer(turn: Turn) -> None:
        done = await turn.run("touch", "made")
        await turn.say(str(done.denied))

    async with raw_client(agent_of(answer)) as client:
        client.serve["session/request_permission"] = lambda _params: {
            "outcome": {"outcome": "selected", "optionId": "reject_always"}
        }
        session_id = await client.new_session(str(tmp_path))
        await client.prompt(session_id)
        await client.prompt(session_id)
    assert client.text() == "TrueTrue"
    assert client.methods().count("session/request_permission") == 1
    assert not (tmp_path / "made").exists()
