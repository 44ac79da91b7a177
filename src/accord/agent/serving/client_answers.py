"""What a client answers to the agent's questions, held against the protocol.

Callers make the best of any answer: what cannot be read is never consent and never a text.  Here
the author of the client hears of it: it is logged, and in strict mode it is the end.

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


# Of an id that a client made up, so much is told.
CHOICE_CHARACTERS = 100


class Asked(Protocol):
    """Whose question it was."""

    @property
    def connection(self) -> Connection:
        """Where the client is."""
        ...

    @property
    def wire(self) -> Wire:
        """What it speaks."""
        ...


def heard(asked: Asked, method: str, answer: Raw, *, is_used: bool = True) -> None:
    """Say what is wrong with an answer.  One that is used is looked at in strict mode alone."""
    connection = asked.connection
    if (is_used and not connection.strict) or asked.wire.ways is not None:
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
    """Who refused a permission, where the client says so; None is most clients."""
    if DECIDED_BY.encode() not in bytes(answer):
        return None
    try:
        return read_decided_by(to_python(answer))
    except Invalid:
        return None


def chose_what_was_not_offered(asked: Asked, method: str, chosen: str) -> None:
    """Say that an answer is well formed and means nothing."""
    text = f"the answer to {method} chooses {chosen[:CHOICE_CHARACTERS]!r}, which was not offered"
    asked.connection.tolerate(text, logging.WARNING)


__all__ = ["Asked", "chose_what_was_not_offered", "decided_by", "heard"]
