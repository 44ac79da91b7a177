"""Work done in the first idle moment, so that no key has to wait for it later.

This module does not know chats or widgets.
"""

from __future__ import annotations

from anyio import to_thread

from accord.terminal.engine.garbage_collection import keep_all
from accord.terminal.render.syntax_colours import warm_up


async def settle() -> None:
    """Load the syntax highlighter and freeze the garbage collector's objects."""
    await to_thread.run_sync(warm_up)
    keep_all()
