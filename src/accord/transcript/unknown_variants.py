"""Commands, options, plans and other variants of unknown form: what can be read of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from accord.schema.codec import Invalid, to_python
from accord.schema.struct import Raw, UnknownVariant
from accord.transcript.items.options_and_commands import Command, ConfigOption

# The type of an option of an agent of the 2026-02 draft, which may have any JSON value.
ANY_VALUE = "any"


def plain(raw: Raw | bytes) -> object:
    """The Python value of JSON text; None where Python cannot hold it."""
    try:
        value: object = to_python(raw)
    except Invalid:
        return None
    return value


def fields_of(variant: UnknownVariant) -> dict[str, str]:
    """The members of a variant that are strings, which is all that we can show of it."""
    value = plain(variant.raw)
    if not isinstance(value, dict):
        return {}
    members = cast("dict[str, object]", value)
    return {key: member for key, member in members.items() if isinstance(member, str)}


def unknown_command(variant: UnknownVariant) -> Command:
    """A slash command by the name and the description that it has."""
    fields = fields_of(variant)
    return Command(fields.get("name", ""), fields.get("description", ""))


def unknown_option(variant: UnknownVariant, id_key: str) -> ConfigOption:
    """A config option that can only be shown; `id_key` is its id's key on the wire."""
    fields = fields_of(variant)
    name = fields.get(id_key, "")
    if variant.tag != ANY_VALUE:
        return ConfigOption(name, fields.get("name", name), "unknown")
    value = cast("dict[str, object]", plain(variant.raw) or {}).get("currentValue")
    return ConfigOption(name, name, "unknown", value, category=fields.get("category"))


def unknown_plan_id(variant: UnknownVariant, id_keys: Sequence[str]) -> str | None:
    """The id of a plan under the first of these keys that it has."""
    fields = fields_of(variant)
    return next((fields[key] for key in id_keys if key in fields), None)
