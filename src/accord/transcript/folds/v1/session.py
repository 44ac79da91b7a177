"""Folds what v1 says about the session as a whole, and what stands beside the conversation."""

from __future__ import annotations

from collections.abc import Iterable

from accord.schema import v1
from accord.schema.struct import UNSET, Patch, UnknownVariant
from accord.transcript.folds.fold_types import Fold, Setup, or_none
from accord.transcript.items.content import text_of
from accord.transcript.items.notice import Notice
from accord.transcript.items.session_info import Cost
from accord.transcript.items.session_options import Choice, Command, ConfigOption, Mode
from accord.transcript.items.session_state import State
from accord.transcript.unknown_variants import fields_of
from accord.transcript.update import (
    CommandsChanged,
    CompactionChanged,
    ConfigOptionsChanged,
    ModeChanged,
    NoticeCame,
    SessionInfoChanged,
    SessionMessageChanged,
    SubagentChanged,
    Update,
    UsageChanged,
)
from accord.transcript.view import View

# The session as a whole: nothing of this is part of the conversation, so it ends no message.


def _available_commands(view: View, update: v1.AvailableCommandsUpdate) -> Update:
    view.commands[:] = [
        Command(command.name, command.description, command.input.hint if command.input else None)
        for command in update.available_commands
    ]
    return CommandsChanged(view.commands, "", update)


def _current_mode(view: View, update: v1.CurrentModeUpdate) -> Update:
    view.modes.current = update.current_mode_id
    return ModeChanged(view.modes, "", update)


def _config_options(view: View, update: v1.ConfigOptionUpdate) -> Update:
    view.options.replace(map(_option, update.config_options))
    return ConfigOptionsChanged(view.options.items, "", update)


def _session_info(view: View, update: v1.SessionInfoUpdate) -> Update:
    view.info.patch(update.title, update.updated_at, update.meta)
    return SessionInfoChanged(view.info, "", update)


def _usage(view: View, update: v1.UsageUpdate) -> Update:
    cost: Patch[Cost] = UNSET
    if update.cost is None:
        cost = None
    elif update.cost is not UNSET:
        cost = Cost(update.cost.amount, update.cost.currency)
    view.usage.report(update.used, update.size, cost)
    return UsageChanged(view.usage, "", update)


# Notices, compaction, child sessions


def _notice(view: View, update: v1.Notice) -> Update:
    view.open = None
    notice = Notice(update.severity, update.title, or_none(update.description))
    return NoticeCame(view.add_notice(notice), "", update)


def _compaction(view: View, update: v1.CompactionUpdate) -> Update:
    view.open = None
    compaction = view.compaction(update.compaction_id)
    compaction.report(update.status, update.error)
    compaction.patch(update.summary)
    compaction.patch_meta(update.meta)
    return CompactionChanged(compaction, compaction.text if update.summary else "", update)


def _compaction_chunk(view: View, update: v1.CompactionSummaryChunk) -> Update:
    view.open = None
    compaction = view.compaction(update.compaction_id)
    compaction.append(update.content)
    return CompactionChanged(compaction, text_of(update.content), update)


def _subagent(view: View, update: v1.SubagentUpdate) -> Update:
    view.open = None
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


def _session_message(view: View, update: v1.SessionMessage) -> Update:
    view.open = None
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


def _session_message_chunk(view: View, update: v1.SessionMessageChunk) -> Update:
    view.open = None
    message = view.session_message(update.message_id)
    message.append(update.content)
    return SessionMessageChanged(message, text_of(update.content), update)


_STATE_WORDS: dict[type, str] = {
    v1.RunningStateUpdate: "running",
    v1.RequiresActionStateUpdate: "requires_action",
    v1.UnknownStateUpdate: "unknown",
}


def _take_state(state: State, update: v1.StateUpdate) -> None:
    if isinstance(update, v1.IdleStateUpdate):
        state.report(
            "idle",
            stop_reason=or_none(update.stop_reason),
            error=or_none(update.error),
            tokens=or_none(update.usage),
        )
    elif isinstance(update, UnknownVariant):
        state.report(update.tag)
    else:
        state.report(_STATE_WORDS[type(update)])


# Answers to requests that set up a session or change an option


def _setup(
    view: View,
    result: v1.NewSessionResponse | v1.LoadSessionResponse | v1.ResumeSessionResponse,
) -> None:
    _take_modes(view, result.modes)
    _take_options(view, result.config_options)
    models = result.models
    if models:
        view.options.offer_models(
            models.current_model_id,
            (
                Choice(model.model_id, model.name, or_none(model.description))
                for model in models.available_models
            ),
        )


def _fork_setup(view: View, result: v1.ForkSessionResponse) -> None:
    _take_modes(view, result.modes)
    _take_options(view, result.config_options)


def _options_setup(view: View, result: v1.SetSessionConfigOptionResponse) -> None:
    _take_options(view, result.config_options)


def _take_modes(view: View, modes: Patch[v1.SessionModeState]) -> None:
    if modes:
        view.modes.current = modes.current_mode_id
        view.modes.available = tuple(
            Mode(mode.id, mode.name, or_none(mode.description)) for mode in modes.available_modes
        )


def _take_options(view: View, options: Patch[list[v1.SessionConfigOption]]) -> None:
    if options is not UNSET and options is not None:
        view.options.replace(map(_option, options))


def _option(option: v1.SessionConfigOption) -> ConfigOption:
    if isinstance(option, UnknownVariant):
        fields = fields_of(option)
        name = fields.get("id", "")
        return ConfigOption(name, fields.get("name", name), "unknown")
    choices = _choices(option.options) if isinstance(option, v1.SessionConfigSelect) else None
    return ConfigOption(
        option_id=option.id,
        name=option.name,
        type="boolean" if choices is None else "select",
        value=option.current_value,
        choices=tuple(choices or ()),
        description=or_none(option.description),
        category=or_none(option.category),
    )


def _choices(entries: Iterable[v1.SessionConfigSelectEntry]) -> Iterable[Choice]:
    for entry in entries:
        if entry.value is not UNSET:
            yield Choice(entry.value, entry.name, or_none(entry.description))
            continue
        for option in entry.options or ():
            yield Choice(
                option.value,
                option.name,
                or_none(option.description),
                or_none(entry.group),
                entry.name,
            )


FOLDS: dict[type, Fold] = {
    v1.AvailableCommandsUpdate: _available_commands,
    v1.CurrentModeUpdate: _current_mode,
    v1.ConfigOptionUpdate: _config_options,
    v1.SessionInfoUpdate: _session_info,
    v1.UsageUpdate: _usage,
    v1.Notice: _notice,
    v1.CompactionUpdate: _compaction,
    v1.CompactionSummaryChunk: _compaction_chunk,
    v1.SubagentUpdate: _subagent,
    v1.SessionMessage: _session_message,
    v1.SessionMessageChunk: _session_message_chunk,
}

SETUPS: dict[type, Setup] = {
    v1.NewSessionResponse: _setup,
    v1.LoadSessionResponse: _setup,
    v1.ResumeSessionResponse: _setup,
    v1.ForkSessionResponse: _fork_setup,
    v1.SetSessionConfigOptionResponse: _options_setup,
}

__all__ = ["FOLDS", "SETUPS"]
