"""Entries of a recording without secrets, for whoever shows them.

A recording without secrets has none in it, unless it was made by an older version: that one kept
what was told in pieces over several frames, and a view joins them.  A recording that was made to
keep its secrets keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from accord.machine.redaction.conversation_redactor import ConversationRedactor
from accord.machine.redaction.redactor import Redactor
from accord.tracing.recording_file import Entry, Recording


class EntryRedactor:
    """Takes entries as they come, and gives them back when they may be shown."""

    def __init__(self) -> None:
        self._redactor = Redactor.of_environment()
        self._conversation: ConversationRedactor[Entry] = ConversationRedactor(self._redactor)

    def feed(self, entry: Entry) -> Iterator[Entry]:
        """The next entry; those that are ready."""
        if entry.kind == "frame" and entry.speaker is not None:
            ready = self._conversation.frame(entry, entry.speaker, entry.raw)
        elif entry.kind == "stderr":
            ready = self._conversation.stderr(entry, entry.raw)
        else:
            # Written by a recorder, but anybody may have edited the file.
            detail = self._redactor.value(dict(entry.detail))
            ready = self._conversation.other(replace(entry, detail=detail), entry.raw)
        if entry.kind == "end":
            ready += self._conversation.finish()
        return self._cleaned(ready)

    def finish(self) -> Iterator[Entry]:
        """All the rest, when nothing more comes."""
        return self._cleaned(self._conversation.finish())

    def _cleaned(self, ready: list[tuple[Entry, bytes]]) -> Iterator[Entry]:
        return (one if raw == one.raw else replace(one, raw=raw) for one, raw in ready)


def without_secrets(recording: Recording) -> Recording:
    """The recording as it may be shown."""
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


__all__ = ["EntryRedactor", "without_secrets"]
