"""Markdown on a terminal."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.machine.console.control_characters import visible
from accord.terminal.model.text.display_text import columns, cut
from accord.terminal.plain.display.markdown import Markdown, Prose
from tests.hang_limit import cpu_seconds_max

PAGE = """\
# What it is

A **small** project with `code` in it, and words enough for a second line.

> Somebody said so
> at length.

- one thing
- another thing that is longer than a line of the terminal
  1. with a step

```python
def f():
    return "a long line of code that is cut"
```

| type | to |
|---|---|
| `run` | run it |

The end."""

SHOWN = """\
What it is

A small project with code in it, and
words enough for a second line.

    Somebody said so
    at length.

- one thing
- another thing that is longer than a
  line of the terminal
  1. with a step

    def f():
        return "a long line of code that
     is cut"

  type: to
  run: run it

The end.
"""


def shown(*pieces: str, width: int = 40) -> str:
    """What a terminal without colours shows."""
    out: list[str] = []
    page = Markdown(out.append, lambda text, style: text, width=width)
    for piece in pieces:
        page.feed(piece)
    page.end()
    return "".join(out)


def test_a_page_is_readable_without_its_marks() -> None:
    """Newcomers: fences and pipes on the screen."""
    assert shown(PAGE) == SHOWN


@given(st.lists(st.integers(min_value=0, max_value=len(PAGE)), max_size=30))
def test_pieces_look_as_if_they_had_come_at_once(cuts: list[int]) -> None:
    """Ours: a message streams."""
    places = [0, *sorted(cuts), len(PAGE)]
    pieces = [PAGE[a:b] for a, b in pairwise(places)]
    assert shown(*pieces) == SHOWN


@given(st.text(alphabet="ab `|>#-*1.\n", max_size=200))
def test_any_text_fits(text: str) -> None:
    """Ours: what is not understood is text."""
    out = shown(text, width=20)
    assert all(columns(line) <= 20 for line in out.split("\n"))


def test_words_go_out_as_they_come() -> None:
    """Ours: nobody waits for the end of a paragraph."""
    out: list[str] = []
    page = Markdown(out.append, lambda text, style: text, width=40)
    page.feed("Some words of a para")
    assert "".join(out) == "Some words of a"


def test_a_fence_that_is_not_closed_is_code_to_the_end() -> None:
    """Ours: a model that is cut off in the middle."""
    assert shown("```\na = 1\nb") == "    a = 1\n    b\n"


def test_a_line_end_or_a_colour_in_two_pieces_is_none_to_be_seen() -> None:
    """Ours: a carriage return at the end of a chunk was written out."""
    assert shown("one\r", "\ntwo\r", "\n\r", "\nthree\r") == shown("one\ntwo\n\nthree")
    assert shown("a \x1b", "[3", "1mred") == shown("a red")
    assert "⟨U+000D⟩" in shown("a\r", "b")
    assert "⟨U+001B⟩" in shown("a\x1b")


def shown_of_text_wrap(
    *pieces: str, width: int = 20, first: str = "", rest: str | None = None
) -> str:
    """What a terminal gets; styles are written as <style:text>."""
    written: list[str] = []

    def paint(text: str, style: str) -> str:
        return f"<{style.strip()}:{text}>" if style.strip() else text

    prose = Prose(written.append, paint, width=width, first=first, rest=rest)
    for piece in pieces:
        prose.feed(piece)
    prose.end()
    return "".join(written)


def plain(*pieces: str, width: int = 20, first: str = "", rest: str | None = None) -> str:
    written: list[str] = []
    prose = Prose(written.append, lambda text, style: text, width=width, first=first, rest=rest)
    for piece in pieces:
        prose.feed(piece)
    prose.end()
    return "".join(written)


def test_words_are_wrapped_beneath_where_the_paragraph_began() -> None:
    """Newcomers: no word wrap at 60 and 80 columns."""
    text = plain("one two three four five six", width=14, first="  * ", rest="    ")
    assert text == "  * one two\n    three four\n    five six\n"


def test_a_word_that_is_wider_than_the_line_is_cut() -> None:
    """Ours: a line is never wider than it may be."""
    assert plain("ab " + "x" * 25, width=10) == "ab\nxxxxxxxxxx\nxxxxxxxxxx\nxxxxx\n"


def test_line_ends_and_the_indent_of_a_line_are_kept() -> None:
    """Ours: lists and code in a message stay readable; many empty lines become one."""
    assert plain("a\n  b\n\n\n\nc") == "a\n  b\n\nc\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a **b c** d", "a <bold:b> <bold:c> d\n"),
        ("`x = **y**`", "<code:x> <code:=> <code:**><code:y><code:**>\n"),
        ("(**b**).", "(<bold:b>).\n"),
        ("2 ** 3 * 4", "2 ** 3 * 4\n"),
    ],
)
def test_bold_and_code_are_styled_and_their_marks_are_gone(text: str, wanted: str) -> None:
    """Newcomers: raw Markdown on the screen."""
    assert shown_of_text_wrap(text) == wanted


@given(st.text("ab *`\n", max_size=60), st.lists(st.integers(0, 60)))
def test_pieces_look_as_if_they_had_come_at_once_text_wrap(text: str, places: list[int]) -> None:
    """Ours: tokens break anywhere, in the middle of a mark too."""
    cuts = [0, *sorted(place for place in places if place <= len(text)), len(text)]
    pieces = [text[a:b] for a, b in pairwise(cuts)]
    assert shown_of_text_wrap(*pieces) == shown_of_text_wrap(text)


@given(st.text(max_size=200), st.integers(4, 40))
def test_no_line_is_ever_wider_than_it_may_be(text: str, width: int) -> None:
    """Ours: whatever an agent says."""
    for line in plain(text, width=width, first="- ", rest="  ").split("\n"):
        assert columns(line) <= width


@given(st.text(max_size=200))
def test_nothing_that_an_agent_says_commands_the_terminal(text: str) -> None:
    """Ours: an escape sequence could hide what was asked."""
    assert not set(visible(text)) & {"\x1b", "\r", "\x08", "\x9b", "\u202e"}


def test_wide_letters_count_twice_and_marks_above_letters_not_at_all() -> None:
    """Ours: a terminal does the same."""
    assert [columns(text) for text in ("ab", "日本", "e\u0301")] == [2, 4, 1]
    assert list(cut("日本語", 4)) == ["日本", "語"]
    assert list(cut("", 4)) == [""]


@pytest.mark.parametrize("part", ["`*_**[", "a`a**", "**", "x"])
def test_a_word_without_end_takes_no_time(part: str) -> None:
    """Found in review: one message of a model made Ctrl-C and every time limit wait forever."""
    with cpu_seconds_max(30):
        plain(part * 50_000)
        plain(*[part] * 50_000)
