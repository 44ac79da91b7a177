"""One conversation as a user sees it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from accord.schema import v1
from accord.terminal.model.chat import Chat, Problem, Remark
from accord.transcript import Message, ToolCall, Transcript


class Clock:
    """A time that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def chunk(text: str) -> v1.AgentMessageChunk:
    return v1.AgentMessageChunk(content=v1.TextContent(text=text))


def call(call_id: str, status: str = "in_progress") -> v1.ToolCall:
    return v1.ToolCall(tool_call_id=call_id, title=f"call {call_id}", status=status)


class Talk:
    """A chat and the transcript of its session."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.chat = Chat("/project", clock=self.clock)
        self.transcript = Transcript("v1")
        self.chat.adopt(self.transcript, "s")
        self.told = 0
        self.chat.on_change = self._changed

    def _changed(self) -> None:
        self.told += 1

    def hear(self, wire: object) -> None:
        update = self.transcript.apply(wire)
        assert update is not None
        self.chat.listen(update)


def test_entries_are_the_transcripts_with_our_remarks_between() -> None:
    """Issue 6: nothing is dropped, and what the client says stands where it was said."""
    talk = Talk()
    talk.hear(chunk("one"))
    said = talk.chat.remark("between", "warning", "why")
    talk.hear(call("a"))
    kinds = [type(entry) for entry in talk.chat.entries]
    assert kinds == [Message, Remark, ToolCall]
    assert talk.chat.entries[1] is said


def test_a_view_is_told_which_entries_changed_and_only_once() -> None:
    """Ours: nothing is drawn that did not change."""
    talk = Talk()
    talk.chat.take_changes()
    talk.hear(chunk("a"))
    talk.hear(chunk("b"))
    talk.hear(call("c"))
    changed = talk.chat.take_changes()
    assert [type(one) for one in changed.entries] == [Message, ToolCall]
    assert not changed.is_reset
    assert talk.chat.take_changes().entries == ()
    assert talk.told >= 3


def test_a_prompt_that_the_agent_refused_is_gone_again() -> None:
    """Ours: the transcript takes it out, and so do we."""
    talk = Talk()
    message = talk.transcript.prompt_sent([v1.TextContent(text="no")])
    remark = talk.chat.remark("here")
    assert talk.chat.entries == [message, remark]
    talk.transcript.prompt_rejected(message)
    talk.chat.set_phase("ready")
    assert talk.chat.entries == [remark]
    assert talk.chat.take_changes().is_reset


def test_calls_are_timed_from_their_start_to_their_end() -> None:
    """Issue 6: tool-call cards show how long it took."""
    talk = Talk()
    talk.chat.set_phase("working")
    talk.hear(call("a", "pending"))
    found = talk.transcript.tool_call("a")
    assert found is not None
    assert talk.chat.duration(found) is None
    talk.hear(v1.ToolCallUpdate(tool_call_id="a", status="in_progress"))
    talk.clock.now += 2
    assert talk.chat.duration(found) == 2
    talk.hear(v1.ToolCallUpdate(tool_call_id="a", status="completed"))
    talk.clock.now += 5
    talk.chat.set_phase("ready")
    assert talk.chat.duration(found) == 2


def test_what_was_loaded_has_no_times_and_is_known_as_history() -> None:
    """Ours: a time that was not seen is not invented."""
    talk = Talk()
    talk.hear(call("a", "completed"))
    talk.chat.loaded()
    found = talk.transcript.tool_call("a")
    assert found is not None
    assert talk.chat.duration(found) is None
    assert talk.chat.history_end == 1


def test_quiet_is_counted_while_the_agent_works_and_nobody_is_asked() -> None:
    """Issue 6: an "agent is quiet for N s" state with what it last did."""
    talk = Talk()
    talk.chat.set_phase("working")
    talk.hear(call("a"))
    talk.clock.now += 12
    assert talk.chat.quiet_for == 12
    assert talk.chat.last_did == "call a"
    assert talk.chat.elapsed == 12
    talk.chat.set_phase("ready")
    assert [talk.chat.quiet_for, talk.chat.elapsed] == [None, None]


def test_stopping_marks_the_calls_at_once() -> None:
    """Issue 6: Esc cancels the turn with the tool calls marked at once."""
    talk = Talk()
    talk.chat.set_phase("working")
    talk.hear(call("a"))
    talk.chat.take_changes()
    talk.transcript.turn_cancelled()
    talk.chat.turn_cancelled()
    found = talk.transcript.tool_call("a")
    assert found is not None
    assert found.cancelled
    assert talk.chat.phase == "stopping"
    assert found in talk.chat.take_changes().entries


def test_a_denial_is_known_by_its_call() -> None:
    """Issue 6: waiting, denied and cancelled are shown apart."""
    talk = Talk()
    talk.hear(call("a"))
    talk.chat.take_changes()
    talk.chat.deny("a", "you said no")
    talk.chat.deny("elsewhere", "you said no")
    assert talk.chat.denied == {"a": "you said no", "elsewhere": "you said no"}
    assert talk.chat.take_changes().entries == (talk.transcript.tool_call("a"),)


def test_another_session_takes_the_place_of_what_is_shown_or_goes_on_beneath() -> None:
    """Issue 6: restart with the session resumed where possible."""
    talk = Talk()
    talk.hear(chunk("old"))
    fresh = Transcript("v1")
    talk.chat.adopt(fresh, "s", keep=True)
    talk.transcript = fresh
    talk.hear(chunk("new"))
    assert [entry.text for entry in talk.chat.entries if isinstance(entry, Message)] == [
        "old",
        "new",
    ]
    talk.chat.adopt(Transcript("v1"), "t")
    assert talk.chat.entries == []
    assert talk.chat.session_id == "t"
    assert talk.chat.take_changes().is_reset


def test_the_title_is_the_agents_else_the_first_words() -> None:
    """Issue 6: several sessions in tabs; each needs a name."""
    talk = Talk()
    assert talk.chat.title == ""
    talk.transcript.prompt_sent([v1.TextContent(text="fix  the\nparser")])
    assert talk.chat.title == "fix the parser"
    talk.hear(v1.SessionInfoUpdate(title="Parser"))
    assert talk.chat.title == "Parser"
    talk.chat.own_title = "Mine"
    assert talk.chat.title == "Mine"


def test_a_problem_is_told_and_can_be_put_away() -> None:
    """Issue 6: a failed turn says why."""
    talk = Talk()
    talk.chat.set_problem(Problem("turn_failed", "It failed"))
    before = talk.chat.revision
    talk.chat.set_problem(None)
    assert talk.chat.problem is None
    assert talk.chat.revision > before


def test_a_listener_hears_every_update_after_it_is_in_the_chat() -> None:
    """Ours: the journal and the log stand on this."""
    talk = Talk()
    heard: list[int] = []
    talk.chat.hearers.append(lambda update: heard.append(len(talk.chat.entries)))
    talk.hear(chunk("a"))
    talk.hear(call("b"))
    assert heard == [1, 2]


@given(st.lists(st.sampled_from(["chunk", "call", "remark", "prompt", "reject"]), max_size=30))
def test_every_entry_of_the_transcript_is_shown_once_and_in_order(steps: list[str]) -> None:
    """The invariant at the head of the module, for any course of things."""
    talk = Talk()
    sent: list[Message] = []
    for number, step in enumerate(steps):
        if step == "chunk":
            talk.hear(chunk("x"))
        elif step == "call":
            talk.hear(call(str(number)))
        elif step == "remark":
            talk.chat.remark(str(number))
        elif step == "prompt":
            sent.append(talk.transcript.prompt_sent([v1.TextContent(text=str(number))]))
            talk.chat.set_phase("working")
        elif sent:
            talk.transcript.prompt_rejected(sent.pop())
            if number % 2:
                talk.chat.set_phase("ready")
            else:
                talk.hear(call(str(number)))
    shown = [entry for entry in talk.chat.entries if not isinstance(entry, Remark)]
    assert shown == list(talk.transcript.timeline)
