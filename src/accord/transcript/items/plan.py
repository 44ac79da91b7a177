"""Plans: what the agent intends to do.  Each report of a plan replaces the one before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from accord.schema.v2 import PlanEntryPriority, PlanEntryStatus

# The id of the only plan where the protocol has no ids.
MAIN_PLAN_ID = "main"

PlanForm: TypeAlias = Literal["items", "markdown", "file"] | str


class PlanEntry(NamedTuple):
    content: str
    priority: PlanEntryPriority
    status: PlanEntryStatus


class Task(Protocol):
    """A task as any version reports it."""

    @property
    def content(self) -> str: ...
    @property
    def priority(self) -> PlanEntryPriority: ...
    @property
    def status(self) -> PlanEntryStatus: ...


class Plan:
    """One plan as it was reported last.

    Guards: it has exactly one form.  `entries` belongs to "items", `markdown` to "markdown",
    `uri` to "file"; a form that we do not know leaves them empty and is kept in `received`.
    """

    __slots__ = ("_entries", "form", "markdown", "plan_id", "received", "removed", "uri")

    def __init__(self, plan_id: str) -> None:
        self.plan_id = plan_id
        self.removed = False
        self.form: PlanForm = "items"
        self._entries: Sequence[Task] = ()
        self.markdown: str | None = None
        self.uri: str | None = None
        self.received: Any = None

    def __repr__(self) -> str:
        return f"Plan({self.plan_id!r}, {self.form!r}, {len(self.entries)} entries)"

    @property
    def entries(self) -> tuple[PlanEntry, ...]:
        return tuple(PlanEntry(one.content, one.priority, one.status) for one in self._entries)

    def show_items(self, entries: Sequence[Task]) -> None:
        """Become a list of tasks; they are kept as they came, since most are replaced unseen."""
        self._become("items")
        self._entries = entries

    def show_markdown(self, text: str) -> None:
        """Replace the entries by free text."""
        self._become("markdown")
        self.markdown = text

    def show_file(self, uri: str) -> None:
        """Become a plan that is kept in a file."""
        self._become("file")
        self.uri = uri

    def show_unknown(self, form: str, received: object) -> None:
        """Become a plan in an unknown form."""
        self._become(form)
        self.received = received

    def _become(self, form: PlanForm) -> None:
        self.form = form
        self._entries = ()
        self.markdown = self.uri = self.received = None

    def dump(self) -> dict[str, object]:
        """Plain values and wire structs."""
        return {
            "type": "plan",
            "planId": self.plan_id,
            "form": self.form,
            "removed": self.removed,
            "entries": [
                {"content": entry.content, "priority": entry.priority, "status": entry.status}
                for entry in self.entries
            ],
            "markdown": self.markdown,
            "uri": self.uri,
            "received": self.received,
        }
