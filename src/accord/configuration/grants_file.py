"""Stores remembered answers, those that the user gave with "always".

The file is in the state folder and names the workspaces; nothing is read from a workspace, because
a project must not be able to grant itself permissions.

Must not know how answers are used; `accord.client.permissions.grants` does.

What always holds
    * Two processes that store answers at the same time lose nothing.
    * An answer that another process revoked is gone at the next decision (`refresh`).
    * A file that cannot be read is never overwritten: it is an error.  During a run the error is
      logged, and no approval of the file counts.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

from accord.client.permissions.grants import Grant, Grants, LastingScope
from accord.client.permissions.rules import Rule
from accord.configuration.policy_file import read_rule
from accord.configuration.toml_table import Table, read_toml
from accord.configuration.user_paths import locked, make_private, replace_file, state_folder
from accord.errors import ConfigError
from accord.machine.redacted_logs import logger

_HEAD = """\
# Remembered answers to permission requests; written by accord.
# `accord permissions list` shows them, `accord permissions revoke` removes them.
"""
_log = logger("accord.configuration")
_SCOPES: tuple[LastingScope, ...] = ("workspace", "always")


def grants_path() -> Path:
    """Return the path of the file, which has the answers for all workspaces.

    It is not in the workspace: a project must not be able to grant itself permissions.
    """
    return state_folder() / "grants.toml"


class GrantsFile:
    """The file of remembered answers, and the answers that this process knows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Grant] = {}
        self._stamp: tuple[int, int, int] | None = None
        self._grants: Grants | None = None

    def read(self) -> tuple[Grant, ...]:
        """Return all answers in the file, oldest first.

        Raises:
            ConfigError: it is damaged.
        """
        table = read_toml(self._path)
        if table is None:
            return ()
        return tuple(_grant(one) for one in table.list_of_tables("grant"))

    def open(self) -> Grants:
        """Return the answers for a client's permissions; new ones are stored at once."""
        self._stamp = self._stamp_now()
        self._known = {grant.grant_id: grant for grant in self.read()}
        self._grants = Grants(self._known.values(), on_change=self._changed)
        return self._grants

    def refresh(self) -> None:
        """Forget answers that another process has revoked."""
        stamp = self._stamp_now()
        if self._grants is None or stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            there = {grant.grant_id for grant in self.read()}
        except ConfigError as error:
            # An unreadable file allows nothing; denials stay.
            _log.error("remembered approvals are ignored: %s", error)
            there = {one for one, grant in self._known.items() if grant.rule.effect == "reject"}
        for grant_id in [one for one in self._known if one not in there]:
            self._known.pop(grant_id)
            self._grants.revoke(grant_id)

    def revoke(self, wanted: Iterable[str]) -> list[Grant]:
        """Remove answers by their ids; return those that existed."""
        ids = set(wanted)
        with self._locked():
            before = self.read()
            gone = [grant for grant in before if grant.grant_id in ids]
            if gone:
                self._write([grant for grant in before if grant.grant_id not in ids])
        return gone

    def _changed(self, grants: tuple[Grant, ...]) -> None:
        """Add new answers to the file, and remove those that are gone."""
        now = {grant.grant_id: grant for grant in grants}
        gone = self._known.keys() - now.keys()
        new = [grant for grant_id, grant in now.items() if grant_id not in self._known]
        self._known = now
        if not gone and not new:
            return
        try:
            with self._locked():
                kept = [grant for grant in self.read() if grant.grant_id not in gone]
                self._write([*kept, *new])
                self._stamp = self._stamp_now()
        except (OSError, ConfigError) as error:
            # It counts until this process exits, which is less than the user chose, not more.
            _log.error("cannot store the answer in %s: %s", self._path, _reason(error))

    def _write(self, grants: Iterable[Grant]) -> None:
        replace_file(self._path, _HEAD + "".join(map(_shown, grants)))

    def _stamp_now(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    @contextmanager
    def _locked(self) -> Generator[None]:
        make_private(self._path.parent)
        with locked(self._path):
            yield


def _reason(error: OSError | ConfigError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _grant(table: Table) -> Grant:
    grant_id = table.text("id")
    if grant_id is None:
        raise table.wrong("id", "is missing")
    said = table.text("scope", among=_SCOPES)
    workspace = table.text("workspace")
    if said is None or (said == "workspace" and workspace is None):
        raise table.wrong("scope", "must be always, or workspace with the folder as workspace")
    return Grant(
        grant_id=grant_id,
        rule=read_rule(table),
        scope="always" if said == "always" else "workspace",
        workspace=workspace,
        agent=table.optional_text("agent"),
    )


def _shown(grant: Grant) -> str:
    values: dict[str, str | bool | None] = {
        "id": grant.grant_id,
        "scope": grant.scope,
        "workspace": grant.workspace,
        "agent": grant.agent,
        **{field.name: getattr(grant.rule, field.name) for field in fields(Rule)},
    }
    lines = [f"{name} = {_value(value)}" for name, value in values.items() if value is not None]
    return "\n[[grant]]\n" + "\n".join(lines) + "\n"


def _value(value: str | bool) -> str:
    """Return a value as TOML; the escapes of JSON are also TOML's, except for DEL."""
    if isinstance(value, bool):
        return "true" if value else "false"
    clean = value.encode("utf-8", "replace").decode()
    return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007F")
