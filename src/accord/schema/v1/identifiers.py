"""The ids of requests, where they appear inside messages.  Other identifiers are strings."""

from typing import TypeAlias

from accord.schema.struct import Int64

# An integer, a string, or (discouraged) null.
RequestId: TypeAlias = Int64 | str | None
