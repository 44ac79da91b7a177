"""The lines that are typed into."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult
from textual.events import Key

from accord.terminal.screen.prompt.text_area import PromptArea, clean, key_name, teach_alt_enter
from tests.terminal.screen.harness.stage import CJK


class Lines(App[None]):
    """Only the lines."""

    def compose(self) -> ComposeResult:
        yield PromptArea(lambda key: False, lambda text: None)


_STEPS = st.lists(
    st.one_of(
        st.sampled_from(["undo", "redo", "clear", "delete_word_left", "cursor_up", "cursor_right"]),
        st.sampled_from(["a", "word ", "\n", CJK[:40], "x\ny\nz", "\n" * 12, "家族\t"]).map(
            lambda text: f"put {text}"
        ),
        st.sampled_from(["", "one", "two\nlines", "l\n" * 14]).map(lambda text: f"show {text}"),
    ),
    max_size=12,
)


async def test_no_sequence_of_edits_breaks_it() -> None:
    """Ours: found in review, an undo that made the text shorter ended the program."""
    app = Lines()
    async with app.run_test(size=(30, 12)) as pilot:
        area = app.query_one(PromptArea)
        examples: list[list[str]] = []

        @settings(max_examples=25)
        @given(_STEPS)
        def gather(steps: list[str]) -> None:
            examples.append(steps)

        gather()
        for steps in [["show l\nl\nl\nl\nl\nl\nl\nl\nl\nl\nl\nl\n", "undo"], *examples]:
            area.load_text("")
            for step in steps:
                what, _, text = step.partition(" ")
                if what == "put":
                    area.put(text)
                elif what == "show":
                    area.show_text(text)
                elif what == "clear":
                    area.clear()
                else:
                    getattr(area, f"action_{what}")()
            await pilot.pause()
            assert area.wrapped_document.height >= area.document.line_count
            assert area.cursor_location <= area.document.end


@given(st.text())
def test_no_control_character_gets_into_the_text(text: str) -> None:
    """Ours: it is drawn as it is."""
    found = clean(text)
    assert all(letter in "\n\t" or ord(letter) >= 32 for letter in found)
    assert not any("\x7f" <= letter <= "\x9f" for letter in found)
    assert clean(found) == found


def test_line_ends_of_other_systems_are_ours() -> None:
    """Ours."""
    assert clean("a\r\nb\rc\u2028d") == "a\nb\nc\nd"


def test_alt_enter_is_told_from_enter() -> None:
    """Ours: most terminals send ESC and CR for it; it would have sent the prompt."""
    teach_alt_enter()
    teach_alt_enter()
    sent = {"\x1b\r": "alt+enter", "\r": "enter", "\x1b[13;2u": "shift+enter"}
    sent["\x1b[27;2;13~"] = "shift+enter"
    for sequence, name in sent.items():
        keys = [event.key for event in XTermParser().feed(sequence) if isinstance(event, Key)]
        assert [key_name(key) for key in keys] == [name]
