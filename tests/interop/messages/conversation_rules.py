"""How a side behaved in a whole recording: what no single message shows.

The validator judges each message; here it is their order, their ids, and that what was promised
came.  Knows v1 and v2 and nothing of the library under test.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from tests.interop.tap import Frame, Sender

Json = dict[str, Any]

FINAL = ("completed", "failed", "cancelled")
STOP_REASONS_V1 = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
# What a prompt brings about, and nothing else.
OF_A_TURN = ("agent_message", "agent_thought", "tool_call", "plan")
RAW_KEYS = ("_meta", "rawInput", "rawOutput", "content", "data")
CAMEL_CASE = re.compile(r"[a-z][a-zA-Z0-9]*")


@dataclass(frozen=True)
class Call:
    """A request with its answer, and where both stand in the recording."""

    sender: Sender
    method: str
    params: Json
    asked: int
    answered: int
    result: Any = None
    error: Any = None


def calls(frames: Sequence[Frame]) -> list[Call]:
    """All requests that were answered, in the order in which they were asked."""
    found: dict[tuple[str, str], tuple[int, Json]] = {}
    done: list[Call] = []
    for place, frame in enumerate(frames):
        message = frame.message
        if "method" in message and "id" in message:
            found[frame.sender, repr(message["id"])] = (place, message)
        elif "id" in message:
            asker: Sender = "client" if frame.sender == "agent" else "agent"
            asked, request = found.pop((asker, repr(message["id"])))
            done.append(
                Call(
                    asker,
                    request["method"],
                    request.get("params", {}),
                    asked,
                    place,
                    message.get("result"),
                    message.get("error"),
                )
            )
    assert found == {}, "every request is answered"
    return sorted(done, key=lambda call: call.asked)


def updates(frames: Sequence[Frame]) -> Iterator[tuple[int, Json]]:
    """Every session update with its place."""
    for place, frame in enumerate(frames):
        if '"session/update"' in frame.line and frame.message.get("method") == "session/update":
            yield place, frame.message["params"]["update"]


def check_client(frames: Sequence[Frame], version: int) -> None:
    """Assert that the client kept the order and sent what must be there."""
    made = [call for call in calls(frames) if call.sender == "client"]
    first = made[0]
    assert (first.method, first.asked) == ("initialize", 0)
    assert made[1].method == "session/new"
    assert made[1].asked > first.answered, "nothing is asked before the handshake is done"
    info = first.params["clientInfo" if version == 1 else "info"]
    assert info["name"]
    assert info["version"]
    assert isinstance(first.params["clientCapabilities" if version == 1 else "capabilities"], dict)
    for call in made:
        if call.method in ("session/new", "session/load", "session/resume"):
            assert PurePosixPath(call.params["cwd"]).is_absolute()
            assert version == 2 or call.params["mcpServers"] == []
        if call.method == "session/prompt":
            assert call.params["prompt"]
    for call in calls(frames):
        if call.method == "session/request_permission" and call.result is not None:
            outcome = call.result["outcome"]
            offered = [option["optionId"] for option in call.params["options"]]
            assert outcome == {"outcome": "cancelled"} or outcome["optionId"] in offered
    _check_keys(frames, "client")


def check_agent(frames: Sequence[Frame], version: int) -> None:
    """Assert that the agent kept the order and sent what must be there."""
    served = calls(frames)
    answer = served[0].result
    assert (served[0].method, answer["protocolVersion"]) == ("initialize", version)
    info = answer["agentInfo" if version == 1 else "info"]
    assert info["name"]
    assert info["version"]
    assert isinstance(answer["agentCapabilities" if version == 1 else "capabilities"], dict)
    _check_tool_calls(frames, version)
    _check_replay(frames, served)
    _check_options(frames, served)
    if version == 1:
        _check_turns_v1(frames, served)
        _check_terminals_v1(frames, served)
    else:
        _check_turns_v2(frames, served)
    _check_keys(frames, "agent")


def _check_tool_calls(frames: Sequence[Frame], version: int) -> None:
    statuses: dict[str, list[str]] = {}
    replays = [call for call in calls(frames) if call.method in ("session/load", "session/resume")]
    for place, update in updates(frames):
        if not update["sessionUpdate"].startswith("tool_call"):
            continue
        if any(call.asked < place < call.answered for call in replays):
            continue
        known = statuses.setdefault(update["toolCallId"], [])
        if version == 1:
            assert (update["sessionUpdate"] == "tool_call") is (known == []), "announced once"
        if "status" in update:
            assert not known or known[-1] not in FINAL, "a final status stays"
            known.append(update["status"])
        for location in update.get("locations") or ():
            assert PurePosixPath(location["path"]).is_absolute()
    assert len(statuses) > 4
    for known in statuses.values():
        assert known[0] == "pending"
        assert known[-1] in FINAL


def _check_replay(frames: Sequence[Frame], served: Sequence[Call]) -> None:
    """What is replayed comes before the answer, and only when it was asked for."""
    for call in served:
        if call.method not in ("session/load", "session/resume"):
            continue
        wanted = call.method == "session/load" or "replayFrom" in call.params
        history = [
            place
            for place, update in updates(frames)
            if call.asked < place and update["sessionUpdate"].startswith(OF_A_TURN)
        ]
        before = [place for place in history if place < call.answered]
        assert bool(before) is wanted


def _check_options(frames: Sequence[Frame], served: Sequence[Call]) -> None:
    """A list of options is whole wherever it is sent."""
    made = next(call for call in served if call.method == "session/new")
    ids = [_option_id(option) for option in made.result["configOptions"]]
    lists = [
        call.result["configOptions"]
        for call in served
        if call.method == "session/set_config_option" and call.error is None
    ]
    lists += [
        update["configOptions"]
        for _, update in updates(frames)
        if update["sessionUpdate"] == "config_option_update"
    ]
    assert len(lists) > 2
    for options in lists:
        assert [_option_id(option) for option in options] == ids
        for option in options:
            values = [choice["value"] for choice in option.get("options", ())]
            assert not values or option["currentValue"] in values


def _option_id(option: Json) -> str:
    return str(option.get("configId") or option["id"])


def _check_turns_v1(frames: Sequence[Frame], served: Sequence[Call]) -> None:
    prompts = [call for call in served if call.method == "session/prompt"]
    loads = [call for call in served if call.method == "session/load"]
    assert all(call.result["stopReason"] in STOP_REASONS_V1 for call in prompts)
    for place, update in updates(frames):
        if update["sessionUpdate"].startswith(OF_A_TURN):
            assert any(call.asked < place < call.answered for call in (*prompts, *loads))
        if update["sessionUpdate"].endswith("_chunk"):
            assert update["messageId"]
    for cancelled in _cancels(frames):
        running = next(call for call in prompts if call.asked < cancelled < call.answered)
        assert running.result["stopReason"] == "cancelled"


def _check_terminals_v1(frames: Sequence[Frame], served: Sequence[Call]) -> None:
    made = [call.result["terminalId"] for call in served if call.method == "terminal/create"]
    released = {
        call.params["terminalId"]: call.asked
        for call in served
        if call.method == "terminal/release"
    }
    assert made
    assert sorted(made) == sorted(released)
    for terminal_id, place in released.items():
        shown = next(p for p, u in updates(frames) if terminal_id in str(u.get("content")))
        assert shown < place, "it is shown before it is released"


def _check_turns_v2(frames: Sequence[Frame], served: Sequence[Call]) -> None:
    echoes = {
        update["messageId"]
        for _, update in updates(frames)
        if update["sessionUpdate"] in ("user_message", "user_message_chunk")
    }
    for call in served:
        if call.method == "session/prompt":
            assert call.result["messageId"] in echoes
        if call.method == "session/resume":
            states = [
                place
                for place, update in updates(frames)
                if call.asked < place < call.answered and update["sessionUpdate"] == "state_update"
            ]
            assert len(states) == 1
        if call.method == "session/request_permission":
            assert call.params["title"]
            ids = [option["optionId"] for option in call.params["options"]]
            assert len(set(ids)) == len(ids) > 0
    for _, update in updates(frames):
        if "message" in update["sessionUpdate"] or "thought" in update["sessionUpdate"]:
            assert update["messageId"]
    prompts = [call for call in served if call.method == "session/prompt"]
    for cancelled in _cancels(frames):
        running = max(call.answered for call in prompts if call.asked < cancelled)
        assert running < cancelled, "a prompt is answered when it is part of the conversation"
        ends = [
            update.get("stopReason")
            for place, update in updates(frames)
            if place > cancelled and update.get("state") == "idle"
        ]
        assert ends[0] == "cancelled"


def _cancels(frames: Sequence[Frame]) -> list[int]:
    return [place for place, frame in enumerate(frames) if '"session/cancel"' in frame.line]


def _check_keys(frames: Sequence[Frame], side: Sender) -> None:
    for frame in frames:
        if frame.sender == side:
            message = frame.message
            for part in ("params", "result"):
                bad = [key for key in _keys(message.get(part)) if not CAMEL_CASE.fullmatch(key)]
                assert bad == []


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _keys(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in RAW_KEYS:
                yield key
                yield from _keys(item)
