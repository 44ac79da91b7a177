"""Names of a package that are imported when they are first used.

An agent's start is somebody's wait, and most of a package is not needed in it.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def on_first_use(package: str, place_of: Mapping[str, str]) -> Callable[[str], object]:
    """A package's `__getattr__`: finds a name in the module that `place_of` says, once."""

    def load(name: str) -> object:
        place = place_of.get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(place), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
