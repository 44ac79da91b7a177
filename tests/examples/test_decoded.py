"""Every example message is read by the types of its version, and updates fold without loss."""

import json
from typing import Any

from accord.schema import draft
from accord.schema.codec import encode, to_python
from accord.transcript import Transcript
from tests.examples.draft_updates import as_v1
from tests.examples.examples import METHODS, Example, Json, chosen

# Keys that say how to read the rest.
FORMS = ("sessionUpdate", "type", "sessionId")
# Of the draft only: what an update tells about the change, not about what is so now.  It is in the
# change that the transcript tells of.
OF_THE_CHANGE = ("index", "final", "previousMode", "reason", "previousValue", "source", "steps.id")


def decoded(example: Example) -> Any:
    """The params or the result as a struct, None for what is nobody's type."""
    message, method = example.message, METHODS[example.spoken].get(example.method)
    if method is None:
        assert example.method.startswith("_")
        return None
    if example.kind != "answer":
        assert (method.kind == "request") == (example.kind == "request")
        read = method.decode_params(encode(message["params"]))
        is_draft_update = example.spoken == "draft" and example.is_update
        return draft.decode_update(read, strict=True) if is_draft_update else read
    if "error" in message:
        return None
    return method.decode_result(encode(message["result"]))


def leaves(value: Any, without: tuple[str, ...] = (), inside: str = "") -> list[str]:
    """Every text and number in it, in order, but for those of some names."""
    if isinstance(value, dict):
        return [
            one
            for name, item in value.items()
            if name not in (*FORMS, *without) and f"{inside}.{name}" not in without
            for one in leaves(item, without, name)
        ]
    if isinstance(value, list):
        return [one for item in value for one in leaves(item, without, inside)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def is_in(leaf: str, text: str) -> bool:
    """Whether JSON text has it."""
    return json.dumps(leaf, ensure_ascii=False)[1:-1] in text


@chosen(kind=("request", "notification", "answer"))
def test_every_example_is_read(example: Example) -> None:
    """Issue 5: decodes; and what was read says all that was written."""
    read = decoded(example)
    if read is None:
        return
    message = example.message
    said = message["params"] if "params" in message else message["result"]
    again = json.dumps(to_python(encode(read)), ensure_ascii=False)
    whole = example.update if example.spoken == "draft" and example.is_update else said
    for leaf in leaves(whole):
        assert is_in(leaf, again)


def seen(transcript: Transcript) -> str:
    """All that the transcript has to show."""
    return json.dumps(transcript.dump(), ensure_ascii=False, default=str)


@chosen(is_update=True)
def test_every_update_folds_without_loss(example: Example) -> None:
    """Issue 5: folds into the transcript; every word and number of it is there to see."""
    transcript = Transcript()
    if example.spoken == "draft":
        (update,) = as_v1([example.message["params"]])
    else:
        update = decoded(example).update
    change = transcript.apply(update)
    assert change is not None
    assert not transcript.unknown
    shown = seen(transcript)
    for leaf in leaves(example.update, OF_THE_CHANGE if example.spoken == "draft" else ()):
        assert is_in(leaf, shown), leaf
    told = json.dumps(to_python(encode(change.wire)), ensure_ascii=False)
    assert all(is_in(leaf, told) for leaf in leaves(example.update))


def _blocks(example: Example) -> Any:
    read = decoded(example)
    return read.content if example.spoken == "draft" else read.prompt


@chosen(method="session/prompt", kind="request")
def test_every_prompt_is_a_message_of_the_transcript(example: Example) -> None:
    """Issue 5: folds, with all of its content."""
    transcript = Transcript()
    message = transcript.prompt_sent(_blocks(example))
    assert message.role == "user"
    params: Json = example.message["params"]
    shown = seen(transcript)
    for leaf in leaves(params["content" if example.spoken == "draft" else "prompt"]):
        assert is_in(leaf, shown), leaf
