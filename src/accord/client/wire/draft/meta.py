"""The draft's data that v1 has no field for, in `_meta`."""

from typing import Any

from accord.schema.codec import Invalid, to_python
from accord.translate.meta_store import DRAFT, kept


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
