"""A login while it runs: what its function may ask the user, before there is any session.

Questions belong to the client's login request, so none can be put once that is answered.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from accord.agent.elicitation import (
    Answer,
    FormField,
    complete_url,
    elicit_form,
    elicit_url,
)
from accord.agent.wire import Wire
from accord.connection import Connection, IncomingRequest
from accord.errors import LocalProtocolError


class Login:
    """One login.  A function of `@agent.on_authenticate` with a second parameter gets it."""

    def __init__(
        self, connection: Connection, wire: Wire, request: IncomingRequest, method_id: str
    ) -> None:
        self.connection = connection
        self.wire = wire
        self.method_id = method_id
        self._request_id = request.id
        self._over = False

    async def ask(self, message: str, **fields: FormField) -> Answer:
        """Ask the user to fill a form, where the client can show one.  Never for secrets."""
        return await elicit_form(self, message, fields)

    async def ask_to_visit(self, message: str, url: str) -> Answer:
        """Ask the user to open a page, such as the one to sign in on."""
        return await elicit_url(self, message, url)

    async def visited(self, answer: Answer) -> None:
        """Tell the client that what the user agreed to do on the page is done."""
        await complete_url(self, answer)

    # ---- what a question needs to know

    def elicitation_scope(self) -> dict[str, Any]:
        """The request that the question belongs to; it must still be open."""
        if self._over:
            raise LocalProtocolError("this login is over; nothing more can be asked in it")
        return {"requestId": self._request_id}

    @contextmanager
    def asking(self) -> Generator[None]:
        """No session waits for this answer, so no state changes."""
        yield

    def new_id(self, kind: str) -> str:
        """An id that nobody else uses."""
        return f"{kind}_{os.urandom(8).hex()}"

    def finish(self) -> None:
        """The request is about to be answered."""
        self._over = True


__all__ = ["Login"]
