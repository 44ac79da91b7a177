"""A chain of proxies with an agent at its end, which looks like one agent from outside.

Every component speaks only to the conductor.  What a proxy has to say to its successor it wraps in
`proxy/successor`; what it says plainly is for its predecessor.  The conductor unwraps, wraps and
passes on, and keeps the ids of each wire to that wire.  Told `proxy/initialize` itself, it is a
proxy in a larger chain, and what its last component wraps goes on to the one behind it.

What always holds
    * A component with a successor is sent `proxy/initialize` (or `_proxy/initialize`, if that is
      what it knows), the last one `initialize`.
    * Messages in each direction keep their order.
    * Proxies see v1 or v2: a client or an agent that speaks the 2026-02 draft is translated at its
      end of the chain.
    * A component that dies ends its open requests with an error that names it; what follows is as
      `on_death` says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final, Literal, TypeAlias

import anyio
from anyio.abc import TaskGroup

from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND
from accord.machine.logs import logger
from accord.proxy.chain.client_translation import OfficialClient
from accord.proxy.chain.component import (
    Component,
    InitializeAnswer,
    RestartAnswer,
    Slot,
    SuccessorInitialize,
)
from accord.proxy.conversation import (
    INITIALIZE,
    INITIALIZE_PROXY,
    LAST_ANSWERS_SECONDS_MAX,
    LAST_WORDS_SECONDS_MAX,
)
from accord.proxy.hop import Endpoint, Hop, OpenRequest, Outbox
from accord.proxy.request_forward import (
    AnswerForwarder,
    gone_data,
    gone_sentence,
    pass_on,
    pass_on_cancel,
)
from accord.proxy.successor import SUCCESSOR_METHODS
from accord.schema.codec import encode
from accord.schema.method import CANCEL_REQUEST
from accord.schema.struct import Raw
from accord.translate.validation import Spoken
from accord.transport.transport import Ended, Transport

_log = logger("accord.proxy")

OnDeath: TypeAlias = Literal["fail", "restart", "bypass"]
RESTARTS_MAX: Final = 5
"""How often one component is started again; one that dies more often cannot be helped."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a chain ended: `failed` is a sentence about the component that ended it, if one did."""

    failed: str | None


