"""Servers on this computer that offer models, found by asking them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute

from accord.builtin.models.model_servers import Listing, models_at, probe_models
from accord.builtin.models.providers import ModelChoice, Secret
from accord.builtin.models.server_addresses import OLLAMA_ADDRESS
from accord.configuration.config_file import Config, ModelSettings
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


async def found_by(*given: Any, **more: Any) -> list[ModelChoice]:
    """The models of all servers that were asked."""
    listings: list[Listing] = await probe_models(*given, **more)
    return [choice for listing in listings for choice in listing.choices]


def problem_of(listings: list[Listing]) -> str:
    """What is told of the only server."""
    (listing,) = listings
    return listing.problem or ""


async def test_a_server_that_answers_offers_its_models() -> None:
    """Issue 3: a server answering on loopback."""
    with serve(models=["qwen3:8b", "llama4"]) as llm:
        loopback = {f"{llm.url}/v1": "ollama", "http://127.0.0.1:1/v1": "openai"}
        found = await found_by(Config(), {}, loopback=loopback)
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
        (found,) = await found_by(Config(), environ, loopback={})
        assert found.value == "openai:mine"
        file = Config(model=ModelSettings(base_url=f"{llm.url}/v1"))
        assert await found_by(file, {}, loopback={}) == [found]
        environ["OPENAI_API_KEY"] = "a-key"
        (found,) = await found_by(Config(), environ, loopback={})
        assert found.key == Secret("a-key")
        assert "Authorization" in llm.requests[-1]["headers"]


async def test_nobody_is_asked_who_was_not_to_be() -> None:
    """Ours: a switch for those who do not want it."""
    with serve() as llm:
        loopback = {f"{llm.url}/v1": "ollama"}
        assert await found_by(Config(), {"ACCORD_PROBE": "off"}, loopback=loopback) == []
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
            listing = await models_at(ModelChoice("openai", "", address))
            assert listing.models == ()
            assert listing.problem is not None


async def test_a_server_that_is_silent_holds_nobody_up() -> None:
    """Ours: a short timeout."""

    async def be_silent(stream: ByteStream) -> None:
        async with stream:
            await anyio.sleep_forever()

    with anyio.fail_after(HANG_SECONDS):
        async with server(be_silent) as address:
            loopback = {address: "openai"}
            assert await found_by(Config(), {}, loopback=loopback, seconds=0.1) == []
            environ = {"OPENAI_BASE_URL": address}
            said = problem_of(await probe_models(Config(), environ, loopback={}, named_seconds=0.1))
            assert "did not list its models within 0.1 seconds" in said
            assert "ACCORD_MODEL=openai:NAME" in said


@pytest.mark.parametrize(
    "address", ["https://127.0.0.1:1/v1", "file:///etc", "http://", "http://x:y/"]
)
async def test_what_cannot_be_asked_has_no_models(address: str) -> None:
    """Ours."""
    assert (await models_at(ModelChoice("openai", "", address))).models == ()


async def test_ollama_at_its_usual_address_has_a_short_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Issue 14: `ollama:NAME` is the same model, named or auto-detected."""
    with serve(models=["qwen3"]) as llm:
        address = f"{llm.url}/v1"
        monkeypatch.setattr("accord.builtin.models.model_servers.OLLAMA_ADDRESS", address)
        (found,) = await found_by(Config(), {}, loopback={address: "ollama"})
    assert found.value == "ollama:qwen3"
    assert OLLAMA_ADDRESS == "http://127.0.0.1:11434/v1"


def answering(status: int, body: bytes = b"{}") -> Callable[[ByteStream], Awaitable[None]]:
    """A server that says the same to everybody."""

    async def speak(stream: ByteStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"HTTP/1.1 %d So\r\n\r\n%b" % (status, body))

    return speak


@pytest.mark.parametrize(
    ("environ", "answer", "told"),
    [
        ({}, (401, b"{}"), ["requires a key (401)", "Set OPENAI_API_KEY", "--login openai"]),
        (
            {"OPENAI_API_KEY": "k"},
            (401, b"{}"),
            ["does not accept the key from OPENAI_API_KEY (401)", "Set another OPENAI_API_KEY"],
        ),
        ({}, (404, b"{}"), ["does not list models (404)", "ends in /v1", "ACCORD_MODEL=openai:"]),
        ({}, (200, b'{"data": []}'), ["lists no models"]),
        ({}, (200, b'{"data": [{"id": "nomic-embed-text"}]}'), ["no model that answers prompts"]),
        ({}, (200, b'{"data": [{"id": "nomic-embed-text"}, {"id": "llama4"}]}'), []),
    ],
)
async def test_what_is_wrong_with_a_server_that_the_user_named_is_a_sentence(
    environ: dict[str, str], answer: tuple[int, bytes], told: list[str]
) -> None:
    """Issue 14: it says what is missing instead of being offline in silence."""
    with anyio.fail_after(HANG_SECONDS):
        async with server(answering(*answer)) as address:
            asked = {"OPENAI_BASE_URL": address, **environ}
            said = problem_of(await probe_models(Config(), asked, loopback={}))
    assert all(words in said for words in told), said
    assert bool(said) == bool(told)


@pytest.mark.parametrize(
    ("variable", "key"),
    [("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"), ("GEMINI_BASE_URL", "GEMINI_API_KEY")],
)
async def test_a_base_url_without_a_key_is_told(variable: str, key: str) -> None:
    """Issue 14: for every provider."""
    with anyio.fail_after(HANG_SECONDS):
        for status in (401, 404):
            async with server(answering(status)) as address:
                said = problem_of(await probe_models(Config(), {variable: address}, loopback={}))
            assert f"Set {key}" in said


async def test_a_server_that_is_down_is_told_and_a_password_is_not() -> None:
    """Issue 14: which server, and why; an address may have a password in it."""
    environ = {"OPENAI_BASE_URL": "http://me:hush@127.0.0.1:1/v1"}
    said = problem_of(await probe_models(Config(), environ, loopback={}))
    assert "http://127.0.0.1:1/v1 cannot be reached: Connection refused" in said
    assert "hush" not in said


async def test_a_running_ollama_without_models_is_told_and_other_ports_are_not() -> None:
    """Issue 14: a newcomer has Ollama and has not pulled a model yet."""
    async with server(answering(200, b'{"data": []}')) as address:
        (ollama,) = await probe_models(Config(), {}, loopback={address: "ollama"})
        (other,) = await probe_models(Config(), {}, loopback={address: "openai"})
    assert "Run `ollama pull NAME` to get one" in str(ollama.problem)
    assert other.problem is None


@pytest.mark.parametrize(
    ("variable", "path"),
    [("ANTHROPIC_BASE_URL", "/v1/models"), ("GEMINI_BASE_URL", "/v1beta/models")],
)
async def test_servers_in_front_of_a_provider_list_their_models(variable: str, path: str) -> None:
    """Issue 14: each in the way of its own API."""
    with serve(models=["one", "two"]) as llm:
        found = await found_by(Config(), {variable: llm.url}, loopback={})
        assert [choice.model for choice in found] == ["one", "two"]
        assert llm.requests[-1]["path"] == path
