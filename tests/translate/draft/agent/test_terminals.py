"""A draft agent runs commands in terminals of a v1 client, which is polled."""

from typing import Any

import pytest

from accord.translate.draft.agent import terminals as bounds
from accord.translate.message import AGENT, CLIENT, Request, Result
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import FOLDER, Behind, behind


def _create(scene: Behind, **params: Any) -> None:
    key = scene.wire.ask(AGENT, "terminal/create", {"command": "ls", **params})
    asked = scene.wire.one(CLIENT, "terminal/create")
    scene.wire.answer(CLIENT, asked.key, {"terminalId": "T"})
    assert scene.wire.result(AGENT, key) == {"terminalId": "T"}


def _poll(scene: Behind, output: str, *, truncated: bool = False, **more: Any) -> list[Any]:
    """The next poll is answered; returns what the agent is told, pushes acknowledged."""
    if not any(method == "terminal/output" for method in scene.wire.asked.values()):
        scene.wire.wait(1.1)
    asked = scene.wire.request(CLIENT, "terminal/output")
    scene.wire.answer(CLIENT, asked.key, {"output": output, "truncated": truncated, **more})
    told = scene.wire.took(AGENT)
    for one in told:
        if isinstance(one, Request):
            scene.wire.answer(AGENT, one.key, {"received": True})
    return told


def _pushed(told: list[Any]) -> list[str]:
    return [one.params["data"] for one in told if isinstance(one, Request)]


def test_a_command_is_started_in_the_sessions_folder() -> None:
    """The draft's table 4.3."""
    scene = behind()
    params = {
        "command": "make",
        "args": ["all"],
        "cwd": "beds",
        "env": {"A": "1"},
        "timeout": 900,
        "_meta": {DRAFT: {"outputByteLimit": 5, "x": 1}},
    }
    key = scene.wire.ask(AGENT, "terminal/create", params)
    asked = scene.wire.one(CLIENT, "terminal/create")
    assert asked.params == {
        "sessionId": "s",
        "command": "make",
        "args": ["all"],
        "cwd": f"{FOLDER}/beds",
        "env": [{"name": "A", "value": "1"}],
        "outputByteLimit": 5,
        "_meta": {DRAFT: {"timeout": 900, "x": 1}},
    }
    result = {"terminalId": "T", "_meta": {DRAFT: {"pid": 9, "y": 1}}}
    scene.wire.answer(CLIENT, asked.key, result)
    kept = {"_meta": {DRAFT: {"y": 1}}}
    assert scene.wire.result(AGENT, key) == {"terminalId": "T", "pid": 9, **kept}


def test_a_folder_that_v1_had_left_out_is_left_out_again() -> None:
    """Ours: a bridge before us had filled it in."""
    scene = behind()
    params = {"command": "ls", "cwd": "/x", "_meta": {DRAFT: {"noCwd": True}}}
    scene.wire.ask(AGENT, "terminal/create", params)
    assert "cwd" not in scene.wire.one(CLIENT, "terminal/create").params


def test_terminals_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """The draft's table 7, 9: no such ability, too many, refused by the client."""
    scene = behind(client={})
    key = scene.wire.ask(AGENT, "terminal/create", {"command": "ls"})
    assert scene.wire.error(AGENT, key).code == -32007
    scene = behind()
    key = scene.wire.ask(AGENT, "terminal/create", {"command": "ls"})
    scene.wire.fail(CLIENT, scene.wire.one(CLIENT, "terminal/create").key, -32055)
    assert scene.wire.error(AGENT, key).code == -32005
    monkeypatch.setattr(bounds, "TERMINALS_MAX", 0)
    key = scene.wire.ask(AGENT, "terminal/create", {"command": "ls"})
    assert scene.wire.error(AGENT, key).code == -32603


# ---- output


def test_only_what_is_new_is_pushed() -> None:
    """The draft's table 4.3."""
    scene = behind()
    _create(scene)
    assert _pushed(_poll(scene, "one\n")) == ["one\n"]
    assert _pushed(_poll(scene, "one\n")) == []
    assert _pushed(_poll(scene, "one\ntwo\n")) == ["two\n"]


