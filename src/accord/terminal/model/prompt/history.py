"""The history of the user's prompts in all sessions and folders.

This module does not know any screen, nor the sessions of any agent.

Invariants
    * Several processes may write at once: every prompt is one whole line of the file.
    * The file is private and has a bound; lines that cannot be read are passed over and kept.
    * Newest first, and nothing twice in a row.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from time import time
from typing import Any

from accord.configuration.user_paths import (
    FILE_MODE,
    locked,
    make_private,
    replace_file,
    state_folder,
)

VERSION = 1
FILE_BYTES_MAX = 1 << 20
"""In a larger file, the older half is removed."""

PROMPTS_MAX = 2_000
TEXT_CHARACTERS_MAX = 20_000


def history_file() -> Path:
    """The history file, which all agents share."""
    return state_folder() / "prompts.jsonl"


class History:
    """The prompts of the file.  `load` and `add` touch the disk: not for the event loop."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        # Newest first.
        self._texts: list[str] = []
        self._loaded = False

    @property
    def texts(self) -> list[str]:
        """All prompts, newest first."""
        return list(self._texts)

    def load(self) -> None:
        """Read what all processes have said so far.  What cannot be read is not there."""
        try:
            data = (self._path or history_file()).read_bytes()[-2 * FILE_BYTES_MAX :]
        except (OSError, ValueError):
            data = b""
        read = _texts_of(data.splitlines())
        mine = [text for text in reversed(self._texts) if not self._loaded and text not in read]
        self._texts = _without_repeats(reversed([*read, *mine]))[:PROMPTS_MAX]
        self._loaded = True

    def remember(self, text: str) -> None:
        """Say it here, at once; `add` writes it down."""
        if text.strip() and self._texts[:1] != [text]:
            self._texts.insert(0, text)
            del self._texts[PROMPTS_MAX:]

    def add(self, text: str, folder: str = "") -> None:
        """Store a prompt.

        Raises:
            OSError: it cannot be written.
        """
        if not text.strip() or len(text) > TEXT_CHARACTERS_MAX:
            return
        entry = {"v": VERSION, "at": round(time(), 3), "folder": folder, "text": text}
        line = json.dumps(entry).encode("ascii") + b"\n"
        path = self._path or history_file()
        make_private(path.parent)
        with locked(path):
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(path, flags, FILE_MODE)
            try:
                size = os.fstat(descriptor).st_size
                if size and os.pread(descriptor, 1, size - 1) != b"\n":
                    # Another process died in the middle of a line.
                    line = b"\n" + line
                # One write, so that it is there as a whole or not at all.
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
            if size + len(line) > FILE_BYTES_MAX:
                _shorten(path)

    def search(self, query: str, most: int) -> list[str]:
        """The prompts that contain all words of the query, newest first, without duplicates."""
        words = query.lower().split()
        found: dict[str, None] = {}
        for text in self._texts:
            small = text.lower()
            if all(word in small for word in words):
                found[text] = None
                if len(found) == most:
                    break
        return list(found)


class Walk:
    """Moves up and down through earlier prompts, as in a shell.

    Guards: the unsent text, and changes of earlier prompts, are kept while moving.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._texts: list[str] = []
        # 0 is the unsent text, 1 the last prompt.
        self._at = 0
        self._changed: dict[int, str] = {}

    @property
    def is_away(self) -> bool:
        """Whether something said before is shown."""
        return self._at > 0

    def older(self, shown: str) -> str | None:
        """The prompt before the one shown; None at the end."""
        if self._at == 0:
            self._texts = self._history.texts
        at = self._at + 1
        while self._at == 0 and at <= len(self._texts) and self._texts[at - 1] == shown:
            # What is shown already would look as if nothing had happened.
            at += 1
        return self._go(at, shown) if at <= len(self._texts) else None

    def newer(self, shown: str) -> str | None:
        """Return the next newer prompt, and finally the unsent text; None at the end."""
        return self._go(self._at - 1, shown) if self._at else None

    def _go(self, at: int, shown: str) -> str:
        self._changed[self._at] = shown
        self._at = at
        return self._changed.get(at, self._texts[at - 1] if at else "")

    def reset(self) -> None:
        """Something was sent, or everything deleted: the next walk begins here."""
        self._at = 0
        self._changed.clear()


def _texts_of(lines: Iterable[bytes]) -> list[str]:
    """The prompts of some lines, in their order."""
    found: list[str] = []
    for line in lines:
        try:
            entry: Any = json.loads(line)
        except ValueError:
            continue
        text = entry.get("text") if isinstance(entry, dict) else None
        # Of another version we take what we know.
        if isinstance(text, str) and text.strip() and len(text) <= TEXT_CHARACTERS_MAX:
            found.append(text)
    return found


def _without_repeats(texts: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for text in texts:
        if not kept or kept[-1] != text:
            kept.append(text)
    return kept


def _shorten(path: Path) -> None:
    """Leave out the older half; lines that only another version can read stay as they are."""
    lines = path.read_bytes().splitlines(keepends=True)
    kept: list[bytes] = []
    size = 0
    for line in reversed(lines):
        size += len(line)
        if size > FILE_BYTES_MAX // 2 or len(kept) >= PROMPTS_MAX:
            break
        kept.append(line)
    replace_file(path, b"".join(reversed(kept)).decode("utf-8", "replace"))
