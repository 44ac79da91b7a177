"""What a command in a sandbox can still do, and how it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from accord.errors import SpawnFailed
from accord.machine.own_command_line import own_command, readable_command
from accord.machine.sandbox.availability import Sandbox
from accord.machine.sandbox.options import KINDS, SandboxKind, SandboxRefused
from accord.machine.sandbox.sandboxed_command import sandboxed_command
from tests.machine.sandbox.world import Done, World, new_world, sandbox_of, users

ANY = Sandbox("landlock")


@pytest.fixture(params=users())
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """A world of each user."""
    yield from new_world(request.param)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> SandboxKind:
    """Each kind of sandbox."""
    made: SandboxKind = request.param
    return made


def shell(world: World, kind: SandboxKind, script: str) -> Done:
    """Run a script that stops at the first mistake."""
    done = world.run(kind, "/bin/sh", "-ec", script)
    assert done.code == 0, done.out
    assert world.damage(done) == []
    return done


def test_files_of_the_session_are_made_changed_and_removed(world: World, kind: SandboxKind) -> None:
    """Issue 17: the session's folder is writable."""
    script = """
    echo new > a; mkdir -p b/c; mv a b/c/; ln b/c/a d; ln -s d e; chmod 600 d; rm e
    cat notes.txt; echo more >> notes.txt; rm -r b; test "$(cat d)" = new
    """
    shell(world, kind, script)
    assert (world.project / "notes.txt").read_text() == "notes\nmore\n"


def test_temporary_files_are_private_and_gone_afterwards(world: World, kind: SandboxKind) -> None:
    """Ours: most programs need a temporary folder; nobody else's files are in it."""
    before = set(os.listdir("/tmp"))
    done = shell(world, kind, 'f=$(mktemp); echo x > "$f"; ls "$(dirname "$f")" | wc -l; echo "$f"')
    name = done.out.split()[-1]
    assert not os.path.exists(name)
    left = {one for one in set(os.listdir("/tmp")) - before if one.startswith("accord-sandbox-")}
    # Sandboxes of other tests may run beside this one.
    assert not any(name.startswith(f"/tmp/{one}/") for one in left)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_commits(world: World, kind: SandboxKind) -> None:
    """Ours: an agent that cannot commit is of little use."""
    (world.home / ".gitconfig").write_text("[user]\nname = Me\nemail = me@example.org\n")
    shutil.rmtree(world.project / ".git")
    prepare = ["git", "init", "-q", str(world.project)]
    subprocess.run([*world._prefix, *prepare], check=True, env=world.env)
    script = "git add notes.txt; git commit -qm first; git log --oneline; git checkout -qb other"
    assert "first" in world.run(kind, "/bin/sh", "-ec", script).out


def test_a_virtual_environment_is_made_and_tests_run(world: World, kind: SandboxKind) -> None:
    """Ours: ordinary work of Python projects."""
    (world.project / "test_it.py").write_text(
        "import tempfile, unittest\nclass T(unittest.TestCase):\n"
        "    def test(self): tempfile.TemporaryFile().close()\n"
    )
    script = """
    /usr/bin/python3 -m venv --without-pip env
    env/bin/python -c 'import sys; assert sys.prefix.endswith("env")'
    env/bin/python -m unittest -q test_it
    """
    shell(world, kind, script)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_starts_programs_and_threads(world: World, kind: SandboxKind) -> None:
    """Ours: many agents are programs of node."""
    script = """
    const { execFileSync, fork } = require("child_process");
    const { Worker } = require("worker_threads");
    require("fs").writeFileSync("by-node", execFileSync("echo", ["hello"]));
    new Worker("process.exit(0)", { eval: true }).on("exit", () => console.log("thread ended"));
    """
    (world.project / "work.js").write_text(script)
    assert "thread ended" in shell(world, kind, "node work.js").out
    assert (world.project / "by-node").read_text() == "hello\n"


def test_a_pseudo_terminal_is_opened(world: World, kind: SandboxKind) -> None:
    """Ours: agents run commands in terminals of their own."""
    done = world.python(
        kind, "import pty; sys.exit(pty.spawn(['/bin/sh', '-c', 'tty; exit 3']) >> 8)"
    )
    assert "/dev/pts/" in done.out, done.out
    assert done.code == 3


def test_a_server_on_this_machine_is_reached(world: World, kind: SandboxKind) -> None:
    """Issue 17: the network is allowed by default, since agents need their model."""
    done = world.python(
        kind, "socket.create_connection(('127.0.0.1', port)).recv(1); print('done')"
    )
    assert "done" in done.out
    assert len(world.connections) == 1


def test_more_folders_are_writable_as_configured(world: World, kind: SandboxKind) -> None:
    """Ours: caches and tools of the user, and executed files that the user exempts."""
    cache = world.home / ".cache" / "tool"
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    script = "echo x > ~/.cache/tool/kept; echo x >> .envrc"
    options = {"writable": ["~/.cache/tool", ".envrc"]}
    done = world.run(kind, "/bin/sh", "-ec", script, options=options)
    assert done.code == 0, done.out
    assert (cache / "kept").read_text() == "x\n"


