"""Check a client's answers to the agent's questions against the protocol.

Callers make the best of any answer: an unreadable one is never consent and never text.  Here the
fault is logged for the author of the client, and in strict mode it ends the connection.

Must not know: what an answer is used for.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from accord.protocol.extensions import DECIDED_BY, read_decided_by
from accord.schema.codec import Invalid, to_python
from accord.schema.struct import Raw

if TYPE_CHECKING:
    from accord.agent.serving.wire import Wire
    from accord.connection import Connection


# How much of an invented id is logged.
CHOICE_CHARACTERS = 100


class Asked(Protocol):
    """The side that asked: a session, or a login."""

    @property
    def connection(self) -> Connection:
        """The connection to the client."""
        ...

    @property
    def wire(self) -> Wire:
        """The wire form of the client's version."""
        ...


def heard(asked: Asked, method: str, answer: Raw, *, is_used: bool = True) -> None:
    """Report what is wrong with an answer.  A usable one is checked only in strict mode."""
    connection = asked.connection
    if (is_used and not connection.strict) or asked.wire.client_requests is not None:
        return
    notes: list[str] = []
    try:
        asked.wire.client_methods[method].decode_result(
            answer, notes=notes, strict=connection.strict
        )
    except Invalid as error:
        notes.append(str(error))
    for note in notes:
        connection.tolerate(f"the answer to {method}: {note}", logging.WARNING)


def decided_by(answer: Raw) -> str | None:
    """The reason of a denied permission, if the client sends one; most do not."""
    if DECIDED_BY.encode() not in bytes(answer):
        return None
    try:
        return read_decided_by(to_python(answer))
    except Invalid:
        return None


def chose_what_was_not_offered(asked: Asked, method: str, chosen: str) -> None:
    """Report a well-formed answer that chooses an option which was not offered."""
    text = f"the answer to {method} chooses {chosen[:CHOICE_CHARACTERS]!r}, which was not offered"
    asked.connection.tolerate(text, logging.WARNING)
