"""Unsaved text that an editor holds and that is newer than the disk.

It must not know roots: the reader decides first whether the path is allowed.
Always holds: a path means its real path, so a buffer opened through a link is found by its target.
"""

from __future__ import annotations

import os
from collections.abc import Callable


class Overlay:
    """Buffers by path.  Reads see them; a write to the file asks what becomes of its buffer."""

    def __init__(self, on_write: Callable[[str, str], str | None] | None = None) -> None:
        """`on_write(path, written text)` returns the buffer's new text, or None to drop it.

        Without it a buffer is dropped when its file is written: the disk is then newer.
        """
        self._buffers: dict[str, str] = {}
        self._on_write = on_write

    def __len__(self) -> int:
        return len(self._buffers)

    def __contains__(self, path: str | os.PathLike[str]) -> bool:
        return os.path.realpath(path) in self._buffers

    def set(self, path: str | os.PathLike[str], text: str) -> None:
        """Set the text that the editor shows for the file, saved or not."""
        self._buffers[os.path.realpath(path)] = text

    def drop(self, path: str | os.PathLike[str]) -> None:
        """Drop the buffer that the editor saved or closed; unknown paths are fine."""
        self._buffers.pop(os.path.realpath(path), None)

    def text_at(self, real_path: str) -> str | None:
        """The buffer of a path that is already free of links."""
        return self._buffers.get(real_path)

    def written(self, real_path: str, text: str) -> None:
        """Update the buffer of a file that was written through us."""
        if real_path not in self._buffers:
            return
        newer = self._on_write(real_path, text) if self._on_write is not None else None
        if newer is None:
            self._buffers.pop(real_path, None)
        else:
            self._buffers[real_path] = newer

    def moved(self, real_path: str, real_target: str) -> None:
        """Move the buffer of a file that was moved through us."""
        text = self._buffers.pop(real_path, None)
        if text is not None:
            self._buffers[real_target] = text

    def deleted(self, real_path: str) -> None:
        """Drop the buffer of a file that was deleted through us."""
        self._buffers.pop(real_path, None)
