"""Text of others: what may reach a terminal, and that nothing else does."""

from __future__ import annotations

import re
import sys
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from accord.machine.console.control_characters import visible
from accord.terminal.model.text.display_text import (
    MARKS_MAX,
    columns,
    cut,
    exact_code,
    one_line,
    sgr_only,
)

BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "\x1b\x9b\x9d\x90\x9c\x07\x08\r\n\t\x18[]P_^X\\;:?0123456789mKHJ\u202e\u200d\u0301"
        ),
    ),
    max_size=80,
)
SGR = re.compile(r"\x1b\[[0-9;]{1,64}m")


def commands(text: str) -> list[str]:
    """The characters of a text that a terminal could act on, line endings aside."""
    return [c for c in text if c != "\n" and category(c) in ("Cc", "Cf", "Cs")]


@given(HOSTILE)
def test_nothing_harmless_can_command_a_terminal(text: str) -> None:
    """Issue 6: everything an agent sends is untrusted."""
    clean = visible(text)
    assert not commands(clean)
    assert not BIDI & set(clean)
    assert visible(clean) == clean


@given(st.binary(max_size=80))
def test_bytes_of_any_kind_are_harmless_once_they_are_text(data: bytes) -> None:
    """Issue 6: the output of a command is bytes."""
    for text in (data.decode("utf-8", "replace"), data.decode("latin-1")):
        assert not commands(visible(text))
        assert not commands(SGR.sub("", sgr_only(text)))


@given(HOSTILE)
def test_nothing_but_colours_survives_in_output(text: str) -> None:
    """Issue 6: SGR colours only."""
    clean = sgr_only(text)
    assert not commands(SGR.sub("", clean))
    assert sgr_only(clean) == clean


@given(HOSTILE, st.integers(0, 30))
def test_one_line_is_one_line_of_at_most_its_width(text: str, width: int) -> None:
    """Ours: titles and paths stand in one line."""
    line = one_line(text, width)
    assert "\n" not in line
    assert not commands(line)
    assert columns(line) <= width
    assert "\n" not in one_line(text)


def test_every_control_and_format_character_of_python_is_known() -> None:
    """Ours: the ranges are written out, and a newer Unicode may have more."""
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert not commands(visible(everything))


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain", "plain"),
        ("a\tb\n\tc", "a   b\n    c"),
        ("a\r\nb\r\r\nc\rd", "a\nb\nc⟨U+000D⟩d"),
        ("a\u2028b", "a\nb"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "⟨U+001B⟩]0;title⟨U+0007⟩text"),
        ("\x1b]8;;http://x\x1b\\li", "⟨U+001B⟩]8;;http://x⟨U+001B⟩\\li"),
        ("\x1bPq#0\x1b\\after", "⟨U+001B⟩Pq#0⟨U+001B⟩\\after"),
        ("\x9b2Jgone", "⟨U+009B⟩2Jgone"),
        ("\x1b]0;never ended", "⟨U+001B⟩]0;never ended"),
        ("\x1b(Btext", "⟨U+001B⟩(Btext"),
        ("user\u202egnp.exe", "user⟨U+202E⟩gnp.exe"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("👨\u200d👩\u200d👧 ❤\ufe0f 👍\U0001f3fd", "👨👩👧 ❤ 👍"),
        ("half \ud83d", "half ⟨U+D83D⟩"),
        ("שלום 漢字 é", "שלום 漢字 é"),
        ("\U0010eeee", "⟨U+10EEEE⟩"),
        ("\x1bca reset \x1b7", "⟨U+001B⟩ca reset ⟨U+001B⟩7"),
    ],
)
def test_what_is_left_is_what_was_written(text: str, clean: str) -> None:
    """Issue 12: letters of all scripts stay, and other characters are written out."""
    assert visible(text) == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain = 'é 漢字'", "plain = 'é 漢字'"),
        ("\ta\tb", "    a   b"),
        ("\x1b[31mred\x1b[0m", "⟨U+001B⟩[31mred⟨U+001B⟩[0m"),
        (r"\x1b[31m", r"\x1b[31m"),
        ("a\x00b\x07\x08\r\x7f", "a⟨U+0000⟩b⟨U+0007⟩⟨U+0008⟩⟨U+000D⟩⟨U+007F⟩"),
        ("\x9b2J", "⟨U+009B⟩2J"),
        ("if admin\u202e // \u2066x", "if admin⟨U+202E⟩ // ⟨U+2066⟩x"),
        ("zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"),
        ("a\u2028b", "a⟨U+2028⟩b"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("❤\ufe0f 👍", "❤ 👍"),
        ("❤\ufe0f\ufe0f a\ufe0f", "❤⟨U+FE0F⟩⟨U+FE0F⟩ a⟨U+FE0F⟩"),
        ("half \ud83d", "half ⟨U+D83D⟩"),
    ],
)
def test_a_line_of_a_file_has_all_that_it_has(text: str, clean: str) -> None:
    """Ours: who reviews a change sees what it really contains."""
    assert exact_code(text) == clean


