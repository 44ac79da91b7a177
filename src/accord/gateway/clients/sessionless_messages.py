"""What an agent says about no session: it is for the client that the process runs for.

What always holds
    * Only connections of the user whose process it is are told anything.
    * A request goes to one client, and is refused where there is none or more than one.
    * The agent gets one answer to each request, also when the client goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from accord.gateway.agents.agent_process import AgentProcess, Answer
from accord.gateway.sessions.hosted_session import HostedSession
from accord.jsonrpc.envelope import notification_frame
from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_PARAMS, REQUEST_CANCELLED
from accord.proxy.hop import OpenRequest
from accord.schema.codec import encode
from accord.schema.struct import Raw


class Connected(Protocol):
    """The connection to a client."""

    principal: str
    display_name: str

    @property
    def process(self) -> AgentProcess | None:
        """The process that the connection has started, unless a session has it."""
        ...

    def send(self, frame: bytes) -> None:
        """Write a whole message to the client."""
        ...

    def ask_alone(
        self, method: str, params: bytes, told: Callable[[Answer], None]
    ) -> Callable[[], None]:
        """Ask the client something; return what takes it back.  Its end is an answer too."""
        ...


class SessionlessMessages:
    """Guards: `_open` has every request that has no answer yet."""

    def __init__(
        self, process: AgentProcess, principal: str, starter: Connected | None = None
    ) -> None:
        """`starter` is the connection that the process was started for, unless a session was."""
        self._process = process
        self._principal = principal
        self._starter = starter
        self._open: dict[OpenRequest, Callable[[], None]] = {}

    def _clients(self) -> list[Connected]:
        """Return the connections of the user that the process works for."""
        found: list[Connected] = []
        if self._starter is not None and self._starter.process is self._process:
            found.append(self._starter)
        for session in self._process.sessions.values():
            if isinstance(session, HostedSession):
                found += (one.client for one in session.attachments)
        mine = [one for one in found if one.principal == self._principal]
        return list({id(one): one for one in mine}.values())

    def told(self, method: str, params: Raw) -> None:
        """Pass a notification on."""
        for client in self._clients():
            client.send(notification_frame(method, params))

    def asked(self, request: OpenRequest, params: Raw) -> None:
        """Pass a request on, if it is clear to whom."""
        clients = self._clients()
        if len(clients) != 1:
            how = f"{len(clients)} clients use" if clients else "no client uses"
            said = f"{request.method} names no session, and {how} this process; send a sessionId"
            reason = "several_clients" if clients else "no_client"
            request.refuse(INVALID_PARAMS, said, encode({"reason": reason}))
            return
        (client,) = clients

        def told(answer: Answer) -> None:
            self._open.pop(request, None)
            if answer.is_lost:
                name = client.display_name
                said = f"{name} was asked {request.method} and left without an answer"
                request.refuse(INTERNAL_ERROR, said, encode({"reason": "client_left"}))
            elif answer.error is not None:
                request.refuse(*answer.error)
            elif answer.result is not None:
                request.answer(answer.result)

        take_back = client.ask_alone(request.method, bytes(memoryview(params)), told)
        if request.is_open:
            self._open[request] = take_back

    def withdrawn(self, request: OpenRequest) -> None:
        """Take a request back that the agent no longer wants answered."""
        take_back = self._open.pop(request, None)
        if take_back is not None:
            take_back()
            request.refuse(REQUEST_CANCELLED, "Request cancelled")

    def process_ended(self, reason: str) -> None:
        """Take everything back: nobody waits for an answer any more."""
        del reason
        for request in list(self._open):
            self.withdrawn(request)


__all__ = ["SessionlessMessages"]
