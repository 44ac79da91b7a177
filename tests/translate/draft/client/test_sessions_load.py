"""Loading sessions of a v1 agent for a draft client, what is refused, and bounds."""

from typing import Any

import pytest

from accord.translate.draft.client import session_memory as bounds
from accord.translate.draft.client import sessions as session_bounds
from accord.translate.message import AGENT, CLIENT
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import (
    DRAFT_CLIENT,
    FOLDER,
    MODES,
    before,
    options,
)

# ---- initialize


# ---- session/load


CHUNKS: list[tuple[str, str | None]] = [
    ("user_message_chunk", None),
    ("user_message_chunk", None),
    ("agent_thought_chunk", None),
    ("agent_message_chunk", "m"),
    ("agent_message_chunk", "m"),
    ("agent_message_chunk", "n"),
    ("user_message_chunk", None),
]


@pytest.mark.rule("D26-07")
def test_a_session_of_this_connection_is_loaded_from_its_folder() -> None:
    """The draft's table 3.4: with the servers it had, and the messages counted."""
    scene = before()
    key = scene.wire.ask(CLIENT, "session/load", {"sessionId": "s"})
    asked = scene.wire.one(AGENT, "session/load")
    assert asked.params == {"sessionId": "s", "cwd": FOLDER, "mcpServers": []}
    for kind, message_id in CHUNKS:
        update: Any = {"sessionUpdate": kind, "content": {"type": "text", "text": "x"}}
        if message_id is not None:
            update["messageId"] = message_id
        assert len(scene.update(update)) == 1
    modes = {**MODES, "currentModeId": "ask"}
    scene.wire.answer(AGENT, asked.key, {"modes": modes, "configOptions": options("7", True)})
    result = scene.wire.result(CLIENT, key)
    kept = result.pop("_meta")[DRAFT]
    assert result == {
        "sessionId": "s",
        "workingDirectory": FOLDER,
        "mode": "ask_permission",
        "configOptions": {"model": "7", "fast": True},
        "messageCount": 4,
    }
    assert kept == {"modes": modes, "configOptions": options("7", True), "loaded": True}


def test_a_session_is_found_in_the_agents_list() -> None:
    """The draft's table 3.4."""
    scene = before()
    key = scene.wire.ask(CLIENT, "session/load", {"sessionId": "old"})
    asked = scene.wire.one(AGENT, "session/list")
    assert asked.params == {}
    page = {"sessions": [{"sessionId": "x", "cwd": "/x"}], "nextCursor": "2"}
    scene.wire.answer(AGENT, asked.key, page)
    asked = scene.wire.one(AGENT, "session/list")
    assert asked.params == {"cursor": "2"}
    scene.wire.answer(AGENT, asked.key, {"sessions": [{"sessionId": "old", "cwd": "/old"}]})
    asked = scene.wire.one(AGENT, "session/load")
    assert asked.params["cwd"] == "/old"
    kept = {"replayed": False, "messageCount": 9, "workingDirectory": "/else"}
    scene.wire.answer(AGENT, asked.key, {"_meta": {DRAFT: kept}})
    result = scene.wire.result(CLIENT, key)
    assert result["messageCount"] == 9
    assert (result["mode"], result["configOptions"]) == ("default", {})


def test_a_session_whose_folder_nobody_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The draft's table 3.4: -32006."""
    monkeypatch.setattr(session_bounds, "LIST_PAGES_MAX", 2)
    scene = before(agent={"loadSession": True})
    key = scene.wire.ask(CLIENT, "session/load", {"sessionId": "old"})
    assert scene.wire.error(CLIENT, key).code == -32006
    empty: list[Any] = [{"sessions": []}]
    for pages in (empty, [{"sessions": [], "nextCursor": "c"}] * 2):
        scene = before()
        key = scene.wire.ask(CLIENT, "session/load", {"sessionId": "old"})
        for page in pages:
            scene.wire.answer(AGENT, scene.wire.one(AGENT, "session/list").key, page)
        assert scene.wire.error(CLIENT, key).code == -32006
    scene = before()
    key = scene.wire.ask(CLIENT, "session/load", {"sessionId": "old"})
    scene.wire.fail(AGENT, scene.wire.one(AGENT, "session/list").key, -32603)
    assert scene.wire.error(CLIENT, key).code == -32603


def test_a_load_that_fails() -> None:
    """The draft's table 3.4, 9."""
    scene = before()
    key = scene.wire.ask(CLIENT, "session/load", {"sessionId": "s"})
    scene.wire.fail(AGENT, scene.wire.one(AGENT, "session/load").key, -32002)
    assert scene.wire.error(CLIENT, key).code == -32000
    scene = before(agent={})
    key = scene.wire.ask(CLIENT, "session/load", {"sessionId": "s"})
    assert scene.wire.error(CLIENT, key).code == -32007


def test_what_the_draft_does_not_have_is_refused() -> None:
    """The draft's table 3.8, issue 5: also in the numbers of the draft."""
    scene = before()
    for side, method in (
        (CLIENT, "session/list"),
        (CLIENT, "session/close"),
        (AGENT, "elicitation/create"),
    ):
        key = scene.wire.ask(side, method, {"sessionId": "s"})
        assert scene.wire.error(side, key).code == -32601
    for side, method, params in (
        (CLIENT, "session/new", {"workingDirectory": "/a", "cwd": "/a"}),
        (CLIENT, "session/prompt", {"sessionId": "s", "content": [], "prompt": []}),
        (AGENT, "fs/read_text_file", {"sessionId": "s", "path": "/a", "startLine": 1}),
    ):
        key = scene.wire.ask(side, method, params)
        assert scene.wire.error(side, key).code == -32602
    for side in (CLIENT, AGENT):
        scene.wire.tell(side, "$/cancel_request", {"requestId": 1})
    assert scene.wire.take() == []


def test_sessions_and_calls_are_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: no peer can fill our memory."""
    monkeypatch.setattr(bounds, "SESSIONS_MAX", 2)
    monkeypatch.setattr(bounds, "CALLS_MAX", 2)
    scene = before(client=DRAFT_CLIENT)
    scene.prompt()
    scene.open("t")
    scene.open("u")
    assert list(scene.bridge.state.sessions) == ["s", "u"]
    scene.prompt(session_id="u")
    scene.open("v")
    assert list(scene.bridge.state.sessions) == ["u", "v"]
    for call in "abc":
        update = {"sessionUpdate": "tool_call", "toolCallId": call, "title": "t"}
        scene.update(update, "u")
    assert list(scene.bridge.state.sessions["u"].calls) == ["b", "c"]
