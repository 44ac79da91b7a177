"""Writes web/frontend/src/wire/schema.json from the wire types of version 2.

python scripts/page_schema.py           writes the file
python scripts/page_schema.py --check   exit code 1 when the file is not what it would write

So the page reads messages by the same annotations as the Python client, tolerances included.  The
file has the types that a client receives; `web/frontend/src/wire/reader.ts` reads with it.
"""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, UNSET, Raw, Struct, UnsetType

from accord.schema import v2
from accord.schema.v2.tool_calls import ToolCallPatch
from accord.schema.v2.updates import SessionUpdate

FILE = Path(__file__).resolve().parent.parent / "web/frontend/src/wire/schema.json"

# What the page receives, by the name under which it asks for it.
ROOTS: dict[str, Any] = {
    "SessionUpdate": SessionUpdate,
    "ToolCallPatch": ToolCallPatch,
    "RequestPermissionRequest": v2.RequestPermissionRequest,
    "CreateElicitationRequest": v2.CreateElicitationRequest,
    "InitializeResponse": v2.InitializeResponse,
    "ListSessionsResponse": v2.ListSessionsResponse,
    "NewSessionResponse": v2.NewSessionResponse,
    "ResumeSessionResponse": v2.ResumeSessionResponse,
    "ForkSessionResponse": v2.ForkSessionResponse,
    "PromptResponse": v2.PromptResponse,
    "SetSessionConfigOptionResponse": v2.SetSessionConfigOptionResponse,
    "SessionStatusResponse": v2.SessionStatusResponse,
}
UINT64_MAX = 2**64 - 1
PLAIN = {str: "string", bool: "boolean", float: "number", bytes: "bytes", Raw: "any"}


class Schema:
    """Collects the structs that are reached from the roots."""

    def __init__(self) -> None:
        self.structs: dict[str, dict[str, Any]] = {}

    def node(self, wanted: Any) -> dict[str, Any]:
        """How a value of this type is read."""
        members = [one for one in _members(wanted) if one is not UnsetType]
        kept = [one for one in members if one not in (None, types.NoneType)]
        null = {} if len(kept) == len(members) else {"null": True}
        structs = [one for one in kept if isinstance(one, type) and issubclass(one, Struct)]
        if structs:
            assert len(structs) == len(kept), wanted
            return {**self._object(structs), **null}
        nodes: list[dict[str, Any]] = []
        for one in kept:
            node = self._plain(one, wanted)
            if node not in nodes:
                nodes.append(node)
        return {**(nodes[0] if len(nodes) == 1 else {"is": "either", "of": nodes}), **null}

    def _plain(self, member: Any, around: Any) -> dict[str, Any]:
        bare, bounds = _bounds(member)
        if get_origin(bare) is list:
            least = bounds.get("min_length") or _bounds(around)[1].get("min_length")
            of = {"is": "list", "of": self.node(get_args(bare)[0])}
            return {**of, "min": least} if least else of
        if get_origin(bare) is dict:
            return {"is": "map", "of": self.node(get_args(bare)[1])}
        if get_origin(bare) is Literal:
            # Known words; the type beside them says whether others are read too.
            words = get_args(bare)
            return {"is": "string"} if str in _members(around) else {"is": "word", "of": words}
        if bare is int:
            top = bounds.get("le", UINT64_MAX)
            return {"is": "integer", "min": bounds.get("ge", -(2**63)), "max": top}
        node: dict[str, Any] = {"is": PLAIN[bare]}
        names = {"ge": "min", "le": "max", "min_length": "min", "pattern": "pattern"}
        return node | {names[key]: bound for key, bound in bounds.items()}

    def _object(self, structs: list[type[Struct]]) -> dict[str, Any]:
        for struct in structs:
            self._collect(struct)
        first: Any = structs[0]
        tag_field = first.__struct_config__.tag_field
        if tag_field is None:
            node: dict[str, Any] = {"is": "object", "of": first.__name__}
            kinds = getattr(first, "__kinds__", None)
            return {**node, "tag": kinds[0], "known": sorted(kinds[1])} if kinds else node
        closed = len(structs) == 1 and not getattr(first, "__open__", False)
        node = {"is": "variant", "tag": tag_field, "closed": closed}
        default = getattr(first, "__default_tag__", None)
        if default is not None or len(structs) == 1:
            # msgspec does not ask a lone struct for its tag.
            node["default"] = default or first.__struct_config__.tag
        node["of"] = {str(one.__struct_config__.tag): one.__name__ for one in structs}
        return node

    def _collect(self, struct: Any) -> None:
        if struct.__name__ in self.structs:
            return
        entry: dict[str, Any] = {}
        self.structs[struct.__name__] = entry
        hints = get_type_hints(struct, include_extras=True)
        fields = {info.encode_name: info for info in msgspec.structs.fields(struct)}
        # Nearly all have it, and it always has the same form.
        if fields.pop("_meta", None) is not None:
            entry["meta"] = True
        entry["fields"] = {key: self._field(hints[info.name], info) for key, info in fields.items()}
        for name in ("aliases", "instead"):
            if found := getattr(struct, f"__{name}__", None):
                entry[name] = found
        check = getattr(struct, "__post_init__", None)
        # Integers have their bounds here anyway.
        if check is not None and "check_uint64" not in check.__code__.co_names:
            entry["checked"] = True

    def _field(self, wanted: Any, info: Any) -> dict[str, Any]:
        assert info.default in (UNSET, NODEFAULT), info
        assert info.default_factory is NODEFAULT, info
        node = self.node(wanted)
        if tolerance := _bounds(wanted)[1].get("tolerance"):
            node["tolerance"] = tolerance
        if info.default is NODEFAULT:
            node["required"] = True
        return node


def _bounds(wanted: Any) -> tuple[Any, dict[str, Any]]:
    """The type without what annotates it, and what that says."""
    found: dict[str, Any] = {}
    while get_origin(wanted) is Annotated:
        wanted, *marks = get_args(wanted)
        for mark in marks:
            extra = mark.extra or {}
            if "tolerance" in extra:
                found["tolerance"] = found.get("tolerance", "") + extra["tolerance"]
            for name in ("ge", "le", "min_length", "pattern"):
                if (bound := getattr(mark, name)) is not None:
                    found[name] = bound
    return wanted, found


def _members(wanted: Any) -> list[Any]:
    bare, _ = _bounds(wanted)
    if get_origin(bare) in (Union, types.UnionType):
        return [
            part for arg in get_args(bare) for part in (_members(arg) if _is_union(arg) else [arg])
        ]
    return [wanted if _bounds(wanted)[1] else bare]


def _is_union(wanted: Any) -> bool:
    return get_origin(_bounds(wanted)[0]) in (Union, types.UnionType)


def render() -> str:
    """Write one type in a line, so that a change shows which."""
    schema = Schema()
    roots = {name: schema.node(wanted) for name, wanted in ROOTS.items()}
    lines = ["{", '"roots": {', ",\n".join(_lines(roots)), "},"]
    lines += ['"structs": {', ",\n".join(_lines(dict(sorted(schema.structs.items())))), "}", "}"]
    return "\n".join(lines) + "\n"


def _lines(entries: dict[str, Any]) -> list[str]:
    return [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items()]


def main() -> int:
    """Write the file, or with `--check` compare it."""
    if "--check" in sys.argv[1:]:
        current = FILE.read_text(encoding="utf-8") == render()
        if not current:
            print("schema.json is out of date; run: python scripts/page_schema.py", file=sys.stderr)
        return 0 if current else 1
    FILE.write_text(render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
