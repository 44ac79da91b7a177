"""Config options: the draft's keys with any value, and v1's list with the values to choose from.

A draft agent tells no list of values, so for a v1 client an option offers those that were met.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final, NamedTuple

from accord.schema.codec import encode
from accord.translate.draft.conversion.meta_restore import keep_all
from accord.translate.message import Json
from accord.translate.meta_store import DRAFT, kept

# Bounds of the remembered options and values of a draft agent, and the value that stands for the
# value that is not known yet.
VALUES_MAX: Final = 64
OPTIONS_MAX: Final = 256
UNTOLD: Final = "default"


class Change(NamedTuple):
    """An option that has changed."""

    key: str
    before: Any
    had_value: bool
    after: Any


def find(options: list[Json], key: str) -> Json | None:
    """Return the option with this id."""
    return next((one for one in options if one.get("id") == key), None)


# The draft's common options, each with our id of the same meaning.
_MEANT: Final = {"autoApprove": "auto_approve", "maxTokens": "token_limit"}


def meant_option(known: Container[str], key: str) -> str:
    """Return the key of the option that one of the draft's common keys means."""
    ours = _MEANT.get(key, key)
    return ours if key not in known and ours in known else key


def entries_of(option: Json) -> list[Json]:
    """Return the values of a select option, including those in groups."""
    found: list[Json] = []
    for entry in option.get("options") or ():
        found += entry.get("options") or () if "group" in entry else (entry,)
    return found


# ---- towards a draft client


def value_of(option: Json) -> Any:
    """Return the value of an option in the draft's form."""
    current = option.get("currentValue")
    for entry in entries_of(option):
        if entry.get("value") == current:
            return kept(entry, DRAFT).get("value", current)
    return current


def values_of(options: list[Json]) -> Json:
    """Return all values by key."""
    return {option["id"]: value_of(option) for option in options if "currentValue" in option}


def changes(before: list[Json], after: list[Json]) -> list[Change]:
    """Return the options whose value has changed."""
    old, new = values_of(before), values_of(after)
    return [
        Change(key, old.get(key), key in old, value)
        for key, value in new.items()
        if key not in old or not same(old[key], value)
    ]


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same; true is not 1."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def setting_for(option: Json, value: Any) -> Json | None:
    """Return `value` and `type` of v1 for a value of the draft; None if the option lacks it."""
    if option.get("type") == "boolean":
        return {"value": value, "type": "boolean"} if isinstance(value, bool) else None
    wanted = str(value) if isinstance(value, int | float) else value
    for entry in entries_of(option):
        if same(kept(entry, DRAFT).get("value", entry.get("value")), value):
            return {"value": entry["value"]}
    if isinstance(value, bool):
        return None
    if any(entry.get("value") == wanted for entry in entries_of(option)):
        return {"value": wanted}
    return None


# ---- towards a v1 client


def made_option(key: str) -> Json:
    """Make an option of which the draft agent sent only the key."""
    entry: Json = {"value": UNTOLD, "name": "Default"}
    keep_all(entry, {"untold": True})
    return {
        "id": key,
        "name": key,
        "type": "select",
        "currentValue": UNTOLD,
        "options": [entry],
    }


def any_option(key: str, **value: Any) -> Json:
    """Make an option for our own client, which knows that it accepts any value."""
    told = value.get("currentValue")
    made: Json = {"id": key, "name": key, "type": "boolean" if isinstance(told, bool) else "any"}
    return {**made, **({"category": key} if key == "model" else {}), **value}


def with_any_value(options: list[Json], key: str, value: Any) -> list[Json]:
    """Return the list with a new value of an option, for our own client."""
    changed = any_option(key, currentValue=value)
    if find(options, key) is None:
        return [*options[-OPTIONS_MAX + 1 :], changed]
    return [changed if one.get("id") == key else one for one in options]


def with_value(options: list[Json], key: str, value: Any, *, booleans: bool) -> list[Json]:
    """Return the list with a new value of an option, which offers it from now on.

    `booleans`: the client can show options that are on or off.
    """
    option = find(options, key)
    if option is None:
        return [*options[-OPTIONS_MAX + 1 :], _valued(made_option(key), value, booleans=booleans)]
    changed = _valued(option, value, booleans=booleans)
    return [changed if one is option else one for one in options]


def _valued(option: Json, value: Any, *, booleans: bool) -> Json:
    if isinstance(value, bool) and (booleans or option.get("type") == "boolean"):
        made = {name: part for name, part in option.items() if name != "options"}
        return {**made, "type": "boolean", "currentValue": value}
    plain = made_option(option["id"]) if option.get("type") != "select" else option
    for entry in entries_of(plain):
        if same(kept(entry, DRAFT).get("value", entry.get("value")), value):
            return {**plain, "currentValue": entry["value"]}
    entry = _entry(value)
    known = [one for one in plain["options"] if not kept(one, DRAFT).get("untold")]
    if any("group" in one for one in known):
        known.append({"group": "other", "name": "Other", "options": [entry]})
    else:
        known.append(entry)
    return {**plain, "currentValue": entry["value"], "options": known[-VALUES_MAX:]}


def _entry(value: Any) -> Json:
    if isinstance(value, str):
        return {"value": value, "name": value or "(empty)"}
    text = encode(value).decode()
    entry: Json = {"value": text, "name": text}
    keep_all(entry, {"value": value})
    return entry


def chosen_value(option: Json | None, value: Any) -> Any:
    """Convert the choice of a v1 client to the draft's value."""
    if option is not None and isinstance(value, str):
        for entry in entries_of(option):
            if entry.get("value") == value:
                return kept(entry, DRAFT).get("value", value)
    return value


def is_untold(option: Json | None, value: Any) -> bool:
    """Whether the value stands for one that is not known."""
    entries = entries_of(option) if option is not None else []
    return any(
        entry.get("value") == value and kept(entry, DRAFT).get("untold") is True
        for entry in entries
    )
