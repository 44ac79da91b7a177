"""Logins: choosing a method, and running a login in a terminal.

Must not know: how a login is sent to the agent.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

import anyio

from accord.client.callbacks import call
from accord.client.wire.wire_interface import AuthMethod
from accord.errors import AccordError, AuthenticationRequired, LocalProtocolError, SpawnFailed

# The id of a method to log in by, or a function that chooses one; None means that the user does not
# want to log in.
Login: TypeAlias = str | Callable[[Sequence[AuthMethod]], "str | Awaitable[str | None] | None"]
# Runs a command in a terminal that the user sees, with these variables added, and returns its
# exit code; anything but 0 is a failed login.
TerminalRunner: TypeAlias = Callable[[Sequence[str], Mapping[str, str]], Awaitable[int]]

# Characters of the list of login methods in a note.
WAYS_CHARACTERS_MAX = 500


class LoginFailed(AccordError):
    """A login in a terminal ended with a status other than 0."""

    def __init__(self, name: str, status: int) -> None:
        super().__init__(f"the login {name!r} failed with status {status}")
        self.status = status


async def choose(login: Login, methods: Sequence[AuthMethod]) -> AuthMethod | None:
    """The login method that the program chose; None where it wants none.

    Raises:
        LocalProtocolError: the agent does not offer the chosen id.
    """
    chosen = login if isinstance(login, str) else await call(login, tuple(methods))
    return None if chosen is None else find(chosen, methods)


def find(method_id: str | None, methods: Sequence[AuthMethod]) -> AuthMethod:
    """The method with this id, or the only one.

    Raises:
        LocalProtocolError: the agent does not offer it, or there is a choice to make.
    """
    if method_id is None:
        if not methods:
            raise LocalProtocolError("the agent offers no way to log in")
        if len(methods) != 1:
            ids = [method.method_id for method in methods]
            raise LocalProtocolError(f"choose a login method: the agent has {ids}")
        return methods[0]
    for method in methods:
        if method.method_id == method_id:
            return method
    known = ", ".join(method.method_id for method in methods) or "none"
    raise LocalProtocolError(f"the agent has no login method {method_id!r}; it has {known}")


def needs_credential() -> LocalProtocolError:
    """The error where the agent asks for a credential and the program gave none."""
    return LocalProtocolError(
        "the agent wants a credential to log in; give one in DraftOptions, as draft"
    )


def needs_terminal(method: AuthMethod) -> LocalProtocolError:
    """The error where a login needs a terminal that the program does not offer."""
    return LocalProtocolError(
        f"the login method {method.method_id!r} needs a terminal: login_terminal=True"
    )


def unknown_type(method: AuthMethod) -> LocalProtocolError:
    """The error for a login method of a type that we do not know."""
    return LocalProtocolError(
        f"the login method {method.method_id!r} is of the unknown type {method.kind!r}"
    )


def add_ways(error: AuthenticationRequired, methods: Sequence[AuthMethod]) -> None:
    """Add a note with the ways to log in, for the reader of the traceback."""
    ids = ", ".join(repr(method.method_id) for method in methods)[:WAYS_CHARACTERS_MAX]
    if ids and not getattr(error, "__notes__", None):
        error.add_note(
            f"The agent has these ways to log in: {ids}.  Choose one with login=, or"
            " await client.authenticate() with it and try again."
        )


async def run_in_terminal(command: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a login in the terminal that this program was started from, and wait for its end."""
    from accord.machine.processes.child_process import environment
    from accord.machine.processes.program_lookup import with_program

    variables = environment(env)
    words = with_program(command, variables)
    try:
        process = await anyio.open_process(
            words, stdin=None, stdout=None, stderr=None, env=variables
        )
    except OSError as error:
        raise SpawnFailed(f"cannot start {command[0]!r}: {error.strerror or error}") from None
    async with process:
        return await process.wait()
