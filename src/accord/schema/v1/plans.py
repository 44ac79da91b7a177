"""Plans: the one list of v1, and the unstable plans that have ids."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.schema.struct import ES, UnknownVariant, UnstableStruct, WireStruct

PlanId: TypeAlias = str
PlanEntryPriority: TypeAlias = Literal["high", "medium", "low"] | str
PlanEntryStatus: TypeAlias = Literal["pending", "in_progress", "completed"] | str


class PlanEntry(WireStruct, frozen=True, kw_only=True):
    """One task of a plan."""

    content: str
    priority: PlanEntryPriority
    status: PlanEntryStatus


class Plan(WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="plan"):
    """The whole plan; it takes the place of the one before."""

    entries: ES[list[PlanEntry]]


class PlanItems(UnstableStruct, frozen=True, kw_only=True, tag_field="type", tag="items"):
    """A plan as a list of tasks."""

    plan_id: PlanId
    entries: ES[list[PlanEntry]]


class PlanFile(UnstableStruct, frozen=True, kw_only=True, tag_field="type", tag="file"):
    """A plan that is kept in a file."""

    plan_id: PlanId
    uri: str


class PlanMarkdown(UnstableStruct, frozen=True, kw_only=True, tag_field="type", tag="markdown"):
    """A plan as free text."""

    plan_id: PlanId
    content: str


if TYPE_CHECKING:
    PlanUpdateContent: TypeAlias = PlanItems | PlanFile | PlanMarkdown | UnknownVariant
else:
    PlanUpdateContent = PlanItems | PlanFile | PlanMarkdown


class PlanUpdate(
    UnstableStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="plan_update"
):
    """One of several plans, new or replaced."""

    plan: PlanUpdateContent


class PlanRemoved(
    UnstableStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="plan_removed"
):
    """One of several plans is gone."""

    plan_id: PlanId
