"""The tool `run`: it ends, it is bounded, and it shows no secrets."""

import tracemalloc
from pathlib import Path

import anyio
import pytest

from accord.agent.session.agent_session import session_state
from accord.agent.terminals.command import Done
from accord.agent.terminals.own_terminals import TerminalHandle
from accord.builtin.tools.toolbox import Toolbox
from tests.builtin.tools.bench import bench, everywhere, text
from tests.hang_limit import HANG_SECONDS


@everywhere
async def test_a_line_for_the_shell_is_asked_for_and_run(tmp_path: Path, variant: str) -> None:
    """Issue: commands go through the client where it offers terminals."""
    async with bench(tmp_path, variant) as b:
        result = await b.use(lambda t: t.run("echo one | tr a-z A-Z", reason="To see it"))
        assert result.text == "ONE"
        assert isinstance(result.data, Done)
        assert result.data.exit_code == 0
        assert "To see it" in b.reasons()
        call = b.last()
        assert (call["kind"], call["status"]) == ("execute", "completed")
        assert call["rawInput"]["command"] == "echo one | tr a-z A-Z"
        assert ("terminal/create" in b.client.methods()) is (variant == "client")
        simple = await b.use(lambda t: t.run("echo two words"))
        assert simple.text == "two words"


@everywhere
async def test_what_fails_says_how(tmp_path: Path, variant: str) -> None:
    """Issue: a command that does not exist."""
    async with bench(tmp_path, variant) as b:
        bad = await b.use(lambda t: t.run("echo bad; exit 3"))
        assert text(bad, ok=False) == "bad\n[exit code 3]"
        assert b.last()["status"] == "failed"
        if variant != "client":
            missing = await b.use(lambda t: t.run("no_such_program_here"))
            assert "no_such_program_here" in text(missing, ok=False)
        missing = await b.use(lambda t: t.run("no_such_program_here --flag | cat; exit 127"))
        assert "not found" in text(missing, ok=False)
        assert "no command" in text(await b.use(lambda t: t.run("  ")), ok=False)
        assert "no folder" in text(await b.use(lambda t: t.run("ls", cwd="x")), ok=False)
        assert "timeout" in text(await b.use(lambda t: t.run("ls", timeout=-1)), ok=False)
        b.answer = "reject_once"
        refused = await b.use(lambda t: t.run("touch made"))
        assert refused.denied == "user"
        assert isinstance(refused.data, Done)
        assert refused.data.denied
        assert not (tmp_path / "made").exists()


async def test_a_client_that_takes_no_lines_is_given_a_shell(tmp_path: Path) -> None:
    """Clients that start the program themselves cannot start a whole line."""
    async with bench(tmp_path, "client") as b:
        create = b.client.serve["terminal/create"]

        def words_only(params: dict[str, object]) -> object:
            if " " in str(params["command"]):
                from tests.agent.raw_client import OPEN

                b.client.refuse(b.client.frames[-1], -32603, "ENOENT")
                return OPEN
            return create(params)

        b.client.serve["terminal/create"] = words_only
        assert (await b.use(lambda t: t.run("echo a && echo b"))).text == "a\nb"


@pytest.mark.parametrize("variant", ["v1", "v2"])
async def test_a_command_that_never_ends_is_stopped(tmp_path: Path, variant: str) -> None:
    """Issue: one that never ends; process group."""
    async with bench(tmp_path, variant) as b:
        line = "echo begun; sleep 1000 & sleep 1000"
        result = await b.use(lambda t: t.run(line, timeout=0.3))
        said = text(result, ok=False)
        assert said == "begun\n[stopped: it did not finish within 0.3 seconds]"
        assert b.last()["status"] == "failed"


@pytest.mark.parametrize("variant", ["v1", "v2"])
async def test_cancelling_the_turn_ends_the_command(tmp_path: Path, variant: str) -> None:
    """Issue: Esc in `run sleep 60`; cancellation passes through."""
    async with bench(tmp_path, variant) as b:
        begun = anyio.Event()

        async def work(tools: Toolbox) -> None:
            session_state(tools.context.turn.session).connection.tasks.start_soon(
                _set_when_running, tools, begun
            )
            await tools.run("sleep 60")

        b.work = work
        b.start()
        with anyio.fail_after(HANG_SECONDS):
            await begun.wait()
            b.client.cancel(b.session_id)
            assert await b.ended() == "cancelled"
        assert b.last()["status"] in ("cancelled", "failed")


async def _set_when_running(tools: Toolbox, begun: anyio.Event) -> None:
    while not session_state(tools.context.turn.session).terminals.running_ids():
        await anyio.lowlevel.checkpoint()
    begun.set()


@pytest.mark.parametrize("variant", ["v1", "v2"])
async def test_endless_output_costs_no_memory(tmp_path: Path, variant: str) -> None:
    """Issue: one that prints 100 MB (here a tenth of that; what counts is the bound)."""
    async with bench(tmp_path, variant) as b:
        line = "head -c 10000000 /dev/zero | tr '\\0' x | fold -w 100"
        tracemalloc.start()
        try:
            result = await b.use(lambda t: t.run(line))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert result.ok
        assert len(result.text) < 51_000
        assert "left out" in result.text
        assert peak < 20_000_000
        sent = sum(len(str(frame)) for frame in b.client.frames)
        assert sent < 2_000_000


@pytest.mark.parametrize("variant", ["v1", "v2"])
async def test_secrets_neither_reach_a_command_nor_come_out_of_it(
    tmp_path: Path, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: secrets never in a child's environment or in output."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abcdef0123456789")
    monkeypatch.setenv("MY_TOKEN", "tok_0123456789abcdef")
    monkeypatch.setenv("HARMLESS", "visible")
    (tmp_path / "leak.txt").write_text("key=sk-abcdef0123456789\nend\n")
    async with bench(tmp_path, variant) as b:
        result = await b.use(lambda t: t.run("env; cat leak.txt"))
        assert "HARMLESS=visible" in result.text
        assert "OPENAI_API_KEY" not in result.text
        assert "MY_TOKEN" not in result.text
        assert "key=[secret]\nend" in result.text
        assert "[secret]" in (await b.use(lambda t: t.read("leak.txt"))).text
        assert "[secret]" in (await b.use(lambda t: t.grep("key="))).text
        assert "sk-abcdef" not in str(b.client.frames)


@pytest.mark.parametrize("variant", ["v1", "v2"])
async def test_a_command_of_the_background_goes_on_after_the_turn(
    tmp_path: Path, variant: str
) -> None:
    """Issue: run with background."""
    async with bench(tmp_path, variant) as b:
        result = await b.use(lambda t: t.run("echo up; sleep 1000", background=True))
        assert result.ok
        terminal = result.data
        assert isinstance(terminal, TerminalHandle)
        assert not terminal.is_over
        await b.use(lambda t: terminal.kill())
        with anyio.fail_after(HANG_SECONDS):
            await terminal.wait()
