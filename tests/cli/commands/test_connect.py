"""Commands with the URL of an agent: `accord connect`, and every command that takes an agent."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from accord.cli.main import STARTERS
from tests.cli.home import Home
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.serve_process import serve_process

TOKEN = "tokentokentokentoken"
URL = "URL"
AGENT = """\
from accord import Agent, Turn

agent = Agent("far", version="1.0.0")


@agent.on_prompt
async def answer(turn: Turn) -> None:
    await turn.say(f"You said: {turn.text}")
"""
SLOW_AGENT = """\
import anyio

from accord import Agent, Turn

agent = Agent("slow", version="1.0.0")


@agent.on_prompt
async def answer(turn: Turn) -> None:
    await turn.say("begun\\n")
    await anyio.sleep_forever()
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {}},
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An agent behind a token, served by a process of its own."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "far.py").write_text(AGENT)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "accord", "serve", "far.py:agent", "--port", "0"),
            *("--data", str(folder / "data")),
        ],
        cwd=folder,
        env={**os.environ, "ACCORD_SERVE_TOKEN": TOKEN},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found is not None
        yield found.group().replace("http://", "ws://")
    finally:
        process.terminate()
        process.wait(timeout=HANG_SECONDS)
        process.stderr.close()


@pytest.fixture
def with_token(home: Home) -> Home:
    """A user who has the token."""
    home.env["AGENT_TOKEN"] = TOKEN
    return home


# What each command that takes an agent does with one behind a URL: its words, without the options
# of the URL, its input, its exit code, and what it says.
USES: dict[str, tuple[list[str], str, int, str]] = {
    "run": (["run", "hello", "--agent", URL], "", 0, "You said: hello"),
    "chat": (["chat", "--plain", URL], "hello\n", 0, "You said: hello"),
    "login": (["login", URL, "--list"], "", 1, "the agent offers no login method"),
    "check": (["check", URL, "--only", "V1-INIT-04"], "", 0, "1 passed"),
    "replay": (["replay", "talk.jsonl", "--as", "client", "--", URL], "", 0, ""),
}
# Those that pass on messages: for editors that start agents, and for what stands in between.
PIPES = {
    "connect": ["connect", URL],
    "record": ["record", "-o", "log.jsonl", URL],
    "translate": ["translate", "--to", "1", URL],
    "proxy": ["proxy", "context", "--", URL],
}


def with_url(words: list[str], url: str) -> list[str]:
    """The words of a command, with this URL in its place, and its token."""
    return [*(url if word == URL else word for word in words), "--token-env", "AGENT_TOKEN"]


def test_every_command_that_takes_an_agent_is_tested_with_a_url() -> None:
    """Issue 16: each of them takes a URL."""
    # `accord serve` and `accord web` have tests of their own.
    assert {*USES, *PIPES, "serve", "web"} == {*STARTERS, "connect"}


@pytest.mark.parametrize("command", USES)
def test_a_command_uses_an_agent_behind_a_url(command: str, url: str, with_token: Home) -> None:
    """Issue 16: the same commands, with an agent that is elsewhere."""
    words, stdin, code, said = USES[command]
    if command == "replay":
        record = ["run", "hello", "--", sys.executable, "-m", "accord", "record", "-o"]
        recorded = with_token.accord(*record, "talk.jsonl", *with_url([URL], url))
        assert recorded.code == 0, recorded.error
    ended = with_token.accord(*with_url(words, url), stdin=stdin)
    assert (ended.code, said in ended.out + ended.error) == (code, True), ended


def test_a_gateway_hosts_an_agent_behind_a_url(url: str, with_token: Home) -> None:
    """Ours: its clients have the gateway's token, and the gateway has the agent's."""
    data = str(with_token.state / "gateway")
    command = [
        *(sys.executable, "-m", "accord", "serve", "--port", "0", "--data", data),
        *("--", url, "--token-env", "AGENT_TOKEN"),
    ]
    env = {**with_token.env, "ACCORD_SERVE_TOKEN": "token-of-the-gateway"}
    with serve_process(command=command, env=env, cwd=with_token.project) as gateway:
        with_token.env["AGENT_TOKEN"] = "token-of-the-gateway"
        ended = with_token.accord(*with_url(["run", "hello", "--agent", URL], gateway.url))
    assert (ended.code, "You said: hello" in ended.out) == (0, True), ended


def test_a_page_shows_an_agent_behind_a_url(url: str, with_token: Home) -> None:
    """Issue 16: as the agent of `accord web`."""
    command = [
        *(sys.executable, "-m", "accord", "web", "--no-browser", "--port", "0"),
        *("--data", str(with_token.state / "gateway"), "--", url, "--token-env", "AGENT_TOKEN"),
    ]
    place = with_token.project
    with subprocess.Popen(
        command, env=with_token.env, cwd=place, stdout=subprocess.PIPE, text=True
    ) as page:
        try:
            assert page.stdout is not None
            origin, _, token = page.stdout.readline().strip().partition("/#token=")
            headers = {"authorization": f"Bearer {token}"}
            known = f"{origin}/.well-known/acp-agents.json"
            asked = urllib.request.Request(known, headers=headers)
            with urllib.request.urlopen(asked, timeout=HANG_SECONDS) as answer:
                (agent,) = json.load(answer)["agents"]
            with_token.env["AGENT_TOKEN"] = token
            words = with_url(["run", "hello", "--agent", URL], origin + agent["path"])
            ended = with_token.accord(*words)
        finally:
            page.terminate()
    assert (ended.code, "You said: hello" in ended.out) == (0, True), ended


