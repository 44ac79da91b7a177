"""Words that an agent's program may use: those of the protocol, and its own that start with `_`.

A word that is neither belongs to a later version of the protocol; sending it would lie.
"""

from __future__ import annotations

from accord.errors import LocalProtocolError


def checked(enum: str, word: str) -> str:
    """The word itself; refused when it is nobody's.  `enum` is its name in the schema."""
    # Loaded when first needed: an agent's start is somebody's wait.
    from accord.schema.v2.vocabulary import ENUMS

    if word in ENUMS[enum].values or (word.startswith("_") and ENUMS[enum].open):
        return word
    known = ", ".join(ENUMS[enum].values)
    raise LocalProtocolError(
        f"{word!r} is no {enum}; there are {known}, and names of your own start with `_`"
    )


__all__ = ["checked"]
