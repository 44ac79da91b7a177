"""The values of an enum of the protocol, as data.

Enums are read as open: an unknown string stays a string.  What we send is checked against this.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin


@dataclass(frozen=True, slots=True)
class Enumeration:
    """The values that the protocol names; `open` says whether it allows others too."""

    values: tuple[str, ...]
    open: bool
    unstable: bool = False


def enumeration(alias: Any, *, open: bool, unstable: bool = False) -> Enumeration:  # noqa: A002
    """The Enumeration of `Literal[...] | str`, so that the values are written down once."""
    values = [
        value
        for member in get_args(alias)
        if get_origin(member) is Literal
        for value in get_args(member)
    ]
    assert values, "an enum has at least one value"
    return Enumeration(tuple(values), open, unstable)
