"""What an agent of ours says has the form of what the agents of the documents say."""

import json
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import pytest

from tests.examples.examples import ROOT, Example, Json, Spoken, chosen
from tests.examples.gardener import client_of, gardener, shape
from tests.examples.peers import ASKED

# What it sent, and what it answered, by version.
Said: TypeAlias = dict[Spoken, tuple[list[Json], list[Json]]]


async def heard(spoken: Spoken, folder: Path, **how: Any) -> tuple[list[Json], list[Json]]:
    """A whole turn: all that our agent sends, and its answers by method."""
    asked: list[Json] = []
    (folder / "rows.toml").write_text("rows = 8\n")
    async with client_of(gardener(talkative=True, **how), spoken, initialize=False) as client:
        for method in ("initialize", "authenticate", "session/new", "session/prompt"):
            params = json.loads(
                json.dumps(ASKED[spoken].get(method, {})).replace(ROOT, str(folder))
            )
            if method == "authenticate" and spoken == "v2":
                continue
            if method == "session/prompt":
                params["sessionId"] = asked[-1]["result"]["sessionId"]
            answer = await client.request(method, params)
            asked.append({"method": method, "result": answer.get("result")})
        return client.frames, asked


# No agent of ours says these.
NEVER_SAID = {
    # Whoever wrote a prompt knows it, where the version has no echo.
    ("v1", "user_message_chunk"),
    # It sends the whole content again, which is legal and has no order to go wrong.
    ("v2", "tool_call_content_chunk"),
}
# Members that may be left out, and are: nothing of ours knows them.
LEFT_OUT = {
    ("draft", "current_mode_update"): {".data.reason"},
    ("draft", "tool_call"): {
        ".data.location.column",
        ".data.location.endLine",
        ".data.location.endColumn",
    },
}


def kind_of(spoken: Spoken, message: Json) -> str:
    params = message["params"]
    kind: str = params["type"] if spoken == "draft" else params["update"]["sessionUpdate"]
    return kind


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Said:
    """What our agent says to a client of each version in a turn that has everything."""
    folder = tmp_path_factory.mktemp("orchard")
    return {
        "v1": anyio.run(lambda: heard("v1", folder, login=True)),
        "v2": anyio.run(lambda: heard("v2", folder, early=True)),
        "draft": anyio.run(lambda: heard("draft", folder, login=True)),
    }


@chosen(is_update=True)
def test_our_agent_tells_what_it_does_in_the_same_form(example: Example, said: Said) -> None:
    """Issue 5: in the document's own wire form, every member that the example has."""
    kind = kind_of(example.spoken, example.message)
    frames = [one for one in said[example.spoken][0] if one.get("method") == "session/update"]
    ours = [one["params"] for one in frames if kind_of(example.spoken, one) == kind]
    if (example.spoken, kind) in NEVER_SAID:
        assert not ours
        return
    assert ours, kind
    if example.spoken == "v1" and kind.startswith("tool_call"):
        # Both have the same members.
        ours = [one["params"] for one in frames if kind_of("v1", one).startswith("tool_call")]
    lacking = shape(example.message["params"]) - shape(ours)
    assert lacking <= LEFT_OUT.get((example.spoken, kind), set())


# Members of requests that may be left out, and are.
NOT_ASKED = {
    ("v1", "terminal/create"): {".env", ".env.name", ".env.value"},
}
# Requests that an agent of ours has no reason for in that turn.
NEVER_ASKED = {("v1", "terminal/kill"), ("draft", "_mcp/request")}


@chosen(kind="request", sender="agent")
def test_our_agent_asks_in_the_same_form(example: Example, said: Said) -> None:
    """Issue 5: in the document's own wire form; row 7: the early tool call is on top."""
    frames = said[example.spoken][0]
    ours = [one["params"] for one in frames if one.get("method") == example.method]
    if (example.spoken, example.method) in NEVER_ASKED:
        assert not ours
        return
    assert ours
    lacking = shape(example.message["params"]) - shape(ours)
    assert lacking <= NOT_ASKED.get((example.spoken, example.method), set())


@chosen(kind="answer", sender="agent")
def test_our_agent_answers_in_the_same_form(example: Example, said: Said) -> None:
    """Issue 5: every member that the answer of the document has; row 45: modes with their words.

    Errors and a cancelled turn are shown in `test_agents.py`, output in `test_contradictions.py`.
    """
    if "error" in example.message or example.contradiction == 28:
        return
    (ours,) = (one for one in said[example.spoken][1] if one["method"] == example.method)
    lacking = shape(example.message["result"]) - shape(ours["result"])
    assert {one for one in lacking if not one.startswith(".requiredClientCapabilities")} == set()
