"""Reading what can be read of variants that we do not know."""

from __future__ import annotations

from typing import cast

from accord.schema.codec import Invalid, to_python
from accord.schema.struct import Raw, UnknownVariant


def plain(raw: Raw | bytes) -> object:
    """The Python value of JSON text; None where Python cannot hold it."""
    try:
        value: object = to_python(raw)
    except Invalid:
        return None
    return value


def fields_of(variant: UnknownVariant) -> dict[str, str]:
    """The members of a variant that are strings, which is all that we can show of it."""
    value = plain(variant.raw)
    if not isinstance(value, dict):
        return {}
    members = cast("dict[str, object]", value)
    return {key: member for key, member in members.items() if isinstance(member, str)}
