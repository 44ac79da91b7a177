"""Words that the protocol does not list: they are kept as they are, and somebody is told.

Must not know: what follows from a word.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from accord.schema.enumeration import enumeration

Words: TypeAlias = Mapping[type, Mapping[str, frozenset[str]]]
"""By type and field, the words that are on the list."""


def listed(alias: Any) -> frozenset[str]:
    """The words of `Literal[...] | str`."""
    return frozenset(enumeration(alias, open=True).values)


def tell_unknown(value: Any, words: Words, report: Callable[[str], None]) -> None:
    """Report every word that is not listed; those that start with `_` belong to who made them."""
    for field, known in words.get(type(value), {}).items():
        word = getattr(value, field)
        # The common answer first.
        if word not in known and isinstance(word, str) and not word.startswith("_"):
            report(f"{type(value).__name__}: unknown {field} {word!r}")


__all__ = ["Words", "listed", "tell_unknown"]
