"""The tolerant reader: walks a type's annotations over JSON text, one level at a time.

It is slow and only runs on input that the native decoder refused.  Each level is split into its
members as raw text, so what is not understood is never parsed, and numbers too big for Python
pass through.  A member that the native decoder takes is taken as it is; only the rest is walked.

What always holds
    * A known tag with a bad payload is refused, never called unknown.
    * An unknown tag becomes an UnknownVariant that holds the whole text.
    * A tolerance is used only where the field's annotation grants it, and is noted.
"""

import base64
import binascii
import re
import types
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, UNSET, Raw, Struct, UnsetType

from accord.schema.invalid import Invalid
from accord.schema.struct import UnknownVariant

_UINT64_MAX = 2**64 - 1


@dataclass(slots=True)
class _Reading:
    notes: list[str] | None
    strict: bool

    def tolerate(self, path: str, what: str) -> None:
        """Note a deviation that we can live with; in strict mode nothing is lived with."""
        if self.strict:
            raise Invalid(path, what)
        if self.notes is not None:
            self.notes.append(f"{what} (at {path})")


class Reader:
    """Reads one type, with all tolerances that its annotations grant."""

    def __init__(self, wanted: Any) -> None:
        self._wanted = wanted

    def read(self, raw: bytes, notes: list[str] | None, strict: bool) -> Any:
        """Return the value, or raise Invalid with the path of what cannot be tolerated."""
        return _read(raw, self._wanted, "$", _Reading(notes, strict))


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    key: str
    wanted: Any
    tolerance: str
    default: Any
    default_factory: Any

    @property
    def required(self) -> bool:
        return self.default is NODEFAULT and self.default_factory is NODEFAULT

    def empty(self) -> Any:
        """What the field holds when its value is tolerated away."""
        if self.default is not NODEFAULT:
            return self.default
        if self.default_factory is not NODEFAULT:
            return self.default_factory()
        if str in _members(self.wanted):
            return ""
        return {} if _is_map(self.wanted) else []


