"""Sessions of the 2026-02 draft: opening, loading, modes, options, cancelling.

Timestamps stay text: they are shown and passed on, and this folder knows no calendar.
"""

from typing import Literal, TypeAlias

from accord.schema.draft.mcp import McpServer
from accord.schema.struct import UNSET, AbsolutePath, Omit, Raw, Uint64, WireStruct, Z

# Names that agents share; any other is as good, so fields that hold one are plain texts.
SessionMode: TypeAlias = Literal["default", "plan", "code", "architect", "ask"] | str


class NewSessionRequest(WireStruct, frozen=True, kw_only=True):
    """Opens a session on a folder."""

    working_directory: AbsolutePath
    mcp_servers: Z[Omit[list[McpServer]]] = UNSET
    system_prompt: Z[Omit[str]] = UNSET
    initial_mode: Z[Omit[str]] = UNSET
    config_options: Z[Omit[dict[str, Raw]]] = UNSET


class NewSessionResponse(WireStruct, frozen=True, kw_only=True):
    """The new session's id and birth."""

    session_id: str
    created_at: str


class LoadSessionRequest(WireStruct, frozen=True, kw_only=True):
    """Opens a session that was stored.  Its folder and servers are the agent's to remember."""

    session_id: str


class LoadSessionResponse(WireStruct, frozen=True, kw_only=True):
    """The state in which the session was found."""

    session_id: str
    working_directory: str
    mode: str
    config_options: dict[str, Raw]
    message_count: Uint64


class SetSessionModeRequest(WireStruct, frozen=True, kw_only=True):
    """Changes the mode of a session."""

    session_id: str
    mode: str


class SetSessionModeResponse(WireStruct, frozen=True, kw_only=True):
    """The mode that was left and the one that holds now."""

    previous_mode: str
    current_mode: str


class SetSessionConfigOptionRequest(WireStruct, frozen=True, kw_only=True):
    """Sets one option of a session to any JSON value."""

    session_id: str
    key: str
    value: Raw


class SetSessionConfigOptionResponse(WireStruct, frozen=True, kw_only=True):
    """The value that the option had and the one that it has."""

    key: str
    current_value: Raw
    previous_value: Omit[Raw] = UNSET


class CancelNotification(WireStruct, frozen=True, kw_only=True):
    """Asks for the end of the running turn."""

    session_id: str
    reason: Z[Omit[str]] = UNSET
