"""The errors of an engine: each names one condition that the gateway acts on.

EngineError ─┬─ NoSession         the session does not exist, or no longer
             ├─ SessionExists     a new session has an id that is taken
             ├─ Conflict          a record was changed since it was read
             ├─ Gap               the log does not have what the reader continues from
             ├─ LogFull           the log has reached its bound
             ├─ Fenced            another owner has the session
             ├─ OwnedElsewhere    another node owns it and its time has not passed
             ├─ NodeReplaced      another incarnation of this node has entered
             └─ RoutingError ─┬─ NoOwner        nothing was delivered
                              ├─ OwnerBusy      nothing was delivered
                              ├─ OwnerLost      it may have been delivered
                              └─ HandlerFailed  it was delivered

Errors of a file or of a disk are `StoreError`.
"""

from accord.errors import AccordError


class EngineError(AccordError):
    """The engine refuses an operation; nothing was changed by it."""


class NoSession(EngineError):
    """The session does not exist."""

    def __init__(self, session: str) -> None:
        super().__init__(f"there is no session {session!r}")
        self.session = session


class SessionExists(EngineError):
    """The id of a new session is taken."""

    def __init__(self, session: str) -> None:
        super().__init__(f"session {session!r} already exists")
        self.session = session


class Conflict(EngineError):
    """The record was changed since it was read; `revision` is the stored one."""

    def __init__(self, session: str, revision: int) -> None:
        super().__init__(f"the record of session {session!r} was changed since it was read")
        self.session = session
        self.revision = revision


class Gap(EngineError):
    """The log cannot be read after event `seq`: it has only the events from `first` to `last`.

    Either older events were trimmed, and the reader starts again from the snapshot; or `seq` is
    larger than `last`, and does not come from this log.
    """

    def __init__(self, session: str, seq: int, first: int, last: int) -> None:
        super().__init__(
            f"the log of session {session!r} has events {first} to {last}, nothing after {seq}"
            if seq > last
            else f"the log of session {session!r} starts at event {first}; events after {seq} are"
            " gone"
        )
        self.session = session
        self.seq = seq
        self.first = first
        self.last = last


class LogFull(EngineError):
    """The log has reached its bound: a snapshot and `trim` make room."""

    def __init__(self, session: str, size_bytes: int, size_bytes_max: int) -> None:
        super().__init__(
            f"the log of session {session!r} has {size_bytes} of at most {size_bytes_max} bytes"
        )
        self.session = session
        self.size_bytes = size_bytes
        self.size_bytes_max = size_bytes_max


class Fenced(EngineError):
    """The lease has ended: the session has a newer epoch, or the lease was released."""

    def __init__(self, session: str, epoch: int, newest: int) -> None:
        super().__init__(
            f"session {session!r} is no longer owned under epoch {epoch}"
            + (f"; its epoch is {newest}" if newest != epoch else "")
        )
        self.session = session
        self.epoch = epoch
        self.newest = newest


class OwnedElsewhere(EngineError):
    """Another node owns the session for `seconds_left`, longer if it renews."""

    def __init__(self, session: str, node: str, seconds_left: float) -> None:
        super().__init__(f"session {session!r} is owned by node {node!r}")
        self.session = session
        self.node = node
        self.seconds_left = seconds_left


class NodeReplaced(EngineError):
    """The node has left, or another incarnation of it has entered."""

    def __init__(self, node: str) -> None:
        super().__init__(f"node {node!r} has left or was started again")
        self.node = node


class RoutingError(EngineError):
    """A message to the owner of a session has no answer."""

    def __init__(self, session: str, message: str) -> None:
        super().__init__(message)
        self.session = session


class NoOwner(RoutingError):
    """No node owns the session and serves; nothing was delivered."""

    def __init__(self, session: str) -> None:
        super().__init__(session, f"no node owns session {session!r}")


class OwnerBusy(RoutingError):
    """Too many messages wait for answers of this owner; nothing was delivered."""

    def __init__(self, session: str, node: str) -> None:
        super().__init__(session, f"node {node!r}, which owns session {session!r}, is overloaded")


class OwnerLost(RoutingError):
    """The owner ended before it answered; it may have done what was asked."""

    def __init__(self, session: str, node: str) -> None:
        super().__init__(
            session, f"node {node!r}, which owns session {session!r}, ended before it answered"
        )


class HandlerFailed(RoutingError):
    """The owner's handler raised an exception; it may have done a part of what was asked."""

    def __init__(self, session: str, why: str) -> None:
        super().__init__(session, f"a message to the owner of session {session!r} failed: {why}")
