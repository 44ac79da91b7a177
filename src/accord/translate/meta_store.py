"""Stores data that the other version has no field for: in `_meta`, under one key per table.

Restore rule: what is read back fills only fields that the other version could not carry, and
never a permission (option, outcome, grant, path).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from accord.schema.codec import encode, native
from accord.schema.method import DRAFT_META
from accord.schema.struct import Raw
from accord.translate.message import Json

# The key between v1 and v2, and the key for data that only the 2026-02 draft has a field for.
OFFICIAL: Final = "acp.translate"
DRAFT: Final = DRAFT_META


def keep(holder: Json, key: str, name: str, value: Any) -> None:
    """Keep a value on an object that has `_meta`."""
    meta = holder.get("_meta")
    if not isinstance(meta, dict):
        meta = holder["_meta"] = {}
    kept = meta.get(key)
    if not isinstance(kept, dict):
        kept = meta[key] = {}
    kept[name] = value


def kept(holder: Json, key: str) -> Json:
    """Return what was kept on an object; an empty object if nothing was."""
    meta = holder.get("_meta")
    found = meta.get(key) if isinstance(meta, dict) else None
    return found if isinstance(found, dict) else {}


def draft_meta(values: Json) -> dict[str, Raw]:
    """The `_meta` of a struct that has these values of the draft."""
    return {DRAFT: Raw(encode(values))}


def take(holder: Json, key: str) -> Json:
    """Remove and return what was kept on an object; an empty `_meta` is removed too."""
    found = kept(holder, key)
    if found:
        meta = {name: value for name, value in holder["_meta"].items() if name != key}
        if meta:
            holder["_meta"] = meta
        else:
            del holder["_meta"]
    return found


Check: TypeAlias = Callable[[Any], bool]


def restore(holder: Json, allowed: Mapping[str, Check]) -> None:
    """Restore fields that were kept on an object, as far as they are allowed and valid."""
    if not kept(holder, OFFICIAL):
        return
    for name, value in take(holder, OFFICIAL).items():
        check = allowed.get(name)
        if check is not None and check(value):
            holder[name] = value
        else:
            keep(holder, OFFICIAL, name, value)


def taken(holder: Json, name: str, check: Check) -> Any:
    """Remove and return one value that was kept on an object; None if it is not valid."""
    value = kept(holder, OFFICIAL).get(name)
    if value is None or not check(value):
        return None
    for other, left in take(holder, OFFICIAL).items():
        if other != name:
            keep(holder, OFFICIAL, other, left)
    return value


def is_valid(wanted: Any, value: Any) -> bool:
    """Whether a value strictly has a wire type."""
    try:
        native(wanted).decode(encode(value))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return False
    return True


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_number(value: Any) -> bool:
    """Whether a value is a number; true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)
