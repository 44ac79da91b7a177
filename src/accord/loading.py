"""Names of a package that are imported when they are first used.

An agent's start is somebody's wait, and most of a package is not needed in it.
"""

import gc
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib import import_module

# So many new things are looked through in no time.
YOUNG_MAX = 5_000


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
        if gc.get_count()[0] > YOUNG_MAX and not gc.get_freeze_count():
            # All that is there counts as old now, so that it is not looked through right behind
            # this either.
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
