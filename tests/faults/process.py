"""An agent's process as seen through its pipes, in plain bytes and JSON."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from tests.hang_limit import HANG_SECONDS

Message = dict[str, Any]

PROGRAMS = Path(__file__).parent / "programs"
# For everything: a machine that is busy may take its time, a hang may not.
SECONDS = HANG_SECONDS


class AgentProcess:
    """The client's end.  `messages` has all that came, `bad` the lines that are not messages."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self._process = process
        self._ids = 0
        self._news = anyio.Event()
        self._may_read = anyio.Event()
        self._may_read.set()
        self._stderr_read = anyio.Event()
        self.ended = False
        self.messages: list[Message] = []
        self.bad: list[bytes] = []
        self.stderr = b""
        self.stdout = bytearray()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    # ---- what comes

    async def read_stdout(self) -> None:
        """Collect the lines until the end."""
        assert self._process.stdout is not None
        rest = b""
        try:
            while True:
                await self._may_read.wait()
                chunk = await self._process.stdout.receive(65536)
                self.stdout += chunk
                rest += chunk
                *lines, rest = rest.split(b"\n")
                for line in lines:
                    self._take(line)
                self._tell()
        except anyio.EndOfStream:
            if rest:
                self.bad.append(rest)
        # What it said last on stderr is worth having when somebody asks why.
        with anyio.move_on_after(1):
            await self._stderr_read.wait()
        self.ended = True
        self._tell()

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            self.bad.append(line)
        else:
            (self.messages if isinstance(message, dict) else self.bad).append(message)

    async def read_stderr(self) -> None:
        """Keep what it complains about."""
        assert self._process.stderr is not None
        async for chunk in self._process.stderr:
            self.stderr += chunk
            self._tell()
        self._stderr_read.set()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def until(self, true: Callable[[], object]) -> None:
        """Wait until something is so; fails when it does not become so in time."""
        with anyio.fail_after(SECONDS):
            while not true():
                assert not self.ended, f"it is gone: {self.stderr.decode()}"
                await self._news.wait()

    def stop_reading(self) -> None:
        """Take nothing more of its stdout; a little may be on its way."""
        self._may_read = anyio.Event()

    def read_on(self) -> None:
        """Take its stdout again."""
        self._may_read.set()

    # ---- what goes

    async def write(self, data: bytes) -> None:
        """Send bytes."""
        assert self._process.stdin is not None
        with anyio.fail_after(SECONDS):
            await self._process.stdin.send(data)

    async def send(self, message: object) -> None:
        """Send one line."""
        await self.write(json.dumps(message).encode() + b"\n")

    async def start(self, method: str, params: Any = None, *, id_: Any = None) -> Any:
        """Send a request; its id."""
        self._ids += 1
        request_id = self._ids if id_ is None else id_
        await self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return request_id

    async def answer(self, request_id: Any) -> Message:
        """The answer to a request, by id and by the type of the id."""

        def found() -> Message | None:
            return next(
                (
                    one
                    for one in self.messages
                    if "method" not in one
                    and one.get("id") == request_id
                    and type(one.get("id")) is type(request_id)
                ),
                None,
            )

        await self.until(found)
        answer = found()
        assert answer is not None
        return answer

    async def request(self, method: str, params: Any = None) -> Message:
        """Send a request and wait for the whole answer."""
        return await self.answer(await self.start(method, params))

    async def result(self, method: str, params: Any = None) -> Any:
        """Send a request and wait for its result."""
        answer = await self.request(method, params)
        assert "result" in answer, (answer, self.stderr)
        return answer["result"]

    async def initialize(self, version: int = 1) -> None:
        """The handshake."""
        info = {"name": "faults", "version": "1"}
        if version == 1:
            params: Message = {"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": info}
        else:
            params = {"protocolVersion": 2, "capabilities": {}, "info": info}
        await self.result("initialize", params)

    async def new_session(self) -> str:
        """A session."""
        result = await self.result("session/new", {"cwd": "/", "mcpServers": []})
        session_id: str = result["sessionId"]
        return session_id

    async def prompt(self, session_id: str, text: str) -> Any:
        """Send a prompt; its id."""
        blocks = [{"type": "text", "text": text}]
        return await self.start("session/prompt", {"sessionId": session_id, "prompt": blocks})

    def texts(self) -> list[str]:
        """All pieces of text that it said, in order."""
        return [
            one["params"]["update"]["content"]["text"]
            for one in self.messages
            if one.get("method") == "session/update"
            and one["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
        ]

    def errors(self, request_id: Any) -> list[int]:
        """The codes of all errors with an id."""
        return [
            one["error"]["code"]
            for one in self.messages
            if "error" in one and one.get("id") == request_id
        ]

    def memory(self) -> int:
        """Its resident memory now, in bytes."""
        pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    async def within(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Work that is expected to be stopped; TimeoutError when it was."""
        with anyio.fail_after(seconds):
            await work()

    # ---- its end

    async def hang_up(self) -> None:
        """Close its stdin."""
        assert self._process.stdin is not None
        await self._process.stdin.aclose()

    async def exit_code(self) -> int:
        """Wait until it is gone and all it said is read."""
        with anyio.fail_after(SECONDS):
            code = await self._process.wait()
            while not self.ended:
                await self._news.wait()
        return code


@asynccontextmanager
async def agent_process(
    program: str = "agent.py", *args: str, limits: Message | None = None, **env: str
) -> AsyncIterator[AgentProcess]:
    """Start a program of ours; it is gone afterwards, whatever happened."""
    variables = {**os.environ, "AGENT_LIMITS": json.dumps(limits or {}), **env}
    async with raw_process([sys.executable, str(PROGRAMS / program), *args], variables) as agent:
        yield agent


@asynccontextmanager
async def raw_process(
    command: Sequence[str], env: dict[str, str] | None = None
) -> AsyncIterator[AgentProcess]:
    """Start any program the same way."""
    process = await anyio.open_process(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        start_new_session=True,
    )
    try:
        agent = AgentProcess(process)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.read_stdout)
            tasks.start_soon(agent.read_stderr)
            try:
                yield agent
            finally:
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            await process.aclose()
