"""Params of every method, whole and with one thing wrong at a time, made from the method tables."""

import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Raw, Struct, UnsetType

WRONG: tuple[Any, ...] = (
    None, True, 5, -1, 1.5, 2**70, "", "text", "\u0000", [], [None], [5], [[]], [{}], {}, {"a": []},
)  # fmt: skip


def whole(wanted: Any, key: str = "") -> Any:
    """A value with every key that the type knows."""
    patterned = False
    while get_origin(wanted) is Annotated:
        wanted, *marks = get_args(wanted)
        patterned = patterned or any(getattr(mark, "pattern", None) for mark in marks)
    origin, args = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        legal = [arg for arg in args if arg not in (UnsetType, types.NoneType)]
        return whole(legal[0], key)
    if origin is Literal:
        return args[0]
    if origin is list:
        return [whole(args[0], key)]
    if origin is dict:
        return {"key": whole(args[1], key)}
    if isinstance(wanted, type) and issubclass(wanted, Struct):
        return _object(wanted)
    if wanted is str:
        return "/tmp" if patterned else "text"
    plain: dict[Any, Any] = {bool: True, int: 1, float: 0.5, bytes: "aGk=", Raw: {"any": [1]}}
    return plain[wanted]


def _object(wanted: type[Struct]) -> dict[str, Any]:
    hints = get_type_hints(wanted, include_extras=True)
    config = wanted.__struct_config__
    value = {} if config.tag_field is None else {config.tag_field: config.tag}
    for info in msgspec.structs.fields(wanted):
        value[info.encode_name] = whole(hints[info.name], info.encode_name)
    return value


def spoilt(value: Any, path: str = "$") -> Iterator[tuple[str, Any]]:
    """Copies of a value, each with one thing wrong, and the path of that thing."""
    if isinstance(value, dict):
        for key, member in value.items():
            rest = {other: one for other, one in value.items() if other != key}
            yield f"{path}.{key} missing", rest
            for wrong in WRONG:
                if type(wrong) is not type(member) or wrong in ([None], [5], [[]], [{}]):
                    yield f"{path}.{key} = {wrong!r}", {**value, key: wrong}
            for where, inner in spoilt(member, f"{path}.{key}"):
                yield where, {**value, key: inner}
    elif isinstance(value, list):
        for where, inner in spoilt(value[0], f"{path}[0]"):
            yield where, [inner]
