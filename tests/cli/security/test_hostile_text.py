"""Every command against an agent whose every word is hostile: what reaches the terminal."""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.home import Home
from tests.cli.terminal import in_terminal
from tests.hang_limit import HANG_SECONDS, Patience

ACCORD = (sys.executable, "-m", "accord")
AGENT = (sys.executable, str(Path(__file__).parent / "hostile_agent.py"))
# What a text may hide in, beside controls: joined, invisible, and of another direction.
UNSEEN = re.compile(
    "[\x80-\x9f\xad\u061c\u115f\u1160\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
# Control characters other than line ends and tabs; a carriage return belongs to a line end.
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\r*\n)")
# Sequences of ours: colours, and the line that `check` writes over.
OURS = re.compile(r"\x1b\[[0-9]{0,2}(?:;[0-9]{1,3})*m|\r\x1b\[K")
# A line that is edited is drawn by moving the cursor in it.
EDITING = re.compile(r"\r?\x1b\[[0-9]{0,3}[ABCDGJK]|\x1b\[\?(?:2004|25)[hl]|\r(?=[^\n\rO]|\Z)")
SEEN = "seen"


def assert_clean(written: bytes, *, editing: bool = False, stderr: bool = False) -> None:
    """Nothing is in it that the agent chose and a terminal obeys, hides or reorders.

    On its stderr it may choose colours.
    """
    text = OURS.sub("", written.decode("utf-8"))
    if stderr:
        text = text.replace("\x1b[7331m", "")
    if editing:
        text = EDITING.sub("", text)
    found = CONTROLS.search(text) or UNSEEN.search(text)
    assert found is None, repr(text[max(found.start() - 60, 0) : found.end() + 60])
    assert "OWNED" not in text or "]0;OWNED" in text


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.parametrize(
    ("prompt", "more"),
    [
        ("go", ()),
        ("fail", ()),
        ("die", ()),
        ("go", ("--format", "json")),
        ("go", ("--format", "quiet")),
    ],
)
def test_run(home: Home, prompt: str, more: Sequence[str]) -> None:
    """Issue 12: what is said, what fails, and how it ended."""
    words = ("run", prompt, *more, "--deny", "all", "--", *AGENT)
    with in_terminal(*words, env=home.env, cwd=home.project) as terminal:
        if prompt == "fail":
            terminal.wait_for("Number (press Enter for none)")
            terminal.press("\n")
        terminal.exit_code()
        assert SEEN in terminal.text
        assert_clean(terminal.written)


@pytest.mark.parametrize("answer", ["y", "a", "n", "v", "what?"])
def test_run_with_questions(home: Home, answer: str) -> None:
    """Issue 12: `accord run --ask` writes out what `--plain` does, and remembers it so."""
    with in_terminal(
        "run", "go", "--ask", "--", *AGENT, env=home.env, cwd=home.project
    ) as terminal:
        terminal.wait_for("Allow it?")
        terminal.press(f"{answer}\n")
        if answer == "what?":
            terminal.wait_for("Please answer")
            terminal.press("n\n")
        terminal.exit_code()
        for words in ("$ echo seen⟨U+001B⟩[7331;7331H", "⟨U+000D⟩OVER⟨U+200B⟩", "⟨U+202E⟩left"):
            assert words in terminal.text.replace("\n        ", "")
        assert_clean(terminal.written)
    with in_terminal("permissions", "list", env=home.env, cwd=home.project) as terminal:
        assert terminal.exit_code() == 0
        assert (SEEN in terminal.text) == (answer == "v")
        assert_clean(terminal.written)


def test_the_line_mode(home: Home) -> None:
    """Issue 12: a whole conversation."""
    words = ("chat", "--plain", "--", *AGENT)
    with in_terminal(*words, env=home.env, cwd=home.project) as terminal:
        terminal.wait_for("seen⟨U+001B⟩")
        terminal.press("go\r")
        terminal.wait_for("Allow it?")
        terminal.press("n")
        terminal.wait_for("That was all.")
        terminal.press("fail\r")
        terminal.wait_for("Allow it?", 2)
        terminal.press("n")
        terminal.wait_for("That was all.", 2)
        for command in ("/modes", "/commands", "/plan", "/sessions", "/help"):
            terminal.press(f"{command}\r")
        terminal.press("/quit\r")
        terminal.exit_code()
        assert_clean(terminal.written, editing=True)


def test_the_full_screen_rings_no_bell_and_lets_no_sequence_pass(home: Home) -> None:
    """Issue 12: six BEL bytes came out of the full screen under hostile text."""
    env = {**home.env, "TERM": "xterm-256color"}
    with in_terminal("chat", "--", *AGENT, width=100, env=env, cwd=home.project) as terminal:
        terminal.wait_for("Ready")
        terminal.press("begin")
        # Typed at once it would be a paste.
        terminal.wait_for("begin")
        terminal.press("\r")
        terminal.wait_for("allow_once")
        # The guard against early keys is down when a second has passed; Escape is no.
        patience = Patience()
        while "That was all" not in terminal.text and patience.left:
            terminal.press("\x1b")
            terminal.read_for(0.7)
        terminal.press("\x11")
        terminal.exit_code()
        written = terminal.written
    assert b"\x07" not in written
    text = written.decode()
    assert not UNSEEN.search(text)
    # What begins a sequence is a CSI, a title of ours, the shape of the pointer, or an end of one.
    for found in re.finditer("\x1b(?!\\[)", text):
        rest = text[found.start() : found.start() + 12]
        assert re.match(r"\x1b(?:\\|\](?:2|22);|\(B)", rest), repr(rest)
    assert "\x1b[7331" not in text
    assert "\x1b[?7331" not in text
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]", text)
    assert "\rOVER" not in text


