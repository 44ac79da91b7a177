"""Tool calls: announced, patched, and told again."""

from typing import Any

import pytest

from accord.translate.message import CLIENT, Notification
from accord.translate.v2_agent.updates import tool_calls as tool_calls_module
from tests.translate.v2_agent.scripted_peers import World, X, started


def _call(**fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": "t", **fields}


def _text(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _more(text: str, call_id: str = "t") -> dict[str, Any]:
    return {
        "sessionUpdate": "tool_call_content_chunk",
        "toolCallId": call_id,
        "content": _text(text),
    }


def _with_call(**options: Any) -> World:
    world = started(**options)
    world.update(_call(title="T"))
    return world


@pytest.mark.parametrize(
    ("fields", "title"), [({"title": "T"}, "T"), ({"name": "n"}, "n"), ({}, "t")]
)
def test_the_first_that_is_heard_of_a_call_announces_it(fields: Any, title: str) -> None:
    """translate 8: the title is required: `title`, else `name`, else the id."""
    world = started()
    [said] = world.update(_call(**fields, status=None, content=None, rawInput=None))
    meta = said.pop("_meta", None)
    assert said == {"sessionUpdate": "tool_call", "toolCallId": "t", **fields, "title": title}
    assert meta == (None if "title" in fields else {X: {"title": None}})
    assert world.losses == {}


def test_everything_that_both_know_is_copied() -> None:
    """translate 8: unknown fields too."""
    world = _with_call(is_exact=False)
    update = _call(
        name="n",
        title="T2",
        kind="edit",
        status="in_progress",
        content=[_text("x")],
        locations=[{"path": "/a", "line": 3}],
        rawInput={"a": 2**70},
        rawOutput=[1],
        _future=7,
    )
    assert world.update(update) == [update]


def test_nulls_say_the_default_or_are_kept() -> None:
    """translate 8: v1 reads null as no change."""
    world = _with_call()
    [said] = world.update(_call(title=None, kind=None, status=None, content=None, locations=None))
    assert said == _call(
        title="t",
        kind="other",
        status="pending",
        content=[],
        locations=[],
        _meta={X: {"title": None, "kind": None, "status": None}},
    )
    world.update(_call(name="n"))
    [said] = world.update(_call(title=None))
    assert said["title"] == "n"


def test_content_that_is_added_is_sent_as_a_whole_at_most_every_100_ms() -> None:
    """translate 8: v1 knows no appending."""
    world = started()
    [announced, first] = world.update(_more("1"))
    assert announced["sessionUpdate"] == "tool_call"
    assert first == _call(content=[_text("1")])
    assert world.update(_more("2")) == []
    assert world.update(_more("3")) == []
    assert world.translator.wake_at == pytest.approx(world.now + 0.1)
    assert world.pass_time(0.05) == []
    assert world.translator.wake() == []
    [(side, told)] = world.pass_time(0.06)
    assert side is CLIENT
    assert isinstance(told, Notification)
    assert told.params["update"] == _call(content=[_text("1"), _text("2"), _text("3")])
    assert world.translator.wake_at is None
    world.pass_time(1)
    assert world.update(_more("4"))[0]["content"][-1] == _text("4")


def test_what_waits_goes_along_with_the_next_update_of_the_call() -> None:
    """Ours: a status never overtakes content."""
    world = _with_call()
    world.update(_more("1"))
    world.update(_more("2"))
    assert world.update(_call(status="completed")) == [
        _call(status="completed", content=[_text("1"), _text("2")])
    ]
    assert world.translator.wake_at is None
    world.update(_more("3"))
    assert world.update(_call(content=[_text("new")])) == [_call(content=[_text("new")])]


def test_what_waits_is_told_before_the_turn_ends() -> None:
    """Ours: nothing of a turn comes after its answer."""
    world = _with_call()
    key = world.prompt()
    world.update(_more("1"))
    world.update(_more("2"))
    told = world.idle()
    assert told == [_call(content=[_text("1"), _text("2")])]
    assert world.client[-1] is world.answer_to(key)


def test_what_waits_for_a_session_that_is_gone_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: nothing is told of a call that is not known."""
    monkeypatch.setattr(tool_calls_module, "CALLS_KEPT", 1)
    world = _with_call()
    world.update(_more("1"))
    world.update(_more("2"))
    world.update({**_call(title="U"), "toolCallId": "u"})
    assert world.pass_time(1) == []
    world.translator._context.dues["gone", "t"] = 0.0  # pyright: ignore[reportPrivateUsage]
    assert world.pass_time(1) == []


def test_what_is_attached_is_told_as_a_whole() -> None:
    """translate 13: v2 patches by key, v1 replaces."""
    world = started()
    assert world.update(_call(title="T", _meta={"a": 1}))[0]["_meta"] == {"a": 1}
    assert world.update(_call(_meta={"b": 2}))[0]["_meta"] == {"a": 1, "b": 2}
    assert "_meta" not in world.update(_call(status="pending"))[0]
    assert world.update(_call(_meta={"a": None}))[0]["_meta"] == {"a": None, "b": 2}
    [said] = world.update(_more("x"))
    assert said["_meta"] == {"b": 2}
    assert world.update(_call(_meta=None))[0]["_meta"] == {"b": None}
    assert world.update(_call(_meta=None))[0]["_meta"] is None


def test_what_is_attached_to_a_piece_of_content_is_kept_on_it() -> None:
    """Ours: it is not the call's; a terminal has no place for it."""
    world = _with_call()
    [said] = world.update({**_more("x"), "_meta": {"c": 3}})
    assert said == _call(content=[{**_text("x"), "_meta": {X: {"_meta": {"c": 3}}}}])
    world.update(
        {**_more(""), "content": {"type": "terminal", "terminalId": "x"}, "_meta": {"d": 4}}
    )
    assert world.losses == {"terminal": 1, "_meta of a piece of content": 1}


def test_line_0_comes_back() -> None:
    """translate 8: only v1 can say it."""
    world = _with_call()
    [said] = world.update(
        _call(locations=[{"path": "/a", "_meta": {X: {"line": 0}}}, {"path": "/b"}])
    )
    assert said["locations"] == [{"path": "/a", "line": 0}, {"path": "/b"}]


def test_content_that_v1_has_not_is_a_line_of_text_and_is_kept() -> None:
    """translate 7, 8."""
    world = _with_call()
    odd = {"type": "_chart", "points": [1]}
    [said] = world.update(_call(content=[odd]))
    assert said["content"] == [{**_text("[_chart]"), "_meta": {X: {"raw": odd}}}]
    assert world.losses == {"tool call content": 1}


def test_of_calls_that_ended_long_ago_only_the_id_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: memory is bounded."""
    monkeypatch.setattr(tool_calls_module, "ENDED_KEPT", 1)
    world = _with_call()
    world.update(_call(content=[_text("x")], status="completed"))
    world.update({**_call(status="failed"), "toolCallId": "u"})
    world.pass_time(1)
    assert world.update(_more("y")) == [_call(content=[_text("y")])]
    # What still has to be told is not let go.
    assert world.update(_more("z")) == []
    world.update({**_call(status="failed"), "toolCallId": "v"})
    world.update(_call(status="completed"))
    assert world.update(_more("!")) == []
    world.update({**_call(status="failed"), "toolCallId": "w"})
    [(_, told)] = world.pass_time(1)
    assert isinstance(told, Notification)
    assert told.params["update"]["content"] == [_text("y"), _text("z"), _text("!")]


def test_a_call_that_is_forgotten_is_new_when_it_is_heard_of_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: memory is bounded."""
    monkeypatch.setattr(tool_calls_module, "ENDED_KEPT", 1)
    monkeypatch.setattr(tool_calls_module, "CALLS_KEPT", 1)
    world = _with_call()
    for name in ("u", "v", "w"):
        world.update({**_call(status="failed"), "toolCallId": name})
    assert world.update(_call(status="completed"))[0]["sessionUpdate"] == "tool_call"


def test_of_the_content_of_one_call_only_so_much_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: the front goes, and is counted."""
    monkeypatch.setattr(tool_calls_module, "CONTENT_CHARS_KEPT", 1000)
    world = _with_call()
    [said] = world.update(_call(content=[_text("a" * 600), _text("b" * 600)]))
    assert said["content"] == [_text("b" * 600)]
    [said] = world.update(_call(content=[_text("c" * 2000)]))
    assert said["content"] == [_text("c" * 2000)]
    assert world.losses == {"content of a long tool call": 1}


def test_of_the_content_of_all_calls_only_so_much_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: the calls that came first are let go, but for the one that is being told."""
    monkeypatch.setattr(tool_calls_module, "SESSION_CHARS_KEPT", 2000)
    world = _with_call()
    for name in ("t", "u", "v"):
        world.update({**_call(title="T", content=[_text("a" * 400)]), "toolCallId": name})
    world.pass_time(1)
    assert world.update(_more("x")) == [_call(content=[_text("x")])]
    [said] = world.update(_more("x", "v"))
    assert len(said["content"]) == 2
    [said] = world.update(_call(content=[_text("b" * 3000)]))
    assert said["content"] == [_text("b" * 3000)]
