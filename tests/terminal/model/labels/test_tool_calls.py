"""Words for what agents do."""

from __future__ import annotations

import pytest

from accord.schema.struct import Raw
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.amounts_and_durations import (
    cost_words,
    count_words,
    counted,
    duration_words,
    size_words,
    usage_words,
)
from accord.terminal.model.labels.stop_reasons_and_exit_codes import exit_words, stop_words
from accord.terminal.model.labels.tool_calls import (
    STATE_SIGNS,
    call_name,
    call_state,
    call_title,
    kind_sign,
    kind_word,
    parent_of,
    plain_value,
)
from accord.terminal.model.questions import Question
from accord.terminal.model.text.display_text import columns, path_words
from accord.transcript import Cost, ExitStatus, ToolCall, Usage
from accord.transcript.items.tool_call import KINDS_OF_TOOL


def a_call(**members: str) -> ToolCall:
    call = ToolCall("c")
    call.patch(**members)  # type: ignore[arg-type]
    return call


@pytest.mark.parametrize("kind", [*sorted(KINDS_OF_TOOL), "_teleport"])
def test_every_kind_has_a_sign_of_one_column_and_a_word(kind: str) -> None:
    """Issue 6: icon by kind; unknown kinds generically."""
    call = a_call(kind=kind)
    assert columns(kind_sign(call).sign) == columns(kind_sign(call).plain) == 1
    assert kind_sign(call).plain.isascii()
    assert kind_word(call) == {"other": "tool", "switch_mode": "switch mode"}.get(kind, kind)


def test_a_call_without_a_title_is_called_by_its_name_or_kind() -> None:
    """Ours: a card is never empty."""
    assert call_title(a_call(title="\x1b[1m Edit\nit ")) == "Edit it"
    assert call_title(a_call(name="write")) == "write"
    assert call_title(a_call(kind="read")) == "read"
    assert call_title(a_call(kind="\x1b")) == "⟨U+001B⟩"


@pytest.mark.rule("V1-TOOL-12")
def test_the_name_of_a_tool_is_a_second_label_where_the_title_does_not_say_it() -> None:
    """v1: `name` may be shown beside the title."""
    assert call_name(a_call(title="Edit", name="write_file")) == "write_file"
    assert call_name(a_call(title="write", name="write")) == ""
    assert call_name(a_call(name="write")) == ""


def test_customs_of_agents_name_tool_and_parent() -> None:
    """claude-agent-acp: sub-agents' calls are marked in `_meta`."""
    call = a_call(title="Look")
    assert (call_name(call), parent_of(call)) == ("", None)
    call.meta["x"] = Raw(b"7")
    call.meta["claudeCode"] = Raw(b'{"toolName": "Grep\\u001b", "parentToolUseId": "p"}')
    assert (call_name(call), parent_of(call)) == ("Grep⟨U+001B⟩", "p")
    assert plain_value(b"{") is None


@pytest.mark.parametrize(
    ("status", "name", "word"),
    [
        ("pending", "pending", "pending"),
        ("in_progress", "running", "running"),
        ("completed", "done", "done"),
        ("failed", "failed", "failed"),
        ("cancelled", "cancelled", "cancelled"),
        ("paused", "paused", "paused"),
        ("_beaming\x1b[1m", "unknown", "_beaming"),
        ("\x1b", "unknown", "⟨U+001B⟩"),
    ],
)
def test_every_status_has_its_own_word(status: str, name: str, word: str) -> None:
    """Issue 6: unknown statuses are shown generically."""
    state = call_state(a_call(status=status), Chat("/w"))
    assert (state.name, state.word) == (name, word)
    assert columns(STATE_SIGNS[state.name].sign) == 1


