"""Values to send back and forth: from a definition of the official schema, and from our types.

Both strategies give legal values only; what is illegal is the business of the reader's tests.
"""

from __future__ import annotations

import base64
import json
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st
from msgspec import NODEFAULT, UNSET, Raw, Struct, UnsetType

from tests.schema.comparison import our_kind
from tests.schema.official_schema import BOUNDS, Node, Schema

Strategy = st.SearchStrategy[Any]

WORDS: Strategy = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
FLOATS: Strategy = st.floats(allow_nan=False, allow_infinity=False, width=32)
JSON: Strategy = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | FLOATS | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
META: Strategy = st.dictionaries(WORDS, JSON, max_size=2)
PATHS: Strategy = st.sampled_from(["/", "/home/me/ü", "C:\\work", "\\\\host\\share"])
BASE64: Strategy = st.binary(max_size=8).map(lambda data: base64.b64encode(data).decode())


@dataclass
class FromSchema:
    """JSON values of a definition.

    `special` gives strategies for keys of which the schema says less than we demand, by definition
    and key (`ImageContent.data`); `always` names keys that we always write.
    """

    schema: Schema
    special: dict[str, Strategy] = field(default_factory=dict)
    always: frozenset[str] = frozenset()
    _made: dict[str, Strategy] = field(default_factory=dict)

    def definition(self, name: str) -> Strategy:
        """Values of one definition."""
        if name not in self._made:
            self._made[name] = st.deferred(lambda: self._node(self.schema.definitions[name], name))
        return self._made[name]

    def _node(self, node: Node, name: str) -> Strategy:
        if "$ref" in node:
            return self.definition(node["$ref"].rsplit("/", 1)[1])
        if "const" in node:
            return st.just(node["const"])
        types_ = node.get("type")
        if node.get("properties") or any(key in node for key in ("allOf", "anyOf", "oneOf")):
            return self._composed(node, name)
        if isinstance(types_, list):
            return st.none() | self._plain(next(one for one in types_ if one != "null"), node, name)
        return JSON if types_ is None else self._plain(types_, node, name)

    def _composed(self, node: Node, name: str) -> Strategy:
        parts = [self._node(part, name) for part in node.get("allOf", ())]
        branches = node.get("anyOf") or node.get("oneOf")
        if branches:
            parts.append(st.one_of([self._node(branch, name) for branch in branches]))
        if not node.get("properties"):
            return parts[0] if len(parts) == 1 else st.tuples(*parts).map(_join)
        return st.tuples(self._object(node, name), *parts).map(_join)

    def _object(self, node: Node, name: str) -> Strategy:
        required: dict[str, Strategy] = {}
        optional: dict[str, Strategy] = {}
        for key, value in node["properties"].items():
            needed = key in node.get("required", ()) or f"{name}.{key}" in self.always
            into = required if needed else optional
            if "not" in node and value == {"type": "string"}:
                into[key] = WORDS.map(lambda text: f"_{text}")
            else:
                special = self._special(name, key)
                into[key] = self._node(value, name) if special is None else special
        return st.fixed_dictionaries(required, optional=optional)

    def _special(self, name: str, key: str) -> Strategy | None:
        return META if key == "_meta" else self.special.get(f"{name}.{key}")

    def _plain(self, kind: str, node: Node, name: str) -> Strategy:
        match kind:
            case "integer":
                low, high = BOUNDS[node["format"]]
                low, high = node.get("minimum", low), node.get("maximum", high)
                return st.sampled_from([low, high]) | st.integers(low, high)
            case "string":
                return WORDS.filter(lambda text: len(text) >= node.get("minLength", 0))
            case "array":
                items = self._node(node["items"], name)
                return st.lists(items, min_size=node.get("minItems", 0), max_size=2)
            case "object":
                inner = node.get("additionalProperties")
                if inner is None:
                    return st.just({})
                values = JSON if inner is True else self._node(inner, name)
                return st.dictionaries(WORDS, values, max_size=2)
            case "number" if "minimum" in node:
                return st.floats(node["minimum"], node["maximum"], width=32)
            case "number":
                return FLOATS
            case "boolean":
                return st.booleans()
            case _:
                return st.none()


