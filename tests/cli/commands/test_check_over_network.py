"""`accord check` over HTTP and WebSocket."""

from __future__ import annotations

import json
import sys

import pytest

from tests.cli.home import Home
from tests.transport.server.serve_process import serve_process

CLIENT = (sys.executable, "-m", "accord", "run", "hello", "--agent", "{url}")


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_our_server_keeps_the_rules_of_its_transport(scheme: str, home: Home) -> None:
    """Issue 16: `accord check https://…` judges a server."""
    report = home.project / "report.json"
    with serve_process() as server:
        url = server.url.replace("http", scheme)
        ended = home.accord("check", url, "--only", "TR-*", "--report-json", str(report))
    assert ended.code == 0, ended.out
    found = json.loads(report.read_text())["results"]
    rules = {one["id"]: one["verdict"] for one in found}
    assert ("TR-HTTP-06" if scheme == "http" else "TR-HTTP-15") in rules
    assert set(rules.values()) <= {"pass", "skipped"}


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_our_client_keeps_the_rules_of_its_transport(scheme: str, home: Home) -> None:
    """Issue 16: `accord check --client` judges a client over HTTP."""
    listen = f"{scheme}://127.0.0.1:0/acp"
    words = ("check", "--client", "--listen", listen, "--only", "TR-*", "--quiet", "--", *CLIENT)
    ended = home.accord(*words)
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


def test_a_server_that_is_not_there_is_said(home: Home) -> None:
    ended = home.accord("check", "http://127.0.0.1:1/acp")
    assert ended.code == 3
    assert "cannot reach http://127.0.0.1:1/acp" in ended.error
