"""Modes of a session, which config options replace."""

from typing import TypeAlias

from accord.schema.struct import ES, UNSET, E, Patch, WireStruct

SessionModeId: TypeAlias = str


class SessionMode(WireStruct, frozen=True, kw_only=True):
    """A way of working that the agent offers."""

    id: SessionModeId
    name: str
    description: E[Patch[str]] = UNSET


class SessionModeState(WireStruct, frozen=True, kw_only=True):
    """The modes there are and the one that is on."""

    current_mode_id: SessionModeId
    available_modes: ES[list[SessionMode]]


class SetSessionModeRequest(WireStruct, frozen=True, kw_only=True):
    session_id: str
    mode_id: SessionModeId


class SetSessionModeResponse(WireStruct, frozen=True, kw_only=True):
    """The mode is on."""
