"""Config options: the draft's keys with any value, and v1's list with the values to choose from.

A draft agent tells no list of values, so for a v1 client an option offers those that were met.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from accord.schema.codec import encode
from accord.translate.draft.conversion.meta_restore import keep_all
from accord.translate.message import Json
from accord.translate.meta_store import DRAFT, kept

# Options of a draft agent and values of one that are remembered, and the one that stands for the
# value that nobody has told yet.
VALUES_MAX: Final = 64
OPTIONS_MAX: Final = 256
UNTOLD: Final = "default"


class Change(NamedTuple):
    """One option that is not what it was."""

    key: str
    before: Any
    had_value: bool
    after: Any


def find(options: list[Json], key: str) -> Json | None:
    """The option of an id."""
    return next((one for one in options if one.get("id") == key), None)


def entries_of(option: Json) -> list[Json]:
    """The values of a select option, those inside groups too."""
    found: list[Json] = []
    for entry in option.get("options") or ():
        found += entry.get("options") or () if "group" in entry else (entry,)
    return found


# ---- towards a draft client


def value_of(option: Json) -> Any:
    """The value of an option as the draft tells it."""
    current = option.get("currentValue")
    for entry in entries_of(option):
        if entry.get("value") == current:
            return kept(entry, DRAFT).get("value", current)
    return current


def values_of(options: list[Json]) -> Json:
    """All values by key."""
    return {option["id"]: value_of(option) for option in options if "currentValue" in option}


def changes(before: list[Json], after: list[Json]) -> list[Change]:
    """Every key whose value is another one now."""
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
    """`value` and `type` of v1 for a value of the draft; None where the option has no such."""
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
    """An option of which a draft agent told the key alone."""
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
    """An option for a client of ours, which knows that it takes any value."""
    told = value.get("currentValue")
    made: Json = {"id": key, "name": key, "type": "boolean" if isinstance(told, bool) else "any"}
    return {**made, **({"category": key} if key == "model" else {}), **value}


def with_any_value(options: list[Json], key: str, value: Any) -> list[Json]:
    """The list after an option got a value, for a client of ours."""
    changed = any_option(key, currentValue=value)
    if find(options, key) is None:
        return [*options[-OPTIONS_MAX + 1 :], changed]
    return [changed if one.get("id") == key else one for one in options]


def with_value(options: list[Json], key: str, value: Any, *, booleans: bool) -> list[Json]:
    """The list after an option got a value, which it offers from now on.

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
    """What a v1 client chose, as the draft's value."""
    if option is not None and isinstance(value, str):
        for entry in entries_of(option):
            if entry.get("value") == value:
                return kept(entry, DRAFT).get("value", value)
    return value


def is_untold(option: Json | None, value: Any) -> bool:
    """Whether the value only stands for one that nobody has told."""
    entries = entries_of(option) if option is not None else []
    return any(
        entry.get("value") == value and kept(entry, DRAFT).get("untold") is True
        for entry in entries
    )
