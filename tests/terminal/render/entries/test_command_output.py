"""Output of commands: live, in colours, the last lines of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color

from accord.terminal.model.text.output_lines import Ink
from accord.terminal.render.conversation_colours import DARK, NONE, Palette
from accord.terminal.render.entries.command_output import (
    FOLDED_LINES,
    UNFOLDED_LINES,
    OutputRows,
    TerminalBlock,
    command_lines,
    ink_style,
    is_embedded,
)
from accord.transcript import TERMINAL_BYTES_MAX, ExitStatus, Terminal
from tests.terminal.render.scene import FOLDER, Scene, a_look, check, text_of


def started(scene: Scene, command: str = "make", cwd: str = FOLDER) -> Terminal:
    scene.chat.transcript.terminal_started("t", command, cwd)
    scene.chat._catch_up()
    terminal = scene.chat.transcript.terminal("t")
    assert terminal is not None
    return terminal


def shown_after(*chunks: bytes) -> str:
    terminal, rows = Terminal("t"), OutputRows()
    for chunk in chunks:
        terminal.append(chunk)
        rows.read(terminal)
    return text_of(rows.last(a_look(), 40, 100)[0])


def test_a_terminal_of_its_own_shows_command_output_and_state() -> None:
    """v2: agents have terminals that no tool call shows."""
    scene = Scene()
    terminal = started(scene, "make \x1b[1mall", "/srv")
    assert scene.shown() == "$ make all\n  in /srv\n  running"
    terminal.append(b"one\ntwo\n")
    terminal.patch(exit_status=ExitStatus(0))
    assert scene.shown() == "$ make all\n  in /srv\n  │ one\n  │ two\n  exit code 0"
    terminal.patch(exit_status=ExitStatus(None, "SIGKILL"))
    assert scene.shown().endswith("│ two\n  │ ended by SIGKILL")
    assert scene.block().text() == "$ make all\none\ntwo"


def test_a_terminal_that_a_call_shows_is_not_shown_twice() -> None:
    """Ours: it stands on the card, from the moment that the call says so."""
    scene = Scene()
    started(scene)
    block = scene.block()
    assert isinstance(block, TerminalBlock)
    assert block.render(a_look(), scene.chat)
    scene.call(content=[{"type": "terminal", "terminalId": "t"}])
    assert is_embedded("t", scene.chat)
    call = scene.chat.transcript.tool_call("c")
    assert call is not None
    assert block.concerns(call)
    assert block.concerns(block.entry)
    assert not block.concerns(scene.chat.remark("x"))
    block.invalidate()
    assert block.render(a_look(), scene.chat) == []
    assert block.estimate(a_look()) == scene.block(0).estimate(a_look()) == 0
    # Once the call shows something else, the terminal is not lost.
    scene.call(content=[])
    assert not is_embedded("t", scene.chat)


def test_only_the_last_lines_are_shown_and_the_others_counted() -> None:
    """Issue 6: tail-capped."""
    scene = Scene()
    terminal = started(scene)
    terminal.append(b"".join(b"line %d\n" % number for number in range(2000)))
    folded = scene.shown().split("\n")
    assert folded[1] == f"  │ … {2000 - FOLDED_LINES} lines above"
    assert folded[-2] == "  │ line 1999"
    unfolded = scene.unfolded().split("\n")
    assert len(unfolded) == UNFOLDED_LINES + 3
    assert scene.block().estimate(a_look()) > 1


def test_every_byte_is_read_once() -> None:
    """Issue 6: not quadratic as output grows."""
    terminal, rows = Terminal("t"), OutputRows()
    fed = 0
    feed = rows._lines.feed

    def counting(text: str) -> None:
        nonlocal fed
        fed += len(text)
        feed(text)

    rows._lines.feed = counting  # type: ignore[method-assign]
    chunk = b"a line of output that is of usual length\n" * 200
    look = a_look()
    many = 2 * TERMINAL_BYTES_MAX // len(chunk)
    for _ in range(many):
        terminal.append(chunk)
        rows.read(terminal)
        _, above = rows.last(look, 80, 10)
    assert terminal.truncated
    assert fed == many * len(chunk)
    assert above == many * 200 - 10


def test_of_very_much_at_once_the_end_is_read() -> None:
    """Ours: scrolling to a command that printed a megabyte takes no time."""
    terminal, rows = Terminal("t"), OutputRows()
    terminal.append(b"".join(b"line %06d\n" % number for number in range(50_000)))
    rows.read(terminal)
    strips, above = rows.last(a_look(), 40, 10)
    assert strips[-1].text == "line 049999"
    assert above == 50_000 - 10


def test_lines_are_laid_out_once() -> None:
    """Ours: a thousand lines on the screen cost the ones that are new."""
    terminal, rows = Terminal("t"), OutputRows()
    terminal.append(b"one\ntwo\nthr")
    rows.read(terminal)
    first, _ = rows.last(a_look(), 40, 10)
    terminal.append(b"ee\n")
    rows.read(terminal)
    second, _ = rows.last(a_look(), 40, 10)
    assert [one is other for one, other in zip(first, second, strict=True)] == [True, True, False]
    other, _ = rows.last(a_look(palette=NONE), 40, 10)
    assert text_of(other) == text_of(second)


def test_a_snapshot_replaces_what_was_there() -> None:
    """v2: `terminal_update` with output is the whole of it."""
    terminal, rows = Terminal("t"), OutputRows()
    terminal.append(b"one\n")
    rows.read(terminal)
    terminal.replace(b"two\n")
    rows.read(terminal)
    assert text_of(rows.last(a_look(), 40, 10)[0]) == "two"
    assert not rows.is_empty


@given(st.binary(max_size=60), st.integers(0, 60))
def test_pieces_look_like_the_whole(data: bytes, at: int) -> None:
    """Ours: characters and commands are cut anywhere."""
    assert shown_after(data[:at], data[at:]) == shown_after(data)


def test_progress_bars_overwrite_themselves() -> None:
    """Issue 6: carriage returns handled."""
    assert shown_after(b"10%\r", b"50%\r", b"100%\n", b"done") == "100%\ndone"


def test_a_line_without_end_shows_its_end() -> None:
    """Ours: the work is that of what can be seen."""
    terminal, rows = Terminal("t"), OutputRows()
    terminal.append(b"\x1b[31mx" * 30_000 + b"\x1b[0m" + b"y" * 200_000 + b"end")
    rows.read(terminal)
    strips, above = rows.last(a_look(), 40, 5)
    assert len(strips) == 5
    assert above == 0
    assert strips[-1].text.endswith("end")
    check(strips, 40)


def test_the_front_that_is_not_kept_is_said() -> None:
    """Design: terminal output kept is bounded."""
    scene = Scene()
    terminal = started(scene)
    terminal.append(b"x" * (TERMINAL_BYTES_MAX + 1))
    assert "earlier output was omitted" in scene.shown()


@pytest.mark.parametrize(
    ("ink", "palette", "colour"),
    [
        (Ink(front=1), DARK, DARK.error.color),
        (Ink(front=(201, 202, 203)), DARK, Color.from_rgb(201, 202, 203)),
        (Ink(front=1), NONE, None),
    ],
)
def test_colours_are_styles(ink: Ink, palette: Palette, colour: Color | None) -> None:
    """Issue 6: SGR colours only, and none where there are none."""
    assert ink_style(ink, palette).color == colour


def test_long_commands_are_cut() -> None:
    """Ours: a script as a command does not fill the screen."""
    shown = text_of(command_lines("echo x\n" * 20, a_look()))
    assert shown == "$ echo x\n  echo x\n  echo x\n  echo x\n  …"
    assert len(text_of(command_lines("x" * 100_000, a_look())).split("\n")) == 5
