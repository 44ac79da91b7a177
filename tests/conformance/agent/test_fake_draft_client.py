"""The client that the kit plays in the 2026-02 draft, over a program that asks what it is told."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.conformance.agent.fake_client import choosing
from accord.conformance.agent.fake_draft_client import DraftHost
from accord.conformance.frames.raw_peer import Frame, RawPeer
from accord.conformance.run.program import started
from tests.hang_limit import HANG_SECONDS

# Sends each request that it is told to send and says what it was answered; takes what is pushed.
ASKING = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "ask":
        print(json.dumps({"jsonrpc": "2.0", **m["params"]}))
    elif m.get("method") == "terminal/output":
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": {"received": True}}))
    else:
        print(json.dumps({"jsonrpc": "2.0", "method": "answered", "params": m}))
    sys.stdout.flush()
"""


class Asking:
    """The agent's side of a conversation with the host."""

    def __init__(self, peer: RawPeer, host: DraftHost) -> None:
        self.peer = peer
        self.host = host
        self._asked = 0

    async def __call__(self, method: str, **params: Any) -> Any:
        """The result of a request of the agent's, or the code of its error."""
        self._asked += 1
        name = f"a{self._asked}"
        await self.peer.notify("ask", {"id": name, "method": method, "params": params})

        def fits(frame: Frame) -> bool:
            return frame.method == "answered" and frame.params.get("id") == name

        answer = (await self.peer.expect(fits, f"the answer to {method}")).params
        return answer["error"]["code"] if "error" in answer else answer["result"]

    def pushed(self, stream: str) -> str:
        return "".join(one["data"] for one in self.pushes() if one["stream"] == stream)

    def pushes(self) -> list[dict[str, Any]]:
        frames = self.peer.frames
        return [one.params for one in frames if one.sent and one.method == "terminal/output"]


@asynccontextmanager
async def asking(folder: Path) -> AsyncGenerator[Asking]:
    command = [sys.executable, "-I", "-S", "-c", ASKING]
    with anyio.fail_after(HANG_SECONDS):
        async with (
            started(command, folder=str(folder), env={}, patience=10) as program,
            anyio.create_task_group() as tasks,
        ):
            host = DraftHost(folder, tasks)
            host.serve(program.peer)
            yield Asking(program.peer, host)
            await host.end()
            tasks.cancel_scope.cancel()


@pytest.mark.rule("D26-33")
async def test_files_are_read_by_lines_and_refused_with_the_codes_of_the_draft(
    tmp_path: Path,
) -> None:
    """Issue: the draft's error codes; the kit breaks none of the rules it judges by."""
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "secret.txt").write_text("no")
    (work / "notes.txt").write_text("one\ntwo\nthree\nfour\n")
    async with asking(work) as ask:
        part = await ask("fs/read_text_file", path="notes.txt", startLine=2, endLine=3)
        assert part == {"content": "two\nthree\n", "encoding": "utf-8", "totalLines": 4}
        rest = await ask("fs/read_text_file", path=str(work / "notes.txt"), startLine=4)
        assert rest["content"] == "four\n"
        assert await ask("fs/read_text_file", path=str(work / "none.txt")) == -32004
        assert await ask("fs/read_text_file", path=str(tmp_path / "secret.txt")) == -32005
        assert await ask("fs/read_text_file", path="notes.txt", startLine=0) == -32602
        assert await ask("fs/read_text_file", path="notes.txt", encoding="rot13") == -32602
        assert ask.host.read == [str(work / "notes.txt")] * 2


async def test_files_are_written_as_asked(tmp_path: Path) -> None:
    """Dialect: bytes and not letters are counted, and what exists can be protected."""
    async with asking(tmp_path) as ask:
        written = await ask("fs/write_text_file", path="new/a.txt", content="zwölf")
        assert written == {"bytesWritten": 6, "created": True}
        again = {"path": "new/a.txt", "content": "zwölf", "encoding": "latin-1"}
        assert await ask("fs/write_text_file", **again, overwrite=False) == -32005
        assert await ask("fs/write_text_file", **again) == {"bytesWritten": 5, "created": False}
        assert (tmp_path / "new" / "a.txt").read_bytes() == "zwölf".encode("latin-1")
        lost = {"path": "gone/a.txt", "content": ""}
        assert await ask("fs/write_text_file", **lost, createDirectories=False) == -32004
        assert await ask("fs/write_text_file", path="../b.txt", content="") == -32005
        assert await ask("fs/write_text_file", path="b.txt", content=5) == -32602


async def test_output_is_pushed_behind_the_start_and_before_the_end(tmp_path: Path) -> None:
    """Dialect: the client pushes `terminal/output`, in the two streams."""
    async with asking(tmp_path) as ask:
        made = await ask("terminal/create", command="sh", args=["-c", "echo out; echo err >&2"])
        assert isinstance(made["pid"], int)
        name = made["terminalId"]
        assert await ask("terminal/wait_for_exit", terminalId=name) == {"exitCode": 0}
        assert (ask.pushed("stdout"), ask.pushed("stderr")) == ("out\n", "err\n")
        places = [number for number, one in enumerate(ask.peer.frames) if _is_push(one)]
        answers = [number for number, one in enumerate(ask.peer.frames) if _is_answer(one)]
        assert answers[0] < places[0]
        assert places[-1] < answers[1]
        assert await ask("terminal/output", terminalId=name) == -32601
        assert await ask("terminal/release", terminalId=name) == {"released": True}
        assert await ask("terminal/kill", terminalId=name) == -32004


def _is_push(frame: Frame) -> bool:
    return frame.sent and frame.method == "terminal/output"


def _is_answer(frame: Frame) -> bool:
    return frame.sent and frame.is_response


@pytest.mark.rule("D26-11")
async def test_a_wait_ends_with_a_number_whatever_ended_the_command(tmp_path: Path) -> None:
    """Dialect: `exitCode` is required; a signal is told as shells tell it."""
    async with asking(tmp_path) as ask:
        made = await ask("terminal/create", command="sleep", args=["60"], cwd=".")
        name = {"terminalId": made["terminalId"]}
        late = await ask("terminal/wait_for_exit", **name, timeout=10)
        assert late == {"exitCode": -1, "timedOut": True}
        assert await ask("terminal/kill", **name, signal="SIGNOPE") == -32602
        assert await ask("terminal/kill", **name) == {"killed": True}
        ended = {"exitCode": 143, "signal": "SIGTERM"}
        assert await ask("terminal/wait_for_exit", **name) == ended
        assert await ask("terminal/kill", **name, force=True) == {"killed": False}
        short = await ask("terminal/create", command="sleep 60", timeout=10)
        killed = await ask("terminal/wait_for_exit", terminalId=short["terminalId"])
        assert killed == {"exitCode": 137, "signal": "SIGKILL"}
        assert await ask("terminal/create", command=str(tmp_path / "none")) == -32603


async def test_permission_is_granted_in_the_words_of_the_draft(tmp_path: Path) -> None:
    """Dialect: there are no options, and nothing is filled in."""
    async with asking(tmp_path) as ask:
        wanted = {"sessionId": "s", "operation": "file_write", "resource": "notes.txt"}
        allowed = await ask("session/request_permission", **wanted)
        assert allowed == {"granted": True, "scope": "once"}
        ask.host.permission = choosing("reject")
        assert await ask("session/request_permission", **wanted) == {"granted": False}
        assert await ask("elicitation/create", sessionId="s", mode="form") == -32601
