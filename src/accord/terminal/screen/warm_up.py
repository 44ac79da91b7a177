"""What is done in the first quiet moment with an agent, so that no key waits for it later.

This module does not know chats or widgets.
"""

from __future__ import annotations

from anyio import to_thread

from accord.terminal.engine.garbage_collection import keep_all
from accord.terminal.render.syntax import warm_up


async def settle() -> None:
    """An agent is there, and nobody has asked it for anything yet."""
    await to_thread.run_sync(warm_up)
    keep_all()


__all__ = ["settle"]
