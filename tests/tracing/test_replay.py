"""One side of a recording, played to a function that stands for the other."""

import json
from collections.abc import Callable
from typing import Any

from accord.tracing.frames import Speaker
from accord.tracing.recording_file import read_recording
from accord.tracing.replay import Outcome, Player, script_of
from tests.tracing.samples import SESSION, Tape, prompt, talk

Reply = Callable[[dict[str, Any]], list[dict[str, Any]]]


class Stage:
    """Plays a tape against a function; what was sent and waited is kept."""

    def __init__(self, tape: Tape, role: Speaker, reply: Reply, *first: dict[str, Any]) -> None:
        self.sent: list[Any] = []
        self.waited: list[float] = []
        self._coming = [self._raw(message) for message in first]
        self._reply = reply
        self._tape, self._role = tape, role

    def play(self, speed: float = 0.0) -> Outcome:
        player = Player(
            script_of(read_recording(self._tape.lines).entries),
            self._role,
            send=self._send,
            receive=lambda seconds: self._coming.pop(0) if self._coming else None,
            wait=self.waited.append,
            speed=speed,
        )
        return player.finish(player.play())

    def _send(self, raw: bytes) -> None:
        message = json.loads(raw)
        self.sent.append(message)
        self._coming += [self._raw(one) for one in self._reply(message)]

    def _raw(self, message: dict[str, Any]) -> bytes:
        return json.dumps({"jsonrpc": "2.0", **message}).encode()


def update(session: str, text: str) -> dict[str, Any]:
    content = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return {"method": "session/update", "params": {"sessionId": session, "update": content}}


def small() -> Tape:
    tape = Tape()
    tape.initialize()
    turn = tape.ask("client", "session/prompt", prompt("Hello"), 1.0)
    tape.chunk("Good ")
    tape.chunk("morning")
    tape.answer("agent", turn, {"stopReason": "end_turn"})
    return tape


def agent(text: str = "Good morning") -> Reply:
    """An agent that makes up a session of its own and says one thing."""

    def reply(message: dict[str, Any]) -> list[dict[str, Any]]:
        if message["method"] == "initialize":
            result: Any = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}
        elif message["method"] == "session/new":
            result = {"sessionId": "brand-new"}
        else:
            assert message["params"]["sessionId"] == "brand-new"
            answer = {"id": message["id"], "result": {"stopReason": "end_turn"}}
            return [update("brand-new", text), answer]
        return [{"id": message["id"], "result": result}]

    return reply


def test_an_agent_that_does_the_same_is_the_same() -> None:
    """Issue 4: names that a side makes up, and the pieces of a message, may differ."""
    stage = Stage(small(), "client", agent())
    outcome = stage.play()
    assert outcome.same, outcome
    assert [message["method"] for message in stage.sent] == [
        "initialize",
        "session/new",
        "session/prompt",
    ]


def test_a_difference_is_shown_as_a_diff() -> None:
    """Issue 4: differences are shown as a diff."""
    outcome = Stage(small(), "client", agent("Good night")).play()
    assert "-  Good morning" in outcome.diff
    assert "+  Good night" in outcome.diff
    assert not outcome.same


def test_an_answer_that_does_not_come_ends_it_with_a_sentence() -> None:
    """Ours: a replay never hangs."""
    outcome = Stage(small(), "client", lambda message: []).play()
    assert outcome.broken_off == "timed out waiting for the answer to initialize"


def test_an_agent_is_played_to_a_client_with_ids_of_its_own() -> None:
    """Issue 4: --as agent."""
    capabilities = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
    first = {
        "id": "one",
        "method": "initialize",
        "params": {"protocolVersion": 1, "clientCapabilities": capabilities},
    }

    def client(message: dict[str, Any]) -> list[dict[str, Any]]:
        if message.get("id") == "one":
            new = {"cwd": "/project", "mcpServers": []}
            return [{"id": "two", "method": "session/new", "params": new}]
        if message.get("id") == "two":
            assert message["result"] == {"sessionId": SESSION}
            return [{"id": 3, "method": "session/prompt", "params": prompt("Hello")}]
        return []

    stage = Stage(small(), "agent", client, first)
    outcome = stage.play()
    assert outcome.same, outcome
    assert [message.get("id") for message in stage.sent] == ["one", "two", None, None, 3]


def test_a_request_that_was_never_recorded_is_refused_and_shown() -> None:
    """Ours: who asks must not wait for ever."""
    asked = {"id": 77, "method": "session/list", "params": {}}
    stage = Stage(small(), "agent", lambda message: [], asked)
    outcome = stage.play()
    assert stage.sent[0]["id"] == 77
    assert stage.sent[0]["error"]["code"] == -32601
    assert "+request session/list" in outcome.diff


def test_time_passes_as_recorded_when_it_is_asked_for() -> None:
    """Issue 4: fast by default, --speed."""
    stage = Stage(small(), "client", agent())
    stage.play(speed=2.0)
    assert sum(stage.waited) > 0.5
    stage = Stage(small(), "client", agent())
    stage.play()
    assert stage.waited == []


def test_what_was_redacted_is_equal_to_anything() -> None:
    """Ours: recordings have no secrets, programs do."""
    tape = Tape()
    tape.call("client", "initialize", {}, {"greeting": "the key is [secret]."}, 0.1)

    def reply(message: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"id": message["id"], "result": {"greeting": "the key is abc."}}]

    assert Stage(tape, "client", reply).play().same


def test_noise_is_played_as_it_was() -> None:
    """Ours: how a program takes nonsense is worth a test."""
    tape = Tape()
    tape.raw("agent", b"5")
    stage = Stage(tape, "agent", lambda message: [])
    assert stage.play().same
    assert stage.sent == [5]


def test_a_long_talk_is_played_against_its_own_echo() -> None:
    """Ours: the client of the recording, answered by the agent of the recording."""
    steps = script_of(read_recording(talk().lines).entries)
    assert [step.answered for step in steps[:4]] == [None, "initialize", None, "session/new"]
