"""Enums as data."""

from typing import Literal

import pytest

from accord.schema.enumeration import Enumeration, enumeration


def test_the_values_are_those_of_the_literal() -> None:
    words = enumeration(Literal["a", "b"] | str, open=True)
    assert words == Enumeration(("a", "b"), open=True, unstable=False)


def test_an_alias_without_values_is_no_enum() -> None:
    with pytest.raises(AssertionError, match="at least one"):
        enumeration(int | str, open=True)
