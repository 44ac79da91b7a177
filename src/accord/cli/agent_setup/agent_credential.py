"""Finds the credential for an agent of the 2026-02 draft.

Must not know which agent is started, nor whether it speaks the draft, so nothing is read before it
is needed.

What always holds: a typed key is sent to the agent and stored nowhere.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.client.credential import Credential


def credential_of(
    api_key_env: str | None = None, *, may_ask: bool
) -> Callable[[], Awaitable[Credential | None]]:
    """Return a function that finds a credential: environment, configuration, or the user."""
    asked: list[str] = []

    async def find() -> Credential | None:
        from accord.client.credential import Credential, from_environment

        found = from_environment()
        if found is not None:
            return found
        key = os.environ.get(api_key_env) if api_key_env else None
        if key:
            return Credential.api_key(key)
        if not asked and may_ask and _is_at_terminal():
            asked.append(await _typed())
        # A typed key is used until the process exits; an empty one means none.
        return Credential.api_key(asked[0]) if asked and asked[0] else None

    return find


def _is_at_terminal() -> bool:
    # None, despite its type, if the descriptor was closed at the start.
    stdin = sys.stdin
    return stdin is not None and not stdin.closed and stdin.isatty()  # type: ignore[redundant-expr,unused-ignore]


async def _typed() -> str:
    from getpass import getpass

    from anyio import to_thread

    # getpass reads from the terminal without echo.
    question = "The agent needs an API key (press Enter for none): "
    return (await to_thread.run_sync(getpass, question, abandon_on_cancel=True)).strip()
