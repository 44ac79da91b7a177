"""What the commands give a client for agents of the 2026-02 draft: a memory, and a credential.

Must not know which agent it will be, nor whether it speaks the draft at all; so nothing is read
here before somebody asks.

What always holds: a key that was typed is sent to the agent and kept nowhere.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from accord.discovery.dialects_file import DialectsFile
from accord.discovery.user_paths import dialects_file
from accord.errors import ConfigError

if TYPE_CHECKING:
    from accord.client.credential import Credential


def dialect_memory() -> DialectsFile | None:
    """The memory of dialects in the user's state; None where that has no place."""
    try:
        return DialectsFile(dialects_file())
    except ConfigError:
        return None


def credential_of(
    api_key_env: str | None = None, *, may_ask: bool
) -> Callable[[], Awaitable[Credential | None]]:
    """Where a credential comes from: the environment, the configuration, at last the user."""
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
        # Typed once, it serves until we leave; nothing typed is a no.
        return Credential.api_key(asked[0]) if asked and asked[0] else None

    return find


def _is_at_terminal() -> bool:
    # None, whatever the types say, where the descriptor was closed at the start.
    stdin = sys.stdin
    return stdin is not None and not stdin.closed and stdin.isatty()  # type: ignore[redundant-expr,unused-ignore]


async def _typed() -> str:
    from getpass import getpass

    from anyio import to_thread

    # It reads from the terminal itself, and shows nothing of it.
    question = "The agent wants a key (Enter for none): "
    return (await to_thread.run_sync(getpass, question, abandon_on_cancel=True)).strip()


__all__ = ["credential_of", "dialect_memory"]
