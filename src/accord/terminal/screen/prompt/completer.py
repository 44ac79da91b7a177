"""Completing commands and files in the editor: what is offered, and what taking it does.

This module does not know how anything is attached or sent.

Invariants
    * The list is there exactly while something fits what stands before the cursor, unless the
      person closed it for just that.
    * A search never waits for the disk; when that was looked at, the list is renewed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias
from weakref import WeakValueDictionary

from textual.widget import Widget

from accord.terminal.model.chat import Chat
from accord.terminal.model.prompt.completion import (
    Asked,
    asked_in,
    choices_of,
    fitting,
    hint_for,
)
from accord.terminal.model.prompt.file_index import FilesIndex
from accord.terminal.model.prompt.fuzzy import positions_of
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.prompt.completion_list import Choice, CompletionList
from accord.terminal.screen.prompt.text_area import PromptArea

# Told which file was taken: the name that stands in the text, and where it is.
OnFile: TypeAlias = Callable[[str, Path], None]

FILES_MAX = 40
"""Offered for one query; who does not find it among them types another letter."""

_INDEXES: WeakValueDictionary[tuple[str, ...], FilesIndex] = WeakValueDictionary()


class Completer:
    """What is offered for one editor."""

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
        # Where the word begins for which the list was closed by the user.
        self._closed_at: tuple[int, int] | None = None

    @property
    def files(self) -> FilesIndex:
        """The files of the session's folders, the same for all tabs that have them."""
        roots = tuple(self._roots())
        if self._index.roots != roots:
            found = _INDEXES.get(roots)
            self._index = FilesIndex(roots) if found is None else found
            _INDEXES[roots] = self._index
        return self._index

    def hint(self, text: str) -> str:
        """What may follow the command that was typed."""
        return hint_for(choices_of(self._chat.transcript.commands), text)

    def asked(self) -> Asked | None:
        """What is to be completed where the cursor stands."""
        area = self._area
        if area.selection.start != area.selection.end:
            return None
        row, column = area.cursor_location
        return asked_in(area.document[row], column, is_first_line=row == 0)

    # ---- offering

    def renew(self, *, again: bool = False) -> None:
        """Offer what could be meant now; `again` also where the user closed it."""
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
        """Close the list until another word is typed; whether it was open."""
        if not self.list.is_open:
            return False
        self.list.close()
        asked = self.asked()
        self._closed_at = None if asked is None else (self._area.cursor_location[0], asked.start)
        return True

    def _offer_commands(self, asked: Asked) -> None:
        found = fitting(choices_of(self._chat.transcript.commands), asked.query)
        self.list.show(
            [Choice(one.name, f"/{one.name} {one.hint}".rstrip(), one.description) for one in found]
        )

    def _offer_files(self, asked: Asked) -> None:
        index = self.files
        choices: list[Choice] = []
        for name in index.find(asked.query, FILES_MAX):
            # The letters are marked only where the name is shown as it is.
            is_plain = one_line(name) == name and len(name.lower()) == len(name)
            marked = positions_of(asked.query.lower(), name.lower()) if is_plain else []
            choices.append(Choice(name, one_line(name), marked=tuple(marked)))
        self.list.show(choices, "" if index.was_read else "Looking for files …")
        if index.is_stale:
            self._owner.run_worker(self._look(index), exit_on_error=False, group="files")

    async def _look(self, index: FilesIndex) -> None:
        if await index.refresh() and self._owner.is_attached:
            self.renew()

    # ---- taking

    def take(self, *, is_sending: bool) -> bool:
        """Put the choice into the text; whether the key was for that."""
        asked, choice = self.asked(), self.list.chosen
        if asked is None or choice is None:
            return False
        if is_sending and asked.kind == "command" and asked.query == choice.key:
            # It was typed whole: then sending is meant.
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


__all__ = ["Completer"]
