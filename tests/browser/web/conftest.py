"""A real `accord web` and a tab in front of it; what the page's policy blocks is a complaint."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from accord.web.page_files import PAGE_FOLDER
from tests.gateway.gateway_process import serve_environment
from tests.hang_limit import HANG_SECONDS

AGENT = f"{Path(__file__).with_name('agent_program.py')}:agent"
REPORT = """document.addEventListener("securitypolicyviolation", (event) => console.error(
    `blocked by the policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`))"""


@dataclass
class Web:
    """A running `accord web`: its address with the token, and the folder that it works in."""

    address: str
    folder: Path

    @property
    def port(self) -> int:
        return int(self.address.partition("/#")[0].rpartition(":")[2])


Serve = Callable[..., Web]


@contextmanager
def web_process(folder: Path, *words: str) -> Iterator[Web]:
    """Start it in a folder of its own, and end it."""
    work = folder / "shop"
    work.mkdir(exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-m", "accord", "web", "--no-browser", "--port", "0", *words],
        cwd=work,
        env=serve_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield Web(process.stdout.readline().strip(), work)
        finally:
            process.terminate()
            process.wait(HANG_SECONDS)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start `accord web` with these words."""
    if not (PAGE_FOLDER / "assets").is_dir():
        pytest.skip("the page of the web client is not built here: make page")
    with ExitStack() as stack:
        yield lambda *words: stack.enter_context(web_process(tmp_path, *words))


@pytest.fixture
def tab(browser: Any, complaints: list[str]) -> Iterator[Any]:
    """A tab with nothing in its storage."""
    context = browser.new_context(viewport={"width": 1300, "height": 850})
    context.add_init_script(REPORT)
    opened = context.new_page()
    opened.set_default_timeout(HANG_SECONDS * 1000)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: _note(message, complaints))
    opened.on("request", lambda request: _note_foreign(request.url, complaints))
    yield opened
    context.close()


def _note(message: Any, complaints: list[str]) -> None:
    # A connection that a test has cut is told by the browser itself.
    if message.type in ("error", "warning") and "ERR_CONNECTION" not in message.text:
        complaints.append(message.text)


def _note_foreign(url: str, complaints: list[str]) -> None:
    if not url.startswith(("http://127.0.0.1:", "data:", "blob:")):
        complaints.append(f"asked for {url}")
