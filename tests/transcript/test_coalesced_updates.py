"""Updates of one item joined into one, for a consumer that fell behind."""

from collections import defaultdict
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.schema import v1, v2
from accord.transcript import Transcript, Update
from accord.transcript import coalesced_updates as module
from accord.transcript.coalesced_updates import LateUpdates

IMAGE = v2.ImageContent(data=b"1234", mime_type="image/png")
WORDS = st.text("abc é漢", max_size=4)
IDS = st.sampled_from(["1", "2", "3"])


def said(words: str, message_id: str = "1") -> v2.AgentMessageChunk:
    """A chunk of a message."""
    return v2.AgentMessageChunk(message_id=message_id, content=v2.TextContent(text=words))


def _thought(words: str, message_id: str) -> v2.AgentThoughtChunk:
    return v2.AgentThoughtChunk(message_id=message_id, content=v2.TextContent(text=words))


def _shown(words: str, call_id: str) -> v2.ToolCallContentChunk:
    item = v2.Content(content=v2.TextContent(text=words))
    return v2.ToolCallContentChunk(tool_call_id=call_id, content=item)


WIRE_UPDATES = st.one_of(
    st.builds(said, WORDS, IDS),
    st.builds(_thought, WORDS, IDS),
    st.builds(_shown, WORDS, IDS),
    st.builds(lambda one: v2.AgentMessageChunk(message_id=one, content=IMAGE), IDS),
    st.builds(lambda one, title: v2.ToolCallUpdate(tool_call_id=one, title=title), IDS, WORDS),
    st.builds(
        lambda one, words: v2.TerminalOutputChunk(terminal_id=one, data=words.encode()), IDS, WORDS
    ),
    st.builds(lambda used: v2.UsageUpdate(used=used, size=100), st.integers(0, 100)),
    st.builds(lambda title: v2.SessionInfoUpdate(title=title), WORDS),
)
"""What an agent says, but for messages that are replaced as a whole."""


def texts_by_item(updates: Iterable[Update]) -> dict[int, str]:
    """What a loop that prints `update.text` prints of each item; in the order of first sight."""
    texts: dict[int, str] = defaultdict(str)
    for update in updates:
        texts[id(update.item)] += update.text
    return dict(texts)


@given(st.lists(WIRE_UPDATES | st.none(), max_size=60))
def test_nothing_is_lost_and_one_waits_for_each_item(script: list[object]) -> None:
    """Issue 12: whenever the consumer takes, each item's text is whole and in order."""
    transcript, late = Transcript("v2"), LateUpdates()
    told: list[Update] = []
    queue: list[Update] = []
    taken: list[Update] = []
    for step in script:
        update = None if step is None else transcript.apply(step)
        if update is not None:
            told.append(update)
            waits = late.add(update)
            queue += [] if waits is None else [waits]
        elif queue:
            taken.append(late.take(queue.pop(0)))
        assert len({id(one.item) for one in queue}) == len(queue)
        assert bool(late) == bool(queue)
    taken += [late.take(one) for one in queue]
    assert not late
    assert texts_by_item(taken) == texts_by_item(told)
    assert list(texts_by_item(taken)) == list(texts_by_item(told))
    assert {type(one) for one in taken} == {type(one) for one in told}


def test_an_update_that_never_waited_is_taken_as_it_is() -> None:
    """Ours: those that came before the queue was full are in it too."""
    transcript, late = Transcript("v2"), LateUpdates()
    first, second = transcript.apply(said("a")), transcript.apply(said("b"))
    assert first is not None
    assert second is not None
    waits = late.add(second)
    assert waits is not None
    assert late.take(first) is first
    assert late.take(waits).text == "b"


def test_what_waits_is_a_copy_without_what_was_received() -> None:
    """Ours: other consumers have the same update, and what was received may be large."""
    transcript, late = Transcript("v2"), LateUpdates()
    first, second = transcript.apply(said("a")), transcript.apply(said("b"))
    assert first is not None
    assert second is not None
    waits = late.add(first)
    assert late.add(second) is None
    assert waits is not None
    assert late.take(waits).text == "ab"
    assert (first.text, second.text) == ("a", "b")
    assert (first.wire is None, waits.wire) == (False, None)


def test_a_long_message_is_not_held_twice() -> None:
    """Issue 12: the transcript is the truth, and has it already."""
    transcript, late = Transcript("v2"), LateUpdates()
    for number in range(100):
        update = transcript.apply(said(f"{number} "))
        assert update is not None
        late.add(update)
    (text,) = late._texts.values()
    assert isinstance(text, module._Place)
    assert text._before == ["0 "]
    assert text.joined() == transcript.messages[0].text


def test_of_a_message_that_was_replaced_the_new_text_is_told() -> None:
    """Ours: a snapshot takes the place of what came before it, and more may follow."""
    transcript, late = Transcript("v2"), LateUpdates()
    whole = v2.AgentMessage(message_id="1", content=[v2.TextContent(text="new")])
    updates = [transcript.apply(said("a")), transcript.apply(said("b"))]
    waits = late.add(updates[0])  # type: ignore[arg-type]
    late.add(updates[1])  # type: ignore[arg-type]
    for wire in (whole, said("er")):
        update = transcript.apply(wire)
        assert update is not None
        late.add(update)
    assert waits is not None
    taken = late.take(waits)
    assert (taken.text, taken.replaces) == ("newer", True)


def test_text_that_was_replaced_unseen_is_left_out() -> None:
    """Ours: a turn is over, and the next one replaces what it said."""
    transcript, late = Transcript("v2"), LateUpdates()
    waits = late.add(transcript.apply(said("a")))  # type: ignore[arg-type]
    late.add(transcript.apply(said("b")))  # type: ignore[arg-type]
    transcript.apply(v2.AgentMessage(message_id="1", content=[v2.TextContent(text="other")]))
    assert waits is not None
    assert late.take(waits).text == "a"


def test_text_that_is_hidden_stays_hidden() -> None:
    """Ours: a thought for the model alone is in the transcript and in no update."""
    transcript, late = Transcript("v1"), LateUpdates()
    queue: list[Update] = []
    for words, audience in (("a", "user"), ("b", "user"), ("secret", "assistant"), ("c", "user")):
        block = v1.TextContent(text=words, annotations=v1.Annotations(audience=[audience]))
        update = transcript.apply(v1.AgentThoughtChunk(content=block))
        assert update is not None
        queue += filter(None, [late.add(update)])
    assert [late.take(one).text for one in queue] == ["abc"]


def test_of_long_output_the_last_part_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 12: a terminal keeps its last output, and so does what waits of it."""
    monkeypatch.setattr(module, "TEXT_CHARS_MAX", 10)
    monkeypatch.setattr(module, "_PIECES_MAX", 4)
    transcript, late = Transcript("v2"), LateUpdates()
    queue: list[Update] = []
    for number in range(200):
        wire = v2.TerminalOutputChunk(terminal_id="t", data=b"%d " % number)
        update = transcript.apply(wire)
        assert update is not None
        queue += filter(None, [late.add(update)])
        for text in late._texts.values():
            assert isinstance(text, module._Tail)
            assert sum(map(len, text._pieces)) <= 20
    assert [late.take(one).text for one in queue] == ["7 198 199 "]


def test_nothing_waits_after_all_was_forgotten() -> None:
    """Ours: a queue that is dropped."""
    transcript, late = Transcript("v2"), LateUpdates()
    for words in "ab":
        update = transcript.apply(said(words))
        assert update is not None
        late.add(update)
        assert late.is_waiting(update)
    late.clear()
    assert not late
    assert not late._texts
