"""Servers that offer models: those that the user named, and those on this computer, asked once.

Only loopback is asked unless the user named another address.  Plain HTTP over a socket: a model
library would take longer to load than the answer.

What always holds
    * A server on this computer that nobody named has `PROBE_SECONDS`; if it answers nonsense, it is
      as good as none.
    * A server that the user named has `NAMED_SECONDS`, and what is wrong with it is told.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import anyio
from anyio.abc import ByteStream

from accord.builtin.models.available_models import answers_prompts, servers_to_ask
from accord.builtin.models.providers import AUTO_DETECTED, ModelChoice
from accord.builtin.models.server_addresses import LOOPBACK, OLLAMA_ADDRESS
from accord.configuration.config_file import Config

PROBE_SECONDS: Final = 2.0
NAMED_SECONDS: Final = 5.0
ANSWER_BYTES_MAX: Final = 4 << 20
MODELS_MAX: Final = 400

REFUSED: Final = (401, 403)
IS_RUNNING: Final = "Is it running, and is the address right?"
PROBE_VARIABLE: Final = "ACCORD_PROBE"


@dataclass(frozen=True, slots=True)
class Listing:
    """The answer of a server: its models, or the reason why there are none."""

    server: ModelChoice
    models: tuple[str, ...] = ()
    # The HTTP status of an answer that is not a list.
    status: int | None = None
    # Why there was no answer, and what to do about it.
    trouble: tuple[str, str] | None = None

    @property
    def choices(self) -> list[ModelChoice]:
        """The models of the server as choices."""
        return [replace(self.server, model=model) for model in self.models]

    @property
    def problem(self) -> str | None:
        """What keeps the server from being used, and what to do about it.

        Of one that nobody named only: that it is an Ollama without models.
        """
        server = self.server
        if any(map(answers_prompts, self.models)):
            return None
        if server.found == AUTO_DETECTED and (server.provider, self.status) != ("ollama", 200):
            return None
        name = "Ollama" if server.provider == "ollama" else "The server"
        fault, advice = self.trouble or self._fault()
        return f"{name} at {server.shown_address} {fault}. {advice}"

    def _fault(self) -> tuple[str, str]:
        """What is wrong with an answer, and what to do about it."""
        server, about, status = self.server, self.server.about, self.status
        if status in REFUSED and server.key is not None:
            refused = f"does not accept the {server.found} ({status})"
            return refused, about.ways_to_key(another=True)
        if status in REFUSED:
            return f"requires a key ({status}), and none is set", about.ways_to_key()
        if self.models:
            some = ", ".join(self.models[:5])
            return f"lists no model that answers prompts ({some})", "Add a model that does."
        if status == 200 and server.provider == "ollama":
            return "has no models yet", "Run `ollama pull NAME` to get one."
        said = "lists no models" if status == 200 else f"does not list models ({status})"
        if about.needs_key and about.id != "openai" and server.key is None:
            return f"{said}, and there is no key for it", about.ways_to_key()
        path = urlsplit(server.base_url or "").path
        usual = "" if path or about.id != "openai" else ", which usually ends in /v1"
        return said, f"Check the address{usual}, or {_by_hand(server)}."


def _by_hand(server: ModelChoice) -> str:
    return f"name the model, as in `ACCORD_MODEL={server.provider}:NAME`"


async def probe_models(
    config: Config,
    environ: Mapping[str, str],
    *,
    loopback: Mapping[str, str] | None = None,
    seconds: float = PROBE_SECONDS,
    named_seconds: float | None = None,
) -> list[Listing]:
    """What the servers answer now, those that the user named first.

    `ACCORD_PROBE=off` asks none that the user did not name.
    """
    asked = servers_to_ask(config, environ)
    if environ.get(PROBE_VARIABLE, "").lower() not in ("off", "0", "no"):
        has_ollama = any(server.provider == "ollama" for server in asked.values())
        for address, provider in (LOOPBACK if loopback is None else loopback).items():
            # Ollama where it always is has a short name, unless there is another one.
            is_usual = address == OLLAMA_ADDRESS and not has_ollama
            host = None if is_usual else urlsplit(address).netloc
            nobody = ModelChoice(provider, "", address, None, AUTO_DETECTED, server=host)
            asked.setdefault(address, nobody)
    listings: dict[str, Listing] = {}

    async def ask(address: str, server: ModelChoice) -> None:
        patience = seconds if server.found == AUTO_DETECTED else named_seconds or NAMED_SECONDS
        late = f"did not list its models within {patience:g} seconds"
        advice = f"Start the agent again, or {_by_hand(server)}."
        listings[address] = Listing(server, trouble=(late, advice))
        with anyio.move_on_after(patience):
            listings[address] = await models_at(server)

    async with anyio.create_task_group() as tasks:
        for address, server in asked.items():
            tasks.start_soon(ask, address, server)
    return [listings[address] for address in asked]


async def models_at(server: ModelChoice) -> Listing:
    """Ask one server for its models."""
    about, parts = server.about, urlsplit(server.base_url or "")
    if parts.scheme not in ("http", "https") or parts.hostname is None:
        return Listing(server, trouble=("cannot be asked", "That is not an HTTP address."))
    headers = dict(about.headers)
    if server.key is not None:
        bearer = "Bearer " if about.key_header == "Authorization" else ""
        headers[about.key_header] = f"{bearer}{server.key.reveal()}"
    lines = [
        f"GET {parts.path.rstrip('/')}{about.list_path} HTTP/1.0",
        f"Host: {parts.netloc.rpartition('@')[2]}",
        "Accept: application/json",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    try:
        data = await _exchanged(parts, "\r\n".join([*lines, "", ""]).encode())
    except (OSError, ValueError, anyio.BrokenResourceError) as error:
        return Listing(server, trouble=(f"cannot be reached: {_reason(error)}", IS_RUNNING))
    status = _status(data)
    if status is None:
        return Listing(server, trouble=("does not speak HTTP", IS_RUNNING))
    return Listing(server, _names(data) if status == 200 else (), status)


def _reason(error: Exception) -> str:
    """The last cause, which says more than what wraps it."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    if isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    if isinstance(cause, OSError) and cause.errno is not None and cause.errno > 0:
        return os.strerror(cause.errno)
    words = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return str(words).rstrip(".")


