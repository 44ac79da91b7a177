"""What v2 says about the session as a whole: state, options, usage, child sessions."""

import pytest

from accord.schema import v2
from accord.schema.codec import decode, encode
from accord.transcript import BackgroundItem, Choice, Command, ConfigOption, Cost
from tests.transcript.wire_updates import folding_v2, image, text

OPTION = {
    "configId": "depth",
    "name": "Depth",
    "type": "select",
    "currentValue": "deep",
    "options": [{"value": "deep", "name": "Deep"}],
}


@pytest.mark.rule("V2-PROMPT-13")
def test_an_unknown_state_is_neither_idle_nor_the_former_one() -> None:
    """v2."""
    fold = folding_v2()
    for former in ("running", "idle", "requires_action"):
        fold("state_update", state=former)
        assert fold.dumped("state")["confirmed"] == former
        fold("state_update", state="_x")
        assert not fold.transcript.state.is_idle
        assert fold.dumped("state")["confirmed"] is None
        assert fold.dumped("state")["reported"] == "_x"


@pytest.mark.rule("V2-PROMPT-15")
def test_a_snapshot_that_is_repeated_changes_nothing() -> None:
    """v2: idle twice is one completion."""
    fold = folding_v2()
    fold("state_update", state="running")
    fold("state_update", state="idle", stopReason="end_turn", background=[])
    once = fold.dumped("state")
    update = fold("state_update", state="idle", stopReason="end_turn", background=[])
    assert fold.dumped("state") == once
    assert once["completions"] == 1
    assert (update.kind, update.item) == ("state", fold.transcript.state)
    assert fold.transcript.state.is_idle
    assert repr(fold.transcript.state) == "State('idle', stop_reason='end_turn')"


@pytest.mark.rule("V2-PROMPT-16")
@pytest.mark.parametrize("fields", [{}, {"stopReason": None}, {"stopReason": 5}])
def test_a_stop_reason_that_is_absent_or_malformed_is_not_reported(
    fields: dict[str, object],
) -> None:
    """v2."""
    fold = folding_v2()
    fold("state_update", state="idle", stopReason="end_turn")
    fold("state_update", state="running")
    fold("state_update", state="idle", **fields)
    assert fold.dumped("state")["stopReason"] is None
    assert fold.transcript.state.confirmed == "idle"


@pytest.mark.rule("V2-PROMPT-25")
@pytest.mark.parametrize("fields", [{}, {"background": None}, {"background": 5}])
def test_background_work_that_is_not_reported_is_unknown_not_none(
    fields: dict[str, object],
) -> None:
    """v2."""
    fold = folding_v2()
    fold("state_update", state="idle", background=[])
    assert fold.transcript.state.background == []
    work = [
        {"type": "terminal", "terminalId": "t"},
        {"type": "tool_call", "toolCallId": "c"},
        {"type": "subagent", "sessionId": "s"},
        {"type": "_x"},
    ]
    fold("state_update", state="idle", background=work)
    assert fold.transcript.state.background == [
        BackgroundItem("terminal", "t"),
        BackgroundItem("tool_call", "c"),
        BackgroundItem("subagent", "s"),
        BackgroundItem("_x", None),
    ]
    assert fold.dumped("state")["background"][3] == {"type": "_x", "id": None}
    fold("state_update", state="idle", **fields)
    assert fold.dumped("state")["background"] is None


TOKENS = {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}


@pytest.mark.rule("V2-SESS-14")
def test_the_snapshot_after_a_resume_completes_nothing_and_uses_nothing() -> None:
    """v2: only work that was seen running can end."""
    fold = folding_v2()
    fold("state_update", state="idle", stopReason="end_turn", usage=TOKENS)
    fold.transcript.session_setup(v2.ResumeSessionResponse())
    state = fold.transcript.state
    assert (state.confirmed, state.completions, state.tokens) == ("idle", 0, None)
    fold("state_update", state="running")
    fold("state_update", state="unknown")
    fold("state_update", state="idle", stopReason="end_turn", usage=TOKENS)
    assert state.completions == 1
    assert fold.dumped("state")["tokens"] == TOKENS


def test_a_stop_by_error_carries_the_error() -> None:
    """v2; the next work takes it back."""
    fold = folding_v2()
    error = {"code": -32603, "message": "broken"}
    fold("state_update", state="idle", stopReason="error", error=error)
    assert fold.dumped("state")["error"] == error
    fold("state_update", state="running")
    assert fold.dumped("state")["error"] is None


@pytest.mark.rule("V2-SESS-04")
def test_a_state_that_overtakes_the_new_session_stands() -> None:
    """v2: a new session is idle unless an update has already said something else."""
    response = v2.NewSessionResponse(session_id="s")
    fold = folding_v2()
    fold("state_update", state="running")
    fold.transcript.session_setup(response)
    assert fold.transcript.state.confirmed == "running"
    quiet = folding_v2()
    quiet.transcript.session_setup(response)
    assert quiet.transcript.state.confirmed == "idle"
    odd = folding_v2()
    odd("state_update", state="_x")
    odd.transcript.session_setup(response)
    assert odd.transcript.state.confirmed is None


@pytest.mark.rule("V2-SESS-13")
def test_a_status_without_a_state_is_not_idle() -> None:
    """v2 (unstable)."""
    fold = folding_v2()
    for body in ({"status": "open"}, {"status": "open", "state": None}):
        fold.transcript.session_setup(decode(v2.SessionStatusResponse, encode(body)))
        assert fold.transcript.state.confirmed is None
    told = {"status": "open", "state": {"state": "requires_action"}}
    fold.transcript.session_setup(decode(v2.SessionStatusResponse, encode(told)))
    assert fold.transcript.state.confirmed == "requires_action"


