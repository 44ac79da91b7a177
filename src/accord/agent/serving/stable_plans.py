"""Plans for clients without unstable plans, in the terms of the stable protocol.

A plan of entries is always stable in v2 and is `plan` in v1.  A plan that is text, or a file, is
sent once as a message; a removed plan becomes an empty one.
"""

from __future__ import annotations

from typing import Any

from accord.schema import v2


class StablePlans:
    """Remembers which plans were shown, and which were sent as messages."""

    def __init__(self) -> None:
        self._said: set[tuple[str, str]] = set()
        self._shown: dict[str, str] = {}

    def forget(self, session_id: str) -> None:
        """Forget a session: a replay sends everything from the start."""
        self._said = {key for key in self._said if key[0] != session_id}
        self._shown.pop(session_id, None)

    def stable(self, session_id: str, update: Any) -> Any:
        """The update as a plan of entries, as a message chunk, or None for nothing."""
        if type(update) is v2.PlanRemoved:
            if self._shown.get(session_id) != update.plan_id:
                return None
            del self._shown[session_id]
            return v2.PlanUpdate(plan=v2.PlanItems(plan_id=update.plan_id, entries=[]))
        plan = update.plan
        if type(plan) is v2.PlanItems:
            self._shown[session_id] = plan.plan_id
            return update
        text = _text(plan)
        if text is None or (session_id, plan.plan_id) in self._said:
            return None
        self._said.add((session_id, plan.plan_id))
        message_id = f"plan_{plan.plan_id}"
        return v2.AgentMessageChunk(message_id=message_id, content=v2.TextContent(text=text))


def _text(plan: Any) -> str | None:
    if isinstance(plan, v2.PlanMarkdown):
        return plan.content
    return f"The plan is in {plan.uri}" if isinstance(plan, v2.PlanFile) else None
