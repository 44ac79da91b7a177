"""Runs a chain of proxies with an agent at its end, which looks like one agent from outside.

Every component talks only to the conductor.  A proxy wraps messages to its successor in
`proxy/successor`; its other messages are for its predecessor.  The conductor unwraps, wraps and
forwards them, and keeps the ids of each wire to that wire.  A conductor that gets
`proxy/initialize` is itself a proxy in a larger chain; what its last component wraps goes to the
component behind it.

What always holds
    * A component with a successor is sent `proxy/initialize` (or `_proxy/initialize`, if that is
      what it knows), the last one `initialize`.
    * Messages in each direction keep their order.
    * Proxies see v1 or v2: a client or an agent that speaks the 2026-02 draft is translated at its
      end of the chain.
    * When a component exits, its open requests fail with an error that names it, and `on_death`
      decides what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Literal, TypeAlias

import anyio
from anyio.abc import TaskGroup

from accord.errors import AccordError
from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND
from accord.machine.redacted_logs import logger
from accord.proxy.chain.client_translation import OfficialClient
from accord.proxy.chain.component import (
    Component,
    InitializeAnswer,
    RestartAnswer,
    Slot,
    SuccessorInitialize,
)
from accord.proxy.component_exit import AGENT_EXIT_SECONDS_MAX, gone_data, gone_sentence
from accord.proxy.conversation import INITIALIZE, INITIALIZE_PROXY, LAST_ANSWERS_SECONDS_MAX
from accord.proxy.hop import Endpoint, Hop, OpenRequest, Outbox
from accord.proxy.request_forward import AnswerForwarder, pass_on, pass_on_cancel
from accord.proxy.successor import SUCCESSOR_METHODS
from accord.schema.codec import encode
from accord.schema.method import CANCEL_REQUEST
from accord.schema.struct import Raw
from accord.translate.validation import Spoken
from accord.transport.transport import Ended, Transport

__all__ = ["Component", "Conductor", "OnDeath", "Outcome", "conduct"]

_log = logger("accord.proxy")

OnDeath: TypeAlias = Literal["fail", "restart", "bypass"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a chain ended: `failed` is a sentence about the component that ended it, if one did."""

    failed: str | None


