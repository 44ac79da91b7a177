"""Folds the updates of v2 into a view: the conversation, and the tables of the whole version.

In v2 everything with an id is an upsert: the first sight creates, later ones patch.  Left out
keeps, null clears, a value replaces, and chunks append.
"""

from __future__ import annotations

from collections.abc import Iterable

from accord.schema import v2
from accord.schema.struct import UNSET, Patch, UnknownVariant
from accord.transcript.changes import (
    MessageChanged,
    TerminalChanged,
    ThoughtChanged,
    ToolCallChanged,
    Update,
    UserMessageChanged,
)
from accord.transcript.entities import View
from accord.transcript.folds.session import Fold, Setup, or_none
from accord.transcript.folds.v2 import session as fold_v2_session
from accord.transcript.items.message import Message, Role
from accord.transcript.items.terminal import ExitStatus, TerminalSize
from accord.transcript.items.tool_call import FileDiff, text_of_item
from accord.transcript.unknown_variants import fields_of

# Messages


def _agent_message_chunk(view: View, update: v2.AgentMessageChunk) -> Update | None:
    content = update.content
    message_id = update.message_id
    message = view.agent_messages.get(message_id)
    if message is None:
        if _is_empty(content):
            return None
        message = view.add_message("agent", message_id)
    message.append(content)
    return MessageChanged(message, content.text if type(content) is v2.TextContent else "", update)


def _agent_thought_chunk(view: View, update: v2.AgentThoughtChunk) -> Update | None:
    content = update.content
    message = view.agent_thoughts.get(update.message_id)
    if message is None:
        if _is_empty(content):
            return None
        message = view.add_message("thought", update.message_id)
    message.append(content)
    return ThoughtChanged(message, content.text if type(content) is v2.TextContent else "", update)


def _is_empty(content: v2.ContentBlock) -> bool:
    """Whether a message that begins with it would show as a blank one."""
    return isinstance(content, v2.TextContent) and not content.text


def _user_message_chunk(view: View, update: v2.UserMessageChunk) -> Update:
    message, text = view.user_chunk(update.message_id, update.content)
    return UserMessageChanged(message, text, update)


def _agent_message(view: View, update: v2.AgentMessage) -> Update:
    return MessageChanged(*_whole_message(view, update, "agent"))


def _agent_thought(view: View, update: v2.AgentThought) -> Update:
    return ThoughtChanged(*_whole_message(view, update, "thought"))


def _whole_message(
    view: View, update: v2.MessagePatch, role: Role
) -> tuple[Message, str, v2.MessagePatch, bool]:
    message = view.message(role, update.message_id)
    replaces = update.content is not UNSET and message.text != ""
    message.patch(update.content)
    message.patch_meta(update.meta)
    return message, message.text if update.content else "", update, replaces


def _user_message(view: View, update: v2.UserMessage) -> Update:
    text = ""
    if update.content is UNSET:
        message = view.message("user", update.message_id)
    else:
        message, text = view.user_message(update.message_id, update.content or ())
    message.patch_meta(update.meta)
    return UserMessageChanged(message, text, update)


# Tool calls


def _tool_call(view: View, update: v2.ToolCallPatch) -> Update:
    call = view.tool_call(update.tool_call_id)
    call.patch(
        title=update.title,
        name=update.name,
        kind=update.kind,
        status=update.status,
        raw_input=update.raw_input,
        raw_output=update.raw_output,
        meta=update.meta,
    )
    if update.locations is not UNSET:
        call.replace_locations(update.locations)
    call.replace_content(update.content, _diffs)
    if update.capabilities is not UNSET:
        call.cancellable = _can_cancel(update.capabilities)
    return ToolCallChanged(call, "", update)


def _can_cancel(capabilities: v2.ToolCallCapabilities | v2.TerminalCapabilities | None) -> bool:
    return capabilities is not None and or_none(capabilities.cancel) is not None


