"""A v1 agent's writes and commands are asked of the v2 client, one question for each act."""

from collections.abc import Callable
from typing import Any

import pytest

from accord.jsonrpc.error_codes import METHOD_NOT_FOUND, PERMISSION_DENIED, REQUEST_CANCELLED
from accord.translate.message import (
    AGENT,
    CLIENT,
    HOST,
    Json,
    NothingAllowed,
    Notification,
    Request,
)
from tests.translate.v1_agent.agent_messages import tool
from tests.translate.v1_agent.scripted_peers import Stage

BOTH = frozenset({"fs", "terminal"})
SESSION = {"sessionId": "s1"}
WRITE = {**SESSION, "path": "/somewhere/link/a", "content": "new\n"}
RUN = {**SESSION, "command": "make", "args": ["all of it"]}
OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]


def working(**how: Any) -> Stage:
    stage = Stage(host=BOTH, **how)
    stage.working()
    return stage


def writes(stage: Stage, old: str | None = "old\n") -> int:
    """The agent writes a file, and the host has found it."""
    key = stage.ask("fs/write_text_file", WRITE, AGENT)
    located = stage.opened("host/locate", HOST)
    assert located.params == {**SESSION, "path": WRITE["path"]}
    stage.to_host.append(located)
    stage.reply("host/locate", {"at": "/somewhere/real/a", "oldText": old}, HOST)
    return key


def runs(stage: Stage) -> int:
    return stage.ask("terminal/create", RUN, AGENT)


ACTS: tuple[tuple[Callable[[Stage], int], str], ...] = (
    (writes, "fs/write_text_file"),
    (runs, "terminal/create"),
)


def asked_of_host(stage: Stage) -> list[str]:
    return [one.method for one in stage.to_host if isinstance(one, Request)]


def test_a_write_is_asked_with_its_diff_and_done_where_it_was_shown() -> None:
    """Issue 12: what v1 asks a client to do is asked by `session/request_permission`."""
    stage = working()
    writes(stage)
    assert asked_of_host(stage) == []
    question = stage.decide("allow").params
    assert question["title"] == "Write /somewhere/link/a"
    assert [one["kind"] for one in question["options"]] == ["allow_once", "reject_once"]
    call = question["subject"]["toolCall"]
    assert (call["kind"], call["locations"]) == ("edit", [{"path": "/somewhere/real/a"}])
    (diff,) = call["content"]
    assert "-old\n+new\n" in diff["patch"]["text"]
    assert stage.opened("fs/write_text_file", HOST).params == {**WRITE, "at": "/somewhere/real/a"}


@pytest.mark.parametrize(("old", "operation"), [(None, "add"), ("", "modify")])
def test_the_diff_says_whether_the_file_is_new(old: str | None, operation: str) -> None:
    stage = working()
    writes(stage, old)
    (diff,) = stage.decide("allow").params["subject"]["toolCall"]["content"]
    assert diff["changes"] == [{"operation": operation, "path": "/somewhere/real/a"}]


def test_the_call_of_a_write_ends_as_the_write_does() -> None:
    """Ours: a v2 client sees no call that never ends."""
    for answer, status in (("result", "completed"), ("error", "failed")):
        stage = working()
        key = writes(stage)
        stage.decide("allow")
        if answer == "result":
            stage.reply("fs/write_text_file", {}, HOST)
            assert stage.answer(key) == {}
        else:
            stage.fail("fs/write_text_file", -32603, "disk full", side=HOST)
            assert stage.error(key).message == "disk full"
        assert stage.said() == ["requires_action", "running", f"tool write-fresh-3 {status}"]


def test_a_write_behind_an_agent_that_cannot_load_is_in_the_log() -> None:
    """Ours: whoever opens the session again sees it."""
    stage = Stage(host=BOTH)
    stage.working(agent={})
    writes(stage)
    stage.decide("reject")
    log = stage.adapter.sessions["s1"].log
    assert log is not None
    told = [one for one in log.replay() if one["sessionUpdate"] == "tool_call_update"]
    assert [one.get("status") for one in told] == ["pending", "failed"]


