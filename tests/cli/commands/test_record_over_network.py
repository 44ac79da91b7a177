"""`accord record` as a server for clients of HTTP and WebSocket."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.home import AGENT, Home
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.serve_process import serve_process


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
