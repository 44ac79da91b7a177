"""The agent of a world with a gateway: its processes, and what all of them wrote down.

A prompt is `KEY PIECES ASKS`.  Every piece of text is a token `<KEY.NUMBER>`.  Like real agents it
forgets a session that had no prompt, and repeats the history when a session is loaded; right behind
the answer to that it says something new.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import anyio
from anyio.abc import TaskGroup

from accord.transport.transport import Ended, Receiver, Transport
from tests.simulation.event_log import Chronicle
from tests.simulation.runtime.loop import SeededLoop
from tests.simulation.runtime.transport import LossyTransport, lossy_pair

Json = dict[str, Any]
PERMISSION = "session/request_permission"
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


@dataclass
class Journal:
    """What the processes of an agent did, over all their lives."""

    # Prompts that reached it, and the tokens of each session in the order in which it said them.
    prompts: list[str] = field(default_factory=list)
    said: dict[str, list[str]] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)
    made: int = 0


class AgentProcesses:
    """Starts processes, and knows which of them live."""

    def __init__(
        self, version: int, loop: SeededLoop, random: Random, chronicle: Chronicle
    ) -> None:
        self.version = version
        self.journal = Journal()
        self.chronicle = chronicle
        self.living: list[ScriptedAgent] = []
        self._loop = loop
        self.random = random

    def connect(self, folders: Sequence[str]) -> Transport:
        """Start a process when its transport is started."""
        del folders
        near, far = lossy_pair(self._loop, self.random)
        return _Starting(near, ScriptedAgent(self, far))

    def kill_all(self) -> None:
        """End every process, as the end of the gateway does."""
        for one in list(self.living):
            one.die()

    def kill_newest(self) -> None:
        if self.living:
            self.living[-1].die()

    def check_one_each(self) -> None:
        """No session is open in two processes."""
        opened = [session for one in self.living for session in one.sessions]
        self.chronicle.check(
            len(opened) == len(set(opened)), f"a session lives in two processes: {opened}"
        )


class _Starting:
    """The gateway's end: the process begins with `start`, and ends with `aclose`."""

    def __init__(self, near: LossyTransport, agent: ScriptedAgent) -> None:
        self._near = near
        self._agent = agent

    @property
    def backlog(self) -> int:
        return self._near.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        await self._agent.start(tasks)
        await self._near.start(receiver, tasks)

    def write(self, data: bytes) -> None:
        self._near.write(data)

    async def drain(self) -> None:
        await self._near.drain()

    def pause(self) -> None:
        self._near.pause()

    def resume(self) -> None:
        self._near.resume()

    async def aclose(self) -> None:
        self._agent.die()
        await self._near.aclose()


