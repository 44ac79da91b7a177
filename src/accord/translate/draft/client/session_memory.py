"""The state of a connection of a draft client: the abilities of both sides, and the sessions.

What always holds
    * At most `SESSIONS_MAX` sessions and `CALLS_MAX` tool calls of each are remembered; the
      oldest that is not at work goes first.
    * Of a session that is not announced yet at most `EARLY_UPDATES_MAX` updates are held back.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from accord.translate.draft.conversion.config_options import values_of
from accord.translate.draft.mode_names import DEFAULT_MODE, ModeNames
from accord.translate.message import Json, Key, Out

SESSIONS_MAX: Final = 1024
CALLS_MAX: Final = 1024
EARLY_UPDATES_MAX: Final = 1024
MODE_CATEGORY: Final = "mode"


@dataclass(slots=True)
class Turn:
    """One prompt; its turn begins when its first update is sent."""

    key: Key
    begun: bool = False
    cancelled: bool = False
    # The prompt's blocks, which are echoed when the turn begins.
    echo: list[Json] = field(default_factory=list)


@dataclass(slots=True)
class Call:
    """A tool call as the draft client knows it."""

    id: str
    status: str = "pending"
    kind: str = "other"
    title: str = ""
    path: str | None = None
    resource: str | None = None
    asked: bool = False
    rejected: bool = False
    # The terminal that the call shows, and when its work began.
    terminal_id: str | None = None
    started: float | None = None
    # The announcement while it is delayed, and the timer that sends it.
    unsaid: Json | None = None
    timer: int = 0
    # A model writes the call, and the tool has not described it yet.
    is_forming: bool = False
    # Its content that is not text.
    shown: list[Json] = field(default_factory=list)
    # The last text among its contents: the reason if the call fails.
    text: str = ""
    # The agent has reported `in_progress`, which was not sent to the client yet.
    owed: bool = False


@dataclass(slots=True)
class Session:
    """One session of the v1 agent."""

    id: str
    folder: str | None = None
    servers: list[Json] = field(default_factory=list)
    names: ModeNames = field(default_factory=ModeNames)
    modes: list[Json] = field(default_factory=list)
    mode: str = DEFAULT_MODE
    options: list[Json] = field(default_factory=list)
    turn: Turn | None = None
    # Prompts that wait behind the running one.
    waiting: deque[Turn] = field(default_factory=deque)
    calls: dict[str, Call] = field(default_factory=dict)
    # Open permission requests of the agent, by key.
    asking: dict[Key, Call] = field(default_factory=dict)
    # Not announced to the client yet: its updates wait.
    opening: bool = False
    early: deque[Out] = field(default_factory=lambda: deque(maxlen=EARLY_UPDATES_MAX))
    # The current message of each kind of chunk, and how many of its chunks were sent.
    messages: dict[str, tuple[str, int]] = field(default_factory=dict)
    # The open streamed message: its type, and the index of its next chunk.
    open_message: tuple[str, int] | None = None
    # During a replay: how many messages, and the message of the last chunk.
    loading: bool = False
    counted: int = 0
    counting: Any = None
    usage: Json | None = None
    # A change that the client requested: the agent's updates about it so far, and those that it
    # will repeat although they were sent.  The agent may report a mode by the option of this key.
    wanted_mode: str | None = None
    told_mode: Json | None = None
    echo_mode: str | None = None
    mode_options: tuple[str, list[Json]] | None = None
    setting: int = 0
    told_options: list[Json] | None = None

    def call(self, call_id: str) -> Call:
        """Make a new call with this id."""
        if len(self.calls) >= CALLS_MAX:
            del self.calls[next(iter(self.calls))]
        call = self.calls[call_id] = Call(call_id)
        return call

    def describe(self, result: Json) -> None:
        """Read modes and options from the answer that opened the session.

        What a loaded session does not tell again is as it was.
        """
        modes = result.get("modes")
        if result.get("configOptions") is not None:
            self.options = result["configOptions"]
        if modes is not None:
            self.modes = modes["availableModes"]
            self.names = ModeNames.of_official(self.modes)
            self.mode = self.names.draft(modes["currentModeId"])
            return
        option = self.mode_option
        if option is not None:
            entries = [{"id": one["value"], **one} for one in option["options"] if "value" in one]
            self.names = ModeNames.of_official(entries)
            self.mode = self.names.draft(option["currentValue"])

    @property
    def mode_option(self) -> Json | None:
        """The option that is the mode; if the agent has modes too, both are the same."""
        return mode_option_of(self.options)

    def values(self) -> Json:
        """The options in the draft's form, without the mode."""
        return values_of([one for one in self.options if one is not self.mode_option])


def mode_option_of(options: list[Json]) -> Json | None:
    """Return the option that is the mode, if there is one."""
    for option in options:
        if option.get("category") == MODE_CATEGORY and option.get("type") == "select":
            return option
    return None


class State:
    def __init__(self) -> None:
        self.client: Json = {}
        self.agent: Json = {}
        self.logins: list[Json] = []
        self.official_updates = False
        self.sessions: dict[str, Session] = {}
        # Requested sessions without an id so far.
        self.openings = 0
        # Sessions that appeared meanwhile, and may belong to one of these requests.
        self._unclaimed: dict[str, Session] = {}

    def serves(self, part: str, name: str) -> bool:
        """Whether the client offers a service, by the draft's names."""
        holder = self.client.get(part)
        return isinstance(holder, dict) and holder.get(name) is True

    @property
    def has_dialogs(self) -> bool:
        """Whether the client can ask its user, unless it says that it cannot."""
        return (self.client.get("ui") or {}).get("permissionDialogs") is not False

    def capability(self, part: str, name: str) -> Any:
        """Return a capability of the agent; None if it lacks it."""
        return (self.agent.get(part) or {}).get(name)

    def session(self, session_id: str) -> Session:
        """Return the session with this id; an unannounced or unknown one gets a record too."""
        session = self.sessions.get(session_id)
        if session is not None:
            return session
        if len(self.sessions) >= SESSIONS_MAX:
            idle = next((one for one in self.sessions.values() if one.turn is None), None)
            gone = idle.id if idle is not None else next(iter(self.sessions))
            del self.sessions[gone]
            self._unclaimed.pop(gone, None)
        session = self.sessions[session_id] = Session(session_id, opening=self.openings > 0)
        if session.opening:
            self._unclaimed[session_id] = session
        return session

    def claimed(self, session_id: str) -> Session:
        """Return the session with this id, which the client knows."""
        session = self.session(session_id)
        self._unclaimed.pop(session_id, None)
        session.opening = False
        return session

    def opened(self) -> list[Out]:
        """Note that one of the requested sessions was opened.

        When no session is being opened any more, those that turned up meanwhile are not new ones
        of the client: what was held back of them goes out.
        """
        self.openings -= 1
        if self.openings:
            return []
        outs: list[Out] = []
        for session in self._unclaimed.values():
            session.opening = False
            outs += session.early
            session.early.clear()
        self._unclaimed.clear()
        return outs
