"""Folds updates that only v2 has: the state, and the answers that open a session."""

from __future__ import annotations

from accord.schema import v2
from accord.schema.struct import UNSET
from accord.transcript.changes import StateChanged, Update
from accord.transcript.entities import View
from accord.transcript.folds.session import Fold, SessionFolds, Setup, or_none
from accord.transcript.items.session_state import BackgroundItem, State


def _read_state(state: State, snapshot: v2.StateSnapshot) -> None:
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


_folds = SessionFolds(
    schema=v2,
    option_id_field="config_id",
    option_id_key="configId",
    group_id_field="group_id",
    plan_id_keys=("planId", "id"),
    ends_message=False,
    read_state=_read_state,
)


def _state(view: View, update: v2.StateSnapshot) -> Update:
    _read_state(view.state, update)
    return StateChanged(view.state, "", update)


def _new_session(view: View, result: v2.NewSessionResponse) -> None:
    _setup(view, result)
    # Updates may overtake this answer, so a state that one of them reported stands.
    view.state.assume_idle()


def _setup(
    view: View, result: v2.NewSessionResponse | v2.ResumeSessionResponse | v2.ForkSessionResponse
) -> None:
    _folds.take_options(view, result.config_options)
    if result.available_commands is not UNSET:
        _folds.take_commands(view, result.available_commands)


def _status(view: View, result: v2.SessionStatusResponse) -> None:
    # An answer without a state does not mean that the session is idle.
    if result.state is not UNSET and result.state is not None:
        _read_state(view.state, result.state)


FOLDS: dict[type, Fold] = {**_folds.table(), v2.StateUpdate: _state}

SETUPS: dict[type, Setup] = {
    v2.NewSessionResponse: _new_session,
    v2.ResumeSessionResponse: _setup,
    v2.ForkSessionResponse: _setup,
    v2.SetSessionConfigOptionResponse: _folds.options_set,
    v2.SessionStatusResponse: _status,
}
