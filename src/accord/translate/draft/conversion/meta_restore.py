"""Checks values before they are sent, and restores what `_meta` kept.

What comes out of `_meta` was written by a peer: it is used only where the object that it fills
is valid with it, and otherwise treated as if nothing had been kept.

An endpoint that meets a draft peer has no second bridge behind that peer, so what a bridge notes
for one would only be clutter, and is left out.  What a person or a program may want to see
(a title, an exact stop reason, a block) stays.
"""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy
from typing import Any, Final, get_args

from accord.schema.codec import encode, native, to_python
from accord.schema.draft.updates import UPDATE_TYPES
from accord.schema.invalid import Invalid
from accord.translate.message import CannotTranslate, Json
from accord.translate.meta_store import DRAFT, take

_NOTES: Final = frozenset(
    (
        *("made", "madeOutput", "madeCreatedAt", "loaded", "status", "content"),
        *("noName", "noInput", "noStatus", "noKind", "noCwd", "noPlanId", "noId"),
        *("sessionId", "options", "configOptions", "modes", "outputByteLimit"),
        *("wholeUsage", "usageUpdate", "promptCapabilities", "authMethods", "details"),
    )
)


def fits(wanted: Any, value: object) -> bool:
    """Whether a value strictly has a wire type."""
    try:
        native(wanted).decode(encode(value))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return False
    return True


def tags(union: Any) -> frozenset[str]:
    """Return the tags of the members of a union; any other is an unknown variant."""
    return frozenset(member.__struct_config__.tag for member in get_args(union))


def fits_openly(wanted: Any, value: Any, tag_field: str, known: frozenset[str]) -> bool:
    """Whether a value is of a union; unknown variants count."""
    if not isinstance(value, dict):
        return False
    tag = value.get(tag_field)
    return isinstance(tag, str) and (tag not in known or fits(wanted, value))


def copied(value: Any) -> Any:
    """Copy a value, so that later changes of a message do not reach what is remembered."""
    return deepcopy(value)


def taken(holder: Json) -> Json:
    """Remove what was kept on an object for this dialect, and return a copy of it."""
    return dict(take(holder, DRAFT))


def restore(plain: Json, kept: Json, names: Collection[str], wanted: Any) -> Json:
    """Return the object with the named members that were kept, if it is valid with them.

    What was used is gone from `kept`; the rest stays there for whoever keeps it on.
    """
    found = {name: kept[name] for name in names if name in kept}
    if not found:
        return plain
    full = {**plain, **found}
    if not fits(wanted, full):
        return plain
    for name in found:
        del kept[name]
    return full


def keep_all(holder: Json, values: Json) -> None:
    """Keep several values at once; without any, the object is unchanged."""
    if not values:
        return
    meta = holder.get("_meta")
    old = meta.get(DRAFT) if isinstance(meta, dict) else None
    kept = {**old, **values} if isinstance(old, dict) else values
    holder["_meta"] = {**meta, DRAFT: kept} if isinstance(meta, dict) else {DRAFT: kept}


def without_nulls(holder: Json, names: Collection[str]) -> None:
    """Drop members that are null, which the draft does not allow in these places."""
    for name in names:
        if name in holder and holder[name] is None:
            del holder[name]


def read_update(kind: str, data: Any) -> Json:
    """Check the data of a draft update by its type: the envelope has no type for it.

    Raises:
        CannotTranslate: it is not what its type demands.
    """
    wanted = UPDATE_TYPES[kind]
    raw = encode(data)
    try:
        native(wanted).decode(raw)
    except (ValueError, RecursionError):
        from accord.schema.codec import decode

        try:
            value: Json = to_python(encode(decode(wanted, raw)))
        except Invalid as error:
            raise CannotTranslate(-32602, f"{kind}: {error}") from None
        return value
    read: Json = data
    return read


def without_notes(value: Any) -> Any:
    """Remove from `_meta` what only a bridge reads; the value may be changed."""
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
