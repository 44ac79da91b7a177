"""`accord run --sandbox` and `accord chat --sandbox`, from the command line to the files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from accord.cli.main import main
from accord.machine.sandbox import availability
from accord.machine.sandbox.options import KINDS, SandboxKind
from tests.cli.home import AGENT, Home
from tests.hang_limit import HANG_SECONDS
from tests.machine.lifeline import Lifeline
from tests.machine.sandbox.world import sandbox_of

CHILDREN = """
setsid sh -c 'echo child >&9; sleep 1000' &
(setsid sh -c '(trap "" TERM HUP; echo child >&9; sleep 1000) & exit 0' &)
(env -i PATH="$PATH" setsid sh -c 'echo child >&9; sleep 1000' &)
echo agent >&9; cat >/dev/null
"""
"""An agent with a child in a session of its own, a daemon, and one that has no variables."""


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, home: Home, tmp_path: Path) -> SandboxKind:
    """Each kind of sandbox; for Landlock a PATH without bubblewrap."""
    kind: SandboxKind = request.param
    sandbox_of(kind)
    if kind == "landlock":
        folder = tmp_path / "programs"
        folder.mkdir()
        for entry in os.scandir("/usr/bin"):
            if entry.name != "bwrap":
                (folder / entry.name).symlink_to(entry.path)
        home.env["PATH"] = str(folder)
    (home.state.parent / "secret").write_text("canary")
    return kind


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_an_agent_writes_inside_and_not_outside(
    home: Home, kind: SandboxKind, version: str
) -> None:
    """Issue 17: the session's folder is writable, the rest is not, whoever would run a command."""
    agent = [*AGENT, version]
    done = home.run(
        *("run touch inside; run touch ../outside; run cp ../secret copied", "--sandbox"),
        *("--allow", "all"),
        agent=agent,
    )
    assert done.code == 0, done
    assert done.out.startswith("exit=0"), done
    assert (home.project / "inside").exists()
    assert not (home.project.parent / "outside").exists()
    assert not (home.project / "copied").exists()
    assert ("the sandbox is Landlock" in done.error) == (kind == "landlock")


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_client_writes_no_executed_file_for_an_agent(
    home: Home, kind: SandboxKind, version: str
) -> None:
    """Security: with every permission the client would do what the sandbox forbids."""
    (home.project / ".envrc").write_text("mine\n")
    words = ("write .envrc; write new.txt", "--sandbox", "--allow", "all")
    done = home.run(*words, agent=[*AGENT, version])
    # The agent fails at the first file, where it cannot be written.
    is_kept = (home.project / ".envrc").read_text() == "mine\n"
    assert is_kept == (kind == "bubblewrap"), done


def test_the_built_in_agent_works_and_continues_its_session(home: Home, kind: SandboxKind) -> None:
    """Issue 17: ordinary work; its sessions are stored beside the others."""
    (home.project / "hello.py").write_text("def hello():\n    return 1\n")
    first = home.accord("run", "explain hello", "--sandbox", "--format", "json")
    assert first.code == 0, first
    again = home.accord("run", "what is this project?", "--sandbox", "--continue")
    assert again.code == 0, again
    assert "hello" in again.out
    assert (home.state / "sandboxed" / "sessions.sqlite3").exists()
    assert not (home.state / "sessions.sqlite3").exists()


def test_a_check_runs_in_the_sandbox_too(home: Home, kind: SandboxKind) -> None:
    """Ours: it runs what the agent may have written."""
    words = ("stop end_turn", "--sandbox", "--check")
    assert home.run(*words, "touch by-check").code == 0
    assert (home.project / "by-check").exists()
    assert home.run(*words, "cat ../secret").code == 6


def test_a_chat_has_a_sandbox_and_says_so(home: Home, kind: SandboxKind) -> None:
    """Issue 17: `accord chat` takes the same flag."""
    talk = "run touch inside\ny\nrun touch ../outside\ny\n"
    done = home.accord("chat", "--plain", "--sandbox", "--", *AGENT, stdin=talk)
    assert f"in a sandbox ({kind})" in done.out, done
    assert not (home.project.parent / "outside").exists()


def test_folders_of_the_configuration_are_writable(home: Home, kind: SandboxKind) -> None:
    """Ours: caches, and agents that are not known."""
    (home.project.parent / "cache").mkdir()
    (home.config / "config.toml").write_text('[sandbox]\nwritable = ["~/cache"]\n')
    done = home.run("run touch ../cache/x", "--sandbox", "--allow", "all")
    assert done.code == 0
    assert (home.project.parent / "cache" / "x").exists()


def test_what_accord_stores_is_hidden(home: Home, kind: SandboxKind) -> None:
    """Security: an agent must not read keys, nor give itself rights."""
    (home.config / "config.toml").write_text('[sandbox]\nreadable = ["~"]\n')
    (home.config / "credentials.json").write_text("{}")
    done = home.run(
        "run cat ../config/credentials.json; run touch ../state/grants.toml",
        *("--sandbox", "--allow", "all"),
    )
    assert "exit=0" not in done.out, done
    assert not (home.state / "grants.toml").exists()


@pytest.mark.anyio
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_nothing_outlives_a_command_that_a_signal_ends(
    home: Home, kind: SandboxKind, number: signal.Signals
) -> None:
    """Issue 17: no orphans, a child of setsid too, even if it cleared its variables."""
    line = Lifeline(home.project / "line")
    words = ["run", "hello", "--sandbox", "--", *line.shell(CHILDREN)]
    with subprocess.Popen(
        [sys.executable, "-m", "accord", *words],
        cwd=home.project,
        env=home.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            with anyio.fail_after(HANG_SECONDS):
                for _ in range(4):
                    assert await line.word() in ("agent", "child")
                os.kill(process.pid, number)
                await anyio.to_thread.run_sync(process.wait)
                await line.all_dead()
        finally:
            process.kill()
            line.close()


@pytest.mark.parametrize("command", [["run", "hello"], ["chat", "--plain"]])
def test_without_a_sandbox_nothing_is_started(
    home: Home,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    """Issue 17: refused with a clear message, never without a sandbox in silence."""
    for name in ("ACCORD_CONFIG_DIR", "ACCORD_STATE_DIR"):
        monkeypatch.setenv(name, home.env[name])
    monkeypatch.chdir(home.project)
    monkeypatch.setattr(availability, "_tried", lambda kind: (None, f"{kind} is missing"))
    touch = ["--", sys.executable, "-c", "open('started', 'w')"]
    assert main([*command, "--sandbox", *touch]) == 2
    said = capfd.readouterr().err
    assert "no sandbox that works: bubblewrap is missing; landlock is missing" in said
    assert "install bubblewrap" in said
    assert not (home.project / "started").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "x", "--sandbox", "--agent", "wss://x.org/acp"), "an agent at a URL"),
        (("chat", "--plain", "--sandbox", "wss://x.org/acp"), "an agent at a URL"),
        (("run", "x", "--sandbox", "--cwd", ".."), "choose the folder of a project"),
        (("run", "x", "--sandbox-no-network"), "--sandbox-no-network needs --sandbox"),
    ],
)
def test_what_cannot_have_a_sandbox_is_wrong_usage(
    home: Home, words: tuple[str, ...], said: str
) -> None:
    """Issue 17: the same."""
    done = home.accord(*words)
    assert done.code == 2, done
    assert said in done.error
