"""The places of a chain: a component in each, and the answers that a conductor waits for.

Must not know the order of the places.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from anyio.abc import TaskGroup

from accord.jsonrpc.error_codes import INVALID_PARAMS, METHOD_NOT_FOUND
from accord.protocol.negotiation import Chosen, judge_answer
from accord.proxy.hop import Endpoint, Hop, OpenRequest
from accord.proxy.request_forward import AnswerForwarder, pass_on, use_version
from accord.schema.codec import encode, to_python
from accord.schema.invalid import Invalid
from accord.schema.struct import Raw
from accord.translate.validation import Spoken
from accord.transport.transport import Ended, Transport


@dataclass(frozen=True, slots=True)
class Component:
    """One member of the chain: what people call it, and how to reach a new one."""

    name: str
    connect: Callable[[TaskGroup], Transport]


class Slot:
    """A component in its place, whatever process sits there now."""

    def __init__(self, component: Component) -> None:
        self.component = component
        self.hop: Hop | None = None
        self.is_ready = True
        self.waiting: deque[Callable[[Slot], None]] = deque()
        self.restarts = 0
        # Whether a translator stands before it already.
        self.is_translated = False
        # What it was asked to initialize with, and what it answered.
        self.params: bytes | None = None
        self.result: bytes | None = None

    @property
    def near(self) -> Endpoint:
        """The component, for what comes from before it."""
        assert self.hop is not None
        return self.hop.near

    @property
    def far(self) -> Endpoint:
        """The component, for what comes from behind it."""
        assert self.hop is not None
        assert self.hop.far is not None
        return self.hop.far


class Chain(Protocol):
    """The conductor, as far as answers concern it."""

    def remember(self, result: bytes) -> None:
        """What the component behind the whole chain can do."""
        ...

    def has_successor(self, slot: Slot) -> bool:
        """Whether a component is a proxy."""
        ...

    def back(self, slot: Slot) -> None:
        """A component has been started again and is ready."""
        ...

    def must_translate(self, slot: Slot, spoken: Spoken | None) -> bool:
        """Whether what sits there cannot stand in the chain as it is.

        `spoken` is None for one that could not read `initialize`.
        """
        ...

    def translate(self, slot: Slot, request: OpenRequest, speaks: Spoken | None) -> None:
        """Start the agent again behind a translator, and ask it once more to initialize."""
        ...

    def fail(self, sentence: str) -> None:
        """The chain cannot go on."""
        ...


class SuccessorInitialize(AnswerForwarder):
    """Waits for the answer to `initialize` of the component behind the whole chain."""

    __slots__ = ("_chain",)

    def __init__(self, chain: Chain, request: OpenRequest) -> None:
        super().__init__(request)
        self._chain = chain

    def answered(self, result: Raw) -> None:
        """Keep it for a component that is started again."""
        self._chain.remember(bytes(result))
        super().answered(result)


class InitializeAnswer(AnswerForwarder):
    """Waits for a component's answer to `initialize`, and asks again by the older name."""

    __slots__ = ("_again", "_chain", "_slot")

    def __init__(self, chain: Chain, slot: Slot, request: OpenRequest, again: bool = False) -> None:
        super().__init__(request)
        self._chain = chain
        self._slot = slot
        self._again = again

    def answered(self, result: Raw) -> None:
        """Keep it for whoever is started again before it."""
        spoken = _dialect(result)
        if spoken is not None and self._chain.must_translate(self._slot, spoken):
            self._chain.translate(self._slot, self.request, spoken)
            return
        self._slot.result = bytes(result)
        use_version(result, (self._slot.hop, self.request.end.hop))
        super().answered(result)

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        """One that does not know the method may know it by the name that the Rust SDK gives it."""
        slot = self._slot
        if code == INVALID_PARAMS and self._chain.must_translate(slot, None):
            self._chain.translate(slot, self.request, None)
            return
        is_proxy = slot.hop is not None and self._chain.has_successor(slot)
        if code != METHOD_NOT_FOUND or not is_proxy:
            super().failed(code, message, data)
        elif self._again:
            said = f"{slot.component.name} is no proxy: it does not know proxy/initialize"
            super().failed(code, said, encode_component(slot))
        else:
            slot.far.wrapper = "_proxy/successor"
            assert slot.params is not None
            receiver = InitializeAnswer(self._chain, slot, self.request, again=True)
            pass_on(self.request, slot.params, slot.near, receiver, "_proxy/initialize")


class RestartAnswer:
    """Waits for the answer of a component that was started again."""

    def __init__(self, chain: Chain, slot: Slot, again: bool = False) -> None:
        self._chain = chain
        self._slot = slot
        self._again = again

    def answered(self, result: Raw) -> None:
        """It is ready; what it can do is known already."""
        self._chain.back(self._slot)

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        """It is of no use, unless it knows the method by its older name."""
        slot = self._slot
        if code == METHOD_NOT_FOUND and not self._again:
            slot.far.wrapper = "_proxy/successor"
            assert slot.params is not None
            receiver = RestartAnswer(self._chain, slot, again=True)
            slot.near.call("_proxy/initialize", slot.params, receiver)
        else:
            self._chain.fail(f"{slot.component.name} was started again and refused: {message}")

    def lost(self, hop: Hop, why: Ended) -> None:
        """It died again; the conductor is told of that as of any death."""


def _dialect(result: Raw) -> Spoken | None:
    """What an agent speaks by its answer to `initialize`; None where that cannot be told."""
    try:
        answer = to_python(result)
    except Invalid:
        return None
    chosen = judge_answer(answer, (1, 2)) if isinstance(answer, dict) else None
    return chosen.dialect if isinstance(chosen, Chosen) else None


def encode_component(slot: Slot) -> Raw:
    """The data of an error that names a component."""
    return Raw(encode({"component": slot.component.name}))


__all__ = ["Component", "InitializeAnswer", "RestartAnswer", "Slot", "SuccessorInitialize"]
