"""The updates of a document one after the other, translated, and what they add up to.

What a client of another version sees at the end is what a client of the document's own version
sees, but for what the other version has no word for.
"""

from typing import Any

import pytest

from accord.schema.codec import encode
from accord.transcript import Transcript
from accord.translate.message import AGENT, Notification
from tests.examples.bench import Bench
from tests.examples.draft_updates import as_v1
from tests.examples.examples import DOCUMENTS, METHODS, Json, Spoken, read

VERSIONS: tuple[Spoken, ...] = ("v1", "v2", "draft")


def folded(spoken: Spoken, told: list[Json]) -> Transcript:
    """What updates add up to."""
    transcript = Transcript()
    if spoken == "draft":
        updates = list(as_v1(told))
    else:
        row = METHODS[spoken]["session/update"]
        updates = [row.decode_params(encode(params)).update for params in told]
    for update in updates:
        transcript.apply(update)
    return transcript


def seen(transcript: Transcript, target: Spoken) -> Json:
    """What a user sees of it, as far as the target has words for it.

    Prompts are left out: whoever sent one knows it, and only some versions echo it.  The draft has
    no place in an update of a call, so that the first one stays.  v1 has no word for a call that
    was cancelled or denied: it failed.
    """
    return {
        "messages": [one.text for one in transcript.messages if one.role == "agent"],
        "thoughts": [one.text for one in transcript.thoughts],
        "calls": {
            one.tool_call_id: (
                "failed" if target == "v1" and one.status == "cancelled" else one.status,
                [] if target == "draft" else [place.path for place in one.locations],
            )
            for one in transcript.tool_calls
        },
        "plan": [
            (entry.content, entry.status)
            for entry in (transcript.plan.entries if transcript.plan else ())
        ],
        "commands": [(one.name, one.description) for one in transcript.commands],
        "mode": transcript.modes.current,
    }


@pytest.mark.parametrize("target", VERSIONS)
@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_whole_document_adds_up_to_the_same(document: str, target: Spoken) -> None:
    """Issue 5: translates, message by message and in the final transcript."""
    examples = [one for one in read(document) if one.is_update]
    spoken = examples[0].spoken
    if spoken == target != "v2":
        # Nobody translates it.
        return
    bench = Bench(target, spoken)
    bench.begin(prompt=True)
    told: list[Json] = []
    for example in examples:
        said: list[Any] = bench.tell(AGENT, "session/update", example.message["params"])
        told += [one.params for one in said if isinstance(one, Notification)]
    wanted = seen(folded(spoken, [one.message["params"] for one in examples]), target)
    assert seen(folded(target, told), target) == wanted
