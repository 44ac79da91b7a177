"""Our wire types as the same shapes as the official schema, and what differs between the two.

A version's test hands over its package and a `Book`: how each definition is represented where the
representation is not simply a type of that name.  Must not know: any version.
"""

import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, Raw, Struct, UnsetType

from accord.schema.enumeration import Enumeration
from accord.schema.method import Method
from tests.schema.official_schema import Kind, Leaf, Official, Property, Schema, merged


@dataclass(frozen=True)
class Book:
    """Where and why a definition is not a type of ours of the same name."""

    package: Any
    enums: dict[str, Enumeration]
    # Definition: why we have no type for it.
    exempt: dict[str, str]
    # Definition: the struct of ours that stands for it.
    renamed: dict[str, str] = field(default_factory=dict)
    # Definition whose keys are part of another one: that one.
    parts: dict[str, str] = field(default_factory=dict)
    # Struct: the definitions that it stands for together.
    together: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # Definition: what it is where it is referred to.
    kinds: dict[str, Any] = field(default_factory=dict)
    # Type of ours that no definition stands for: why.
    ours_alone: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OurField:
    """A field of a struct: its shape and whether it is marked unstable."""

    shape: Property
    unstable: bool


def structs_of(wanted: Any) -> tuple[type[Struct], ...]:
    """The structs of an annotation: those of a union, or the one struct."""
    if get_origin(wanted) is Annotated:
        return structs_of(get_args(wanted)[0])
    if isinstance(wanted, type) and issubclass(wanted, Struct):
        return (wanted,)
    if get_origin(wanted) in (Union, types.UnionType):
        return tuple(one for part in get_args(wanted) for one in structs_of(part))
    return ()


def our_fields(struct: type[Struct]) -> dict[str, OurField]:
    """The fields of a struct by their key on the wire."""
    hints = get_type_hints(struct, include_extras=True)
    found: dict[str, OurField] = {}
    for info in msgspec.structs.fields(struct):
        required = info.default is NODEFAULT and info.default_factory is NODEFAULT
        marks = list(_marks(hints[info.name]))
        tolerance = "".join(mark.get("tolerance", "") for mark in marks)
        kind, nullable = our_kind(hints[info.name])
        found[info.encode_name] = OurField(
            Property(kind, required, nullable, "".join(m for m in "ESZ" if m in tolerance)),
            any(mark.get("unstable") for mark in marks),
        )
    return found


def has_gate(capabilities: type[Struct], gate: str) -> bool:
    """Whether a dotted path leads through the fields of a capabilities object."""
    steps: tuple[type[Struct], ...] = (capabilities,)
    for key in gate.split("."):
        if not steps:
            return False
        names = {info.encode_name: info.name for info in msgspec.structs.fields(steps[0])}
        if key not in names:
            return False
        steps = structs_of(get_type_hints(steps[0], include_extras=True)[names[key]])
    return True


def misplaced(official: Official, package: Any, *tables: dict[str, Method]) -> list[str]:
    """Messages that the tables do not have in the right row, and rows that the schema lacks."""
    rows: dict[tuple[str, str], list[Method]] = {}
    for row in (row for one in tables for row in one.values()):
        side = "protocol" if row.name.startswith("$/") else row.side
        rows.setdefault((side, row.name), []).append(row)
    wrong: list[str] = []
    messages = official.messages()
    for name, place in messages.items():
        ours = getattr(package, name, None)
        if name.endswith("Response"):
            matching = [row for row in rows.get(place, ()) if row.result == ours]
        else:
            kind = "notification" if name.endswith("Notification") else "request"
            found = [row for row in rows.get(place, ()) if row.params == ours]
            matching = [row for row in found if row.kind == kind]
        stable = name in official.stable.definitions
        if not matching or any(row.unstable == stable for row in matching):
            wrong.append(f"{name} of {place}")
    return wrong + [f"{method} of {side}" for side, method in set(rows) - set(messages.values())]


def _marks(wanted: Any) -> Iterator[dict[str, Any]]:
    while get_origin(wanted) is Annotated:
        wanted, *metadata = get_args(wanted)
        for mark in metadata:
            if isinstance(mark, msgspec.Meta) and mark.extra:
                yield mark.extra


