"""Plans: what the agent intends to do, replaced whole by each update.

The first drafts of v2 wrote `id` for `planId`; that is read as well.
"""

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from accord.schema.struct import S, UnknownVariant, UnstableStruct, WireStruct
from accord.schema.v2.identifiers import PlanId

PlanEntryPriority: TypeAlias = Literal["high", "medium", "low"] | str
PlanEntryStatus: TypeAlias = Literal["pending", "in_progress", "completed", "cancelled"] | str


class PlanEntry(WireStruct, frozen=True, kw_only=True):
    content: str
    priority: PlanEntryPriority
    status: PlanEntryStatus


class PlanItems(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="items"):
    """A plan as the full list of its tasks."""

    __aliases__: ClassVar[dict[str, str]] = {"id": "planId"}

    plan_id: PlanId
    entries: S[list[PlanEntry]]


class PlanFile(UnstableStruct, frozen=True, kw_only=True, tag_field="type", tag="file"):
    """A plan that is kept in a file."""

    __aliases__: ClassVar[dict[str, str]] = {"id": "planId"}

    plan_id: PlanId
    uri: str


class PlanMarkdown(UnstableStruct, frozen=True, kw_only=True, tag_field="type", tag="markdown"):
    """A plan as free text."""

    __aliases__: ClassVar[dict[str, str]] = {"id": "planId"}

    plan_id: PlanId
    content: str


if TYPE_CHECKING:
    PlanUpdateContent: TypeAlias = PlanItems | PlanFile | PlanMarkdown | UnknownVariant
else:
    PlanUpdateContent = PlanItems | PlanFile | PlanMarkdown


class PlanUpdate(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="plan_update"
):
    """Replaces the plan of that id, also by content of a type that we do not know."""

    plan: PlanUpdateContent


class PlanRemoved(
    UnstableStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="plan_removed"
):
    """The plan of that id is gone."""

    __aliases__: ClassVar[dict[str, str]] = {"id": "planId"}

    plan_id: PlanId