def test_polls_start_quick_and_slow_down_to_a_second() -> None:
    """The draft's table 4.3: from 100 ms up to 1 s."""
    scene = behind()
    _create(scene)
    waits = []
    for _ in range(9):
        at = scene.bridge.wake_at
        assert at is not None
        waits.append(round(at - scene.clock.now, 3))
        scene.wire.wait(at - scene.clock.now)
        asked = scene.wire.one(CLIENT, "terminal/output")
        assert scene.bridge.wake_at is None
        scene.wire.answer(CLIENT, asked.key, {"output": "", "truncated": False})
    assert waits[0] == 0.1
    assert waits == sorted(waits)
    assert waits[-1] == 1.0
    _poll(scene, "something")
    assert scene.bridge.wake_at is not None
    assert round(scene.bridge.wake_at - scene.clock.now, 3) == 0.1


def test_output_that_was_cut_goes_on_where_it_can() -> None:
    """The draft's table 4.3: the whole after a mark when the old text is gone."""
    scene = behind()
    _create(scene)
    assert _pushed(_poll(scene, "abcdef")) == ["abcdef"]
    assert _pushed(_poll(scene, "abcdefgh", truncated=True)) == ["gh"]
    assert _pushed(_poll(scene, "abcdefgh", truncated=True)) == []
    (pushed,) = _pushed(_poll(scene, "xyz", truncated=True))
    assert pushed == f"{bounds.CUT_MARK}xyz"
    assert _pushed(_poll(scene, "", truncated=True)) == []
    (pushed,) = _pushed(_poll(scene, "q", truncated=True))
    assert pushed == f"{bounds.CUT_MARK}q"


def test_little_of_the_output_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: no peer can fill our memory."""
    monkeypatch.setattr(bounds, "TAIL_CHARS_MAX", 4)
    scene = behind()
    _create(scene)
    _poll(scene, "0123456789")
    assert _pushed(_poll(scene, "456789ab", truncated=True)) == ["ab"]


def test_one_push_at_a_time() -> None:
    """Ours: a slow agent slows the polls."""
    scene = behind()
    _create(scene)
    scene.wire.wait(0.2)
    asked = scene.wire.request(CLIENT, "terminal/output")
    scene.wire.answer(CLIENT, asked.key, {"output": "a", "truncated": False})
    push = scene.wire.request(AGENT, "terminal/output")
    scene.wire.wait(5)
    assert scene.wire.take() == []
    scene.wire.answer(AGENT, push.key, {"received": True})
    scene.wire.wait(5)
    scene.wire.request(CLIENT, "terminal/output")


@pytest.mark.parametrize("refusal", ["false", "failure"])
def test_an_agent_that_takes_no_output_is_pushed_none(refusal: str) -> None:
    """Ours: it forgot the terminal, or does not know the method."""
    scene = behind()
    _create(scene)
    scene.wire.wait(0.2)
    asked = scene.wire.request(CLIENT, "terminal/output")
    scene.wire.answer(CLIENT, asked.key, {"output": "a", "truncated": False})
    push = scene.wire.request(AGENT, "terminal/output")
    if refusal == "false":
        scene.wire.answer(AGENT, push.key, {"received": False})
    else:
        scene.wire.fail(AGENT, push.key, -32601)
    scene.wire.wait(5)
    assert scene.wire.take() == []


def test_a_client_that_cannot_tell_the_output_is_polled_no_more() -> None:
    """Ours."""
    scene = behind()
    _create(scene)
    scene.wire.wait(0.2)
    scene.wire.fail(CLIENT, scene.wire.request(CLIENT, "terminal/output").key, -32603)
    assert scene.bridge.wake_at is None


def test_a_terminal_that_ended_is_polled_no_more() -> None:
    """The draft's table 4.3: the poll that tells the end is the last one."""
    scene = behind()
    _create(scene, timeout=5000)
    assert _pushed(_poll(scene, "a", exitStatus={"exitCode": 0})) == ["a"]
    assert scene.bridge.wake_at is None
    key = scene.wire.ask(AGENT, "terminal/wait_for_exit", {"terminalId": "T", "timeout": 9})
    assert scene.wire.result(AGENT, key) == {"exitCode": 0}


# ---- the end


