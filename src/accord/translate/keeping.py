"""Where that goes which the other version has no field for: `_meta`, under one key per table.

Restore rule: what is read back fills only fields that the other version could not carry, and
never a permission (option, outcome, grant, path).
"""

from __future__ import annotations

from typing import Any, Final

from accord.translate.message import Json

# Between v1 and v2, and for what the 2026-02 draft has no field for.
OFFICIAL: Final = "acp.translate"
DRAFT: Final = "acp.draft/2026-02"


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
    """What was kept on an object; an empty object where nothing was."""
    meta = holder.get("_meta")
    found = meta.get(key) if isinstance(meta, dict) else None
    return found if isinstance(found, dict) else {}


def take(holder: Json, key: str) -> Json:
    """What was kept on an object, which has it no longer; an empty `_meta` goes too."""
    found = kept(holder, key)
    if found:
        meta = {name: value for name, value in holder["_meta"].items() if name != key}
        if meta:
            holder["_meta"] = meta
        else:
            del holder["_meta"]
    return found