async def _exchanged(parts: SplitResult, request: bytes) -> bytes:
    """Send a request and return what comes, until it is whole or too much."""
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    data = b""
    stream: ByteStream
    if secure:
        stream = await anyio.connect_tcp(
            parts.hostname or "", port, tls=True, tls_standard_compatible=False
        )
    else:
        stream = await anyio.connect_tcp(parts.hostname or "", port)
    async with stream:
        await stream.send(request)
        while len(data) < ANSWER_BYTES_MAX and not _is_whole(data):
            try:
                data += await stream.receive()
            except anyio.EndOfStream:
                break
    return data


def _is_whole(data: bytes) -> bool:
    """Whether a server that keeps the connection open has said all."""
    head, blank, body = data.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return bool(blank) and len(body) >= int(value)
    return False


def _status(data: bytes) -> int | None:
    """The status of an answer of HTTP."""
    words = data.split(b"\r\n", 1)[0].split()
    is_answer = len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit()
    return int(words[1]) if is_answer else None


def _names(data: bytes) -> tuple[str, ...]:
    """The models in a list, as OpenAI and Anthropic write it or as Google does."""
    _, _, body = data.partition(b"\r\n\r\n")
    # A server that answers in chunks is read too: the list stands between its braces.
    start, end = body.find(b"{"), body.rfind(b"}")
    try:
        found: Any = json.loads(body[start : end + 1])
    except (ValueError, RecursionError):
        return ()
    listed = (found.get("data") or found.get("models")) if isinstance(found, dict) else None
    if not isinstance(listed, list):
        return ()
    names = [one.get("id") or one.get("name") for one in listed if isinstance(one, dict)]
    texts = [name.removeprefix("models/") for name in names if isinstance(name, str) and name]
    return tuple(dict.fromkeys(texts))[:MODELS_MAX]
