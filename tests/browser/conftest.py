"""A real Chromium, driven by Playwright.  Without either, the tests here are skipped and say so."""

import shutil
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests."""
    if find_spec("playwright") is None:
        pytest.skip("playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with import_module("playwright.sync_api").sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the page complained about; a test that looks at it wants nothing there."""
    return []


@pytest.fixture
def page(browser: Any, complaints: list[str]) -> Iterator[Any]:
    """A page of its own, with the network off."""
    context = browser.new_context(viewport={"width": 1400, "height": 850}, offline=True)
    opened = context.new_page()
    opened.set_default_timeout(30_000)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("request", lambda request: _note_foreign(request.url, complaints))
    yield opened
    context.close()


def _note_foreign(url: str, complaints: list[str]) -> None:
    if not url.startswith("file:"):
        complaints.append(f"asked for {url}")
