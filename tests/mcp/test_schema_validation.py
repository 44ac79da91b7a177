"""Schemas of servers are applied where they can do no harm."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.mcp import schema_validation as validation
from accord.mcp.schema_validation import is_plain, problem
from tests.hang_limit import HANG_SECONDS

BACKTRACKS = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
SLOW = {"a": "a" * 60 + "b"}


def branching(depth: int) -> dict[str, Any]:
    """A small schema that takes two to the power of its depth."""
    steps: dict[str, Any] = {"s0": {"type": "string"}}
    for number in range(depth):
        ref = {"$ref": f"#/$defs/s{number}"}
        steps[f"s{number + 1}"] = {"anyOf": [ref, ref]}
    return {"$defs": steps, "$ref": f"#/$defs/s{depth}"}


async def test_what_does_not_fit_is_said_with_its_place() -> None:
    """Issue: results checked against the tool's output schema."""
    schema = {"properties": {"a": {"items": {"type": "integer"}}}}
    assert await problem(schema, {"a": [1, 2]}) is None
    assert await problem(schema, {"a": [1, "x"]}) == "['a'][1]: 'x' is not of type 'integer'"
    assert "the schema is invalid" in (await problem({"type": 5}, {}) or "")
    assert "cannot be applied" in (await problem({"$ref": "http://127.0.0.1:9/x"}, {}) or "")


@pytest.mark.parametrize("case", [(BACKTRACKS, SLOW), (branching(60), 5)])
async def test_a_schema_without_end_is_a_problem_and_holds_nobody_up(
    case: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found in review: one server's schema kept the whole agent from answering."""
    monkeypatch.setattr(validation, "WALL_SECONDS_MAX", 1.0)
    turns = 0
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:

            async def go_on() -> None:
                nonlocal turns
                while True:
                    await anyio.lowlevel.checkpoint()
                    await anyio.sleep(0.01)
                    turns += 1

            tasks.start_soon(go_on)
            assert (
                await problem(*case) == "it cannot be checked against its schema within the limits"
            )
            tasks.cancel_scope.cancel()
    assert turns > 10


def test_only_schemas_that_are_walked_once_are_plain() -> None:
    """The bound of the process costs a third of a second."""
    assert is_plain({"type": "object", "properties": {"a": {"anyOf": [{"type": "integer"}]}}})
    assert not is_plain(BACKTRACKS)
    assert not is_plain(branching(1))
    assert not is_plain({"enum": list(range(5000))})
