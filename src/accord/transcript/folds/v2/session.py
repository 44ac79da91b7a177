"""Folds what v2 says about the session as a whole, and what stands beside the conversation."""

from __future__ import annotations

from collections.abc import Iterable

from accord.schema import v2
from accord.schema.struct import UNSET, Patch, UnknownVariant
from accord.transcript.folds.fold_types import Fold, Setup, or_none
from accord.transcript.items.content import text_of
from accord.transcript.items.notice import Notice
from accord.transcript.items.session_info import Cost
from accord.transcript.items.session_options import Choice, Command, ConfigOption
from accord.transcript.items.session_state import BackgroundItem, State
from accord.transcript.unknown_variants import fields_of
from accord.transcript.update import (
    CommandsChanged,
    CompactionChanged,
    ConfigOptionsChanged,
    NoticeCame,
    SessionInfoChanged,
    SessionMessageChanged,
    StateChanged,
    SubagentChanged,
    Update,
    UsageChanged,
)
from accord.transcript.view import View

# The session as a whole


def _state(view: View, update: v2.StateSnapshot) -> Update:
    _take_state(view.state, update)
    return StateChanged(view.state, "", update)


def _take_state(state: State, snapshot: v2.StateSnapshot) -> None:
    work = snapshot.background
    state.report(
        snapshot.state,
        stop_reason=or_none(snapshot.stop_reason),
        error=or_none(snapshot.error),
        tokens=or_none(snapshot.usage),
        background=None if work is UNSET or work is None else list(map(_background, work)),
    )


def _background(work: v2.BackgroundWork) -> BackgroundItem:
    if isinstance(work, v2.BackgroundTerminal):
        return BackgroundItem("terminal", work.terminal_id)
    if isinstance(work, v2.BackgroundToolCall):
        return BackgroundItem("tool_call", work.tool_call_id)
    if isinstance(work, v2.BackgroundSubagent):
        return BackgroundItem("subagent", work.session_id)
    return BackgroundItem(work.tag, None)


def _available_commands(view: View, update: v2.AvailableCommandsUpdate) -> Update:
    view.commands[:] = map(_command, update.available_commands)
    return CommandsChanged(view.commands, "", update)


def _command(command: v2.AvailableCommand) -> Command:
    if isinstance(command, UnknownVariant):
        fields = fields_of(command)
        return Command(fields.get("name", ""), fields.get("description", ""))
    hint = command.input.hint if isinstance(command.input, v2.TextCommandInput) else None
    return Command(command.name, command.description, hint)


def _config_options(view: View, update: v2.ConfigOptionUpdate) -> Update:
    view.options.replace(map(_option, update.config_options))
    return ConfigOptionsChanged(view.options.items, "", update)


def _option(option: v2.SessionConfigOption) -> ConfigOption:
    if isinstance(option, UnknownVariant):
        fields = fields_of(option)
        name = fields.get("configId", "")
        return ConfigOption(name, fields.get("name", name), "unknown")
    choices = _choices(option.options) if isinstance(option, v2.SessionConfigSelect) else None
    return ConfigOption(
        option_id=option.config_id,
        name=option.name,
        type="boolean" if choices is None else "select",
        value=option.current_value,
        choices=tuple(choices or ()),
        description=or_none(option.description),
        category=or_none(option.category),
    )


def _choices(items: Iterable[v2.SessionConfigSelectEntry]) -> Iterable[Choice]:
    for item in items:
        if item.value is not UNSET:
            yield Choice(item.value, item.name, or_none(item.description))
            continue
        for option in item.options or ():
            yield Choice(
                option.value,
                option.name,
                or_none(option.description),
                or_none(item.group_id),
                item.name,
            )


def _session_info(view: View, update: v2.SessionInfoUpdate) -> Update:
    view.info.patch(update.title, update.updated_at, update.meta)
    return SessionInfoChanged(view.info, "", update)


def _usage(view: View, update: v2.UsageUpdate) -> Update:
    cost: Patch[Cost] = UNSET
    if update.cost is None:
        cost = None
    elif update.cost is not UNSET:
        cost = Cost(update.cost.amount, update.cost.currency)
    view.usage.report(update.used, update.size, cost)
    return UsageChanged(view.usage, "", update)