def our_kind(wanted: Any) -> tuple[Kind, bool]:
    """What a value of an annotation is, and whether it may be null."""
    metas: list[msgspec.Meta] = []
    while get_origin(wanted) is Annotated:
        wanted, *metadata = get_args(wanted)
        metas += [mark for mark in metadata if isinstance(mark, msgspec.Meta)]
    origin, args = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        return _our_union(wanted)
    if origin is Literal:
        return ("enum", frozenset(args)), False
    if origin is list:
        return (
            "array",
            our_kind(args[0])[0],
            max([m.min_length or 0 for m in metas] or [0]),
        ), False
    if origin is dict:
        return ("map", our_kind(args[1])[0]), False
    if wanted is int:
        low = max([meta.ge for meta in metas if meta.ge is not None])
        high = min([meta.le for meta in metas if meta.le is not None] or [2**64 - 1])
        return ("integer", low, high), False
    if wanted in (str, bytes):
        return ("string", max([meta.min_length or 0 for meta in metas] or [0])), False
    plain = {float: ("number",), bool: ("boolean",), Raw: ("any",)}
    if wanted in plain:
        return plain[wanted], False
    return ("structs", frozenset(one.__name__ for one in structs_of(wanted))), False


def _our_union(wanted: Any) -> tuple[Kind, bool]:
    args = [arg for arg in _flat(wanted) if arg is not UnsetType]
    nullable = types.NoneType in args
    rest = [arg for arg in args if arg is not types.NoneType]
    literals = [arg for arg in rest if get_origin(arg) is Literal]
    if literals:
        # `Literal[...] | str`: on input every enum is open.
        return ("enum", frozenset(value for one in literals for value in get_args(one))), nullable
    names = frozenset(one.__name__ for arg in rest for one in structs_of(arg))
    if names:
        return ("structs", names), nullable
    kinds = frozenset(our_kind(arg)[0] for arg in rest)
    return (next(iter(kinds)) if len(kinds) == 1 else ("oneof", kinds)), nullable


def _flat(wanted: Any) -> list[Any]:
    if get_origin(wanted) in (Union, types.UnionType):
        return [part for arg in get_args(wanted) for part in _flat(arg)]
    return [wanted]


