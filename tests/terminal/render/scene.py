"""A conversation that is made of JSON updates, and what its blocks show as text."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from typing import Any
from unicodedata import category

from textual.strip import Strip

from accord.schema import v1, v2
from accord.schema.codec import decode
from accord.terminal.model.chat import Chat
from accord.terminal.render.block import Block
from accord.terminal.render.conversation_colours import CONTRAST, DARK, LIGHT, NONE, Palette
from accord.terminal.render.entries.registry import block_of
from accord.terminal.render.render_options import Look
from accord.transcript import Transcript

PALETTES = (DARK, LIGHT, CONTRAST, NONE)
FOLDER = "/home/me/project"


class Scene:
    """A chat that works, with a clock that moves when it is told to."""

    def __init__(self, version: int = 1) -> None:
        self.now = 100.0
        self.version = version
        self.chat = Chat(FOLDER, clock=lambda: self.now)
        self.chat.adopt(Transcript("v1" if version == 1 else "v2"), "s")
        self.chat.set_phase("working")

    def update(self, **update: Any) -> None:
        """One update, as JSON members."""
        params = json.dumps({"sessionId": "s", "update": update}).encode()
        if self.version == 1:
            told: object = decode(v1.SessionNotification, params).update
        else:
            told = decode(v2.UpdateSessionNotification, params).update
        change = self.chat.transcript.apply(told)
        if change is not None:
            self.chat.listen(change)

    def call(self, call_id: str = "c", **members: Any) -> None:
        """A tool call, or more of one."""
        known = self.chat.transcript.tool_call(call_id) is not None
        kind = "tool_call_update" if known or self.version == 2 else "tool_call"
        if kind == "tool_call":
            members = {"title": "", **members}
        self.update(sessionUpdate=kind, toolCallId=call_id, **members)

    def block(self, at: int = -1) -> Block:
        """The block of an entry."""
        return block_of(self.chat.entries[at], self.chat)

    def shown(self, at: int = -1, **look: Any) -> str:
        """What the block of an entry shows, folded."""
        return text_of(self.block(at).render(a_look(**look), self.chat))

    def unfolded(self, at: int = -1, **look: Any) -> str:
        """What the block of an entry shows, unfolded."""
        block = self.block(at)
        block.folded = False
        return text_of(block.render(a_look(**look), self.chat))


def a_look(width: int = 80, palette: Palette = DARK, **more: Any) -> Look:
    return Look(width, palette, **more)


def text_of(strips: Iterable[Strip]) -> str:
    return "\n".join(strip.text.rstrip() for strip in strips)


def check(strips: Iterable[Strip], width: int) -> None:
    """No line is too wide, and no character could command a terminal."""
    for strip in strips:
        assert strip.cell_length <= width, strip.text
        assert sum(segment.cell_length for segment in strip) == strip.cell_length
        for segment in strip:
            bad = [c for c in segment.text if category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
            assert not bad, ascii(segment.text)
            assert segment.control is None
            # A link would be written to the terminal as a command with the address inside.
            assert segment.style is None or segment.style.link is None


def png(
    width: int, height: int, *, colour: int = 6, depth: int = 8, filters: bytes = b"\0"
) -> bytes:
    """A picture whose bytes are all the same, filtered as is said, line by line."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    line = (width * channels * depth + 7) // 8
    raw = b"".join(
        bytes([filters[y % len(filters)]]) + bytes([(x + y) % 251 for x in range(line)])
        for y in range(height)
    )

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    palette = chunk(b"PLTE", bytes(range(256)) * 3) if colour == 3 else b""
    body = chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + palette + body


def text(said: str, **more: Any) -> dict[str, Any]:
    """A content item of a tool call that is text."""
    return {"type": "content", "content": {"type": "text", "text": said, **more}}
