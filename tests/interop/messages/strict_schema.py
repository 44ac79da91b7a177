"""A strict reading of the official JSON Schema of the protocol.

JSON Schema lets unknown keys pass, and the protocol's open unions let nearly every object pass as
`other`.  That is right for a receiver and useless for judging a sender.  This walker reads the same
files and refuses what only tolerance would let through.

It knows JSON Schema and the two habits of these files (a catch-all branch marked by `not`, a bare
string beside constants); it knows no method, no message and nothing of the library under test.

Invariants
    * A key is fine when the variant that was chosen names it, or when the schema says that the
      object is raw (`additionalProperties: true` outside a catch-all, or no constraint at all).
    * A catch-all takes only tags that start with `_`.
    * A schema keyword that is not understood raises: a newer schema is never half-checked.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import reduce
from itertools import product
from typing import Any, NamedTuple

Schema = Mapping[str, Any]

INTEGER_BOUNDS: Mapping[str, tuple[int, int]] = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}
ANNOTATIONS = {
    *("$comment", "default", "deprecated", "description", "discriminator", "examples", "title"),
    *("x-deserialize-default-on-error", "x-deserialize-default-on-null"),
    *("x-deserialize-skip-invalid-items", "x-docs-ignore", "x-method", "x-side"),
}
CONSTRAINTS = {
    *("$ref", "additionalProperties", "allOf", "anyOf", "const", "contentEncoding", "enum"),
    *("format", "items", "maximum", "minItems", "minLength", "minimum", "not", "oneOf"),
    *("properties", "required", "type", "unevaluatedProperties"),
}
TYPES: Mapping[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
ABSOLUTE_PATH = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")


class Reading(NamedTuple):
    """One way to read a value: what is wrong with it then, and which keys are accounted for."""

    problems: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()
    raw: bool = False

    def joined(self, other: Reading) -> Reading:
        return Reading(
            self.problems + other.problems, self.keys | other.keys, self.raw or other.raw
        )


class StrictSchema:
    """The definitions of one schema file, read strictly.

    `path_keys` names string properties that must be absolute paths although the schema calls them
    plain strings, as v1's does.
    """

    def __init__(self, definitions: Mapping[str, Schema], path_keys: Iterable[str] = ()) -> None:
        self.definitions = definitions
        self._path_keys = frozenset(path_keys)
        self._seen: dict[int, tuple[Schema, bool]] = {}

    def judge(self, schema: Schema, value: Any, path: str) -> list[str]:
        """Every problem of the value, unknown keys included; empty when it is right."""
        verdicts: list[list[str]] = []
        for reading in self._read(schema, value, path):
            problems = list(reading.problems)
            if isinstance(value, dict) and not reading.raw:
                problems += [f"{path}: unknown key {key!r}" for key in value.keys() - reading.keys]
            verdicts.append(problems)
        return min(verdicts, key=len)

    def _read(self, schema: Schema, value: Any, path: str) -> list[Reading]:
        if not self._constrains(schema):
            return [Reading(raw=True)]
        own = Reading(tuple(self._scalar_problems(schema, value, path)))
        if isinstance(value, dict):
            own = own.joined(self._object(schema, value, path))
        if isinstance(value, list) and "items" in schema:
            found = [
                problem
                for index, item in enumerate(value)
                for problem in self.judge(schema["items"], item, f"{path}[{index}]")
            ]
            own = own.joined(Reading(tuple(found)))
        parts: list[list[Reading]] = [[own]]
        if reference := schema.get("$ref"):
            parts.append(self._reference(reference, value, path))
        parts += [self._read(branch, value, path) for branch in schema.get("allOf", ())]
        parts += [
            self._union(schema[key], value, path) for key in ("anyOf", "oneOf") if key in schema
        ]
        return parts[0] if len(parts) == 1 else [_join(readings) for readings in product(*parts)]

    def _constrains(self, schema: Schema) -> bool:
        """Whether it says anything about a value; one with words that we do not know is refused."""
        found = self._seen.get(id(schema))
        if found is None:
            if unknown := schema.keys() - ANNOTATIONS - CONSTRAINTS:
                raise ValueError(f"schema keywords not understood: {sorted(unknown)}")
            # With the schema itself, so that no other gets its id.
            found = self._seen[id(schema)] = (schema, bool(schema.keys() & CONSTRAINTS))
        return found[1]

    def _reference(self, reference: str, value: Any, path: str) -> list[Reading]:
        name = reference.removeprefix("#/$defs/")
        readings = self._read(self.definitions[name], value, path)
        if name == "AbsolutePath":
            problem = Reading(tuple(_path_problems(value, path)))
            readings = [reading.joined(problem) for reading in readings]
        return readings

    def _object(self, schema: Schema, value: dict[str, Any], path: str) -> Reading:
        known: Mapping[str, Schema] = schema.get("properties", {})
        problems = [
            f"{path}: missing {key!r}" for key in schema.get("required", ()) if key not in value
        ]
        for key in value.keys() & known.keys():
            problems += self.judge(known[key], value[key], f"{path}.{key}")
            if key in self._path_keys:
                problems += _path_problems(value[key], f"{path}.{key}")
        keys = frozenset(known)
        rest = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        if isinstance(rest, dict):
            for key in value.keys() - known.keys():
                problems += self.judge(rest, value[key], f"{path}.{key}")
            keys |= value.keys()
        return Reading(tuple(problems), keys, raw=rest is True)

    def _union(self, branches: list[Schema], value: Any, path: str) -> list[Reading]:
        has_constants = any("const" in branch for branch in branches)
        readings: list[Reading] = []
        for branch in branches:
            if self._is_other_variant(branch, value):
                continue
            if _is_catch_all(branch, has_constants) and not _may_be_own(branch, value):
                continue
            readings += self._read(branch, value, path)
        if not readings:
            return [Reading((f"{path}: {_short(value)} is none of the variants",))]
        clean = [reading for reading in readings if not reading.problems]
        return clean or [min(readings, key=lambda reading: len(reading.problems))]

    def _is_other_variant(self, branch: Schema, value: Any) -> bool:
        """Whether a constant of the branch says that the value is another variant."""
        if "const" in branch:
            return bool(value != branch["const"])
        if not isinstance(value, dict):
            return False
        return any(
            "const" in member and key in value and value[key] != member["const"]
            for key, member in branch.get("properties", {}).items()
        )

    def _scalar_problems(self, schema: Schema, value: Any, path: str) -> list[str]:
        if "type" in schema:
            names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
            if not any(_is_of(value, name) for name in names):
                return [f"{path}: {_short(value)} is not {' or '.join(names)}"]
        problems: list[str] = []
        if "const" in schema and value != schema["const"]:
            problems.append(f"{path}: {_short(value)} is not {schema['const']!r}")
        if "enum" in schema and value not in schema["enum"]:
            problems.append(f"{path}: {_short(value)} is none of {schema['enum']}")
        if isinstance(value, int | float) and not isinstance(value, bool):
            low, high = INTEGER_BOUNDS.get(schema.get("format", ""), (value, value))
            if not max(low, schema.get("minimum", low)) <= value <= high:
                problems.append(f"{path}: {value} is out of bounds")
            if value > schema.get("maximum", value):
                problems.append(f"{path}: {value} is above {schema['maximum']}")
        if isinstance(value, str):
            problems += _string_problems(schema, value, path)
        if isinstance(value, list) and len(value) < schema.get("minItems", 0):
            problems.append(f"{path}: needs at least {schema['minItems']} items")
        if "not" in schema and not self.judge_leniently(schema["not"], value):
            problems.append(f"{path}: {_short(value)} is what the schema excludes")
        return problems

    def judge_leniently(self, schema: Schema, value: Any) -> list[str]:
        """Problems with unknown keys allowed, as a receiver would see them."""
        best = min(self._read(schema, value, "$"), key=lambda reading: len(reading.problems))
        return list(best.problems)


def _join(readings: Iterable[Reading]) -> Reading:
    return reduce(Reading.joined, readings)


def _is_of(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def _is_catch_all(branch: Schema, has_constants: bool) -> bool:
    if "not" in branch:
        return True
    return has_constants and branch.get("type") == "string" and "const" not in branch


def _may_be_own(branch: Schema, value: Any) -> bool:
    """Whether the tag is in the name space of implementations."""
    if "not" not in branch:
        return isinstance(value, str) and value.startswith("_")
    excluded = branch["not"].get("anyOf", [branch["not"]])
    tags = {key for member in excluded for key in member.get("properties", {})}
    if not isinstance(value, dict):
        return False
    return all(isinstance(value.get(tag), str) and value[tag].startswith("_") for tag in tags)


def _string_problems(schema: Schema, value: str, path: str) -> list[str]:
    problems: list[str] = []
    if len(value) < schema.get("minLength", 0):
        problems.append(f"{path}: is shorter than {schema['minLength']}")
    match schema.get("format"):
        case "uri" if not URI.fullmatch(value):
            problems.append(f"{path}: {_short(value)} is not a URI")
        case "date-time" if not _is_date_time(value):
            problems.append(f"{path}: {_short(value)} is not an RFC 3339 time")
        case "regex" if not _is_pattern(value):
            problems.append(f"{path}: {_short(value)} is not a regular expression")
        case _:
            pass
    if schema.get("contentEncoding") == "base64" and not _is_base64(value):
        problems.append(f"{path}: {_short(value)} is not base64")
    return problems


def _path_problems(value: Any, path: str) -> list[str]:
    names = value if isinstance(value, list) else [value]
    return [
        f"{path}: {_short(name)} is not an absolute path"
        for name in names
        if isinstance(name, str) and not ABSOLUTE_PATH.match(name)
    ]


def _is_date_time(value: str) -> bool:
    if not DATE_TIME.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value.upper())
    except ValueError:
        return False
    return True


def _is_pattern(value: str) -> bool:
    try:
        re.compile(value)
    except re.error:
        return False
    return True


def _is_base64(value: str) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
