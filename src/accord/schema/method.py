"""One row of a version's method table."""

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["request", "notification"]
Side = Literal["agent", "client"]


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the protocol, as data that negotiation, dispatch, tests and docs can walk.

    `side` is the side that handles it.  `gate` is the capability that must have been advertised by
    the handling side, as a dotted path from the root of its capabilities (`fs.readTextFile`), or
    None where the method needs none.  `params` and `result` are what the codec decodes to.
    """

    name: str
    side: Side
    kind: Kind
    params: Any
    result: Any = None
    gate: str | None = None
    unstable: bool = False


def table(*methods: Method) -> dict[str, Method]:
    """Index rows by name; two rows of one name would hide each other, so that is an error."""
    rows = {method.name: method for method in methods}
    assert len(rows) == len(methods), "a method is listed twice"
    return rows
