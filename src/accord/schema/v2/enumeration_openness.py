"""Which enumerations of v2 are open, and which are unstable.

The values themselves stand beside the messages that have them.  All but one are open: a word that
starts with `_` belongs to whoever made it, every other unknown one to a later version of the
protocol.
"""

from typing import get_args

from accord.schema.enumeration import Enumeration, enumeration
from accord.schema.v2.auth import AuthState
from accord.schema.v2.config_options import SessionConfigOptionCategory
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
    "AuthState": enumeration(AuthState, open=True, unstable=True),
    "CompactionStatus": enumeration(CompactionStatus, open=True),
    "DiffFileType": enumeration(DiffFileType, open=True),
    "DiffPatchFormat": enumeration(DiffPatchFormat, open=True),
    "ElicitationSchemaType": Enumeration(get_args(ElicitationSchemaType), open=False),
    "IconTheme": enumeration(IconTheme, open=True),
    "LlmProtocol": enumeration(LlmProtocol, open=True, unstable=True),
    "NoticeSeverity": enumeration(NoticeSeverity, open=True),
    "PermissionOptionKind": enumeration(PermissionOptionKind, open=True),
    "PlanEntryPriority": enumeration(PlanEntryPriority, open=True),
    "PlanEntryStatus": enumeration(PlanEntryStatus, open=True),
    "Role": enumeration(Role, open=True),
    "SessionArchiveFilter": enumeration(SessionArchiveFilter, open=True, unstable=True),
    "SessionConfigOptionCategory": enumeration(SessionConfigOptionCategory, open=True),
    "SessionStatus": enumeration(SessionStatus, open=True, unstable=True),
    # Tags in the protocol, words in our flat struct.  The state `unknown` is unstable.
    "StateKind": enumeration(StateKind, open=True),
    "StopReason": enumeration(StopReason, open=True),
    "StringFormat": enumeration(StringFormat, open=True),
    "SystemPromptMode": enumeration(SystemPromptMode, open=True, unstable=True),
    "ToolCallStatus": enumeration(ToolCallStatus, open=True),
    "ToolKind": enumeration(ToolKind, open=True),
}
