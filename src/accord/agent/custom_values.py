"""Values of open enumerations: the protocol's own, and custom ones that start with `_`.

Any other value belongs to a later version of the protocol, so sending it would be wrong.
"""

from __future__ import annotations

from accord.errors import LocalProtocolError


def checked(enum: str, value: str) -> str:
    """Return the value, or refuse it.  `enum` is the name of its type in the schema."""
    # Imported here to keep the start of an agent fast.
    from accord.schema.v2.enumerations import ENUMS

    if value in ENUMS[enum].values or (value.startswith("_") and ENUMS[enum].open):
        return value
    known = ", ".join(ENUMS[enum].values)
    raise LocalProtocolError(
        f"{value!r} is not a {enum}: use one of {known}, or a name of your own that starts with `_`"
    )
