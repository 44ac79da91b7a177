"""Names for the strings and numbers that v2 passes around as keys.

They are plain strings on purpose: an identifier is opaque, compared byte for byte and never built
or taken apart by the side that did not make it.
"""

from typing import TypeAlias

from accord.schema.struct import Int64, Uint16

AuthMethodId: TypeAlias = str
CompactionId: TypeAlias = str
ElicitationId: TypeAlias = str
McpRequestId: TypeAlias = str
McpServerAcpId: TypeAlias = str
MediaType: TypeAlias = str
MessageId: TypeAlias = str
PermissionOptionId: TypeAlias = str
PlanId: TypeAlias = str
ProviderId: TypeAlias = str
SessionConfigGroupId: TypeAlias = str
SessionConfigId: TypeAlias = str
SessionConfigValueId: TypeAlias = str
SessionId: TypeAlias = str
# The empty string is a cursor like any other; only null and absence end a list.
SessionListCursor: TypeAlias = str
TerminalId: TypeAlias = str
ToolCallId: TypeAlias = str

# Never null in v2, and never a fraction.
RequestId: TypeAlias = Int64 | str
ProtocolVersion: TypeAlias = Uint16
