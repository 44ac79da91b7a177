"""What updates of v2 add up to: terminals and plans."""

from base64 import b64encode

import pytest

from accord.schema import v2
from accord.transcript import ExitStatus, Plan, Terminal, TerminalSize
from tests.transcript.wire_updates import folding_v2


def encoded(data: bytes) -> str:
    return b64encode(data).decode()


# Terminals


@pytest.mark.rule("V2-UPS-13")
@pytest.mark.parametrize("reference_first", [True, False])
def test_a_terminal_keeps_its_state_whichever_comes_first(reference_first: bool) -> None:
    """v2: the reference in a tool call, or the terminal's own updates."""
    fold = folding_v2()
    content = [{"type": "terminal", "terminalId": "t"}]
    if reference_first:
        fold("tool_call_update", toolCallId="c", content=content)
    fold("terminal_update", terminalId="t", command="make")
    fold("terminal_output_chunk", terminalId="t", data=encoded(b"ok"))
    if not reference_first:
        fold("tool_call_update", toolCallId="c", content=content)
    [item] = fold.transcript.tool_calls[0].content
    assert isinstance(item, v2.Terminal)
    terminal = fold.transcript.terminal(item.terminal_id)
    assert terminal is not None
    assert (terminal.command, terminal.text) == ("make", "ok")
    assert fold.transcript.terminal("other") is None


@pytest.mark.rule("V2-UPS-14")
def test_a_snapshot_replaces_all_bytes() -> None:
    """v2: nothing is spliced; null clears."""
    fold = folding_v2()
    fold("terminal_output_chunk", terminalId="t", data=encoded(b"old"))
    update = fold("terminal_update", terminalId="t", output={"data": encoded(b"new")})
    assert (update.kind, update.text) == ("terminal", "new")
    assert fold("terminal_output_chunk", terminalId="t", data=encoded(b"er")).text == "er"
    terminal = fold.transcript.terminals[0]
    assert terminal.data == b"newer"
    fold("terminal_update", terminalId="t")
    assert terminal.data == b"newer"
    fold("terminal_update", terminalId="t", output=None)
    assert terminal.data == b""


@pytest.mark.rule("V2-UPS-15")
def test_each_chunk_is_decoded_alone_and_characters_survive_the_split() -> None:
    """v2: padding in the middle of the stream, a character in two halves."""
    fold = folding_v2()
    euro = "€".encode()
    told = [
        fold("terminal_output_chunk", terminalId="t", data=encoded(piece)).text
        for piece in (b"a", euro[:2], euro[2:] + b"b")
    ]
    assert told == ["a", "", "€b"]
    assert fold.dumped("terminals")[0]["data"] == encoded(b"a" + euro + b"b")


@pytest.mark.rule("V2-UPS-17")
def test_an_empty_exit_status_is_an_exit() -> None:
    """v2; absent keeps it, null takes it back."""
    fold = folding_v2()
    fold("terminal_update", terminalId="t", exitStatus={})
    terminal = fold.transcript.terminals[0]
    assert terminal.exit_status == ExitStatus()
    assert fold.dumped("terminals")[0]["exitStatus"] == {"exitCode": None, "signal": None}
    fold("terminal_update", terminalId="t", exitStatus={"exitCode": -1, "signal": "SIGTERM"})
    fold("terminal_update", terminalId="t")
    assert terminal.exit_status == ExitStatus(-1, "SIGTERM")
    fold("terminal_update", terminalId="t", exitStatus=None)
    assert terminal.exit_status is None


def test_a_terminal_is_patched_field_by_field() -> None:
    """v2."""
    fold = folding_v2()
    update = fold(
        "terminal_update", terminalId="t", command="c", cwd="/w", size={"cols": 80, "rows": 24}
    )
    terminal = fold.transcript.terminals[0]
    fold("terminal_update", terminalId="t")
    assert update.item is terminal
    assert isinstance(terminal, Terminal)
    assert (terminal.command, terminal.cwd, terminal.size) == ("c", "/w", TerminalSize(80, 24))
    fold("terminal_update", terminalId="t", command=None, cwd=None, size=None)
    assert (terminal.command, terminal.cwd, terminal.size) == (None, None, None)


# Plans


@pytest.mark.rule("V2-CFG-09")
def test_a_plan_update_replaces_that_plan_only() -> None:
    """v2: also by content of a type that we do not know."""
    fold = folding_v2()
    entry = {"content": "do", "priority": "_x", "status": "cancelled"}
    fold("plan_update", plan={"type": "items", "planId": "a", "entries": [entry]})
    fold("plan_update", plan={"type": "items", "planId": "b", "entries": [entry, entry]})
    fold("plan_update", plan={"type": "items", "planId": "a", "entries": []})
    assert [(plan["planId"], len(plan["entries"])) for plan in fold.dumped("plans")] == [
        ("a", 0),
        ("b", 2),
    ]
    fold("plan_update", plan={"type": "_map", "planId": "b", "x": 1})
    second = fold.transcript.plans[1]
    assert (second.form, second.entries) == ("_map", ())
    assert fold.dumped("plans")[1]["received"] == {"type": "_map", "planId": "b", "x": 1}


def test_plans_take_every_form_and_can_be_removed() -> None:
    """v2 (unstable)."""
    fold = folding_v2()
    fold("plan_update", plan={"type": "markdown", "planId": "a", "content": "# A"})
    update = fold("plan_update", plan={"type": "file", "planId": "a", "uri": "file:///a"})
    plan = update.item
    assert isinstance(plan, Plan)
    assert (plan.form, plan.markdown, plan.uri) == ("file", None, "file:///a")
    assert fold("plan_removed", planId="a").item is plan
    assert fold.ignored("plan_removed", planId="a")
    assert fold("plan_update", plan={"type": "_x"}).kind == "unknown"
    fold("plan_update", plan={"type": "_x", "id": "old"})
    assert [plan.plan_id for plan in fold.transcript.plans] == ["old"]
