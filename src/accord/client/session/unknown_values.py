"""Values that the protocol does not list: they are kept as they are, and reported.

Must not know: what follows from a value.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from accord.schema.enumeration import enumeration

KnownValues: TypeAlias = Mapping[type, Mapping[str, frozenset[str]]]
"""The listed values, by type and field."""


def listed(alias: Any) -> frozenset[str]:
    """The values of `Literal[...] | str`."""
    return frozenset(enumeration(alias, open=True).values)


def report_unknown(struct: Any, known: KnownValues, report: Callable[[str], None]) -> None:
    """Report every value that is not listed; those that start with `_` are custom."""
    for field, values in known.get(type(struct), {}).items():
        value = getattr(struct, field)
        # The common case first.
        if value not in values and isinstance(value, str) and not value.startswith("_"):
            report(f"{type(struct).__name__}: unknown {field} {value!r}")
