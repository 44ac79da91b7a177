"""The messages that pass through a translator: without wire ids, and with their destination.

A translator stands between a client and an agent.  It knows nothing of bytes, ids on the wire,
processes or clocks; whoever drives it (`proxy/relay/relay.py`) does.

What always holds
    * A `key` names a request on one side and in one direction: the driver makes keys for what it
      delivers, a translator for what it asks.  An answer carries the key of its request.
    * Where params name a request (`$/cancel_request`, and `elicitation/create` with `requestId`),
      they hold its key, never an id of the wire.
    * `params`, `result` and `data` are plain JSON values.  Whoever is handed one may change it
      and pass it on; nobody else keeps it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeAlias

Json: TypeAlias = dict[str, Any]
Key: TypeAlias = int


class Side(Enum):
    """The peer that a message comes from or goes to.

    The host is the machine that the translator stands on: it serves files and terminals, in v1's
    words, to an agent whose client does not.
    """

    CLIENT = "client"
    AGENT = "agent"
    HOST = "host"


# In the data of a failure: the answer does not have the type of its method.
UNREADABLE = "unreadable_answer"

CLIENT, AGENT, HOST = Side.CLIENT, Side.AGENT, Side.HOST


class Request(NamedTuple):
    """A request; exactly one `Result` or `Failure` with this key must follow."""

    key: Key
    method: str
    params: Json


class Notification(NamedTuple):
    """A notification; it gets no answer."""

    method: str
    params: Json


class Result(NamedTuple):
    """The result of a request."""

    key: Key
    result: Any


class Failure(NamedTuple):
    """The error that answers a request; `data` is None if there is none."""

    key: Key
    code: int
    message: str
    data: Any = None


Answer: TypeAlias = Result | Failure
Message: TypeAlias = Request | Notification | Result | Failure
Out: TypeAlias = tuple[Side, Message]


def _nowhere(name: str) -> None:
    del name


def _nothing(method: str) -> Json:
    del method
    return {}


class Approvals(Protocol):
    """The approvals of one session, which are matched with the agent's later requests."""

    def told(self, call: Json) -> None:
        """Note a tool call, or a patch of one, in the form of v1.  The value is not kept."""
        ...

    def asked(self, call: Json) -> Callable[[bool], None]:
        """Note that the user is asked about this call; call the returned function with the answer.

        A yes is about the call as it was all the while; a no takes an earlier yes back.
        """
        ...

    def covers(self, method: str, params: Json) -> bool:
        """Whether an approval covers this request of the agent; if so, the approval is used up."""
        ...

    def clear(self) -> None:
        """Forget every approval at the end of the turn."""
        ...


class NothingAllowed:
    """No approvals: the user is asked about everything."""

    def __init__(self, cwd: str) -> None:
        del cwd

    def told(self, call: Json) -> None:
        """Remember nothing: no permission was given in advance."""

    def asked(self, call: Json) -> Callable[[bool], None]:
        del call
        return lambda _: None

    def covers(self, method: str, params: Json) -> bool:
        return False

    def clear(self) -> None:
        """Do nothing: no approval was noted."""


def _joined(params: Json) -> str:
    set_ = [f"{one['name']}={one['value']}" for one in params.get("env") or ()]
    words = [params["command"], *(params.get("args") or ())]
    return shlex.join(["env", *set_, *words] if set_ else words)


class Surroundings(NamedTuple):
    """The functions that a translator needs from outside, passed in so that it does no I/O."""

    now: Callable[[], float]
    """Seconds of a clock that never goes back."""
    stamp: Callable[[], str]
    """The time of day, RFC 3339 in UTC."""
    fresh: Callable[[], str]
    """A string that was never used before, for ids."""
    read_text: Callable[[str], str | None]
    """The text of a file that the session may read, or None."""
    keep_secret: Callable[[str, Json], None]
    """Put the credentials of a login method where secrets live, and nowhere else."""
    log: Callable[[str], None]
    """Tell whoever operates this."""
    warn: Callable[[str], None] = _nowhere
    """The same, where the protocol asks for a warning."""
    find_program: Callable[[str], str | None] = _nowhere
    """The absolute path of a program that is named without one, or None."""
    recall_secret: Callable[[str], Json] = _nothing
    """What to log in with by a method of the draft; empty where nothing is known."""
    approvals: Callable[[str], Approvals] = NothingAllowed
    """The approvals of a new session that works in this folder."""
    command_line: Callable[[Json], str] = _joined
    """The command that `terminal/create` with these params would run, for people to read."""


class Translator(Protocol):
    """A client of one version on one side, an agent of another on the other.

    Each call says what is to be sent now, in order.
    """

    @property
    def losses(self) -> dict[str, int]:
        """The number of things that had no counterpart in the other version, by kind."""
        ...

    @property
    def wake_at(self) -> float | None:
        """When to call `wake`, by the clock of `Surroundings.now`; None means never."""
        ...

    def receive(self, side: Side, message: Message) -> Sequence[Out]:
        """Take the next message of a side."""
        ...

    def wake(self) -> Sequence[Out]:
        """Do what was due at `wake_at`."""
        ...

    def agent_gone(self, why: str) -> Sequence[Out]:
        """The agent is gone.  Every open request of the client is answered."""
        ...


class CannotTranslate(Exception):
    """A request that has no counterpart on the other side; it is answered with this error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
