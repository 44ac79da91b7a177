"""How `_meta` of an entity changes: by its top-level keys, never deeper."""

from __future__ import annotations

from accord.schema.struct import UNSET, Patch, Raw

NULL = Raw(b"null")


def patch_meta(meta: dict[str, Raw], patch: Patch[dict[str, Raw]]) -> None:
    """Absent keeps all, null clears all, an object sets its keys and removes those that are null.

    Values are copied, because a `Raw` keeps the whole frame in memory that it was read from.
    """
    if patch is UNSET:
        return
    if patch is None:
        meta.clear()
        return
    for key, value in patch.items():
        if value == NULL:
            meta.pop(key, None)
        else:
            meta[key] = value.copy()
