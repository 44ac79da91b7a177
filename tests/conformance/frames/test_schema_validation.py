"""Shapes of messages, the functions that read conversations, and wrong types."""

import json
from typing import Any

import pytest

from accord.conformance.frames import frame_queries
from accord.conformance.frames.raw_peer import Frame
from accord.conformance.frames.schema_validation import flaws
from accord.conformance.frames.wrong_types import wrong_types
from accord.conformance.rule_definition import Version


def frame(message: Any, *, sent: bool = False) -> Frame:
    return Frame(0.0, sent, json.dumps(message).encode(), message)


def update(**fields: Any) -> Frame:
    params = {"sessionId": "s", "update": fields}
    return frame({"jsonrpc": "2.0", "method": "session/update", "params": params})


@pytest.mark.parametrize(
    ("message", "where"),
    [
        ({"method": "session/update", "params": {"update": {}}}, "$.sessionId"),
        ({"method": "session/fly", "params": {}}, "$"),
        ({"id": 1, "method": "session/update", "params": {}}, "$"),
    ],
)
def test_a_wrong_shape_is_found_where_it_is(message: dict[str, Any], where: str) -> None:
    """Issue: wrong frames are marked."""
    found = list(flaws([frame({"jsonrpc": "2.0", **message})], "1", of_agent=True))
    assert found[0].where == where


def test_results_are_read_by_the_request_that_they_answer() -> None:
    """Ours: a result alone says nothing about its type."""
    frames = [
        frame({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {}}, sent=True),
        frame({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s", "odd": 1}}),
        frame({"jsonrpc": "2.0", "id": 2, "result": {"odd": 1}}),
    ]
    [flaw] = flaws(frames, "1", of_agent=True)
    assert (flaw.method, flaw.part, flaw.why) == ("session/new", "result", "unknown key")
    assert "session/new" in str(flaw)


def test_extensions_are_nobodys_business() -> None:
    """Spec: names that start with an underscore."""
    frames = [frame({"jsonrpc": "2.0", "method": "_mine/x", "params": {"odd": 1}})]
    assert list(flaws(frames, "2", of_agent=True)) == []


def test_noise_and_broken_lines_are_told_apart() -> None:
    """Spec: stdout has nothing but messages, each on its line."""
    lines = [
        Frame(0, False, b"Starting up", None, "not JSON"),
        Frame(0, False, b'{"jsonrpc":', None, "not JSON"),
        Frame(0, False, b"5", 5),
        Frame(0, False, b"", None, "not JSON"),
        Frame(0, True, b"xx", None, "not JSON"),
    ]
    assert [one.raw for one, _ in frame_queries.noise(lines)] == [b"Starting up", b"5"]
    assert [one.raw for one, _ in frame_queries.broken_lines(lines)] == [b'{"jsonrpc":']


def test_a_second_answer_is_one_too_many() -> None:
    """Spec: exactly one."""
    frames = [
        frame({"id": 1, "method": "x"}, sent=True),
        frame({"id": 1, "result": {}}),
        frame({"id": 1, "result": {}}),
        frame({"id": None, "error": {"code": 1, "message": ""}}),
    ]
    assert len(list(frame_queries.unasked_responses(frames))) == 1


def test_a_response_without_an_id_is_not_one_with_null() -> None:
    """Issue 13: it was said to have the id null."""
    asked = frame({"id": None, "method": "x"}, sent=True)
    said = [why for _, why in frame_queries.unasked_responses([asked, frame({"result": {}})])]
    assert said == ["a response has no id"]
    said = [why for _, why in frame_queries.unasked_responses([frame({"id": 7, "result": {}})])]
    assert said == ["a response has the id 7, which no open request has"]


def test_names_are_looked_at_where_the_protocol_made_them() -> None:
    """Spec: not in raw data and `_meta`."""
    good = update(sessionUpdate="tool_call", rawInput={"Odd-Key": 1}, _meta={"x.y": 1})
    bad = update(sessionUpdate="tool_call", tool_call_id="x")
    assert list(frame_queries.odd_names([good])) == []
    assert "tool_call_id" in next(frame_queries.odd_names([bad]))[1]


def test_stacks_are_recognised() -> None:
    """Spec: errors show nothing of the inside."""
    error = {"code": -32603, "message": "x", "data": "Traceback (most recent call last)\n"}
    assert len(list(frame_queries.traces([frame({"id": 1, "error": error})]))) == 1


@pytest.mark.parametrize("version", ["1", "2"])
def test_wrong_types_are_made_for_every_field(version: Version) -> None:
    """Issue: wrong types in every field, generated from the schema tables."""
    made = list(wrong_types(version, "s", "/tmp"))
    assert len(made) > 500
    assert {"session/new", "session/prompt", "session/list"} <= {method for method, _ in made}
    assert any(params.get("cwd") == 1.5 for _, params in made)
