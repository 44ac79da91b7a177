"""What the folds of all versions have in common: their form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from accord.schema.struct import UNSET, Patch
from accord.transcript.changes import Update
from accord.transcript.entities import View

T = TypeVar("T")

# Takes an update of one type into the view; None where that changed nothing.
Fold: TypeAlias = Callable[[View, Any], Update | None]
# Takes the answer to a request into the view.
Setup: TypeAlias = Callable[[View, Any], None]


def or_none(value: Patch[T]) -> T | None:
    """The value, and None where there is none, for fields in which absent and null are one."""
    return None if value is UNSET else value
