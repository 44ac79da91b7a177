"""What a bridge notes in `_meta` for a second bridge on the way back, and how to leave it out.

An endpoint that meets a draft peer has no second bridge behind that peer, so the notes would only
be clutter.  What a person or a program may want to see (a title, an exact stop reason, a block)
stays.
"""

from __future__ import annotations

from typing import Any, Final

from accord.translate.message import Json
from accord.translate.meta_store import DRAFT

_NOTES: Final = frozenset(
    (
        *("made", "madeOutput", "madeCreatedAt", "loaded", "status", "content"),
        *("noName", "noInput", "noStatus", "noKind", "noCwd", "noPlanId", "noId"),
        *("sessionId", "options", "configOptions", "modes", "outputByteLimit"),
        *("wholeUsage", "usageUpdate", "promptCapabilities", "authMethods", "details"),
    )
)


def without_notes(value: Any) -> Any:
    """A value whose `_meta` objects have nothing that only a bridge reads; it may be changed."""
    if isinstance(value, dict):
        for name, member in value.items():
            if name != "_meta" and isinstance(member, dict | list):
                without_notes(member)
        if isinstance(value.get("_meta"), dict):
            _strip(value)
    elif isinstance(value, list):
        for member in value:
            without_notes(member)
    return value


def _strip(holder: Json) -> None:
    meta: Json = holder["_meta"]
    notes = meta.get(DRAFT)
    if not isinstance(notes, dict):
        return
    left = {name: one for name, one in notes.items() if name not in _NOTES}
    rest = {name: one for name, one in meta.items() if name != DRAFT}
    if left:
        rest[DRAFT] = left
    if rest:
        holder["_meta"] = rest
    else:
        del holder["_meta"]
