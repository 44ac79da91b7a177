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
from accord.proxy.hop import Hop
from accord.proxy.open_requests import Asked, End
from accord.proxy.request_forward import Passed, heed_version, pass_on
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


class Seat:
    """A component in its place, whatever process sits there now."""

    def __init__(self, component: Component) -> None:
        self.component = component
        self.hop: Hop | None = None
        self.is_ready = True
        self.waiting: deque[Callable[[Seat], None]] = deque()
        self.restarts = 0
        # Whether a translator stands before it already.
        self.is_translated = False
        # What it was asked to initialize with, and what it answered.
        self.params: bytes | None = None
        self.result: bytes | None = None

    @property
    def near(self) -> End:
        """The component, for what comes from before it."""
        assert self.hop is not None
        return self.hop.near

    @property
    def far(self) -> End:
        """The component, for what comes from behind it."""
        assert self.hop is not None
        assert self.hop.far is not None
        return self.hop.far


class Chain(Protocol):
    """The conductor, as far as answers concern it."""

    def remember(self, result: bytes) -> None:
        """What the component behind the whole chain can do."""
        ...

    def has_successor(self, seat: Seat) -> bool:
        """Whether a component is a proxy."""
        ...

    def back(self, seat: Seat) -> None:
        """A component has been started again and is ready."""
        ...

    def must_translate(self, seat: Seat, spoken: Spoken | None) -> bool:
        """Whether what sits there cannot stand in the chain as it is.

        `spoken` is None for one that could not read `initialize`.
        """
        ...

    def translate(self, seat: Seat, asked: Asked, speaks: Spoken | None) -> None:
        """Start the agent again behind a translator, and ask it once more to initialize."""
        ...

    def fail(self, sentence: str) -> None:
        """The chain cannot go on."""
        ...


class Behind(Passed):
    """Waits for the answer to `initialize` of the component behind the whole chain."""

    __slots__ = ("_chain",)

    def __init__(self, chain: Chain, asked: Asked) -> None:
        super().__init__(asked)
        self._chain = chain

    def answered(self, result: Raw) -> None:
        """Keep it for a component that is started again."""
        self._chain.remember(bytes(result))
        super().answered(result)


class Initializing(Passed):
    """Waits for a component's answer to `initialize`, and asks again by the older name."""

    __slots__ = ("_again", "_chain", "_seat")

    def __init__(self, chain: Chain, seat: Seat, asked: Asked, again: bool = False) -> None:
        super().__init__(asked)
        self._chain = chain
        self._seat = seat
        self._again = again

    def answered(self, result: Raw) -> None:
        """Keep it for whoever is started again before it."""
        spoken = _dialect(result)
        if spoken is not None and self._chain.must_translate(self._seat, spoken):
            self._chain.translate(self._seat, self.asked, spoken)
            return
        self._seat.result = bytes(result)
        heed_version(result, (self._seat.hop, self.asked.end.hop))
        super().answered(result)

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        """One that does not know the method may know it by the name that the Rust SDK gives it."""
        seat = self._seat
        if code == INVALID_PARAMS and self._chain.must_translate(seat, None):
            self._chain.translate(seat, self.asked, None)
            return
        is_proxy = seat.hop is not None and self._chain.has_successor(seat)
        if code != METHOD_NOT_FOUND or not is_proxy:
            super().failed(code, message, data)
        elif self._again:
            said = f"{seat.component.name} is no proxy: it does not know proxy/initialize"
            super().failed(code, said, encode_component(seat))
        else:
            seat.far.wrapper = "_proxy/successor"
            assert seat.params is not None
            then = Initializing(self._chain, seat, self.asked, again=True)
            pass_on(self.asked, seat.params, seat.near, then, "_proxy/initialize")


class Restarting:
    """Waits for the answer of a component that was started again."""

    def __init__(self, chain: Chain, seat: Seat, again: bool = False) -> None:
        self._chain = chain
        self._seat = seat
        self._again = again

    def answered(self, result: Raw) -> None:
        """It is ready; what it can do is known already."""
        self._chain.back(self._seat)

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        """It is of no use, unless it knows the method by its older name."""
        seat = self._seat
        if code == METHOD_NOT_FOUND and not self._again:
            seat.far.wrapper = "_proxy/successor"
            assert seat.params is not None
            then = Restarting(self._chain, seat, again=True)
            seat.near.call("_proxy/initialize", seat.params, then)
        else:
            self._chain.fail(f"{seat.component.name} was started again and refused: {message}")

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


def encode_component(seat: Seat) -> Raw:
    """The data of an error that names a component."""
    return Raw(encode({"component": seat.component.name}))


__all__ = ["Behind", "Component", "Initializing", "Restarting", "Seat"]
