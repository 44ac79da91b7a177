"""Messages: chunks, whole messages, and blocks that v1 cannot show."""

from typing import Any

import pytest

from accord.translate.message import CLIENT, Notification
from accord.translate.v2_agent.updates import messages as messages_module
from tests.translate.v2_agent.scripted_peers import SESSION, World, X, started


def _chunk(content: Any, message_id: str = "a", kind: str = "agent_message") -> dict[str, Any]:
    block = {"type": "text", "text": content} if isinstance(content, str) else content
    return {"sessionUpdate": f"{kind}_chunk", "messageId": message_id, "content": block}


def _whole(*contents: Any, message_id: str = "a", kind: str = "agent_message") -> dict[str, Any]:
    blocks = [{"type": "text", "text": one} if isinstance(one, str) else one for one in contents]
    return {"sessionUpdate": kind, "messageId": message_id, "content": blocks}


IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


def test_chunks_pass_as_they_come_also_of_messages_in_between() -> None:
    """translate 7: interleaved ids are forwarded as they come."""
    world = started()
    for update in (_chunk("1"), _chunk("2", "b"), _chunk("3"), _chunk("4", kind="agent_thought")):
        assert world.update(update) == [update]
    assert world.losses == {}


def test_a_whole_message_is_a_chunk_per_block() -> None:
    """translate 7: nothing was sent of it before."""
    world = started()
    assert world.update(_whole("x", IMAGE, "y", kind="agent_thought")) == [
        _chunk("x", kind="agent_thought"),
        _chunk(IMAGE, kind="agent_thought"),
        _chunk("y", kind="agent_thought"),
    ]


def test_of_a_whole_message_that_goes_on_only_what_is_new_is_sent() -> None:
    """translate 7: where chunks end is not news."""
    world = started()
    world.update(_chunk("one "))
    world.update(_chunk("two"))
    assert world.update(_whole("one two")) == []
    assert world.update(_whole("one", " two three", IMAGE)) == [_chunk(" three"), _chunk(IMAGE)]
    assert world.update(_whole("one two three", IMAGE, "four")) == [_chunk("four")]
    assert world.update(_chunk("!")) == [_chunk("!")]
    assert world.update(_whole("one two three", IMAGE, "four!")) == []
    assert world.losses == {}


@pytest.mark.parametrize("new", [["two"], [IMAGE, "one"], ["one", "x", IMAGE]])
def test_a_whole_message_that_says_something_else_is_a_new_one(new: list[Any]) -> None:
    """translate 7: v1 cannot replace; the first chunk names what it replaces."""
    world = started()
    world.update(_chunk("one"))
    world.update(_chunk(IMAGE))
    first, *others = world.update(_whole(*new))
    assert first["messageId"] != "a"
    assert first["_meta"] == {X: {"replaces": "a"}}
    assert all(one["messageId"] == first["messageId"] and "_meta" not in one for one in others)
    [more] = world.update(_chunk("more"))
    assert more == _chunk("more", first["messageId"])
    assert world.losses == {"replaced message": 1}


def test_what_is_taken_back_is_noted_on_the_next_chunk() -> None:
    """translate 7: never dropped silently; what follows under that id is a new message."""
    world = started()
    world.update(_chunk("secret"))
    world.update(_chunk("x", "b"))
    assert world.update({"sessionUpdate": "agent_message", "messageId": "a", "content": None}) == []
    assert world.update(_whole()) == []
    [noted] = world.update(_chunk("y", "b"))
    redacted = [{"sessionUpdate": "agent_message_chunk", "messageId": "a"}]
    assert noted == {**_chunk("y", "b"), "_meta": {X: {"redacted": redacted}}}
    [new] = world.update(_chunk("clean"))
    assert new["messageId"] != "a"
    assert new["_meta"] == {X: {"replaces": "a"}}
    assert world.losses == {"redacted message": 1, "replaced message": 1}
    assert world.update(_whole(message_id="c")) == []
    assert world.update(_chunk("z", "c")) == [_chunk("z", "c")]


def test_a_client_that_wants_to_is_told_what_was_taken_back() -> None:
    """translate 7: `_acp/redact` if the peer announced it."""
    world = started({"_meta": {X: {"redact": True}}}, is_exact=False)
    world.update(_chunk("secret"))
    world.update(_whole())
    told = Notification("_acp/redact", {"sessionId": SESSION, "messageId": "a"})
    assert world.sent[-1] == (CLIENT, told)


def test_what_is_attached_to_a_message_goes_with_its_next_chunk() -> None:
    """translate 7: a message update without content."""
    world = started()
    world.update({"sessionUpdate": "agent_message", "messageId": "a", "_meta": {"k": 1}})
    world.update({"sessionUpdate": "agent_message", "messageId": "a", "_meta": {"l": 2}})
    assert world.update({**_chunk("x"), "_meta": {"m": 3}}) == [
        {**_chunk("x"), "_meta": {"k": 1, "l": 2, "m": 3}}
    ]
    assert world.update(_chunk("y")) == [_chunk("y")]
    assert world.update({**_whole("xy", "z"), "_meta": {"n": 4}}) == [
        {**_chunk("z"), "_meta": {"n": 4}}
    ]


def test_what_is_attached_and_finds_no_chunk_is_dropped_with_a_line_in_the_log() -> None:
    """translate 7."""
    world = started()
    world.prompt()
    world.update({"sessionUpdate": "agent_message", "messageId": "a", "_meta": {"k": 1}})
    world.idle()
    assert len(world.logged) == 1
    assert world.update(_chunk("x")) == [_chunk("x")]


