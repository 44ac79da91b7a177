"""Child sessions that the agent started."""

from __future__ import annotations

from collections.abc import Iterable

from accord.schema.struct import UNSET, Patch, Raw
from accord.transcript.items.meta import patch_meta
from accord.transcript.items.session_state import State


class Subagent:
    """The parent's report about one child session.

    Guards: without a word of the agent the client may do nothing to the child, and its activity
    is unknown, not idle.
    """

    __slots__ = (
        "additional_directories",
        "cancellable",
        "cwd",
        "description",
        "meta",
        "session_id",
        "state",
        "title",
    )

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.title: str | None = None
        self.description: str | None = None
        self.cancellable = False
        self.state = State()
        # None: as in the parent.
        self.cwd: str | None = None
        self.additional_directories: tuple[str, ...] | None = None
        self.meta: dict[str, Raw] = {}

    def __repr__(self) -> str:
        return f"Subagent({self.session_id!r}, {self.title!r}, {self.state!r})"

    def patch(
        self,
        *,
        title: Patch[str],
        description: Patch[str],
        cwd: Patch[str],
        additional_directories: Patch[Iterable[str]],
        meta: Patch[dict[str, Raw]],
    ) -> None:
        """Keep what is not given, clear what is null, replace the rest."""
        if title is not UNSET:
            self.title = title
        if description is not UNSET:
            self.description = description
        if cwd is not UNSET:
            self.cwd = cwd
        if additional_directories is None:
            self.additional_directories = None
        elif additional_directories is not UNSET:
            self.additional_directories = tuple(additional_directories)
        patch_meta(self.meta, meta)

    def dump(self) -> dict[str, object]:
        """Plain values and wire structs."""
        return {
            "type": "subagent",
            "sessionId": self.session_id,
            "title": self.title,
            "description": self.description,
            "cancellable": self.cancellable,
            "state": self.state.dump(),
            "cwd": self.cwd,
            "additionalDirectories": self.additional_directories,
            "meta": self.meta,
        }
