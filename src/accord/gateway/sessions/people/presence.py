"""What people do in a session right now: who types, and who looks at it.

What always holds
    * Nobody causes more than one message to each other client in `PRESENCE_SECONDS_MIN`; of what
      somebody does meanwhile, the last is told.
    * A client that has much to read already is told nothing; it can ask who is here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio
from anyio.abc import TaskGroup

from accord.gateway.sessions.attachment import Attachment

PRESENCE_SECONDS_MIN: Final = 0.25

ACTIVITIES: Final = ("typing", "idle", "focus", "blur")
"""What a client may say of its user."""


class Presence:
    """Guards: there is one timer at most."""

    def __init__(self, tell: Callable[[Attachment, str], None], tasks: TaskGroup) -> None:
        self._tell = tell
        self._tasks = tasks
        self._told_at: dict[Attachment, float] = {}
        self._untold: dict[Attachment, str] = {}
        self._has_timer = False

    def note(self, attachment: Attachment, activity: str) -> None:
        """Tell the others what somebody does, now or soon."""
        if activity in ("focus", "blur"):
            attachment.has_focus = activity == "focus"
        else:
            attachment.is_typing = activity == "typing"
        self._untold[attachment] = activity
        self._tell_due()

    def left(self, attachment: Attachment) -> None:
        """Forget somebody who has gone."""
        self._told_at.pop(attachment, None)
        self._untold.pop(attachment, None)

    def _tell_due(self) -> None:
        now = anyio.current_time()
        for attachment, activity in list(self._untold.items()):
            told_at = self._told_at.get(attachment)
            if told_at is None or now - told_at >= PRESENCE_SECONDS_MIN:
                del self._untold[attachment]
                self._told_at[attachment] = now
                self._tell(attachment, activity)
        if self._untold and not self._has_timer:
            self._has_timer = True
            self._tasks.start_soon(self._tell_later, name="presence")

    async def _tell_later(self) -> None:
        await anyio.sleep(PRESENCE_SECONDS_MIN)
        self._has_timer = False
        self._tell_due()
