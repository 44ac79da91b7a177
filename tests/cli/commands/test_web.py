"""`accord web`: the address on its first line, the browser that it opens, and its end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from websockets.asyncio.client import connect

from tests.gateway.gateway_process import ROOT, serve_environment
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import INITIALIZE, NEW_SESSION

pytestmark = pytest.mark.anyio

# Nothing to open a page with.
NO_SCREEN = {"BROWSER": None, "DISPLAY": None, "WAYLAND_DISPLAY": None, "WSL_DISTRO_NAME": None}


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@dataclass
class Page:
    """A running `accord web`; `address` is the first line of its stdout."""

    process: subprocess.Popen[str]
    address: str

    @property
    def origin(self) -> str:
        return self.address.partition("/#")[0]

    @property
    def token(self) -> str:
        return self.address.partition("#token=")[2]

    def log_in(self, secret: str) -> str:
        """Exchange a token or a ticket for a cookie, as the page does."""
        headers = {"authorization": f"Bearer {secret}", "origin": self.origin}
        asked = urllib.request.Request(f"{self.origin}/login", b"", headers)
        with urllib.request.urlopen(asked, timeout=HANG_SECONDS) as answer:
            cookie: str = answer.headers["set-cookie"]
        return cookie.partition(";")[0]

    def get(self, path: str, cookie: str | None = None) -> bytes:
        """GET a path as the page does."""
        headers = {} if cookie is None else {"cookie": cookie, "origin": self.origin}
        asked = urllib.request.Request(self.origin + path, headers=headers)
        with urllib.request.urlopen(asked, timeout=HANG_SECONDS) as answer:
            body: bytes = answer.read()
        return body

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str, str]:
        """End it by a signal; return its exit code and what it said after the first line."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=HANG_SECONDS)
        return self.process.returncode, out, err


