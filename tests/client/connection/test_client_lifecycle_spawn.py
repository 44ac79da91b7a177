"""Agents as processes: how they start, how they die, and that nothing of them is left."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import pytest

from accord.client import Client
from accord.connection.limits import Limits
from accord.errors import ConnectionLost, RequestFailed, SpawnFailed
from tests.client.scripted_agent import BARE
from tests.hang_limit import HANG_SECONDS

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])

AGENT = """
import json, os, signal, sys, time
def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()
def die(how):
    print("last words", file=sys.stderr, flush=True)
    if how == "exit":
        os._exit(7)
    os.kill(os.getpid(), signal.SIGKILL if how == "kill" else signal.SIGTERM)
    time.sleep(60)
how, when = sys.argv[1:3]
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == when:
        die(how)
    if method == "initialize":
        send({"id": number, "result": {"protocolVersion": 1}})
    elif method == "session/new":
        send({"id": number, "result": {"sessionId": "s"}})
    elif method == "session/prompt":
        if how == "noise":
            for n in range(2000):
                print(f"noise {n}")
            print("\\n\\xff half of it", end="")
            sys.stdout.flush()
            sys.stdout.buffer.write(b"\\xff\\xfe\\n")
            sys.stderr.write("e" * 200_000)
        if how == "permission":
            call = {"toolCallId": "t"}
            option = {"optionId": "y", "name": "y", "kind": "allow_once"}
            params = {"sessionId": "s", "toolCall": call, "options": [option]}
            send({"id": 1, "method": "session/request_permission", "params": params})
            die("exit")
        send({"id": number, "result": {"stopReason": "end_turn"}})
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    """The agent's program."""
    path = tmp_path / "agent.py"
    path.write_text(AGENT, "utf-8")
    return str(path)


ENDINGS = {"exit": "exit code 7", "term": "SIGTERM", "kill": "SIGKILL"}


@pytest.mark.parametrize("how", list(ENDINGS))
@pytest.mark.parametrize("when", ["initialize", "session/new", "session/prompt"])
async def test_an_agent_that_dies_is_told_with_its_exit_and_last_words(
    program: str, how: str, when: str
) -> None:
    """Issue 2: by exit, signal and kill -9; the error says what happened."""

    async def talk() -> None:
        async with Client.spawn(sys.executable, program, how, when, **BARE) as client:
            session = await client.new_session()
            await session.ask("x")

    with anyio.fail_after(HANG_SECONDS):
        with pytest.raises(ConnectionLost) as caught:
            await talk()
    assert ENDINGS[how] in (caught.value.exit_status or "")
    assert "last words" in caught.value.stderr_tail
    assert "last words" in str(caught.value)


async def test_an_agent_that_dies_in_a_permission_request_is_told(program: str) -> None:
    """Issue 2."""

    async def talk() -> None:
        async with Client.spawn(sys.executable, program, "permission", "-", **BARE) as client:
            session = await client.new_session()
            await session.ask("x")

    with anyio.fail_after(HANG_SECONDS):
        with pytest.raises(ConnectionLost, match="exit code 7"):
            await talk()


