"""Suggestions of the next edit, which have a switch of their own.

The official schema has dropped them, so the answers are compared with what is written down here.
"""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.agent import Agent
from accord.agent.serving.unstable.next_edits import NextEditSession, Settled, SuggestRequest
from accord.errors import LocalProtocolError
from accord.schema.v2.documents import Position, Range
from accord.schema.v2.next_edit import (
    NesEditSuggestion,
    NesJumpSuggestion,
    NesRenameSuggestion,
    NesSearchAndReplaceSuggestion,
    NesSuggestion,
    NesTextEdit,
)
from tests.agent.raw_client import Message, initialize_params, raw_client
from tests.hang_limit import HANG_SECONDS

URI = "file:///w/a.py"
PLACE = Position(line=3, character=4)
ALL: list[NesSuggestion] = [
    NesEditSuggestion(
        suggestion_id="s1",
        uri=URI,
        edits=[NesTextEdit(range=Range(start=PLACE, end=PLACE), new_text="x")],
    ),
    NesJumpSuggestion(suggestion_id="s2", uri=URI, position=PLACE),
    NesRenameSuggestion(suggestion_id="s3", uri=URI, position=PLACE, new_name="y"),
    NesSearchAndReplaceSuggestion(suggestion_id="s4", uri=URI, search="a", replace="b"),
]


def editing(**more: Any) -> Agent:
    agent = Agent("editor", version="1.0", next_edits=True, **more)

    @agent.on_suggest
    async def suggest(request: SuggestRequest) -> list[NesSuggestion]:
        return ALL

    return agent


def asked(session_id: str, **more: Any) -> Message:
    position = {"line": 3, "character": 4}
    wanted = {"sessionId": session_id, "uri": URI, "version": 1, "position": position}
    return wanted | {"triggerKind": "automatic"} | more


async def begun(client: Any, version: int, offers: Message) -> tuple[Message, str]:
    """The agent's capabilities and a session for suggestions."""
    result = await client.result("initialize", initialize_params(version, offers))
    told = result["agentCapabilities"] if version == 1 else result["capabilities"]
    started = await client.result("nes/start", {"workspaceUri": "file:///w"})
    return told, started["sessionId"]


@pytest.mark.parametrize("method", ["nes/start", "nes/suggest", "nes/close"])
async def test_without_the_switch_there_are_no_suggestions(version: int, method: str) -> None:
    """Ours: `unstable` alone does not bring back what the protocol dropped."""
    agent = Agent("plain", version="1.0", unstable=True)
    agent.on_document("didOpen")(lambda _session, _event: None)
    async with raw_client(agent, version=version) as client:
        error = await client.error(method, {})
        assert (error["code"], error["data"]["method"]) == (-32601, method)
        client.notify("document/didOpen", {})


@pytest.mark.rule("NES-02")
@pytest.mark.parametrize(
    ("shown", "kinds"),
    [
        ({}, ["edit"]),
        ({"nes": {}}, ["edit"]),
        ({"nes": {"jump": {}}}, ["edit", "jump"]),
        ({"nes": {"jump": None, "rename": {}}}, ["edit", "rename"]),
        (
            {"nes": {"jump": {}, "rename": {}, "searchAndReplace": {}}},
            ["edit", "jump", "rename", "searchAndReplace"],
        ),
    ],
)
async def test_a_client_gets_the_kinds_that_it_can_show(
    version: int, shown: Message, kinds: list[str]
) -> None:
    """Spec: `edit` always, the others only where they were offered."""
    async with raw_client(editing(), version=version, initialize=False, validate=False) as client:
        _, session_id = await begun(client, version, shown)
        result = await client.result("nes/suggest", asked(session_id))
        assert [one["kind"] for one in result["suggestions"]] == kinds
        name = "id" if version == 1 else "suggestionId"
        assert result["suggestions"][0] == {
            "kind": "edit",
            name: "s1",
            "uri": URI,
            "edits": [
                {
                    "range": {
                        "start": {"line": 3, "character": 4},
                        "end": {"line": 3, "character": 4},
                    },
                    "newText": "x",
                }
            ],
        }


@pytest.mark.rule("NES-03")
@pytest.mark.parametrize(
    ("understood", "preferred", "agreed"),
    [
        ((), None, "utf-16"),
        ((), ["utf-8", "utf-32"], "utf-16"),
        (("utf-8",), None, "utf-16"),
        (("utf-8",), ["utf-32", "utf-8", "utf-16"], "utf-8"),
        (("utf-8",), ["utf-16", "utf-8"], "utf-16"),
    ],
)
async def test_positions_are_utf_16_unless_both_prefer_another(
    version: int, understood: tuple[str, ...], preferred: list[str] | None, agreed: str
) -> None:
    """Spec: the client's preference among what the agent understands, else `utf-16`."""
    agent = editing()
    seen: list[str] = []
    agent.use_position_encodings(*understood)

    @agent.on_suggest
    async def suggest(request: SuggestRequest) -> list[NesSuggestion]:
        seen.append(request.session.position_encoding)
        return []

    offers: Message = {} if preferred is None else {"positionEncodings": preferred}
    async with raw_client(agent, version=version, initialize=False, validate=False) as client:
        told, session_id = await begun(client, version, offers)
        assert told["positionEncoding"] == agreed
        assert await client.result("nes/suggest", asked(session_id)) == {"suggestions": []}
    assert seen == [agreed]


