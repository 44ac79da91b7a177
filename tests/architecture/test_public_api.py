"""The public names are pinned: a change of `accord.__all__` is a decision, not an accident."""

import inspect
from pathlib import Path

import pytest

import accord

PINNED = (Path(__file__).parent / "public_api.txt").read_text().split()


def test_the_public_names_are_the_pinned_ones() -> None:
    """Ours: versions are counted over these names."""
    assert sorted(accord.__all__) == PINNED


@pytest.mark.parametrize("name", PINNED)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    """Ours: public means written down, in the object's own words and not in its base class's."""
    value = getattr(accord, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        own = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
        assert own, f"{name} has no docstring"
