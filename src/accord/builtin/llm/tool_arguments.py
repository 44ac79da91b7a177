"""Checks the arguments of a tool call against the tool's JSON schema.

Small models write numbers and booleans as text, which are converted.  Arguments that do not fit
become an error message for the model, which then tries again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_SWITCHES = {"true": True, "false": False}


class BadArguments(Exception):
    """The arguments do not fit, and the message says where."""


def fitted(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the tool wants them.

    Raises:
        BadArguments: something is missing, unknown or of another type.
    """
    properties: Mapping[str, Any] = schema.get("properties") or {}
    missing = [name for name in schema.get("required") or () if given.get(name) is None]
    if missing:
        raise BadArguments(f"missing: {', '.join(missing)}")
    unknown = [name for name in given if name not in properties]
    if unknown and schema.get("additionalProperties") is False:
        wanted = ", ".join(properties)
        raise BadArguments(f"unknown: {', '.join(unknown)} (known: {wanted})")
    # Null means what absence means: strict modes make models name everything.
    return {
        name: _fitted(properties.get(name, {}), value, name)
        for name, value in given.items()
        if value is not None
    }


def _fitted(schema: Mapping[str, Any], value: Any, name: str) -> Any:
    wanted = schema.get("type")
    if not isinstance(wanted, str) or wanted not in _TYPES:
        return value
    if isinstance(value, str) and wanted != "string":
        value = _read(value, wanted)
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    is_number = isinstance(value, bool) and wanted in ("integer", "number")
    if is_number or not isinstance(value, _TYPES[wanted]):
        raise BadArguments(f"{name} must be of type {wanted}")
    if "enum" in schema and value not in schema["enum"]:
        raise BadArguments(f"{name} must be one of {', '.join(map(str, schema['enum']))}")
    if "minimum" in schema and value < schema["minimum"]:
        raise BadArguments(f"{name} must be at least {schema['minimum']}")
    return value


def _read(text: str, wanted: str) -> Any:
    if wanted == "boolean":
        return _SWITCHES.get(text.strip().lower(), text)
    try:
        return int(text) if wanted == "integer" else float(text) if wanted == "number" else text
    except ValueError:
        return text
