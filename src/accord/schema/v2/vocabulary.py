"""The words of v2: every enumeration, beside whether others are legal.

All but one are open: a word that starts with `_` belongs to whoever made it, every other unknown
one to a later version of the protocol.
"""

from accord.schema.enumeration import Enumeration, listed
from accord.schema.v2.auth import AuthState
from accord.schema.v2.config import SessionConfigOptionCategory
from accord.schema.v2.content import IconTheme, Role
from accord.schema.v2.elicitation import ElicitationSchemaType, StringFormat
from accord.schema.v2.permissions import PermissionOptionKind
from accord.schema.v2.plans import PlanEntryPriority, PlanEntryStatus
from accord.schema.v2.providers import LlmProtocol
from accord.schema.v2.sessions import SessionArchiveFilter, SessionStatus, SystemPromptMode
from accord.schema.v2.state import StateKind, StopReason
from accord.schema.v2.tool_calls import DiffFileType, DiffPatchFormat, ToolCallStatus, ToolKind
from accord.schema.v2.updates import CompactionStatus, NoticeSeverity

ENUMS: dict[str, Enumeration] = {
    "AuthState": listed(AuthState),
    "CompactionStatus": listed(CompactionStatus),
    "DiffFileType": listed(DiffFileType),
    "DiffPatchFormat": listed(DiffPatchFormat),
    "ElicitationSchemaType": listed(ElicitationSchemaType, is_open=False),
    "IconTheme": listed(IconTheme),
    "LlmProtocol": listed(LlmProtocol),
    "NoticeSeverity": listed(NoticeSeverity),
    "PermissionOptionKind": listed(PermissionOptionKind),
    "PlanEntryPriority": listed(PlanEntryPriority),
    "PlanEntryStatus": listed(PlanEntryStatus),
    "Role": listed(Role),
    "SessionArchiveFilter": listed(SessionArchiveFilter),
    "SessionConfigOptionCategory": listed(SessionConfigOptionCategory),
    "SessionStatus": listed(SessionStatus),
    # Tags in the protocol, words in our flat struct.
    "StateKind": listed(StateKind, unstable=("unknown",)),
    "StopReason": listed(StopReason),
    "StringFormat": listed(StringFormat),
    "SystemPromptMode": listed(SystemPromptMode),
    "ToolCallStatus": listed(ToolCallStatus),
    "ToolKind": listed(ToolKind),
}

__all__ = ["ENUMS"]
