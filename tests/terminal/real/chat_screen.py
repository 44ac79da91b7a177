"""The real program on a real screen: `accord` in tmux, in folders of its own, and who is left.

A process belongs to a screen when it has the screen's folder in its environment; so whatever was
started by the program, by an agent or by a command of an agent is found.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from unicodedata import east_asian_width

from tests.hang_limit import Patience
from tests.terminal.tmux import Tmux

HERE = Path(__file__).resolve().parent
ACCORD = (sys.executable, "-m", "accord")
AGENT = (sys.executable, str(HERE / "agent.py"))
TOO_EARLY = "That was quick"
HINT_SECONDS_MAX = 3.0
READY = "Ready"
# What an empty prompt says.
EMPTY = "What would you like to do?"

_CSI = rb"\x1b\[[0-?]*[ -/]*[@-~]"


class ChatScreen(Tmux):
    """`accord` with these words, in a fresh home."""

    def __init__(
        self,
        folder: Path,
        *words: str,
        size: tuple[int, int] = (100, 30),
        env: Mapping[str, str] | None = None,
        work: Path | None = None,
        program: Sequence[str] = ACCORD,
    ) -> None:
        self.folder = folder
        self.work = work or folder / "work"
        for one in (self.work, folder / "home"):
            one.mkdir(exist_ok=True)
        super().__init__(
            folder,
            shlex.join([*program, *words]),
            size=size,
            env={**home(folder), **(env or {})},
            cwd=self.work,
        )

    def ready(self) -> str:
        """Wait until the agent is there and the prompt is empty."""
        return self.until(lambda shown: READY in shown and EMPTY in shown)

    def say(self, text: str) -> None:
        """Type this and send it."""
        self.type(text)
        # Typed at once it would be a paste on the way: what is shown has been read.
        self.wait_for(text[-20:])
        self.press("Enter")

    def answer(self, key: str, while_shown: str) -> None:
        """Answer the question that has these words, when its guard lets keys through.

        A key is pressed, and pressed again where it came too early: that holds the guard up, so
        that it cannot answer the next question.
        """

        def is_seen(now: str) -> bool:
            return TOO_EARLY in now or while_shown not in now

        self.wait_for(while_shown)
        patience = Patience()
        while patience.left:
            self.press(key)
            try:
                shown = self.settled(is_seen, HINT_SECONDS_MAX)
            except AssertionError:
                # The hint came and went between two looks.
                continue
            if while_shown not in shown:
                return
            self.settled(lambda now: TOO_EARLY not in now or while_shown not in now)
        raise AssertionError(f"the question was not answered:\n{self.screen()}")

    def wait_unguarded(self) -> None:
        """Wait until the question that is shown can be answered: a row can be gone to then."""
        while True:
            self.press("Down")
            shown = self.until(lambda now: TOO_EARLY in now or "▸ 1" in now)
            if TOO_EARLY not in shown:
                return
            self.wait_gone(TOO_EARLY)

    def click(self, text: str) -> None:
        """Press and let go the first button of the mouse in the middle of this text."""
        row = self.line_with(text)
        line = self.screen().splitlines()[row]
        column = cells(line[: line.index(text)]) + cells(text) // 2
        place = f"\x1b[<0;{column + 1};{row + 1}"
        keys = f"{place}M{place}m"
        self.tmux("send-keys", "-H", *(f"{ord(one):x}" for one in keys))

    # ---- who is left

    def processes(self, *words: str) -> list[int]:
        """The processes of this screen, all or those whose command has these words."""
        return [
            pid for pid, command in _commands(self.folder) if all(word in command for word in words)
        ]

    def one_process(self, *words: str) -> int:
        """The one process whose command has these words."""
        found = self.processes(*words)
        assert len(found) == 1, [one for one in _commands(self.folder) if one[0] in found]
        return found[0]

    def wait_processes_gone(self, pids: Sequence[int] | None = None) -> None:
        """Wait until these, or all, are gone."""
        patience = Patience()
        for pid in self.processes() if pids is None else pids:
            try:
                handle = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            try:
                assert select.select([handle], [], [], patience.left)[0], f"{pid} is still there"
            finally:
                os.close(handle)

    def leave(self) -> None:
        """Ctrl-Q, and nothing stays behind."""
        self.press("C-q")
        code = self.wait_ended()
        assert code == 0, f"it ended with {code}"
        self.wait_processes_gone()

    # ---- what came to the terminal

    def sequences(self) -> set[bytes]:
        """Every escape sequence that was written, but for colours and where the cursor goes."""
        written = bytes(self.written)
        odd = re.findall(rb"\x1b\][^\x07\x1b]*|\x1b[P_^X][^\x1b]*|\x9b|\x9d|\x90", written)
        found = set(odd)
        for one in re.findall(_CSI, written):
            if one[-1:] not in b"mHABCDfJK":
                found.add(one)
        return found

    def is_clean(self) -> bool:
        """Whether the terminal is as it was: no mouse, no other screen, the cursor shown."""
        flags = (
            *("mouse_any_flag", "mouse_button_flag", "mouse_standard_flag", "mouse_sgr_flag"),
            *("alternate_on", "keypad_flag", "keypad_cursor_flag"),
        )
        said = self.tmux("display-message", "-p", " ".join(f"#{{{flag}}}" for flag in flags))
        cursor = self.tmux("display-message", "-p", "#{cursor_flag}").strip()
        return said.split() == ["0"] * len(flags) and cursor == "1"


def home(folder: Path) -> dict[str, str]:
    """Variables for a fresh home, with no model of the user's."""
    return {
        "HOME": str(folder / "home"),
        "ACCORD_CONFIG_DIR": str(folder / "config"),
        "ACCORD_STATE_DIR": str(folder / "state"),
        "ACCORD_PROBE": "off",
        "ACCORD_MODEL": "offline",
        "COLORTERM": "truecolor",
        "NO_COLOR": "",
        "EDITOR": "true",
    }


def agent(*words: str) -> tuple[str, ...]:
    """What starts the agent of these tests, after the words for `accord chat`."""
    return ("--", *AGENT, *words)


def cells(text: str) -> int:
    """The columns of a text."""
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)


def _commands(folder: Path) -> list[tuple[int, str]]:
    mark = os.fsencode(f"ACCORD_STATE_DIR={folder / 'state'}\0")
    found: list[tuple[int, str]] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes()
            command = os.fsdecode((entry / "cmdline").read_bytes().replace(b"\0", b" ")).strip()
        except OSError:
            continue
        # What tmux itself runs has our words too.
        if mark in environment + b"\0" and command and "tmux." not in command:
            found.append((int(entry.name), command))
    return found


__all__ = ["ACCORD", "AGENT", "HERE", "ChatScreen", "agent", "cells", "home"]
