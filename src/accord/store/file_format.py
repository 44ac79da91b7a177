"""The kinds of our SQLite files: their tables, and the words for their errors.

`migrations.py` has the format of a session store.  The gateway has a format of its own and uses the
same code to open, check, migrate and write its file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """One kind of file.

    A released migration is never changed; new ones are added at the end.
    """

    application_id: int
    migrations: tuple[str, ...]
    # The columns of each table in the newest format.
    columns: Mapping[str, tuple[str, ...]]
    # Queries for the place of the next rows, without which nothing can be added.
    last_rows: tuple[str, ...]
    # "a session store"
    noun: str
    # "cannot store sessions": the start of the error about a file out of reach.
    failure: str
    # How to choose another folder: "set ACCORD_STATE_DIR to", followed by what it is set to.
    elsewhere: str
    # The command that reads a damaged file, if there is one.
    rescue_command: str | None = None
