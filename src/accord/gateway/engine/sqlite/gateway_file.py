"""The tables of the gateway's file.

What every append changes is in `sessions`, apart from the records, which may be large.  An event is
found by one number, made of that of its session and its own: so the events of a session are
neighbours, and large frames need no second index.  A part of a snapshot has the place of its last
event.
"""

from __future__ import annotations

from accord.store.file_format import FileFormat

# "AcGw": tells our files from those of other programs, and from session stores.
APPLICATION_ID = 0x41634777

SEQ_BITS = 32
"""The lower bits of the place of an event; the number of its session is above them."""

SEQ_MAX = (1 << SEQ_BITS) - 1

FIRST = """
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    node TEXT,
    incarnation TEXT,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    snapshot_seq INTEGER
);
CREATE TABLE records (
    number INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL,
    agent TEXT NOT NULL,
    principal TEXT NOT NULL,
    members TEXT NOT NULL,
    cwd TEXT NOT NULL,
    protocol_version INTEGER NOT NULL,
    title TEXT,
    agent_session TEXT,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE INDEX records_by_state ON records (state, number);
CREATE TABLE access (
    principal TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (principal, number)
) WITHOUT ROWID;
CREATE TABLE snapshots (
    place INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    data BLOB NOT NULL
);
CREATE TABLE events (
    place INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    frame BLOB NOT NULL
);
CREATE TABLE erased (number INTEGER PRIMARY KEY);
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
INSERT INTO counters VALUES ('epoch', 0)
"""

GATEWAY_FILE = FileFormat(
    application_id=APPLICATION_ID,
    migrations=(FIRST,),
    columns={
        "sessions": (
            *("number", "id", "epoch", "node", "incarnation"),
            *("first", "last", "size_bytes", "snapshot_seq"),
        ),
        "records": (
            *("number", "revision", "agent", "principal", "members", "cwd", "protocol_version"),
            *("title", "agent_session", "state", "created_at", "updated_at", "data"),
        ),
        "access": ("principal", "number"),
        "snapshots": ("place", "first", "data"),
        "events": ("place", "epoch", "at", "kind", "frame"),
        "erased": ("number",),
        "counters": ("name", "value"),
    },
    last_rows=(
        "SELECT max(number) FROM sessions",
        "SELECT max(place) FROM events",
        "SELECT value FROM counters WHERE name = 'epoch'",
    ),
    noun="a gateway's file",
    failure="cannot store the gateway's sessions",
    elsewhere="choose",
)


def place_of(number: int, seq: int) -> int:
    """Return the place of an event."""
    return number << SEQ_BITS | seq


def seq_at(place: int) -> int:
    """Return the number that an event has in its session."""
    return place & SEQ_MAX
