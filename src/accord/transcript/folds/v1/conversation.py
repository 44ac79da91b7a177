"""Folds the updates of v1 into a view: the conversation, and the tables of the whole version.

In v1 message ids are optional: without one, whatever else is shown ends a message.  Null in a
`tool_call_update` means the same as leaving the field out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from accord.schema import v1
from accord.schema.struct import UNSET, Omit, Patch
from accord.transcript.changes import (
    MessageChanged,
    PlanChanged,
    TerminalChanged,
    ThoughtChanged,
    ToolCallChanged,
    ToolCallWithTerminals,
    Update,
    UserMessageChanged,
)
from accord.transcript.entities import View
from accord.transcript.folds.session import Fold, Setup, or_none
from accord.transcript.folds.v1 import session as fold_v1_session
from accord.transcript.folds.v1.terminal_meta import fold_told_terminals
from accord.transcript.folds.v1.translated_tool_calls import fold_output, merged, patch_of, placed
from accord.transcript.items.message import Role
from accord.transcript.items.meta import NULL
from accord.transcript.items.plan import MAIN_PLAN_ID
from accord.transcript.items.tool_call import DEFAULT_KIND, DEFAULT_STATUS, FileDiff

T = TypeVar("T")


def _agent_message_chunk(view: View, update: v1.AgentMessageChunk) -> Update | None:
    content = update.content
    message = view.open
    message_id = update.message_id
    # The common case first: more of the message that is being written.
    if (
        message is None
        or message.role != "agent"
        or (message_id is not UNSET and message_id != message.message_id)
    ):
        if _begins_nothing(view, "agent", update):
            return None
        message = view.chunk_target("agent", or_none(message_id))
    message.append(content)
    return MessageChanged(message, content.text if type(content) is v1.TextContent else "", update)


def _agent_thought_chunk(view: View, update: v1.AgentThoughtChunk) -> Update | None:
    content = update.content
    if _begins_nothing(view, "thought", update):
        return None
    message = view.chunk_target("thought", or_none(update.message_id))
    message.append(content)
    return ThoughtChanged(message, _shown_text(content), update)


def _shown_text(content: v1.ContentBlock) -> str:
    """The text of a thought; one that is only for the model is kept, but not reported as new."""
    if type(content) is not v1.TextContent:
        return ""
    audience = or_none(content.annotations.audience) if content.annotations else None
    return "" if audience == ["assistant"] else content.text


def _begins_nothing(
    view: View, role: Role, update: v1.AgentMessageChunk | v1.AgentThoughtChunk
) -> bool:
    """Whether it is an empty text of a message that is not there: it would show as a blank one."""
    content = update.content
    if not isinstance(content, v1.TextContent) or content.text:
        return False
    if update.message_id:
        return update.message_id not in view.messages_by_id[role]
    return view.open is None or view.open.role != role


def _user_message_chunk(view: View, update: v1.UserMessageChunk) -> Update:
    message, text = view.user_chunk(or_none(update.message_id), update.content)
    if isinstance(update.meta, dict):
        message.patch_meta(update.meta)
    return UserMessageChanged(message, text, update)


# Tool calls


def _tool_call(view: View, update: v1.ToolCall | v1.ToolCallPatch) -> Update:
    view.open = None
    call = view.tool_call(update.tool_call_id)
    # Most patches say little, and most of what they leave out is left out for good.
    title, kind, status = update.title, update.kind, update.status
    if title is not UNSET and title is not None:
        call.title = title
    if kind is not UNSET and kind is not None:
        call.report_kind(kind or DEFAULT_KIND)
    if status is not UNSET and status is not None:
        call.report(status or DEFAULT_STATUS)
        if status == "failed" and call.cancelled:
            # v1 has no other status for it.
            call.status = "cancelled"
    raw_input, raw_output = update.raw_input, update.raw_output
    if raw_input is not UNSET and raw_input != NULL:
        call.raw_input = raw_input.copy()
    if raw_output is not UNSET and raw_output != NULL:
        call.raw_output = raw_output.copy()
    terminals: tuple[TerminalChanged, ...] = ()
    if update.name is not UNSET or update.meta is not UNSET:
        call.patch(name=_given(update.name))
        if isinstance(update.meta, dict):
            call.patch(meta=merged(call.meta, update.meta))
            terminals = fold_told_terminals(view, call, update.meta)
            fold_output(view, update.meta)
    locations, content = update.locations, update.content
    if locations is not UNSET and locations is not None:
        call.replace_locations(placed(locations))
    if content is not UNSET and content is not None:
        call.replace_content(content, _diffs)
    if terminals:
        return ToolCallWithTerminals(call, "", update, terminals=terminals)
    return ToolCallChanged(call, "", update)


def _diffs(item: v1.ToolCallContent) -> Iterable[FileDiff]:
    if not isinstance(item, v1.Diff):
        return ()
    patch = patch_of(item)
    if patch is not None:
        return (FileDiff(item.path, patch=patch),)
    old_text = or_none(item.old_text)
    return (
        FileDiff(
            path=item.path,
            operation="add" if old_text is None else "modify",
            old_text=old_text,
            new_text=item.new_text,
        ),
    )


# Plans


def _plan(view: View, update: v1.Plan) -> Update:
    view.open = None
    plan = view.plan(MAIN_PLAN_ID)
    plan.show_items(update.entries)
    return PlanChanged(plan, "", update)


# In a tool call of v1, null means the same as leaving the field out.


def _given(value: Patch[T]) -> Omit[T]:
    return UNSET if value is None else value


FOLDS: dict[type, Fold] = {
    v1.AgentMessageChunk: _agent_message_chunk,
    v1.AgentThoughtChunk: _agent_thought_chunk,
    v1.UserMessageChunk: _user_message_chunk,
    v1.ToolCall: _tool_call,
    v1.ToolCallUpdate: _tool_call,
    v1.ToolCallPatch: _tool_call,
    v1.Plan: _plan,
    **fold_v1_session.FOLDS,
}
SETUPS: dict[type, Setup] = fold_v1_session.SETUPS