def _tool_call_content_chunk(view: View, update: v2.ToolCallContentChunk) -> Update:
    call = view.tool_call(update.tool_call_id)
    call.append_content(update.content, _diffs)
    return ToolCallChanged(call, text_of_item(update.content), update)


def _diffs(item: v2.ToolCallContent) -> Iterable[FileDiff]:
    if not isinstance(item, v2.Diff):
        return
    patch = item.patch.text if isinstance(item.patch, v2.DiffPatch) else None
    for change in item.changes:
        if isinstance(change, UnknownVariant):
            path = fields_of(change).get("path", "")
            yield FileDiff(path, change.tag, patch=_section(patch, path, len(item.changes)))
            continue
        yield FileDiff(
            path=change.path,
            operation=_OPERATIONS[type(change)],
            old_path=change.old_path if isinstance(change, v2.DiffPathPairChange) else None,
            patch=_section(patch, change.path, len(item.changes)),
        )
    if not item.changes and item.path is not UNSET:
        # How the first drafts of v2 wrote it.
        old_text = or_none(item.old_text)
        yield FileDiff(
            path=item.path,
            operation="add" if old_text is None else "modify",
            old_text=old_text,
            new_text=or_none(item.new_text),
            patch=patch,
        )


_OPERATIONS: dict[type, str] = {
    v2.DiffAdd: "add",
    v2.DiffDelete: "delete",
    v2.DiffModify: "modify",
    v2.DiffMove: "move",
    v2.DiffCopy: "copy",
}
_SECTION = "diff --git "


def _section(patch: str | None, path: str, changes: int) -> str | None:
    """The part of a patch about one file; the whole patch if the part is not known."""
    if patch is None or changes == 1:
        return patch
    for part in f"\n{patch}".split(f"\n{_SECTION}")[1:]:
        header, _, _ = part.partition("\n")
        if header.endswith(f" {path}"):
            return f"{_SECTION}{part}"
    return patch


# Terminals


def _terminal(view: View, update: v2.TerminalUpdate) -> Update:
    terminal = view.terminal(update.terminal_id)
    status: Patch[ExitStatus] = UNSET
    if isinstance(update.exit_status, v2.TerminalExitStatus):
        status = ExitStatus(
            or_none(update.exit_status.exit_code), or_none(update.exit_status.signal)
        )
    elif update.exit_status is None:
        status = None
    size: Patch[TerminalSize] = UNSET
    if isinstance(update.size, v2.TerminalSize):
        size = TerminalSize(update.size.cols, update.size.rows)
    elif update.size is None:
        size = None
    text = ""
    if update.output is not UNSET:
        text = terminal.replace(update.output.data if update.output is not None else b"")
    terminal.patch(command=update.command, cwd=update.cwd, size=size, exit_status=status)
    terminal.patch_meta(update.meta)
    if update.capabilities is not UNSET:
        terminal.cancellable = _can_cancel(update.capabilities)
    return TerminalChanged(terminal, text, update)


def _terminal_output_chunk(view: View, update: v2.TerminalOutputChunk) -> Update:
    terminal = view.terminal(update.terminal_id)
    return TerminalChanged(terminal, terminal.append(update.data), update)


FOLDS: dict[type, Fold] = {
    v2.AgentMessageChunk: _agent_message_chunk,
    v2.AgentThoughtChunk: _agent_thought_chunk,
    v2.UserMessageChunk: _user_message_chunk,
    v2.AgentMessage: _agent_message,
    v2.AgentThought: _agent_thought,
    v2.UserMessage: _user_message,
    v2.ToolCallUpdate: _tool_call,
    v2.ToolCallPatch: _tool_call,
    v2.ToolCallContentChunk: _tool_call_content_chunk,
    v2.TerminalUpdate: _terminal,
    v2.TerminalOutputChunk: _terminal_output_chunk,
    **fold_v2_session.FOLDS,
}
SETUPS: dict[type, Setup] = fold_v2_session.SETUPS
