"""Folds the updates of both official versions about the session as a whole.

Each version gives its wire types, the names of the fields that differ, and a reader for its
states; see `v1/session.py` and `v2/session.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from accord.schema.struct import UNSET, Patch, UnknownVariant
from accord.transcript.changes import (
    CommandsChanged,
    CompactionChanged,
    ConfigOptionsChanged,
    NoticeCame,
    PlanChanged,
    SessionInfoChanged,
    SessionMessageChanged,
    SubagentChanged,
    Update,
    UsageChanged,
)
from accord.transcript.entities import View
from accord.transcript.items.content import text_of
from accord.transcript.items.notice_and_compaction import Notice
from accord.transcript.items.options_and_commands import Choice, Command, ConfigOption
from accord.transcript.items.session_info_and_usage import Cost
from accord.transcript.items.session_state import State
from accord.transcript.unknown_variants import unknown_command, unknown_option, unknown_plan_id

T = TypeVar("T")

# Takes an update of one type into the view; None where that changed nothing.
Fold: TypeAlias = Callable[[View, Any], Update | None]
# Takes the answer to a request into the view.
Setup: TypeAlias = Callable[[View, Any], None]


def or_none(value: Patch[T]) -> T | None:
    """The value, and None where there is none, for fields in which absent and null are one."""
    return None if value is UNSET else value


@dataclass(frozen=True, slots=True)
class SessionFolds:
    """The folds of one version, and what differs between the versions."""

    # The module of the version's wire types.
    schema: Any
    # The id of a config option: the field of the struct, and the key on the wire.
    option_id_field: str
    option_id_key: str
    # The id of a group of choices.
    group_id_field: str
    # Where the id of a plan of an unknown kind may stand, the best first.
    plan_id_keys: tuple[str, ...]
    # Whether a notice or a child session ends the open message: where messages have no ids.
    ends_message: bool
    read_state: Callable[[State, Any], None]

    def table(self) -> dict[type, Fold]:
        """The fold for each type of update."""
        schema = self.schema
        return {
            schema.AvailableCommandsUpdate: self.commands_update,
            schema.ConfigOptionUpdate: self._options_update,
            schema.SessionInfoUpdate: _session_info,
            schema.UsageUpdate: _usage,
            schema.Notice: self._notice,
            schema.CompactionUpdate: self._compaction,
            schema.CompactionSummaryChunk: self._compaction_chunk,
            schema.SubagentUpdate: self._subagent,
            schema.SessionMessage: self._session_message,
            schema.SessionMessageChunk: self._session_message_chunk,
            schema.PlanUpdate: self._plan_update,
            schema.PlanRemoved: self._plan_removed,
        }

    # Commands and options

    def commands_update(self, view: View, update: Any) -> Update:
        """Replace the slash commands."""
        self.take_commands(view, update.available_commands)
        return CommandsChanged(view.commands, "", update)

    def take_commands(self, view: View, commands: Iterable[Any]) -> None:
        """Make these the slash commands of the session."""
        view.commands[:] = map(_command, commands)

    def _options_update(self, view: View, update: Any) -> Update:
        self.take_options(view, update.config_options)
        return ConfigOptionsChanged(view.options.items, "", update)

    def take_options(self, view: View, options: Patch[list[Any]]) -> None:
        """Make these the config options of the session, where any are given."""
        if options is not UNSET and options is not None:
            view.options.replace(map(self._option, options))

    def options_set(self, view: View, result: Any) -> None:
        """Take the answer to a change of an option."""
        self.take_options(view, result.config_options)

    def _option(self, option: Any) -> ConfigOption:
        if isinstance(option, UnknownVariant):
            return unknown_option(option, self.option_id_key)
        choices = None
        if isinstance(option, self.schema.SessionConfigSelect):
            choices = tuple(self._choices(option.options))
        return ConfigOption(
            option_id=getattr(option, self.option_id_field),
            name=option.name,
            type="boolean" if choices is None else "select",
            value=option.current_value,
            choices=choices or (),
            description=or_none(option.description),
            category=or_none(option.category),
        )

    def _choices(self, entries: Iterable[Any]) -> Iterator[Choice]:
        for entry in entries:
            if entry.value is not UNSET:
                yield Choice(entry.value, entry.name, or_none(entry.description))
                continue
            group_id = or_none(getattr(entry, self.group_id_field))
            for choice in entry.options or ():
                described = or_none(choice.description)
                yield Choice(choice.value, choice.name, described, group_id, entry.name)

    # Notices, compaction, child sessions

    def _end_message(self, view: View) -> None:
        if self.ends_message:
            view.open = None

    def _notice(self, view: View, update: Any) -> Update:
        self._end_message(view)
        notice = Notice(update.severity, update.title, or_none(update.description))
        return NoticeCame(view.add_notice(notice), "", update)

    def _compaction(self, view: View, update: Any) -> Update:
        self._end_message(view)
        compaction = view.compaction(update.compaction_id)
        compaction.report(update.status, update.error)
        compaction.patch(update.summary)
        compaction.patch_meta(update.meta)
        return CompactionChanged(compaction, compaction.text if update.summary else "", update)

    def _compaction_chunk(self, view: View, update: Any) -> Update:
        self._end_message(view)
        compaction = view.compaction(update.compaction_id)
        compaction.append(update.content)
        return CompactionChanged(compaction, text_of(update.content), update)

    def _subagent(self, view: View, update: Any) -> Update:
        self._end_message(view)
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
            self.read_state(child.state, update.state)
        return SubagentChanged(child, "", update)

    def _session_message(self, view: View, update: Any) -> Update:
        self._end_message(view)
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

    def _session_message_chunk(self, view: View, update: Any) -> Update:
        self._end_message(view)
        message = view.session_message(update.message_id)
        message.append(update.content)
        return SessionMessageChanged(message, text_of(update.content), update)

    # Plans

    def _plan_update(self, view: View, update: Any) -> Update:
        self._end_message(view)
        content = update.plan
        if isinstance(content, UnknownVariant):
            plan_id = unknown_plan_id(content, self.plan_id_keys)
            if plan_id is None:
                return view.add_unknown(content)
            plan = view.plan(plan_id)
            plan.show_unknown(content.tag, content)
            return PlanChanged(plan, "", update)
        plan = view.plan(content.plan_id)
        if isinstance(content, self.schema.PlanItems):
            plan.show_items(content.entries)
        elif isinstance(content, self.schema.PlanMarkdown):
            plan.show_markdown(content.content)
        else:
            plan.show_file(content.uri)
        return PlanChanged(plan, "", update)

    def _plan_removed(self, view: View, update: Any) -> Update | None:
        self._end_message(view)
        plan = view.remove_plan(update.plan_id)
        return None if plan is None else PlanChanged(plan, "", update)


def _command(command: Any) -> Command:
    if isinstance(command, UnknownVariant):
        return unknown_command(command)
    # Input of a kind that we do not know has no hint.
    return Command(command.name, command.description, getattr(command.input, "hint", None))


def _session_info(view: View, update: Any) -> Update:
    view.info.patch(update.title, update.updated_at, update.meta)
    return SessionInfoChanged(view.info, "", update)


def _usage(view: View, update: Any) -> Update:
    cost: Patch[Cost] = UNSET
    if update.cost is None:
        cost = None
    elif update.cost is not UNSET:
        cost = Cost(update.cost.amount, update.cost.currency)
    view.usage.report(update.used, update.size, cost)
    return UsageChanged(view.usage, "", update)
