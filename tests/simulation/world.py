"""One world: both peers, their wire, their store, their misfortunes; from a seed to a verdict."""

import asyncio
import contextlib
import io
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import anyio
from anyio._core._eventloop import reset_current_async_library, set_current_async_library

from accord.agent.preload import prepare
from accord.agent.session.agent_session import session_state
from accord.client import Client
from accord.client.session import update_inbox
from accord.connection import connection
from accord.errors import AccordError, ConnectionLost, NotFound, RateLimited
from accord.machine import clock
from accord.store import MemoryStore, SessionStore
from accord.transport import pipes, readiness
from tests.simulation.connection import END_SECONDS_MAX, Parts, Wire
from tests.simulation.event_log import Chronicle
from tests.simulation.frame_checks import Conversation
from tests.simulation.peers.agent import STUBBORN, AgentSide
from tests.simulation.peers.client import ClientSide
from tests.simulation.plan import Plan, plan_of
from tests.simulation.runtime.loop import SeededLoop, Stuck
from tests.simulation.runtime.simulated_pipes import Kernel
from tests.simulation.runtime.stores import Life, SlowStore, sqlite_store
from tests.simulation.state_checks import (
    READ_UPDATES_MAX,
    Watch,
    check_leftovers,
    check_log,
    check_rest,
    shortened,
)

# An agent loads modules while it is idle, which is one step less where they are loaded already:
# all are loaded before the first world, so that no world depends on what ran before it.
for _dialect in ("v1", "v2", "draft"):
    for _ in prepare(_dialect, files=True):
        pass