def test_secrets_in_a_readable_home_stay_hidden(world: World, kind: SandboxKind) -> None:
    """Ours: whoever opens the home does not mean the keys in it."""
    script = "cat ~/.profile; cat ~/.ssh/id; cat ~/.config/gh/hosts.yml; ls ~/.config; true"
    done = world.run(kind, "/bin/sh", "-c", script, options={"readable": ["~"]})
    assert done.out.count("canary-4711") == 1, done.out


def test_variables_that_lead_outside_are_taken_away(
    world: World, kind: SandboxKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a program fails more clearly without an agent's socket than with one it cannot open."""
    env = {**world.env, "SSH_AUTH_SOCK": "/x", "MINE": str(world.private / "service.sock")}
    monkeypatch.setattr(World, "env", env)
    done = world.run(kind, "/usr/bin/env", options={"variables": {"GIVEN": "1"}})
    assert "GIVEN=1\n" in done.out
    assert "SSH_AUTH_SOCK" not in done.out
    assert "MINE" not in done.out


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_code_is_the_command_s(
    world: World, kind: SandboxKind, script: str, code: int
) -> None:
    """Ours: whoever starts an agent learns how it ended."""
    # A signal ends bubblewrap as a number, and with Landlock as a signal.
    assert world.run(kind, "/bin/sh", "-c", script).code in (code, 128 - code)


def test_sigterm_reaches_the_command(world: World, kind: SandboxKind) -> None:
    """Ours: an agent can end orderly, in a sandbox too."""
    sandbox_of(kind)
    script = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    words = world.command(kind, ["/bin/sh", "-c", script])
    with subprocess.Popen(
        words, cwd=world.project, env=world.env, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.killpg(process.pid, signal.SIGTERM)
        assert process.stdout.read() == b"bye\n"
        assert process.wait() == 5


@pytest.mark.parametrize("by", ["exit", "kill"])
def test_daemons_end_with_the_sandbox(world: World, kind: SandboxKind, by: str) -> None:
    """Issue 17: no orphans, a child of setsid too, however the end comes."""
    sandbox_of(kind)
    line = world.project / "line"
    os.mkfifo(line, 0o666)
    line.chmod(0o666)
    daemon = "exec 9>line; echo ready >&9; while :; do sleep 0.05; done"
    script = f"(env -i setsid sh -c '{daemon}' </dev/null >/dev/null 2>&1 &) ; read word"
    words = world.command(kind, ["/bin/sh", "-c", script])
    with (
        subprocess.Popen(
            words, cwd=world.project, env=world.env, stdin=subprocess.PIPE, start_new_session=True
        ) as process,
        open(line, "rb") as held,
    ):
        assert held.readline() == b"ready\n"
        if by == "kill" and kind == "bubblewrap":
            # With Landlock whoever starts the sandbox ends the rest.
            os.killpg(process.pid, signal.SIGKILL)
        else:
            assert process.stdin is not None
            process.stdin.close()
        # The pipe ends with the last process that holds it.
        assert held.read() == b""


def test_a_hidden_working_directory_is_replaced_by_the_session_s(
    world: World, kind: SandboxKind
) -> None:
    """Ours: words of the command may be relative, and an agent must see where it is."""
    for folder, seen in ((world.shared, world.shared), (world.private, world.project)):
        assert world.run(kind, "/bin/pwd", cwd=folder).out.strip() == str(seen)


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    """Ours: the error is that of an agent without a sandbox."""
    with pytest.raises(SpawnFailed, match="cannot start 'no-such-agent': no such program"):
        sandboxed_command(("no-such-agent",), folders=[str(tmp_path)], sandbox=ANY)


def test_an_agent_at_a_url_is_refused(tmp_path: Path) -> None:
    """Ours: a sandbox here would not hold it, and would seem to."""
    for words in (own_command("connect", "wss://x.org/acp"), ("accord", "translate", "https://x")):
        with pytest.raises(SandboxRefused, match="agent at a URL"):
            sandboxed_command(words, folders=[str(tmp_path)], sandbox=ANY)


@pytest.mark.parametrize("folder", ["/", "/home", "/tmp", "~"])
def test_a_folder_that_holds_more_than_a_project_is_refused(folder: str) -> None:
    """Ours: a writable home would be no sandbox."""
    with pytest.raises(SandboxRefused, match="choose the folder of a project"):
        sandboxed_command(("sh",), folders=[os.path.expanduser(folder)], sandbox=ANY)


def test_a_sandboxed_command_is_shown_as_the_agent_s(tmp_path: Path) -> None:
    """Ours: messages name the agent."""
    words = sandboxed_command((sys.executable, "x.py"), folders=[str(tmp_path)], sandbox=ANY)
    assert readable_command(words) == (sys.executable, "x.py")
    words = sandboxed_command(own_command("agent"), folders=[str(tmp_path)], sandbox=ANY)
    assert readable_command(words) == ("accord", "agent")
