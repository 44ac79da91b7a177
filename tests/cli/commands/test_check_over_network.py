"""`accord check` over HTTP and WebSocket."""

from __future__ import annotations

import json
import re
import shlex
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cli.home import Home
from tests.transport.server.serve_process import serve_process

TOKEN = "tokentokentoken"
CLIENT = (sys.executable, "-m", "accord", "run", "hello", "--agent", "{url}")


@pytest.mark.parametrize("version", ["1", "2", "draft"])
@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_our_server_keeps_the_rules_of_its_transport(scheme: str, version: str, home: Home) -> None:
    """Issue 16: `accord check https://…` judges a server."""
    report = home.project / "report.json"
    with serve_process() as server:
        url = server.url.replace("http", scheme)
        words = ("check", url, "--protocol", version, "--only", "TR-*")
        ended = home.accord(*words, "--report-json", str(report))
    assert ended.code == 0, ended.out
    found = json.loads(report.read_text())["results"]
    rules = {one["id"]: one["verdict"] for one in found}
    assert ("TR-HTTP-06" if scheme == "http" else "TR-HTTP-15") in rules
    assert set(rules.values()) <= {"pass", "skipped"}


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1", "2", "draft"])
@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_our_client_keeps_the_rules_of_its_transport(scheme: str, version: str, home: Home) -> None:
    """Issue 16: `accord check --client` judges a client over HTTP."""
    options = ("--client", "--listen", f"{scheme}://127.0.0.1:0/acp", "--protocol", version)
    ended = home.accord("check", *options, "--only", "TR-*", "--quiet", "--", *CLIENT)
    assert ended.code == 0, ended.out + ended.error


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--listen", "http://127.0.0.1:0/acp", "--", "x"], "--listen is for --client"),
        (["--client", "--listen", "ftp://x", "--", "x"], "--listen: 'ftp://x' is not a URL"),
        (["--client", "--listen", "http://192.0.2.1:0", "--", "x"], "of this machine"),
        (["--client", "http://127.0.0.1:1/acp"], "--client checks a program"),
        (["--other-token-env", "X", "--", "x"], "--other-token-env is for agents with a URL"),
        (["http://127.0.0.1:1/acp", "--jobs", "2"], "one at a time"),
    ],
)
def test_wrong_words_are_refused(words: list[str], said: str, home: Home) -> None:
    ended = home.accord("check", *words)
    assert ended.code == 2
    assert said in ended.error


@pytest.mark.parametrize("scheme", ["http", "ws", "https", "wss"])
def test_a_server_that_is_not_there_is_said(scheme: str, home: Home) -> None:
    ended = home.accord("check", f"{scheme}://127.0.0.1:1/acp")
    assert ended.code == 3
    assert f"cannot reach {scheme}://127.0.0.1:1/acp: nothing listens on port 1" in ended.error
    assert not ended.out


@pytest.mark.parametrize("scheme", ["http", "ws"])
@pytest.mark.parametrize(
    ("path", "token", "said"),
    [
        ("/acp", None, "it requires credentials (status 401)"),
        ("/acp", "another", "it refuses these credentials (status 401)"),
        ("/elsewhere", TOKEN, "there is no ACP endpoint at this path (status 404)"),
    ],
)
def test_a_server_that_refuses_its_user_is_not_judged(
    scheme: str, path: str, token: str | None, said: str, home: Home
) -> None:
    """Issue 16: a wrong token says nothing about whether a server is conformant."""
    words = [] if token is None else ["--token-env", "GIVEN"]
    home.env["GIVEN"] = token or ""
    with serve_process(env={"ACCORD_SERVE_TOKEN": TOKEN}) as server:
        url = server.url.replace("http", scheme).replace("/acp", path)
        ended = home.accord("check", url, *words)
    assert ended.code == 3
    assert f"cannot check {url}: {said}" in ended.error
    assert not ended.out


@pytest.mark.parametrize("version", ["1", "2", "draft"])
@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_a_shown_command_fails_again(scheme: str, version: str, home: Home) -> None:
    """Ours: also where another user had to be named, here one who is the same."""
    home.env["GIVEN"] = TOKEN
    options = ("--token-env", "GIVEN", "--other-token-env", "GIVEN", "--timeout", "60")
    agent = "tests.transport.server.agent_program:storing_agent"
    with serve_process(agent=agent, env={"ACCORD_SERVE_TOKEN": TOKEN}) as server:
        url = server.url.replace("http", scheme)
        words = ("check", url, "--protocol", version, "--only", "TR-HTTP-20", *options)
        ended = home.accord(*words)
        (shown,) = re.findall("again accord (.*)", ended.out)
        again = home.accord(*shlex.split(shown))
    assert (ended.code, again.code) == (1, 1), ended.out + again.out
    assert "another user can load the session" in again.out
    assert shown in again.out


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_something_that_does_not_speak_http_is_not_judged(scheme: str, home: Home) -> None:
    """Ours: such as a server with TLS that is asked without."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as workers:
        workers.submit(_close_each, listener)
        url = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/acp"
        ended = home.accord("check", url)
        listener.shutdown(socket.SHUT_RDWR)
    assert ended.code == 3
    assert "closed the connection before it answered" in ended.error


def _close_each(listener: socket.socket) -> None:
    """Accept and close, until the listener is shut down."""
    while True:
        try:
            listener.accept()[0].close()
        except OSError:
            return
