"""Forms: what a field accepts, in both versions, and patterns that cannot hang anybody."""

from __future__ import annotations

import logging
import sys
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.client.services import forms
from accord.client.services.forms import Choice, FormField, FormRequest, found_in, read_form
from accord.schema import v1, v2
from accord.schema.codec import decode, encode
from tests.hang_limit import HANG_SECONDS

pytestmark = pytest.mark.anyio


def form(properties: dict[str, Any], version: Any = v2, **extra: Any) -> FormRequest:
    """A form as an agent of the version would send it."""
    params = {
        "mode": "form",
        "sessionId": "s",
        "message": "Please",
        "requestedSchema": {"type": "object", "properties": properties, **extra},
    }
    wanted: Any = version.CreateElicitationRequest
    return read_form(decode(wanted, encode(params)))


def problem(shape: dict[str, Any], value: object) -> str | None:
    """What is wrong with a value in a form of one field."""
    return form({"x": shape}).fields[0].problem(value)


GOOD_AND_BAD: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"type": "string"}, ["", "x"], [1, None, True, ["x"]]),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "äöü"], ["a", "abcd"]),
    ({"type": "string", "enum": ["a", "b"]}, ["a"], ["c", "A", 1]),
    ({"type": "string", "oneOf": [{"const": "a", "title": "Ah"}]}, ["a"], ["Ah"]),
    ({"type": "string", "format": "email"}, ["a@b"], ["a", "@b", "a@", "a b@c"]),
    ({"type": "string", "format": "uri"}, ["https://a", "mailto:x"], ["a", "https://a b", "//["]),
    ({"type": "string", "format": "date"}, ["2026-01-31"], ["2026-02-30", "20260131", "x"]),
    (
        {"type": "string", "format": "date-time"},
        ["2026-01-31T10:00:00Z", "2026-01-31T10:00:00.5+02:00"],
        ["2026-01-31", "2026-01-31T10:00:00", "2026-01-31 10:00:00Z", "x"],
    ),
    ({"type": "string", "format": "_future"}, ["anything"], []),
    ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
    ({"type": "number", "minimum": 1, "maximum": 2.5}, [1, 2.5], [0.9, 3, "1", True]),
    ({"type": "number"}, [0], [float("nan"), float("inf")]),
    ({"type": "integer", "minimum": -1}, [0, 3.0], [-2, 0.5, 2**63, True, "1"]),
    (
        {
            "type": "array",
            "items": {"type": "string", "enum": ["a", "b", "c"]},
            "minItems": 1,
            "maxItems": 2,
        },
        [["a"], ["a", "c"]],
        [[], ["a", "b", "c"], ["d"], "a", [1]],
    ),
    ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, [[], ["a"]], [["A"]]),
    ({"type": "_color"}, [], ["red", 1]),
    ({"type": "array", "items": {"type": "_color"}}, [], [[], ["red"]]),
]


@pytest.mark.parametrize(("shape", "good", "bad"), GOOD_AND_BAD)
@pytest.mark.rule("V1-ELIC-19", "V1-ELIC-22", "V1-ELIC-23")
def test_a_field_takes_what_its_schema_says(
    shape: dict[str, Any], good: list[Any], bad: list[Any]
) -> None:
    """Spec: values are validated; unknown formats are not a reason to refuse, unknown types are."""
    assert [value for value in good if problem(shape, value) is not None] == []
    assert [value for value in bad if problem(shape, value) is None] == []


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=3))
def test_any_value_gets_a_verdict(value: object) -> None:
    """Ours: whatever a callback returns, nothing but a verdict comes out."""
    for shape, _, _ in GOOD_AND_BAD:
        assert problem(shape, value) is None or problem(shape, value)


@pytest.mark.parametrize("version", [v1, v2])
def test_a_form_is_read_alike_in_both_versions(version: Any) -> None:
    """Ours: callbacks know no versions."""
    read = form(
        {
            "name": {"type": "string", "title": "Name", "default": "me", "pattern": "^m"},
            "color": {
                "type": "string",
                "oneOf": [{"const": "r", "title": "Red", "description": "warm"}],
                "default": "blue",
            },
            "odd": {"type": "_odd"},
        },
        version,
        title="A form",
        required=["name"],
    )
    name, color, odd = read.fields
    assert (read.title, read.message, read.session_id, read.request_id) == (
        "A form",
        "Please",
        "s",
        None,
    )
    assert name == FormField(
        name="name", type="string", title="Name", default="me", pattern="^m", required=True
    )
    assert color.choices == (Choice("r", "Red", "warm"),)
    assert (odd.type, odd.is_known) == ("_odd", False)
    # A default that is not a choice is none.
    assert read.defaults == {"name": "me"}


def test_v1_reads_a_form_without_properties() -> None:
    """Spec: v1 reads what is missing as empty."""
    params = {"mode": "form", "sessionId": "s", "message": "m", "requestedSchema": {}}
    wanted: Any = v1.CreateElicitationRequest
    assert read_form(decode(wanted, encode(params))).fields == ()


async def test_required_and_unknown_fields_are_checked() -> None:
    """Spec: values are validated before they are sent."""
    read = form({"a": {"type": "string"}, "b": {"type": "boolean"}}, required=["a", "gone"])
    assert await read.check({"a": "x"}) == {}
    assert set(await read.check({"b": 1, "c": 2})) == {"a", "b", "c"}


async def test_a_pattern_is_found_anywhere() -> None:
    """JSON Schema: patterns are not anchored."""
    read = form({"a": {"type": "string", "pattern": "b+"}})
    with anyio.fail_after(HANG_SECONDS):
        assert await read.check({"a": "abc"}) == {}
        assert list(await read.check({"a": "xyz"})) == ["a"]


@pytest.mark.rule("V1-ELIC-21")
async def test_a_catastrophic_pattern_hangs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """Spec: `pattern` evaluation is bounded; others go on meanwhile."""
    read = form({"a": {"type": "string", "pattern": r"^(\w+\s?)*$"}})
    found: list[dict[str, str]] = []

    async def check() -> None:
        found.append(await read.check({"a": "a" * 60 + "!"}))

    with anyio.fail_after(HANG_SECONDS), caplog.at_level(logging.WARNING, "accord.client"):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(check)
            # The other process computes for a second; we come to this line, so we do not.
            await anyio.wait_all_tasks_blocked()
            assert found == []
    assert found == [{}]
    assert "cannot be checked here" in caplog.text


async def test_what_cannot_be_tried_is_neither_yes_nor_no(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: the agent checks again anyway, so the user is not locked out."""
    with anyio.fail_after(HANG_SECONDS):
        assert await found_in("(", "x") is None
        assert await found_in("a" * (forms.PATTERN_CHARACTERS_MAX + 1), "x") is None
        monkeypatch.setattr(sys, "executable", "/no/such/python")
        assert await found_in("a", "a") is None
        monkeypatch.undo()
        monkeypatch.setattr(forms, "WALL_SECONDS_MAX", 0)
        assert await found_in("a", "a") is None
