"""What a prompt says: its newest message, and the texts and files that came with it.

Blocks of text that follow each other are messages of their own: an editor repeats one that was
cancelled, or sends earlier ones along.  The newest of them is what is asked.  They are never
joined, so no two of them become one command.

What always holds
    * Text on both sides of a file that stands in the middle of a sentence is one message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from shlex import quote
from urllib.parse import unquote, urlsplit

from accord.builtin.offline.prompt.arguments import SPACE
from accord.builtin.offline.prompt.editor_wrappers import Piece, pieces_of
from accord.schema import v2
from accord.schema.struct import UNSET

# How some editors write a file into the text.
_LINK = re.compile(r"\[@[^\]\n]*\]\((file://[^)\s]+)\)")
_LINES = re.compile(r"L(\d+)(?:(?:[:,-]|-L)(\d+))?")
# avante says so where it sends the messages of a session in their order.
_IN_ORDER = re.compile(r"recent messages preserved", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Attached:
    """A file or a text that came with the prompt.  The text is None where it is only named."""

    uri: str
    text: str | None = None
    # The lines, where only a part of the file came.
    first_line: int | None = None
    last_line: int | None = None
    # Whether the text is not, or not surely, that of the whole file.
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """What is asked, what came along, and what else the prompt said, oldest first."""

    text: str
    attached: tuple[Attached, ...] = ()
    others: tuple[str, ...] = ()
    # The text without the files that were written into it.
    unlinked: str = ""


def read_message(blocks: Sequence[v2.ContentBlock]) -> Message:
    """What a prompt asks."""
    said: list[str] = []
    unlinked: list[str] = []
    pieces: list[Piece] = []
    attached: list[Attached] = []
    # Whether the next text goes on with the sentence that a file stands in.
    goes_on = is_after_text = False
    for block in blocks:
        if isinstance(block, v2.TextContent):
            found = list(pieces_of(block.text))
            pieces += found
            attached += [_attached(piece) for piece in found if piece.kind == "attached"]
            text = "\n".join(piece.text for piece in found if piece.kind == "said")
            if text.strip() and goes_on and not text.startswith("\n"):
                said[-1] = f"{said[-1].rstrip()}{text}"
                unlinked[-1] += text
            elif text.strip():
                said.append(text)
                unlinked.append(text)
            goes_on, is_after_text = False, bool(text.strip())
            continue
        one = _resource(block)
        if one is None:
            continue
        attached.append(one)
        if said and (goes_on or (is_after_text and said[-1].endswith(" "))):
            said[-1] = f"{said[-1].rstrip()} {_spelled(one.uri, said[-1])}"
            goes_on = True
        is_after_text = False
    asked = [piece.text for piece in pieces if piece.kind == "asked"]
    messages = asked or said or _earlier(pieces)
    texts = [_with_paths(text).strip() for text in messages]
    links = [Attached(uri) for text in messages for uri in _LINK.findall(text)]
    newest = texts[-1] if texts else ""
    plain = unlinked[-1] if messages is said and said else newest
    return Message(
        newest, (*attached, *map(_placed, links)), tuple(texts[:-1]), " ".join(plain.split())
    )


def _with_paths(text: str) -> str:
    """The text with files in the place of the links to them."""
    return _LINK.sub(lambda match: _spelled(match[1], text), text)


def _earlier(pieces: Sequence[Piece]) -> list[str]:
    """Messages that came as earlier ones, oldest first; without answers they come newest first."""
    texts = [piece.text for piece in pieces if piece.kind == "earlier"]
    in_order = any(
        piece.kind == "reply" or (piece.kind == "context" and _IN_ORDER.search(piece.text))
        for piece in pieces
    )
    return texts if in_order else texts[::-1]


def _attached(piece: Piece) -> Attached:
    # Editors number the lines of what they put into a text, or leave some out.
    return Attached(piece.name or "the selection", piece.text, piece.first_line, is_part=True)


def _resource(block: v2.ContentBlock) -> Attached | None:
    """What a block brings along."""
    if isinstance(block, v2.ResourceLink):
        return _placed(Attached(block.uri))
    if isinstance(block, v2.EmbeddedResource):
        text = block.resource.text
        return _placed(Attached(block.resource.uri, None if text is UNSET else text))
    return None


def _placed(one: Attached) -> Attached:
    """With the line that the end of the address names, `#L4:8`."""
    match = _LINES.fullmatch(one.uri.partition("#")[2])
    if match is None:
        return one
    first = int(match[1])
    return replace(one, first_line=first, last_line=int(match[2] or first), is_part=True)


def _spelled(uri: str, before: str) -> str:
    """A file as one word of a sentence; in a command it is one of the shell's."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    path = unquote(parts.path) if parts.scheme == "file" else uri
    is_command = before.lstrip().startswith(("$", "!", "/run"))
    return quote(path) if is_command else path.replace(" ", SPACE)