# Notices, compaction, child sessions


def _notice(view: View, update: v2.Notice) -> Update:
    notice = Notice(update.severity, update.title, or_none(update.description))
    return NoticeCame(view.add_notice(notice), "", update)


def _compaction(view: View, update: v2.CompactionUpdate) -> Update:
    compaction = view.compaction(update.compaction_id)
    compaction.report(update.status, update.error)
    compaction.patch(update.summary)
    compaction.patch_meta(update.meta)
    return CompactionChanged(compaction, compaction.text if update.summary else "", update)


def _compaction_chunk(view: View, update: v2.CompactionSummaryChunk) -> Update:
    compaction = view.compaction(update.compaction_id)
    compaction.append(update.content)
    return CompactionChanged(compaction, text_of(update.content), update)


def _subagent(view: View, update: v2.SubagentUpdate) -> Update:
    child = view.subagent(update.session_id)
    child.patch(
        title=update.title,
        description=update.description,
        cwd=update.cwd,
        additional_directories=update.additional_directories,
        meta=update.meta,
    )
    if update.capabilities is None:
        child.cancellable = False
    elif update.capabilities is not UNSET:
        child.cancellable = or_none(update.capabilities.cancel) is not None
    if update.state is None:
        child.state.forget()
    elif update.state is not UNSET:
        _take_state(child.state, update.state)
    return SubagentChanged(child, "", update)


def _session_message(view: View, update: v2.SessionMessage) -> Update:
    message = view.session_message(update.message_id)
    message.patch_participants(
        sender_session_id=update.sender_session_id,
        recipient_session_id=update.recipient_session_id,
        sender_message_id=update.sender_message_id,
        recipient_message_id=update.recipient_message_id,
    )
    message.patch(update.content)
    message.patch_meta(update.meta)
    return SessionMessageChanged(message, message.text if update.content else "", update)


def _session_message_chunk(view: View, update: v2.SessionMessageChunk) -> Update:
    message = view.session_message(update.message_id)
    message.append(update.content)
    return SessionMessageChanged(message, text_of(update.content), update)


# Answers to requests that set up a session or ask about it


def _new_session(view: View, result: v2.NewSessionResponse) -> None:
    _setup(view, result)
    # Updates may overtake this answer, so what one of them said about the state stands.
    view.state.assume_idle()


def _setup(
    view: View, result: v2.NewSessionResponse | v2.ResumeSessionResponse | v2.ForkSessionResponse
) -> None:
    if result.config_options is not UNSET:
        view.options.replace(map(_option, result.config_options))
    if result.available_commands is not UNSET:
        view.commands[:] = map(_command, result.available_commands)


def _options_setup(view: View, result: v2.SetSessionConfigOptionResponse) -> None:
    view.options.replace(map(_option, result.config_options))


def _status(view: View, result: v2.SessionStatusResponse) -> None:
    # No state in the answer says nothing about the state, least of all that it is idle.
    if result.state is not UNSET and result.state is not None:
        _take_state(view.state, result.state)


FOLDS: dict[type, Fold] = {
    v2.StateUpdate: _state,
    v2.AvailableCommandsUpdate: _available_commands,
    v2.ConfigOptionUpdate: _config_options,
    v2.SessionInfoUpdate: _session_info,
    v2.UsageUpdate: _usage,
    v2.Notice: _notice,
    v2.CompactionUpdate: _compaction,
    v2.CompactionSummaryChunk: _compaction_chunk,
    v2.SubagentUpdate: _subagent,
    v2.SessionMessage: _session_message,
    v2.SessionMessageChunk: _session_message_chunk,
}

SETUPS: dict[type, Setup] = {
    v2.NewSessionResponse: _new_session,
    v2.ResumeSessionResponse: _setup,
    v2.ForkSessionResponse: _setup,
    v2.SetSessionConfigOptionResponse: _options_setup,
    v2.SessionStatusResponse: _status,
}

__all__ = ["FOLDS", "SETUPS"]
