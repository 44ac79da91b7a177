"""What a translator tells of a draft agent's tool calls, in `_meta` of v1."""

from typing import Any

import pytest

from accord.schema.codec import to_python
from accord.schema.method import DRAFT_META
from accord.transcript import ConfigOption, ExitStatus, FileDiff
from tests.transcript.wire_updates import Folding, folding_v1


def _call(fold: Folding, call_id: str = "c", **told: Any) -> Any:
    fold("tool_call_update", toolCallId=call_id, meta_={DRAFT_META: told})
    return fold.transcript.tool_call(call_id)


def test_facts_of_a_call_are_merged_and_null_takes_one_back() -> None:
    """Ours: each update tells a part of them."""
    fold = folding_v1()
    assert DRAFT_META not in _call(fold, status=None).meta
    call = _call(fold, status="denied", requiresPermission=True)
    _call(fold, duration=7, status=None)
    assert to_python(call.meta[DRAFT_META]) == {"requiresPermission": True, "duration": 7}
    _call(fold, duration=None, requiresPermission=None)
    assert to_python(call.meta[DRAFT_META]) == {}
    fold("tool_call_update", toolCallId="c", meta_={"k": 1})
    assert to_python(call.meta["k"]) == 1
    fold("tool_call_update", toolCallId="c", name="n")
    assert call.name == "n"


@pytest.mark.parametrize(
    ("meta", "patch"),
    [
        ({DRAFT_META: {"patch": "@@"}}, "@@"),
        ({DRAFT_META: {"patch": 5}}, None),
        ({DRAFT_META: 5}, None),
        ({}, None),
    ],
)
def test_a_diff_may_be_a_patch(meta: Any, patch: str | None) -> None:
    """Ours: the draft has hunks and no texts."""
    fold = folding_v1()
    diff = {"type": "diff", "path": "/a", "newText": "x", "_meta": meta}
    fold("tool_call_update", toolCallId="c", content=[diff])
    (found,) = fold.transcript.tool_calls[0].diffs
    whole = FileDiff("/a", operation="add", new_text="x")
    assert found == (whole if patch is None else FileDiff("/a", patch=patch))


def test_the_output_of_a_command_is_a_terminal() -> None:
    """Ours: it comes whole, running or ended."""
    fold = folding_v1()
    _call(fold, terminal={"terminalId": "t", "command": "make", "stdout": "half"})
    (terminal,) = fold.transcript.terminals
    assert (terminal.command, terminal.text, terminal.exit_status) == ("make", "half", None)
    _call(fold, terminal={"terminalId": "t", "stdout": "all", "stderr": "!", "exitCode": 2})
    assert (terminal.command, terminal.text) == ("make", "all!")
    assert terminal.exit_status == ExitStatus(2)


@pytest.mark.parametrize("told", [5, {}, {"terminalId": 5}])
def test_an_output_that_names_no_terminal_is_none(told: Any) -> None:
    """Ours."""
    fold = folding_v1()
    _call(fold, terminal=told)
    assert not fold.transcript.terminals


def test_nobody_writes_into_a_terminal_of_the_client() -> None:
    """Ours: what the client runs, it shows itself."""
    fold = folding_v1()
    fold.transcript.terminal_started("t", "make")
    fold.transcript.terminal_output("t", b"true")
    _call(fold, terminal={"terminalId": "t", "stdout": "forged", "exitCode": 0})
    (terminal,) = fold.transcript.terminals
    assert (terminal.text, terminal.exit_status) == ("true", None)


def test_an_option_of_any_value_shows_it() -> None:
    """Ours: the draft never says which values there are."""
    fold = folding_v1()
    deep = {"id": "deep", "name": "deep", "type": "any", "currentValue": [3]}
    model = {"id": "model", "name": "model", "type": "any", "category": "model"}
    fold("config_option_update", configOptions=[deep, model])
    assert list(fold.transcript.config_options) == [
        ConfigOption("deep", "deep", "unknown", [3]),
        ConfigOption("model", "model", "unknown", None, category="model"),
    ]


@pytest.mark.parametrize(
    ("audience", "shown"),
    [(["assistant"], ""), (["user"], "hm"), (["user", "assistant"], "hm"), (None, "hm")],
)
def test_a_thought_for_the_model_alone_is_told_without_its_words(
    audience: list[str] | None, shown: str
) -> None:
    """Ours: the draft's `visible` is an audience in v1."""
    fold = folding_v1()
    content: dict[str, Any] = {"type": "text", "text": "hm"}
    if audience is not None:
        content["annotations"] = {"audience": audience}
    assert fold("agent_thought_chunk", content=content).text == shown
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    assert fold("agent_thought_chunk", content=picture).text == ""
    assert fold.transcript.thoughts[0].text == "hm"


@pytest.mark.parametrize(
    ("told", "position"),
    [
        ({}, "2"),
        ({"column": 3}, "2:3"),
        ({"column": 3, "endLine": 4, "endColumn": 1}, "2:3-4:1"),
        ({"endLine": 4, "column": True}, "2-4"),
    ],
)
def test_columns_and_ranges_of_a_place_are_shown(told: Any, position: str) -> None:
    """Issue 15: v1 has only the line."""
    fold = folding_v1()
    place = {"path": "/a", "line": 2, "_meta": {DRAFT_META: told}}
    fold("tool_call", toolCallId="c", title="x", locations=[place, {"path": "/b"}])
    first, second = fold.transcript.tool_calls[0].locations
    assert (first.path, first.line, first.position) == ("/a", 2, position)
    assert (second.path, second.line, second.position) == ("/b", None, "")


def test_a_call_that_was_denied_is_cancelled_and_says_so() -> None:
    """Issue 15: the two are told apart."""
    fold = folding_v1()
    for word in ("denied", "cancelled"):
        fold("tool_call", toolCallId=word, title="x", status=word)
        fold("tool_call_update", toolCallId=word, status="completed")
    found = [(call.status, call.reported_status) for call in fold.transcript.tool_calls]
    assert found == [("cancelled", "denied"), ("cancelled", "cancelled")]
