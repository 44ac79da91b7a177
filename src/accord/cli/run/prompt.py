"""What `accord run` says to the agent: the words of the command line, files, standard input.

Must not know the agent but for what content it takes.

What always holds
    * `@FILE` that names a file of the session's folder brings the file along, in the best form
      that the agent takes: its text, a picture, or a link.  `@word` in a sentence that names none
      is just a word, which the user is told.
    * Nothing is read from standard input unless it was asked for: an open pipe may never end.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accord.client.connection.capabilities import AgentCapabilities
from accord.terminal.model.prompt.content_blocks import (
    FILE_BYTES_MAX,
    FILES_MAX,
    MENTION,
    SENTENCE_END,
    PromptError,
    file_block,
    file_named,
    mentioned,
)

STDIN_BYTES_MAX = 16 << 20


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is to be said, and the files that come along, by their real paths.

    `unmatched` are the names behind an @ that no file has.
    """

    text: str
    files: tuple[Path, ...] = ()
    unmatched: tuple[str, ...] = ()

    def blocks(self, capabilities: AgentCapabilities, roots: Sequence[str]) -> list[Any]:
        """The content of the prompt for an agent that takes so much."""
        items: list[Any] = [self.text] if self.text else []
        items += [file_block(path, capabilities, roots) for path in self.files]
        return items


def read_prompt(words: Sequence[str], folder: Path) -> Prompt:
    """The prompt of a command line; `-` is standard input, and so is nothing at all in a pipe.

    `folder` is where the session works: names of files are meant there.

    Raises:
        PromptError: there is nothing to say, or a file of it cannot be read.
    """
    if not words:
        if sys.stdin is None or sys.stdin.isatty():  # type: ignore[redundant-expr,unused-ignore]
            raise PromptError('a prompt is missing: accord run "PROMPT"')
        words = ("-",)
    if len(words) == 1 and _is_file_alone(words[0], folder):
        # A file alone is what is to be said.
        text = _text(_existing(words[0], folder))
        return _nonempty(Prompt(text.strip()))
    texts: list[str] = []
    files: dict[Path, None] = {}
    unmatched: dict[str, None] = {}
    for word in words:
        if word == "-":
            texts.append(_stdin())
        elif word.startswith("@") and not re.search(r"\s", word):
            files[_existing(word, folder)] = None
            texts.append(word)
        else:
            for name in MENTION.findall(word):
                found = mentioned(f"@{name}", folder)
                files.update(dict.fromkeys(found))
                if not found:
                    unmatched[name.rstrip(SENTENCE_END)] = None
            texts.append(word)
    if len(files) > FILES_MAX:
        raise PromptError(f"more than {FILES_MAX} files come along")
    separator = "\n\n" if "-" in words else " "
    text = separator.join(texts).strip()
    return _nonempty(Prompt(text, tuple(files), tuple(unmatched)))


def _nonempty(prompt: Prompt) -> Prompt:
    if not prompt.text and not prompt.files:
        raise PromptError("the prompt is empty")
    return prompt


def _is_file_alone(word: str, folder: Path) -> bool:
    """Whether a word is a file and nothing else; `@FILE explain this` is a sentence."""
    if not word.startswith("@"):
        return False
    return not re.search(r"\s", word) or file_named(word[1:], folder) is not None


def _existing(word: str, folder: Path) -> Path:
    found = file_named(word[1:], folder)
    if found is None:
        raise PromptError(f"there is no file {word[1:]} in {folder}")
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


__all__ = ["Prompt", "PromptError", "read_prompt"]
