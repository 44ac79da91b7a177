"""What of the traffic is looked at: filters, search, and frames made readable."""

from __future__ import annotations

import json

import pytest

from accord.terminal.model.traffic import Item, Traffic
from accord.terminal.model.traffic_filter import Filter, TrafficView, pretty
from tests.terminal.model.test_traffic import line, talk


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("", [1, 2, 3, 4, 5, 6]),
        ("sent", [1, 5]),
        ("in", [2, 3, 4, 6]),
        ("errors", [2, 5]),
        ("noise", [2]),
        ("requests", [1, 4]),
        ("answers received", [6]),
        ("method:session/prompt", [1, 6]),
        ("session:s1", [1, 3, 4, 5, 6]),
        ("session:other", []),
        ("HELLO", [1, 3]),
        ("hello session/update", [3]),
        ("waiting", []),
    ],
)
def test_a_filter_is_a_few_words(words: str, numbers: list[int]) -> None:
    """Issue 6: filtered by method, direction, session, errors, text."""
    traffic = Traffic()
    talk(traffic)
    view = TrafficView(traffic)
    view.choose(Filter.read(words))
    assert view.numbers == numbers
    assert Filter.read(words).is_empty is (words == "")


def test_new_frames_are_taken_in_unless_it_is_paused() -> None:
    """Issue 6: live."""
    traffic = Traffic(frames_max=10)
    view = TrafficView(traffic)
    view.choose(Filter.read("sent"))
    assert not view.update()
    talk(traffic)
    assert view.update()
    assert view.numbers == [1, 5]
    assert (view.index_of(5), view.index_of(2)) == (1, None)
    view.paused = True
    talk(traffic)
    assert view.update(), "what is too old goes all the same"
    assert view.numbers == [5]
    view.paused = False
    view.update()
    assert view.numbers == [5, 7, 11]


def test_what_waits_for_an_answer_goes_when_it_is_answered() -> None:
    """Issue 6: a question that hangs is what one looks for."""
    traffic = Traffic()
    view = TrafficView(traffic)
    view.choose(Filter.read("waiting"))
    traffic.record("sent", line(id=1, method="a") + line(id=2, method="b"))
    view.update()
    assert view.numbers == [1, 2]
    traffic.record("received", line(id=1, result={}))
    view.update()
    assert view.numbers == [2]


def test_search_goes_round() -> None:
    """Issue 6: searched."""
    traffic = Traffic()
    talk(traffic)
    view = TrafficView(traffic)
    view.update()
    assert view.find("hello", 0) == 0
    assert view.find("hello", 1) == 2
    assert view.find("hello", 3) == 0
    assert view.find("hello", 5, -1) == 2
    assert view.find("nowhere", 0) is None
    view.choose(Filter.read("session:other"))
    assert view.find("hello", 0) is None


def test_a_frame_is_shown_indented_and_bounded() -> None:
    """Rule 6 of the house."""
    assert pretty(Item(1, 0, "sent", b'{"a":["\xc3\xbc"]}')).splitlines()[1] == '  "a": ['
    assert pretty(Item(1, 0, "sent", b"\xff noise")) == "\ufffd noise"
    assert "9 bytes" in pretty(Item(1, 0, "sent", b"", 9))
    long = pretty(Item(1, 0, "sent", json.dumps(["x" * 100_000]).encode()))
    assert len(long) < 10_000
    assert "more characters" in long
    many = pretty(Item(1, 0, "sent", json.dumps(list(range(9000))).encode()))
    assert many.endswith("more lines")
    assert many.count("\n") == 5000
    huge = pretty(Item(1, 0, "sent", b'"' + b"x" * 2_000_000 + b'"'))
    assert len(huge) < 10_000
    deep = pretty(Item(1, 0, "sent", b"[" * 5000 + b"]" * 5000))
    assert deep.startswith("[[")
