"""The state of a connection to a draft agent: the abilities of both sides, and the sessions.

What always holds
    * At most `SESSIONS_MAX` sessions and `CALLS_MAX` tool calls of each are remembered; the
      oldest that is not at work goes first.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from accord.schema.codec import encode
from accord.translate.draft.conversion.config_options import (
    any_option,
    made_option,
    with_any_value,
    with_value,
)
from accord.translate.draft.conversion.paths import is_inside
from accord.translate.draft.error_codes import DRAFT_INVALID_SESSION_STATE
from accord.translate.draft.mode_names import DEFAULT_MODE, ModeNames, official_mode
from accord.translate.message import CannotTranslate, Json, Key, Request

SESSIONS_MAX: Final = 1024
CALLS_MAX: Final = 1024
# The content of calls that a permission request may name: at most this many calls, and this
# many bytes of each.
SHOWN_CALLS_MAX: Final = 16
SHOWN_BYTES_MAX: Final = 1024 * 1024


@dataclass(slots=True)
class Turn:
    """A prompt that the agent works on."""

    key: Key
    cancelled: bool = False


@dataclass(slots=True)
class Call:
    """A tool call: the draft's status, and its input while a permission request may name it."""

    status: str
    given: Any = None


@dataclass(slots=True)
class Session:
    """One session of the draft agent."""

    id: str
    folder: str = "/"
    names: ModeNames = field(default_factory=ModeNames)
    modes: list[Json] = field(default_factory=list)
    mode: str = DEFAULT_MODE
    options: list[Json] = field(default_factory=list)
    turn: Turn | None = None
    # The client got the end of the turn, and the agent has not ended it yet.
    muted: bool = False
    held: deque[Request] = field(default_factory=deque)
    # Whether an update came since the request for the session.
    told: bool = False
    last: str = ""
    message_ids: dict[str, str | None] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    calls: dict[str, Call] = field(default_factory=dict)
    # Whether the client has opened the session; otherwise only an update has named it.
    opened: bool = False
    # The content that v1 got of calls that a permission request may name.
    shown: dict[str, list[Json]] = field(default_factory=dict)

    def call(self, call_id: str) -> Call:
        """Return the call with this id, and remember it."""
        call = self.calls.get(call_id)
        if call is None:
            if len(self.calls) >= CALLS_MAX:
                del self.calls[next(iter(self.calls))]
            call = self.calls[call_id] = Call("pending")
        return call

    def show(self, call_id: str, contents: list[Json]) -> None:
        """Remember the content of a call for a permission request; the oldest is dropped."""
        self.shown.pop(call_id, None)
        if len(encode(contents)) <= SHOWN_BYTES_MAX:
            self.shown[call_id] = contents
            if len(self.shown) > SHOWN_CALLS_MAX:
                del self.shown[next(iter(self.shown))]

    def mode_state(self) -> Json | None:
        """Return the modes in v1's form; None if there are none."""
        if not self.modes:
            return None
        current = self.names.official(self.mode)
        known = any(mode["id"] == current for mode in self.modes)
        offered = self.modes if known else [*self.modes, official_mode(self.mode)]
        return {"currentModeId": current, "availableModes": offered}


class State:
    def __init__(self, *, details: bool = False) -> None:
        self.details = details
        self.client: Json = {}
        self.offered: Json = {}
        self.loads = False
        self.cancels = True
        self.serves_mcp = True
        self.transports: frozenset[str] = frozenset()
        self.modes: list[str] = []
        self.option_keys: list[str] = []
        self.sessions: dict[str, Session] = {}
        # MCP servers of the client that are reached over this connection: name and id.
        self.mcp_servers: dict[str, str] = {}
        self._permissions = 0

    # ---- abilities

    @property
    def booleans(self) -> bool:
        """Whether the client can show boolean options."""
        session = self.client.get("session") or {}
        return (session.get("configOptions") or {}).get("boolean") is not None

    def serves(self, part: str, name: str) -> bool:
        """Whether the client offers a service, by the draft's names."""
        return self.offered.get(part, {}).get(name) is True

    def learn(self, capabilities: Json) -> None:
        """Note the capabilities of the draft agent; one that is not listed is not refused."""
        mcp = capabilities.get("mcpCapabilities") or {}
        session = capabilities.get("sessionCapabilities") or {}
        self.loads = capabilities.get("loadSession") is True
        prompt = capabilities.get("promptCapabilities") or {}
        self.cancels = prompt.get("cancellation") is not False
        self.serves_mcp = mcp.get("servers") is not False
        self.transports = frozenset({"stdio", *(mcp.get("transport") or ())})
        self.modes = list(dict.fromkeys(session.get("modes") or ()))
        self.option_keys = list(dict.fromkeys(session.get("configOptions") or ()))

    # ---- sessions

    def session(self, session_id: str) -> Session:
        """Return the session with this id; one that was not opened gets a record too."""
        return self.sessions.get(session_id) or self._record(session_id)

    def open(self, session_id: str, folder: str) -> Session:
        """Make the record of a session that the client opens."""
        session = self._record(session_id)
        session.folder, session.opened = folder, True
        return session

    def _record(self, session_id: str) -> Session:
        session = self.sessions.pop(session_id, None) or Session(session_id)
        session.names = ModeNames.of_draft(self.modes)
        session.modes = [official_mode(name) for name in self.modes]
        if session.mode not in self.modes and self.modes:
            session.mode = DEFAULT_MODE if DEFAULT_MODE in self.modes else self.modes[0]
        if not session.options:
            make = any_option if self.details else made_option
            session.options = [make(key) for key in self.option_keys]
        if len(self.sessions) >= SESSIONS_MAX:
            idle = next((one for one in self.sessions.values() if one.turn is None), None)
            del self.sessions[idle.id if idle is not None else next(iter(self.sessions))]
        self.sessions[session_id] = session
        return session

    def set_option(self, session: Session, key: str, value: Any) -> None:
        """Set the value of an option of a session."""
        if self.details:
            session.options = with_any_value(session.options, key, value)
        else:
            session.options = with_value(session.options, key, value, booleans=self.booleans)

    def owner(self, path: str | None = None, named: Any = None) -> Session:
        """Find the session of a request that names none.

        Raises:
            CannotTranslate: it may be of several.
        """
        if isinstance(named, str) and named in self.sessions:
            return self.sessions[named]
        opened = [one for one in self.sessions.values() if one.opened]
        sessions = opened or list(self.sessions.values())
        inside = [one for one in sessions if path is not None and is_inside(path, one.folder)]
        depth = max((len(one.folder.rstrip("/\\")) for one in inside), default=0)
        inside = [one for one in inside if len(one.folder.rstrip("/\\")) == depth]
        running = [one for one in inside or sessions if one.turn is not None]
        for found in (running, inside, sessions):
            if len(found) == 1:
                return found[0]
        raise CannotTranslate(
            DRAFT_INVALID_SESSION_STATE,
            "the request names no session, and it could be of several or none",
        )

    def permission_id(self) -> str:
        """Make an id for a tool call in a permission request that was never announced."""
        self._permissions += 1
        return f"d26-perm-{self._permissions}"
