"""Requests of an agent that one client only can answer: files, terminals, and what else there is.

What always holds
    * Each goes to one client, and the agent gets one answer to it: when that client leaves, an
      error.
    * A terminal belongs to the client that runs it; no other client is asked about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from accord.gateway.agents.agent_process import Answer
from accord.gateway.sessions.attachment import Attachment
from accord.jsonrpc.error_codes import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    RESOURCE_NOT_FOUND,
)
from accord.proxy.hop import OpenRequest
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw

CREATE_TERMINAL: Final = "terminal/create"
RELEASE_TERMINAL: Final = "terminal/release"

SERVICES: Final[Mapping[str, tuple[str, ...]]] = {
    "fs/read_text_file": ("fs", "readTextFile"),
    "fs/write_text_file": ("fs", "writeTextFile"),
    CREATE_TERMINAL: ("terminal",),
}
"""What clients may offer to do, and the capability that says so."""


TERMINALS_MAX: Final = 1024
"""Terminals of one session that are not released."""
LOST_TERMINALS_MAX: Final = 256
"""Terminals of clients that have left, which the agent may still ask about."""


def services_in(capabilities: Any) -> frozenset[str]:
    """Return what a client offers to do for an agent."""
    return frozenset(
        method for method, path in SERVICES.items() if _value_at(capabilities, path) is True
    )


def _value_at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


@dataclass(eq=False)
class PrimaryRequest:
    """One request, and the client that it goes to."""

    request: OpenRequest
    attachment: Attachment
    # None until the client was asked.
    take_back: Callable[[], None] | None = None


class PrimaryRequests:
    """Guards: `_open` has every request that has no answer yet."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._open: set[PrimaryRequest] = set()
        self._terminals: dict[str, Attachment] = {}
        # The names of those who left with terminals, to be able to say so.
        self._lost: dict[str, str] = {}

    def ask(
        self, primary: Attachment | None, behind: int, request: OpenRequest, params: Raw
    ) -> None:
        """Ask whoever has the terminal, or else the primary client, behind an event."""
        raw = bytes(memoryview(params))
        terminal = _terminal_in(request.method, raw)
        if terminal in self._lost:
            said = f"the terminal {terminal!r} ran at {self._lost[terminal]}, who has left"
            request.refuse(RESOURCE_NOT_FOUND, said, encode({"reason": "client_left"}))
            return
        if request.method == CREATE_TERMINAL and len(self._terminals) >= TERMINALS_MAX:
            said = f"this session has {TERMINALS_MAX} terminals; release some of them first"
            request.refuse(INTERNAL_ERROR, said, encode({"reason": "too_many_terminals"}))
            return
        attachment = self._terminals.get(terminal or "", primary)
        if attachment is None:
            said = f"no client is connected that could answer {request.method}"
            request.refuse(METHOD_NOT_FOUND, said, encode({"reason": "no_client"}))
            return
        one = PrimaryRequest(request, attachment)
        self._open.add(one)
        request.run = self
        attachment.after(behind, partial(self._send, one, terminal, raw))

    def _send(self, one: PrimaryRequest, terminal: str | None, params: bytes) -> None:
        if one not in self._open:
            return
        told = partial(self._told, one, terminal)
        one.take_back = one.attachment.client.ask(one.request.method, params, told)

    def _told(self, one: PrimaryRequest, terminal: str | None, answer: Answer) -> None:
        if one not in self._open:
            return
        self._open.discard(one)
        if answer.error is not None:
            one.request.refuse(*answer.error)
            return
        assert answer.result is not None
        if one.request.method == CREATE_TERMINAL:
            made = to_python(answer.result)
            terminal_id = made.get("terminalId") if isinstance(made, dict) else None
            if isinstance(terminal_id, str):
                self._terminals[terminal_id] = one.attachment
                self._lost.pop(terminal_id, None)
        elif one.request.method == RELEASE_TERMINAL and terminal is not None:
            self._terminals.pop(terminal, None)
        one.request.answer(answer.result)

    def withdrawn(self, request: OpenRequest) -> None:
        """The agent no longer wants an answer."""
        for one in list(self._open):
            if one.request is not request:
                continue
            if one.take_back is not None:
                # The client answers the cancellation.
                one.take_back()
            else:
                self._open.discard(one)
                request.refuse(REQUEST_CANCELLED, "Request cancelled")

    def left(self, attachment: Attachment) -> None:
        """Answer for a client that is no longer asked, and forget its terminals."""
        name = attachment.client.display_name
        for one in list(self._open):
            if one.attachment is attachment:
                self._open.discard(one)
                if one.take_back is not None:
                    one.take_back()
                said = f"{name} was asked {one.request.method} and left without an answer"
                one.request.refuse(INTERNAL_ERROR, said, encode({"reason": "client_left"}))
        for terminal, owner in list(self._terminals.items()):
            if owner is attachment:
                del self._terminals[terminal]
                self._lost[terminal] = name
                if len(self._lost) > LOST_TERMINALS_MAX:
                    del self._lost[next(iter(self._lost))]
                released = encode({"sessionId": self._session_id, "terminalId": terminal})
                attachment.client.ask(RELEASE_TERMINAL, released, lambda _: None)

    def end(self) -> None:
        """The agent, or the session, is gone: end the terminals, and what was asked."""
        for attachment in {*self._terminals.values(), *(one.attachment for one in self._open)}:
            self.left(attachment)
        self._lost.clear()


def _terminal_in(method: str, params: bytes) -> str | None:
    """Return the terminal that a request is about."""
    if not method.startswith("terminal/") or method == CREATE_TERMINAL:
        return None
    terminal = to_python(params).get("terminalId")
    return terminal if isinstance(terminal, str) else None
