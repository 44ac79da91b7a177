"""Logins: the methods that are offered, one login while it runs, and the status that is reported.

Questions belong to the client's login request, so none can be asked once that is answered.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

from accord.agent.serving.wire import Wire
from accord.agent.tools.elicitation import (
    Answer,
    FormField,
    complete_url,
    elicit_form,
    elicit_url,
)
from accord.connection import Connection, IncomingRequest
from accord.errors import LocalProtocolError

STATES = ("authenticated", "unauthenticated", "not_required", "unknown")


@dataclass(frozen=True, slots=True)
class AuthMethod:
    """A way to log in.  With `terminal_args` the client runs the agent with these in a terminal."""

    method_id: str
    name: str
    description: str | None = None
    terminal_args: tuple[str, ...] | None = None
    terminal_env: dict[str, str] = field(default_factory=dict)

    @property
    def is_terminal(self) -> bool:
        """Whether the client logs in in a terminal instead of by a request."""
        return self.terminal_args is not None

    def described(self) -> dict[str, Any]:
        """The method as the data of an error lists it."""
        return {"id": self.method_id, "methodId": self.method_id, "name": self.name}


class Credentials(dict[str, Any]):
    """The secrets that a client of the 2026-02 draft logs in with; printing hides them."""

    def __repr__(self) -> str:
        return "Credentials(<hidden>)"

    __str__ = __repr__


class Login:
    """One login.  A function of `@agent.on_authenticate` with a parameter for it gets it."""

    def __init__(
        self, connection: Connection, wire: Wire, request: IncomingRequest, method_id: str
    ) -> None:
        self.connection = connection
        self.wire = wire
        self.method_id = method_id
        self._request_id = request.id
        self._over = False

    async def ask(self, message: str, **fields: FormField) -> Answer:
        """Ask the user to fill a form, if the client can show one.  Never ask for secrets."""
        return await elicit_form(self, message, fields)

    async def ask_to_visit(self, message: str, url: str) -> Answer:
        """Ask the user to open a page, such as the one to sign in on."""
        return await elicit_url(self, message, url)

    async def visited(self, answer: Answer) -> None:
        """Tell the client that the user has finished on the page."""
        await complete_url(self, answer)

    # ---- the library's side of a question

    def elicitation_scope(self) -> dict[str, Any]:
        """The request that a question belongs to; it must still be open."""
        if self._over:
            raise LocalProtocolError("this login has ended; it can ask nothing more")
        return {"requestId": self._request_id}

    @contextmanager
    def asking(self) -> Generator[None]:
        """Change no state, since no session waits for this answer."""
        yield

    def new_id(self, kind: str) -> str:
        """Make an id that is never used again."""
        return f"{kind}_{os.urandom(8).hex()}"

    def finish(self) -> None:
        """Refuse further questions, since the request is about to be answered."""
        self._over = True


LoginHook = Callable[[str, Login, Mapping[str, Any]], Awaitable[Any]]


def login_hook(handler: Callable[..., Awaitable[Any]]) -> tuple[LoginHook, bool]:
    """Wrap the function of `@agent.on_authenticate`; also return whether it reads credentials.

    A parameter named `credentials` gets those of the draft, which are empty for other clients; any
    other parameter after the first gets the `Login`.
    """
    more = list(signature(handler).parameters)[1:]

    async def log_in(method: str, login: Login, credentials: Mapping[str, Any]) -> Any:
        return await handler(method, *[credentials if n == "credentials" else login for n in more])

    return log_in, "credentials" in more


@dataclass(frozen=True, slots=True)
class Account:
    """An account to show to the user.  Several may be active at once."""

    label: str
    active: bool | None = None
    name: str | None = None
    email: str | None = None
    organization: str | None = None


@dataclass(frozen=True, slots=True)
class AuthStatus:
    """The state that clients act on, and the accounts that they may show."""

    state: str
    accounts: tuple[Account, ...] = ()

    def __post_init__(self) -> None:
        if self.state not in STATES and not self.state.startswith("_"):
            raise LocalProtocolError(f"not a state of a login: {self.state!r}")


StatusHook = Callable[[], Awaitable[AuthStatus]]
