"""Cancelled at any moment, a client leaves nothing behind."""

from __future__ import annotations

import gc
import ssl
from pathlib import Path

import anyio
import pytest

from accord import Client
from accord.transport.http.client import HttpTransport
from accord.transport.remote_address import parse_address
from tests.hang_limit import HANG_SECONDS
from tests.machine.certificates import make_certificate
from tests.transport.http.acp_script import AcpScript, Json
from tests.transport.http.scripted_server import ServedRequest, serve

KINDS = pytest.mark.parametrize("kind", ["h2", "http/1.1", "tls", "resume"])
# Steps of the event loop after which the client is cancelled; all it does takes fewer.
STEPS = [*range(30), *range(30, 90, 5)]


def script_of(kind: str) -> AcpScript:
    script = AcpScript(resumes=kind == "resume")

    def react(message: Json) -> None:
        if message.get("method") == "session/prompt":
            session_id = message["params"]["sessionId"]
            script.push({"id": message["id"], "result": {"stopReason": "end_turn"}}, session_id)
        else:
            script.answer(message)

    script.react = react
    return script


async def converse(url: str, tls: ssl.SSLContext | None) -> None:
    """All that a client does: connect, open a session, prompt, leave."""
    async with Client.connect(HttpTransport(parse_address(url), tls=tls)) as client:
        session = await client.new_session()
        await session.ask("hello")


async def cancel_after(steps: int, scope: anyio.CancelScope) -> None:
    for _ in range(steps):
        await anyio.lowlevel.checkpoint()
    scope.cancel()


@KINDS
async def test_a_client_that_is_cancelled_anywhere_closes_everything(
    kind: str, tmp_path: Path
) -> None:
    """Issue 16: at every await; a socket that is left open is a warning, which fails the test."""
    certificate = make_certificate(tmp_path) if kind == "tls" else None
    server_tls = client_tls = None
    if certificate is not None:
        server_tls, client_tls = certificate.server_context(), certificate.client_context()
        server_tls.set_alpn_protocols(["h2"])
    version = "http/1.1" if kind == "http/1.1" else "h2"
    with anyio.fail_after(HANG_SECONDS):
        async with serve(script_of(kind), version, tls=server_tls) as server:
            scheme, host = ("http", "127.0.0.1") if server_tls is None else ("https", "localhost")
            url = f"{scheme}://{host}:{server.port}/acp"
            for steps in STEPS:
                server.handle = script_of(kind)
                with anyio.CancelScope() as scope:
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(cancel_after, steps, scope)
                        await converse(url, client_tls)
                for served in server.connections:
                    await served.is_closed.wait()
                server.connections.clear()
            server.handle = script_of(kind)
            await converse(url, client_tls)
    gc.collect()


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_server_that_says_nothing_can_be_left(scheme: str) -> None:
    """Issue 16: in the handshake of TLS, and before the first frame of HTTP/2."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    closed = anyio.Event()

    async def swallow(stream: anyio.abc.ByteStream) -> None:
        async with stream:
            try:
                while True:
                    await stream.receive()
                    scope.cancel()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                closed.set()

    with anyio.fail_after(HANG_SECONDS):
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, swallow)
            with anyio.CancelScope() as scope:
                await converse(f"{scheme}://127.0.0.1:{port}/acp", None)
            await closed.wait()
            tasks.cancel_scope.cancel()


async def test_waits_can_be_cancelled() -> None:
    """The transport's interface: `drain` of a server that takes nothing."""
    script = script_of("h2")

    async def hang(request: ServedRequest) -> bool:
        if b"_large" in request.body:
            await anyio.sleep_forever()
        return False

    script.before = hang
    with anyio.fail_after(HANG_SECONDS):
        async with serve(script) as server:
            transport = HttpTransport(parse_address(f"http://127.0.0.1:{server.port}/acp"))
            async with Client.connect(transport) as client:
                with anyio.move_on_after(0.01) as scope:
                    await client.notify_extension("_large", {"text": "x" * 2_000_000})
                assert scope.cancelled_caught
