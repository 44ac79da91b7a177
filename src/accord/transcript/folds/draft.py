"""Folds the updates of the 2026-02 draft dialect into a view.

The draft has no message ids: a chunk with index 0, or the one after a final chunk, starts a
message, one with another index goes on with it, and without an index a change of kind starts one.
A tool call has one output, and its title and kind are read out of the name of the tool.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from accord.schema import draft
from accord.schema.codec import encode
from accord.schema.struct import UNSET, Omit, Raw
from accord.transcript.folds.fold_types import Fold, Setup, or_none
from accord.transcript.items.message import Message, Role
from accord.transcript.items.plan import PlanEntry
from accord.transcript.items.session_options import Command, ConfigOption, Mode
from accord.transcript.items.terminal import ExitStatus
from accord.transcript.items.tool_call import FileDiff, ToolCall
from accord.transcript.unknown_variants import plain
from accord.transcript.update import (
    CommandsChanged,
    ConfigOptionsChanged,
    MessageChanged,
    ModeChanged,
    PlanChanged,
    ThoughtChanged,
    ToolCallChanged,
    Update,
    UserMessageChanged,
)
from accord.transcript.view import View

# By the start of the tool's name; the first that fits decides.
KINDS_BY_TOOL: tuple[tuple[str, str], ...] = (
    ("fs/read", "read"),
    ("fs/write", "edit"),
    ("fs/delete", "delete"),
    ("terminal/", "execute"),
    ("web/", "fetch"),
    ("http", "fetch"),
    ("search", "search"),
    ("grep", "search"),
)
# Words of the draft that the official versions do not have.
STATUSES: dict[str, str] = {"awaiting_permission": "pending", "denied": "cancelled"}
DEFAULT_PRIORITY = "medium"
# Where `_meta` has what only the draft has a field for.
DRAFT = "acp.draft/2026-02"
# Stays apart from what may be shown.
_HIDDEN = {DRAFT: Raw(b'{"visible":false}')}
# What a name does not say by itself.
_MODE_WORDS: dict[str, tuple[str, str]] = {
    "ask_questions": ("Ask (questions only)", "Answers questions and takes no action"),
}


# Messages


def _agent_message_chunk(view: View, update: draft.AgentMessageChunk) -> Update | None:
    message = _chunk(view, update, "agent", ends=update.final is True)
    return None if message is None else MessageChanged(message, update.content, update)


def _thought_chunk(view: View, update: draft.ThoughtMessageChunk) -> Update | None:
    message = _chunk(view, update, "thought", ends=False)
    if message is None:
        return None
    # What is not meant for the user is kept, and not told as something new to show.
    return ThoughtChanged(message, "" if update.visible is False else update.content, update)


def _chunk(
    view: View,
    update: draft.MessageChunk | draft.ThoughtMessageChunk,
    role: Role,
    *,
    ends: bool,
) -> Message | None:
    if update.index is not UNSET:
        view.open = view.unfinished.get(role) if update.index else None
    if not update.content and (view.open is None or view.open.role != role):
        # A message that begins with it would show as a blank one; the next piece begins it.
        view.unfinished.pop(role, None)
        return None
    message = view.unfinished[role] = view.chunk_target(role, None)
    hidden = isinstance(update, draft.ThoughtMessageChunk) and update.visible is False
    message.append(draft.TextContent(text=update.content, meta=_HIDDEN if hidden else UNSET))
    if ends:
        view.open = None
        del view.unfinished[role]
    return message


def _user_message_chunk(view: View, update: draft.UserMessageChunk) -> Update:
    if update.index == 0:
        view.open = None
    message, text = view.user_chunk(None, draft.TextContent(text=update.content))
    if update.final is True:
        view.open = None
    return UserMessageChanged(message, text, update)


# Tool calls


def _tool_call(view: View, update: draft.ToolCall) -> Update:
    view.open = None
    call = view.tool_call(update.id)
    call.patch(
        title=_title(update.tool, update.input),
        name=update.tool,
        kind=next(
            (kind for start, kind in KINDS_BY_TOOL if update.tool.startswith(start)), "other"
        ),
        raw_input=update.input,
        meta=update.meta,
    )
    facts: dict[str, object] = {"requiresPermission": update.requires_permission}
    if update.location is not UNSET:
        call.replace_locations([update.location])
        facts["location"] = update.location
    _keep(call, update.status, facts)
    return ToolCallChanged(call, "", update)


def _keep(call: ToolCall, status: Omit[str], facts: dict[str, object]) -> None:
    """Take a status, and keep what no other version can say under the draft's own names."""
    if status is not UNSET and not call.is_final:
        facts["status"] = status if status in STATUSES else None
        call.report(STATUSES.get(status, status))
    known = plain(call.meta.get(DRAFT, b"{}"))
    kept = cast("dict[str, object]", known) if isinstance(known, dict) else {}
    kept |= {name: fact for name, fact in facts.items() if fact is not UNSET}
    kept = {name: fact for name, fact in kept.items() if fact is not None}
    if kept or DRAFT in call.meta:
        call.meta[DRAFT] = Raw(encode(kept))


