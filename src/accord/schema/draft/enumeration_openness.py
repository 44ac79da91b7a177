"""Which enumerations of the 2026-02 draft are open.

The values themselves stand beside the messages that have them.  Reading never refuses
an unknown word; this table is for checking what we send ourselves.
"""

from accord.schema.draft.capabilities import McpTransportName
from accord.schema.draft.content import SourceType
from accord.schema.draft.initialize import AuthMethod
from accord.schema.draft.permissions import PermissionOperation, PermissionScope
from accord.schema.draft.prompt import StopReason
from accord.schema.draft.sessions import SessionMode
from accord.schema.draft.terminals import OutputStream
from accord.schema.draft.tool_calls import ToolCallStatus
from accord.schema.draft.updates import ConfigOptionSource, PlanStepStatus, UpdateType
from accord.schema.enumeration import Enumeration, enumeration

ENUMS: dict[str, Enumeration] = {
    "AuthMethod": enumeration(AuthMethod, open=False),
    "ConfigOptionSource": enumeration(ConfigOptionSource, open=True),
    "McpTransportName": enumeration(McpTransportName, open=False),
    "OutputStream": enumeration(OutputStream, open=False),
    "PermissionOperation": enumeration(PermissionOperation, open=False),
    "PermissionScope": enumeration(PermissionScope, open=False),
    "PlanStepStatus": enumeration(PlanStepStatus, open=True),
    "SessionMode": enumeration(SessionMode, open=True),
    "SourceType": enumeration(SourceType, open=False),
    "StopReason": enumeration(StopReason, open=False),
    "ToolCallStatus": enumeration(ToolCallStatus, open=False),
    "UpdateType": enumeration(UpdateType, open=False),
}