@pytest.mark.rule("TR-STDIO-08", "TR-STDIO-06")
async def test_noise_on_stdout_and_stderr_ends_nothing(program: str) -> None:
    """Issue 2: 2,000 lines in one prompt, invalid UTF-8, 200 KB of stderr."""
    with anyio.fail_after(HANG_SECONDS):
        async with Client.spawn(sys.executable, program, "noise", "-", **BARE) as client:
            session = await client.new_session()
            assert (await session.ask("x")).stop_reason == "end_turn"


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Issue 2: an error of ours that names the mistake."""
    with pytest.raises(SpawnFailed, match="missing"):
        async with Client.spawn(str(tmp_path / "missing"), **BARE):
            pytest.fail("it did not start")
    with pytest.raises(SpawnFailed):
        async with Client.spawn(sys.executable, cwd=tmp_path / "nowhere", **BARE):
            pytest.fail("it did not start")


@pytest.mark.usefixtures("impatient")
async def test_a_silent_agent_is_ended_and_its_stderr_is_told() -> None:
    """Design: 30 s by default; the error has the tail."""
    program = "import sys, time; print('thinking', file=sys.stderr, flush=True); time.sleep(60)"

    async def talk() -> None:
        limits = Limits(initialize_seconds=1.0)
        async with Client.spawn(sys.executable, "-c", program, limits=limits, **BARE):
            pytest.fail("it never answered")

    with anyio.fail_after(HANG_SECONDS):
        with pytest.raises(ConnectionLost, match="initialize within 1 s") as caught:
            await talk()
    assert "thinking" in caught.value.stderr_tail


async def test_a_refused_handshake_shows_what_the_agent_said_on_stderr() -> None:
    """Ours: the commonest complaint is a failure without a word."""
    program = (
        "import json, sys\n"
        "line = json.loads(sys.stdin.readline())\n"
        "print('no licence', file=sys.stderr, flush=True)\n"
        "error = {'code': -32603, 'message': 'Internal error'}\n"
        "print(json.dumps({'jsonrpc': '2.0', 'id': line['id'], 'error': error}), flush=True)\n"
        "sys.stdin.read()\n"
    )
    with anyio.fail_after(HANG_SECONDS):
        with pytest.raises(RequestFailed) as caught:
            async with Client.spawn(sys.executable, "-c", program, **BARE):
                pytest.fail("it refused")
    assert caught.value.code == -32603


@pytest.mark.usefixtures("impatient")
async def test_leaving_ends_an_agent_that_ignores_it(tmp_path: Path) -> None:
    """Issue 2: no orphan process; stdin closed, SIGTERM, SIGKILL."""
    program = tmp_path / "stubborn.py"
    program.write_text(
        "import json, os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "line = json.loads(sys.stdin.readline())\n"
        "answer = {'protocolVersion': 1, 'agentInfo': {'name': str(os.getpid()), 'version': ''}}\n"
        "print(json.dumps({'jsonrpc': '2.0', 'id': line['id'], 'result': answer}), flush=True)\n"
        "time.sleep(60)\n",
        "utf-8",
    )
    with anyio.fail_after(HANG_SECONDS):
        async with Client.spawn(sys.executable, str(program), **BARE) as client:
            assert client.agent_info is not None
            pid = int(client.agent_info.name)
            os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_an_agent_gets_our_variables_and_more(tmp_path: Path) -> None:
    """Ours: `env` adds, it does not replace."""
    program = (
        "import json, os, sys\n"
        "line = json.loads(sys.stdin.readline())\n"
        "name = os.environ['EXTRA'] + str('PATH' in os.environ) + os.path.basename(os.getcwd())\n"
        "answer = {'protocolVersion': 1, 'agentInfo': {'name': name, 'version': ''}}\n"
        "print(json.dumps({'jsonrpc': '2.0', 'id': line['id'], 'result': answer}), flush=True)\n"
        "sys.stdin.read()\n"
    )
    with anyio.fail_after(HANG_SECONDS):
        async with Client.spawn(
            sys.executable, "-c", program, cwd=tmp_path, env={"EXTRA": "x"}, **BARE
        ) as client:
            assert client.agent_info is not None
            assert client.agent_info.name == f"xTrue{tmp_path.name}"


@pytest.mark.rule("TR-STDIO-09")
async def test_content_length_is_spoken_where_it_is_chosen() -> None:
    """Issue 2: `Client.spawn(framing=...)`."""
    program = (
        "import json, sys\n"
        "head = sys.stdin.buffer.readline()\n"
        "assert head.lower().startswith(b'content-length:'), head\n"
        "assert sys.stdin.buffer.readline() == b'\\r\\n'\n"
        "line = json.loads(sys.stdin.buffer.read(int(head.split(b':')[1])))\n"
        "answer = {'protocolVersion': 1, 'agentInfo': {'name': 'é', 'version': ''}}\n"
        "body = json.dumps({'jsonrpc': '2.0', 'id': line['id'], 'result': answer}).encode()\n"
        "sys.stdout.buffer.write(b'Content-Length: %d\\r\\n\\r\\n' % len(body) + body)\n"
        "sys.stdout.buffer.flush()\n"
        "sys.stdin.read()\n"
    )
    with anyio.fail_after(HANG_SECONDS):
        async with Client.spawn(
            sys.executable, "-c", program, framing="content-length", **BARE
        ) as client:
            assert client.agent_info is not None
            assert client.agent_info.name == "é"


async def test_the_end_of_an_agent_is_known_at_once_and_says_how_it_was(program: str) -> None:
    """Issue 6: when the agent dies the person is told, also while nothing is asked of it."""
    with anyio.fail_after(HANG_SECONDS):
        async with Client.spawn(sys.executable, program, "exit", "_die", **BARE) as client:
            await client.notify_extension("_die")
            lost = await client.wait_closed()
    assert lost.exit_status is not None
    assert "7" in lost.exit_status
    assert "last words" in lost.stderr_tail


ASKING = """
import asyncio, sys
import sniffio
from accord import Client, Permissions

async def main():
    asked = []
    async def decide(request):
        asked.append(request)
        return True
    async with Client.spawn(*sys.argv[1:], permissions=Permissions.ask(decide)) as client:
        session = await client.new_session()
        reply = await session.ask("x")
        print(len(asked), reply.stop_reason)

asyncio.run(main())
"""
ASKED = """
from accord import Agent, Turn
agent = Agent("a", version="1")

@agent.on_prompt
async def ask(turn: Turn) -> None:
    await turn.edit("new.txt", "x")

agent.run()
"""


async def test_a_client_works_in_a_loop_that_anyio_did_not_begin(tmp_path: Path) -> None:
    """Ours: where sniffio is installed, callbacks of such a loop do not know their backend."""
    (tmp_path / "agent.py").write_text(ASKED)
    command = [sys.executable, "-c", ASKING, sys.executable, str(tmp_path / "agent.py")]
    with anyio.fail_after(HANG_SECONDS):
        done = await anyio.run_process(command, cwd=tmp_path, check=False)
    assert done.stdout.decode().split() == ["1", "end_turn"], done.stderr.decode()