class Comparison:
    """Walks every definition of a version and collects what differs, one line each."""

    def __init__(self, official: Official, book: Book) -> None:
        self._official = official
        self._book = book
        self.differences: set[str] = set()
        self.covered: set[str] = set()

    def run(self) -> set[str]:
        """Compare everything, in both directions."""
        for name in self._official.unstable.definitions:
            self._definition(name)
        for struct, definitions in self._book.together.items():
            self._together(struct, definitions)
        self._parts()
        names = {name for name in self._book.package.__all__ if self._is_struct(name)}
        self.differences |= {
            f"{name}: no definition stands for it"
            for name in names - self.covered - set(self._book.ours_alone)
        }
        self.differences |= {
            f"{name}: listed as ours alone, but compared"
            for name in self.covered & set(self._book.ours_alone)
        }
        return self.differences

    def _is_struct(self, name: str) -> bool:
        value = getattr(self._book.package, name)
        return isinstance(value, type) and issubclass(value, Struct) and value.__name__ == name

    def _definition(self, name: str) -> None:
        book = self._book
        together = {one for names in book.together.values() for one in names}
        if name in book.exempt or name in book.parts or name in book.kinds:
            return
        if name in together and not hasattr(book.package, name):
            return
        words = self._official.unstable.enumeration(name)
        if words is not None and name in book.enums:
            self._words(name, words)
            return
        ours = getattr(book.package, book.renamed.get(name, name), None)
        if ours is None:
            self.differences.add(f"{name}: missing")
            return
        structs = structs_of(ours)
        if not structs:
            self._scalar(name, ours)
        elif len(structs) == 1:
            self._struct(structs[0], self._leaves(name), name)
        else:
            self._union(name, structs)

    def _leaves(self, name: str) -> tuple[list[Leaf], list[Leaf] | None]:
        """The leaves in the unstable schema and, if the definition is there, in the stable one."""
        stable = self._official.stable
        return (
            self._official.unstable.leaves(name),
            stable.leaves(name) if name in stable.definitions else None,
        )

    def _words(self, name: str, words: tuple[frozenset[str], bool]) -> None:
        ours = self._book.enums[name]
        if frozenset(ours.values) != words[0]:
            self.differences.add(f"{name}: values {sorted(words[0])}, ours {sorted(ours.values)}")
        if ours.open != words[1]:
            self.differences.add(f"{name}: open is {words[1]}, ours {ours.open}")
        if ours.unstable == (name in self._official.stable.definitions):
            self.differences.add(f"{name}: marked unstable: {ours.unstable}")

    def _scalar(self, name: str, ours: Any) -> None:
        theirs = self._official.unstable.kind({"$ref": f"#/$defs/{name}"})
        if theirs[0] == ("definition", name):
            theirs = self._official.unstable.kind(self._official.unstable.definitions[name])
        if our_kind(ours) != theirs:
            self.differences.add(f"{name}: is {theirs}, ours {our_kind(ours)}")

    def _union(self, name: str, structs: tuple[type[Struct], ...]) -> None:
        tag_field = structs[0].__struct_config__.tag_field
        leaves, stable = self._leaves(name)
        known = {struct.__struct_config__.tag for struct in structs}
        for leaf in leaves:
            if not leaf.other and leaf.consts.get(str(tag_field)) not in known:
                self.differences.add(f"{name}: variant {leaf.consts} is missing")
        for struct in structs:
            tag = struct.__struct_config__.tag
            mine = [leaf for leaf in leaves if leaf.consts.get(str(tag_field)) == tag]
            if not mine:
                self.differences.add(f"{name}: has no variant {tag!r}")
                continue
            old = [leaf for leaf in stable or () if leaf.consts.get(str(tag_field)) == tag]
            self._struct(struct, (mine, old or None), f"{name}({tag})")

    def _together(self, name: str, definitions: tuple[str, ...]) -> None:
        struct = getattr(self._book.package, name)
        every = [self._leaves(one) for one in definitions]
        leaves = [leaf for now, _ in every for leaf in now]
        stable = [leaf for _, old in every for leaf in old or ()]
        self._struct(struct, (leaves, stable or None), name)

    def _struct(
        self, struct: type[Struct], leaves: tuple[list[Leaf], list[Leaf] | None], where: str
    ) -> None:
        self.covered.add(struct.__name__)
        now, old = leaves
        theirs = merged([leaf for leaf in now if not leaf.other])
        stable = None if old is None else merged([leaf for leaf in old if not leaf.other])
        config = struct.__struct_config__
        if config.tag_field is not None and config.tag_field in theirs:
            if theirs[config.tag_field].kind != ("enum", frozenset({config.tag})):
                self.differences.add(f"{where}: tag {config.tag!r}")
            del theirs[config.tag_field]
        if getattr(struct, "__unstable__", False) != (stable is None):
            self.differences.add(f"{where}: marked unstable: {stable is not None}")
        ours = our_fields(struct)
        for key in ours.keys() - theirs.keys():
            self.differences.add(f"{where}.{key}: ours alone")
        for key, theirs_one in theirs.items():
            if key not in ours:
                self.differences.add(f"{where}.{key}: missing")
                continue
            self._property(f"{where}.{key}", theirs_one, ours[key].shape)
            new = stable is not None and key not in stable
            if ours[key].unstable != new:
                self.differences.add(f"{where}.{key}: marked unstable: {ours[key].unstable}")

    def _property(self, where: str, theirs: Property, ours: Property) -> None:
        pairs = {
            "is": (self._resolved(theirs.kind), ours.kind),
            "required": (theirs.required, ours.required),
            "nullable": (theirs.nullable, ours.nullable),
            "tolerance": (theirs.tolerance, ours.tolerance),
        }
        for what, (one, two) in pairs.items():
            if one != two:
                self.differences.add(f"{where}: {what} {_shown(one)}, ours {_shown(two)}")

    def _resolved(self, kind: Kind) -> Kind:
        """The same kind with our structs in the place of definitions."""
        match kind:
            case ("definition", str(name)):
                if name in self._book.kinds:
                    return our_kind(self._book.kinds[name])[0]
                ours = getattr(self._book.package, self._book.renamed.get(name, name), None)
                names = frozenset(one.__name__ for one in structs_of(ours))
                return ("structs", names)
            case (("array" | "map") as outer, inner, *rest):
                return (outer, self._resolved(inner), *rest)
            case _:
                return kind

    def _parts(self) -> None:
        """A definition that is said to be part of others must be flattened into that one."""
        for name, owner in self._book.parts.items():
            fresh = Schema(self._official.unstable.document)
            fresh.leaves(owner)
            if name not in fresh.flattened:
                self.differences.add(f"{name}: is not part of {owner}")


def _shown(value: object) -> str:
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(_shown, value))) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_shown, value)) + ")"
    return str(value)