@given(HOSTILE)
def test_a_line_of_a_file_commands_nothing(text: str) -> None:
    """Issue 6: everything an agent sends is untrusted."""
    clean = exact_code(text)
    assert "\n" not in clean
    assert visible(clean) == clean
    assert exact_code(clean) == clean


def test_accents_do_not_pile_up_over_other_lines() -> None:
    """Ours: a letter with a hundred accents is drawn over what stands above it."""
    assert visible("a" + "\u0301" * 100) == "a" + "\u0301" * MARKS_MAX + "⟨U+0301 ×92⟩"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("\x1b[31mred\x1b[0m plain", "\x1b[0;31mred\x1b[0m plain"),
        ("\x1b[1;38;5;200mx", "\x1b[0;1;38;5;200mx\x1b[0m"),
        ("\x1b[38:2::1:2:3mx", "\x1b[0;38;2;1;2;3mx\x1b[0m"),
        ("\x1b[8;5mseen\x1b[m", "seen"),
        ("\x1b[?1m\x1b[>4;2mx", "x"),
        ("10%\r20%\r100%\n", "100%\n"),
        ("working\rdone", "doneing"),
        ("working\r\x1b[Kdone", "done"),
        ("working\x1b[2Kdone", "done"),
        ("\x1b[32mok\x1b[0m\rno", "no"),
        ("abc\b\bX", "aXc"),
        ("o\bo", "o"),
        ("a\tb", "a       b"),
        ("\x1b[2J\x1b[1;1H\x1b[?25lx", "x"),
        ("\x1b]0;title\x07x\x1b]8;;u\x1b\\y", "xy"),
        ("\x1b]0;cut off\nnext", "\nnext"),
        ("\x1bPq...\nmore\x1b\\x", "x"),
        ("\x9dtitle\x9cx\x90q\x9cy", "xy"),
        ("\x1b_Gf=100;AAAA\x1b\\x", "x"),
        ("\x1b^never ended", ""),
        ("cut \x1b[3", "cut "),
        ("x\x1b", "x"),
    ],
)
def test_output_is_what_would_stand_on_the_screen(text: str, clean: str) -> None:
    """Issue 6: terminal output with colours, carriage returns handled."""
    assert sgr_only(text) == clean


@pytest.mark.parametrize(
    "attack",
    [
        "\x1b[1",
        "\x1b]",
        "\x1bP",
        "\x9b",
        "\ra",
        "a\b",
        "\x1b[K",
        "\x1b[2Ka",
        "\x1b[1m",
        "\u0301",
        "\t",
    ],
)
def test_cleaning_costs_the_length_of_the_text(attack: str) -> None:
    """Issue 6: no output of an agent may freeze the screen.

    A megabyte of each: anything but a linear pass would meet the time limit of the tests.
    """
    text = attack * (300_000 // len(attack))
    visible(text)
    sgr_only("x" * 300_000 + text)


@given(st.text(max_size=40), st.integers(2, 20))
def test_columns_and_cuts_agree_with_what_the_screen_measures(text: str, width: int) -> None:
    """Ours: the plain mode and the full screen break lines alike."""
    text = "".join(c for c in one_line(text) if category(c) not in ("Cn", "So", "No", "Lo"))
    assert columns(text) == cell_len(text)
    parts = list(cut(text, width))
    assert "".join(parts) == text
    assert all(columns(part) <= width for part in parts)
