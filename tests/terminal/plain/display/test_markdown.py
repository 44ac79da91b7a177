"""Markdown on a terminal."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.model.text.display_text import columns
from accord.terminal.plain.display.markdown import Markdown

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
