"""One person of a world with a gateway: a raw client that comes, goes, and looks at everything.

What every person checks: what a session shows is its log from the first event on, each token once,
in order, and none before it is in the log; each request is answered once, or its connection ends;
nobody is asked who may not answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import anyio
from anyio.abc import TaskGroup

from accord.protocol.extensions import advertised
from accord.transport.transport import Ended
from tests.simulation.event_log import Chronicle
from tests.simulation.gateway.agent import PERMISSION, Json
from tests.simulation.gateway.plan import Act, PersonPlan
from tests.simulation.runtime.transport import LossyTransport

TOKEN = re.compile(r"<\w+\.\d+>")
EXTENSIONS = advertised(["_accord.session/presence", "_accord.session/settled"])
ANSWER_SECONDS_MAX = 600.0


class Lost(Exception):
    """The connection ended before the answer came."""


@dataclass
class Shared:
    """What the people of a world know in common: the session, its log, and what was promised."""

    chronicle: Chronicle
    connect: Callable[[PersonPlan], LossyTransport]
    # The tokens in the log of a session, as far as it is durable at this moment.
    durable: Callable[[str], list[str]]
    session: str | None = None
    session_is_there: anyio.Event = field(default_factory=anyio.Event)
    # Keys of prompts, and what was answered: a stop reason or an error.
    prompted: dict[str, str] = field(default_factory=dict)
    members: set[str] = field(default_factory=set)
    # Whether the gateway or an agent was killed, so that requests may fail.
    kills: int = 0
    is_calm: bool = False


class Connection:
    """One connection of a person, with what they have seen on it."""

    def __init__(self, person: Person, transport: LossyTransport) -> None:
        self.person = person
        self.transport = transport
        self.over = anyio.Event()
        self.seen: list[str] = []
        self.asked: set[str] = set()
        self._shared = person.shared
        self._rest = b""
        self._calls = 0
        self._open: dict[int, Answer] = {}

    # ---- what it hears

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._hear(json.loads(line))

    def ended(self, why: Ended) -> None:
        del why
        self.over.set()
        for answer in self._open.values():
            answer.came.set()

    def _hear(self, message: Json) -> None:
        method, number = message.get("method"), message.get("id")
        if method is None:
            answer = self._open.pop(number, None) if isinstance(number, int) else None
            if answer is None:
                self.wrong(f"an answer to nothing: {message}")
                return
            answer.message = message
            answer.check_behind_updates()
            answer.came.set()
        elif method == "session/update":
            session = message["params"]["sessionId"]
            for token in TOKEN.findall(json.dumps(message["params"]["update"])):
                self._see(session, token)
        elif method == PERMISSION:
            self.asked.add(str(number))
            if self.person.plan.role != "admin":
                self.wrong("somebody is asked who may not answer")
            self.person.tasks.start_soon(self._decide, message)
        elif method == "$/cancel_request":
            self.asked.discard(str(message["params"]["requestId"]))
        elif number is not None:
            error = {"code": -32601, "message": "not here"}
            self.write({"id": number, "error": error})

    def _see(self, session: str, token: str) -> None:
        log = self._shared.durable(session)
        at = len(self.seen)
        self.seen.append(token)
        if at >= len(log) or log[at] != token:
            due = log[at] if at < len(log) else "nothing"
            self.wrong(f"{token} was shown where the log has {due} (number {at})")

    def log(self) -> list[str]:
        """The tokens in the log of the session."""
        return self._shared.durable(self._shared.session or "")

    async def _decide(self, message: Json) -> None:
        await anyio.sleep(self.person.plan.answer_seconds)
        if str(message["id"]) in self.asked and not self.over.is_set():
            self.asked.discard(str(message["id"]))
            chosen = self.person.random.choice(("yes", "no"))
            outcome = {"outcome": "selected", "optionId": chosen}
            self.write({"id": message["id"], "result": {"outcome": outcome}})

    def wrong(self, what: str) -> None:
        self._shared.chronicle.wrong(f"{self.person.plan.name}: {what}")

    # ---- what it says

    def write(self, message: Json) -> None:
        self.transport.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def notify(self, method: str, params: Json) -> None:
        self.write({"method": method, "params": params})

    def call(self, method: str, params: Json) -> Answer:
        """Send a request; its answer comes later."""
        self._calls += 1
        answer = self._open[self._calls] = Answer(self, method)
        if self.over.is_set():
            answer.came.set()
        self.write({"id": self._calls, "method": method, "params": params})
        return answer

    async def ask(self, method: str, params: Json) -> Json:
        """Send a request and wait: its result, or its error below `error`."""
        return await self.call(method, params).wait()


class Answer:
    """One open request."""

    def __init__(self, connection: Connection, method: str) -> None:
        self.came = anyio.Event()
        self.message: Json | None = None
        self.key = ""
        self._connection = connection
        self._method = method

    def check_behind_updates(self) -> None:
        """The end of a turn comes behind everything that was said in it."""
        assert self.message is not None
        if not self.key or "stopReason" not in self.message.get("result", {}):
            return
        seen = self._connection.seen
        log = self._connection.log()
        missing = [one for one in log[len(seen) :] if one.startswith(f"<{self.key}.")]
        if missing:
            self._connection.wrong(f"{self.key} was answered before {missing}")

    async def wait(self) -> Json:
        with anyio.move_on_after(ANSWER_SECONDS_MAX) as patience:
            await self.came.wait()
        if patience.cancelled_caught:
            self._connection.wrong(f"{self._method} was never answered")
            raise Lost
        if self.message is None:
            raise Lost
        result: Json = self.message.get("result", {"error": self.message.get("error")})
        return result


class Person:
    """Does what the plan says, over as many connections as it takes."""

    def __init__(self, plan: PersonPlan, shared: Shared, random: Random, tasks: TaskGroup) -> None:
        self.plan = plan
        self.shared = shared
        self.random = random
        self.tasks = tasks
        self.connection: Connection | None = None
        self._prompts = 0

    async def live(self) -> None:
        """Do everything once; what a lost connection interrupts is not done again."""
        if self.plan.name != "ann":
            await self.shared.session_is_there.wait()
        for act in self.plan.acts:
            try:
                await self._act(await self.connected(), act)
            except Lost:
                self.connection = None

    async def stay(self) -> None:
        """Be there, and answer what is asked, until the world is over."""
        while True:
            try:
                connection = await self.connected()
                await connection.over.wait()
            except Lost:
                self.connection = None

    async def connected(self) -> Connection:
        """Return a connection that follows the session."""
        if self.connection is None or self.connection.over.is_set():
            self.connection = None
            self.connection = await self._connect()
        return self.connection

    async def _connect(self) -> Connection:
        while True:
            connection = Connection(self, self.shared.connect(self.plan))
            try:
                await connection.transport.start(connection, self.tasks)
                await self._introduce(connection)
                await self._come_to_session(connection)
            except Lost:
                # The gateway may be away.
                await connection.transport.aclose()
                await anyio.sleep(0.05)
                continue
            return connection

    async def _introduce(self, connection: Connection) -> None:
        if self.plan.version == 1:
            able = {"_meta": EXTENSIONS}
            params: Json = {"protocolVersion": 1, "clientCapabilities": able}
        else:
            info = {"name": self.plan.name, "version": "1"}
            params = {"protocolVersion": 2, "info": info, "capabilities": {"_meta": EXTENSIONS}}
        answer = await connection.ask("initialize", params)
        if "error" in answer:
            self._may_fail(connection, "initialize", answer)
            raise Lost

    async def _come_to_session(self, connection: Connection) -> None:
        shared = self.shared
        opening: Json = {"cwd": "/", "mcpServers": []}
        if shared.session is None:
            answer = await connection.ask("session/new", opening)
            if "error" in answer:
                self._may_fail(connection, "session/new", answer)
                raise Lost
            # Somebody else cannot have made one: only ann does.
            shared.session = answer["sessionId"]
        else:
            if self.plan.version == 2:
                opening = {"cwd": "/", "replayFrom": {"type": "start"}}
            method = "session/load" if self.plan.version == 1 else "session/resume"
            answer = await connection.ask(method, {**opening, "sessionId": shared.session})
            if "error" in answer:
                self._may_fail(connection, method, answer)
                raise Lost
        if self.plan.name == "ann":
            await self._invite(connection)

    def _may_fail(self, connection: Connection, method: str, answer: Json) -> None:
        """A request may fail while something is killed, and never otherwise."""
        if self.shared.kills == 0 or self.shared.is_calm:
            connection.wrong(f"{method} failed: {answer['error']}")

    async def _invite(self, connection: Connection) -> None:
        for name, role in (("bob", "editor"), ("cyd", "viewer"), ("dan", "admin")):
            if name in self.shared.members:
                continue
            params = {"sessionId": self.shared.session, "user": name, "role": role}
            answer = await connection.ask("_accord.session/set_role", params)
            if "error" not in answer:
                self.shared.members.add(name)
            else:
                self._may_fail(connection, "_accord.session/set_role", answer)
        self.shared.session_is_there.set()

    # ---- acts

    async def _act(self, connection: Connection, act: Act) -> None:
        session = self.shared.session
        match act.kind:
            case "prompt" if self.plan.role != "viewer":
                await self._prompt(connection, act)
            case "prompt" | "intrude":
                await self._intrude(connection)
            case "cancel":
                connection.notify("session/cancel", {"sessionId": session})
            case "leave":
                await connection.transport.aclose()
                await anyio.sleep(act.seconds)
            case "cut":
                connection.transport.cut(loses=self.random.random() < 0.5)
                await anyio.sleep(act.seconds)
            case "stall":
                connection.transport.pause()
                await anyio.sleep(act.seconds)
                connection.transport.resume()
            case "list":
                answer = await connection.ask("session/list", {})
                ids = [one["sessionId"] for one in answer.get("sessions", ())]
                if session not in ids and "error" not in answer:
                    connection.wrong(f"the session is not in the list {ids}")
            case _:
                await anyio.sleep(act.seconds)

    async def _prompt(self, connection: Connection, act: Act) -> None:
        self._prompts += 1
        key = f"{self.plan.name}{self._prompts}"
        self.shared.prompted[key] = "sent"
        text = [{"type": "text", "text": f"{key} {act.pieces} {act.asks}"}]
        params = {"sessionId": self.shared.session, "prompt": text}
        answer = connection.call("session/prompt", params)
        answer.key = key
        if act.waits:
            await self._note_end(connection, key, answer)
        else:
            self.tasks.start_soon(self._note_later, connection, key, answer)
            await anyio.sleep(act.seconds)

    async def _note_later(self, connection: Connection, key: str, answer: Answer) -> None:
        try:
            await self._note_end(connection, key, answer)
        except Lost:
            pass

    async def _note_end(self, connection: Connection, key: str, answer: Answer) -> None:
        self.shared.prompted[key] = "lost"
        result = await answer.wait()
        if "error" in result:
            self.shared.prompted[key] = "error"
        else:
            # v2 acknowledges a prompt when its turn begins.
            self.shared.prompted[key] = str(result.get("stopReason", "acknowledged"))

    async def _intrude(self, connection: Connection) -> None:
        """Try what the role forbids: refused, and the agent hears nothing of it."""
        key = f"{self.plan.name}{self._prompts}x"
        if self.plan.role == "viewer":
            text = [{"type": "text", "text": f"{key} 3 False"}]
            params: Json = {"sessionId": self.shared.session, "prompt": text}
            answer = await connection.ask("session/prompt", params)
        else:
            params = {"sessionId": "of nobody", "cwd": "/", "mcpServers": []}
            method = "session/load" if self.plan.version == 1 else "session/resume"
            answer = await connection.ask(method, params)
        # Behind an agent of version 1, a prompt of version 2 counts as taken up with the first
        # update that comes, which may be about somebody else's.  What agents heard of is looked at
        # in the end.
        if "error" not in answer and "messageId" not in answer:
            connection.wrong(f"what is forbidden was done: {params}")


__all__ = ["TOKEN", "Connection", "Lost", "Person", "Shared"]
