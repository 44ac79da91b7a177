"""Servers on this computer that offer models, found by asking them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute

from accord.builtin.models.probing import models_at, probe_models
from accord.builtin.models.secret import Secret
from accord.discovery.config import Config, ModelSettings
from tests.fake_llm import serve
from tests.hang_limit import HANG_SECONDS


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No keys of the user's."""
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "config"))


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    """It needs no library of a provider's."""
    return request.param


async def test_a_server_that_answers_offers_its_models() -> None:
    """Issue 3: a server answering on loopback."""
    with serve(models=["qwen3:8b", "llama4"]) as llm:
        loopback = {f"{llm.url}/v1": "ollama", "http://127.0.0.1:1/v1": "openai"}
        found = await probe_models(Config(), {}, loopback=loopback)
        assert [choice.value for choice in found] == [
            f"ollama@127.0.0.1:{llm.port}:qwen3:8b",
            f"ollama@127.0.0.1:{llm.port}:llama4",
        ]
        assert found[0].is_usable
        assert found[0].group == f"Ollama (127.0.0.1:{llm.port})"


async def test_servers_that_the_user_named_are_asked_too() -> None:
    """Ours: OPENAI_BASE_URL without a model's name, a base_url in the file."""
    with serve(models=["mine"]) as llm:
        environ = {"OPENAI_BASE_URL": f"{llm.url}/v1"}
        (found,) = await probe_models(Config(), environ, loopback={})
        assert found.value == "openai:mine"
        file = Config(model=ModelSettings(base_url=f"{llm.url}/v1"))
        assert await probe_models(file, {}, loopback={}) == [found]
        environ["OPENAI_API_KEY"] = "a-key"
        (found,) = await probe_models(Config(), environ, loopback={})
        assert found.key == Secret("a-key")
        assert "Authorization" in llm.requests[-1]["headers"]


async def test_nobody_is_asked_who_was_not_to_be() -> None:
    """Ours: a switch for those who do not want it."""
    with serve() as llm:
        loopback = {f"{llm.url}/v1": "ollama"}
        assert await probe_models(Config(), {"ACCORD_PROBE": "off"}, loopback=loopback) == []
        assert llm.requests == []


@asynccontextmanager
async def server(serve: Callable[[ByteStream], Awaitable[None]]) -> AsyncIterator[str]:
    """Something that listens on loopback; its address."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        yield f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 404 Not Found\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n\r\n<html>",
        b"HTTP/1.1 200 OK\r\n\r\n[]",
        b'HTTP/1.1 200 OK\r\n\r\n{"data": [1, {"id": 2}]}',
        b"",
    ],
)
async def test_nonsense_is_no_model(answer: bytes) -> None:
    """Ours: anything may listen on such a port."""

    async def speak(stream: ByteStream) -> None:
        async with stream:
            if answer:
                await stream.send(answer)

    with anyio.fail_after(HANG_SECONDS):
        async with server(speak) as address:
            assert await models_at(address) == []


async def test_a_server_that_is_silent_holds_nobody_up() -> None:
    """Ours: a short timeout."""

    async def be_silent(stream: ByteStream) -> None:
        async with stream:
            await anyio.sleep_forever()

    with anyio.fail_after(HANG_SECONDS):
        async with server(be_silent) as address:
            assert await probe_models(Config(), {}, loopback={address: "openai"}, seconds=0.1) == []


@pytest.mark.parametrize(
    "address", ["https://127.0.0.1:1/v1", "file:///etc", "http://", "http://x:y/"]
)
async def test_what_cannot_be_asked_has_no_models(address: str) -> None:
    """Ours."""
    assert await models_at(address) == []
