"""Which enumerations of v1 are open, for tests and for checking what we send.

The values themselves stand beside the messages that have them."""

from accord.schema.enumeration import Enumeration, enumeration
from accord.schema.v1.auth import AuthState
from accord.schema.v1.config_options import SessionConfigOptionCategory
from accord.schema.v1.content import Role
from accord.schema.v1.elicitation import StringFormat
from accord.schema.v1.permissions import PermissionOptionKind
from accord.schema.v1.plans import PlanEntryPriority, PlanEntryStatus
from accord.schema.v1.prompt import StopReason
from accord.schema.v1.providers import LlmProtocol
from accord.schema.v1.sessions import SessionArchiveFilter, SessionStatus, SystemPromptMode
from accord.schema.v1.subagents import IdleStopReason
from accord.schema.v1.tool_calls import ToolCallStatus, ToolKind
from accord.schema.v1.updates import CompactionStatus, NoticeSeverity

ENUMS: dict[str, Enumeration] = {
    "AuthState": enumeration(AuthState, open=True, unstable=True),
    "CompactionStatus": enumeration(CompactionStatus, open=True),
    "IdleStopReason": enumeration(IdleStopReason, open=True, unstable=True),
    "LlmProtocol": enumeration(LlmProtocol, open=True, unstable=True),
    "NoticeSeverity": enumeration(NoticeSeverity, open=True),
    "PermissionOptionKind": enumeration(PermissionOptionKind, open=False),
    "PlanEntryPriority": enumeration(PlanEntryPriority, open=False),
    "PlanEntryStatus": enumeration(PlanEntryStatus, open=False),
    "Role": enumeration(Role, open=False),
    "SessionArchiveFilter": enumeration(SessionArchiveFilter, open=True, unstable=True),
    "SessionConfigOptionCategory": enumeration(SessionConfigOptionCategory, open=True),
    "SessionStatus": enumeration(SessionStatus, open=True, unstable=True),
    "StopReason": enumeration(StopReason, open=False),
    "StringFormat": enumeration(StringFormat, open=False),
    "SystemPromptMode": enumeration(SystemPromptMode, open=True, unstable=True),
    "ToolCallStatus": enumeration(ToolCallStatus, open=False),
    "ToolKind": enumeration(ToolKind, open=False),
}
