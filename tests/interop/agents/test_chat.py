"""The real `accord chat` in tmux with agents that people use, and a model that is none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fake_llm import FakeLLM, serve
from tests.hang_limit import HANG_SECONDS
from tests.interop.agents.peers import PEERS, Bench, Peer
from tests.terminal.real.chat_screen import EMPTY, ChatScreen
from tests.terminal.tmux import needs_tmux

pytestmark = [needs_tmux, pytest.mark.slow]

# Fast to start, and each with another SDK and version beneath.
CHATTED = [peer for peer in PEERS if peer.name in ("codex-acp", "goose", "opencode")]


@pytest.fixture(scope="module")
def model() -> Iterator[FakeLLM]:
    """A model for all of them."""
    with serve() as server:
        yield server


def _is_ready(shown: str) -> bool:
    return "Ready" in shown and EMPTY in shown


@pytest.mark.parametrize("peer", CHATTED, ids=lambda peer: peer.name)
def test_a_chat_with_a_real_agent(peer: Peer, tmp_path: Path, model: FakeLLM) -> None:
    """Issue 6: words, a permission rejected and given, a stop; nothing stays behind."""
    if peer.missing is not None:
        pytest.skip(peer.missing)
    (tmp_path / "bench").mkdir()
    bench = Bench(peer, tmp_path / "bench", model.url)
    ours = ("TERM", "NO_COLOR", "ACCORD_CONFIG_DIR", "ACCORD_STATE_DIR", "PATH")
    env = {name: value for name, value in bench.env.items() if name not in ours}
    command = [str(peer.program), *peer.args]
    made = bench.project / "made.txt"
    with ChatScreen(tmp_path, "chat", "--", *command, work=bench.project, env=env) as chat:
        chat.until(_is_ready, HANG_SECONDS)
        chat.say("[[say Hello from the model.]]")
        chat.until(lambda shown: shown.count("Hello from the model.") == 2, HANG_SECONDS)
        chat.wait_for(EMPTY)

        chat.say(f"{peer.makes} [[say done]]")
        chat.wait_for("asks for permission", seconds=HANG_SECONDS)
        chat.answer("Escape", "asks for permission")
        chat.until(_is_ready, HANG_SECONDS)
        assert not made.exists()

        chat.say(f"{peer.makes} [[say done]]")
        chat.wait_for("asks for permission", seconds=HANG_SECONDS)
        chat.answer("y", "asks for permission")
        # One that writes through us may be asked about the file itself, too.
        again = "was allowed, but that does not cover this"
        shown = chat.settled(lambda now: again in now or _is_ready(now), HANG_SECONDS)
        if again in shown:
            chat.answer("y", again)
        chat.until(_is_ready, HANG_SECONDS)
        assert made.read_text().strip() == "hi"

        chat.say("[[say Begun.]] [[slow 600 0.1 word]]")
        chat.wait_for("word5", seconds=HANG_SECONDS)
        chat.press("Escape")
        chat.until(_is_ready, HANG_SECONDS)
        chat.leave()
