"""The words of the 2026-02 draft: every list of values, beside whether others are legal.

Reading never refuses an unknown word; this table is for checking what we send ourselves.
"""

from typing import Any, Literal, NamedTuple, get_args, get_origin

from accord.schema.draft.capabilities import McpTransportName
from accord.schema.draft.content import SourceType
from accord.schema.draft.initialize import AuthMethod
from accord.schema.draft.permission import PermissionOperation, PermissionScope
from accord.schema.draft.prompt import StopReason
from accord.schema.draft.session import SessionMode
from accord.schema.draft.terminals import OutputStream
from accord.schema.draft.tool_calls import ToolCallStatus
from accord.schema.draft.updates import ConfigOptionSource, PlanStepStatus, UpdateType


class Enumeration(NamedTuple):
    """The values that a version lists, and whether it allows others."""

    values: tuple[str, ...]
    open: bool


def _of(alias: Any, *, is_open: bool) -> Enumeration:
    (literal,) = (part for part in get_args(alias) if get_origin(part) is Literal)
    return Enumeration(get_args(literal), is_open)


ENUMS: dict[str, Enumeration] = {
    "AuthMethod": _of(AuthMethod, is_open=False),
    "ConfigOptionSource": _of(ConfigOptionSource, is_open=True),
    "McpTransportName": _of(McpTransportName, is_open=False),
    "OutputStream": _of(OutputStream, is_open=False),
    "PermissionOperation": _of(PermissionOperation, is_open=False),
    "PermissionScope": _of(PermissionScope, is_open=False),
    "PlanStepStatus": _of(PlanStepStatus, is_open=True),
    "SessionMode": _of(SessionMode, is_open=True),
    "SourceType": _of(SourceType, is_open=False),
    "StopReason": _of(StopReason, is_open=False),
    "ToolCallStatus": _of(ToolCallStatus, is_open=False),
    "UpdateType": _of(UpdateType, is_open=False),
}

__all__ = ["ENUMS", "Enumeration"]
