"""Completion of commands and files in the prompt editor.

This module does not know how anything is attached or sent.

Invariants
    * The list is open exactly while something matches the word before the cursor, unless the user
      closed it for that word.
    * A search never waits for the disk; the list is updated after the disk was read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias
from weakref import WeakValueDictionary

from textual.widget import Widget

from accord.terminal.model.chat import Chat
from accord.terminal.model.prompt.completion import (
    CompletionQuery,
    asked_in,
    choices_of,
    fitting,
    hint_for,
)
from accord.terminal.model.prompt.file_index import FilesIndex
from accord.terminal.model.prompt.fuzzy_search import positions_of
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.prompt.completion_list import Choice, CompletionList
from accord.terminal.screen.prompt.text_area import PromptArea

# Called with the completed file: its name in the text and its path.
OnFile: TypeAlias = Callable[[str, Path], None]

FILES_MAX = 40
"""The number of choices for one query."""

_INDEXES: WeakValueDictionary[tuple[str, ...], FilesIndex] = WeakValueDictionary()


class Completer:
    """The completions of one editor."""

    def __init__(
        self,
        area: PromptArea,
        owner: Widget,
        chat: Chat,
        roots: Callable[[], Sequence[str]],
        on_file: OnFile,
    ) -> None:
        self.list = CompletionList()
        self._area = area
        self._owner = owner
        self._chat = chat
        self._roots = roots
        self._on_file = on_file
        self._index = FilesIndex(())
        # The start of the word for which the user closed the list.
        self._closed_at: tuple[int, int] | None = None

    @property
    def files(self) -> FilesIndex:
        """The index of the session's folders, shared by all tabs."""
        roots = tuple(self._roots())
        if self._index.roots != roots:
            found = _INDEXES.get(roots)
            self._index = FilesIndex(roots) if found is None else found
            _INDEXES[roots] = self._index
        return self._index

    def hint(self, text: str) -> str:
        """The argument hint of the typed command."""
        return hint_for(choices_of(self._chat.transcript.commands), text)

    def asked(self) -> CompletionQuery | None:
        """What can be completed at the cursor."""
        area = self._area
        if area.selection.start != area.selection.end:
            return None
        row, column = area.cursor_location
        return asked_in(area.document[row], column, is_first_line=row == 0)

    # ---- showing choices

    def renew(self, *, again: bool = False) -> None:
        """Update the choices; with `again` even if the user closed the list."""
        asked = self.asked()
        if asked is None:
            self._closed_at = None
            self.list.close()
            return
        if again:
            self._closed_at = None
        if self._closed_at == (self._area.cursor_location[0], asked.start):
            return
        self._closed_at = None
        if asked.kind == "command":
            self._offer_commands(asked)
        else:
            self._offer_files(asked)

    def close(self) -> bool:
        """Close the list until another word is typed; return whether it was open."""
        if not self.list.is_open:
            return False
        self.list.close()
        asked = self.asked()
        self._closed_at = None if asked is None else (self._area.cursor_location[0], asked.start)
        return True

    def _offer_commands(self, asked: CompletionQuery) -> None:
        found = fitting(choices_of(self._chat.transcript.commands), asked.query)
        self.list.show(
            [Choice(one.name, f"/{one.name} {one.hint}".rstrip(), one.description) for one in found]
        )

    def _offer_files(self, asked: CompletionQuery) -> None:
        index = self.files
        choices: list[Choice] = []
        for name in index.find(asked.query, FILES_MAX):
            # Matched letters are highlighted only if the name is shown unchanged.
            is_plain = one_line(name) == name and len(name.lower()) == len(name)
            marked = positions_of(asked.query.lower(), name.lower()) if is_plain else []
            choices.append(Choice(name, one_line(name), marked=tuple(marked)))
        self.list.show(choices, "" if index.was_read else "Looking for files …")
        if index.is_stale:
            self._owner.run_worker(self._look(index), exit_on_error=False, group="files")

    async def _look(self, index: FilesIndex) -> None:
        if await index.refresh() and self._owner.is_attached:
            self.renew()

    # ---- accepting a choice

    def take(self, *, is_sending: bool) -> bool:
        """Insert the choice; return whether the key was handled."""
        asked, choice = self.asked(), self.list.chosen
        if asked is None or choice is None:
            return False
        if is_sending and asked.kind == "command" and asked.query == choice.key:
            # It was typed completely, so Enter means send.
            self.list.close()
            return False
        row, column = self._area.cursor_location
        mark = "/" if asked.kind == "command" else "@"
        rest = self._area.document[row][column:]
        gap = "" if rest.startswith(" ") else " "
        result = self._area.replace(
            f"{mark}{choice.key}{gap}",
            (row, asked.start),
            (row, column),
            maintain_selection_offset=False,
        )
        self._area.move_cursor(result.end_location)
        self.list.close()
        if asked.kind == "file":
            index = self.files
            index.use(choice.key)
            self._on_file(choice.key, index.path_of(choice.key))
        return True
