"""`session/request_permission`: the agent asks before it acts."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.schema.struct import BareStruct, UnknownVariant, WireStruct
from accord.schema.v1.tool_calls import ToolCallPatch

PermissionOptionId: TypeAlias = str
PermissionOptionKind: TypeAlias = (
    Literal["allow_once", "allow_always", "reject_once", "reject_always"] | str
)


class PermissionOption(WireStruct, frozen=True, kw_only=True):
    """One answer that the user may give."""

    option_id: PermissionOptionId
    name: str
    kind: PermissionOptionKind


class RequestPermissionRequest(WireStruct, frozen=True, kw_only=True):
    """May this tool call run?"""

    session_id: str
    tool_call: ToolCallPatch
    options: list[PermissionOption]


class CancelledPermissionOutcome(
    BareStruct, frozen=True, kw_only=True, tag_field="outcome", tag="cancelled"
):
    """The turn was cancelled before the user chose."""


class SelectedPermissionOutcome(
    WireStruct, frozen=True, kw_only=True, tag_field="outcome", tag="selected"
):
    """The option that was chosen; an option that was not offered does not count as consent."""

    option_id: PermissionOptionId


if TYPE_CHECKING:
    RequestPermissionOutcome: TypeAlias = (
        CancelledPermissionOutcome | SelectedPermissionOutcome | UnknownVariant
    )
else:
    RequestPermissionOutcome = CancelledPermissionOutcome | SelectedPermissionOutcome


class RequestPermissionResponse(WireStruct, frozen=True, kw_only=True):
    """What became of the request; an unknown outcome does not count as consent."""

    outcome: RequestPermissionOutcome
