"""Writing on a real screen: completion, history, pastes, the editor of the user, tabs."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from tests.hang_limit import Patience
from tests.terminal.real.chat_screen import AGENT, EMPTY, ChatScreen, agent
from tests.terminal.tmux import needs_tmux

pytestmark = needs_tmux
# What the line of status says before there is a session.
STARTING = "Starting"


def test_what_is_typed_before_the_first_picture_is_said_and_written(tmp_path: Path) -> None:
    """Ours: whoever types on after `accord chat` loses nothing."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.press("Enter")
        chat.type("the first one")
        chat.press("Enter")
        chat.type("the next one")
        chat.wait_for("You said the first one.", "❯ the next one")
        chat.leave()


def test_a_prompt_that_was_sent_while_the_agent_started_does_not_come_back(tmp_path: Path) -> None:
    """Issue 14: it was kept as a draft, and was restored when the session came."""
    drafts = tmp_path / "state" / "drafts"
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # The agent is there long before it is asked anything, so that it answers at once then.
    start = f"{{ read go < {shlex.quote(str(gate))}; exec cat; }} | {shlex.join(AGENT)}"
    with ChatScreen(tmp_path, "chat", "--", "sh", "-c", start) as chat:
        chat.wait_for(STARTING)
        chat.type("typed early")
        chat.wait_for("❯ typed early")
        patience = Patience()
        while not (drafts.is_dir() and any(drafts.glob("[!.]*"))):
            assert patience.left, "the draft is not kept"
        chat.press("Enter")
        gate.write_text("go\n")
        chat.wait_for("You said typed early.", EMPTY)
        chat.leave()
    assert list(drafts.iterdir()) == []


def test_keys_in_one_burst_keep_their_order(tmp_path: Path) -> None:
    """Issue 14: `abcX`, backspace, `def` was `abcXde`."""
    bursts = (
        (("-l", "abcX"), ("BSpace",), ("-l", "def"), "abcdef"),
        (("-l", "abc"), ("Left", "Left"), ("-l", "X"), ("Right",), ("-l", "Y"), "aXbYc"),
        (("-l", "one two"), ("C-w",), ("-l", "three"), ("Home",), ("-l", "a"), "aone three"),
        (("-l", "gone"), ("C-c",), ("-l", "left"), "left"),
        (("-l", "one"), ("C-a", "C-k"), ("-l", "two"), ("C-e", "BSpace"), "tw"),
    )
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        for *keys, left in bursts:
            assert isinstance(left, str)
            # One command of tmux, so that the program finds all of it at once.
            chat.tmux(*[word for one in keys for word in ("send-keys", *one, ";")][:-1])
            chat.until(lambda shown, left=left: f"│ ❯ {left}  " in shown)  # type: ignore[misc]
            chat.press("C-c")
            chat.wait_for(EMPTY)
        chat.leave()


def test_commands_and_files_are_completed_and_sent(tmp_path: Path) -> None:
    """Issue 6: `/` from advertised commands with hints, `@` of files, fuzzy."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "deep_thought.py").write_text("answer = 42\n")
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        chat.type("/gr")
        chat.wait_for("Says hello")
        chat.press("Tab")
        chat.wait_for("❯ /greet")
        chat.type("world")
        chat.wait_for("❯ /greet world")
        chat.press("Enter")
        chat.wait_for("Hello, world!", EMPTY)
        chat.type("blocks @dthou")
        chat.until(lambda shown: shown.count("deep_thought.py") == 1)
        chat.press("Tab")
        chat.wait_for("❯ blocks @deep_thought.py")
        chat.press("Enter")
        chat.wait_for("TextContent EmbeddedResource", EMPTY)
        chat.leave()


def test_what_was_said_is_found_again(tmp_path: Path) -> None:
    """Issue 6: history with search; also in the next program."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with ChatScreen(first, "chat", *agent()) as chat:
        chat.ready()
        chat.say("an unusual sentence")
        chat.wait_for("You said an unusual sentence.", EMPTY)
        chat.say("another one")
        chat.wait_for("You said another one.", EMPTY)
        chat.press("Up")
        chat.wait_for("❯ another one")
        chat.press("C-c")
        chat.wait_for(EMPTY)
        chat.leave()
    again = {"ACCORD_STATE_DIR": str(first / "state"), "HOME": str(first / "home")}
    with ChatScreen(second, "chat", *agent(), env=again) as chat:
        chat.ready()
        chat.press("C-r")
        chat.wait_for("another one", "an unusual sentence")
        chat.type("unus")
        chat.wait_gone("another one")
        chat.press("Enter")
        chat.wait_for("❯ an unusual sentence")
        chat.press("Enter")
        chat.wait_for("You said an unusual sentence.")
        chat.press("C-q")
        assert chat.wait_ended() == 0


