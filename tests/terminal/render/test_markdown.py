"""Markdown as lines: what it looks like, and that it never depends on how the text arrived."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import chop_cells
from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.terminal.render.conversation_colours import CONTRAST, DARK, LIGHT, NONE, Palette
from accord.terminal.render.markdown import inline
from accord.terminal.render.markdown.markdown_lines import MarkdownLines
from accord.terminal.render.render_options import Look

# What Markdown is made of, so that random texts are full of half-open structures.
PIECES = [
    *["#", "##", "-", "*", "+", ">", "`", "```", "~~~", "|", "---", "===", "**", "__", "~~"],
    *["x = '''\n" * 26, "- i\n" * 3, "1. i\n\n" * 3],
    *["[a]", "[a]:", "/u", "\\", "!", "<", "&"],
    *["\n", "\n\n", " ", "    ", "\t", "\r\n", "\r", "1. ", "- [ ] ", "- [x] ", "|a|b|\n|-|-|\n"],
    *["word", "日本語", "👩‍💻", "é", "a" * 30, "<br>", "<div>", "&#x202e;", "&lt;", "'t'", '"t"'],
    *[
        "\x1b[31m",
        "\x1b]8;;http://x\x07",
        "\x00",
        "\u202e",
        "\u2028",
        "```python\n",
        "def f(): 'x'",
    ],
    *["![i](u)", "[t](http://u)", "[b][a]", "<http://u>", "://", ":--", ": ", "2) "],
]
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=30).map("".join)


def lines(text: str, width: int = 40, palette: Palette = NONE) -> list[str]:
    """What is seen of a text."""
    return [strip.text.rstrip() for strip in MarkdownLines(Look(width, palette)).set(text)]


def seen(strips: list[Strip]) -> list[list[tuple[str, object]]]:
    """The letters with their styles."""
    return [[(one, part.style) for part in strip for one in part.text] for strip in strips]


@settings(max_examples=400, deadline=None)
@given(texts, st.lists(st.integers(0, 200), max_size=12), st.integers(2, 60))
@example("para\n#", [6], 20)
@example("para\n|a|\n|-x", [11], 20)
@example("# h\n\n[a]: /u\n't\nm\n\n", [8, 14, 16, 17], 20)
@example("[a] b\n\nx\n\ny\n\n[a]: /u", [10, 15], 40)
def test_the_lines_depend_on_the_text_and_not_on_its_pieces(
    text: str, places: list[int], width: int
) -> None:
    """Required: streaming ends with what the whole would have given at once."""
    look = Look(width, DARK)
    growing = MarkdownLines(look)
    for place in sorted(places):
        growing.set(text[:place])
    assert seen(growing.set(text)) == seen(MarkdownLines(look).set(text))


@settings(max_examples=300, deadline=None)
@given(texts, st.integers(1, 100), st.sampled_from([DARK, LIGHT, CONTRAST, NONE]))
def test_no_line_is_too_wide_and_nothing_but_letters_gets_through(
    text: str, width: int, palette: Palette
) -> None:
    """Required: what an agent writes cannot command the terminal, whatever it is."""
    for strip in MarkdownLines(Look(width, palette)).set(text):
        assert strip.cell_length <= width
        assert visible(strip.text) == strip.text
        assert "\n" not in strip.text
        assert all(part.control is None for part in strip)
        assert all(part.style is None or part.style.link is None for part in strip)


@given(texts, texts)
def test_a_text_that_is_replaced_is_shown_as_if_it_were_the_first(old: str, new: str) -> None:
    """Required: a message may be replaced as a whole, in v2."""
    shown = MarkdownLines(Look(40, DARK))
    shown.set(old)
    assert seen(shown.set(new)) == seen(MarkdownLines(Look(40, DARK)).set(new))


def test_finished_blocks_are_never_laid_out_again() -> None:
    """Required: a long message costs its new words only."""
    shown = MarkdownLines(Look(40, DARK))
    before = shown.set("# Head\n\nfirst\n\nsecond\n\nthird")
    after = shown.set("# Head\n\nfirst\n\nsecond\n\nthird one\n\nfourth")
    assert [one is two for one, two in zip(before[:3], after[:3], strict=True)] == [True] * 3


@pytest.mark.rule("V1-PROMPT-13", "V2-UPS-03")
def test_everything_of_commonmark_has_its_look() -> None:
    """Required: text is shown as Markdown."""
    text = (
        "Title\n=====\n\n*a* **b** `c` [d](http://e)\n\n> quote\n\n- one\n  - two\n\n"
        "3. three\n4. four\n\n***\n\n    code\n\nhard  \nbreak\\\nagain"
    )
    assert lines(text) == [
        "Title", "", "a b c d (http://e)", "", "▌ quote", "", "• one", "  ◦ two", "",
        "3. three", "4. four", "", "─" * 40, "", "│ code", "", "hard", "break", "again",
    ]  # fmt: skip


def styles(text: str, word: str) -> str:
    for strip in MarkdownLines(Look(40, NONE)).set(text):
        for part in strip:
            if word in part.text:
                return str(part.style)
    raise AssertionError(word)


@pytest.mark.rule("V1-PROMPT-13", "V2-UPS-03")
@pytest.mark.parametrize(
    ("text", "look"),
    [
        ("**word**", "bold"),
        ("*word*", "italic"),
        ("~~word~~", "strike"),
        ("`word`", "bold"),
        ("# word", "bold underline"),
        ("[word](http://x)", "underline"),
    ],
)
def test_emphasis_is_seen_without_colours(text: str, look: str) -> None:
    """Required: nothing is told by colour alone."""
    assert styles(text, "word") == look


def test_code_is_coloured_by_its_language_and_plain_where_that_is_unknown() -> None:
    """Required: highlighted code."""
    look = Look(40, DARK)

    def colours(language: str) -> set[object]:
        strips = MarkdownLines(look).set(f"```{language}\ndef f(): return 'x'\n```")
        return {part.style.color for part in strips[0] if part.style and part.style.color}

    assert len(colours("python")) > len(colours("no-such-language"))


def test_a_long_block_of_code_keeps_its_state_between_pieces() -> None:
    """Seen elsewhere: the colours turned over in the middle of a long docstring."""
    body = "\n".join(f"    words {number}" for number in range(120))
    strips = MarkdownLines(Look(60, DARK)).set(
        f"```python\ndef f():\n    '''\n{body}\n    '''\n```"
    )
    colours = {str(list(strip)[1].style) for strip in strips[4:110]}
    assert len(colours) == 1


def test_a_fence_that_is_still_open_is_code_already() -> None:
    """Required: what comes is shown as what it will be."""
    assert lines("```\nx = 1\ny") == ["│ x = 1", "│ y"]


def test_task_lists_are_ticked() -> None:
    """GFM."""
    assert lines("- [ ] open\n- [x] done") == ["☐ open", "☑ done"]


def test_a_table_is_aligned_by_cells_of_the_terminal() -> None:
    """Required: wide letters take two cells."""
    assert lines("| a | b |\n|--|--:|\n| 日本 | 1 |\n| x | 22 |") == [
        "a    │  b",
        "─────┼───",
        "日本 │  1",
        "x    │ 22",
    ]


def test_a_table_that_is_too_wide_breaks_in_its_cells() -> None:
    """Required: narrow terminals work."""
    found = lines("| a | b |\n|--|--|\n| one two three | four five six seven |", 24)
    assert found == [
        "a          │ b",
        "───────────┼────────────",
        "one two    │ four five",
        "three      │ six seven",
    ]


def test_a_table_with_no_room_at_all_becomes_lists() -> None:
    """Required: 60 columns work, whatever the table."""
    found = lines("|a|b|c|\n|-|-|-|\n|one word|two words|three words|", 20)
    assert found == ["a: one word", "b: two words", "c: three words"]


def test_html_is_shown_as_text_and_br_breaks() -> None:
    """Required: HTML is text."""
    assert lines("<b>x</b> a<br>b\n\n<div>\ny\n</div>") == [
        "<b>x</b> a",
        "b",
        "",
        "<div>",
        "y",
        "</div>",
    ]


def test_a_link_definition_that_comes_late_reaches_what_was_said_before() -> None:
    """CommonMark: definitions may stand anywhere."""
    shown = MarkdownLines(Look(60, NONE))
    shown.set("see [it]\n\nmore\n\nand more\n\n")
    found = shown.set("see [it]\n\nmore\n\nand more\n\n[it]: http://x.org\n")
    assert found[0].text == "see it (http://x.org)"


def test_wide_letters_break_anywhere_but_before_a_closing_sign() -> None:
    """Required: CJK text has no blanks to break at."""
    assert lines("漢字漢字。漢字", 8) == ["漢字漢", "字。漢字"]


@pytest.mark.parametrize("mark", [">", "- ", "1. ", "> - "])
def test_what_is_nested_too_deep_is_not_dropped(mark: str) -> None:
    """Required: nothing is dropped, however it is wrapped up."""
    assert "hello" in "".join(lines(mark * 60 + "hello"))


def test_a_word_without_end_costs_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 6: quick with any agent.  Five megabytes in one word stopped every key for minutes."""
    looked = 0

    def chop(text: str, width: int) -> list[str]:
        nonlocal looked
        looked += len(text)
        return chop_cells(text, width)

    monkeypatch.setattr(inline, "chop_cells", chop)
    word = "x" * 200_000
    lines = MarkdownLines(Look(40, NONE)).set(word)
    assert "".join(line.text for line in lines) == word
    assert all(line.cell_length <= 40 for line in lines)
    assert looked < 40 * len(word)