def canonical(value: Any, false_by_default: set[str]) -> Any:
    """Without keys that are false and need not be there; null and absent stay apart."""
    if isinstance(value, dict):
        return {
            key: canonical(one, false_by_default)
            for key, one in value.items()
            if not (one is False and key in false_by_default)
        }
    if isinstance(value, list):
        return [canonical(one, false_by_default) for one in value]
    return value


def _join(parts: tuple[Any, ...]) -> Any:
    """One object of several; where two have a key, the branch knows better than the base."""
    joined: dict[str, Any] = {}
    for part in parts:
        joined.update(part)
    return joined


@dataclass
class FromTypes:
    """Structs as a program of ours would make them: every word known, nothing unstable left out.

    `special` gives strategies for structs that are several objects in one.
    """

    special: dict[type[Struct], Callable[[FromTypes], Strategy]] = field(default_factory=dict)
    _made: dict[Any, Strategy] = field(default_factory=dict)

    def struct(self, wanted: type[Struct]) -> Strategy:
        """Values of one struct."""
        if wanted not in self._made:
            self._made[wanted] = st.deferred(lambda: self._struct(wanted))
        return self._made[wanted]

    def _struct(self, wanted: type[Struct]) -> Strategy:
        special = self.special.get(wanted)
        return self.plain_struct(wanted) if special is None else special(self)

    def plain_struct(self, wanted: type[Struct], **fixed: Strategy) -> Strategy:
        """Values of one struct, with given strategies for some of its fields."""
        hints = get_type_hints(wanted, include_extras=True)
        required: dict[str, Strategy] = {}
        optional: dict[str, Strategy] = {}
        for info in msgspec.structs.fields(wanted):
            needed = info.default is NODEFAULT or info.name in fixed
            into = required if needed else optional
            given = info.name in fixed
            into[info.name] = fixed[info.name] if given else self.value(hints[info.name])
        return st.fixed_dictionaries(required, optional=optional).map(lambda kw: wanted(**kw))

    def value(self, wanted: Any) -> Strategy:
        """Values of an annotation."""
        bare = wanted
        pattern, shortest = False, 0
        while get_origin(bare) is Annotated:
            bare, *metadata = get_args(bare)
            metas = [mark for mark in metadata if isinstance(mark, msgspec.Meta)]
            pattern = pattern or any(meta.pattern for meta in metas)
            shortest = max([shortest, *(meta.min_length or 0 for meta in metas)])
        origin, args = get_origin(bare), get_args(bare)
        if origin in (Union, types.UnionType):
            return self._union(args)
        if origin is Literal:
            return st.sampled_from(args)
        if origin is list:
            return st.lists(self.value(args[0]), min_size=shortest, max_size=2)
        if origin is dict:
            return st.dictionaries(WORDS, self.value(args[1]), max_size=2)
        if bare is int:
            _, low, high = our_kind(wanted)[0]
            return st.sampled_from([low, high]) | st.integers(low, high)
        if bare is str:
            return PATHS if pattern else WORDS.filter(lambda text: len(text) >= shortest)
        if isinstance(bare, type) and issubclass(bare, Struct):
            return self.struct(bare)
        plain: dict[Any, Strategy] = {
            bool: st.booleans(),
            float: FLOATS,
            bytes: st.binary(max_size=8),
            Raw: JSON.map(lambda value: Raw(json.dumps(value).encode())),
            types.NoneType: st.none(),
            UnsetType: st.just(UNSET),
        }
        return plain[bare]

    def _union(self, args: tuple[Any, ...]) -> Strategy:
        if any(get_origin(arg) is Literal for arg in args):
            args = tuple(arg for arg in args if arg is not str)
        return st.one_of([self.value(arg) for arg in args])
