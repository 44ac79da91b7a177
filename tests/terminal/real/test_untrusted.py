"""What an agent sends, as the bytes that reach the terminal: none of its commands is among them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.terminal.real.chat_screen import EMPTY, ChatScreen, agent, cells
from tests.terminal.tmux import needs_tmux

pytestmark = needs_tmux

# The words that stand inside of the agent's own sequences.
PAYLOADS = (b"]0;owned", b"]52;c;b3duZWQ", b"]8;;http://evil", b"P+q544e", b"_Gowned", b"0;c1")
# What only the agent sends: a reset, the other character set, C1 controls.
NEVER = re.compile(
    rb"\x1bc|\x1b\]52|\x1b\]8;|\x1b[P_^X]|\x0e|(?<![\xc2-\xf4\x80-\xbf])[\x90\x9b\x9d]"
)

OUR_TITLES = {f"\x1b]2;{words} — work".encode() for words in ("● needs you", "… working", "accord")}
# What shows the agent's words elsewhere.
SCREENS = {"F6": "Traffic", "F5": "has not changed any files", "F2": "Sessions"}


def test_no_sequence_of_the_agent_reaches_the_terminal(tmp_path: Path) -> None:
    """Issue 6: everything an agent sends is untrusted, wherever it is shown."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        before = chat.sequences()
        chat.say("hostile")
        chat.wait_for("1 y  ✓ Allow")
        chat.press("M-a")
        chat.answer("n", "1 y  ✓ Allow")
        chat.wait_for("That was all.", EMPTY)
        for key, heading in SCREENS.items():
            chat.press(key)
            chat.wait_for(heading)
            chat.press("Escape")
            chat.wait_for(EMPTY)
        chat.leave()
        written = bytes(chat.written)
        assert b"not red" in written
        for payload in PAYLOADS:
            assert b"\x1b" + payload not in written
        assert NEVER.search(written) is None
        # The only title is ours, and the modes at the end are those of leaving.
        commands = chat.sequences() - before
        assert {one for one in commands if one.startswith(b"\x1b]")} <= OUR_TITLES
        assert b"\x1b[?1049l" in written[-400:]
        assert written.count(b"\x1b[?1049l") == 1


def test_the_colours_of_a_program_stay_and_nothing_else_of_it(tmp_path: Path) -> None:
    """Issue 6: SGR colours only."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        chat.say("coloured")
        chat.answer("y", "│ Colours.")
        chat.wait_for("red words green words", "placed", "That was coloured.", EMPTY)
        shown = chat.screen(colours=True)
        red = re.search(r"\x1b\[([0-9;]*)mred words", shown)
        green = re.search(r"\x1b\[([0-9;]*)mgreen words", shown)
        assert red is not None, shown
        assert green is not None, shown
        assert red[1] != green[1]
        assert b"\x1b[?1003h" not in bytes(chat.written).partition(b"red words")[2]
        assert b"owned title" not in chat.tmux("display-message", "-p", "#{pane_title}").encode()
        chat.leave()


def test_wide_letters_and_other_directions_stay_in_their_places(tmp_path: Path) -> None:
    """Issue 6: Unicode wide characters; right-to-left text does no harm."""
    size = (60, 24)
    with ChatScreen(tmp_path, "chat", *agent(), size=size) as chat:
        chat.ready()
        chat.say("wide")
        shown = chat.wait_for("│ Create 広い.txt", "1 y  ✓ Allow")
        assert_framed(shown, size[0])
        chat.answer("y", "1 y  ✓ Allow")
        shown = chat.wait_for("That was wide.", EMPTY)
        assert_framed(shown, size[0])
        assert "\u202e" not in shown, "what turns the direction around is left out"
        chat.type("日本語 שלום 👍 typed")
        shown = chat.wait_for("typed")
        assert_framed(shown, size[0])
        chat.press("C-c")
        chat.wait_for(EMPTY)
        chat.leave()


def assert_framed(shown: str, width: int) -> None:
    """Every line fits, and where a frame is, its right side is in the last column."""
    for line in shown.splitlines():
        assert cells(line) <= width, line
        if line.startswith("│"):
            assert line.endswith("│"), line
