"""Bad input through the whole agent: each is a sentence that a person understands.

Every test ends with a prompt that works: the session goes on.
"""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from accord import Session
from tests.builtin.agent.agent_process import first_notice, outcome, running, told
from tests.fake_llm import FakeLLM, serve

GIGABYTE = 1 << 30


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with everything in it that a tool should not read."""
    folder = tmp_path / "project"
    (folder / "pictures").mkdir(parents=True)
    (folder / "good.py").write_text('"""A good file."""\n\n\ndef greet():\n    return "hello"\n')
    (folder / "binary.dat").write_bytes(bytes(range(256)) * 64)
    outside = tmp_path / "outside.txt"
    outside.write_text("a secret of somebody else")
    (folder / "link.txt").symlink_to(outside)
    with (folder / "huge.txt").open("wb") as file:
        file.truncate(GIGABYTE)
    return folder


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.py", ("missing.py",)),
        ("binary.dat", ("binary",)),
        ("pictures", ("pictures",)),
        ("huge.txt", ("large", "big", "GB", "MB", "MiB", "GiB", "bytes")),
        ("link.txt", ("outside", "link")),
        ("../outside.txt", ("outside",)),
    ],
)
async def test_a_file_that_cannot_be_read_is_a_sentence(
    name: str, words: tuple[str, ...], project: Path
) -> None:
    """Issue 3: a missing file, a binary file, a directory, one of 1 GB, a link out of the root."""
    async with running(project, "--in-memory", "--model", "offline") as session:
        reply = await session.ask(f"explain {name}")
        assert reply.stop_reason == "end_turn"
        assert any(word in told(reply) for word in words), told(reply)
        assert "a secret of somebody else" not in told(reply)
        assert "Traceback" not in told(reply)
        assert len(told(reply)) < 20_000
        assert "greet" in (await session.ask("explain good.py")).text


async def test_a_command_that_does_not_exist_is_a_sentence(project: Path) -> None:
    """Issue 3: a command that does not exist."""
    async with running(project, "--in-memory", "--model", "offline") as session:
        reply = await session.ask("$ nosuchcommand --now")
        assert reply.stop_reason == "end_turn"
        assert "not found" in told(reply) + str(session.transcript.terminals)
        assert "greet" in (await session.ask("explain good.py")).text


async def test_a_command_that_prints_100_mb_is_cut(project: Path) -> None:
    """Issue 3: one that prints 100 MB; what the client is sent is bounded."""
    async with running(project, "--in-memory", "--model", "offline") as session:
        reply = await session.ask("$ head -c 100000000 /dev/zero | tr '\\0' x")
        assert reply.stop_reason == "end_turn"
        shown = sum(len(terminal.text) for terminal in session.transcript.terminals)
        assert shown < 4_000_000
        assert "greet" in (await session.ask("explain good.py")).text


async def test_a_command_that_never_ends_can_be_cancelled(project: Path) -> None:
    """Issue 3: one that never ends; its process is gone, and the session goes on."""
    pid_file = project / "pid"
    async with running(project, "--in-memory", "--model", "offline") as session:
        async with session.prompt("$ echo $$ > pid; echo started; sleep 1000") as turn:
            async for _ in turn:
                if pid_file.exists() and pid_file.read_text().strip():
                    await turn.cancel()
                    break
            await turn.wait()
        assert turn.stop_reason == "cancelled"
        with pytest.raises(ProcessLookupError):
            os.killpg(int(pid_file.read_text()), 0)
        assert "greet" in (await session.ask("explain good.py")).text


REFUSED = {
    "[[error 401 no such key]]": ("key",),
    "[[garbage]]": ("cannot be read",),
    "[[say half of it]][[drop]]": ("connection", "broke", "lost"),
}
TRIED_AGAIN = {
    "[[error 429 slow down]]": ("429", "slow down", "too many"),
    "[[error 500 broken]]": ("500", "broken"),
}
WORKS = "now [[say it works]]"


async def test_whatever_a_model_server_answers_is_a_sentence_and_the_session_goes_on(
    project: Path,
) -> None:
    """Issue 3: 401, 429, 500, garbage, half a stream, nothing.

    One process for all of them: a library for models takes seconds to load.
    """
    with ExitStack() as servers:
        model = servers.enter_context(serve())
        async with running(project, "--in-memory", env=reaching(model)) as session:
            for directive, words in REFUSED.items():
                shown = await outcome(session, f"please {directive}")
                assert any(word in shown for word in words), shown
                assert "Traceback" not in shown
                assert "sk-test-secret" not in shown
                assert "it works" in (await session.ask(WORKS)).text
            for directive, words in TRIED_AGAIN.items():
                # A user who does not want to wait cancels.
                shown = await first_notice(session, f"please {directive}")
                assert any(word in shown for word in words), shown
                assert "it works" in (await session.ask(WORKS)).text
            again = await session.ask("[[flaky 1 429 0.1 slow down]][[say at last]]")
            assert "at last" in again.text
            await cancelled_while_silent(session)
            assert "it works" in (await session.ask(WORKS)).text
            servers.close()
            shown = await outcome(session, "is anybody there?")
            assert "reach" in shown or "connect" in shown.lower(), shown
            assert (await session.ask("/help")).stop_reason == "end_turn"


async def cancelled_while_silent(session: Session) -> None:
    """A server that says a word and then nothing; the user does not wait for ever."""
    async with session.prompt("[[say first]][[hang]]") as turn:
        async for update in turn:
            if update.kind == "message":
                await turn.cancel()
                break
        await turn.wait()
    assert turn.stop_reason == "cancelled"


def reaching(model: FakeLLM) -> dict[str, str]:
    """The environment in which the agent finds this server."""
    return {
        "OPENAI_API_KEY": "sk-test-secret",
        "OPENAI_BASE_URL": f"{model.url}/v1",
        "ACCORD_MODEL": "openai:fake-model",
    }
