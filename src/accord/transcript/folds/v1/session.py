"""Folds updates that only v1 has: modes, models, and its form of states."""

from __future__ import annotations

from accord.schema import v1
from accord.schema.struct import Patch, UnknownVariant
from accord.transcript.changes import ModeChanged, Update
from accord.transcript.entities import View
from accord.transcript.folds.session import Fold, SessionFolds, Setup, or_none
from accord.transcript.items.options_and_commands import Choice, Mode
from accord.transcript.items.session_state import State

_STATE_NAMES: dict[type, str] = {
    v1.RunningStateUpdate: "running",
    v1.RequiresActionStateUpdate: "requires_action",
    v1.UnknownStateUpdate: "unknown",
}


def _read_state(state: State, update: v1.StateUpdate) -> None:
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
        state.report(_STATE_NAMES[type(update)])


_folds = SessionFolds(
    schema=v1,
    option_id_field="id",
    option_id_key="id",
    group_id_field="group",
    plan_id_keys=("planId",),
    ends_message=True,
    read_state=_read_state,
)


def _current_mode(view: View, update: v1.CurrentModeUpdate) -> Update:
    view.modes.current = update.current_mode_id
    return ModeChanged(view.modes, "", update)


def _setup(
    view: View,
    result: v1.NewSessionResponse | v1.LoadSessionResponse | v1.ResumeSessionResponse,
) -> None:
    _take_modes(view, result.modes)
    _folds.take_options(view, result.config_options)
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
    _folds.take_options(view, result.config_options)


def _take_modes(view: View, modes: Patch[v1.SessionModeState]) -> None:
    if modes:
        view.modes.current = modes.current_mode_id
        view.modes.available = tuple(
            Mode(mode.id, mode.name, or_none(mode.description)) for mode in modes.available_modes
        )


FOLDS: dict[type, Fold] = {**_folds.table(), v1.CurrentModeUpdate: _current_mode}

SETUPS: dict[type, Setup] = {
    v1.NewSessionResponse: _setup,
    v1.LoadSessionResponse: _setup,
    v1.ResumeSessionResponse: _setup,
    v1.ForkSessionResponse: _fork_setup,
    v1.SetSessionConfigOptionResponse: _folds.options_set,
}