def test_a_command_is_asked_with_its_folder_and_then_started() -> None:
    stage = working()
    key = runs(stage)
    assert asked_of_host(stage) == []
    question = stage.decide("allow").params
    assert question["title"] == "Run make 'all of it'"
    assert question["subject"] == {"type": "command", "command": "make 'all of it'", "cwd": "/work"}
    assert stage.opened("terminal/create", HOST).params == RUN
    assert key not in stage.answers


def test_variables_of_a_command_are_shown() -> None:
    """Issue 12: with the command; `PATH` may make it another one."""
    stage = working()
    stage.ask("terminal/create", {**RUN, "env": [{"name": "PATH", "value": "/evil"}]}, AGENT)
    assert stage.decide("reject").params["subject"]["command"] == (
        "env PATH=/evil make 'all of it'"
    )


@pytest.mark.parametrize(("act", "method"), ACTS)
@pytest.mark.parametrize("answer", ["reject", None, "nonsense"])
def test_what_is_no_yes_is_a_refusal_that_the_agent_can_read(
    act: Callable[[Stage], int], method: str, answer: str | None
) -> None:
    """Issue 12: nothing happens unasked; v1's error for what is not permitted."""
    stage = working()
    key = act(stage)
    stage.decide(answer)
    error = stage.error(key)
    assert (error.code, error.data) == (PERMISSION_DENIED, {"reason": "permission_denied"})
    assert method not in asked_of_host(stage)
    assert stage.adapter.sessions["s1"].questions == {}


@pytest.mark.parametrize(("act", "method"), ACTS)
def test_a_client_that_cannot_be_asked_allows_nothing(
    act: Callable[[Stage], int], method: str
) -> None:
    stage = working()
    key = act(stage)
    stage.fail("session/request_permission", METHOD_NOT_FOUND, side=CLIENT)
    assert stage.error(key).code == PERMISSION_DENIED
    assert method not in asked_of_host(stage)


@pytest.mark.parametrize(("act", "method"), ACTS)
def test_every_act_is_a_question_of_its_own(act: Callable[[Stage], int], method: str) -> None:
    """Issue 12: once per action, several at once."""
    stage = working()
    first, second = act(stage), act(stage)
    stage.decide("reject")
    stage.decide("allow")
    assert stage.error(first).code == PERMISSION_DENIED
    stage.reply(method, {"terminalId": "x1"} if method == "terminal/create" else {}, HOST)
    assert second in stage.answers
    assert asked_of_host(stage) == []


@pytest.mark.parametrize(("act", "method"), ACTS)
def test_a_turn_that_is_cancelled_takes_the_question_along(
    act: Callable[[Stage], int], method: str
) -> None:
    """Issue 12: cancelling during the question."""
    stage = working()
    key = act(stage)
    question = stage.opened("session/request_permission", CLIENT)
    stage.tell("session/cancel", SESSION)
    assert stage.error(key).code == PERMISSION_DENIED
    assert Notification("$/cancel_request", {"requestId": question.key}) in stage.to_client
    stage.to_client.append(question)
    stage.decide("allow")
    assert method not in asked_of_host(stage)
    if act is writes:
        assert stage.said()[-1] == "tool write-fresh-3 cancelled"


@pytest.mark.parametrize(("act", "method"), ACTS)
@pytest.mark.parametrize("is_prompted", [True, False])
def test_an_agent_that_goes_on_after_the_cancel_is_refused_without_a_question(
    act: Callable[[Stage], int], method: str, is_prompted: bool
) -> None:
    """Issue 12: whoever stops the turn is not asked about it once more."""
    stage = approving("y")
    if not is_prompted:
        # Work of the agent's own, after its turn.
        stage.end()
        stage.update(tool(toolCallId="t2", title="More"))
    stage.tell("session/cancel", SESSION)
    stage.updates()
    assert stage.error(act(stage)).code == PERMISSION_DENIED
    params = {**SESSION, "toolCall": {"toolCallId": "t1"}, "options": OPTIONS}
    key = stage.ask("session/request_permission", params, AGENT)
    assert stage.answer(key) == {"outcome": {"outcome": "cancelled"}}
    form = {"mode": "form", "message": "?", "requestedSchema": {"type": "object"}}
    key = stage.ask("elicitation/create", {**SESSION, **form}, AGENT)
    assert stage.answer(key) == {"action": "cancel"}
    assert method not in asked_of_host(stage)
    assert not any(isinstance(one, Request) for one in stage.to_client)
    # The next turn is another one.
    if is_prompted:
        stage.end("cancelled")
    stage.prompt()
    stage.updates()
    act(stage)
    stage.decide("reject")


