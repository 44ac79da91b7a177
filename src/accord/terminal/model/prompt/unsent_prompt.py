"""What a user is about to say: words and what goes with them.

This module does not know which blocks an agent takes; the engine turns a draft into those.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

AttachmentKind: TypeAlias = Literal["file", "image", "audio", "text", "binary"]


@dataclass(frozen=True, slots=True)
class Attachment:
    """One thing beside the words.

    What has a path is read when it is sent; the others carry their bytes.  Where `mark` is in
    the text (`@src/main.py`, `[image 1]`) the attachment stands for it.
    """

    kind: AttachmentKind
    name: str
    mark: str = ""
    path: str | None = None
    media_type: str = ""
    data: bytes = field(default=b"", repr=False)
    # Of the file, when it was attached.
    file_bytes: int = 0

    @property
    def size(self) -> int:
        """Bytes, as far as is known."""
        return len(self.data) or self.file_bytes


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt that was not sent yet."""

    text: str
    attachments: tuple[Attachment, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to send."""
        return not self.text.strip() and not self.attachments

    @property
    def summary(self) -> str:
        """One line for lists."""
        return " ".join(self.text.split()) or ", ".join(one.name for one in self.attachments)
