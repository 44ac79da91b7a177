"""TLS: certificates are checked, and ALPN chooses the version."""

from __future__ import annotations

import ssl
from pathlib import Path

import anyio
import pytest

from accord.errors import ConnectFailed
from accord.transport.http.client import HttpTransport
from accord.transport.remote_address import parse_address
from tests.machine.certificates import Certificate, make_certificate
from tests.transport.collector import Collecting
from tests.transport.http.acp_script import AcpScript
from tests.transport.http.conversation import connected
from tests.transport.http.scripted_server import serve


def server_context(certificate: Certificate, *protocols: str) -> ssl.SSLContext:
    context = certificate.server_context()
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


@pytest.fixture
def certificate(tmp_path: Path) -> Certificate:
    return make_certificate(tmp_path)


@pytest.mark.rule("TR-HTTP-02")
@pytest.mark.parametrize(
    ("protocols", "version"),
    [(("h2", "http/1.1"), "HTTP/2"), (("http/1.1",), "HTTP/1.1"), ((), "HTTP/1.1")],
)
async def test_alpn_chooses_the_version(
    certificate: Certificate, protocols: tuple[str, ...], version: str
) -> None:
    """TR-HTTP-02: HTTP/2 where the server has it, HTTP/1.1 otherwise."""
    script = AcpScript()
    tls = server_context(certificate, *protocols)
    kind = "h2" if protocols and protocols[0] == "h2" else "http/1.1"
    async with serve(script, kind, tls=tls) as server:
        trusted = certificate.client_context()
        async with connected(server.port, "localhost", scheme="https", tls=trusted) as talk:
            assert talk.transport.http_version == version
            await talk.call("session/new")
            text = "x" * 300_000
            talk.send(method="_large", params={"text": text})
            script.push({"method": "_large", "params": {"text": text}})
            await script.until(lambda: len(script.messages) == 2)
            await talk.count(3)
            assert talk.messages[-1]["params"]["text"] == text
            await server.connections[0].abort()
            await talk.end()


async def failure(port: int, tls: ssl.SSLContext | None, host: str = "localhost") -> str:
    transport = HttpTransport(parse_address(f"https://{host}:{port}/acp"), tls=tls)
    async with anyio.create_task_group() as tasks:
        with pytest.raises(ConnectFailed) as caught:
            await transport.start(Collecting(), tasks)
    return str(caught.value)


async def test_an_unknown_certificate_is_refused(certificate: Certificate) -> None:
    """Ours: certificates are checked."""
    async with serve(AcpScript(), tls=server_context(certificate, "h2")) as server:
        assert "certificate is not valid" in await failure(server.port, None)


async def test_a_certificate_of_another_name_is_refused(certificate: Certificate) -> None:
    """Ours: certificates are checked."""
    trusted = certificate.client_context()
    async with serve(AcpScript(), tls=server_context(certificate, "h2")) as server:
        said = await failure(server.port, trusted, "127.0.0.1")
        assert "certificate is not valid" in said


async def test_a_server_without_tls_is_explained() -> None:
    """Ours: the most frequent mistake."""
    async with serve(AcpScript(), "http/1.1") as server:
        assert "does port" in await failure(server.port, None)
