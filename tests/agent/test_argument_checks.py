"""What an agent asks for when it is made, and what it is told when there is unknown thing."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pytest

from accord import Agent, Limits, LocalProtocolError
from accord.agent.argument_checks import CLIENT_CAPABILITIES
from accord.schema import v1, v2
from tests.agent.raw_client import initialize_params, raw_client


def structs_in(wanted: Any) -> Iterator[Any]:
    """The structs that an annotation allows."""
    if get_origin(wanted) in (Annotated, Union, types.UnionType):
        for one in get_args(wanted):
            yield from structs_in(one)
    elif hasattr(wanted, "__struct_fields__"):
        yield wanted


def paths_of(struct: Any, above: str = "") -> Iterator[str]:
    hints = get_type_hints(struct, include_extras=True)
    for name, key in zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True):
        if key != "_meta":
            yield above + key
            for inner in structs_in(hints[name]):
                yield from paths_of(inner, f"{above}{key}.")


def test_the_capabilities_are_those_of_the_schemas() -> None:
    """Spec: `ClientCapabilities` of both versions, to the last marker."""
    every = {*paths_of(v1.ClientCapabilities), *paths_of(v2.ClientCapabilities)}
    assert set(CLIENT_CAPABILITIES) == every


def test_one_word_is_one_word() -> None:
    """Ours: a text is a sequence too, but nobody means its letters."""
    agent = Agent("a", version="1", requires="terminal", accepts="image", mcp="http")
    assert agent._definition.requires == ("terminal",)
    assert agent._definition.accepts == {"image"}
    assert agent._definition.mcp == {"http", "stdio"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"requires": ["zork"]}, "unknown client capability: zork; known are auth, "),
        ({"requires": "fs.readFile"}, "unknown client capability: fs.readFile"),
        ({"mcp": ["carrier pigeon"]}, "unknown transport of MCP: carrier pigeon"),
        ({"accepts": "images"}, "unknown prompt content: images"),
    ],
)
def test_what_does_not_exist_cannot_be_asked_for(given: dict[str, Any], said: str) -> None:
    """Issue: a misuse gets an error that names the mistake; else every client were refused."""
    with pytest.raises(LocalProtocolError, match=said):
        Agent("a", version="1", **given)


@pytest.mark.parametrize(
    "limits",
    [
        {"frame_bytes": -1},
        {"frame_bytes": 0},
        {"depth": 1.5},
        {"pending_requests": True},
        {"prompts_queued": -1},
        {"close_seconds": -0.1},
        {"stall_seconds": float("nan")},
        {"initialize_seconds": "30"},
    ],
    ids=str,
)
def test_limits_that_nothing_can_live_within_are_refused(limits: dict[str, Any]) -> None:
    """Issue: everything has a bound, and a bound is a number."""
    with pytest.raises(
        LocalProtocolError, match=f"the limit {next(iter(limits))} must be at least"
    ):
        Agent("a", version="1", limits=Limits(**limits))


def test_limits_may_forbid_a_thing_or_never_end() -> None:
    """Ours: no queue is a queue, and no deadline is a deadline."""
    limits = Limits(prompts_queued=0, close_seconds=float("inf"), stall_seconds=0)
    assert Agent("a", version="1", limits=limits).limits == limits


@pytest.mark.parametrize(("version", "needs"), [(1, "fs"), (2, "elicitation.form")])
async def test_a_refused_client_is_told_which_method_was_refused(version: int, needs: str) -> None:
    """Issue 4: `data.method` with -32601."""
    agent = Agent("a", version="1", requires=needs)
    async with raw_client(agent, version=version, initialize=False) as client:
        error = await client.error("initialize", initialize_params(version, None))
    assert error["code"] == -32601
    assert error["data"]["method"] == "initialize"
    assert error["data"]["missing"] == [needs]


@pytest.mark.parametrize("needs", ["fs", "fs.readTextFile", "terminal", "_meta.mine"])
async def test_files_and_terminals_are_the_agents_own_in_v2(needs: str) -> None:
    """V2: files and terminals left the client; names in `_meta` are what peers agree on."""
    agent = Agent("a", version="1", requires=needs)
    async with raw_client(agent, version=2, capabilities={"_meta": {"mine": {}}}) as client:
        assert client.frames
