"""Every command in a project whose files are traps: nothing of the project runs.

The traps shadow each module that Accord, its dependencies and the standard library import, and each
program that they look up.  PATH begins with `.` and an empty entry throughout.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest

from accord import Client, PermissionRequest, Permissions
from accord.cli.main import COMMANDS
from accord.machine.own_command_line import own_command
from tests.cli.home import Ended, Home
from tests.cli.security.hostile_project import HostileProject, module_names
from tests.cli.terminal import TerminalProgram, in_terminal
from tests.fake_llm import serve
from tests.hang_limit import HANG_SECONDS
from tests.terminal.real.chat_screen import ChatScreen
from tests.terminal.tmux import needs_tmux
from tests.transport.server.serve_process import serve_process

PROMPT = "where is mean"
FOUND = "averages.py:1"

HELLO = """\
from accord import Agent, Turn

agent = Agent("hello", version="1.0.0")


@agent.on_prompt
async def answer(turn: Turn) -> None:
    await turn.say(f"You said: {turn.text}")
"""

SCRIPT = Path(sys.executable).with_name("accord")
"""The command as it is installed.  Its own folder is first on its import path."""


class Opened:
    """A person's home, and the project that they have opened."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self.home = Home(folder)
        self.project = HostileProject(self.home.project, folder / "marks")
        self.project.write_modules(names[::2])
        self.project.write_modules(names[1::2], packages=True)
        self.project.write_settings()
        self.project.write_repository()
        self.project.write_programs()
        (self.home.project / "averages.py").write_text("def mean(values):\n    return 0\n")
        self.env = {**self.home.env, "PATH": f".::{os.environ['PATH']}"}

    def accord(self, *words: str, cwd: Path | None = None) -> Ended:
        """Run the installed command, in the project unless another folder is given."""
        done = subprocess.run(
            [SCRIPT, *words],
            cwd=cwd or self.home.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            check=False,
            start_new_session=True,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def finds(self, *words: str, cwd: Path | None = None) -> None:
        """Run it and see that it did its work."""
        ended = self.accord(*words, cwd=cwd)
        assert (ended.code, FOUND in ended.out) == (0, True), (ended, self.project.marks)


@pytest.fixture(scope="module")
def names() -> list[str]:
    """The modules to shadow."""
    return module_names()


@pytest.fixture
def opened(tmp_path: Path, names: list[str]) -> Iterator[Opened]:
    """A fresh home and the project; at the end no trap may have left a mark."""
    one = Opened(tmp_path, names)
    yield one
    assert one.project.marks == {}


def _refuse_server(chat: TerminalProgram) -> None:
    """The project brings an MCP server along, and a person is asked."""
    chat.wait_for("Enter: not now")
    chat.press("n")
    chat.wait_for("\n> ")


def _chat(opened: Opened) -> None:
    words = ("chat", "--plain")
    place = opened.home.project
    with in_terminal(*words, program=[str(SCRIPT)], env=opened.env, cwd=place) as chat:
        _refuse_server(chat)
        chat.press(f"{PROMPT}\n")
        chat.wait_for(FOUND)
        chat.wait_for("\n> ", 2)
        chat.press("/quit\n")
        assert chat.exit_code() == 0


def _agent(opened: Opened) -> None:
    opened.finds("run", PROMPT, "--", str(SCRIPT), "agent")
    with in_terminal(
        *("agent", "--login", "anthropic"),
        program=[str(SCRIPT)],
        env=opened.env,
        cwd=opened.home.project,
    ) as login:
        login.wait_for("it is not shown")
        login.press("sk-ant-not-a-real-key\n")
        assert login.exit_code() == 0


def _run(opened: Opened) -> None:
    opened.finds("run", PROMPT)
    ended = opened.accord("run", "search for def mean")
    assert (ended.code, "averages.py" in ended.out) == (0, True), ended


def _sessions(opened: Opened) -> None:
    opened.finds("run", PROMPT)
    listed = opened.accord("sessions", "list")
    session = listed.out.split()[0]
    opened.finds("sessions", "resume", session, PROMPT)
    for words in (("show", session), ("export", session), ("prune", "--older-than", "90")):
        assert opened.accord("sessions", *words).code == 0
    with in_terminal(
        *("sessions", "resume", session),
        program=[str(SCRIPT)],
        env=opened.env,
        cwd=opened.home.project,
    ) as chat:
        _refuse_server(chat)
        chat.press("/quit\n")
        assert chat.exit_code() == 0


def _permissions(opened: Opened) -> None:
    assert opened.accord("permissions", "list").code == 0


def _recording(opened: Opened) -> str:
    """A recording that was made in the project."""
    file = opened.home.state.parent / "recording.jsonl"
    recorder = (str(SCRIPT), "record", "-o", str(file), "--", str(SCRIPT), "agent")
    opened.finds("run", PROMPT, "--", *recorder)
    assert file.stat().st_size
    return str(file)


def _record(opened: Opened) -> None:
    _recording(opened)


def _trace(opened: Opened) -> None:
    file = _recording(opened)
    for words in ((), ("--text",), ("--stats",), ("--html", f"{file}.html")):
        assert opened.accord("trace", file, *words).code == 0


def _replay(opened: Opened) -> None:
    file = _recording(opened)
    played = opened.accord("replay", file, "--as", "client", "--", str(SCRIPT), "agent")
    assert played.code in (0, 1), played
    opened.finds("run", PROMPT, "--", str(SCRIPT), "replay", file, "--as", "agent")


def _translate(opened: Opened) -> None:
    opened.finds(
        "run", PROMPT, "--", str(SCRIPT), "translate", "--to", "2", "--", str(SCRIPT), "agent"
    )


def _proxy(opened: Opened) -> None:
    agent = shlex.join([str(SCRIPT), "agent"])
    opened.finds("run", PROMPT, "--", str(SCRIPT), "proxy", "context", "guard", agent)


def _check(opened: Opened) -> None:
    only = ("--only", "V1-INIT-04", "--only", "V1-MCP-01", "--jobs", "2")
    ended = opened.accord("check", "--scenario", "builtin", *only, "--", str(SCRIPT), "agent")
    assert ended.code == 0, ended
    client = (str(SCRIPT), "run", "hello", "--")
    ended = opened.accord("check", "--client", "--only", "V1-INIT-02", "--", *client)
    assert ended.code in (0, 1), ended


def _demo(opened: Opened) -> None:
    ended = opened.accord("demo", "--script", "--prompt", "what is this project?")
    assert ended.code == 0, ended


def _login(opened: Opened) -> None:
    ended = opened.accord("login", "--list")
    assert ended.code in (0, 1), ended


def _serve(opened: Opened) -> None:
    """A server that is started in the project, and every command that connects to it."""
    (agent := opened.home.project.parent / "hello.py").write_text(HELLO)
    command = [str(SCRIPT), "serve", f"{agent}:agent", "--port", "0"]
    place = opened.home.project
    opened.env["ACCORD_SERVE_TOKEN"] = "token-of-the-server"
    with serve_process(command=command, cwd=place, env=opened.env) as server:
        url = (server.url, "--token-env", "ACCORD_SERVE_TOKEN")
        for words in (("--agent", *url), ("--", str(SCRIPT), "connect", *url)):
            ended = opened.accord("run", "hello", *words)
            assert (ended.code, "You said: hello" in ended.out) == (0, True), ended


def _web(opened: Opened) -> None:
    """The page's server, started in the project, and a session with the agent behind it."""
    command = [str(SCRIPT), "web", "--no-browser", "--port", "0"]
    place = opened.home.project
    with subprocess.Popen(
        command, cwd=place, env=opened.env, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            origin, _, token = server.stdout.readline().strip().partition("/#token=")
            opened.env["PAGE_TOKEN"] = token
            url = f"{origin}/agents/built-in/acp"
            opened.finds("run", PROMPT, "--agent", url, "--token-env", "PAGE_TOKEN")
        finally:
            server.terminate()


CASES: dict[str, Callable[[Opened], None]] = {
    "chat": _chat,
    "agent": _agent,
    "run": _run,
    "sessions": _sessions,
    "permissions": _permissions,
    "record": _record,
    "trace": _trace,
    "replay": _replay,
    "translate": _translate,
    "proxy": _proxy,
    "check": _check,
    "demo": _demo,
    "login": _login,
    "serve": _serve,
    "connect": _serve,
    "web": _web,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_runs_anything_of_the_project(opened: Opened, command: str) -> None:
    """Issue 12: a person who merely opens a project runs none of its code."""
    CASES[command](opened)


def test_a_module_may_be_a_file_or_a_folder(tmp_path: Path, names: list[str]) -> None:
    """Issue 12: `accord.py` and `accord/` alike, so here they are the other way round."""
    opened = Opened(tmp_path, ["_", *names])
    opened.finds("run", PROMPT)
    assert opened.project.marks == {}


def test_the_project_may_be_named_from_elsewhere(opened: Opened) -> None:
    """Issue 12: our processes are started in the project, wherever the person stands."""
    elsewhere, place = opened.home.config, str(opened.home.project)
    opened.finds("run", PROMPT, "--cwd", place, cwd=elsewhere)
    session = opened.accord("sessions", "list", cwd=elsewhere).out.split()[0]
    opened.finds("sessions", "resume", session, PROMPT, cwd=elsewhere)


@needs_tmux
def test_the_full_screen_runs_nothing_of_the_project(opened: Opened, tmp_path: Path) -> None:
    """Issue 12: the same on the screen, which also asks git what has changed."""
    place = opened.home.project
    with ChatScreen(tmp_path, work=place, env=opened.env, program=[str(SCRIPT)]) as chat:
        chat.answer("n", "Do not use it")
        chat.ready()
        chat.say(PROMPT)
        chat.wait_for(FOUND)
        chat.ready()
        # Completing a name lists the files of the project.
        chat.type("@aver")
        chat.wait_for("averages.py")
        chat.press("Escape")
        chat.leave()


def test_an_agent_with_a_model_runs_nothing_of_the_project(opened: Opened) -> None:
    """Issue 12: the libraries that speak with models look up programs and modules of their own."""
    with serve() as model:
        (opened.home.config / "config.toml").write_text(
            f'[model]\nprovider = "openai"\nname = "fake"\nbase_url = "{model.url}/v1"\n'
            'api_key_env = "FAKE_KEY"\n'
        )
        opened.env["FAKE_KEY"] = "k"
        ended = opened.accord("run", f"[[say {FOUND}]]")
    assert (ended.code, FOUND in ended.out) == (0, True), ended


OFFLINE_PROMPTS = (
    *("what is this project?", "/map", "/explain averages.py", "/explain mean", "/where mean"),
    *("/callers mean", "/find def mean", "/show averages.py", "/test", "/test averages.py"),
    *("run the tests", "fix it", "why", "/rename mean average", "/undo", "/plan add a test"),
    *("/run pytest", "$ python averages.py", "$ npm test", "$ make test", "averages.py", "/mcp"),
    *("/help", "/model", "lint", "check the types", "format the code", "is this correct?"),
)
RUNS_SOMETHING = {
    *("/test", "/test averages.py", "run the tests", "fix it", "/run pytest"),
    *("$ python averages.py", "$ npm test", "$ make test"),
    *("lint", "check the types", "format the code"),
}


def test_what_the_offline_agent_runs_of_a_project_is_asked_for(opened: Opened) -> None:
    """Issue 12: the linter and test runners are the project's, and need permission."""
    asked: dict[str, list[str]] = {prompt: [] for prompt in OFFLINE_PROMPTS}

    async def talk() -> None:
        command = own_command("agent", "--in-memory", "--model", "offline")
        permissions = Permissions.ask(refuse)
        async with Client.spawn(
            *command, cwd=opened.home.project, env=opened.env, permissions=permissions
        ) as client:
            session = await client.new_session()
            for now.prompt in OFFLINE_PROMPTS:
                await session.ask(now.prompt)

    def refuse(request: PermissionRequest) -> bool:
        asked[now.prompt].append(str(request.kind))
        return False

    now = SimpleNamespace(prompt="")
    anyio.run(talk)
    assert {prompt for prompt, kinds in asked.items() if "execute" in kinds} == RUNS_SOMETHING


def test_a_plain_interpreter_falls_into_the_traps(tmp_path: Path, names: list[str]) -> None:
    """Ours: traps that never shut would prove nothing."""
    project = Opened(tmp_path, names).project
    env = {**os.environ, "PATH": f".:{os.environ['PATH']}"}
    code = "import anyio, mcp, json, os; os.system('rg')"
    subprocess.run([sys.executable, "-c", code], cwd=project.folder, env=env, check=False)
    status = ["git", "status"]
    subprocess.run(status, cwd=project.folder, capture_output=True, check=False)
    wanted = {"import-anyio", "import-mcp", "import-json", "program-rg"}
    assert {*wanted, "program-git-core.fsmonitor", "program-git-filter.trap.process"} <= set(
        project.marks
    )
