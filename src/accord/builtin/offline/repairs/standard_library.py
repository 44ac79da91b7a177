"""The names of Python's own library, and the modules that they come from.

Looking at them runs nothing of the project.
"""

from __future__ import annotations

import importlib
import inspect
import sys

# What people use without importing it, and where it is.
KNOWN = {
    "Path": "pathlib", "PurePath": "pathlib", "dataclass": "dataclasses", "field": "dataclasses",
    "defaultdict": "collections", "Counter": "collections", "OrderedDict": "collections",
    "deque": "collections", "namedtuple": "collections", "partial": "functools",
    "lru_cache": "functools", "reduce": "functools", "wraps": "functools",
    "contextmanager": "contextlib", "suppress": "contextlib", "Decimal": "decimal",
    "Fraction": "fractions", "Enum": "enum", "dedent": "textwrap", "datetime": "datetime",
    "timedelta": "datetime", "date": "datetime", "Any": "typing", "NamedTuple": "typing",
    "Protocol": "typing", "TypeVar": "typing", "Optional": "typing", "Union": "typing",
    "ABC": "abc", "abstractmethod": "abc", "StringIO": "io", "BytesIO": "io", "chain": "itertools",
    "product": "itertools", "permutations": "itertools", "combinations": "itertools",
    "itemgetter": "operator", "sqrt": "math", "ceil": "math", "floor": "math", "pi": "math",
    "TestCase": "unittest",
}  # fmt: skip

# Where else a name of the library is looked for; it counts if one of these alone has it.
OFTEN_USED = (
    "collections", "collections.abc", "contextlib", "copy", "dataclasses", "datetime", "decimal",
    "enum", "fractions", "functools", "hashlib", "heapq", "inspect", "io", "itertools", "json",
    "math", "operator", "os", "os.path", "pathlib", "random", "re", "shutil", "statistics",
    "string", "subprocess", "sys", "tempfile", "textwrap", "threading", "time", "types", "typing",
    "unittest", "urllib.parse", "uuid", "warnings",
)  # fmt: skip

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
