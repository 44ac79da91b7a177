"""HTTP/1.1: reads heads and bodies of requests and responses from a stream.

What always holds: what a peer sends has a bound, and what it sends wrong raises `BadHttp`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field

import anyio
from anyio.abc import ByteReceiveStream

HEAD_BYTES_MAX = 64 * 1024
BODY_BYTES_MAX = 64 * 1024 * 1024
READ_BYTES = 65_536
# Status codes whose responses have no body.
BODILESS = frozenset({204, 304})
# Visible ASCII, with spaces inside.
HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")

Headers = tuple[tuple[str, str], ...]


class BadHttp(Exception):
    """The other side does not speak HTTP/1.1, or ended in the middle of it."""


@dataclass(frozen=True, slots=True)
class Head:
    """The three words of the first line, and the headers with names in lower case."""

    words: tuple[str, str, str]
    headers: Headers

    def header(self, name: str) -> str | None:
        """The first header of this name."""
        return next((value for key, value in self.headers if key == name), None)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name]

    @property
    def status(self) -> int:
        return int(self.words[1])

    @property
    def content_type(self) -> str:
        """The type without its parameters."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Answer(Head):
    """The head and the body that a server sent."""

    body: bytes = b""

    def __str__(self) -> str:
        shown = [f"{name}: {value}" for name, value in self.headers if name.startswith("content-")]
        text = self.body[:300].decode("utf-8", "backslashreplace")
        return "\n".join([f"HTTP status {self.status}", *shown, text]).rstrip()


@dataclass(slots=True)
class HttpReader:
    """Reads heads and bodies from one connection."""

    stream: ByteReceiveStream
    held: bytearray = field(default_factory=bytearray)

    async def head(self) -> Head | None:
        """Read the next head; None if the connection ended before it.

        Raises:
            BadHttp: what comes is not one.
        """
        while (end := self.held.find(b"\r\n\r\n")) < 0:
            if len(self.held) > HEAD_BYTES_MAX:
                raise BadHttp("the head of a message is too long")
            if not await self._more():
                if not self.held:
                    return None
                raise BadHttp("the connection ended in the head of a message")
        text = bytes(self.held[:end]).decode("latin-1")
        del self.held[: end + 4]
        return _read_head(text)

    async def body(self, head: Head, *, of_response: bool) -> bytes:
        """Read the whole body of a message.

        Raises:
            BadHttp: it is cut off, or too long.
        """
        parts = bytearray()
        async for part in self.parts(head, of_response=of_response):
            parts += part
            if len(parts) > BODY_BYTES_MAX:
                raise BadHttp("a body is too long")
        return bytes(parts)

    async def parts(self, head: Head, *, of_response: bool) -> AsyncIterator[bytes]:
        """Read the body of a message in parts as they arrive."""
        if of_response and head.status in BODILESS:
            return
        if (head.header("transfer-encoding") or "").lower().endswith("chunked"):
            while size := _size(await self._line()):
                yield await self._exactly(size)
                await self._line()
            while await self._line():
                pass
            return
        length = head.header("content-length")
        if length is not None:
            if not length.isdigit() or int(length) > BODY_BYTES_MAX:
                raise BadHttp(f"the length of a body is {length!r}")
            yield await self._exactly(int(length))
        elif of_response:
            while self.held or await self._more():
                part = bytes(self.held)
                self.held.clear()
                yield part

    async def _line(self) -> bytes:
        while (end := self.held.find(b"\r\n")) < 0:
            if len(self.held) > HEAD_BYTES_MAX or not await self._more():
                raise BadHttp("the connection ended in a chunk")
        line = bytes(self.held[:end])
        del self.held[: end + 2]
        return line

    async def _exactly(self, size: int) -> bytes:
        if size > BODY_BYTES_MAX:
            raise BadHttp("a chunk is too long")
        while len(self.held) < size:
            if not await self._more():
                raise BadHttp("the connection ended in a body")
        part = bytes(self.held[:size])
        del self.held[:size]
        return part

    async def _more(self) -> bool:
        try:
            self.held += await self.stream.receive(READ_BYTES)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return False
        return True


def head_bytes(first: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """Make the head of a message.  A line break in a header would begin another one."""
    lines = [first, *(f"{name}: {value}" for name, value in headers)]
    assert not any(mark in line for line in lines for mark in "\r\n")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def fits_header(text: object) -> bool:
    """Whether a text is valid as the value of a header."""
    return isinstance(text, str) and HEADER_VALUE.fullmatch(text) is not None


def cookie_pairs(answer: Head) -> Mapping[str, str]:
    """Return the cookies that a response sets, by name."""
    pairs = (one.partition(";")[0].partition("=") for one in answer.all("set-cookie"))
    return {name.strip(): value.strip() for name, found, value in pairs if found}


def _read_head(text: str) -> Head:
    first, *lines = text.split("\r\n")
    words = first.split(" ", 2)
    headers = [line.partition(":") for line in lines]
    if not first.startswith("HTTP/1.") and not first.rpartition(" ")[2].startswith("HTTP/1."):
        raise BadHttp(f"{first[:80]!r} is not the first line of an HTTP/1.1 message")
    if first.startswith("HTTP/1.") and not (len(words) > 1 and words[1].isdigit()):
        raise BadHttp(f"{first[:80]!r} has no status")
    one, two, three = (*words, "", "")[:3]
    return Head(
        (one, two, three), tuple((name.lower(), value.strip()) for name, _, value in headers)
    )


def _size(line: bytes) -> int:
    try:
        return int(line.partition(b";")[0], 16)
    except ValueError:
        raise BadHttp(f"{line[:40]!r} is not the length of a chunk") from None
