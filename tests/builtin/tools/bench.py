"""A bench to try tools on: an agent whose prompts run what a test hands over.

The client is in plain JSON and holds every message against the official schemas; in the variant
`client` it has the files and the terminals itself.
"""

import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.agent.session.agent_session import AgentSession
from accord.builtin.modes import AUTO_APPROVE, MODES
from accord.builtin.tools.tool_call import ToolResult
from accord.builtin.tools.toolbox import RunTask, Toolbox
from accord.builtin.workspace import Workspace, WorkspaceSettings, open_workspace
from accord.store import MemoryStore
from tests.agent.raw_client import Message, RawClient, raw_client
from tests.hang_limit import HANG_SECONDS

T = TypeVar("T")
Work = Callable[[Toolbox], Awaitable[ToolResult]]
OFFERS = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
VARIANTS = ("v1", "client", "v2")
everywhere = pytest.mark.parametrize("variant", VARIANTS)


class Bench:
    """One session to use tools in."""

    def __init__(self, client: RawClient, folder: Path, variant: str) -> None:
        self.client = client
        self.folder = folder
        self.variant = variant
        self.session_id = ""
        self.workspaces: dict[str, Workspace] = {}
        self.settings = WorkspaceSettings()
        self.work: Callable[[Toolbox], Awaitable[Any]] | None = None
        self.results: list[Any] = []
        self.run_task: RunTask | None = None
        self.asked: list[Message] = []
        # What the user answers; None leaves the question open.
        self.answer: str | None = "allow_once"

    async def handle(self, turn: Turn) -> None:
        workspace = await self.workspace(turn.session)
        assert self.work is not None
        self.results.append(await self.work(Toolbox(turn, workspace, self.run_task)))

    async def workspace(self, session: AgentSession) -> Workspace:
        if session.id not in self.workspaces:
            self.workspaces[session.id] = await open_workspace(session, self.settings)
        return self.workspaces[session.id]

    async def use(self, work: Callable[[Toolbox], Awaitable[T]], words: str = "go") -> T:
        """Run this in a turn of its own; what it returned."""
        self.work = work
        await self.prompt(words)
        result: T = self.results.pop()
        return result

    async def prompt(self, words: str = "go") -> str:
        """A whole turn; its stop reason."""
        self.start(words)
        with anyio.fail_after(HANG_SECONDS):
            return await self.ended()

    def start(self, words: str = "go") -> None:
        """Begin a turn."""
        self._prompt_id = self.client.start_prompt(self.session_id, words)

    async def ended(self) -> str:
        """Wait for the end of the turn; its stop reason."""
        answer = await self.client.answer(self._prompt_id)
        assert "result" in answer, answer
        if self.variant != "v2":
            return str(answer["result"]["stopReason"])
        while True:
            state = await self.client.update("state_update")
            if state["state"] == "idle":
                return str(state["stopReason"])

    async def set_mode(self, mode: str) -> None:
        """As the user does in a picker."""
        params = {"sessionId": self.session_id, "configId": "mode", "value": mode}
        if self.variant == "v2":
            params["type"] = "id"
        await self.client.result("session/set_config_option", params)

    def calls(self) -> list[Message]:
        """All tool calls as they stand, in order."""
        calls: dict[str, Message] = {}
        for update in self.client.updates():
            if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
                calls.setdefault(update["toolCallId"], {}).update(update)
            elif update["sessionUpdate"] == "tool_call_content_chunk":
                call = calls[update["toolCallId"]]
                call["content"] = [*call.get("content", ()), update["content"]]
        return list(calls.values())

    def last(self) -> Message:
        """The newest tool call."""
        return self.calls()[-1]

    def reasons(self) -> str:
        """All that was asked, as text."""
        return "\n".join(str(one) for one in self.asked)

    # ---- what the client does

    def serve(self) -> None:
        self.client.serve["session/request_permission"] = self._permission
        # Who the client says refuses, where it says that.
        self.decided_by: str | None = "user"
        if self.variant == "client":
            self.client.serve |= {
                "fs/read_text_file": self._read,
                "fs/write_text_file": self._write,
                "terminal/create": self._create,
                "terminal/wait_for_exit": lambda _: self._exit(),
                "terminal/output": lambda _: {
                    "output": self._done.stdout,
                    "truncated": False,
                    "exitStatus": self._exit(),
                },
                "terminal/release": lambda _: {},
                "terminal/kill": lambda _: {},
            }

    def _permission(self, params: Message) -> Any:
        from tests.agent.raw_client import OPEN

        self.asked.append(params)
        if self.answer is None:
            return OPEN
        chosen = {"outcome": "selected", "optionId": self.answer}
        return {"outcome": chosen, "_meta": {"accord.decidedBy": self.decided_by}}

    def _read(self, params: Message) -> Any:
        from tests.agent.raw_client import OPEN

        try:
            data = Path(params["path"]).read_bytes()
        except OSError:
            self.client.refuse(self.client.frames[-1], -32002, "Not found", {"uri": "file:///x"})
            return OPEN
        return {"content": data.decode("utf-8", "replace")}

    def _write(self, params: Message) -> Any:
        path = Path(params["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(params["content"].encode())
        return {}

    def _create(self, params: Message) -> Any:
        args = params.get("args", [])
        command: Any = [params["command"], *args] if args else params["command"]
        self._done = subprocess.run(
            command,
            shell=not args,
            cwd=params["cwd"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return {"terminalId": "client_1"}

    def _exit(self) -> Message:
        return {"exitCode": self._done.returncode, "signal": None}


def made(handler: Callable[[Turn], Awaitable[None]], store: MemoryStore | None = None) -> Agent:
    """An agent with the built-in modes."""
    agent = Agent("bench", version="1", store=store)
    for mode in MODES:
        agent.offer.add_mode(mode)
    agent.offer.add_option(AUTO_APPROVE)
    agent.on_prompt(handler)
    return agent


@asynccontextmanager
async def bench(
    folder: Path, variant: str = "v1", store: MemoryStore | None = None
) -> AsyncIterator[Bench]:
    """A session in a folder."""
    made_bench: list[Bench] = []

    async def handle(turn: Turn) -> None:
        await made_bench[0].handle(turn)

    capabilities = OFFERS if variant == "client" else {}
    version = 2 if variant == "v2" else 1
    async with raw_client(
        made(handle, store), version=version, capabilities=capabilities
    ) as client:
        made_bench.append(Bench(client, folder, variant))
        made_bench[0].serve()
        made_bench[0].session_id = await client.new_session(str(folder))
        yield made_bench[0]


def text(result: ToolResult, *, ok: bool) -> str:
    """The text of a result that is expected to be so."""
    assert result.ok is ok, result
    return result.text
