"""A component between a client and an agent, in a few lines.

    proxy = Proxy("shout")

    @proxy.on_update("agent_message_chunk")
    def louder(update):
        update["content"]["text"] = update["content"]["text"].upper()

    proxy.run("python my_agent.py")

A function is given the messages it was registered for; everything else passes as the bytes that
came.  What a function changes goes on changed; what it returns False for does not go on.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import anyio

from accord.errors import AccordError
from accord.jsonrpc.framing import FRAME_BYTES_MAX
from accord.proxy.conversation import ProxyConversation
from accord.proxy.handler_registry import ANY, Handlers
from accord.proxy.message import Sender
from accord.transport.transport import Ended, Transport

F = TypeVar("F", bound=Callable[..., Any])

INTERRUPTED = 130


class Proxy:
    """See the module.  One proxy may serve several conversations; each has a `Link` of its own.

    `of` limits a function to messages of the `client` or of the `agent`; the method `*` stands
    for all that no other function was given for, or for all notifications.
    """

    def __init__(self, name: str = "proxy", *, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        self.name = name
        self._handlers = Handlers()
        self._frame_bytes_max = frame_bytes_max

    # ---- what it cares about

    def on_request(self, method: str, *, of: Sender | None = None) -> Callable[[F], F]:
        """For requests: `(message)` or, if it waits for the answer, `async (message, forward)`.

        `await forward(message)` passes the request on and gives the result as plain JSON; what the
        function returns is the answer.  Returning nothing passes the request on, or its answer
        back.  `RequestError` answers with that error.
        """

        def register(function: F) -> F:
            self._handlers.add_request(method, function, of)
            return function

        return register

    def on_response(self, method: str, *, of: Sender | None = None) -> Callable[[F], F]:
        """For good answers to requests of this method: `(response)`, which may be changed.

        `of` is who sent the request.
        """

        def register(function: F) -> F:
            self._handlers.add_response(method, function, of)
            return function

        return register

    def on_notification(self, method: str, *, of: Sender | None = None) -> Callable[[F], F]:
        """For notifications: `(message)`; returning False drops it."""

        def register(function: F) -> F:
            self._handlers.add_notification(method, function, of)
            return function

        return register

    def on_update(self, kind: str = ANY) -> Callable[[F], F]:
        """For updates of a session by their kind: `(update)` or `(update, message)`.

        The update is changed in place; one that is returned takes its place; False drops it.
        """

        def register(function: F) -> F:
            self._handlers.add_update(kind, function)
            return function

        return register

    def on_end(self) -> Callable[[F], F]:
        """For the end of a conversation: `(client)`, who may be told something last.

        That arrives where it is the agent that went.
        """

        def register(function: F) -> F:
            self._handlers.add_end(function)
            return function

        return register

    # ---- its life

    async def serve(
        self, client: Transport, agent: Transport | None = None
    ) -> tuple[Sender, Ended]:
        """Stand between two transports until one of them ends; says which, and why.

        Without an agent the first is the wire to a conductor, which has the agent behind it.

        Raises:
            SpawnFailed: the agent's program cannot be started.
        """
        ended: tuple[Sender, Ended] | None = None
        problem: AccordError | None = None
        async with anyio.create_task_group() as tasks:
            conversation = ProxyConversation(
                self.name,
                self._handlers,
                client,
                agent,
                tasks,
                frame_bytes_max=self._frame_bytes_max,
            )
            try:
                ended = await conversation.serve()
            except AccordError as error:
                # Raised outside, where no group wraps it.
                problem = error
            tasks.cancel_scope.cancel()
        if problem is not None:
            raise problem
        assert ended is not None
        return ended

    async def serve_stdio(self, command: str | Sequence[str] | None = None) -> tuple[Sender, Ended]:
        """Stand between whoever started this process and an agent that is started now.

        Without a command this is a member of a conductor's chain.

        Raises:
            SpawnFailed: the agent's program cannot be started.
        """
        from accord.machine.console.stderr_passthrough import PassedOutput
        from accord.transport.stdio import StdioTransport
        from accord.transport.subprocess import SubprocessTransport

        words = shlex.split(command) if isinstance(command, str) else command
        agent = None if words is None else SubprocessTransport(words, stderr=PassedOutput())
        return await self.serve(StdioTransport(), agent)

    def run(self, command: str | Sequence[str] | None = None) -> None:
        """`serve_stdio`, as the whole life of a program.

        The process ends with 1, and with a sentence, when the agent went first.
        """
        from accord.machine.console.control_characters import visible

        try:
            who, why = anyio.run(self.serve_stdio, command)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except AccordError as error:
            sys.exit(f"{self.name}: {visible(str(error))}")
        if who == "agent":
            sys.exit(f"{self.name}: {visible(why.reason)}")


__all__ = ["Proxy"]