class Conductor:
    """See the module.  `serve` is its whole life."""

    def __init__(
        self,
        components: Sequence[Component],
        client: Transport,
        tasks: TaskGroup,
        *,
        on_death: OnDeath = "fail",
        has_agent: bool = True,
    ) -> None:
        """Without an agent the chain is one of proxies alone, for use in a larger one."""
        self._tasks = tasks
        self._outbox = Outbox()
        # Proxies read v1 and v2; a chain of one member has none.
        front = OfficialClient(client) if len(components) > 1 else client
        self._front = Hop("the client", front, self, tasks, self._outbox)
        self._slots = [Slot(component) for component in components]
        self._on_death: OnDeath = on_death
        self._has_agent = has_agent
        # What the component behind the whole chain answered to `initialize`, in a larger chain.
        self._behind: bytes | None = None
        self._is_member = False
        self._direct: dict[Endpoint, Endpoint] = {}
        self._held: set[Hop] = set()
        self._over = anyio.Event()
        self._quiet = anyio.Event()
        self._failed: str | None = None
        self._remains: Raw | None = None

    # ---- life

    async def serve(self) -> Outcome:
        """Conduct until the client goes, or a component that cannot be done without.

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
        """As long as the client reads, what it asked is answered, for a moment."""
        if not self._front.is_listening:
            return
        await self._settled(LAST_ANSWERS_SECONDS_MAX)
        last = self._slots[-1].hop if self._slots and self._failed is None else None
        transport = None if last is None else last.transport
        close_write = getattr(transport, "close_write", None)
        if self._front.open_requests and close_write is not None:
            # It learns that there is no client any more, and may answer then.
            close_write()
            await self._settled(LAST_WORDS_SECONDS_MAX)
        with anyio.move_on_after(LAST_ANSWERS_SECONDS_MAX):
            await self._last_words()

    async def _last_words(self) -> None:
        """Those before a component that went may have something left to say, the last one first."""
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
        """Wait until no request of the client is open, but not longer than that."""
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

    # ---- who is where

    def _rewire(self) -> None:
        """Find out anew who speaks to whom.

        What the client and the first component say plainly to each other passes as bytes.
        """
        plain = frozenset((CANCEL_REQUEST, *SUCCESSOR_METHODS))
        first = self._slots[0] if self._slots and self._slots[0].is_ready else None
        self._front.watched = plain
        self._front.through = None if first is None else first.hop
        for slot in self._slots:
            assert slot.hop is not None
            slot.hop.watched = plain
            slot.hop.through = self._front if slot is first else None
        self._direct = self._ways()
        self._hold_up()

    def _hold_up(self) -> None:
        """While a component is started again, nobody else is read: what waits stays with them."""
        ready = {slot.hop for slot in self._slots if slot.is_ready} | {self._front}
        is_waiting = len(ready) <= len(self._slots) and self._failed is None
        wanted = {hop for hop in ready if hop is not None} if is_waiting else set[Hop]()
        for hop in wanted - self._held:
            hop.pause()
        for hop in self._held - wanted:
            hop.resume()
        self._held = wanted

    def _ways(self) -> dict[Endpoint, Endpoint]:
        """Where what comes from each end goes, as far as nobody has to wait for it."""
        front, slots, ways = self._front, self._slots, dict[Endpoint, Endpoint]()
        for before, behind in pairwise(slots):
            if behind.is_ready:
                ways[before.far] = behind.near
            if before.is_ready:
                ways[behind.near] = before.far
        if slots:
            ways[slots[0].near] = front.near
            if slots[0].is_ready:
                ways[front.near] = slots[0].near
        if slots and front.far is not None:
            ways[slots[-1].far] = front.far
            if slots[-1].is_ready:
                ways[front.far] = slots[-1].far
        return ways

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

    # ---- what comes

    def notified(self, end: Endpoint, method: str, params: Raw, frame: bytes | None) -> None:
        """Pass a notification on."""
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
        """Pass a request on, or see to it that a component initializes."""
        is_from_front = request.end is self._front.near
        if is_from_front and self._failed is not None:
            # Those that are left end with the chain, and would be named as the cause.
            request.refuse(INTERNAL_ERROR, self._failed, self._remains)
            return
        if is_from_front and request.method in INITIALIZE_PROXY:
            self._is_member = True
            self._front.far = Endpoint(self._front, INITIALIZE_PROXY[request.method])
            self._rewire()
            request.method = INITIALIZE
        elif is_from_front and request.method == INITIALIZE and not self._has_agent:
            said = (
                "there is no agent at the end of this chain: give one, or start it by a conductor"
            )
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
        """Find whom a message is for; it may have to wait for a component that starts again."""
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
            # All were bypassed, in a larger chain: the two neighbours speak to each other.
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
        """The asker wants no answer any more."""
        pass_on_cancel(request, params)

    # ---- initialize

    def _initialize(self, slot: Slot, request: OpenRequest, params: bytes) -> None:
        slot.params = params
        receiver = InitializeAnswer(self, slot, request)
        method = "proxy/initialize" if self.has_successor(slot) else INITIALIZE
        pass_on(request, params, slot.near, receiver, method)

    def _answer_again(self, slot: Slot, request: OpenRequest) -> None:
        """A component that was started again asks its successor, which has answered long ago."""
        behind = self._behind_of(slot)
        known = self._behind if behind is None else behind.result
        if known is None:
            request.refuse(INTERNAL_ERROR, "the component behind has not initialized")
        else:
            request.answer(known)

    def must_translate(self, slot: Slot, spoken: Spoken | None) -> bool:
        """Whether what sits there cannot stand in the chain as it is.

        `spoken` is None for one that could not read `initialize`: perhaps it reads only the keys
        of the draft, which the translator finds out.
        """
        is_agent = len(self._slots) > 1 and not self.has_successor(slot)
        if not is_agent or slot.is_translated:
            return False
        front = self._front.transport
        # Behind a translated client the chain speaks v1, whatever the agent would choose.
        is_v1 = isinstance(front, OfficialClient) and front.is_translated
        return spoken in (None, "draft") or (spoken == "v2" and is_v1)

    def translate(self, slot: Slot, request: OpenRequest, speaks: Spoken | None) -> None:
        """Start the agent again behind a translator, and ask it once more to initialize."""
        assert slot.hop is not None
        _log.info("%s may speak the 2026-02 draft; it is translated", slot.component.name)
        old = slot.hop
        old.retire(Ended("it is started again behind a translator", clean=True))
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
        """What the component behind this whole chain can do."""
        self._behind = result

    # ---- death

    def gone(self, hop: Hop, why: Ended) -> None:
        """The client or a component is gone."""
        self._quiet.set()
        slot = self._slot_of(hop)
        if slot is None or self._over.is_set():
            if hop is self._front:
                self._over.set()
            return
        self._remains = Raw(encode(gone_data(hop, why)))
        is_proxy = self.has_successor(slot)
        if self._on_death == "bypass" and is_proxy and slot.result is not None:
            _log.warning("%s; the chain goes on without it", gone_sentence(hop, why))
            self._slots.remove(slot)
            self._tasks.start_soon(hop.transport.aclose)
            self._rewire()
        elif self._on_death == "restart" and slot.result is not None:
            if slot.restarts < RESTARTS_MAX:
                _log.warning("%s; it is started again", gone_sentence(hop, why))
                slot.restarts += 1
                slot.is_ready = False
                self._rewire()
                self._tasks.start_soon(self._restart, slot, hop)
            else:
                self.fail(f"{gone_sentence(hop, why)} (for the {slot.restarts + 1}th time)")
        else:
            self.fail(gone_sentence(hop, why))

    async def _restart(self, slot: Slot, old: Hop) -> None:
        await old.transport.aclose()
        try:
            await self._start_component(slot)
        except Exception as error:  # noqa: BLE001 - the chain ends with that sentence
            self.fail(f"{slot.component.name} cannot be started again: {error}")
            return
        self._rewire()
        assert slot.params is not None
        method = "proxy/initialize" if self.has_successor(slot) else INITIALIZE
        slot.near.call(method, slot.params, RestartAnswer(self, slot))

    def back(self, slot: Slot) -> None:
        """A component has been started again and is ready."""
        slot.is_ready = True
        self._rewire()
        while slot.waiting and slot.is_ready:
            slot.waiting.popleft()(slot)

    def fail(self, sentence: str) -> None:
        """The chain cannot go on."""
        if self._failed is None:
            self._failed = sentence
            self._hold_up()
        self._over.set()

    def answered(self, request: OpenRequest) -> None:
        """Somebody may wait for the last answer."""
        self._quiet.set()


def translated(component: Component, speaks: Spoken | None) -> Component:
    """The same component behind a translator, which serves v1 or v2 as it is asked to."""

    def connect(tasks: TaskGroup) -> Transport:
        from accord.proxy.relay.translated_transport import Translated

        return Translated(lambda: component.connect(tasks), speaks=speaks)

    return Component(component.name, connect)


__all__ = ["Component", "Conductor", "OnDeath", "Outcome"]
