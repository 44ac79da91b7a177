"""The names of Python's own library, as far as looking at them runs nothing of the project."""

from __future__ import annotations

import importlib
import inspect
import sys

# Modules that do something when they are imported.
_ACTIVE = frozenset(
    {"this", "antigravity", "idlelib", "lib2to3", "test", "turtledemo", "turtle", "tkinter"}
)


def library_names(module: str, *, own: bool = False) -> list[str]:
    """The names of a module of Python's own library; nothing for any other.

    `own` leaves out what the module only imports itself.
    """
    parts = module.split(".")
    # A part such as `__main__` runs a program.
    if any(part.startswith("_") for part in parts):
        return []
    if parts[0] not in sys.stdlib_module_names or parts[0] in _ACTIVE:
        return []
    try:
        loaded = importlib.import_module(module)
    except ImportError:
        return []
    names = dir(loaded)
    if not own:
        return names
    public = getattr(loaded, "__all__", None)
    if public is not None:
        return [str(name) for name in public]
    return [name for name in names if not inspect.ismodule(getattr(loaded, name, None))]
