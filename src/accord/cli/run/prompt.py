"""Builds the prompt of `accord run` from the command line, files and standard input.

Must not know the agent, except for the content that it accepts.

What always holds
    * `@FILE` attaches a file of the session's folder in the best form that the agent accepts: its
      text, an image, or a link.  `@word` that is not a file is plain text, with a note.
    * Standard input is read only if requested, because an open pipe may never end.
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
    """The text of the prompt, and the real paths of attached files.

    `unmatched` are names after an @ that are not files.
    """

    text: str
    files: tuple[Path, ...] = ()
    unmatched: tuple[str, ...] = ()

    def blocks(self, capabilities: AgentCapabilities, roots: Sequence[str]) -> list[Any]:
        """Return the content of the prompt for an agent with these capabilities."""
        items: list[Any] = [self.text] if self.text else []
        items += [file_block(path, capabilities, roots) for path in self.files]
        return items


def read_prompt(words: Sequence[str], folder: Path) -> Prompt:
    """Read the prompt of a command line; `-`, or no words in a pipe, is standard input.

    File names are relative to `folder`, where the session works.

    Raises:
        PromptError: the prompt is empty, or a file cannot be read.
    """
    if not words:
        if sys.stdin is None or sys.stdin.isatty():  # type: ignore[redundant-expr,unused-ignore]
            raise PromptError('the prompt is missing: accord run "PROMPT"')
        words = ("-",)
    if len(words) == 1 and _is_file_alone(words[0], folder):
        # A file alone is the prompt.
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
        raise PromptError(f"more than {FILES_MAX} files are attached")
    separator = "\n\n" if "-" in words else " "
    text = separator.join(texts).strip()
    return _nonempty(Prompt(text, tuple(files), tuple(unmatched)))


def _nonempty(prompt: Prompt) -> Prompt:
    if not prompt.text and not prompt.files:
        raise PromptError("the prompt is empty")
    return prompt


def _is_file_alone(word: str, folder: Path) -> bool:
    """Whether a word is only a file; `@FILE explain this` is a sentence."""
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
    """Decode UTF-8, or UTF-16 with a byte order mark, as some shells write it."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\0" in data:
        raise PromptError(f"{source} is not text")
    return data.decode("utf-8-sig", "replace")


def _bytes(path: Path, most: int) -> bytes | None:
    """Read a file; return None if it is too large."""
    with path.open("rb") as file:
        data = file.read(most + 1)
    return data if len(data) <= most else None


__all__ = ["Prompt", "PromptError", "read_prompt"]
