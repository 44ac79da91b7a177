"""The draft's methods: every message round-trips, and broken ones are refused with a path."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import inspect

from accord.schema.codec import Invalid, decode, decode_slowly, encode, to_python
from accord.schema.draft import AGENT_METHODS, CLIENT_METHODS
from accord.schema.method import Method
from tests.schema.draft.examples import PARAMS, RESULTS
from tests.schema.draft.strategies import values

METHODS: dict[str, Method] = {**AGENT_METHODS, **CLIENT_METHODS}
TYPES: list[Any] = [
    wanted
    for method in METHODS.values()
    for wanted in (method.params, method.result)
    if wanted is not None
]


def _required(wanted: Any) -> list[str]:
    node = inspect.type_info(wanted)
    if not isinstance(node, inspect.StructType):
        return []
    return [one.encode_name for one in node.fields if one.required]


@pytest.mark.parametrize(("name", "value"), PARAMS)
def test_the_params_of_each_method_survive_a_round_trip(name: str, value: dict[str, Any]) -> None:
    """Ours: what we read and write again is what was sent, in strict mode too."""
    decoded = decode(METHODS[name].params, encode(value), strict=True)
    assert to_python(encode(decoded)) == value


@pytest.mark.parametrize(("name", "value"), RESULTS)
def test_the_result_of_each_method_survives_a_round_trip(name: str, value: dict[str, Any]) -> None:
    """Ours: as for params."""
    decoded = decode(METHODS[name].result, encode(value), strict=True)
    assert to_python(encode(decoded)) == value


def test_there_is_an_example_of_every_method() -> None:
    """Ours: a method without an example would pass the round trips unseen."""
    assert {name for name, _ in PARAMS} == set(METHODS)
    assert {name for name, _ in RESULTS} == {
        name for name, method in METHODS.items() if method.kind == "request"
    }


@pytest.mark.parametrize(
    ("name", "value", "key"),
    [
        (name, value, key)
        for name, value in PARAMS + RESULTS
        for wanted in (METHODS[name].params if (name, value) in PARAMS else METHODS[name].result,)
        for key in _required(wanted)
    ],
)
def test_a_message_without_a_required_key_is_refused_by_name(
    name: str, value: dict[str, Any], key: str
) -> None:
    """D26-04 and its like: what is required is demanded, and the path says what is missing."""
    rest = {other: item for other, item in value.items() if other != key}
    method = METHODS[name]
    wanted = method.params if (name, value) in PARAMS else method.result
    with pytest.raises(Invalid) as caught:
        decode(wanted, encode(rest))
    assert caught.value.path == f"$.{key}"


@given(st.sampled_from(TYPES).flatmap(lambda wanted: st.tuples(st.just(wanted), values(wanted))))
@settings(max_examples=200)
def test_any_value_of_any_type_survives_a_round_trip(pair: tuple[Any, Any]) -> None:
    """Ours: for all values, by the native decoder and by the tolerant reader alike."""
    wanted, value = pair
    text = encode(value)
    assert decode(wanted, text) == value
    assert encode(decode_slowly(wanted, text)) == text


def test_each_side_handles_its_own_methods() -> None:
    """The draft: output is pushed to the agent; updates and services belong to the client."""
    assert all(method.side == "agent" for method in AGENT_METHODS.values())
    assert all(method.side == "client" for method in CLIENT_METHODS.values())
    assert AGENT_METHODS["terminal/output"].kind == "request"
    assert "terminal/output" not in CLIENT_METHODS
    notifications = {name for name, method in METHODS.items() if method.kind == "notification"}
    assert notifications == {"session/update", "session/cancel"}


@pytest.mark.parametrize(
    ("name", "gate"), [(name, m.gate) for name, m in METHODS.items() if m.gate is not None]
)
def test_a_gate_names_a_capability_of_the_side_that_handles_the_method(
    name: str, gate: str
) -> None:
    """Ours: a gate that no capability has would close the method for ever."""
    request = METHODS["initialize"]
    method = METHODS[name]
    node: Any = inspect.type_info(request.result if method.side == "agent" else request.params)
    for key in ("capabilities", *gate.split(".")):
        while isinstance(node, inspect.Metadata):
            node = node.type
        node = next(one.type for one in node.fields if one.encode_name == key)


def test_only_the_planned_method_is_unstable() -> None:
    """The draft lists `_mcp/request` among its plans."""
    assert [name for name, method in METHODS.items() if method.unstable] == ["_mcp/request"]