@pytest.mark.rule("V2-CFG-05")
def test_unknown_categories_and_types_of_options_are_tolerated() -> None:
    """v2."""
    fold = folding_v2()
    group = {"groupId": "g", "name": "G", "options": [{"value": "deep", "name": "Deep"}]}
    fold(
        "config_option_update",
        configOptions=[
            {**OPTION, "category": "_x", "description": "how far"},
            {"configId": "b", "name": "B", "type": "boolean", "currentValue": False},
            {"configId": "c", "name": "C", "type": "_x", "currentValue": [1]},
            {"type": "_y"},
            {**OPTION, "configId": "d", "options": [group]},
        ],
    )
    deep = (Choice("deep", "Deep"),)
    grouped = (Choice("deep", "Deep", group_id="g", group_name="G"),)
    assert list(fold.transcript.config_options) == [
        ConfigOption("depth", "Depth", "select", "deep", deep, "how far", "_x"),
        ConfigOption("b", "B", "boolean", value=False),
        ConfigOption("c", "C", "unknown"),
        ConfigOption("", "", "unknown"),
        ConfigOption("d", "Depth", "select", "deep", grouped),
    ]
    assert fold.dumped("configOptions")[4]["choices"][0]["groupName"] == "G"


def test_an_option_of_category_mode_is_shown_as_the_modes_while_it_is_there() -> None:
    """Ours: who looks at the modes need not know which version is spoken."""
    fold = folding_v2()
    modes = fold.transcript.modes
    choices = [{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}]
    option = {**OPTION, "configId": "how", "category": "mode", "options": choices}
    fold("config_option_update", configOptions=[OPTION, {**option, "currentValue": "code"}])
    assert (modes.current, [mode.mode_id for mode in modes.available]) == ("code", ["ask", "code"])
    fold("config_option_update", configOptions=[OPTION])
    assert (modes.current, modes.available) == (None, ())


def test_the_answers_that_open_a_session_bring_options_and_commands() -> None:
    """v2: and a change of an option brings the whole list."""
    fold = folding_v2()
    body = {
        "sessionId": "s",
        "configOptions": [OPTION],
        "availableCommands": [
            {"type": "command", "name": "a", "description": "A"},
            {
                "type": "command",
                "name": "b",
                "description": "B",
                "input": {"type": "text", "hint": "what"},
            },
            {"type": "_macro", "name": "c", "description": "C", "steps": [1]},
            {"type": "command", "name": "d", "description": "D", "input": {"type": "_form"}},
        ],
    }
    fold.transcript.session_setup(decode(v2.NewSessionResponse, encode(body)))
    assert list(fold.transcript.commands) == [
        Command("a", "A"),
        Command("b", "B", "what"),
        Command("c", "C"),
        Command("d", "D"),
    ]
    assert fold.dumped("commands")[1] == {"name": "b", "description": "B", "hint": "what"}
    fold.transcript.session_setup(v2.ForkSessionResponse(session_id="f"))
    assert len(fold.transcript.config_options) == 1
    fold.transcript.session_setup(v2.SetSessionConfigOptionResponse(config_options=[]))
    assert len(fold.transcript.config_options) == 0
    update = fold("available_commands_update", availableCommands=[])
    assert update.kind == "commands"
    assert list(fold.transcript.commands) == []


@pytest.mark.rule("V2-CFG-11")
def test_a_cost_that_is_left_out_stays_and_null_clears_it() -> None:
    """v2."""
    fold = folding_v2()
    seen = []
    cost = {"amount": 1.0, "currency": "USD"}
    for fields in ({"cost": cost}, {}, {"cost": None}):
        fold("usage_update", used=5, size=10, **fields)
        seen.append(fold.transcript.usage.cost)
    assert seen == [Cost(1.0, "USD"), Cost(1.0, "USD"), None]
    assert fold.dumped("usage") == {"used": 5, "size": 10, "cost": None}


def test_notices_compactions_and_messages_between_sessions_stand_in_the_timeline() -> None:
    """v2."""
    fold = folding_v2()
    fold("notice", severity="info", title="N", description=None)
    fold("compaction_update", compactionId="k", status="in_progress")
    chunk = fold("compaction_summary_chunk", compactionId="k", content=text("short"))
    whole = fold("compaction_update", compactionId="k", status="completed", summary=[text("s")])
    assert fold("compaction_summary_chunk", compactionId="k", content=image()).text == ""
    assert (chunk.text, whole.text) == ("short", "s")
    fold("session_message", messageId="m", senderSessionId="a", content=[text("x")])
    assert fold("session_message_chunk", messageId="m", content=text("y")).text == "y"
    fold("subagent_update", sessionId="c", title="Child", state={"state": "idle"})
    kinds = [entry["type"] for entry in fold.dumped("timeline")]
    assert kinds == ["notice", "compaction", "session_message", "subagent"]
    assert fold.dumped("sessionMessages")[0]["text"] == "xy"
    assert fold.transcript.subagents[0].state.is_idle
    fold("subagent_update", sessionId="c", state=None)
    assert fold.transcript.subagents[0].state.confirmed is None


def test_an_unknown_update_is_kept() -> None:
    """v2: `plan` and `tool_call` of v1 are not words of v2."""
    fold = folding_v2()
    for tag in ("plan", "tool_call", "_x"):
        assert fold(tag, entries=[], title="T").kind == "unknown"
    assert [variant.tag for variant in fold.transcript.unknown] == ["plan", "tool_call", "_x"]
    assert len(fold.dumped("unknown")) == 3
