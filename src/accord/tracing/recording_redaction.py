"""Removes secrets from the entries of a recording before they are shown.

A redacted recording may still contain secrets if an older version made it, which kept those split
over several frames; a view joins the frames.  A recording made with its secrets keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from accord.machine.redaction.conversation_redactor import ConversationRedactor
from accord.machine.redaction.redactor import Redactor
from accord.tracing.recording_file import Entry, Recording


class EntryRedactor:
    """Redacts entries one by one, and returns them when they may be shown."""

    def __init__(self) -> None:
        self._redactor = Redactor.of_environment()
        self._conversation: ConversationRedactor[Entry] = ConversationRedactor(self._redactor)

    def feed(self, entry: Entry) -> Iterator[Entry]:
        """Take the next entry; yield those that are ready."""
        if entry.kind == "frame" and entry.speaker is not None:
            ready = self._conversation.frame(entry, entry.speaker, entry.raw)
        elif entry.kind == "stderr":
            ready = self._conversation.stderr(entry, entry.raw)
        else:
            # A recorder wrote it, but anybody may have edited the file.
            detail = self._redactor.value(dict(entry.detail))
            ready = self._conversation.other(replace(entry, detail=detail), entry.raw)
        if entry.kind == "end":
            ready += self._conversation.finish()
        return self._cleaned(ready)

    def finish(self) -> Iterator[Entry]:
        return self._cleaned(self._conversation.finish())

    def _cleaned(self, ready: list[tuple[Entry, bytes]]) -> Iterator[Entry]:
        return (one if raw == one.raw else replace(one, raw=raw) for one, raw in ready)


def without_secrets(recording: Recording) -> Recording:
    """Return the recording as it may be shown."""
    header = recording.header
    if not header.redacted:
        return recording
    redactor = EntryRedactor()
    entries: list[Entry] = []
    for entry in recording.entries:
        entries += redactor.feed(entry)
    entries += redactor.finish()
    command = tuple(Redactor.of_environment().words(header.command))
    return Recording(replace(header, command=command), tuple(entries))