def test_what_the_person_did_counts_before_what_the_agent_says() -> None:
    """Issue 6: waiting, denied and cancelled are shown apart."""
    chat, call = Chat("/w"), a_call(status="in_progress")
    chat.transcript.tool_calls.append(call)  # type: ignore[attr-defined]

    class Asked:
        tool_call = call

    chat.questions._waiting.append(Question("permission", Asked(), 0.0))
    assert call_state(call, chat) == ("waiting", "waiting for you", "")
    chat.questions._waiting.clear()
    chat.set_phase("lost")
    assert call_state(call, chat).word == "not finished"
    call.cancelled = True
    assert call_state(call, chat).name == "cancelled"
    chat.denied["c"] = "You said \x1b[1mno."
    call.report("failed")
    assert call_state(call, chat) == ("denied", "denied", "You said no.")
    chat.denied.clear()
    denied = a_call(status="denied")
    assert call_state(denied, chat) == ("denied", "denied", "")


@pytest.mark.rule("V1-PROMPT-15")
def test_a_refusal_says_that_the_prompt_left_the_context() -> None:
    """v1: after `refusal` the prompt and what follows are not part of the next prompt."""
    words = stop_words("refusal")
    assert "It removed your prompt and what followed" in words.text
    assert not words.is_good


@pytest.mark.parametrize(
    "reason", ["end_turn", "max_tokens", "max_turn_requests", "cancelled", "error"]
)
def test_every_stop_reason_is_a_sentence(reason: str) -> None:
    """Issue 6: how a turn ended, in words."""
    assert stop_words(reason).text.endswith(".")
    assert reason not in stop_words(reason).text


def test_an_unknown_stop_reason_is_named_as_it_came() -> None:
    """Issue 6: unknown stop reasons are shown generically."""
    assert stop_words("_tired\x1b[1m") == ("The turn ended: _tired.", False)
    assert stop_words(None).is_good


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.04, "0.0 s"),
        (1.24, "1.2 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 m 00 s"),
        (185, "3 m 05 s"),
        (3720, "1 h 02 m"),
        (-1, "0.0 s"),
        (float("nan"), "0.0 s"),
    ],
)
def test_times_in_words(seconds: float, said: str) -> None:
    """Ours: short, and never "60 s"."""
    assert duration_words(seconds) == said


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (12_345, "12 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (2**64, "18 EB"),
        (10**24, "1000000 EB"),
    ],
)
def test_sizes_in_words(size: int, said: str) -> None:
    """Ours: three digits at most, up to what a wire can say."""
    assert size_words(size) == said


def test_numbers_of_tokens_and_money() -> None:
    """Issue 6: usage, cost and context."""
    usage = Usage()
    assert usage_words(usage) == ""
    usage.report(12_345, 200_000, Cost(0.1234, "USD"))
    assert usage_words(usage) == "12k of 200k tokens (6 %)"
    usage.report(950, 0, None)
    assert usage_words(usage) == "950 tokens"
    assert count_words(1_234_567) == "1.2M"
    assert cost_words(Cost(0.1234, "USD")) == "$0.12"
    assert cost_words(Cost(3.5, "credits\x1b[1m")) == "3.50 credits"
    assert cost_words(Cost(float("inf"), "")) == "0.00"
    assert cost_words(Cost(1e15, "EUR")) == "€1e+15"
    assert (counted(1, "line"), counted(2, "line")) == ("1 line", "2 lines")


def test_how_commands_end() -> None:
    """v2: both facts may be unknown."""
    assert exit_words(ExitStatus(3)) == "exit code 3"
    assert exit_words(ExitStatus(None, "SIG\x1bKILL")) == "ended by SIG⟨U+001B⟩KILL"
    assert exit_words(ExitStatus()) == "ended"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/w/a.py", "a.py"),
        ("/world/a.py", "/world/a.py"),
        ("/w", "/w"),
        ("/w/\x1b[1mx", "x"),
    ],
)
def test_paths_begin_at_the_folder_of_the_session(path: str, said: str) -> None:
    """Ours: short where nothing is lost."""
    assert path_words(path, "/w/") == said
