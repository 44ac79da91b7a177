"""Names of a package that are imported when they are first used.

An agent's start is somebody's wait, and most of a package is not needed in it.
"""

import gc
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib import import_module


@contextmanager
def undisturbed() -> Generator[None]:
    """Load modules in this block without anybody looking for garbage in them.

    All that they make stays; Python would look through it again and again as it grows, which is a
    tenth of an agent's start.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        # Where it is due right behind this, all that is there is made to count as old instead; it
        # takes long to ask whether somebody has frozen anything, which must stay so.
        if gc.get_count()[0] > gc.get_threshold()[0] and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        gc.enable()


def on_first_use(package: str, place_of: Mapping[str, str]) -> Callable[[str], object]:
    """A package's `__getattr__`: finds a name in the module that `place_of` says, once."""

    def load(name: str) -> object:
        place = place_of.get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with undisturbed():
            value: object = getattr(import_module(place), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
