"""Servers on this computer that offer models: asked once, together, for a short time.

Only loopback is asked unless the user named another address.  Plain HTTP over a socket: a model
library would take longer to load than the answer.

What always holds
    * It takes at most `PROBE_SECONDS`, and a server that answers nonsense is as good as none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import anyio
from anyio.abc import ByteStream

from accord.builtin.models.choice import ModelChoice
from accord.builtin.models.finding import servers_to_ask
from accord.builtin.models.secret import Secret
from accord.discovery.config import Config

PROBE_SECONDS: Final = 2.0
ANSWER_BYTES_MAX: Final = 1 << 20
MODELS_MAX: Final = 50

# Where servers usually listen: Ollama, llama.cpp's server, LM Studio.
LOOPBACK: Final[Mapping[str, str]] = {
    "http://127.0.0.1:11434/v1": "ollama",
    "http://127.0.0.1:8080/v1": "openai",
    "http://127.0.0.1:1234/v1": "openai",
}
PROBE_VARIABLE: Final = "ACCORD_PROBE"


async def probe_models(
    config: Config,
    environ: Mapping[str, str],
    *,
    loopback: Mapping[str, str] = LOOPBACK,
    seconds: float = PROBE_SECONDS,
) -> list[ModelChoice]:
    """The models of servers that answer now.  `ACCORD_PROBE=off` asks nobody by itself."""
    asked = servers_to_ask(config, environ)
    if environ.get(PROBE_VARIABLE, "").lower() not in ("off", "0", "no"):
        for address, provider in loopback.items():
            host = urlsplit(address).netloc
            nobody = ModelChoice(provider, "", address, None, "on this computer", server=host)
            asked.setdefault(address, nobody)
    answers: dict[str, list[str]] = {}

    async def ask(address: str, key: Secret | None) -> None:
        with anyio.move_on_after(seconds):
            answers[address] = await models_at(address, key)

    async with anyio.create_task_group() as tasks:
        for address, server in asked.items():
            tasks.start_soon(ask, address, server.key)
    return [
        replace(server, model=model)
        for address, server in asked.items()
        for model in answers.get(address, [])
    ]


async def models_at(address: str, key: Secret | None = None) -> list[str]:
    """The models of a server that speaks as OpenAI does; none when it is none."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or parts.hostname is None:
        return []
    lines = [
        f"GET {parts.path.rstrip('/')}/models HTTP/1.0",
        f"Host: {parts.netloc}",
        "Accept: application/json",
        *([] if key is None else [f"Authorization: Bearer {key.reveal()}"]),
    ]
    try:
        data = await _exchanged(parts, "\r\n".join([*lines, "", ""]).encode())
    except (OSError, ValueError, anyio.BrokenResourceError):
        return []
    return _names(data)


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


def _names(data: bytes) -> list[str]:
    head, _, body = data.partition(b"\r\n\r\n")
    if b" 200 " not in head.split(b"\r\n", 1)[0] + b" ":
        return []
    # A server that answers in chunks is read too: the list stands between its braces.
    start, end = body.find(b"{"), body.rfind(b"}")
    try:
        found: Any = json.loads(body[start : end + 1])
    except ValueError:
        return []
    listed = found.get("data") if isinstance(found, dict) else None
    if not isinstance(listed, list):
        return []
    names = [one.get("id") for one in listed if isinstance(one, dict)]
    return [name for name in names if isinstance(name, str) and name][:MODELS_MAX]


__all__ = ["LOOPBACK", "PROBE_SECONDS", "models_at", "probe_models"]