class Conductor:
    """One chain; `serve` runs it from start to end."""

    def __init__(
        self,
        components: Sequence[Component],
        client: Transport,
        tasks: TaskGroup,
        *,
        on_death: OnDeath = "fail",
        has_agent: bool = True,
    ) -> None:
        """Without an agent, the chain has only proxies, for use in a larger chain."""
        self._tasks = tasks
        self._outbox = Outbox()
        # Proxies read v1 and v2; a chain of one component has no proxies.
        front = OfficialClient(client) if len(components) > 1 else client
        self._front = Hop("the client", front, self, tasks, self._outbox)
        self._slots = [Slot(component) for component in components]
        self._on_death: OnDeath = on_death
        self._has_agent = has_agent
        # In a larger chain: the answer to `initialize` of the component behind this chain.
        self._behind: bytes | None = None
        self._is_member = False
        self._direct: dict[Endpoint, Endpoint] = {}
        self._held: set[Hop] = set()
        self._over = anyio.Event()
        self._quiet = anyio.Event()
        self._failed: str | None = None
        self._remains: Raw | None = None

    # ---- lifetime

    async def serve(self) -> Outcome:
        """Run until the client disconnects, or a component exits that the chain cannot do without.

        Raises:
            SpawnFailed: one of the programs cannot be started.
        """
        try:
            for slot in self._slots:
                await self._start_component(slot)
            self._rewire()
            await self._front.transport.start(self._front, self._tasks)
            await self._over.wait()
            await self._last_answers()
        finally:
            with anyio.CancelScope(shield=True):
                await self._close()
        return Outcome(self._failed)

    async def _start_component(self, slot: Slot) -> None:
        transport = slot.component.connect(self._tasks)
        hop = Hop(slot.component.name, transport, self, self._tasks, self._outbox)
        hop.far = Endpoint(hop, "proxy/successor")
        await transport.start(hop, self._tasks)
        slot.hop = hop

    async def _last_answers(self) -> None:
        """Answer open requests for a moment, as long as the client reads."""
        if not self._front.is_listening:
            return
        await self._settled(LAST_ANSWERS_SECONDS_MAX)
        last = self._slots[-1].hop if self._slots and self._failed is None else None
        transport = None if last is None else last.transport
        close_write = getattr(transport, "close_write", None)
        if self._front.open_requests and close_write is not None:
            # The agent sees the end of its stdin and may then answer.
            close_write()
            await self._settled(AGENT_EXIT_SECONDS_MAX)
        with anyio.move_on_after(LAST_ANSWERS_SECONDS_MAX):
            await self._close_in_order()

    async def _close_in_order(self) -> None:
        """Let the proxies before an exited component send their last messages, last one first."""
        hops = [slot.hop for slot in self._slots]
        before = list(takewhile(lambda hop: hop is not None and hop.why is None, hops))
        for hop in reversed(before) if len(before) < len(hops) else ():
            assert hop is not None
            close_write = getattr(hop.transport, "close_write", None)
            if close_write is not None:
                close_write()
                while hop.why is None:
                    self._quiet = anyio.Event()
                    await self._quiet.wait()

    async def _settled(self, seconds: float) -> None:
        """Wait until no request of the client is open, at most this long."""
        with anyio.move_on_after(seconds):
            while self._front.open_requests:
                self._quiet = anyio.Event()
                await self._quiet.wait()

    async def _close(self) -> None:
        async with anyio.create_task_group() as closing:
            for slot in self._slots:
                if slot.hop is not None:
                    closing.start_soon(slot.hop.transport.aclose)
        await self._front.transport.aclose()

    # ---- routes

    def _rewire(self) -> None:
        """Compute the routes again.

        Unwrapped messages between the client and the first component are forwarded as bytes.
        """
        plain = frozenset((CANCEL_REQUEST, *SUCCESSOR_METHODS))
        first = self._slots[0] if self._slots and self._slots[0].is_ready else None
        self._front.watched = plain
        self._front.through = None if first is None else first.hop
        for slot in self._slots:
            assert slot.hop is not None
            slot.hop.watched = plain
            slot.hop.through = self._front if slot is first else None
        self._direct = self._routes()
        self._pause_others()

    def _pause_others(self) -> None:
        """Pause all other hops while a component restarts, so that their messages wait there."""
        ready = {slot.hop for slot in self._slots if slot.is_ready} | {self._front}
        is_waiting = len(ready) <= len(self._slots) and self._failed is None
        wanted = {hop for hop in ready if hop is not None} if is_waiting else set[Hop]()
        for hop in wanted - self._held:
            hop.pause()
        for hop in self._held - wanted:
            hop.resume()
        self._held = wanted

    def _routes(self) -> dict[Endpoint, Endpoint]:
        """Return the target of each endpoint's messages, if they need not wait."""
        front, slots, routes = self._front, self._slots, dict[Endpoint, Endpoint]()
        for before, behind in pairwise(slots):
            if behind.is_ready:
                routes[before.far] = behind.near
            if before.is_ready:
                routes[behind.near] = before.far
        if slots:
            routes[slots[0].near] = front.near
            if slots[0].is_ready:
                routes[front.near] = slots[0].near
        if slots and front.far is not None:
            routes[slots[-1].far] = front.far
            if slots[-1].is_ready:
                routes[front.far] = slots[-1].far
        return routes

    def _slot_of(self, hop: Hop) -> Slot | None:
        return next((slot for slot in self._slots if slot.hop is hop), None)

    def _before(self, slot: Slot) -> Slot | None:
        at = self._slots.index(slot)
        return self._slots[at - 1] if at else None

    def _behind_of(self, slot: Slot) -> Slot | None:
        at = self._slots.index(slot) + 1
        return self._slots[at] if at < len(self._slots) else None

    def has_successor(self, slot: Slot) -> bool:
        """Whether a component is a proxy."""
        return slot is not self._slots[-1] or self._is_member

    # ---- receiving

    def notified(self, end: Endpoint, method: str, params: Raw, frame: bytes | None) -> None:
        direct = self._direct.get(end)
        if direct is not None and (direct.wrapper is not None or frame is None):
            direct.notify(method, params)
            return

        def send(to: Endpoint) -> None:
            if frame is not None and to.wrapper is None and to.hop.is_listening:
                to.hop.post(frame)
            else:
                to.notify(method, params)

        self._route(end, send, lambda: None)

    def requested(self, request: OpenRequest, params: Raw) -> None:
        """Forward a request, or initialize a component."""
        is_from_front = request.end is self._front.near
        if is_from_front and self._failed is not None:
            # The remaining components end with the chain and would be named as the cause.
            request.refuse(INTERNAL_ERROR, self._failed, self._remains)
            return
        if is_from_front and request.method in INITIALIZE_PROXY:
            self._is_member = True
            self._front.far = Endpoint(self._front, INITIALIZE_PROXY[request.method])
            self._rewire()
            request.method = INITIALIZE
        elif is_from_front and request.method == INITIALIZE and not self._has_agent:
            said = "this chain has no agent: add one, or run the chain inside a conductor's chain"
            request.refuse(INVALID_REQUEST, said)
            return

        def send(to: Endpoint) -> None:
            slot = self._slot_of(to.hop)
            if request.method == INITIALIZE and slot is not None and to is slot.near:
                self._initialize(slot, request, bytes(params))
            elif request.method == INITIALIZE and to is self._front.far:
                pass_on(request, params, to, SuccessorInitialize(self, request))
            else:
                pass_on(request, params, to, AnswerForwarder(request))

        def nowhere() -> None:
            request.refuse(METHOD_NOT_FOUND, "the last component of a chain has no successor")

        slot = self._slot_of(request.end.hop)
        if request.method == INITIALIZE and slot is not None and not slot.is_ready:
            self._answer_again(slot, request)
        else:
            self._route(request.end, send, nowhere)

    def _route(
        self, end: Endpoint, send: Callable[[Endpoint], None], nowhere: Callable[[], None]
    ) -> None:
        """Find the target of a message, which may have to wait for a restarting component."""
        direct = self._direct.get(end)
        if direct is not None:
            send(direct)
            return
        front = self._front
        if end is front.near and self._slots:
            self._to(self._slots[0], lambda slot: send(slot.near))
            return
        if end is front.far and self._slots:
            self._to(self._slots[-1], lambda slot: send(slot.far))
            return
        if end.hop is front and front.far is not None:
            # All components were bypassed in a larger chain: the two neighbours talk directly.
            send(front.far if end is front.near else front.near)
            return
        slot = self._slot_of(end.hop)
        if slot is None:
            return
        if end is slot.near:
            before = self._before(slot)
            if before is None:
                send(self._front.near)
            else:
                self._to(before, lambda found: send(found.far))
            return
        behind = self._behind_of(slot)
        if behind is not None:
            self._to(behind, lambda found: send(found.near))
        elif self._front.far is not None:
            send(self._front.far)
        else:
            nowhere()

    def _to(self, slot: Slot, step: Callable[[Slot], None]) -> None:
        if slot.is_ready:
            step(slot)
        else:
            slot.waiting.append(step)

    def withdrawn(self, request: OpenRequest, params: Raw) -> None:
        """Cancel a request that its sender has withdrawn."""
        pass_on_cancel(request, params)

    # ---- initialize

    def _initialize(self, slot: Slot, request: OpenRequest, params: bytes) -> None:
        slot.params = params
        receiver = InitializeAnswer(self, slot, request)
        method = "proxy/initialize" if self.has_successor(slot) else INITIALIZE
        pass_on(request, params, slot.near, receiver, method)

    def _answer_again(self, slot: Slot, request: OpenRequest) -> None:
        """Answer the `initialize` of a restarted component with its successor's earlier answer."""
        behind = self._behind_of(slot)
        known = self._behind if behind is None else behind.result
        if known is None:
            request.refuse(INTERNAL_ERROR, "the next component has not been initialized")
        else:
            request.answer(known)

    def must_translate(self, slot: Slot, spoken: Spoken | None) -> bool:
        """Whether a component needs a translator to be in the chain.

        `spoken` is None for one that could not read `initialize`: it may know only the keys of the
        draft, which the translator finds out.
        """
        is_agent = len(self._slots) > 1 and not self.has_successor(slot)
        if not is_agent or slot.is_translated:
            return False
        front = self._front.transport
        # Behind a translated client the chain uses v1, whatever the agent would choose.
        is_v1 = isinstance(front, OfficialClient) and front.is_translated
        return spoken in (None, "draft") or (spoken == "v2" and is_v1)

    def translate(self, slot: Slot, request: OpenRequest, speaks: Spoken | None) -> None:
        """Restart the agent behind a translator, and send `initialize` again."""
        assert slot.hop is not None
        _log.info("%s may speak the 2026-02 draft; adding a translator", slot.component.name)
        old = slot.hop
        old.retire(Ended("it is restarted behind a translator", clean=True))
        slot.is_ready, slot.is_translated = False, True
        slot.component = translated(slot.component, speaks)
        self._rewire()
        self._tasks.start_soon(self._start_translated, slot, old, request)

    async def _start_translated(self, slot: Slot, old: Hop, request: OpenRequest) -> None:
        await old.transport.aclose()
        await self._start_component(slot)
        self.back(slot)
        assert slot.params is not None
        self._initialize(slot, request, slot.params)

    def remember(self, result: bytes) -> None:
        """Keep the capabilities of the component behind this whole chain."""
        self._behind = result

    # ---- exits

    def gone(self, hop: Hop, why: Ended) -> None:
        """Handle the exit of the client or of a component."""
        self._quiet.set()
        slot = self._slot_of(hop)
        if slot is None or self._over.is_set():
            if hop is self._front:
                self._over.set()
            return
        self._remains = Raw(encode(gone_data(hop, why)))
        is_proxy = self.has_successor(slot)
        if self._on_death == "bypass" and is_proxy and slot.result is not None:
            _log.warning("%s; the chain continues without it", gone_sentence(hop, why))
            self._slots.remove(slot)
            self._tasks.start_soon(hop.transport.aclose)
            self._rewire()
        elif self._on_death == "restart" and slot.result is not None:
            if slot.may_restart:
                _log.warning("%s; restarting it", gone_sentence(hop, why))
                slot.restarts += 1
                slot.is_ready = False
                self._rewire()
                self._tasks.start_soon(self._restart, slot, hop)
            else:
                self.fail(f"{gone_sentence(hop, why)} (after {slot.restarts} restarts)")
        else:
            self.fail(gone_sentence(hop, why))

    async def _restart(self, slot: Slot, old: Hop) -> None:
        await old.transport.aclose()
        try:
            await self._start_component(slot)
        except Exception as error:  # noqa: BLE001 - the chain ends with this error
            self.fail(f"{slot.component.name} cannot be restarted: {error}")
            return
        self._rewire()
        assert slot.params is not None
        method = "proxy/initialize" if self.has_successor(slot) else INITIALIZE
        slot.near.call(method, slot.params, RestartAnswer(self, slot))

    def back(self, slot: Slot) -> None:
        """Release the messages that wait for a restarted component."""
        slot.is_ready = True
        self._rewire()
        while slot.waiting and slot.is_ready:
            slot.waiting.popleft()(slot)

    def fail(self, sentence: str) -> None:
        """End the chain with this sentence."""
        if self._failed is None:
            self._failed = sentence
            self._pause_others()
        self._over.set()

    def answered(self, request: OpenRequest) -> None:
        """Wake the task that waits until all requests are answered."""
        self._quiet.set()


def translated(component: Component, speaks: Spoken | None) -> Component:
    """Return the component behind a translator, which serves v1 or v2."""

    def connect(tasks: TaskGroup) -> Transport:
        from accord.proxy.relay.translated_transport import Translated

        return Translated(lambda: component.connect(tasks), speaks=speaks)

    return Component(component.name, connect)


async def conduct(
    components: Sequence[Component],
    client: Transport,
    *,
    on_death: OnDeath = "fail",
    has_agent: bool = True,
) -> Outcome:
    """Run a chain until its client disconnects, or a component exits that it cannot do without.

    Raises:
        SpawnFailed: one of the programs cannot be started.
    """
    outcome: Outcome | None = None
    problem: AccordError | None = None
    async with anyio.create_task_group() as tasks:
        conductor = Conductor(components, client, tasks, on_death=on_death, has_agent=has_agent)
        try:
            outcome = await conductor.serve()
        except AccordError as error:
            # Raised below, where no task group wraps it.
            problem = error
        tasks.cancel_scope.cancel()
    if problem is not None:
        raise problem
    assert outcome is not None
    return outcome
