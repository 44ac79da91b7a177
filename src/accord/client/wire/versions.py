"""The wire forms of the official versions, each loaded when an agent is found to speak it."""

from importlib import import_module
from typing import Protocol

from accord.client.wire.wire_interface import Wire
from accord.schema.codec import Report

_PLACES: dict[str, tuple[str, str]] = {
    "v1": ("accord.client.wire.v1.wire", "WireV1"),
    "v2": ("accord.client.wire.v2.wire", "WireV2"),
}


class MakeWire(Protocol):
    """The class of a wire form."""

    def __call__(self, *, strict: bool, report: Report) -> Wire:
        """Make one for a connection."""
        ...


def wire_of(dialect: str) -> MakeWire:
    """The wire form of an official version."""
    module, name = _PLACES[dialect]
    make: MakeWire = getattr(import_module(module), name)
    return make