@pytest.mark.rule("NES-04")
async def test_closing_cancels_what_is_being_thought_up(version: int) -> None:
    """Spec: the work stops and the session is free."""
    agent = editing()
    thinking, stopped = anyio.Event(), anyio.Event()

    @agent.on_suggest
    async def suggest(request: SuggestRequest) -> list[NesSuggestion]:
        thinking.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()
        return []

    async with raw_client(agent, version=version, initialize=False, validate=False) as client:
        _, session_id = await begun(client, version, {})
        pending = client.start("nes/suggest", asked(session_id))
        with anyio.fail_after(HANG_SECONDS):
            await thinking.wait()
        assert await client.result("nes/close", {"sessionId": session_id}) == {}
        assert (await client.answer(pending))["error"]["code"] == -32800
        assert stopped.is_set()
        for method, params in (
            ("nes/suggest", asked(session_id)),
            ("nes/close", asked(session_id)),
        ):
            error = await client.error(method, params)
            assert (error["code"], error["data"]) == (-32002, {"sessionId": session_id})


async def test_what_is_registered_is_asked_for_and_taken_in_order(version: int) -> None:
    """Ours: events, their form, and context; events for nobody and of nothing are dropped."""
    agent = editing()
    heard: list[tuple[str, str]] = []
    settled: list[Settled] = []

    @agent.on_document("didOpen")
    def opened(session: NextEditSession, event: Any) -> None:
        heard.append((session.id, event.text))

    @agent.on_document("didChange", incremental=True)
    def changed(session: NextEditSession, event: Any) -> None:
        heard.append((session.id, event.content_changes[0].text))

    agent.on_suggestion_settled(settled.append)
    agent.want_edit_context("recentFiles", max_count=5)
    agent.want_edit_context("diagnostics")
    async with raw_client(agent, version=version, initialize=False, validate=False) as client:
        told, session_id = await begun(client, version, {})
        assert told["nes"] == {
            "events": {"document": {"didOpen": {}, "didChange": {"syncKind": "incremental"}}},
            "context": {"recentFiles": {"maxCount": 5}, "diagnostics": {}},
        }
        document = {"sessionId": session_id, "uri": URI, "version": 1}
        client.notify("document/didOpen", document | {"languageId": "python", "text": "a"})
        client.notify("document/didChange", document | {"contentChanges": [{"text": "b"}]})
        client.notify("document/didSave", document)
        client.notify(
            "document/didOpen", document | {"sessionId": "x", "languageId": "", "text": ""}
        )
        name = "id" if version == 1 else "suggestionId"
        client.notify("nes/accept", {"sessionId": session_id, name: "s1"})
        client.notify("nes/reject", {"sessionId": session_id, name: "s2", "reason": "ignored"})
        client.notify("nes/reject", {"sessionId": "x", name: "s3"})
        await client.result("nes/close", {"sessionId": session_id})
    assert heard == [(session_id, "a"), (session_id, "b")]
    assert [(one.suggestion_id, one.accepted, one.reason) for one in settled] == [
        ("s1", True, None),
        ("s2", False, "ignored"),
    ]


async def test_a_session_of_suggestions_needs_a_login_where_sessions_do(version: int) -> None:
    """Ours: it is the same agent with the same costs."""
    agent = editing()
    agent.add_auth_method("token", "Token")
    async with raw_client(agent, version=version, validate=False) as client:
        assert (await client.error("nes/start", {}))["code"] == -32000


async def test_the_number_of_sessions_is_bounded(version: int) -> None:
    """Ours: everything has a bound."""
    async with raw_client(editing(), version=version, validate=False) as client:
        for _ in range(100):
            await client.result("nes/start", {})
        assert (await client.error("nes/start", {}))["code"] == -32600


def test_what_the_protocol_does_not_have_is_a_mistake() -> None:
    """Ours: named when it is registered."""
    agent: Any = editing()
    with pytest.raises(LocalProtocolError, match="didBurn"):
        agent.on_document("didBurn")(print)
    with pytest.raises(LocalProtocolError, match="weather"):
        agent.want_edit_context("weather")
    with pytest.raises(LocalProtocolError, match="diagnostics"):
        agent.want_edit_context("diagnostics", max_count=3)
