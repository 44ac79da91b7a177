"""Capabilities: how a marker is read, and which methods it opens."""

from typing import Any

import pytest

from accord.protocol.capabilities import is_open, lacking, supports
from accord.schema.method import Method
from accord.schema.v1 import methods as v1
from accord.schema.v2 import methods as v2


@pytest.mark.parametrize(
    ("marker", "in_v1", "in_v2"),
    [
        (True, True, False),
        ({}, True, True),
        ({"any": 1}, True, True),
        (False, False, False),
        (None, False, False),
        (1, False, False),
        ("yes", False, False),
        ([], False, False),
    ],
)
def test_a_marker_counts_as_its_version_says(marker: object, in_v1: bool, in_v2: bool) -> None:
    """v1: true or an object.  v2: objects only.  Anything malformed is unsupported."""
    capabilities = {"session": {"fork": marker}}
    assert supports(capabilities, "session.fork", booleans=True) is in_v1
    assert supports(capabilities, "session.fork", booleans=False) is in_v2


@pytest.mark.parametrize("capabilities", [{}, {"fs": None}, {"fs": True}, {"fs": [1]}])
def test_what_is_missing_on_the_way_is_unsupported(capabilities: dict[str, Any]) -> None:
    """Ours: a path never raises, whatever the peer sent."""
    assert not supports(capabilities, "fs.readTextFile", booleans=True)


def test_a_method_without_a_gate_is_always_open() -> None:
    """The table's None."""
    assert is_open(Method("x", "agent", "request", dict, dict), {}, booleans=True)


def test_a_gate_with_alternatives_opens_by_any_of_them() -> None:
    """The table's `a | b`."""
    method = Method("x", "agent", "request", dict, dict, "one.a | two")
    assert not is_open(method, {"one": {}}, booleans=False)
    assert is_open(method, {"one": {"a": {}}}, booleans=False)
    assert is_open(method, {"two": {}}, booleans=False)


def test_every_gate_of_the_method_tables_is_a_path() -> None:
    """Ours: a gate with a stray blank or dot would close its method for ever."""
    tables = (v1.AGENT_METHODS, v1.CLIENT_METHODS, v2.AGENT_METHODS, v2.CLIENT_METHODS)
    for method in (one for table in tables for one in table.values() if one.gate is not None):
        assert method.gate is not None
        for path in method.gate.split("|"):
            capabilities: dict[str, Any] = {}
            for key in reversed(path.strip().split(".")):
                assert key.isidentifier(), method.gate
                capabilities = {key: capabilities}
            assert is_open(method, capabilities, booleans=True), method.name
        assert not is_open(method, {}, booleans=True), method.name


def test_what_lacks_is_named_in_the_order_asked() -> None:
    """For the refusal of a client that cannot do what an agent needs."""
    capabilities = {"fs": {"readTextFile": True}}
    wanted = ["terminal", "fs.readTextFile", "fs.writeTextFile"]
    assert lacking(capabilities, wanted, booleans=True) == ["terminal", "fs.writeTextFile"]
