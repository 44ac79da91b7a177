"""The official JSON Schema, taken apart into shapes that can be compared with our types.

The schemas come with the npm package `@agentclientprotocol/sdk`, which the test set-up installs;
nothing of them is kept here.  A definition becomes a list of leaves: one object each, with every
key that `allOf`, `anyOf` and `oneOf` contribute.  Must not know: our types.
"""

import json
import os
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

Node = dict[str, Any]
# ("string", shortest), ("integer", low, high), ("number",), ("boolean",), ("any",),
# ("enum", values), ("array", item, shortest), ("map", value), ("definition", name),
# ("oneof", kinds): what a value is, apart from null.
Kind = tuple[Any, ...]

BOUNDS = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}
MARKS = {
    "x-deserialize-default-on-error": "E",
    "x-deserialize-skip-invalid-items": "S",
    "x-deserialize-default-on-null": "Z",
}


@dataclass(frozen=True)
class Property:
    """One key of an object."""

    kind: Kind
    required: bool
    nullable: bool
    tolerance: str


@dataclass(frozen=True)
class Leaf:
    """One alternative of a definition: constant keys (tags) apart from the others."""

    consts: dict[str, Any] = field(default_factory=dict)
    properties: dict[str, Property] = field(default_factory=dict)
    # The branch for tags that the schema does not know.
    other: bool = False


class Schema:
    """The definitions of one schema file."""

    def __init__(self, document: Node) -> None:
        self.document = document
        self.definitions: dict[str, Node] = document["$defs"]
        # Definitions whose keys were flattened into another one.
        self.flattened: set[str] = set()

    def leaves(self, name: str) -> list[Leaf]:
        """Every alternative of a definition."""
        return self._leaves(self.definitions[name])

    def _leaves(self, node: Node) -> list[Leaf]:
        if "$ref" in node:
            self.flattened.add(_name(node))
            return self.leaves(_name(node))
        required = set(node.get("required", ()))
        consts: dict[str, Any] = {}
        properties: dict[str, Property] = {}
        for key, value in node.get("properties", {}).items():
            if "const" in value:
                consts[key] = value["const"]
            elif value != {"type": "null"}:
                properties[key] = self.property(value, key in required)
        found = [Leaf(consts, properties, other="not" in node)]
        for part in node.get("allOf", ()):
            found = [_joined(one, two) for one in found for two in self._leaves(part)]
        for alternatives in ("anyOf", "oneOf"):
            if alternatives in node:
                branches = [leaf for part in node[alternatives] for leaf in self._leaves(part)]
                found = [_joined(one, two) for one in found for two in branches]
        return found

    def property(self, node: Node, required: bool) -> Property:
        """What the schema says about one key."""
        kind, nullable = self.kind(node)
        tolerance = "".join(mark for key, mark in MARKS.items() if node.get(key))
        return Property(kind, required, nullable, tolerance)

    def kind(self, node: Node) -> tuple[Kind, bool]:
        """What a value is, and whether it may be null."""
        if "$ref" in node:
            return self._named(_name(node))
        alternatives = node.get("anyOf") or node.get("oneOf") or node.get("allOf")
        if alternatives:
            return self._one_of(alternatives)
        types = node.get("type")
        if types is None:
            return ("any",), False
        if isinstance(types, list):
            (only,) = (one for one in types if one != "null")
            return self._plain(only, node), "null" in types
        return (("never",), True) if types == "null" else (self._plain(types, node), False)

    def _named(self, name: str) -> tuple[Kind, bool]:
        """Scalars and enums are taken for what they are, objects by their name."""
        node = self.definitions[name]
        branches = node.get("oneOf") or node.get("anyOf")
        if branches and all(
            _is_scalar(one) or _is_scalar(one.get("items", {})) for one in branches
        ):
            return self._one_of(branches)
        if _is_scalar(node):
            return self._plain(node["type"], node), False
        return ("definition", name), False

    def _one_of(self, alternatives: list[Node]) -> tuple[Kind, bool]:
        values = frozenset(one["const"] for one in alternatives if "const" in one)
        if values and all(isinstance(value, str) for value in values):
            return ("enum", values), False
        parts = [self.kind(one) for one in alternatives]
        kinds = frozenset(kind for kind, _ in parts if kind != ("never",))
        nullable = any(null for _, null in parts)
        return (next(iter(kinds)) if len(kinds) == 1 else ("oneof", kinds)), nullable

    def _plain(self, name: str, node: Node) -> Kind:
        match name:
            case "integer":
                low, high = BOUNDS[node["format"]]
                return ("integer", node.get("minimum", low), node.get("maximum", high))
            case "string":
                return ("string", node.get("minLength", 0))
            case "array":
                return ("array", self.kind(node["items"])[0], node.get("minItems", 0))
            case "object":
                inner = node.get("additionalProperties", True)
                return ("map", ("any",) if inner is True else self.kind(inner)[0])
            case _:
                return (name,)

    def enumeration(self, name: str) -> tuple[frozenset[str], bool] | None:
        """The words of an enum and whether others are legal; None for every other definition."""
        node = self.definitions[name]
        branches = node.get("oneOf") or node.get("anyOf") or [node]
        values = frozenset(one["const"] for one in branches if isinstance(one.get("const"), str))
        if not values or not all(_is_scalar(branch) for branch in branches):
            return None
        return values, any("const" not in branch for branch in branches)