def _wait(scene: Behind, **params: Any) -> int:
    return scene.wire.ask(AGENT, "terminal/wait_for_exit", {"terminalId": "T", **params})


@pytest.mark.rule("D26-11")
@pytest.mark.parametrize(
    ("status", "result"),
    [
        ({"exitCode": 3}, {"exitCode": 3}),
        ({"exitCode": 0, "signal": None}, {"exitCode": 0}),
        (
            {"exitCode": None, "signal": "SIGKILL"},
            {"exitCode": 137, "signal": "SIGKILL", "_meta": {DRAFT: {"exitCode": None}}},
        ),
        ({}, {"exitCode": -1, "_meta": {DRAFT: {"exitCode": None}}}),
    ],
)
def test_the_end_is_told_after_the_last_output(status: Any, result: Any) -> None:
    """The draft's table 4.3: one last poll after exit."""
    scene = behind()
    _create(scene)
    key = _wait(scene)
    asked = scene.wire.one(CLIENT, "terminal/wait_for_exit")
    assert asked.params == {"sessionId": "s", "terminalId": "T"}
    scene.wire.answer(CLIENT, asked.key, status)
    told = _poll(scene, "bye\n")
    assert _pushed(told) == ["bye\n"]
    assert told[-1] == Result(key, result)
    assert scene.bridge.wake_at is None


def test_a_poll_that_began_before_the_end_is_not_the_last() -> None:
    """The draft's table 4.3."""
    scene = behind()
    _create(scene)
    key = _wait(scene)
    wait = scene.wire.one(CLIENT, "terminal/wait_for_exit")
    scene.wire.wait(0.2)
    poll = scene.wire.one(CLIENT, "terminal/output")
    scene.wire.answer(CLIENT, wait.key, {"exitCode": 0})
    assert scene.wire.take() == []
    scene.wire.answer(CLIENT, poll.key, {"output": "a", "truncated": False})
    push = scene.wire.request(AGENT, "terminal/output")
    scene.wire.answer(AGENT, push.key, {"received": True})
    told = _poll(scene, "ab")
    assert _pushed(told) == ["b"]
    assert told[-1] == Result(key, {"exitCode": 0})


def test_a_poll_without_news_after_the_end_tells_it() -> None:
    """The draft's table 4.3."""
    scene = behind()
    _create(scene)
    key = _wait(scene)
    wait = scene.wire.one(CLIENT, "terminal/wait_for_exit")
    scene.wire.answer(CLIENT, wait.key, {"exitCode": 0})
    assert _poll(scene, "") == [Result(key, {"exitCode": 0})]


def test_patience_is_raced_and_the_clients_wait_goes_on() -> None:
    """The draft's table 4.3: `timedOut`, and one wait of the client serves whoever asks."""
    scene = behind()
    _create(scene)
    first = _wait(scene, timeout=50)
    wait = scene.wire.one(CLIENT, "terminal/wait_for_exit")
    second = _wait(scene, timeout=9000)
    assert scene.wire.take() == []
    scene.wire.wait(0.06)
    assert scene.wire.take() == [(AGENT, Result(first, {"exitCode": -1, "timedOut": True}))]
    scene.wire.answer(CLIENT, wait.key, {"exitCode": 2})
    assert _poll(scene, "")[-1] == Result(second, {"exitCode": 2})
    assert scene.bridge.wake_at is None


def test_a_wait_that_fails_fails_for_all() -> None:
    """The draft's table 9."""
    scene = behind()
    _create(scene)
    keys = [_wait(scene), _wait(scene, timeout=10)]
    wait = scene.wire.one(CLIENT, "terminal/wait_for_exit")
    scene.wire.fail(CLIENT, wait.key, -32002)
    failed = {one.key: one.code for one in scene.wire.took(AGENT)}
    assert failed == dict.fromkeys(keys, -32004)


def test_a_terminal_that_is_not_of_our_making_is_the_clients_to_judge() -> None:
    """The draft's table 4: the session by the other rules."""
    scene = behind()
    key = scene.wire.ask(AGENT, "terminal/wait_for_exit", {"terminalId": "U"})
    wait = scene.wire.one(CLIENT, "terminal/wait_for_exit")
    scene.wire.answer(CLIENT, wait.key, {"exitCode": 0})
    assert scene.wire.result(AGENT, key) == {"exitCode": 0}