def test_only_so_many_messages_and_so_much_of_them_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: what is forgotten counts as something else."""
    monkeypatch.setattr(messages_module, "MESSAGES_KEPT", 2)
    world = started()
    for name in ("a", "b", "c"):
        world.update(_chunk("x", name))
    assert world.update(_whole("x", message_id="c")) == []
    assert world.update(_whole("x", message_id="a")) == [_chunk("x", "a")]
    monkeypatch.setattr(messages_module, "MESSAGE_CHARS_KEPT", 500)
    world = started()
    world.update(_chunk("x" * 300, "a"))
    world.update(_chunk("y", "b"))
    world.update(_chunk("z" * 300, "a"))
    world.update(_chunk("more", "a"))
    [again] = world.update(_whole("x" * 300 + "z" * 300 + "more", message_id="a"))
    assert again["_meta"] == {X: {"replaces": "a"}}
    world.update(_whole("x" * 600, message_id="d"))
    [again] = world.update(_whole("x" * 600, message_id="d"))
    assert again["_meta"] == {X: {"replaces": "d"}}


# ---- blocks


def _block(block: dict[str, Any]) -> tuple[dict[str, Any], World]:
    world = started(is_exact=False)
    [said] = world.update(_chunk(block))
    found: dict[str, Any] = said["content"]
    return found, world


def test_icons_roles_and_sizes_that_v1_has_not_are_kept() -> None:
    """translate 7."""
    icons = [{"src": "https://i"}]
    link = {"type": "resource_link", "name": "n", "uri": "file:///a"}
    said, world = _block({**link, "icons": icons, "size": 2**64 - 1})
    assert said == {**link, "_meta": {X: {"icons": icons, "size": 2**64 - 1}}}
    assert world.losses == {"icons": 1, "size": 1}
    said, world = _block(
        {"type": "text", "text": "t", "annotations": {"audience": ["user", "_robot"]}}
    )
    assert said["annotations"] == {
        "audience": ["user"],
        "_meta": {X: {"audience": ["user", "_robot"]}},
    }
    assert world.losses == {"role": 1}


def test_what_v1_said_before_it_was_v2_comes_back() -> None:
    """translate 7: priorities and sizes without bounds."""
    said, world = _block(
        {
            "type": "resource_link",
            "name": "n",
            "uri": "file:///a",
            "annotations": {"priority": 1, "_meta": {X: {"priority": 7.5}}},
            "_meta": {X: {"size": -1}},
        }
    )
    assert (said["size"], said["annotations"]) == (-1, {"priority": 7.5})
    assert "_meta" not in said
    assert world.losses == {}
    said, _ = _block(
        {"type": "text", "text": "t", "annotations": None, "_meta": {X: {"size": "odd"}}}
    )
    assert said["_meta"] == {X: {"size": "odd"}}
    said, _ = _block({"type": "text", "text": "t", "annotations": {"priority": 0.5}})
    assert said["annotations"] == {"priority": 0.5}
    said, _ = _block({"type": "resource_link", "name": "n", "uri": "file:///a", "size": 5})
    assert said["size"] == 5


def test_a_block_that_v1_has_not_is_a_line_of_text_and_is_kept_whole() -> None:
    """translate 7."""
    odd = {"type": "_chart", "points": [1, 2]}
    said, world = _block(odd)
    assert said == {"type": "text", "text": "[_chart]", "_meta": {X: {"raw": odd}}}
    assert world.losses == {"content block": 1}


def _prompted(block: dict[str, Any]) -> dict[str, Any]:
    world = started(is_exact=False)
    world.ask(CLIENT, "session/prompt", {"sessionId": SESSION, "prompt": [block]})
    [found] = world.agent[-1].params["prompt"]
    return dict(found)


def test_what_a_prompt_brings_is_made_v2s() -> None:
    """translate 7: bounds are kept, and what was kept is itself again."""
    link = {"type": "resource_link", "name": "n", "uri": "file:///a"}
    assert _prompted({"type": "text", "text": "t"}) == {"type": "text", "text": "t"}
    assert _prompted({**link, "size": -1}) == {**link, "_meta": {X: {"size": -1}}}
    icons = [{"src": "https://i"}]
    kept = {X: {"icons": icons, "size": 2**63}}
    assert _prompted({**link, "_meta": kept}) == {**link, "icons": icons, "size": 2**63}
    bad = {X: {"icons": [{"src": 1}], "size": "x"}}
    assert _prompted({**link, "_meta": bad}) == {**link, "_meta": bad}
    odd = {"type": "_chart", "points": [1]}
    assert _prompted({"type": "text", "text": "[_chart]", "_meta": {X: {"raw": odd}}}) == odd
    text = {"type": "text", "text": "t"}
    for raw in ({"type": "image"}, 3, {"type": 3}):
        assert _prompted({**text, "_meta": {X: {"raw": raw}}}) == {
            **text,
            "_meta": {X: {"raw": raw}},
        }


def test_annotations_of_a_prompt_are_made_v2s() -> None:
    """translate 7."""
    text = {"type": "text", "text": "t"}
    assert _prompted({**text, "annotations": {"priority": 5}})["annotations"] == {
        "priority": 1,
        "_meta": {X: {"priority": 5}},
    }
    kept = {"audience": ["user"], "_meta": {X: {"audience": ["user", "_robot"]}}}
    assert _prompted({**text, "annotations": kept})["annotations"] == {
        "audience": ["user", "_robot"]
    }
    for odd in ("x", [1]):
        same = {"priority": 0.5, "_meta": {X: {"audience": odd}}}
        assert _prompted({**text, "annotations": same})["annotations"] == same
    assert _prompted({**text, "annotations": None})["annotations"] is None