@pytest.mark.parametrize(("act", "method"), ACTS)
def test_an_agent_that_takes_its_request_back_is_told_so(
    act: Callable[[Stage], int], method: str
) -> None:
    stage = working()
    key = act(stage)
    question = stage.opened("session/request_permission", CLIENT)
    stage.tell("$/cancel_request", {"requestId": key}, AGENT)
    assert Notification("$/cancel_request", {"requestId": question.key}) in stage.to_client
    stage.to_client.append(question)
    stage.decide(None)
    assert stage.error(key).code == REQUEST_CANCELLED
    assert method not in asked_of_host(stage)


@pytest.mark.parametrize(("act", "method"), ACTS)
def test_an_agent_that_dies_during_the_question_gets_nothing_done(
    act: Callable[[Stage], int], method: str
) -> None:
    stage = working()
    act(stage)
    question = stage.opened("session/request_permission", CLIENT)
    stage.die()
    stage.to_client.append(question)
    stage.decide("allow")
    assert method not in asked_of_host(stage)


def test_a_file_outside_of_the_folders_is_refused_without_a_question() -> None:
    """Ours: nobody is asked about what cannot be."""
    stage = working()
    key = stage.ask("fs/write_text_file", WRITE, AGENT)
    stage.fail("host/locate", PERMISSION_DENIED, "outside", side=HOST)
    assert stage.error(key).message == "outside"
    assert stage.to_client == []


@pytest.mark.parametrize(("act", "method"), ACTS)
def test_a_session_that_nobody_watches_gets_nothing_done(
    act: Callable[[Stage], int], method: str
) -> None:
    """Ours: an agent that cannot close sessions works on in one that its client has closed."""
    stage = Stage(host=BOTH)
    stage.start({"loadSession": True})
    stage.new()
    stage.ask("session/close", SESSION)
    assert stage.error(act(stage)).code == PERMISSION_DENIED
    assert method not in asked_of_host(stage)
    assert stage.to_client == []


class OneYes(NothingAllowed):
    """Covers one act of whatever call was allowed."""

    def __init__(self, cwd: str) -> None:
        self.calls: list[Json] = []
        self.count = 0

    def told(self, call: Json) -> None:
        self.calls.append(dict(call))

    def asked(self, call: Json) -> Callable[[bool], None]:
        self.told(call)

        def answered(is_allowed: bool) -> None:
            self.count += is_allowed

        return answered

    def covers(self, method: str, params: Json) -> bool:
        self.count -= 1
        return self.count >= 0

    def clear(self) -> None:
        self.count = 0


def approving(answer: str | None) -> Stage:
    """The agent has asked for a tool call itself, and got this answer."""
    stage = working(approvals=OneYes)
    stage.update(tool(title="Make"))
    stage.updates()
    params = {**SESSION, "toolCall": {"toolCallId": "t1", "kind": "execute"}, "options": OPTIONS}
    stage.ask("session/request_permission", params, AGENT)
    stage.decide(answer)
    stage.updates()
    return stage


@pytest.mark.parametrize(("act", "method"), ACTS)
def test_a_call_that_the_agent_asked_for_covers_its_act_once(
    act: Callable[[Stage], int], method: str
) -> None:
    """Issue 12: one yes for one act."""
    stage = approving("y")
    approvals = stage.adapter.sessions["s1"].approvals
    assert isinstance(approvals, OneYes)
    assert [one["toolCallId"] for one in approvals.calls] == ["t1", "t1"]
    act(stage)
    assert method in asked_of_host(stage)
    act(stage)
    assert asked_of_host(stage).count(method) == 1
    stage.decide("reject")


@pytest.mark.parametrize("answer", ["n", None, "nonsense"])
def test_a_call_that_was_not_allowed_covers_nothing(answer: str | None) -> None:
    stage = approving(answer)
    runs(stage)
    assert asked_of_host(stage) == []
    stage.decide("reject")


def test_an_approval_ends_with_its_turn() -> None:
    stage = approving("y")
    stage.end()
    runs(stage)
    assert asked_of_host(stage) == []
    stage.decide("reject")
