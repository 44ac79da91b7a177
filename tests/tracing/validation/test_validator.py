"""Which rules a recording is seen to break."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.tracing.display.timeline import timeline_of
from accord.tracing.frames import read_frame
from accord.tracing.recording_file import read_recording
from accord.tracing.validation import rules as broken_rules
from accord.tracing.validation.validator import Validator
from tests.tracing.samples import SESSION, Tape, broken, long, prompt, talk


def problems(tape: Tape) -> list[str]:
    """The ids of the rules that a tape breaks, in order."""
    found = timeline_of(read_recording(tape.lines).entries).problems
    return [problem.rule for problem in found]


def test_a_talk_as_it_should_be_breaks_nothing() -> None:
    """Ours: a validator that cries wolf is switched off."""
    assert problems(talk()) == []
    assert problems(long(1000)) == []


def test_each_frame_of_a_bad_talk_is_marked_with_its_rule() -> None:
    """Issue 4: invalid frames marked with the rule they break."""
    assert problems(broken()) == [
        "TR-STDIO-03",
        "TR-STDIO-03",
        "V1-GEN-14",
        "V1-GEN-02",
        "SCHEMA",
        "V1-TOOL-13",
        "V1-GEN-09",
        "V1-EXT-03",
        "V1-GEN-02",
        "SCHEMA",
    ]


def _v2() -> Tape:
    tape = Tape()
    info = {"name": "x", "version": "1"}
    asked = {"protocolVersion": 2, "info": info, "capabilities": {}}
    answer = {"protocolVersion": 2, "info": info, "capabilities": {"session": {}}}
    tape.call("client", "initialize", asked, answer, 0.1)
    return tape


def test_in_v2_the_entries_of_an_array_are_judged() -> None:
    """Issue 13: an array is not a fault there, and what is in it may be one."""
    tape = _v2()
    listed = {"jsonrpc": "2.0", "method": "session/list", "params": {}}
    tape.raw("client", json.dumps([{**listed, "id": 7}, {**listed, "id": 8}]).encode())
    good = {"jsonrpc": "2.0", "result": {"sessions": []}}
    tape.raw("agent", json.dumps([{**good, "id": 8}, {**good, "id": 7}]).encode())
    assert problems(tape) == []
    rows = timeline_of(read_recording(tape.lines).entries).rows
    assert [(row.method, row.frames) for row in rows[1:]] == [("session/list", [3, 4])] * 2
    tape.raw("client", json.dumps([{**listed, "id": 9, "params": {"cursor": 5}}, 5]).encode())
    tape.raw("client", b"[]")
    assert problems(tape) == ["SCHEMA", "TR-STDIO-04", "V2-GEN-06"]


def _both(tape: Tape) -> None:
    tape.ask("client", "session/prompt", prompt("x"))
    tape.message("agent", {"id": 3, "result": {"stopReason": "end_turn"}, "error": {}})


def _cancelled(tape: Tape) -> None:
    turn = tape.ask("client", "session/prompt", prompt("x"))
    tape.message("client", {"method": "session/cancel", "params": {"sessionId": SESSION}})
    tape.message("agent", {"id": turn, "error": {"code": -32603, "message": "aborted"}})


def _not_offered(tape: Tape) -> None:
    option = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
    asked = {"sessionId": SESSION, "toolCall": {"toolCallId": "c"}, "options": [option]}
    outcome = {"outcome": {"outcome": "selected", "optionId": "maybe"}}
    tape.call("agent", "session/request_permission", asked, outcome, 0.1)


def _backwards(tape: Tape) -> None:
    tape.update("tool_call", toolCallId="c", title="T", status="in_progress")
    tape.update("tool_call_update", toolCallId="c", status="pending")


CASES: dict[str, Callable[[Tape], object]] = {
    "V1-GEN-01": lambda tape: tape.raw("client", b'{"method":"$/x"}'),
    "V1-GEN-03": _both,
    "V1-GEN-05": lambda tape: tape.message("client", {"id": None, "method": "_x"}),
    "JSON-RPC": lambda tape: tape.message("agent", {"id": None, "error": {"code": "x"}}),
    "LIM-01": lambda tape: tape.raw(
        "client", b'{"jsonrpc":"2.0","method":"_x","params":' + b"[" * 130 + b"]" * 130 + b"}"
    ),
    "V1-CAP-09": lambda tape: tape.ask("client", "session/list", {}),
    "V1-GEN-06": lambda tape: tape.ask(
        "client", "session/new", {"cwd": "relative", "mcpServers": []}
    ),
    "V1-TOOL-03": _backwards,
    "V1-PERM-03": _not_offered,
    "V1-CANCEL-06": _cancelled,
    "TR-STDIO-04": lambda tape: tape.raw("client", b"hello"),
    "SCHEMA": lambda tape: tape.message("client", {"method": "session/prompt", "params": {}}),
}


@pytest.mark.parametrize("rule", CASES)
def test_a_broken_rule_is_found(rule: str) -> None:
    """Issue 4: judged by the schema and by the rules of JSON-RPC."""
    tape = Tape()
    tape.initialize()
    CASES[rule](tape)
    assert rule in problems(tape)


def test_an_id_that_is_open_is_not_used_again() -> None:
    """JSON-RPC 2.0; V2-GEN-02."""
    tape = Tape()
    tape.initialize()
    tape.message("client", {"id": 9, "method": "_x"})
    tape.message("client", {"id": 9, "method": "_x"})
    assert problems(tape) == ["JSON-RPC"]


def test_nothing_is_asked_before_initialize_and_nothing_that_was_not_offered() -> None:
    """V1-INIT-01, V1-CAP-08."""
    tape = Tape()
    tape.call("client", "session/new", {"cwd": "/", "mcpServers": []}, {"sessionId": "s"}, 0.1)
    asked: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": {}}
    answer = {"protocolVersion": 1, "agentCapabilities": {}}
    tape.call("client", "initialize", asked, answer, 0.1)
    tape.ask("agent", "fs/read_text_file", {"sessionId": "s", "path": "/x"})
    assert problems(tape) == ["V1-INIT-01", "V1-CAP-08"]


def test_v2_is_judged_by_the_rules_of_v2() -> None:
    """Issue 4: the dialect that was agreed on."""
    tape = Tape()
    info = {"name": "x", "version": "1"}
    asked = {"protocolVersion": 2, "info": info, "capabilities": {}}
    tape.call("client", "initialize", asked, {**asked, "capabilities": {"session": {}}}, 0.1)
    tape.call("client", "session/new", {"cwd": "/"}, {"sessionId": "s"}, 0.1)
    tape.update("state_update", state="running")
    tape.raw("agent", b"[]")
    tape.ask("agent", "fs/read_text_file", {"sessionId": "s", "path": "/x"})
    assert problems(tape) == ["V2-GEN-06", "V1-EXT-03"]


def test_the_draft_is_judged_by_its_own_words() -> None:
    """D26-32: its status machine."""
    tape = Tape()
    info = {"name": "x", "version": "1"}
    asked = {"protocolVersion": 1, "clientInfo": info, "capabilities": {"fs": {"read": True}}}
    answer = {"protocolVersion": 1, "agentInfo": info, "capabilities": {}}
    tape.call("client", "initialize", asked, answer, 0.1)
    for status in ("awaiting_permission", "in_progress", "denied", "completed"):
        data = {"id": "c", "status": status}
        params = {"sessionId": "s", "type": "tool_call_update", "data": data}
        tape.message("agent", {"method": "session/update", "params": params})
    assert problems(tape) == ["D26-32"]


def test_every_rule_that_can_be_broken_is_broken_by_a_test() -> None:
    """Issue 4: a rule that nothing shows to fail does not count."""
    shown = {*CASES, *problems(broken()), "V1-INIT-01", "V1-CAP-08"}
    assert {rule.id_in("v1") for rule in broken_rules.ALL} <= shown


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "sessionId",
                    "update",
                    "sessionUpdate",
                    "toolCallId",
                    "status",
                    "options",
                    "outcome",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
METHODS = st.sampled_from(
    ["initialize", "session/new", "session/update", "session/request_permission", "x", "_x"]
)


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([None, 1, "1", 2.5]), METHODS, JSON, JSON))
)
def test_no_sequence_of_frames_is_too_strange(steps: list[tuple[bool, Any, str, Any, Any]]) -> None:
    """Issue 4: the agents may be hostile."""
    validator = Validator()
    for number, (asks, request_id, method, params, result) in enumerate(steps):
        value = {"method": method, "params": params} if asks else {"result": result}
        raw = json.dumps({"jsonrpc": "2.0", "id": request_id, **value}).encode()
        speaker: Any = "client" if asks == (method != "session/update") else "agent"
        for problem in validator.judge(number, 0.0, speaker, raw, read_frame(raw)):
            assert problem.rule
