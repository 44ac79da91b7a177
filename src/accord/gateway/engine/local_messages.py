"""Messages to the owner of a session when all nodes are in one process.

A message behaves as it would between machines: a sender that stops waiting does not stop the
handler, and a handler that raises does not stop the node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup, TaskStatus

from accord.gateway.engine.engine_errors import (
    HandlerFailed,
    NoOwner,
    OwnerBusy,
    OwnerLost,
    RoutingError,
)
from accord.gateway.engine.interface import Handler, Node
from accord.gateway.engine.limits import MESSAGE_BYTES_MAX, check_bytes

# Messages to one node that have no answer yet.
UNANSWERED_MAX = 1024


class _Question:
    """A message and its answer."""

    __slots__ = ("answer", "error", "message", "session", "settled")

    def __init__(self, session: str, message: bytes) -> None:
        self.session = session
        self.message = message
        self.answer: bytes | None = None
        self.error: RoutingError | None = None
        self.settled = anyio.Event()

    def settle(self, answer: bytes | None, error: RoutingError | None) -> None:
        self.answer, self.error = answer, error
        self.settled.set()


@dataclass(slots=True, eq=False)
class _Service:
    """A node that answers messages."""

    node: Node
    handler: Handler
    tasks: TaskGroup
    unanswered: set[_Question] = field(default_factory=set)

    async def answer(self, question: _Question) -> None:
        """Call the handler for one message."""
        try:
            answer = await self.handler(question.session, question.message)
        except Exception as error:  # noqa: BLE001 - whatever it is, the sender is told
            question.settle(None, HandlerFailed(question.session, repr(error)))
        else:
            question.settle(answer, None)
        # Not if it was cancelled: then the end of the service settles it.
        self.unanswered.discard(question)


class LocalMessages:
    """The nodes of this process that answer messages.  `owner` finds the owner of a session."""

    def __init__(self, owner: Callable[[str], Node | None]) -> None:
        self._owner = owner
        self._services: dict[Node, _Service] = {}

    async def serve(self, node: Node, handler: Handler, task_status: TaskStatus[None]) -> None:
        """Answer messages until cancelled."""
        if node in self._services:
            raise ValueError(f"node {node.name!r} is served already")
        service = None
        try:
            async with anyio.create_task_group() as tasks:
                service = self._services[node] = _Service(node, handler, tasks)
                task_status.started()
                await anyio.sleep_forever()
        finally:
            # Not inside the group: what it cancels has ended here.
            if service is not None:
                del self._services[node]
                for question in service.unanswered:
                    question.settle(None, OwnerLost(question.session, node.name))

    async def send(self, session: str, message: bytes) -> bytes:
        """Deliver a message and wait for its answer."""
        check_bytes("a message", message, MESSAGE_BYTES_MAX)
        await anyio.lowlevel.checkpoint()
        node = self._owner(session)
        service = None if node is None else self._services.get(node)
        if service is None:
            raise NoOwner(session)
        if len(service.unanswered) >= UNANSWERED_MAX:
            raise OwnerBusy(session, service.node.name)
        question = _Question(session, message)
        service.unanswered.add(question)
        service.tasks.start_soon(service.answer, question)
        await question.settled.wait()
        if question.error is not None:
            raise question.error
        assert question.answer is not None
        return question.answer