def test_a_long_paste_is_one_mark_and_sent_whole(tmp_path: Path) -> None:
    """Issue 6: paste of long text."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        chat.ready()
        chat.type("size ")
        chat.wait_for("❯ size")
        chat.paste("\n".join(f"line {number} of what is pasted" for number in range(200)))
        chat.wait_for("200 lines")
        chat.press("Enter")
        chat.wait_for("letters.", EMPTY)
        said = chat.screen()
        letters = int(said.partition("You said ")[2].partition(" letters")[0])
        assert letters > 5000
        chat.leave()


def test_the_prompt_is_written_in_the_persons_editor(tmp_path: Path) -> None:
    """Issue 6: external editor, in a suspended screen."""
    script = tmp_path / "editor.sh"
    script.write_text(
        '#!/bin/sh\nprintf \'The editor has %s\\n\' "$(cat "$1")"\nread word\n'
        'printf \'written outside: %s\' "$word" > "$1"\n'
    )
    script.chmod(0o755)
    with ChatScreen(tmp_path, "chat", *agent(), env={"EDITOR": str(script)}) as chat:
        chat.ready()
        chat.type("begun")
        chat.wait_for("❯ begun")
        chat.press("C-g")
        shown = chat.wait_for("The editor has begun")
        assert EMPTY not in shown
        assert "? keys" not in shown, "the screen is put aside"
        chat.type("a word")
        chat.press("Enter")
        chat.wait_for("❯ written outside: a word", "? keys")
        chat.press("Enter")
        chat.wait_for("You said written outside: a word.", EMPTY)
        chat.leave()


def test_a_login_in_the_terminal_has_it_for_itself(tmp_path: Path) -> None:
    """Issue 6: terminal login in a suspended screen."""
    with ChatScreen(tmp_path, "chat", *agent("needs-login")) as chat:
        chat.answer("1", "In the terminal")
        shown = chat.wait_for("Log in: what is the word?")
        assert "? keys" not in shown
        chat.type("please")
        chat.press("Enter")
        chat.ready()
        chat.say("hello")
        chat.wait_for("You said hello.", EMPTY)
        chat.leave()


def test_a_tab_that_asks_is_marked_while_another_is_in_front(tmp_path: Path) -> None:
    """Issue 6: several sessions in tabs, one marked when it needs an answer."""
    with ChatScreen(tmp_path, "chat", *agent()) as chat:
        os.mkfifo(chat.work / "pipe")
        chat.ready()
        chat.say("wait-for pipe")
        chat.wait_for("I wait for a word.")
        chat.press("C-t")
        chat.wait_for("Tester 1", "Tester 2", EMPTY)
        chat.say("hello")
        chat.wait_for("You said hello.")
        (chat.work / "pipe").write_text("the word")
        chat.until(lambda shown: "◆" in shown.splitlines()[0])
        assert "asks for permission" not in chat.screen()
        chat.click("wait-for pipe ×")
        chat.answer("y", "│ The word has come.")
        chat.wait_for("It is written.")
        assert (chat.work / "word.txt").read_text() == "the word"
        chat.press("M-w")
        chat.wait_for("You said hello.")
        chat.leave()