def start(
    folder: Path, *words: str, env: dict[str, str | None] | None = None
) -> subprocess.Popen[str]:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "accord", "web", *words],
        cwd=work,
        env=serve_environment(folder, {**NO_SCREEN, **(env or {})}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def web(folder: Path, *words: str, env: dict[str, str | None] | None = None) -> Generator[Page]:
    process = start(folder, *words, env=env)
    try:
        assert process.stdout is not None
        line = process.stdout.readline().rstrip("\n")
        assert line, process.communicate(timeout=HANG_SECONDS)
        yield Page(process, line)
    finally:
        process.terminate()
        try:
            process.communicate(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


def refused(folder: Path, *words: str) -> tuple[int, str]:
    """Run it until it refuses; return its exit code and its words."""
    with start(folder, *words) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        if process.stdout.readline():
            process.terminate()
        return process.wait(HANG_SECONDS), process.stderr.read()


async def test_the_first_line_leads_to_a_session_in_this_folder(tmp_path: Path) -> None:
    """Issue 18: the address with its token; what the page does with it then."""
    with web(tmp_path, "--port", "0") as page:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=accord_[\w-]+", page.address)
        assert b"<!doctype html>" in page.get("/").lower()
        cookie = page.log_in(page.token)
        listed = json.loads(page.get("/.well-known/acp-agents.json", cookie))
        assert listed["folder"] == str(tmp_path / "work")
        (agent,) = listed["agents"]
        assert agent["id"] == "built-in"
        headers = {"cookie": cookie, "origin": page.origin}
        url = f"{page.origin}{agent['path']}".replace("http", "ws", 1)
        new = {**NEW_SESSION, "params": {"cwd": listed["folder"], "mcpServers": []}}
        with anyio.fail_after(HANG_SECONDS):
            async with connect(url, additional_headers=headers) as wire:
                await wire.send(json.dumps(INITIALIZE))
                assert json.loads(await wire.recv())["result"]
                await wire.send(json.dumps(new))
                while "result" not in (answer := json.loads(await wire.recv())):
                    pass
                assert answer["result"]["sessionId"]
        code, out, err = page.stop()
        assert (code, out) == (0, "")
        assert "Traceback" not in err


async def test_ctrl_c_ends_it_with_its_agents(tmp_path: Path) -> None:
    """Issue 18: it leaves nothing behind, however it is told."""
    mark = tmp_path / "pid"
    script = f"import os, pathlib; pathlib.Path({str(mark)!r}).write_text(str(os.getpid()))"
    script += "; import accord.cli.main as program; raise SystemExit(program.main(['agent']))"
    for number in (signal.SIGINT, signal.SIGTERM):
        mark.unlink(missing_ok=True)
        with web(tmp_path, "--port", "0", "--", sys.executable, "-c", script) as page:
            cookie = page.log_in(page.token)
            listed = json.loads(page.get("/.well-known/acp-agents.json", cookie))
            assert listed["agents"][0]["available"] is True
            pid = int(mark.read_text())
            assert page.stop(number)[0] == 0
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_the_browser_gets_a_ticket_and_not_the_token(tmp_path: Path) -> None:
    """Other users of the machine can read the arguments of programs."""
    said, browser = tmp_path / "said", tmp_path / "browser"
    os.mkfifo(said)
    browser.write_text(f'#!/bin/sh\necho "$1" > {said}\n')
    browser.chmod(0o755)
    with web(tmp_path, "--port", "0", env={"BROWSER": str(browser)}) as page:
        opened = said.read_text().strip()
        assert page.token not in opened
        origin, _, ticket = opened.partition("/#token=")
        assert origin == page.origin
        assert page.log_in(ticket)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            page.log_in(ticket)


@pytest.mark.parametrize("words", [(), ("--no-browser",)])
async def test_no_browser_is_opened_without_a_screen_or_a_wish(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    said, browser = tmp_path / "said", tmp_path / "bin" / "xdg-open"
    browser.parent.mkdir()
    browser.write_text(f"#!/bin/sh\necho > {said}\n")
    browser.chmod(0o755)
    path = f"{browser.parent}:{os.environ['PATH']}"
    screen = ":0" if words else None
    with web(tmp_path, "--port", "0", *words, env={"PATH": path, "DISPLAY": screen}) as page:
        assert page.process.stderr is not None
        assert page.process.stderr.readline().endswith("Ctrl-C ends it\n")
        assert page.log_in(page.token)
        assert page.stop()[0] == 0
    assert not said.exists()


async def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, err = refused(tmp_path, "--port", str(port))
    assert code == 1
    said = f"accord web: port {port} of 127.0.0.1 is in use; choose another one with --port"
    assert said in err


async def test_what_cannot_be_served_is_told_in_a_sentence(tmp_path: Path) -> None:
    code, err = refused(tmp_path, "nobody")
    assert (code, err.count("\n")) == (2, 1)
    assert "accord web: there is no agent 'nobody'" in err
    assert "built-in" in err
    code, err = refused(tmp_path, "--port", "70000")
    assert (code, err) == (2, "accord web: --port must be a number from 0 to 65535\n")
    code, err = refused(tmp_path, "--", "no-such-program-here")
    assert code == 2
    assert "no-such-program-here" in err


async def test_it_has_the_sessions_of_accord_serve(tmp_path: Path) -> None:
    """Issue 18: the same store, which one gateway has at a time."""
    with web(tmp_path, "--port", "0") as page:
        assert (tmp_path / "state/gateway/built-in/gateway.sqlite3").is_file()
        code, err = refused(tmp_path, "--port", "0")
        assert code == 1
        assert f"is in use by another gateway (pid {page.process.pid})" in err


async def test_the_default_agent_is_the_configured_one(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    command = json.dumps([sys.executable, "-m", "accord", "agent"])
    (config / "config.toml").write_text(f'agent = "mine"\n[agents.mine]\ncommand = {command}\n')
    with web(tmp_path, "--port", "0") as page:
        listed = json.loads(page.get("/.well-known/acp-agents.json", page.log_in(page.token)))
        assert [one["id"] for one in listed["agents"]] == ["mine"]


async def test_an_agent_of_a_module_is_served_too(tmp_path: Path) -> None:
    with web(tmp_path, "--port", "0", f"{ROOT}/examples/hello_agent.py:agent") as page:
        listed = json.loads(page.get("/.well-known/acp-agents.json", page.log_in(page.token)))
        assert listed["agents"][0]["available"] is True
