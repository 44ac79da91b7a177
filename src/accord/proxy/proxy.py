"""A component between a client and an agent, in a few lines.

    proxy = Proxy("shout")

    @proxy.on_update("agent_message_chunk")
    def louder(update):
        update["content"]["text"] = update["content"]["text"].upper()

    proxy.run("python my_agent.py")

A function gets the messages it was registered for; everything else is forwarded byte for byte.  A
message that a function changes is forwarded changed; one that it returns False for is dropped.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import anyio

from accord.errors import AccordError
from accord.jsonrpc.framing import FRAME_BYTES_MAX
from accord.proxy.conversation import ProxyConversation
from accord.proxy.handler_registry import ANY, Handlers
from accord.proxy.hop import OutgoingFilter
from accord.proxy.message import Sender
from accord.transport.transport import Ended, Transport

F = TypeVar("F", bound=Callable[..., Any])

INTERRUPTED = 130


class Proxy:
    """A program between clients and agents.  One proxy may serve several conversations.

    `of` limits a function to messages of the `client` or of the `agent`.  The method `*` stands
    for all requests without a function of their own, or for all notifications.
    """

    def __init__(
        self,
        name: str = "proxy",
        *,
        frame_bytes_max: int = FRAME_BYTES_MAX,
        outgoing_filters: Mapping[Sender, OutgoingFilter] | None = None,
    ) -> None:
        """Create a proxy; `outgoing_filters` see every message to a side last of all."""
        self.name = name
        self._handlers = Handlers(outgoing_filters or {})
        self._frame_bytes_max = frame_bytes_max

    # ---- handlers

    def on_request(self, method: str, *, of: Sender | None = None) -> Callable[[F], F]:
        """Register `(message)` or, to wait for the answer, `async (message, forward)`.

        `await forward(message)` forwards the request and returns the result as plain JSON; what the
        function returns is the answer.  A function that returns None forwards the request, or
        returns its answer unchanged.  Raise `RequestError` to answer with an error.
        """

        def register(function: F) -> F:
            self._handlers.add_request(method, function, of)
            return function

        return register

    def on_response(self, method: str, *, of: Sender | None = None) -> Callable[[F], F]:
        """Register `(response)` for results of requests of this method; it may change the result.

        `of` is the sender of the request.
        """

        def register(function: F) -> F:
            self._handlers.add_response(method, function, of)
            return function

        return register

    def on_notification(self, method: str, *, of: Sender | None = None) -> Callable[[F], F]:
        """Register `(message)` for notifications; return False to drop one."""

        def register(function: F) -> F:
            self._handlers.add_notification(method, function, of)
            return function

        return register

    def on_update(self, kind: str = ANY) -> Callable[[F], F]:
        """Register `(update)` or `(update, message)` for session updates of a kind.

        Change the update in place, or return another one; return False to drop it.
        """

        def register(function: F) -> F:
            self._handlers.add_update(kind, function)
            return function

        return register

    def on_end(self) -> Callable[[F], F]:
        """Register `(client)` for the end of a conversation, to send the client a last message.

        It arrives if the agent ended the conversation.
        """

        def register(function: F) -> F:
            self._handlers.add_end(function)
            return function

        return register

    # ---- serving

    async def serve(
        self, client: Transport, agent: Transport | None = None
    ) -> tuple[Sender, Ended]:
        """Forward messages between two transports until one ends; return which one, and why.

        Without an agent, `client` is the transport to a conductor, which reaches the agent.

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
                # Raised below, where no task group wraps it.
                problem = error
            tasks.cancel_scope.cancel()
        if problem is not None:
            raise problem
        assert ended is not None
        return ended

    async def serve_stdio(self, command: str | Sequence[str] | None = None) -> tuple[Sender, Ended]:
        """Start an agent, and forward messages between it and this process's stdin and stdout.

        Without a command, this process is a component in a conductor's chain.

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
        """Run `serve_stdio` as the main function of a program.

        If the agent ended first, the process prints why and exits with status 1.
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
