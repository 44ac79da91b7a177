"""The wire of a real agent process: guarded stdout, files in place of pipes, and its ends."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.faults.process import PROGRAMS, SECONDS, agent_process, raw_process
from tests.machine.lifeline import Lifeline


@pytest.mark.rule("TR-STDIO-02", "TR-STDIO-03")
async def test_whatever_a_handler_prints_the_wire_stays_clean() -> None:
    """Issue 3: print, os.write(1) and a child's stdout go to stderr; all of it arrives there."""
    async with agent_process() as agent:
        await agent.initialize()
        session_id = await agent.new_session()
        answer = await agent.answer(await agent.prompt(session_id, "noise"))
        assert answer["result"] == {"stopReason": "end_turn"}
        assert agent.texts() == ["done"]
        assert agent.bad == []
        await agent.hang_up()
        assert await agent.exit_code() == 0
        assert agent.bad == []
        for noise in (b"print 1999\n", b"no line end", b"os.write\n", b"child\nchild\n"):
            assert noise in agent.stderr


@pytest.mark.rule("TR-STDIO-02")
async def test_text_with_line_ends_stays_on_one_line() -> None:
    """Every message is one line."""
    async with agent_process() as agent:
        await agent.initialize()
        session_id = await agent.new_session()
        text = "a\nb\r\nc\u2028d"
        await agent.answer(await agent.prompt(session_id, f"say {text}"))
        assert agent.texts() == [text]
        assert agent.bad == []


async def test_a_handler_cannot_read_the_wire_away() -> None:
    """Ours: stdin leads to nowhere inside the agent."""
    async with agent_process() as agent:
        await agent.initialize()
        session_id = await agent.new_session()
        await agent.answer(await agent.prompt(session_id, "stdin"))
        assert agent.texts() == ["read ''"]


def lines(*messages: tuple[int, str, object]) -> bytes:
    """Requests, one per line, the last without its line end."""
    return b"\n".join(
        json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}).encode()
        for n, method, params in messages
    )


RECORDED = lines(
    (1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}}),
    (2, "session/new", {"cwd": "/", "mcpServers": []}),
    (3, "session/list", {}),
    (4, "_echo", {"n": 4}),
)