@cache
def _native(wanted: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(wanted)


@cache
def _fields(cls: Any) -> tuple[_Field, ...]:
    hints = get_type_hints(cls, include_extras=True)
    found: list[_Field] = []
    for info in msgspec.structs.fields(cls):
        wanted = hints[info.name]
        found.append(
            _Field(
                info.name,
                info.encode_name,
                wanted,
                _tolerance(wanted),
                info.default,
                info.default_factory,
            )
        )
    return tuple(found)


def _tolerance(wanted: Any) -> str:
    marks = ""
    while get_origin(wanted) is Annotated:
        wanted, *metadata = get_args(wanted)
        for mark in metadata:
            if isinstance(mark, msgspec.Meta) and mark.extra:
                marks += mark.extra.get("tolerance", "")
    return marks


def _bare(wanted: Any) -> Any:
    while get_origin(wanted) is Annotated:
        wanted = get_args(wanted)[0]
    return wanted


@cache
def _members(wanted: Any) -> tuple[Any, ...]:
    """The alternatives of a union, flattened, or the type itself; absence is not one of them."""
    wanted = _bare(wanted)
    if get_origin(wanted) in (Union, types.UnionType):
        parts = [part for arg in get_args(wanted) for part in _members_kept(arg)]
        return tuple(part for part in parts if part is not UnsetType)
    return (wanted,)


def _members_kept(wanted: Any) -> tuple[Any, ...]:
    """Like `_members`, but keeps the bounds of a plain member."""
    if get_origin(_bare(wanted)) in (Union, types.UnionType):
        return _members(wanted)
    return (wanted,)


def _min_length(*annotated: Any) -> int:
    """The length that an annotation demands; it may stand around the union or around a member."""
    lengths = [0]
    for wanted in annotated:
        while get_origin(wanted) is Annotated:
            wanted, *metadata = get_args(wanted)
            lengths += [mark.min_length or 0 for mark in metadata if isinstance(mark, msgspec.Meta)]
    return max(lengths)


def _is_map(wanted: Any) -> bool:
    return any(get_origin(_bare(member)) is dict for member in _members(wanted))


def _is_struct(wanted: Any) -> bool:
    return isinstance(wanted, type) and issubclass(wanted, Struct)


def _read(raw: bytes, wanted: Any, path: str, reading: _Reading) -> Any:
    members = _members(wanted)
    structs = [member for member in members if _is_struct(member)]
    structural = structs or any(get_origin(_bare(member)) in (list, dict) for member in members)
    refusal, within = "", ""
    if not (reading.strict and structural):
        try:
            value = _native(wanted).decode(raw)
        except msgspec.DecodeError as error:
            refusal, within = _reason(error), _place(error)
        else:
            if reading.strict:
                _require_known(value, members, path)
            return _bounded(value, path)
    text = raw.strip()
    if text == b"null" and any(member in (None, types.NoneType) for member in members):
        return None
    if structs:
        return _read_object(raw, structs, path, reading)
    for member in members:
        bare = _bare(member)
        if get_origin(bare) is list and text[:1] == b"[":
            items = _read_list(raw, get_args(bare)[0], path, reading, skip=False)
            if not items and _min_length(wanted, member):
                raise Invalid(path, refusal or "Expected `array` of length >= 1")
            return items
        if get_origin(bare) is dict and get_args(bare)[0] is str and text[:1] == b"{":
            return _read_map(raw, get_args(bare)[1], path, reading)
        if bare is bytes and text[:1] == b'"':
            return _read_bytes(raw, path, reading)
    if refusal:
        raise Invalid(path + within, refusal)
    return _decode_or_refuse(raw, wanted, path)


def _require_known(value: Any, members: tuple[Any, ...], path: str) -> None:
    """Refuse a word that is not on its list; names that start with `_` are extensions."""
    known = [word for member in members for word in get_args(_bare(member)) if _is_literal(member)]
    if known and isinstance(value, str) and value not in known and not value.startswith("_"):
        raise Invalid(path, f"unknown value {value!r}")


def _is_literal(wanted: Any) -> bool:
    return get_origin(_bare(wanted)) is Literal


def _bounded(value: Any, path: str) -> Any:
    if type(value) is int and value > _UINT64_MAX:
        raise Invalid(path, "Expected `int` <= 2**64 - 1")
    return value


def _reason(error: msgspec.DecodeError) -> str:
    """msgspec's words without its own path, and a person's words for a relative path."""
    text = str(error).split(" - at ")[0]
    return "Expected an absolute path" if "matching regex '^(/|" in text else text


def _place(error: msgspec.DecodeError) -> str:
    """Where msgspec stopped, below where it began: types that are not ours are walked by it."""
    text, _, place = str(error).partition(" - at `$")
    missing = re.search("missing required field `(.+)`$", text)
    return place.removesuffix("`") + (f".{missing[1]}" if missing else "")


def _decode_or_refuse(raw: bytes, wanted: Any, path: str) -> Any:
    try:
        return _native(wanted).decode(raw)
    except msgspec.DecodeError as error:
        raise Invalid(path + _place(error), _reason(error)) from None


def _split_object(raw: bytes, path: str) -> dict[str, Raw]:
    if raw.strip()[:1] != b"{":
        raise Invalid(path, "Expected `object`")
    members: dict[str, Raw] = _decode_or_refuse(raw, dict[str, Raw], path)
    return members


def _read_object(raw: bytes, structs: list[Any], path: str, reading: _Reading) -> Any:
    members = _split_object(raw, path)
    first = structs[0].__struct_config__
    if first.tag_field is None:
        unknown = _unknown_kind(raw, members, structs[0], path, reading)
        return unknown or _read_struct(members, structs[0], path, reading)
    closed = len(structs) == 1 and not getattr(structs[0], "__open__", False)
    tag = _read_tag(members, structs[0], closed, path, reading)
    for struct in structs:
        if struct.__struct_config__.tag == tag:
            return _read_struct(members, struct, path, reading)
    tag_path = f"{path}.{first.tag_field}"
    if closed:
        raise Invalid(tag_path, f"Invalid value {tag!r}")
    reading.tolerate(tag_path, f"unknown variant {tag!r}")
    return UnknownVariant(first.tag_field, tag, bytes(raw))


def _read_tag(
    members: dict[str, Raw], first: Any, closed: bool, path: str, reading: _Reading
) -> str:
    """The tag of an object, or the default that the first struct of its union names."""
    key = first.__struct_config__.tag_field
    default: str | None = getattr(first, "__default_tag__", None)
    if key not in members:
        if default is None:
            raise Invalid(f"{path}.{key}", "missing tag")
        reading.tolerate(f"{path}.{key}", f"missing tag, read as {default!r}")
        return default
    try:
        tag: str = _decode_or_refuse(bytes(members[key]), str, f"{path}.{key}")
    except Invalid:
        if default is None or not closed:
            raise
        tag = ""
    if default is None or not closed or tag == default:
        return tag
    # No choice between types: whatever it says, the object is of the only one there is.
    reading.tolerate(f"{path}.{key}", f"malformed tag, read as {default!r}")
    return default


def _unknown_kind(
    raw: bytes, members: dict[str, Raw], cls: Any, path: str, reading: _Reading
) -> UnknownVariant | None:
    """The variant that a struct for several, one of them without a tag, does not stand for.

    Such a struct names its tag and the tags it knows: `__kinds__ = ("type", {"string"})`.
    """
    kinds: tuple[str, frozenset[str]] | None = getattr(cls, "__kinds__", None)
    if kinds is None or kinds[0] not in members:
        return None
    key, known = kinds
    tag = _decode_or_refuse(bytes(members[key]), str, f"{path}.{key}")
    if tag in known:
        return None
    reading.tolerate(f"{path}.{key}", f"unknown variant {tag!r}")
    return UnknownVariant(key, tag, raw)


def _read_struct(members: dict[str, Raw], cls: Any, path: str, reading: _Reading) -> Any:
    for alias, key in getattr(cls, "__aliases__", {}).items():
        if alias in members and key not in members:
            reading.tolerate(f"{path}.{alias}", f"read as {key!r}")
            members[key] = members.pop(alias)
    fields = _fields(cls)
    if reading.strict:
        known = {entry.key for entry in fields} | {cls.__struct_config__.tag_field}
        for key in members:
            if key not in known:
                raise Invalid(f"{path}.{key}", "unknown key")
    # A key that older drafts did not have may be missing where the key that they had is there.
    instead = getattr(cls, "__instead__", {})
    values = {}
    for entry in fields:
        member = members.get(entry.key)
        if member is None:
            if not entry.required:
                continue
            if "A" not in entry.tolerance and instead.get(entry.key) not in members:
                raise Invalid(f"{path}.{entry.key}", "missing required key")
            reading.tolerate(f"{path}.{entry.key}", "missing, read as empty")
            values[entry.name] = entry.empty()
        else:
            value = _read_field(bytes(member), entry, f"{path}.{entry.key}", reading)
            if value is not UNSET:
                values[entry.name] = value
    try:
        return cls(**values)
    except ValueError as error:
        raise Invalid(path, str(error)) from None


def _read_field(raw: bytes, entry: _Field, path: str, reading: _Reading) -> Any:
    text = raw.strip()
    if "Z" in entry.tolerance and text == b"null":
        reading.tolerate(path, "null, read as empty")
        return entry.empty()
    if "S" in entry.tolerance and text[:1] == b"[":
        return _read_list(raw, _item(entry.wanted), path, reading, skip=True)
    try:
        return _read(raw, entry.wanted, path, reading)
    except Invalid as error:
        if "E" not in entry.tolerance or reading.strict:
            raise
        if "N" in entry.tolerance:
            reading.tolerate(error.path, f"malformed, read as null: {error.reason}")
            return None
        reading.tolerate(error.path, f"malformed, read as absent: {error.reason}")
        return entry.empty()


def _item(wanted: Any) -> Any:
    for member in _members(wanted):
        if get_origin(_bare(member)) is list:
            return get_args(_bare(member))[0]
    raise AssertionError("only lists skip items")


def _read_list(raw: bytes, item: Any, path: str, reading: _Reading, *, skip: bool) -> list[Any]:
    items: list[Raw] = _decode_or_refuse(raw, list[Raw], path)
    values: list[Any] = []
    for index, one in enumerate(items):
        try:
            values.append(_read(bytes(one), item, f"{path}[{index}]", reading))
        except Invalid as error:
            if not skip or reading.strict:
                raise
            reading.tolerate(error.path, f"bad item dropped: {error.reason}")
    return values


def _read_map(raw: bytes, item: Any, path: str, reading: _Reading) -> dict[str, Any]:
    members = _split_object(raw, path)
    return {
        key: _read(bytes(value), item, f"{path}.{key}", reading) for key, value in members.items()
    }


def _read_bytes(raw: bytes, path: str, reading: _Reading) -> bytes:
    """Base64 as MCP clients really send it: with line breaks, or without its padding."""
    text = "".join(_decode_or_refuse(raw, str, path).split())
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise Invalid(path, "Expected base64") from None
    reading.tolerate(path, "base64 with line breaks or without padding")
    return data
