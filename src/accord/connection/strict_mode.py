"""Whether the environment asks for strictness: one reading of the variable for both sides."""

import os

STRICT_VARIABLE = "ACCORD_STRICT"
_NO = frozenset(("", "0", "false", "no", "off"))


def strict_by_default() -> bool:
    """Whether `ACCORD_STRICT` is set to anything that does not mean no."""
    return os.environ.get(STRICT_VARIABLE, "").strip().lower() not in _NO


__all__ = ["STRICT_VARIABLE", "strict_by_default"]
