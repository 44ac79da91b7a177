"""Checks that a message has the type of its method in the current dialect.

Must not know conversations: it checks one message at a time.

What always holds: a message is decoded natively; the slow, strict decoding for unknown keys is done
once per shape, since recordings have very many messages of few shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from accord.protocol.negotiation import Dialect
from accord.schema.codec import Invalid, encode
from accord.schema.method import Method
from accord.tracing.frames import Speaker
from accord.tracing.validation.dialects import DIALECTS

SHAPES_MAX = 10_000
"""Shapes to remember; beyond that every message is decoded strictly."""

_TAGS = frozenset({"type", "sessionUpdate", "kind", "status", "outcome", "state", "mode", "role"})


def methods_of(dialect: Dialect, handler: Speaker) -> Mapping[str, Method]:
    """Return the methods that a side handles."""
    module = import_module(f"accord.schema.{dialect}.methods")
    found: dict[str, Method] = {}
    for table in DIALECTS[dialect].more_methods:
        found.update(getattr(module, table))
    found.update(module.AGENT_METHODS if handler == "agent" else module.CLIENT_METHODS)
    return found


class TypeCheck:
    """Finds faults in params and results.  Guards: a shape is decoded strictly once."""

    def __init__(self) -> None:
        self._seen: set[object] = set()

    def params(self, method: Method, params: object, *, strict: bool = True) -> Fault | None:
        """Return what is wrong with the params of a request or notification."""
        raw = encode(params)
        notes: list[str] = []
        try:
            method.decode_params(raw, notes=notes)
        except Invalid as error:
            return Fault(str(error))
        return _note(notes) or self._strictly(method, "params", params, raw, strict)

    def result(self, method: Method, result: object) -> Fault | None:
        """Return what is wrong with the result of a request."""
        if method.result is None:
            return None
        raw = encode(result)
        notes: list[str] = []
        try:
            method.decode_result(raw, notes=notes)
        except Invalid as error:
            return Fault(str(error))
        # Older documents have null instead of an object, which is tolerated.
        return _note(notes) or self._strictly(method, "result", result, raw, result is not None)

    def _strictly(
        self, method: Method, part: str, value: object, raw: bytes, strict: bool
    ) -> Fault | None:
        if not strict:
            return None
        shape = (method.name, method.side, part, _shape(value))
        if shape in self._seen:
            return None
        try:
            if part == "params":
                method.decode_params(raw, strict=True)
            else:
                method.decode_result(raw, strict=True)
        except Invalid as error:
            if error.reason == "unknown key":
                return Fault(str(error), unknown_key=True)
            if error.reason.startswith("unknown variant '_"):
                return None
            return Fault(str(error))
        if len(self._seen) < SHAPES_MAX:
            self._seen.add(shape)
        return None


class Fault:
    """A fault of a message, as a sentence."""

    __slots__ = ("reason", "unknown_key")

    def __init__(self, reason: str, *, unknown_key: bool = False) -> None:
        self.reason = reason
        self.unknown_key = unknown_key


def _note(notes: list[str]) -> Fault | None:
    for note in notes:
        if not note.startswith(("unknown variant '_", "null, read as")):
            return Fault(note)
    return None


def _shape(value: Any) -> object:
    """Reduce a value to its shape: keys, tags and types, without texts and numbers."""
    if isinstance(value, dict):
        return tuple(
            (key, member if key in _TAGS and isinstance(member, str) else _shape(member))
            for key, member in value.items()
        )
    if isinstance(value, list):
        return ("list", frozenset(map(_shape, value)))
    return type(value).__name__
