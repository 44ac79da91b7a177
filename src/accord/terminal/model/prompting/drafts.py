"""What was typed and not sent, kept on the disk: it survives leaving and a crash.

Must not know any screen.

What always holds
    * A draft is kept for its session, and for its folder: an agent may not know the session again.
    * What one chat is writing is not given to another: not in this process, and not in one that
      runs beside it.
    * Files are private, and few; what cannot be read is no draft.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from pathlib import Path
from threading import Lock
from typing import Any

from accord.discovery.places import replace_file, state_folder
from accord.terminal.model.prompting.drafting import Attachment, Draft

VERSION = 1
DRAFTS_MAX = 200
TEXT_CHARACTERS_MAX = 1_000_000
DATA_BYTES_MAX = 8 << 20
"""Of pictures and pasted text that were attached; a draft with more is kept without them."""

_KINDS = ("file", "image", "audio", "text", "binary")


class Drafts:
    """The drafts of the user.  Every method touches the disk: not for the event loop."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        # By file: which chat of this process wrote it.
        self._written: dict[str, str] = {}
        self._lock = Lock()

    def save(self, chat: str, folder: str, session_id: str | None, draft: Draft) -> None:
        """Keep what a chat (any name for it) has; an empty draft is forgotten.

        Raises:
            OSError: it cannot be written.
        """
        names = [_name("folder", folder)]
        if session_id is not None:
            names.append(_name("session", session_id))
        with self._lock:
            for name in names:
                if not draft.is_empty:
                    self._written[name] = chat
                    replace_file(self._place / name, _written(draft, session_id))
                elif self._written.get(name) == chat:
                    self._written.pop(name, None)
                    (self._place / name).unlink(missing_ok=True)
            self._forget_old()

    def restore(self, chat: str, folder: str, session_id: str | None, *, is_new: bool) -> Draft:
        """What was not sent in this session, or for a new session in this folder; maybe nothing."""
        name = _name("folder", folder) if is_new else _name("session", session_id or "")
        if self._written.get(name, chat) != chat:
            return Draft("")
        entry = self._read(name)
        if entry is None or _is_alive(entry.get("pid")):
            return Draft("")
        other = entry.get("session")
        if is_new and isinstance(other, str) and other != session_id:
            # It moves: who opens the other session again does not find it there a second time.
            (self._place / _name("session", other)).unlink(missing_ok=True)
        self._written[name] = chat
        if not is_new:
            # The same words are there for the folder, unless another session was last.
            beside = _name("folder", folder)
            if (self._read(beside) or {}).get("session") == session_id:
                self._written.setdefault(beside, chat)
        return _read_draft(entry)

    def release(self, chat: str) -> None:
        """A chat is closed: what it wrote may be given to another one."""
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


def _name(kind: str, key: str) -> str:
    digest = hashlib.sha256(f"{kind}\0{key}".encode("utf-8", "surrogateescape")).hexdigest()
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


__all__ = ["DATA_BYTES_MAX", "DRAFTS_MAX", "Drafts"]