class ScriptedAgent:
    """One process."""

    def __init__(self, processes: AgentProcesses, transport: LossyTransport) -> None:
        self.sessions: set[str] = set()
        self.is_dead = False
        self._processes = processes
        self._journal = processes.journal
        self._chronicle = processes.chronicle
        self._random = processes.random
        self._transport = transport
        self._tasks: TaskGroup
        self._rest = b""
        self._asked: dict[str, anyio.Event] = {}
        self._calls = 0
        self._cancelled: set[str] = set()
        # The prompts of a session run one after the other.
        self._turns: dict[str, anyio.Lock] = {}
        self._number = 0

    async def start(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._journal.made += 1
        self._number = self._journal.made
        self._processes.living.append(self)
        await self._transport.start(self, tasks)

    def die(self) -> None:
        """End at once; what was written may be lost."""
        if self.is_dead:
            return
        self.is_dead = True
        if self in self._processes.living:
            self._processes.living.remove(self)
        for answered in self._asked.values():
            answered.set()
        self._transport.break_off(loses=True)

    # ---- what it hears

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if not self.is_dead:
                self._hear(json.loads(line))

    def ended(self, why: Ended) -> None:
        del why
        self.die()

    def _hear(self, message: Json) -> None:
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            self._answered(message)
        elif method == "session/cancel":
            self._cancelled.add(params["sessionId"])
            for key, answered in self._asked.items():
                if key.startswith(f"{params['sessionId']} "):
                    answered.set()
        elif method == "session/prompt":
            self._tasks.start_soon(self._turn, message["id"], params)
        elif "id" in message:
            self._answer(message["id"], method, params)

    def _answered(self, message: Json) -> None:
        answered = self._asked.get(str(message["id"]))
        if answered is None:
            self._chronicle.wrong(f"the agent got an answer to nothing: {message}")
            return
        del self._asked[str(message["id"])]
        outcome = (message.get("result") or {}).get("outcome") or {}
        if outcome.get("outcome") == "selected" and outcome.get("optionId") not in ("yes", "no"):
            self._chronicle.wrong(f"the agent got an option that it did not offer: {message}")
        answered.set()

    def _answer(self, number: Any, method: str, params: Json) -> None:
        session = params.get("sessionId")
        if method == "initialize":
            self._say(id=number, result=self._introduction())
        elif method == "session/new":
            session = f"s{self._journal.made}-{len(self._journal.said)}"
            self._journal.said[session] = []
            self._open(session)
            self._say(id=number, result={"sessionId": session})
            self._greet(session)
        elif method in ("session/load", "session/resume"):
            assert session is not None
            if not any(key.startswith(f"{session}:") for key in self._prompted()):
                error = {"code": -32002, "message": f"there is no session {session}"}
                self._say(id=number, error=error)
                return
            self._open(session)
            for token in self._journal.said[session]:
                self._update(session, token)
            self._say(id=number, result={})
            self._greet(session)
        else:
            self._say(id=number, result={})

    def _prompted(self) -> list[str]:
        return self._journal.prompts

    def _open(self, session: str) -> None:
        self.sessions.add(session)
        self._processes.check_one_each()

    def _introduction(self) -> Json:
        info = {"name": "scripted", "version": "1"}
        if self._processes.version == 1:
            able = {"loadSession": True}
            return {"protocolVersion": 1, "agentCapabilities": able, "agentInfo": info}
        return {"protocolVersion": 2, "capabilities": {"session": {}}, "info": info}

    # ---- what it says

    def _say(self, **message: Any) -> None:
        if not self.is_dead:
            self._transport.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _update(self, session: str, token: str) -> None:
        chunk: Json = {"sessionUpdate": "agent_message_chunk"}
        chunk["content"] = {"type": "text", "text": token}
        if self._processes.version == 2:
            chunk["messageId"] = f"m-{token[1:-1]}"
        self._notify(session, chunk)

    def _notify(self, session: str, update: Json) -> None:
        self._say(method="session/update", params={"sessionId": session, "update": update})

    def _tell(self, session: str, token: str) -> None:
        """Say something new."""
        if not self.is_dead:
            self._journal.said[session].append(token)
            self._update(session, token)

    def _greet(self, session: str) -> None:
        self._tell(session, f"<hello{self._number}.{len(self._journal.said[session])}>")

    async def _turn(self, number: Any, params: Json) -> None:
        session, blocks = params["sessionId"], params["prompt"]
        key, pieces, asks = blocks[0]["text"].split()
        self._journal.prompts.append(f"{session}:{key}")
        self._cancelled.discard(session)
        async with self._turns.setdefault(session, anyio.Lock()):
            if self._processes.version == 2:
                state = {"sessionUpdate": "state_update", "state": "running"}
                echo = {"sessionUpdate": "user_message", "messageId": f"u-{key}", "content": blocks}
                self._notify(session, echo)
                self._notify(session, state)
                self._say(id=number, result={})
            await self._work(session, key, int(pieces), asks == "True")
            self._end_turn(session, key, number)

    def _end_turn(self, session: str, key: str, number: Any) -> None:
        if self.is_dead:
            return
        self._journal.finished.add(key)
        is_v2 = self._processes.version == 2
        reason = "cancelled" if session in self._cancelled else "end_turn"
        if is_v2:
            idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": reason}
            self._notify(session, idle)
        else:
            self._say(id=number, result={"stopReason": reason})

    async def _work(self, session: str, key: str, pieces: int, asks: bool) -> None:
        for number in range(pieces):
            if self.is_dead or session in self._cancelled:
                return
            self._tell(session, f"<{key}.{number}>")
            if number == pieces // 2 and asks:
                await self._ask(session, key)
            if self._random.random() < 0.3:
                await anyio.sleep(self._random.choice((0.0, 0.001, 0.1, 1.0)))

    async def _ask(self, session: str, key: str) -> None:
        self._calls += 1
        number = f"{session} {key} {self._calls}"
        call = {"toolCallId": f"call-{key}", "title": "Go on", "status": "pending"}
        params: Json = {"sessionId": session, "options": OPTIONS}
        if self._processes.version == 1:
            params["toolCall"] = call
        else:
            params |= {"title": "Go on?", "subject": {"type": "tool_call", "toolCall": call}}
        self._asked[number] = anyio.Event()
        self._say(id=number, method=PERMISSION, params=params)
        await self._asked[number].wait()


__all__ = ["PERMISSION", "AgentProcesses", "Journal", "ScriptedAgent"]
