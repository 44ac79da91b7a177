"""`accord check` over a network, and `accord record` as a server."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.home import AGENT, Home
from tests.hang_limit import HANG_SECONDS
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


@contextmanager
def recording(home: Home, *words: str) -> Iterator[str]:
    """A recorder that listens; its URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "accord", "record", "--listen", "http://127.0.0.1:0/acp", *words],
        cwd=home.project,
        env=home.env,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    try:
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found is not None
        yield found.group()
        process.send_signal(signal.SIGTERM)
        assert process.wait(HANG_SECONDS) in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
    finally:
        process.kill()
        process.communicate()


def test_record_stands_in_front_of_a_program_for_clients_of_a_network(
    home: Home, tmp_path: Path
) -> None:
    """Issue 16: `accord record` stands in front of either; each connection has its file."""
    home.env["SOME_API_KEY"] = "abc123def456"
    file = tmp_path / "session.jsonl"
    with recording(home, "-o", str(file), "--", *AGENT) as url:
        for number, given in enumerate((url, url.replace("http", "ws"))):
            ended = home.accord("run", f"say {number} abc123def456", "--agent", given)
            assert ended.code == 0, ended.error
    files = sorted(tmp_path.glob("session*.jsonl"))
    assert [one.name for one in files] == ["session-2.jsonl", "session.jsonl"]
    for one in files:
        text = one.read_text()
        assert "session/prompt" in text
        assert "abc123def456" not in text
        assert '"end"' in text.splitlines()[-1]
        shown = home.accord("trace", str(one), "--stats")
        assert shown.code == 0, shown.error
        assert "session/prompt" in shown.out


def test_record_stands_in_front_of_a_server(home: Home, tmp_path: Path) -> None:
    """Issue 16: in front of either."""
    file = tmp_path / "session.jsonl"
    with serve_process() as server, recording(home, "-o", str(file), server.url) as url:
        ended = home.accord("run", "hello", "--agent", url)
        assert (ended.code, ended.out.strip()) == (0, "hello"), ended.error
    assert "session/prompt" in file.read_text()


def test_record_listens_on_this_machine_only(home: Home) -> None:
    ended = home.accord("record", "--listen", "http://0.0.0.0:0/acp", "--", *AGENT)
    assert ended.code == 2
    assert "of this machine" in ended.error
    assert os.listdir(home.project) == []
