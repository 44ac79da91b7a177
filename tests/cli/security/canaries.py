"""Secrets planted in every string of every message of every version.

Each secret is another one, so that one that was recognised says nothing about the others.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Raw, Struct

from accord.schema.method import Method

Path = tuple[str | int, ...]
VERSIONS = ("v1", "v2", "draft")
KNOWN = "zq-canary999999-known"
"""The value of a secret variable; the tests put it into the environment."""

FORMS = (
    "sk-canary{0:06d}abcdef",
    "use ghp_canary{0:06d}abcdefghij here",
    "AKIACANARY{0:010d}",
    "eyJcanary{0:06d}.canary{0:06d}.sig",
    "Authorization: Bearer canary{0:06d}abcdef",
    "export MY_API_KEY=canary{0:06d}abcdef",
    "run --token canary{0:06d}abcdef --fast",
    "https://me:canary{0:06d}@example.org/x",
    "\u200bsk-can\u200bary{0:06d}abcdef",
    f"it is {KNOWN} there",
)
FOUND = re.compile(r"(?i)can\u200b?ary0*(\d+)")


# Some of the strings are pieces of one text, so each ends with a word.
PLAIN = "x "


@dataclass(frozen=True)
class Sample:
    """A value, and which of its strings no sample before it had."""

    value: Any
    fresh: tuple[Path, ...]


@dataclass(frozen=True)
class Planted:
    """A message with a secret in it."""

    number: int
    version: str
    method: str
    # The side that sends it, and whether it is params, a result or an error.
    sender: str
    part: str
    path: Path
    message: dict[str, Any] = field(repr=False)

    @property
    def is_identifier(self) -> bool:
        """Whether the secret stands in an id."""
        key = self.path[-1] if self.path else ""
        return isinstance(key, str) and (key == "id" or key.endswith(("Id", "_id")))


def samples(wanted: Any, above: tuple[Any, ...] = ()) -> list[Sample]:
    """Values of an annotation that have each of its strings, and each of its variants, once."""
    while get_origin(wanted) is Annotated:
        wanted = get_args(wanted)[0]
    origin, args = get_origin(wanted), get_args(wanted)
    if origin in (Union, types.UnionType):
        return [one for arg in args for one in samples(arg, above)]
    if origin is Literal:
        return [Sample(args[0], ())]
    if origin is list:
        return [Sample([one.value], _under(0, one.fresh)) for one in samples(args[0], above)]
    if origin is dict:
        inner = samples(args[1], above)
        return [Sample({"k": one.value}, _under("k", one.fresh)) for one in inner]
    if isinstance(wanted, type) and issubclass(wanted, Struct):
        return [] if wanted in above else _struct(wanted, (*above, wanted))
    if wanted is Raw or wanted is Any:
        return [Sample({"note": PLAIN}, (("note",),)), Sample(PLAIN, ((),))]
    plain: dict[Any, Any] = {int: 1, float: 1.0, bool: True, str: PLAIN, bytes: "AAAA"}
    if wanted not in plain:
        return []
    return [Sample(plain[wanted], ((),) if wanted is str else ())]


def _struct(wanted: type[Struct], above: tuple[Any, ...]) -> list[Sample]:
    hints = get_type_hints(wanted, include_extras=True)
    base: dict[str, Any] = {}
    config = wanted.__struct_config__
    if config.tag is not None:
        base[config.tag_field or "type"] = config.tag
    fresh: list[Path] = []
    variants: list[tuple[str, Sample]] = []
    for info in msgspec.structs.fields(wanted):
        found = samples(hints[info.name], above)
        for one in found[:1]:
            base[info.encode_name] = one.value
            fresh += _under(info.encode_name, one.fresh)
        variants += [(info.encode_name, one) for one in found[1:]]
    made = [Sample(base, tuple(fresh))]
    for name, one in variants:
        made.append(Sample({**base, name: one.value}, tuple(_under(name, one.fresh))))
    return made


def _under(key: str | int, paths: tuple[Path, ...]) -> tuple[Path, ...]:
    return tuple((key, *one) for one in paths)


def planted() -> Iterator[Planted]:
    """Every message, once for each of its strings."""
    number = 0
    for version, method, handler in _methods():
        sender = "client" if handler == "agent" else "agent"
        parts = [("params", method.params, sender)]
        if method.kind == "request":
            parts.append(("result", method.result, handler))
        for part, wanted, who in parts:
            for sample in _with_updates(version, method, part, wanted):
                for path in sample.fresh:
                    number += 1
                    value = replaced(sample.value, path, secret(number))
                    message = _message(method, part, value)
                    yield Planted(number, version, method.name, who, part, path, message)
        for path in (("message",), ("data",), ("data", "why")):
            number += 1
            data: Any = {"why": "x"} if len(path) > 1 else "x"
            error = {"code": -32603, "message": "x", "data": data}
            message = _message(method, "error", replaced(error, path, secret(number)))
            yield Planted(number, version, method.name, handler, "error", path, message)


def _with_updates(version: str, method: Method, part: str, wanted: Any) -> Iterator[Sample]:
    if version == "draft" and method.name == "session/update" and part == "params":
        # What an update of the draft holds depends on its type, which stands beside it.
        for name, data in import_module("accord.schema.draft.updates").UPDATE_TYPES.items():
            for one in samples(data):
                value = {"sessionId": "s", "type": name, "data": one.value}
                yield Sample(value, _under("data", one.fresh))
        return
    yield from samples(wanted)


SIDES: tuple[Literal["agent", "client"], ...] = ("agent", "client")
KINDS: tuple[Literal["request", "notification"], ...] = ("request", "notification")


def _methods() -> Iterator[tuple[str, Method, str]]:
    for version in VERSIONS:
        module = import_module(f"accord.schema.{version}.methods")
        tables = [("agent", module.AGENT_METHODS), ("client", module.CLIENT_METHODS)]
        for handler, table in tables:
            for method in table.values():
                yield version, method, handler
        for side in SIDES:
            for kind in KINDS:
                result = Raw if kind == "request" else None
                yield version, Method(f"_vendor/{kind}", side, kind, Raw, result), side


def secret(number: int) -> str:
    """The secret of this number, each in another form than the one before."""
    return FORMS[number % len(FORMS)].format(number) + " "


def _message(method: Method, part: str, value: Any) -> dict[str, Any]:
    if part == "params":
        named: dict[str, Any] = {"jsonrpc": "2.0", "method": method.name, "params": value}
        return named if method.kind == "notification" else {**named, "id": 1}
    return {"jsonrpc": "2.0", "id": 1, part: value}


def replaced(value: Any, path: Path, text: str) -> Any:
    """The value with another string there."""
    if not path:
        return text
    key, *rest = path
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[key] = replaced(copy[key], tuple(rest), text)
    return copy


def numbers_in(text: str) -> set[int]:
    """Which secrets stand in a text."""
    return {int(one) for one in FOUND.findall(text)} | ({999999} if KNOWN in text else set())