# ---- programs whose stdin and stdout are the wire: a person sees only their stderr


@contextmanager
def behind_terminal(home: Home, *words: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A program whose stderr is a terminal, and whose other streams are pipes."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        (*ACCORD, *words),
        cwd=home.project,
        env=home.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield process, master
    finally:
        process.kill()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()
        process.wait()
        os.close(master)


def read_all(descriptor: int) -> bytes:
    """What was written to a terminal until nobody has it open."""
    found = b""
    patience = Patience()
    while select.select([descriptor], [], [], patience.left)[0]:
        try:
            more = os.read(descriptor, 65536)
        except OSError:
            return found
        found += more
    raise AssertionError(f"it did not end: {found!r}")


def wire(*messages: tuple[str, dict[str, object]]) -> bytes:
    return b"".join(
        json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}).encode() + b"\n"
        for n, (method, params) in enumerate(messages)
    )


STARTERS = {
    "record": ("record", "-o", "tape.jsonl"),
    "translate": ("translate", "--to", "1"),
    "proxy": ("proxy", "guard"),
    "translate to 2": ("translate", "--to", "2"),
}


@pytest.mark.parametrize("name", STARTERS)
def test_stderr_of_an_agent_is_made_visible_on_a_terminal(home: Home, name: str) -> None:
    """Issue 12: stderr of agents that is passed on to a terminal is cleaned as well."""
    hello = wire(("initialize", {"protocolVersion": 1, "clientCapabilities": {}}))
    with behind_terminal(home, *STARTERS[name], "--", *AGENT) as (process, master):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(hello)
        process.stdin.flush()
        process.stdout.readline()
        process.stdin.close()
        written = read_all(master)
    assert "seen⟨U+001B⟩[7331;7331H".encode() in written
    assert_clean(written, stderr=True)


@pytest.mark.parametrize("name", STARTERS)
def test_messages_of_an_agent_are_made_visible_on_a_terminal(home: Home, name: str) -> None:
    """Issue 12: whoever types messages by hand sees the answers, and the terminal obeys none."""
    version = 2 if name == "translate to 2" else 1
    words = (*STARTERS[name], "--", *AGENT)
    with in_terminal(*words, env=home.env, cwd=home.project) as terminal:
        hello = {
            "protocolVersion": version,
            "clientCapabilities": {},
            "info": {"name": "x", "version": "1"},
        }
        terminal.press(wire(("initialize", hello)).decode())
        terminal.wait_for('"result"')
        terminal.press("\x04")
        terminal.exit_code()
        assert "seen\\u001b[7331;7331H" in terminal.text
        assert_clean(terminal.written, stderr=True)


def test_stderr_of_an_agent_goes_unchanged_into_a_pipe(home: Home) -> None:
    """Issue 12: an editor's log gets the bytes; a program reads them, not a person."""
    hello = wire(("initialize", {"protocolVersion": 1, "clientCapabilities": {}}))
    for words in (STARTERS["record"], STARTERS["translate"]):
        done = subprocess.run(
            (*ACCORD, *words, "--", *AGENT),
            cwd=home.project,
            env=home.env,
            input=hello,
            capture_output=True,
            timeout=HANG_SECONDS,
            check=False,
        )
        assert b"seen\x1b[7331;7331H" in done.stderr


def test_recordings(home: Home) -> None:
    """Issue 12: what was recorded is shown, judged and played again."""
    new: dict[str, object] = {"cwd": str(home.project), "mcpServers": []}
    prompt: dict[str, object] = {"sessionId": "s1", "prompt": [{"type": "text", "text": "die"}]}
    said = wire(
        ("initialize", {"protocolVersion": 1, "clientCapabilities": {}}),
        ("session/new", new),
        ("session/prompt", prompt),
    )
    subprocess.run(
        (*ACCORD, "record", "--keep-secrets", "-o", "tape.jsonl", "--", *AGENT),
        cwd=home.project,
        env=home.env,
        input=said,
        capture_output=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    for words in (
        ("trace", "--text", "tape.jsonl"),
        ("trace", "--stats", "tape.jsonl"),
        ("trace", "--validate", "tape.jsonl"),
        ("replay", "tape.jsonl", "--as", "client", "--patience", "5", "--", *AGENT),
    ):
        with in_terminal(*words, env=home.env, cwd=home.project) as terminal:
            terminal.exit_code()
            assert_clean(terminal.written, stderr=words[0] == "replay")
            if words[1] != "--stats" and words[1] != "--validate":
                assert SEEN in terminal.text


def test_the_kit(home: Home) -> None:
    """Issue 12: agents under test may be hostile."""
    rules = ("V1-INIT-01", "V1-SESS-01", "V1-PROMPT-01", "V1-GEN-01")
    only = [word for rule in rules for word in ("--only", rule)]
    words = ("check", "--verbose", "--timeout", "3", *only, "--", *AGENT)
    with in_terminal(*words, env=home.env, cwd=home.project) as terminal:
        terminal.exit_code()
        assert_clean(terminal.written)


def test_sessions_that_were_kept(home: Home) -> None:
    """Issue 12: titles and words of sessions."""
    from tests.cli.security.hostile_agent import TEXT

    said = TEXT.replace("\0", "")
    home.accord("run", "-", "--format", "quiet", stdin=said)
    listed = json.loads(home.accord("sessions", "list", "--json").out.splitlines()[0])
    for words in (
        ("list",),
        ("list", "--json"),
        ("show", listed["sessionId"]),
        ("export", listed["sessionId"], "--format", "json"),
        ("export", listed["sessionId"]),
        ("show", "no\x1b]0;OWNED\x07such"),
    ):
        with in_terminal("sessions", *words, env=home.env, cwd=home.project) as terminal:
            terminal.exit_code()
            assert_clean(terminal.written)
