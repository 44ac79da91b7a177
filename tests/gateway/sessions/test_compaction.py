"""Fewer events that show the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.gateway.sessions.compaction import JOINED_BYTES_MAX, Compactor
from accord.gateway.sessions.log_events import ANSWER, PROMPT, UPDATE, Event
from accord.schema import v1, v2
from accord.schema.codec import decode, encode
from accord.transcript import Transcript
from tests.transcript.test_transcript_any_sequence import V1, V2, sequences

READ: dict[str, Any] = {"v1": v1.SessionNotification, "v2": v2.UpdateSessionNotification}
TEXT = st.text(max_size=3).map(lambda words: {"type": "text", "text": words})
CHUNKS = ("agent_message_chunk", "agent_thought_chunk", "user_message_chunk")


def compacted(events: list[Event]) -> list[Event]:
    compactor = Compactor()
    return [*compactor.take(events), *compactor.rest()]


def events_of(steps: list[tuple[str, dict[str, Any]]]) -> list[Event]:
    """The log of these updates, with what nobody is shown between them."""
    found = []
    for seq, (tag, body) in enumerate(steps, 1):
        if tag == "answer":
            found.append(Event(seq, ANSWER, b"{}"))
            continue
        update = {"_meta" if key == "meta_" else key: value for key, value in body.items()}
        params = {"sessionId": "s", "update": {"sessionUpdate": tag, **update}}
        found.append(Event(seq, UPDATE, encode(params)))
    return found


def seen(version: str, events: list[Event]) -> dict[str, Any]:
    """What a client makes of them; states of long ago are not sent."""
    transcript = Transcript()
    for event in events:
        if event.kind == UPDATE and b'"state_update"' not in event.body:
            transcript.apply(decode(READ[version], event.body).update)
    return transcript.dump()


def steps(version: str) -> Any:
    """Any updates, and runs of chunks of text among them."""
    table = {"v1": V1, "v2": V2}[version]
    chunk = st.tuples(
        st.sampled_from(CHUNKS),
        st.fixed_dictionaries({"content": TEXT, "messageId": st.sampled_from("ab")}),
    )
    runs = st.lists(st.one_of(chunk, st.just(("answer", {}))), max_size=6)
    return st.lists(st.one_of(sequences(table), runs), max_size=4).map(
        lambda lists: [step for one in lists for step in one]
    )


@pytest.mark.parametrize("version", ["v1", "v2"])
@given(st.data())
def test_a_snapshot_and_the_rest_show_the_same_as_everything(
    version: str, data: st.DataObject
) -> None:
    """Issue 17: wherever the snapshot ends, and if it is compacted again later."""
    events = events_of(data.draw(steps(version)))
    first, second = sorted(
        (data.draw(st.integers(0, len(events))), data.draw(st.integers(0, len(events))))
    )
    past = compacted(events[:first])
    again = compacted([*past, *events[first:second]])
    everything = seen(version, events)
    assert seen(version, [*past, *events[first:]]) == everything
    assert seen(version, [*again, *events[second:]]) == everything
    numbers = [event.seq for event in again]
    assert numbers == sorted(set(numbers))


def test_a_run_of_chunks_becomes_one_event_with_the_last_number() -> None:
    chunk = {"content": {"type": "text", "text": "ab"}, "messageId": "m"}
    events = events_of([("agent_message_chunk", chunk)] * 100)
    joined = compacted(events)
    assert [event.seq for event in joined] == [100]
    assert b"ab" * 100 in joined[0].body


def test_joined_events_have_a_bound() -> None:
    chunk = {"content": {"type": "text", "text": "x" * 1000}, "messageId": "m"}
    joined = compacted(events_of([("agent_message_chunk", chunk)] * 1000))
    assert len(joined) > 3
    assert max(len(event.body) for event in joined) < JOINED_BYTES_MAX * 1.1


def test_what_is_not_plain_text_stays_as_it_is() -> None:
    """Bytes that cannot be read too, and prompts."""
    events = [
        Event(1, PROMPT, b'{"author":{},"prompt":[]}'),
        Event(2, UPDATE, b"not JSON"),
        *events_of([("agent_message_chunk", {"content": {"type": "image", "data": ""}})] * 2),
    ]
    assert compacted(events) == events