@pytest.mark.parametrize("out", ["file", "pipe"])
def test_a_recorded_session_can_be_fed_from_a_file(tmp_path: Path, out: str) -> None:
    """A fault of others: stdin or stdout as a regular file ends in a traceback."""
    recorded, answers = tmp_path / "in", tmp_path / "out"
    recorded.write_bytes(RECORDED)
    with recorded.open("rb") as stdin, answers.open("wb") as stdout:
        done = subprocess.run(
            [sys.executable, str(PROGRAMS / "agent.py")],
            stdin=stdin,
            stdout=stdout if out == "file" else subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    said = answers.read_bytes() if out == "file" else done.stdout
    messages = [json.loads(line) for line in said.splitlines()]
    assert sorted(message["id"] for message in messages) == [1, 2, 3, 4]
    assert all("result" in message for message in messages)


@pytest.mark.parametrize("stdout", [os.devnull, None])
def test_no_input_at_all_is_an_orderly_end(stdout: str | None) -> None:
    """Ours: /dev/null is not a pipe, and selectors refuse it."""
    with open(os.devnull, "rb") as nothing, open(stdout or os.devnull, "wb") as sink:
        done = subprocess.run(
            [sys.executable, str(PROGRAMS / "agent.py")],
            stdin=nothing,
            stdout=sink if stdout else subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("closing", "code", "said"),
    [
        ("0<&-", 1, "faults: stdin is closed"),
        ("</dev/null 1>&-", 1, "faults: stdout is closed"),
        ("0<&- 1>&-", 1, "faults: stdin is closed"),
        ("</dev/null 2>&-", 0, ""),
    ],
)
def test_closed_descriptors_are_named_in_one_sentence(closing: str, code: int, said: str) -> None:
    """A fault of others: a traceback; an agent that nobody can speak to says so and ends."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" "$1" {closing}', sys.executable, str(PROGRAMS / "agent.py")],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == code
    lines = done.stderr.splitlines()
    assert len(lines) == bool(said)
    assert said in done.stderr


@pytest.mark.parametrize("strict", ["1", "true"])
def test_a_strict_agent_ends_at_noise_and_says_why(strict: str) -> None:
    """Issue 2: broken rules fail at once, for development."""
    done = subprocess.run(
        [sys.executable, "-c", "from accord import Agent; Agent('a', version='1').run()"],
        input="what is this\n",
        env={**os.environ, "ACCORD_STRICT": strict},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    (said,) = done.stderr.splitlines()
    assert "strict: not JSON" in said
    assert "'what is this'" in said


def test_the_flags_of_a_shared_pipe_are_left_alone() -> None:
    """Ours: a non-blocking stdout would break the prints of everybody who shares it."""
    read_end, write_end = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, str(PROGRAMS / "agent.py")],
            input=RECORDED,
            stdout=write_end,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0
        assert os.get_blocking(write_end)
        assert len(os.read(read_end, 65536).splitlines()) == 4
    finally:
        os.close(read_end)
        os.close(write_end)


# ---- its ends


@pytest.mark.parametrize("version", [1, 2])
async def test_the_end_of_stdin_in_a_prompt_ends_the_process_and_its_children(
    tmp_path: Path, version: int
) -> None:
    """Issue 3: quickly, with code 0, and no orphan."""
    line = Lifeline(tmp_path / "line")
    try:
        async with agent_process() as agent:
            await agent.initialize(version)
            session_id = await agent.new_session()
            await agent.prompt(session_id, f"child {line.path}")
            with anyio.fail_after(SECONDS):
                assert await line.word() == "up"
            await agent.hang_up()
            assert await agent.exit_code() == 0
            with anyio.fail_after(SECONDS):
                await line.all_dead()
    finally:
        line.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
async def test_a_signal_ends_the_process_and_its_children(tmp_path: Path, number: int) -> None:
    """Issue 3: whatever ends the agent ends what it started."""
    line = Lifeline(tmp_path / "line")
    try:
        async with agent_process() as agent:
            await agent.initialize()
            session_id = await agent.new_session()
            await agent.prompt(session_id, f"child {line.path}")
            with anyio.fail_after(SECONDS):
                assert await line.word() == "up"
            await agent.until(lambda: "tracked" in agent.texts())
            os.kill(agent.pid, number)
            assert await agent.exit_code() in (-number, 128 + number)
            with anyio.fail_after(SECONDS):
                await line.all_dead()
    finally:
        line.close()


async def test_a_turn_that_ctrl_c_ends_is_cancelled() -> None:
    """Issue: a running turn ends `cancelled`, never as an error."""
    async with agent_process() as agent:
        await agent.initialize()
        prompt = await agent.prompt(await agent.new_session(), "wait")
        await agent.until(lambda: "waiting" in agent.texts())
        os.kill(agent.pid, signal.SIGINT)
        assert (await agent.answer(prompt))["result"] == {"stopReason": "cancelled"}
        assert await agent.exit_code() == 130


@pytest.mark.parametrize("version", [1, 2])
async def test_sys_exit_in_a_handler_ends_the_process_with_that_code(version: int) -> None:
    """Issue: the program's word counts."""
    async with agent_process() as agent:
        await agent.initialize(version)
        session_id = await agent.new_session()
        await agent.prompt(session_id, "exit 3")
        assert await agent.exit_code() == 3
        assert agent.bad == []


async def test_a_handler_that_ignores_its_cancellation_cannot_keep_the_process_alive() -> None:
    """Issue 3: the client is gone, so the agent goes."""
    async with agent_process(limits={"close_seconds": 0.2}) as agent:
        await agent.initialize()
        session_id = await agent.new_session()
        await agent.prompt(session_id, "stubborn")
        await agent.until(lambda: agent.texts() == ["waiting"])
        await agent.hang_up()
        assert await agent.exit_code() == 0


async def test_a_client_that_closes_only_its_ears_loses_the_agent() -> None:
    """Ours: nobody can be told anything any more, so nothing is worth doing."""
    read_end, write_end = os.pipe()
    process = await anyio.open_process(
        [sys.executable, str(PROGRAMS / "agent.py")],
        stdin=subprocess.PIPE,
        stdout=write_end,
        stderr=subprocess.PIPE,
    )
    os.close(write_end)
    os.close(read_end)
    try:
        assert process.stdin is not None
        await process.stdin.send(RECORDED + b"\n")
        with anyio.fail_after(SECONDS):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
        await process.aclose()


async def test_the_harness_shows_a_program_that_breaks_the_wire() -> None:
    """Ours: the tests above would see it."""
    script = "print('noise'); print('{\"id\": 1}')"
    async with raw_process([sys.executable, "-c", script]) as program:
        assert await program.exit_code() == 0
        assert program.bad == [b"noise"]
        assert program.messages == [{"id": 1}]