def test_a_command_that_takes_too_long_is_killed() -> None:
    """The draft's table 4.3: the bridge's timer, then `terminal/kill`."""
    scene = behind()
    _create(scene, timeout=150)
    scene.wire.wait(0.12)
    poll = scene.wire.one(CLIENT, "terminal/output")
    scene.wire.answer(CLIENT, poll.key, {"output": "", "truncated": False})
    scene.wire.wait(0.04)
    kill = scene.wire.one(CLIENT, "terminal/kill")
    assert kill.params == {"sessionId": "s", "terminalId": "T"}
    scene.wire.answer(CLIENT, kill.key, {})
    assert scene.wire.take() == []


# ---- ending


@pytest.mark.rule("D26-11")
@pytest.mark.parametrize(("method", "word"), [("kill", "killed"), ("release", "released")])
def test_killing_and_releasing(method: str, word: str) -> None:
    """The draft's table 4.3."""
    scene = behind()
    _create(scene, timeout=9000)
    hints = {"signal": "SIGINT", "force": True} if method == "kill" else {}
    key = scene.wire.ask(AGENT, f"terminal/{method}", {"terminalId": "T", **hints})
    asked = scene.wire.one(CLIENT, f"terminal/{method}")
    kept = {"_meta": {DRAFT: hints}} if hints else {}
    assert asked.params == {"sessionId": "s", "terminalId": "T", **kept}
    scene.wire.answer(CLIENT, asked.key, {})
    assert scene.wire.result(AGENT, key) == {word: True}
    for code, said in ((-32002, {word: False}), (-32603, None)):
        key = scene.wire.ask(AGENT, f"terminal/{method}", {"terminalId": "U"})
        scene.wire.fail(CLIENT, scene.wire.one(CLIENT, f"terminal/{method}").key, code)
        if said is None:
            assert scene.wire.error(AGENT, key).code == -32603
        else:
            assert scene.wire.result(AGENT, key) == said
    assert (scene.bridge.wake_at is None) == (method == "release")


def test_a_released_terminal_tells_no_more() -> None:
    """Ours: a poll under way is forgotten, a wait is answered all the same."""
    scene = behind()
    _create(scene)
    key = _wait(scene)
    wait = scene.wire.one(CLIENT, "terminal/wait_for_exit")
    scene.wire.wait(0.2)
    poll = scene.wire.one(CLIENT, "terminal/output")
    scene.wire.ask(AGENT, "terminal/release", {"terminalId": "T"})
    scene.wire.take()
    scene.wire.answer(CLIENT, poll.key, {"output": "late", "truncated": False})
    assert scene.wire.take() == []
    scene.wire.answer(CLIENT, wait.key, {"exitCode": 0})
    assert scene.wire.result(AGENT, key) == {"exitCode": 0}


def test_a_terminal_that_lives_is_shown_as_one() -> None:
    """The draft's table 5.1."""
    scene = behind()
    _create(scene)
    scene.update("tool_call", {"id": "c", "tool": "terminal/create", "input": {}})
    output = {"type": "terminal", "terminalId": "T", "command": "ls", "stdout": "a", "stderr": "b"}
    (update,) = scene.update("tool_call_update", {"id": "c", "output": output})
    assert update["content"] == [
        {"type": "terminal", "terminalId": "T"},
        {"type": "content", "content": {"type": "text", "text": "ab"}},
    ]


def test_an_end_that_a_poll_told_first_is_told_once() -> None:
    """The draft's table 4.3."""
    scene = behind()
    _create(scene)
    key = _wait(scene)
    wait = scene.wire.one(CLIENT, "terminal/wait_for_exit")
    scene.wire.wait(0.2)
    poll = scene.wire.one(CLIENT, "terminal/output")
    status = {"output": "", "truncated": False, "exitStatus": {"exitCode": 4}}
    scene.wire.answer(CLIENT, poll.key, status)
    assert scene.wire.result(AGENT, key) == {"exitCode": 4}
    scene.wire.answer(CLIENT, wait.key, {"exitCode": 4})
    assert scene.wire.take() == []