# Long enough for handlers that were left behind to end.
REST_SECONDS = 5.0 * STUBBORN + 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a world."""

    seed: int
    violations: tuple[str, ...]
    steps: int
    frames: int
    prompts: int
    # The same for two runs of one seed.
    digest: int
    # What selects this kind of world.
    option: str = ""

    @property
    def command(self) -> str:
        """How to see it again."""
        return f"python -m tests.simulation{self.option} --seed {self.seed} --worlds 1 --show"


class World:
    """What the parts of a world share."""

    # Whoever was left by its peer, or is asked to end, ends within this.
    end_seconds = END_SECONDS_MAX

    def __init__(self, plan: Plan, loop: SeededLoop, random: Random) -> None:
        self.plan = plan
        self.loop = loop
        self.random = random
        self.chronicle = Chronicle()
        self.kernel = Kernel(loop, random)
        self.memory = MemoryStore()
        self.folder: Path | None = None
        self.conversations: list[Conversation] = []
        self.watch = Watch(self.chronicle, loop)
        self.life = Life()

    # ---- parts

    def store(self) -> SessionStore:
        """The store as a new process finds it."""
        if self.plan.store == "sqlite":
            if self.folder is None:
                self.folder = Path(tempfile.mkdtemp(prefix="accord-world-"))
            return sqlite_store(self.folder / "s.db", self.loop, self.random, self.life)
        if self.plan.store == "slow":
            return SlowStore(self.memory, self.loop, self.random, self.life)
        return self.memory

    def wire(self, name: str) -> Wire:
        """A new connection between both."""
        plan = self.plan
        conversation = Conversation(
            self.chronicle, name, self.loop.time, plan.framing, plan.limits.pending_requests
        )
        self.conversations.append(conversation)
        parts = Parts(
            self.plan,
            self.loop,
            self.random,
            self.chronicle,
            self.kernel,
            self.life,
            self.watch.waiting,
        )
        return Wire(parts, conversation)

    async def run(self) -> None:
        """Live once, and perhaps again."""
        client = await self._live_once()
        if self.chronicle.violations or not client.sessions:
            return
        if self.plan.fault == "agent_crash" or self.plan.again:
            await self._live_again(client)

    async def _live_once(self) -> ClientSide:
        self.life = Life()
        client = ClientSide(self.plan, self.chronicle, self.random)
        agent = AgentSide(self.plan, self.chronicle, self.store(), client.services)
        wire = self.wire("first")
        self.chronicle.logged_in = not self.plan.needs_login
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wire.serve, agent)
            scope = anyio.CancelScope()
            if self.plan.fault != "none":
                tasks.start_soon(self._break, wire, scope)
            with scope:
                await self._talk(wire, client, agent)
            wire.over = True
            await wire.agent_ends()
            tasks.cancel_scope.cancel()
        left = client.services.terminals.open
        self.chronicle.check(not left, f"the client is gone, and terminals are open: {left}")
        return client

    async def _talk(self, wire: Wire, client: ClientSide, agent: AgentSide) -> None:
        try:
            async with wire.connect(client) as connected:
                self.watch.look_at(connected, agent)
                async with anyio.create_task_group() as tasks:
                    for number, plan in enumerate(self.plan.sessions):
                        tasks.start_soon(client.live, connected, f"s{number}", plan)
                await self._come_to_rest(wire, connected, client, agent)
        except* ConnectionLost as lost:
            self.chronicle.check(self.chronicle.broken, f"nothing was broken: {lost.exceptions!r}")
        except* AccordError as errors:
            self.chronicle.check(self.chronicle.broken, f"unexpected: {errors.exceptions!r}")

    async def _come_to_rest(
        self, wire: Wire, connected: Client, client: ClientSide, agent: AgentSide
    ) -> None:
        """After all prompts: nothing is open anywhere, and both sides tell the same story."""
        if self.chronicle.broken:
            return
        self.comes_to_rest()
        with anyio.move_on_after(self.end_seconds) as patience:
            for served in list(agent.sessions.values()):
                await session_state(served).prompts.wait_idle()
        if patience.cancelled_caught:
            self.chronicle.wrong("an agent's session did not come to rest")
            return
        with anyio.move_on_after(REST_SECONDS + self.end_seconds) as patience:
            with contextlib.suppress(RateLimited):
                # A bounded agent may still count a call that was given up a moment ago.
                await self.ask_agent(connected)
            # What the answers to given up calls need, and what is left behind.
            await anyio.sleep(REST_SECONDS)
            await self.ask_agent(connected)
        if patience.cancelled_caught:
            self.chronicle.wrong("the agent does not answer any more")
            return
        if not self.chronicle.broken:
            # Nothing breaks any more while we look: a store whose process is gone tells nothing.
            wire.over = True
            check_rest(self.chronicle, wire.conversation, connected, client.sessions)
            client.check_left()
            left = client.services.terminals.open
            self.chronicle.check(not left, f"at rest, and terminals are open: {left}")
            for session in client.sessions.values():
                await check_log(self.chronicle, agent.agent.store, session, self.plan.version)

    async def _live_again(self, before: ClientSide) -> None:
        """The sessions are found again as they were, and go on."""
        self.life = Life()
        self.chronicle.broken = False
        self.chronicle.closed.clear()
        self.chronicle.logged_in = True
        client = ClientSide(self.plan, self.chronicle, self.random)
        agent = AgentSide(self.plan, self.chronicle, self.store(), client.services)
        wire = self.wire("again")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wire.serve, agent)
            try:
                await self._talk_again(wire, client, agent, before)
            except* AccordError as errors:
                told = f"nothing was broken, and yet {errors.exceptions!r}"
                self.chronicle.check(self.chronicle.broken, told)
            wire.over = True
            await wire.agent_ends()
            tasks.cancel_scope.cancel()

    async def _talk_again(
        self, wire: Wire, client: ClientSide, agent: AgentSide, before: ClientSide
    ) -> None:
        async with wire.connect(client) as connected:
            self.watch.look_at(connected, agent)
            for name, old in before.sessions.items():
                try:
                    session = await connected.load_session(old.id, "/")
                except NotFound:
                    # One in which nothing was said is not kept.
                    self._check_empty(old)
                    continue
                client.sessions[name] = session
                await check_log(self.chronicle, agent.agent.store, session, self.plan.version)
                self._check_kept(old, session)
                for call in session.transcript.tool_calls:
                    self.chronicle.check(call.is_final, f"nobody works on {call} any more")
            for prompt in self.plan.again:
                if prompt.key[:2] in client.sessions:
                    await client.prompt(client.sessions[prompt.key[:2]], prompt)
            await self._come_to_rest(wire, connected, client, agent)

    def _check_empty(self, old: Any) -> None:
        """A session that is gone had nothing that anybody saw."""
        seen = [m.text for m in old.transcript.messages if m.role == "agent"]
        calls = list(old.transcript.tool_calls)
        self.chronicle.check(not seen and not calls, f"a session is gone with {seen} and {calls}")

    def _check_kept(self, old: Any, new: Any) -> None:
        """What a client has seen, it finds again."""
        seen = [m.text for m in old.transcript.messages if m.role == "agent"]
        found = [m.text for m in new.transcript.messages if m.role == "agent"]
        kept = [now.startswith(then) for then, now in zip(seen, found, strict=False)]
        if len(found) < len(seen) or not all(kept):
            pictures = f"\n  {shortened(seen)}\n  {shortened(found)}"
            self.chronicle.wrong(f"what was seen was lost:{pictures}")

    async def ask_agent(self, connected: Client) -> None:
        """Any call that the agent answers at once."""
        await connected.list_page()

    def comes_to_rest(self) -> None:
        """Nobody begins anything any more."""

    def ruled_by_seed(self) -> contextlib.AbstractContextManager[object]:
        """What else would make two runs differ."""
        return contextlib.nullcontext()

    def open_descriptors(self) -> list[int]:
        """What nobody has closed."""
        return self.kernel.open_ends()

    def verdict(self) -> Verdict:
        """What came of it."""
        conversations = self.conversations
        sent = tuple(bytes(c.sent[side]) for c in conversations for side in ("agent", "client"))
        return Verdict(
            self.plan.seed,
            (*self.chronicle.violations, *self.loop.failures),
            self.loop.steps,
            sum(one.frames for one in conversations),
            self.chronicle.prompts_done,
            _digest(sent, self.loop.steps),
        )

    # ---- misfortunes

    async def _break(self, wire: Wire, client_scope: anyio.CancelScope) -> None:
        if self.plan.fault_after is None:
            await anyio.sleep(self.plan.fault_at)
        else:
            rung = anyio.Event()
            wire.conversation.alarm = (self.plan.fault_after, rung.set)
            await rung.wait()
            # So that what was sent last may arrive, and what was not committed is lost.
            await anyio.sleep(self.plan.fault_at / 1000)
        if wire.over:
            return
        self.chronicle.broken = True
        match self.plan.fault:
            case "drop":
                wire.cut(loses=self.plan.loses)
            case "agent_crash":
                self.life.dead = True
                wire.agent_transport.muted = True
                wire.sever("agent", loses=self.plan.loses)
                wire.agent_scope.cancel()
            case "client_crash":
                wire.client_transport.muted = True
                wire.sever("client", loses=self.plan.loses)
                client_scope.cancel()


def _yes(fd: int) -> bool:
    return True


def _no(fd: int) -> bool:
    return False


@contextlib.contextmanager
def _ruled_by_seed(world: World) -> Generator[io.StringIO]:
    """Everything that would make two runs differ comes from the world."""
    began = datetime(2030, 1, 1, tzinfo=UTC).timestamp()

    def seconds() -> float:
        return began + world.loop.time()

    ids = Random(world.plan.seed + 1)
    stderr = io.StringIO()
    low = world.random.choice((256 * 1024, 512))
    at_once = world.random.choice((2048, 3, 1))
    with (
        mock.patch.object(connection, "monotonic", world.loop.time),
        mock.patch.object(clock, "seconds", seconds),
        mock.patch.object(connection, "FRAMES_AT_ONCE", at_once),
        mock.patch.object(update_inbox, "READ_UPDATES_MAX", READ_UPDATES_MAX),
        mock.patch.object(os, "urandom", ids.randbytes),
        mock.patch.object(pipes, "os", world.kernel),
        mock.patch.object(pipes, "is_pipe", _yes),
        mock.patch.object(pipes, "widen_pipe", _no),
        mock.patch.object(pipes, "BACKLOG_BYTES_LOW", low),
        mock.patch.object(readiness, "_is_file", _no),
        mock.patch("accord.transport.memory.BACKLOG_BYTES_LOW", low),
        mock.patch.object(sys, "stderr", stderr),
        mock.patch.object(sys, "unraisablehook", world.watch.unraisable),
    ):
        yield stderr


def run_world(seed: int) -> Verdict:
    """Run the world of a seed; it never raises for what goes wrong in it."""
    plan = plan_of(seed)
    random = Random(seed ^ 0x5EED)
    return run(World(plan, SeededLoop(random, plan.policy), random))


def run(world: World) -> Verdict:
    """Run a world that has just been made."""
    plan, loop = world.plan, world.loop
    loop.on_round = world.watch.round_ended
    handler = world.watch.log_handler
    logger = logging.getLogger("accord")
    propagates, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    asyncio.set_event_loop(loop)
    claimed = set_current_async_library("asyncio")
    try:
        with _ruled_by_seed(world) as stderr, world.ruled_by_seed():
            try:
                loop.run_until_complete(_main(world))
            except Stuck as stuck:
                world.chronicle.wrong(f"{stuck}; waiting: {world.watch.waiting()}")
            except BaseExceptionGroup as group:
                world.chronicle.wrong(f"the world ended with {group.exceptions!r}")
            except Exception as error:
                world.chronicle.wrong(f"the world ended with {error!r}")
            world.watch.check_told(stderr.getvalue(), world.life.dead or plan.fault != "none")
            _clean_up(loop)
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates
        asyncio.set_event_loop(None)
        reset_current_async_library(claimed)
        loop.close()
        if world.folder is not None:
            shutil.rmtree(world.folder, ignore_errors=True)
    return world.verdict()


def _digest(sent: tuple[bytes, ...], steps: int) -> int:
    from zlib import crc32

    value = steps
    for data in sent:
        value = crc32(data, value)
    return value


async def _main(world: World) -> None:
    await world.run()
    if not world.chronicle.violations:
        # What still runs by itself, such as a commit, may end.
        await anyio.sleep(1)
        check_leftovers(world.chronicle, world.loop, world.open_descriptors())


def _clean_up(loop: SeededLoop) -> None:
    """End what a broken world left behind, so that the next one starts clean."""
    loop.over = True
    for _ in range(5):
        left = asyncio.all_tasks(loop)
        if not left:
            return
        for task in left:
            task.cancel()
        with contextlib.suppress(BaseException):
            loop.run_until_complete(asyncio.wait(left, timeout=10))
