"""The agent's updates and questions in early v2, for clients that still speak it.

Messages are those of v2.  Tool calls and permission requests are those of v1, except for the name
of the update; a plan has an `id`; there are no terminals, and the state of
a session is told only to a client that asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from accord.agent.serving.v1.wire import V1Wire
from accord.agent.serving.v2.requests import V2
from accord.agent.serving.v2.wire import V2Wire
from accord.agent.serving.wire import Features, HeldAgain, OfficialWire
from accord.agent.tools.permission_request import PermissionAsk
from accord.schema import v1, v2
from accord.schema.codec import encode, to_python

_AS_IN_V1 = frozenset(
    {v2.ToolCallUpdate, v2.ToolCallContentChunk, v2.TerminalUpdate, v2.TerminalOutputChunk}
)


class EarlyWire(OfficialWire):
    """Encodes updates and questions for early v2."""

    version = 2
    schema = v2
    held_again: HeldAgain = "messages"
    bounds_queue = False
    cancels_tool_calls = True
    has_states = True

    def __init__(self, features: Features) -> None:
        super().__init__(features)
        self._v1 = V1Wire(features)
        self._v2 = V2Wire(features)

    def told(self, session_id: str, update: Any) -> Sequence[Any]:
        """The updates of early v2; a state is not sent at all."""
        kind = type(update)
        if kind is v2.StateUpdate:
            return ()
        if kind in _AS_IN_V1:
            return list(map(_renamed, self._v1.told(session_id, update)))
        if kind is v2.PlanUpdate:
            said = self._v2.stable_form(session_id, update)
            if isinstance(said, v2.PlanUpdate):
                return (_plan(said),)
            update = said
            if update is None:
                return ()
        return self._v2.told(session_id, update)

    def forget(self, session_id: str) -> None:
        """Forget a session: a replay sends everything from the start."""
        self._v2.forget(session_id)
        self._v1.forget(session_id)

    def permission_request(self, session_id: str, ask: PermissionAsk) -> bytes:
        """Encode the question, with the tool call beside the options, as in v1."""
        return self._v1.permission_request(session_id, ask)


def _renamed(said: Any) -> Any:
    """The same update type for the creation of a call and for its patches."""
    if not isinstance(said, v1.ToolCall):
        return said
    return v1.ToolCallUpdate(**{name: getattr(said, name) for name in said.__struct_fields__})


def _plan(update: v2.PlanUpdate) -> dict[str, Any]:
    plan = to_python(encode(update.plan))
    plan["id"] = plan.pop("planId")
    return {"sessionUpdate": "plan_update", "plan": plan}


def _prompt_response(reason: str, _usage: object) -> dict[str, str]:
    return {"stopReason": reason}


EARLY_V2 = replace(
    V2,
    make_wire=EarlyWire,
    ends_turn_by_answer=True,
    prompt_response=_prompt_response,
)
