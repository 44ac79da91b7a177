"""What `accord run` says to the agent: the words of the command line, files, standard input.

Must not know the agent but for what content it takes.

What always holds
    * `@FILE` that names a file brings the file along, in the best form that the agent takes: its
      text, a picture, or a link.  `@word` that names none is just a word.
    * Nothing is read from standard input unless it was asked for: an open pipe may never end.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from accord.client.capabilities import AgentCapabilities
from accord.schema import v2
from accord.schema.struct import UNSET

FILE_BYTES_MAX = 1 << 20
"""A larger file is linked to and not brought along."""

IMAGE_BYTES_MAX = 8 << 20
STDIN_BYTES_MAX = 16 << 20
FILES_MAX = 100

_MENTION = re.compile(r"(?<![\w@/])@([^\s@][^\s]*)")
_SENTENCE_END = ".,;:!?)]}'\""


class PromptError(Exception):
    """The prompt cannot be made; the sentence is for whoever wrote the command."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is to be said, and the files that come along, by their real paths."""

    text: str
    files: tuple[Path, ...] = ()

    def blocks(self, capabilities: AgentCapabilities, roots: Sequence[str]) -> list[Any]:
        """The content of the prompt for an agent that takes so much."""
        items: list[Any] = [self.text] if self.text else []
        items += [_block(path, capabilities, roots) for path in self.files]
        return items


def read_prompt(words: Sequence[str], folder: Path) -> Prompt:
    """The prompt of a command line; `-` is standard input, and so is nothing at all in a pipe.

    Raises:
        PromptError: there is nothing to say, or a file of it cannot be read.
    """
    if not words:
        if sys.stdin is None or sys.stdin.isatty():  # type: ignore[redundant-expr,unused-ignore]
            raise PromptError('a prompt is missing: accord run "PROMPT"')
        words = ("-",)
    if len(words) == 1 and words[0].startswith("@"):
        # A file alone is what is to be said.
        text = _text(_existing(words[0], folder))
        return _nonempty(Prompt(text.strip()))
    texts: list[str] = []
    files: dict[Path, None] = {}
    for word in words:
        if word == "-":
            texts.append(_stdin())
        elif word.startswith("@") and not re.search(r"\s", word):
            files[_existing(word, folder)] = None
            texts.append(word)
        else:
            files.update(dict.fromkeys(_mentioned(word, folder)))
            texts.append(word)
    if len(files) > FILES_MAX:
        raise PromptError(f"more than {FILES_MAX} files come along")
    separator = "\n\n" if "-" in words else " "
    return _nonempty(Prompt(separator.join(texts).strip(), tuple(files)))


def _nonempty(prompt: Prompt) -> Prompt:
    if not prompt.text and not prompt.files:
        raise PromptError("the prompt is empty")
    return prompt


def _existing(word: str, folder: Path) -> Path:
    found = _file(word[1:], folder)
    if found is None:
        raise PromptError(f"there is no file {word[1:]}")
    return found


def _file(name: str, folder: Path) -> Path | None:
    """The file of this name; None where there is none, or where it is no name of a file at all."""
    path = folder / os.path.expanduser(name)
    try:
        return path.absolute() if path.is_file() else None
    except (OSError, ValueError):
        return None


def _mentioned(text: str, folder: Path) -> list[Path]:
    """The files that a text names with an @ before them."""
    found: list[Path] = []
    for name in _MENTION.findall(text):
        for one in (name, name.rstrip(_SENTENCE_END)):
            path = _file(one, folder)
            if path is not None:
                found.append(path)
                break
    return found


def _stdin() -> str:
    if sys.stdin is None:  # type: ignore[unreachable,unused-ignore]
        raise PromptError("standard input is closed")
    data = sys.stdin.buffer.read(STDIN_BYTES_MAX + 1)
    if len(data) > STDIN_BYTES_MAX:
        raise PromptError(f"standard input is larger than {STDIN_BYTES_MAX} bytes")
    return _decoded(data, "standard input")


def _text(path: Path) -> str:
    try:
        data = _bytes(path, FILE_BYTES_MAX)
    except OSError as error:
        raise PromptError(f"{path}: {error.strerror}") from None
    if data is None:
        raise PromptError(f"{path} is larger than {FILE_BYTES_MAX} bytes")
    return _decoded(data, str(path))


def _decoded(data: bytes, source: str) -> str:
    """The text, in UTF-8, or in UTF-16 where its first mark says so, as some shells write it."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\0" in data:
        raise PromptError(f"{source} is no text")
    return data.decode("utf-8-sig", "replace")


def _bytes(path: Path, most: int) -> bytes | None:
    """What is in the file; None if that is too much."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    return data if len(data) <= most else None


def _block(path: Path, capabilities: AgentCapabilities, roots: Sequence[str]) -> Any:
    """The file in the best form that the agent takes."""
    kind = guess_type(path.name)[0]
    try:
        if kind is not None and kind.startswith("image/") and capabilities.image:
            data = _bytes(path, IMAGE_BYTES_MAX)
            if data is not None:
                return v2.ImageContent(data=data, mime_type=kind, uri=path.as_uri())
        found = _bytes(path, FILE_BYTES_MAX)
        text = None if found is None or b"\0" in found else found.decode()
    except UnicodeDecodeError:
        text = None
    except OSError as error:
        raise PromptError(f"{path}: {error.strerror}") from None
    if text is not None and capabilities.embedded_context:
        resource = v2.EmbeddedResourceResource(
            uri=path.as_uri(), text=text, mime_type=kind or "text/plain"
        )
        return v2.EmbeddedResource(resource=resource)
    inside = any(os.path.commonpath((root, path)) == root for root in roots)
    if text is not None and not inside:
        # A link to what the agent may not open would be no help.
        return f"{path}:\n\n{text}"
    return v2.ResourceLink(
        name=path.name, uri=path.as_uri(), mime_type=kind or UNSET, size=path.stat().st_size
    )


__all__ = ["Prompt", "PromptError", "read_prompt"]
