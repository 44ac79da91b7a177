"""What v1 has no field for, on its way between our services and the translator: in `_meta`."""

from typing import Any

from accord.schema.codec import Invalid, encode, to_python
from accord.schema.struct import Raw
from accord.translate.meta_store import DRAFT, kept


def details(told: dict[str, Any]) -> dict[str, Raw]:
    """`_meta` with these values."""
    return {DRAFT: Raw(encode(told))}


def kept_details(holder: Any) -> dict[str, Any]:
    """The values in the `_meta` of a struct or of a plain object."""
    if isinstance(holder, dict):
        return kept(holder, DRAFT)
    raw = (getattr(holder, "meta", None) or {}).get(DRAFT)
    try:
        found = {} if raw is None else to_python(raw)
    except Invalid:
        return {}
    return found if isinstance(found, dict) else {}


__all__ = ["details", "kept_details"]
