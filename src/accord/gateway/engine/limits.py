"""The bounds of an engine, and the checks of what comes in.

Every engine makes these checks before it stores anything, so that all of them refuse the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from accord.gateway.configuration.rights import Role
from accord.gateway.engine.interface import NewEvent, SessionRecord

GROUP_EVENTS_MAX = 1000
GROUP_BYTES_MAX = 64 * 1024 * 1024
"""One group of events; one frame has 32 MiB at most."""

KIND_CHARACTERS_MAX = 64
TEXT_CHARACTERS_MAX = 4096
MEMBERS_MAX = 1000
VERSION_MAX = 2**31 - 1
RECORD_DATA_BYTES_MAX = 1024 * 1024
SNAPSHOT_PART_BYTES_MAX = 64 * 1024 * 1024
MESSAGE_BYTES_MAX = 64 * 1024 * 1024

EVENT_OVERHEAD_BYTES = 64
"""Counted for each event besides its frame."""

LOG_BYTES_MAX = 256 * 1024 * 1024
"""One log, at which `append` is refused until it is trimmed."""

PAGE_EVENTS_MAX = 2000
PAGE_BYTES_MAX = 1024 * 1024
"""A page ends with the event that reaches it."""

PAGE_SESSIONS_MAX = 500

ROLES: tuple[str, ...] = get_args(Role)


def is_text(text: object) -> bool:
    """Whether it is text that can be stored: no engine can store half of a surrogate pair."""
    if not isinstance(text, str):
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def size_of(events: Sequence[NewEvent]) -> int:
    """Check a group of events; return the size that it has in a log.

    Raises:
        ValueError: it is empty, or has too many or too large events.
    """
    if not 0 < len(events) <= GROUP_EVENTS_MAX:
        raise ValueError(f"a group has 1 to {GROUP_EVENTS_MAX} events, not {len(events)}")
    size = EVENT_OVERHEAD_BYTES * len(events)
    for kind, frame in events:
        if type(frame) is not bytes:
            raise ValueError(f"a frame is bytes, not {type(frame).__name__}")
        if not is_text(kind) or len(kind) > KIND_CHARACTERS_MAX:
            raise ValueError(f"the kind of an event is {KIND_CHARACTERS_MAX} characters at most")
        size += len(frame)
    if size > GROUP_BYTES_MAX:
        raise ValueError(f"a group of events has {size} bytes; the limit is {GROUP_BYTES_MAX}")
    return size


def check_bytes(what: str, data: bytes, bytes_max: int) -> None:
    """Raise ValueError for data that is too large."""
    if type(data) is not bytes:
        raise ValueError(f"{what} is bytes, not {type(data).__name__}")
    if len(data) > bytes_max:
        raise ValueError(f"{what} has {len(data)} bytes; the limit is {bytes_max}")


def check_record(record: SessionRecord) -> None:
    """Raise ValueError for a record that cannot be stored."""
    texts = (record.session, record.agent, record.principal, record.cwd, record.state)
    optional = (record.title, record.agent_session)
    for text in (*texts, *record.members, *(one for one in optional if one is not None)):
        if not is_text(text) or len(text) > TEXT_CHARACTERS_MAX:
            raise ValueError(f"a field is not text of at most {TEXT_CHARACTERS_MAX} characters")
    if not record.session:
        raise ValueError("a session has an id")
    if len(record.members) > MEMBERS_MAX:
        raise ValueError(f"a session has {MEMBERS_MAX} members at most")
    if not all(role in ROLES for role in record.members.values()):
        raise ValueError(f"a role is one of {', '.join(ROLES)}")
    if not 0 <= record.protocol_version <= VERSION_MAX:
        raise ValueError(f"{record.protocol_version} is not a version of the protocol")
    check_bytes("the data of a record", record.data, RECORD_DATA_BYTES_MAX)


def check_page(limit: int, limit_max: int) -> None:
    """Raise ValueError for a page of no or too many entries."""
    if not 0 < limit <= limit_max:
        raise ValueError(f"a page has 1 to {limit_max} entries, not {limit}")


def check_seq(seq: int) -> None:
    """Raise ValueError for a number that no event has and that no reader starts from."""
    if seq < 0:
        raise ValueError(f"events are numbered from 1; {seq} is negative")
