"""The components of a chain: programs and in-process proxies, and their answers to `initialize`.

Must not know the order of the components.
"""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from anyio.abc import TaskGroup

from accord.jsonrpc.error_codes import INVALID_PARAMS, METHOD_NOT_FOUND
from accord.machine.own_command_line import readable_command
from accord.protocol.negotiation import Chosen, judge_answer
from accord.proxy.hop import Endpoint, Hop, OpenRequest
from accord.proxy.proxy import Proxy
from accord.proxy.request_forward import AnswerForwarder, pass_on, use_version
from accord.schema.codec import encode, to_python
from accord.schema.invalid import Invalid
from accord.schema.struct import Raw
from accord.translate.validation import Spoken
from accord.transport.memory import memory_pair
from accord.transport.subprocess import StderrListener, SubprocessTransport
from accord.transport.transport import Ended, Transport

RESTARTS_MAX: Final = 5
"""How often one component is restarted."""


@dataclass(frozen=True, slots=True)
class Component:
    """One component of the chain: its name for people, and a function that starts it."""

    name: str
    connect: Callable[[TaskGroup], Transport]


class Slot:
    """A place in the chain and the process that runs there now."""

    def __init__(self, component: Component) -> None:
        self.component = component
        self.hop: Hop | None = None
        self.is_ready = True
        self.waiting: deque[Callable[[Slot], None]] = deque()
        self.restarts = 0
        # Whether it already has a translator before it.
        self.is_translated = False
        # The params and the result of its `initialize`.
        self.params: bytes | None = None
        self.result: bytes | None = None

    @property
    def may_restart(self) -> bool:
        """Whether the component may be restarted once more."""
        return self.restarts < RESTARTS_MAX

    @property
    def near(self) -> Endpoint:
        """The component, for messages from before it."""
        assert self.hop is not None
        return self.hop.near

    @property
    def far(self) -> Endpoint:
        """The component, for messages from behind it."""
        assert self.hop is not None
        assert self.hop.far is not None
        return self.hop.far


class Chain(Protocol):
    """The part of the conductor that handles answers."""

    def remember(self, result: bytes) -> None:
        """Keep the capabilities of the component behind the whole chain."""
        ...

    def has_successor(self, slot: Slot) -> bool:
        """Whether a component is a proxy."""
        ...

    def back(self, slot: Slot) -> None:
        """Take notice that a restarted component is ready."""
        ...

    def must_translate(self, slot: Slot, spoken: Spoken | None) -> bool:
        """Whether a component needs a translator to be in the chain.

        `spoken` is None for one that could not read `initialize`.
        """
        ...

    def translate(self, slot: Slot, request: OpenRequest, speaks: Spoken | None) -> None:
        """Restart the agent behind a translator, and send `initialize` again."""
        ...

    def fail(self, sentence: str) -> None:
        """End the chain with this sentence."""
        ...


class SuccessorInitialize(AnswerForwarder):
    """The answer to `initialize` of the component behind the whole chain."""

    __slots__ = ("_chain",)

    def __init__(self, chain: Chain, request: OpenRequest) -> None:
        super().__init__(request)
        self._chain = chain

    def answered(self, result: Raw) -> None:
        """Keep the result for a component that is restarted."""
        self._chain.remember(bytes(result))
        super().answered(result)


class InitializeAnswer(AnswerForwarder):
    """A component's answer to `initialize`; tries the older method name if necessary."""

    __slots__ = ("_again", "_chain", "_slot")

    def __init__(self, chain: Chain, slot: Slot, request: OpenRequest, again: bool = False) -> None:
        super().__init__(request)
        self._chain = chain
        self._slot = slot
        self._again = again

    def answered(self, result: Raw) -> None:
        """Keep the result for a component before it that is restarted."""
        spoken = _dialect(result)
        if spoken is not None and self._chain.must_translate(self._slot, spoken):
            self._chain.translate(self._slot, self.request, spoken)
            return
        self._slot.result = bytes(result)
        use_version(result, (self._slot.hop, self.request.end.hop))
        super().answered(result)

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        """Try the name that the Rust SDK uses if the component does not know the method."""
        slot = self._slot
        if code == INVALID_PARAMS and self._chain.must_translate(slot, None):
            self._chain.translate(slot, self.request, None)
            return
        is_proxy = slot.hop is not None and self._chain.has_successor(slot)
        if code != METHOD_NOT_FOUND or not is_proxy:
            super().failed(code, message, data)
        elif self._again:
            said = f"{slot.component.name} is not a proxy: it does not know proxy/initialize"
            super().failed(code, said, encode_component(slot))
        else:
            slot.far.wrapper = "_proxy/successor"
            assert slot.params is not None
            receiver = InitializeAnswer(self._chain, slot, self.request, again=True)
            pass_on(self.request, slot.params, slot.near, receiver, "_proxy/initialize")


class RestartAnswer:
    """The answer to `initialize` of a component that was restarted."""

    def __init__(self, chain: Chain, slot: Slot, again: bool = False) -> None:
        self._chain = chain
        self._slot = slot
        self._again = again

    def answered(self, result: Raw) -> None:
        """Report that the component is ready; its capabilities are already known."""
        self._chain.back(self._slot)

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        """Try the older method name, or end the chain."""
        slot = self._slot
        if code == METHOD_NOT_FOUND and not self._again:
            slot.far.wrapper = "_proxy/successor"
            assert slot.params is not None
            receiver = RestartAnswer(self._chain, slot, again=True)
            slot.near.call("_proxy/initialize", slot.params, receiver)
        else:
            self._chain.fail(
                f"{slot.component.name} was restarted and refused to initialize: {message}"
            )

    def lost(self, hop: Hop, why: Ended) -> None:
        """Do nothing: the conductor gets notice of every exit."""


def _dialect(result: Raw) -> Spoken | None:
    """Return the dialect of an answer to `initialize`, or None if it is not clear."""
    try:
        answer = to_python(result)
    except Invalid:
        return None
    chosen = judge_answer(answer, (1, 2)) if isinstance(answer, dict) else None
    return chosen.dialect if isinstance(chosen, Chosen) else None


def encode_component(slot: Slot) -> Raw:
    """Return the data of an error that names a component."""
    return Raw(encode({"component": slot.component.name}))


def program(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    stderr: StderrListener | None = None,
) -> Component:
    """Return a component that is a program; `stderr` gets what it writes there."""
    words = tuple(command)
    return Component(
        shlex.join(readable_command(words)),
        lambda _: SubprocessTransport(words, env=env, stderr=stderr),
    )


def in_process(make: Callable[[], Proxy]) -> Component:
    """Return a component that is a proxy in this process; each start makes a new one."""

    def connect(tasks: TaskGroup) -> Transport:
        ours, theirs = memory_pair()
        tasks.start_soon(make().serve, theirs)
        return ours

    return Component(make().name, connect)
