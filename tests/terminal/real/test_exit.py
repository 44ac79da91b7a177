"""Leaving: the terminal is as it was, and nobody stays behind."""

from __future__ import annotations

import os
import shlex
import signal
from pathlib import Path

import pytest

from tests.terminal.real.chat_screen import ACCORD, ChatScreen, agent
from tests.terminal.tmux import needs_tmux

pytestmark = needs_tmux

# A shell around it, so that the terminal is still there to be looked at.
AROUND = 'stty -a > before; {}; echo "[left with $?]"; stty -a > after; read end'


def in_shell(folder: Path, *words: str) -> ChatScreen:
    """The program as a shell runs it, and the shell after it."""
    return ChatScreen(folder, "-c", AROUND.format(shlex.join([*ACCORD, *words])), program=("sh",))


def look_after(chat: ChatScreen) -> None:
    """Nothing of the program is left on the terminal or in the machine."""
    shell = chat.pid
    chat.wait_processes_gone([pid for pid in chat.processes() if pid != shell])
    chat.until(lambda _: (chat.work / "after").exists())
    assert chat.is_clean()
    assert (chat.work / "after").read_text() == (chat.work / "before").read_text()
    assert "Traceback" not in chat.screen()


@pytest.mark.parametrize("word", [(), ("chat",), ("demo",)], ids=["bare", "chat", "demo"])
def test_ctrl_q_leaves_the_terminal_as_it_was(tmp_path: Path, word: tuple[str, ...]) -> None:
    """Issue 6: bare `accord` is `accord chat` on the built-in agent."""
    with in_shell(tmp_path, *word) as chat:
        chat.wait_for("Ready", "Offline", "? keys")
        assert chat.processes("accord/__main__.py agent")
        assert not chat.is_clean()
        chat.press("C-q")
        chat.wait_for("[left with 0]")
        look_after(chat)


def test_ctrl_c_twice_leaves(tmp_path: Path) -> None:
    """Ours: the key that everybody tries first, and never by a single press."""
    with in_shell(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        chat.press("C-c")
        chat.wait_for("Press Ctrl-C again to quit.")
        chat.press("C-c")
        chat.wait_for("[left with 0]")
        look_after(chat)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_agents_and_their_commands(
    tmp_path: Path, number: signal.Signals
) -> None:
    """Issue 6: whatever ends the program, no agent is left."""
    with in_shell(tmp_path, "chat") as chat:
        chat.ready()
        chat.say("run sleep 60")
        chat.answer("y", "1 y  ✓ Allow")
        chat.until(lambda shown: "running" in shown and chat.processes("sleep 60"))
        everybody = [pid for pid in chat.processes() if pid != chat.pid]
        [program] = [pid for pid in chat.processes("accord chat") if pid not in (chat.pid,)]
        assert len(everybody) >= 3
        os.kill(program, number)
        chat.wait_for(f"[left with {128 + number}]")
        chat.wait_processes_gone(everybody)
        look_after(chat)


def test_a_terminal_that_is_closed_ends_everything(tmp_path: Path) -> None:
    """Issue 6: the window is closed while a command runs."""
    with ChatScreen(tmp_path, "chat") as chat:
        chat.ready()
        chat.say("run sleep 60")
        chat.answer("y", "1 y  ✓ Allow")
        chat.until(lambda shown: "running" in shown and chat.processes("sleep 60"))
        everybody = chat.processes()
        chat.tmux("kill-pane")
        chat.wait_processes_gone(everybody)


def test_the_demo_leaves_no_folder_behind_when_its_window_is_closed(tmp_path: Path) -> None:
    """Issue 2: the project is a copy that is thrown away, however it ends."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with ChatScreen(tmp_path, "demo", env={"TMPDIR": str(scratch)}) as chat:
        chat.wait_for("Ready", "press Enter to send")
        assert list(scratch.glob("accord-demo-*"))
        everybody = chat.processes()
        chat.tmux("kill-pane")
        chat.wait_processes_gone(everybody)
    assert not list(scratch.glob("accord-demo-*"))
