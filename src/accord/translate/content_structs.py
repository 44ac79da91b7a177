"""Content blocks of v1 in the form of v2 and back.

The two are alike on the wire but for `icons`, which v1 lacks, so all but plain text goes through
the wire form; nothing else that a block carries is lost.
"""

from __future__ import annotations

from accord.schema import v1, v2
from accord.schema.codec import decode, encode
from accord.schema.struct import UNSET, UnknownVariant


def to_v1(block: v2.ContentBlock) -> v1.ContentBlock:
    """A block of v2 as v1 says it; a variant that neither knows stays as it is."""
    if isinstance(block, UnknownVariant):
        return block
    if type(block) is v2.TextContent and block.annotations is UNSET:
        return v1.TextContent(text=block.text, meta=block.meta)
    return decode(v1.ContentBlock, encode(block))  # type: ignore[arg-type]


def to_v2(block: v1.ContentBlock) -> v2.ContentBlock:
    """A block of v1 as v2 says it."""
    if isinstance(block, UnknownVariant):
        return block
    if type(block) is v1.TextContent and block.annotations is UNSET:
        return v2.TextContent(text=block.text, meta=block.meta)
    return decode(v2.ContentBlock, encode(block))  # type: ignore[arg-type]
