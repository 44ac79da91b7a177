"""The line that a user writes: what a terminal shows is what the line is."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.model.text.display_text import columns
from accord.terminal.plain.input.line_editor import HISTORY_MAX, LineEditor, keys_of

LEFT, RIGHT, UP, DOWN, HOME, END = "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B", "\x01", "\x05"


class Paper:
    """A terminal that knows letters, backspaces and line endings, of one column each."""

    def __init__(self) -> None:
        self.rows = [""]
        self.column = 0

    def write(self, text: str) -> None:
        for letter in text:
            if letter == "\b":
                assert self.column > 0, "a backspace at the edge"
                self.column -= 1
            elif letter == "\n":
                self.rows.append("")
                self.column = 0
            else:
                row = self.rows[-1]
                self.rows[-1] = row[: self.column] + letter + row[self.column + 1 :]
                self.column += 1


def typed(editor: LineEditor, keys: str) -> str:
    return "".join(editor.press(key).echo for key in keys_of(keys))


@given(
    st.lists(
        st.sampled_from(["a", "b", " ", LEFT, RIGHT, UP, DOWN, HOME, END, "\x7f", "\x1b[3~"])
        | st.sampled_from(["\x15", "\x0b", "\x17", "\x1b", "\t", "\x04", "\x1b[Z", "\x0c"]),
        max_size=60,
    )
)
def test_the_terminal_shows_the_line_whatever_is_pressed(keys: list[str]) -> None:
    """Ours: letters, backspaces and nothing else, and yet it is right."""
    editor = LineEditor()
    editor.remember("earlier one")
    editor.remember("x")
    paper = Paper()
    paper.write(editor.shown())
    for key in keys:
        paper.write(editor.press(key).echo)
    assert paper.rows[-1].rstrip() == (editor.mark + editor.text).rstrip()
    assert paper.column == columns(editor.mark) + editor.cursor


@given(st.text(max_size=40))
def test_nothing_that_is_typed_commands_the_terminal(text: str) -> None:
    """Ours: what is pasted comes from anywhere."""
    editor = LineEditor()
    echo = typed(editor, text)
    assert not re.search(r"[\x00-\x07\x0b-\x1f\x7f-\x9f]", echo)


def test_keys_of_a_keyboard_are_told_apart() -> None:
    """Ours: an arrow is one key, and so is Escape alone."""
    assert keys_of("a\x1b[Db\x1b[3~\x1bOA") == ["a", LEFT, "b", "\x1b[3~", "\x1bOA"]
    assert keys_of("\x1b") == ["\x1b"]


def test_a_long_line_is_written_on_and_anew_where_it_is_changed() -> None:
    """Ours: no backspace leads up into the row above."""
    editor = LineEditor()
    editor.width = 10
    assert typed(editor, "abcdefghij") == "abcdefghij"
    assert typed(editor, "\x7f") == "\b \b"
    assert typed(editor, "\x7f") == "\n> abcdefgh"


def test_lines_that_were_said_come_back_and_the_one_begun_is_kept() -> None:
    """Ours: as every shell does it."""
    editor = LineEditor()
    for line in ("one", "two", "two"):
        typed(editor, f"{line}\n")
    typed(editor, f"dra{UP}")
    assert editor.text == "two"
    typed(editor, UP)
    assert editor.text == "one"
    typed(editor, f"{UP}{DOWN}{DOWN}")
    assert editor.text == "dra"
    for number in range(HISTORY_MAX + 5):
        editor.remember(str(number))
    for _ in range(HISTORY_MAX + 10):
        typed(editor, UP)
    assert editor.text == "5", "the oldest are forgotten"


def test_enter_alone_takes_what_is_suggested() -> None:
    """Issue 3: Enter alone sends the sentence."""
    editor = LineEditor()
    editor.suggestion = "fix it"
    pressed = editor.press("\n")
    assert (pressed.echo, pressed.line) == ("fix it", "fix it")


def test_a_secret_is_never_shown_nor_remembered() -> None:
    """Ours: a key is typed into many screens that are recorded."""
    editor = LineEditor()
    editor.is_secret = True
    assert typed(editor, "hunter2\x7f2") == ""
    assert editor.press("\n").line == "hunter2"
    editor.is_secret = False
    typed(editor, UP)
    assert editor.text == ""


def test_the_tab_key_completes_what_is_clear() -> None:
    """Ours: commands are long."""
    words = ["/sessions", "/servers", "/quit"]
    editor = LineEditor(lambda begun: [word for word in words if word.startswith(begun)])
    typed(editor, "/q\t")
    assert editor.text == "/quit"
    typed(editor, "\x15/s\t")
    assert editor.text == "/s"


def test_the_end_of_the_input_is_an_empty_line_only() -> None:
    """Ours: Ctrl-D in a line deletes, as shells have it."""
    editor = LineEditor()
    assert editor.press("\x04").is_end
    typed(editor, f"ab{LEFT}\x04")
    assert editor.text == "a"


def test_a_line_that_is_dropped_is_one_step_back() -> None:
    """Ours: Ctrl-C stops a turn, and the next prompt that was begun meanwhile is not lost by it."""
    editor = LineEditor()
    editor.remember("earlier")
    typed(editor, "begun")
    editor.drop()
    assert editor.text == ""
    typed(editor, UP)
    assert editor.text == "begun"
    typed(editor, "\x1b" + UP)
    assert editor.text == "begun"
    typed(editor, UP)
    assert editor.text == "earlier"
    # What was only recalled is not said twice there.
    typed(editor, "\x1b" + UP)
    assert editor.text == "begun"
    typed(editor, "!\x1b" + UP)
    assert editor.text == "begun!"
    # Nor is what was begun before one looked back lost.
    editor.drop()
    typed(editor, "new" + UP)
    editor.drop()
    typed(editor, UP)
    assert editor.text == "new"


def test_an_answer_that_is_dropped_is_no_history() -> None:
    """Ours: what is written for a form, or a key, is not what is said to the agent."""
    editor = LineEditor()
    editor.keeps_history = False
    typed(editor, "mine")
    editor.drop()
    editor.keeps_history, editor.is_secret = True, True
    typed(editor, "sk-1")
    editor.drop()
    editor.is_secret = False
    typed(editor, UP)
    assert editor.text == ""