def _title(tool: str, given: Raw) -> str:
    value = plain(given)
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        for key in ("path", "command"):
            subject = members.get(key)
            if isinstance(subject, str):
                return f"{tool} {subject}"
    return tool


def _tool_call_update(view: View, update: draft.ToolCallUpdate) -> Update:
    view.open = None
    call = view.tool_call(update.id)
    call.patch(meta=update.meta)
    _keep(call, update.status, {"duration": update.duration})
    if update.output is not UNSET:
        call.replace_content([update.output], _diffs)
        if isinstance(update.output, draft.TerminalOutput):
            _show_terminal(view, update.output)
    if update.error is not UNSET:
        call.append_content(draft.TextOutput(text=update.error), _diffs)
    return ToolCallChanged(call, "", update)


def _diffs(item: draft.ToolCallOutput) -> Iterable[FileDiff]:
    if not isinstance(item, draft.DiffOutput):
        return ()
    patch = "".join(_head(hunk) + hunk.content.removesuffix("\n") + "\n" for hunk in item.hunks)
    return (FileDiff(item.path, patch=patch),)


def _head(hunk: draft.DiffHunk) -> str:
    # In the draft's own example the content has it already.
    if hunk.content.startswith("@@ -"):
        return ""
    return f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@\n"


def _show_terminal(view: View, output: draft.TerminalOutput) -> None:
    terminal = view.terminal(output.terminal_id)
    terminal.patch(command=output.command)
    terminal.replace(f"{output.stdout or ''}{output.stderr or ''}".encode())
    exit_code = or_none(output.exit_code)
    if exit_code is not None:
        terminal.patch(exit_status=ExitStatus(exit_code))


# The rest


def _plan(view: View, update: draft.Plan) -> Update:
    view.open = None
    plan = view.plan(update.plan_id)
    plan.show_items(
        [PlanEntry(step.description, DEFAULT_PRIORITY, step.status) for step in update.steps]
    )
    return PlanChanged(plan, "", update)


def _available_commands(view: View, update: draft.AvailableCommands) -> Update:
    view.commands[:] = [Command(command.name, command.description) for command in update.commands]
    return CommandsChanged(view.commands, "", update)


def _current_mode(view: View, update: draft.CurrentModeUpdate) -> Update:
    view.modes.current = update.current_mode
    return ModeChanged(view.modes, "", update)


def _config_option(view: View, update: draft.ConfigOptionUpdate) -> Update:
    view.options.set_value(_option(update.key, update.current_value))
    return ConfigOptionsChanged(view.options.items, "", update)


def _option(key: str, raw: Raw) -> ConfigOption:
    # The draft never says which values there are, so only a switch can be offered.
    value = plain(raw)
    return ConfigOption(key, key, "boolean" if isinstance(value, bool) else "unknown", value)


# Answers to requests


def _load_setup(view: View, result: draft.LoadSessionResponse) -> None:
    view.modes.current = result.mode
    told = result.config_options
    unset = [item for item in view.options.items if item.option_id not in told]
    view.options.replace([*(_option(key, raw) for key, raw in told.items()), *unset])


def _mode_setup(view: View, result: draft.SetSessionModeResponse) -> None:
    view.modes.current = result.current_mode


def _option_setup(view: View, result: draft.SetSessionConfigOptionResponse) -> None:
    view.options.set_value(_option(result.key, result.current_value))


def _capabilities_setup(view: View, offered: draft.SessionCapabilities) -> None:
    """Modes and options of the draft are the agent's, the same for every session of it."""
    modes = tuple(Mode(name, *_MODE_WORDS.get(name, (name,))) for name in offered.modes or ())
    view.modes.available = modes
    names = [mode.mode_id for mode in modes]
    view.modes.current = "default" if "default" in names else next(iter(names), None)
    keys = offered.config_options or ()
    view.options.replace(
        ConfigOption(key, key, "unknown", category="model" if key == "model" else None)
        for key in keys
    )


def _nothing(view: View, result: draft.NewSessionResponse) -> None:
    # A new session of the draft says nothing but its id.
    del view, result


FOLDS: dict[type, Fold] = {
    draft.AgentMessageChunk: _agent_message_chunk,
    draft.ThoughtMessageChunk: _thought_chunk,
    draft.UserMessageChunk: _user_message_chunk,
    draft.ToolCall: _tool_call,
    draft.ToolCallUpdate: _tool_call_update,
    draft.Plan: _plan,
    draft.AvailableCommands: _available_commands,
    draft.CurrentModeUpdate: _current_mode,
    draft.ConfigOptionUpdate: _config_option,
}

SETUPS: dict[type, Setup] = {
    draft.SessionCapabilities: _capabilities_setup,
    draft.NewSessionResponse: _nothing,
    draft.LoadSessionResponse: _load_setup,
    draft.SetSessionModeResponse: _mode_setup,
    draft.SetSessionConfigOptionResponse: _option_setup,
}
