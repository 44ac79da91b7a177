"""The login of a page in a real Chromium: the cookie, streams, WebSockets, and other pages."""

from __future__ import annotations

import logging
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from accord.gateway.access.access import Access
from accord.gateway.access.login_endpoint import LoginEndpoint
from accord.transport.server.answers import HttpAnswer
from accord.transport.server.application import RemoteApplication
from accord.transport.server.listener.remote_server import RemoteServer
from accord.transport.server.requests import Receive, Scope, Send, read_request
from accord.transport.transport import Transport
from tests.gateway.access.gateway_users import TOKEN, make_access
from tests.hang_limit import HANG_SECONDS

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
PAGE = b"<!doctype html><meta charset=utf-8><link rel=icon href=data:,><title>page</title>"


class PageServer(RemoteApplication):
    """A page, the login and the agents' path at one address."""

    def __init__(self, access: Access) -> None:
        async def serve(client: Transport, principal: str) -> None:
            await client.aclose()

        super().__init__(serve, auth=access.auth)
        self.login = LoginEndpoint(access, self.guard)
        self.seen: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await super().__call__(scope, receive, send)
            return
        request = read_request(scope)
        self.seen.append(f"{request.path}?{request.query} {request.headers.get('referer', '')}")
        if request.path == "/":
            await HttpAnswer(200, PAGE, "text/html").send(send)
        elif self.login.serves(request):
            await (await self.login.answer(request)).send(send)
        else:
            await super().__call__(scope, receive, send)


@asynccontextmanager
async def chromium() -> AsyncIterator[Any]:
    """A tab of a browser; the test is skipped without one."""
    if find_spec("playwright") is None:
        pytest.skip("playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    async with import_module("playwright.async_api").async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = await started.new_page()
        tab.set_default_timeout(HANG_SECONDS * 1000)
        yield tab
        await started.close()


LOG_IN = """async () => {
    const token = location.hash.slice(1);
    history.replaceState(null, "", location.pathname);
    const headers = {authorization: `Bearer ${token}`};
    return (await fetch("/login", {method: "POST", headers})).status;
}"""
LOG_OUT = """async () => (await fetch("/logout", {method: "POST"})).status"""
# 400 says that the request was let in, and that it names no connection.
STREAM = """async () => {
    const headers = {accept: "text/event-stream"};
    return (await fetch("/acp", {headers})).status;
}"""
POST = """async () => {
    const headers = {"content-type": "application/json"};
    return (await fetch("/acp", {method: "POST", headers, body: "{}"})).status;
}"""
SOCKET = """host => new Promise(done => {
    const socket = new WebSocket(`ws://${host}/acp`);
    socket.onopen = () => { socket.close(); done("open"); };
    socket.onerror = () => done("refused");
})"""


@pytest.mark.slow
async def test_a_page_logs_in_with_the_token_of_its_fragment(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Issue 17: once in the page's URL fragment, as Jupyter does; then a WebSocket works."""
    caplog.set_level(logging.INFO)
    application, other = PageServer(make_access()), PageServer(make_access())
    async with RemoteServer(application) as server, RemoteServer(other) as neighbour:
        own, foreign = f"127.0.0.1:{server.port}", f"127.0.0.1:{neighbour.port}"
        async with chromium() as tab:
            await tab.goto(f"http://{own}/#{TOKEN}")
            assert await tab.evaluate(SOCKET, own) == "refused"
            assert await tab.evaluate(LOG_IN) == 200
            assert tab.url == f"http://{own}/"
            assert await tab.evaluate("document.cookie") == ""
            assert await tab.evaluate(SOCKET, own) == "open"
            assert await tab.evaluate(POST) == 400
            assert await tab.evaluate(STREAM) == 400
            # The browser sends the cookie to every port of the host, and from every page of it.
            await tab.goto(f"http://{foreign}/")
            assert await tab.evaluate(SOCKET, own) == "refused"
            assert await tab.evaluate(SOCKET, foreign) == "refused"
            await tab.goto(f"http://{own}/")
            assert await tab.evaluate(SOCKET, own) == "open"
            assert await tab.evaluate(LOG_OUT) == 204
            assert await tab.evaluate(SOCKET, own) == "refused"
            assert await tab.evaluate(POST) == 401
    assert TOKEN not in caplog.text
    assert not [line for line in application.seen + other.seen if TOKEN in line]
