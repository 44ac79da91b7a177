"""What a user typed and did not send: words and attachments, kept on the disk.

It survives leaving and a crash.  This module does not know any screen, or which blocks an agent
takes; the engine turns a draft into those.

Invariants
    * A draft is kept for its session, and for its folder: an agent may not know the session again.
    * A draft is given to the agent that it was written to, and to no other one.
    * What one chat is writing is not given to another: not in this process, and not in one that
      runs beside it.  Nor is it given back to that chat, which has it already or has sent it.
    * What is on the disk is the last of what a chat had, however its threads ran.
    * Files are private, and few; an unreadable file counts as no draft.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Literal, TypeAlias

from accord.configuration.user_paths import replace_file, state_folder

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


VERSION = 1
DRAFTS_MAX = 200
TEXT_CHARACTERS_MAX = 1_000_000
DATA_BYTES_MAX = 8 << 20
"""The maximum size of attachments; a draft with larger ones is stored without them."""

_KINDS = ("file", "image", "audio", "text", "binary")


@dataclass(frozen=True, slots=True)
class Writer:
    """The writer of a draft: a chat, its names, and its folder."""

    chat: str
    agent: str
    folder: str
    session_id: str | None = None

    @property
    def in_folder(self) -> str:
        """The file for the next session of this agent in this folder."""
        return _name("folder", self.agent, self.folder)

    def in_session(self, session_id: str | None) -> str:
        """The file for a session of this agent."""
        return _name("session", self.agent, session_id or "")


class Drafts:
    """The drafts of the user.  Every method touches the disk: not for the event loop."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        # By file: which chat of this process wrote it.
        self._written: dict[str, str] = {}
        # By chat: the number of the last draft that was kept.
        self._numbers: dict[str, int] = {}
        self._lock = Lock()

    def save(self, writer: Writer, draft: Draft, number: int) -> None:
        """Keep what a chat has; an empty draft is forgotten, and so is one with a lower number.

        Raises:
            OSError: it cannot be written.
        """
        chat = writer.chat
        names: list[str] = []
        if not draft.is_empty:
            names.append(writer.in_folder)
            if writer.session_id is not None:
                names.append(writer.in_session(writer.session_id))
        with self._lock:
            if number < self._numbers.get(chat, number):
                return
            self._numbers[chat] = number
            for name in [one for one, who in self._written.items() if who == chat]:
                if name not in names:
                    del self._written[name]
                    (self._place / name).unlink(missing_ok=True)
            for name in names:
                self._written[name] = chat
                replace_file(self._place / name, _written(draft, writer.session_id))
            self._forget_old()

    def restore(self, writer: Writer, *, is_new: bool) -> Draft:
        """The unsent prompt of this session, or for a new one in this folder; maybe empty."""
        name = writer.in_folder if is_new else writer.in_session(writer.session_id)
        with self._lock:
            entry = None if name in self._written else self._read(name)
            if entry is None or _is_alive(entry.get("pid")):
                return Draft("")
            other = entry.get("session")
            if is_new and isinstance(other, str) and other != writer.session_id:
                # It moves: who opens the other session again does not find it there a second time.
                (self._place / writer.in_session(other)).unlink(missing_ok=True)
            self._written[name] = writer.chat
            if not is_new:
                # The same words are there for the folder, unless another session was last.
                beside = writer.in_folder
                if (self._read(beside) or {}).get("session") == writer.session_id:
                    self._written.setdefault(beside, writer.chat)
            return _read_draft(entry)

    def release(self, chat: str) -> None:
        """Note that a chat is closed: its draft may go to another one."""
        with self._lock:
            self._written = {name: who for name, who in self._written.items() if who != chat}

    @property
    def _place(self) -> Path:
        return self._folder or state_folder() / "drafts"

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            entry: Any = json.loads((self._place / name).read_bytes())
        except (OSError, ValueError):
            return None
        return entry if isinstance(entry, dict) else None

    def _forget_old(self) -> None:
        try:
            files = [(one.stat().st_mtime, one.path) for one in os.scandir(self._place)]
        except OSError:
            return
        for _, path in sorted(files)[: max(len(files) - DRAFTS_MAX, 0)]:
            Path(path).unlink(missing_ok=True)


def _name(kind: str, agent: str, key: str) -> str:
    words = f"{kind}\0{agent}\0{key}".encode("utf-8", "surrogateescape")
    digest = hashlib.sha256(words).hexdigest()
    return f"{kind}-{digest[:32]}.json"


def _written(draft: Draft, session_id: str | None) -> str:
    too_much = sum(one.size for one in draft.attachments if one.data) > DATA_BYTES_MAX
    attachments = [
        {
            "kind": one.kind,
            "name": one.name,
            "mark": one.mark,
            "path": one.path,
            "type": one.media_type,
            "size": one.file_bytes,
            "data": base64.b64encode(one.data).decode("ascii"),
        }
        for one in draft.attachments
        if not (too_much and one.data)
    ]
    text = draft.text[:TEXT_CHARACTERS_MAX]
    entry = {"v": VERSION, "pid": os.getpid(), "session": session_id, "text": text}
    # Escaped, so that half a surrogate pair in a pasted text can be written too.
    return json.dumps({**entry, "attachments": attachments}) + "\n"


def _read_draft(entry: dict[str, Any]) -> Draft:
    text = entry.get("text")
    listed = entry.get("attachments")
    found: list[Attachment] = []
    for one in listed if isinstance(listed, list) else ():
        try:
            if one["kind"] not in _KINDS or not isinstance(one["size"], int):
                continue
            path = one["path"]
            found.append(
                Attachment(
                    kind=one["kind"],
                    name=str(one["name"]),
                    mark=str(one["mark"]),
                    path=path if isinstance(path, str) else None,
                    media_type=str(one["type"]),
                    data=base64.b64decode(one["data"]),
                    file_bytes=one["size"],
                )
            )
        except (KeyError, TypeError, ValueError):
            # Of another version, or no attachment at all.
            continue
    return Draft(text if isinstance(text, str) else "", tuple(found))


def _is_alive(pid: object) -> bool:
    """Whether another process that still runs wrote it."""
    if not isinstance(pid, int) or pid <= 0 or pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
