"""Updates besides messages: notices, and the compaction of the context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from accord.schema.struct import UNSET, Patch
from accord.transcript.items.content import Content

if TYPE_CHECKING:
    from accord.schema.v2 import NoticeSeverity


@dataclass(frozen=True, slots=True)
class Notice:
    """Something for the user to know.  No severity fails or stops anything."""

    severity: NoticeSeverity
    title: str
    description: str | None = None

    def dump(self) -> dict[str, object]:
        return {
            "type": "notice",
            "severity": self.severity,
            "title": self.title,
            "description": self.description,
        }


class Compaction(Content):
    """One compaction of the agent's context; its content is the summary.

    Guards: its place in the timeline is that of its first sight, whatever comes later.
    """

    __slots__ = ("compaction_id", "error", "status")

    def __init__(self, compaction_id: str) -> None:
        super().__init__()
        self.compaction_id = compaction_id
        self.status = "in_progress"
        self.error: str | None = None

    def __repr__(self) -> str:
        return f"Compaction({self.compaction_id!r}, {self.status!r})"

    def report(self, status: str, error: Patch[str]) -> None:
        """Take a status, and keep, clear or replace the error."""
        self.status = status
        if error is not UNSET:
            self.error = error

    def dump(self) -> dict[str, object]:
        """Plain values and wire structs."""
        return {
            "type": "compaction",
            "compactionId": self.compaction_id,
            "status": self.status,
            "error": self.error,
            "summary": self.blocks,
            "text": self.text,
            "meta": self.meta,
        }
