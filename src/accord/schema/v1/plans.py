"""Plans: the one list of v1, and the unstable plans that have ids."""

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from accord.schema.struct import ES, UnknownVariant, WireStruct

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


class PlanItems(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="items"):
    """A plan as a list of tasks."""

    __unstable__: ClassVar[bool] = True

    plan_id: PlanId
    entries: ES[list[PlanEntry]]


class PlanFile(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="file"):
    """A plan that is kept in a file."""

    __unstable__: ClassVar[bool] = True

    plan_id: PlanId
    uri: str


class PlanMarkdown(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="markdown"):
    """A plan as free text."""

    __unstable__: ClassVar[bool] = True

    plan_id: PlanId
    content: str


if TYPE_CHECKING:
    PlanUpdateContent: TypeAlias = PlanItems | PlanFile | PlanMarkdown | UnknownVariant
else:
    PlanUpdateContent = PlanItems | PlanFile | PlanMarkdown


class PlanUpdate(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="plan_update"
):
    """One of several plans, new or replaced."""

    __unstable__: ClassVar[bool] = True

    plan: PlanUpdateContent


class PlanRemoved(
    WireStruct, frozen=True, kw_only=True, tag_field="sessionUpdate", tag="plan_removed"
):
    """One of several plans is gone."""

    __unstable__: ClassVar[bool] = True

    plan_id: PlanId
