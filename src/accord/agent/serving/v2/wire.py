"""The agent's updates and questions in v2, which is nearly the form they have inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.agent.serving.stable_plans import StablePlans
from accord.agent.serving.wire import Features, HeldAgain, OfficialWire
from accord.agent.tools.permission_request import PermissionAsk
from accord.schema import v2
from accord.schema.codec import encode
from accord.schema.struct import UNSET
from accord.translate.diffs import wire_diff

# Updates that may be unstable; a plan is unless it is made of entries.
_UNSTABLE = frozenset(
    {
        v2.PlanUpdate,
        v2.PlanRemoved,
        v2.SubagentUpdate,
        v2.SessionMessage,
        v2.SessionMessageChunk,
    }
)


class V2Wire(OfficialWire):
    """Encodes updates and questions for v2."""

    version = 2
    schema = v2
    held_again: HeldAgain = "all"
    bounds_queue = False
    cancels_tool_calls = True
    has_states = True

    def __init__(self, features: Features) -> None:
        super().__init__(features)
        self._plans = StablePlans()

    def told(self, session_id: str, update: Any) -> Sequence[Any]:
        """The update; diffs lose the full texts, which only v1 sends."""
        if type(update) in _UNSTABLE:
            update = self.stable_form(session_id, update)
            if update is None:
                return ()
        if type(update) is v2.ToolCallUpdate and isinstance(update.content, list):
            update = _with_wire_diffs(update)
        elif type(update) is v2.ToolCallContentChunk and isinstance(update.content, v2.Diff):
            update = v2.ToolCallContentChunk(
                tool_call_id=update.tool_call_id, content=wire_diff(update.content)
            )
        return (update,)

    def stable_form(self, session_id: str, update: Any) -> Any:
        """The update if unstable ones may be sent, else its stable form or None."""
        if isinstance(update, v2.PlanUpdate | v2.PlanRemoved):
            return update if self.features.plans else self._plans.stable(session_id, update)
        return update if self.features.subagents else None

    def forget(self, session_id: str) -> None:
        """Forget a session: a replay sends everything from the start."""
        self._plans.forget(session_id)

    def permission_request(self, session_id: str, ask: PermissionAsk) -> bytes:
        """Encode the question, with a command or the tool call as its subject."""
        subject: v2.RequestPermissionSubject
        if ask.command is not None and ask.cwd is not None:
            subject = v2.CommandPermissionSubject(
                command=ask.command, cwd=ask.cwd, tool_call_id=ask.tool_call.tool_call_id
            )
        else:
            patch = ask.tool_call
            if isinstance(patch.content, list):
                patch = _with_wire_diffs(patch)
            subject = v2.ToolCallPermissionSubject(tool_call=patch)
        return encode(
            v2.RequestPermissionRequest(
                session_id=session_id,
                title=ask.title,
                description=UNSET if ask.reason is None else ask.reason,
                subject=subject,
                options=[
                    v2.PermissionOption(option_id=one.option_id, name=one.name, kind=one.kind)
                    for one in ask.options
                ],
            )
        )


def _with_wire_diffs(patch: Any) -> Any:
    content = [wire_diff(item) if isinstance(item, v2.Diff) else item for item in patch.content]
    return type(patch)(
        **{name: getattr(patch, name) for name in patch.__struct_fields__} | {"content": content}
    )