def test_an_agent_of_the_configuration_may_have_a_url(url: str, with_token: Home) -> None:
    """Ours: its token is in a variable."""
    text = f'[agents.far]\nurl = "{url}"\ntoken_env = "AGENT_TOKEN"\n'
    (with_token.config / "config.toml").write_text(text)
    ended = with_token.accord("run", "hello", "--agent", "far", "--format", "quiet")
    assert (ended.code, ended.out.strip()) == (0, "You said: hello"), ended.error


def test_what_is_wrong_is_said(url: str, home: Home) -> None:
    """Ours: the server's refusal, a wrong place, and a plain connection to elsewhere."""
    ended = home.accord("run", "hello", "--agent", url)
    assert ended.code == 1
    assert f"accord: cannot connect to {url}: it requires credentials (status 401)" in ended.error
    assert "accord connect" not in ended.error
    home.env["AGENT_TOKEN"] = TOKEN
    ended = home.accord("connect", url.replace("/acp", "/other"), "--token-env", "AGENT_TOKEN")
    assert ended.code == 1
    assert "the usual path is /acp" in ended.error
    ended = home.accord("connect", "ws://agents.example/acp")
    assert ended.code == 2
    assert "--insecure" in ended.error
    assert home.accord("connect").code == 2


@pytest.mark.parametrize("given", ["htps://ann:hunter2@a.example/acp", "localhost:8000/acp"])
@pytest.mark.parametrize(
    "words",
    [
        ("run", "hello", "--agent"),
        ("chat", "--plain"),
        ("check",),
        ("translate", "--to", "1"),
        ("record", "-o", "x.jsonl"),
        ("connect",),
    ],
)
def test_a_url_with_a_mistake_is_explained_and_its_password_is_not_shown(
    words: tuple[str, ...], given: str, home: Home
) -> None:
    """Ours: it is taken for a name otherwise, and for a program."""
    ended = home.accord(*words, given)
    assert ended.code == 2
    assert "the URL of an agent begins with https://" in ended.error
    assert "hunter2" not in ended.error


@pytest.mark.parametrize(
    "words",
    [
        ("proxy", "guard"),
        ("translate", "--to", "1", "--"),
        ("replay", "x.jsonl", "--as", "client", "--"),
    ],
)
def test_a_url_with_a_mistake_is_not_started_as_a_program(
    words: tuple[str, ...], home: Home
) -> None:
    ended = home.accord(*words, "htps://ann:hunter2@a.example/acp")
    assert ended.code == 2
    assert "the URL of an agent begins with https://" in ended.error
    assert "hunter2" not in ended.error


@pytest.mark.parametrize("command", PIPES)
def test_a_remote_agent_looks_like_a_program(command: str, url: str, with_token: Home) -> None:
    """Issue 16: the same, for a client on stdin and stdout."""
    words = with_url(PIPES[command], url)
    process = subprocess.Popen(
        [sys.executable, "-m", "accord", *words],
        cwd=with_token.project,
        env=with_token.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(INITIALIZE) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    process.stdin.close()
    assert process.wait(timeout=HANG_SECONDS) == 0
    process.stdout.close()
    assert answer["id"] == 1
    assert answer["result"]["protocolVersion"] == 1
    if command == "record":
        recorded = (with_token.project / "log.jsonl").read_text()
        assert "initialize" in recorded
        assert TOKEN not in recorded


def test_check_judges_a_server(url: str, with_token: Home) -> None:
    """Issue 16: by the rules of the protocol; those of pipes do not apply."""
    report = with_token.project / "report.json"
    words = ("--only", "V1-INIT-04", "--report-json", str(report))
    ended = with_token.accord("check", url, "--token-env", "AGENT_TOKEN", *words)
    assert ended.code in (0, 4), ended.error
    [result] = json.loads(report.read_text())["results"]
    assert result["verdict"] == "pass"
    assert url in json.loads(report.read_text())["command"]
    ended = with_token.accord("check", url, "--token-env", "AGENT_TOKEN", "--only", "TR-STDIO-*")
    assert ended.code == 2


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_a_run_says_that_its_server_is_gone_and_why_it_ends(
    scheme: str, home: Home, tmp_path: Path
) -> None:
    """Ours: in mid-turn; a user who waits knows for what, and is told of no process of ours."""
    (tmp_path / "slow.py").write_text(SLOW_AGENT)
    with serve_process(agent="slow.py:agent", cwd=tmp_path) as server:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "accord", "run", "go"),
                *("--agent", server.url.replace("http", scheme)),
            ],
            cwd=home.project,
            env=home.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "begun\n"
        server.process.kill()
        server.process.wait()
        notice = process.stderr.readline()
        process.terminate()
        process.communicate(timeout=HANG_SECONDS)
    assert notice.startswith("accord: the connection to ")
    assert "is interrupted" in notice
    assert "trying for 60 s" in notice