@dataclass(frozen=True)
class Official:
    """Both schemas of one protocol version."""

    stable: Schema
    unstable: Schema

    def messages(self) -> dict[str, tuple[str, str]]:
        """Every definition that is the params or the result of a method: its side and method."""
        return {
            name: (node["x-side"], node["x-method"])
            for name, node in self.unstable.definitions.items()
            if "x-method" in node
        }

    def false_by_default(self) -> set[str]:
        """The keys that are false when they are left out."""
        return {
            key
            for node in self.unstable.definitions.values()
            for key, value in node.get("properties", {}).items()
            if value.get("default") is False
        }


@cache
def load(version: str) -> Official:
    """The schemas of `v1` or `v2`; skips the tests that need them when they are not installed."""
    modules = Path(os.environ.get("ACCORD_NODE_MODULES", ROOT / "node_modules"))
    folder = modules / "@agentclientprotocol" / "sdk" / "schema" / version
    if not folder.is_dir():
        pytest.skip(
            "the npm package with the official schema is not installed; `make test` installs it",
            allow_module_level=True,
        )
    stable, unstable = (
        Schema(json.loads((folder / name).read_text(encoding="utf-8")))
        for name in ("schema.json", "schema.unstable.json")
    )
    return Official(stable, unstable)


def merged(leaves: list[Leaf]) -> dict[str, Property]:
    """The keys of several alternatives as one object: required is what all of them require."""
    found: dict[str, Property] = {}
    for leaf in leaves:
        tags = {
            key: Property(("enum", frozenset({value})), True, False, "")
            for key, value in leaf.consts.items()
        }
        for key, value in {**leaf.properties, **tags}.items():
            found[key] = _widened(found[key], value) if key in found else value
    return {
        key: replace(
            value, required=value.required and all(_requires(leaf, key) for leaf in leaves)
        )
        for key, value in found.items()
    }


def _requires(leaf: Leaf, key: str) -> bool:
    return key in leaf.consts or (key in leaf.properties and leaf.properties[key].required)


def _widened(one: Property, two: Property) -> Property:
    kind: Kind = one.kind
    heads = {one.kind[0], two.kind[0]}
    if heads == {"enum"}:
        kind = ("enum", one.kind[1] | two.kind[1])
    elif heads == {"enum", "string"}:
        # Some words are named, and any other one is legal.
        kind = one.kind if one.kind[0] == "enum" else two.kind
    elif one.kind != two.kind:
        kind = ("oneof", frozenset({one.kind, two.kind}))
    tolerance = "".join(mark for mark in "ESZ" if mark in one.tolerance + two.tolerance)
    return Property(kind, one.required and two.required, one.nullable or two.nullable, tolerance)


def _joined(one: Leaf, two: Leaf) -> Leaf:
    consts = {**one.consts, **two.consts}
    properties = {**one.properties, **two.properties}
    return Leaf(
        consts,
        {key: value for key, value in properties.items() if key not in consts},
        one.other or two.other,
    )


def _is_scalar(node: Node) -> bool:
    return node.get("type") in ("string", "integer", "number", "boolean", "null")


def _name(node: Node) -> str:
    name: str = node["$ref"].rsplit("/", 1)[1]
    return name
