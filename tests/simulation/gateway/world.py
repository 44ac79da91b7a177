"""One world with a gateway: agents and gateways that die, and people who come and go."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Generator
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest import mock
from zlib import crc32

import anyio

from accord.errors import AccordError, StoreError
from accord.gateway.access.principal import Principal
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.configuration.agent_settings import AgentSettings
from accord.gateway.configuration.limits import UNLIMITED, PrincipalLimits
from accord.gateway.engine.interface import Event
from accord.gateway.engine.memory import MemoryDisk, MemoryEngine
from accord.gateway.gateway import Gateway
from accord.gateway.sessions import attachment, session_writer
from accord.gateway.sessions.log_events import ANSWER, PROMPT, REMARK, UPDATE
from accord.proxy.relay import translators
from tests.simulation.gateway.agent import AgentProcesses
from tests.simulation.gateway.person import TOKEN, Person, Shared
from tests.simulation.gateway.plan import GatewayPlan, PersonPlan, gateway_plan_of
from tests.simulation.runtime.loop import SeededLoop
from tests.simulation.runtime.transport import LossyTransport, lossy_pair
from tests.simulation.world import Verdict, World, run

NO_LIMITS = PrincipalLimits(
    connections=UNLIMITED,
    sessions=UNLIMITED,
    processes=UNLIMITED,
    frames_per_second=UNLIMITED,
    bytes_per_second=UNLIMITED,
)
INTERRUPTED = b"turn was interrupted"
# Of a client that does not read: less than in real life, so that the bound is met.
BACKLOG_BYTES_MAX, EVENTS_PER_READ = 2000, 4
# A page of the log, answers, and who comes and goes.
OVERSHOOT_BYTES = 6000
REST_SECONDS_MAX = 900.0


class Life:
    """One run of the gateway: what it does after its death has no effect."""

    def __init__(self) -> None:
        self.is_dead = False
        self.is_over = anyio.Event()
        self.scope = anyio.CancelScope()
        self.transports: list[LossyTransport] = []
        # Those without a translator, which has a buffer of its own.
        self.direct: list[LossyTransport] = []
        self.gateway: Gateway | None = None


class GatewayWorld(World):
    """Guards: nothing is killed once the world is calm."""

    def __init__(self, plan: GatewayPlan, loop: SeededLoop, random: Random) -> None:
        super().__init__(plan, loop, random)  # type: ignore[arg-type]
        self.gateway_plan = plan
        self.disk = MemoryDisk()
        self.agents = AgentProcesses(plan.version, loop, random, self.chronicle)
        self.shared = Shared(self.chronicle, self._connect, self.durable_tokens)
        self.lives: list[Life] = []
        self.clients: list[LossyTransport] = []
        # In what order anyio cancels what is left at the end depends on addresses.
        self._steps_to_rest = 0
        # By session: the tokens in its log, and how many of its events were read for them.
        self._tokens: dict[str, tuple[list[str], int]] = {}
        # A killed gateway may complain in its log.
        self.chronicle.broken = True

    # ---- the gateway

    def _pause(self, life: Life) -> Callable[[], Awaitable[None]]:
        async def pause() -> None:
            if life.is_dead:
                raise StoreError("store_closed", "the process is dead")
            await anyio.sleep(self.random.random() * self.gateway_plan.disk_seconds)
            if life.is_dead:
                raise StoreError("store_closed", "the process is dead")

        return pause

    async def _run_gateway(self, *, task_status: Any) -> None:
        life = self.life_of_gateway = Life()
        self.lives.append(life)
        settings = AgentSettings(
            name="scripted", command=("played",), process=self.gateway_plan.process
        )
        life_agent = HostedAgent(settings, self.agents.connect)
        engine = MemoryEngine(self.disk, now=self.loop.time, pause=self._pause(life))
        gateway = Gateway(
            {"scripted": life_agent},
            engine,
            limits=NO_LIMITS,
            grace_seconds=self.gateway_plan.grace_seconds,
        )
        try:
            with life.scope:
                async with gateway:
                    life.gateway = gateway
                    self._agent = life_agent
                    task_status.started()
                    await anyio.sleep_forever()
        except BaseExceptionGroup as errors:
            if not life.is_dead:
                self.chronicle.wrong(f"the gateway ended with {errors.exceptions!r}")
        except StoreError as error:
            if not life.is_dead:
                self.chronicle.wrong(f"the gateway ended with {error!r}")
        finally:
            life.gateway = None
            for transport in life.transports:
                # As a server does at its end.
                transport.break_off(loses=False)
            life.is_over.set()

    def _connect(self, person: PersonPlan) -> LossyTransport:
        """Return a person's end of a new connection; nobody answers while the gateway is away."""
        near, far = lossy_pair(self.loop, self.random)
        life = self.life_of_gateway
        if life.gateway is None or life.is_dead:
            far.break_off(loses=True)
            return near
        life.transports.append(far)
        if person.version == self.gateway_plan.version:
            life.direct.append(far)
        self.clients.append(near)
        principal = Principal(
            name=person.name, display_name=person.name.title(), rights={"*": "editor"}
        )
        life.gateway.tasks.start_soon(self._serve_client, life.gateway, far, principal)
        return near

    async def _serve_client(
        self, gateway: Gateway, transport: LossyTransport, principal: Principal
    ) -> None:
        """As a server does it: one client's end is not everybody's."""
        try:
            await gateway.serve(transport, principal, self._agent)
        except AccordError:
            pass
        finally:
            transport.break_off(loses=False)

    async def _kill_gateway(self) -> None:
        life = self.life_of_gateway
        self.shared.kills += 1
        life.is_dead = True
        for transport in life.transports:
            transport.break_off(loses=True)
        # Nothing of them outlives their gateway: the system sees to that.
        self.agents.kill_all()
        life.scope.cancel()
        await life.is_over.wait()

    def _kill_agent(self) -> None:
        self.shared.kills += 1
        self.agents.kill_newest()

    # ---- the log

    def _events(self, session_id: str | None = None) -> list[Event]:
        session = self.disk.sessions.get(session_id or self.shared.session or "")
        return [] if session is None else session.events

    def durable_tokens(self, session_id: str | None = None) -> list[str]:
        """The tokens in the log of a session, in order."""
        named = session_id or self.shared.session or ""
        events = self._events(named)
        tokens, count = self._tokens.get(named, ([], 0))
        for event in events[count:]:
            if event.kind == UPDATE:
                tokens += TOKEN.findall(event.frame.decode())
        self._tokens[named] = (tokens, len(events))
        return tokens

    # ---- the world

    async def run(self) -> None:
        """Live, come to rest, and look at everything."""
        self.loop.on_round = self._round_ended
        async with anyio.create_task_group() as tasks:
            await tasks.start(self._keep_gateway)
            people = [
                Person(one, self.shared, self.random, tasks) for one in self.gateway_plan.people
            ]
            ann = people[0]
            async with anyio.create_task_group() as acting:
                acting.start_soon(self._owner_lives, ann, tasks)
                for person in people[1:]:
                    acting.start_soon(person.live)
                for at in self.gateway_plan.agent_dies:
                    acting.start_soon(self._kill_agent_at, at)
            await self._settle_down(people)
            tasks.cancel_scope.cancel()
        for near in self.clients:
            near.break_off(loses=True)
        self.chronicle.check(not self.agents.living, "processes of the agent are left")

    async def _owner_lives(self, ann: Person, tasks: Any) -> None:
        await ann.live()
        tasks.start_soon(ann.stay)
        for _ in range(len(self.gateway_plan.gateway_dies) - len(self.lives) + 1):
            await self.shared.session_is_there.wait()

    async def _kill_agent_at(self, at: float) -> None:
        await anyio.sleep(at)
        self._kill_agent()

    async def _keep_gateway(self, *, task_status: Any) -> None:
        """Run one gateway after the other on the same disk."""
        async with anyio.create_task_group() as running:
            await running.start(self._run_gateway)
            task_status.started()
            for at in self.gateway_plan.gateway_dies:
                await anyio.sleep(at)
                if self.shared.is_calm:
                    break
                await self._kill_gateway()
                await anyio.sleep(self.random.random())
                await running.start(self._run_gateway)

    def _round_ended(self) -> None:
        for life in self.lives[-1:]:
            for transport in life.direct:
                if transport.backlog > BACKLOG_BYTES_MAX + OVERSHOOT_BYTES:
                    self.chronicle.wrong(f"{transport.backlog} bytes wait for a client")

    async def _settle_down(self, people: list[Person]) -> None:
        """Everybody comes once more, nothing is killed, and all of them see the same."""
        with anyio.move_on_after(REST_SECONDS_MAX) as patience:
            while len(self.lives) <= len(self.gateway_plan.gateway_dies):
                await anyio.sleep(0.5)
            self.shared.is_calm = True
            while not await self._is_at_rest(people):
                await anyio.sleep(0.5)
        if patience.cancelled_caught:
            self.chronicle.wrong(f"no rest: {self.shared.prompted}")
            return
        self._steps_to_rest = self.loop.steps
        self._check_end(people)

    async def _is_at_rest(self, people: list[Person]) -> bool:
        gateway = self.life_of_gateway.gateway
        assert gateway is not None
        for session in list(gateway.sessions.live.values()):
            await session.flush()
            if session.is_busy:
                return False
        for person in people:
            connection = await person.connected()
            if connection.seen != self.durable_tokens() or connection.asked:
                return False
        return not any(one.is_busy for one in gateway.sessions.live.values())

    # ---- at the end

    def _check_end(self, people: list[Person]) -> None:
        check = self.chronicle.check
        journal = self.agents.journal
        keys = [one.partition(":")[2] for one in journal.prompts]
        check(len(keys) == len(set(keys)), f"a prompt ran twice: {keys}")
        check(not [one for one in keys if one.endswith("x")], f"a viewer prompted: {keys}")
        log = self.durable_tokens()
        check(len(log) == len(set(log)), f"the log has a token twice: {log}")
        said = [token for one in journal.said.values() for token in one]
        check(set(log) <= set(said), f"the log has what nobody said: {set(log) - set(said)}")
        for key, end in self.shared.prompted.items():
            mine = [token for token in log if token.startswith(f"<{key}.")]
            numbers = [int(re.sub(r".*\.|>", "", token)) for token in mine]
            check(numbers == list(range(len(numbers))), f"{key} is in the log as {numbers}")
            spoken = [token for token in said if token.startswith(f"<{key}.")]
            check(mine == spoken[: len(mine)], f"{key}: {mine} does not begin {spoken}")
            if end in ("end_turn", "cancelled"):
                check(key in keys or end == "cancelled", f"{key} was answered and never ran")
                check(mine == spoken, f"{key} was answered, and has {mine} of {spoken}")
            check(end != "sent", f"{key} was never waited for")
            may_fail = self.shared.kills > 0 or end != "error"
            check(may_fail or key not in keys, f"{key} failed though nothing was killed")
        self._check_turns(keys)

    def _check_turns(self, keys: list[str]) -> None:
        """Each turn in the log has an end; one that was cut short says so, and no other does."""
        events = self._events()
        prompts = [number for number, one in enumerate(events) if one.kind == PROMPT]
        finished = self.agents.journal.finished
        told = sum(INTERRUPTED in one.frame for one in events if one.kind == REMARK)
        self.chronicle.check(told <= self.shared.kills, f"{told} interruptions were told")
        for at, start in enumerate(prompts):
            content = json.loads(events[start].frame)
            key = content["prompt"][0]["text"].split()[0]
            end = prompts[at + 1] if at + 1 < len(prompts) else len(events)
            if self.gateway_plan.version == 2:
                # Prompts of v2 may follow each other before the first one runs.
                end = len(events)
            turn = events[start:end]
            is_told = any(one.kind == REMARK and INTERRUPTED in one.frame for one in turn)
            if key in keys and key not in finished:
                self.chronicle.check(is_told, f"{key} was cut short, and nobody is told")
            if self.gateway_plan.version == 2:
                continue
            ends = [
                json.loads(one.frame)
                for one in events
                if one.kind == ANSWER and json.loads(one.frame)["prompt"] == start + 1
            ]
            self.chronicle.check(len(ends) == 1, f"{key} has {len(ends)} ends in the log")
            if ends and "result" in ends[0]:
                self.chronicle.check(not is_told, f"{key} ended, and is said to be cut short")

    def open_descriptors(self) -> list[int]:
        return []

    @contextlib.contextmanager
    def ruled_by_seed(self) -> Generator[None]:
        """Ids and clocks come from the world."""
        ids = Random(self.plan.seed + 2)
        clock = SimpleNamespace(monotonic=self.loop.time)
        with (
            mock.patch.object(secrets, "token_hex", lambda size: ids.randbytes(size).hex()),
            mock.patch.object(translators, "time", clock),
            mock.patch.object(attachment, "BACKLOG_BYTES_MAX", BACKLOG_BYTES_MAX),
            mock.patch("accord.transport.memory.BACKLOG_BYTES_LOW", BACKLOG_BYTES_MAX // 4),
            mock.patch.object(attachment, "EVENTS_PER_READ", EVENTS_PER_READ),
            mock.patch.object(session_writer, "EVENTS_PER_APPEND_MAX", EVENTS_PER_READ),
        ):
            yield

    def verdict(self) -> Verdict:
        events = self._events()
        digest = crc32(b"".join(one.frame for one in events), self._steps_to_rest)
        return Verdict(
            self.plan.seed,
            (*self.chronicle.violations, *self.loop.failures),
            self.loop.steps,
            len(events),
            len(self.agents.journal.prompts),
            digest,
            option=" --gateway",
        )


def run_gateway_world(seed: int) -> Verdict:
    """Run the gateway world of a seed; it never raises for what goes wrong in it."""
    plan = gateway_plan_of(seed)
    random = Random(seed ^ 0x5EED)
    return run(GatewayWorld(plan, SeededLoop(random, plan.policy), random))


__all__ = ["GatewayWorld", "run_gateway_world"]
