"""Attachments of the prompt: pasted, dropped, named or chosen.

This module does not know keys, history or how anything is sent.

Invariants
    * An attachment is sent exactly as long as its mark is in the text, so that deleting, undoing
      and external editing work as expected.
    * Content that the agent does not accept is reported at once; a file is sent as a link.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio.to_thread
from textual.widget import Widget

from accord.client.connection.capabilities import AgentCapabilities
from accord.machine.console.control_characters import visible
from accord.terminal.model.prompt.attachments import (
    attachment_of,
    image_of,
    long_text,
    pasted_paths,
)
from accord.terminal.model.prompt.clipboard_image import read_image
from accord.terminal.model.prompt.content_blocks import PromptError, place_of, refusal
from accord.terminal.model.prompt.unsent_prompts import Attachment, Draft
from accord.terminal.screen.prompt.text_area import PromptArea, clean

_PATH_STARTS = ("/", "~", "file://", "'/", '"/', "'~", '"~')


class Attached:
    """The attachments of one editor, by their marks."""

    def __init__(
        self,
        area: PromptArea,
        owner: Widget,
        roots: Callable[[], Sequence[str]],
        capabilities: Callable[[], AgentCapabilities | None],
    ) -> None:
        self._area = area
        self._owner = owner
        self._roots = roots
        self._capabilities = capabilities
        # Includes marks that were deleted, because the deletion may be undone.
        self._known: dict[str, Attachment] = {}

    # ---- the draft

    @property
    def draft(self) -> Draft:
        """The text, and what its marks stand for, in their order."""
        text = self._area.text
        here = [(place_of(mark, text), one) for mark, one in self._known.items()]
        here.sort(key=lambda found: found[0])
        return Draft(text, tuple(one for at, one in here if at >= 0))

    def take(self, draft: Draft) -> None:
        """Replace the draft; attachments without a mark get one at the end of the text."""
        text = clean(draft.text)
        self._known = {one.mark: one for one in draft.attachments if one.mark}
        for mark in self._known:
            if place_of(mark, text) < 0:
                text = f"{text.rstrip()} {mark}".lstrip()
        self._area.show_text(text)

    def forget(self) -> None:
        """Forget all attachments after they were sent."""
        self._known.clear()

    def refusal(self) -> str | None:
        """A sentence that says why the draft cannot be sent to this agent, or nothing."""
        capabilities = self._capabilities()
        found = (refusal(one, capabilities) for one in self.draft.attachments)
        return next((why for why in found if why is not None), None)

    # ---- changing it

    def remove(self, mark: str) -> None:
        """Take an attachment out of the text."""
        text = self._area.text
        at = place_of(mark, text)
        if at >= 0:
            end = at + len(mark)
            # With the space that was put behind it.
            end += text[end : end + 1] == " "
            self._replace(at, end, "")

    def open(self, mark: str) -> None:
        """Put pasted text into the text in the place of its mark."""
        one = self._known.get(mark)
        at = self._area.text.find(mark)
        if one is not None and one.kind == "text" and at >= 0:
            self._replace(at, at + len(mark), one.data.decode("utf-8", "replace"))

    def delete_mark_before_cursor(self) -> bool:
        """Delete a whole mark on Backspace; return whether there was one."""
        area = self._area
        if area.selection.start != area.selection.end:
            return False
        row, column = area.cursor_location
        before = area.document[row][:column]
        for mark in self._known:
            if before.endswith(mark) and not mark.startswith("@"):
                area.delete((row, column - len(mark)), (row, column))
                return True
        return False

    def _replace(self, start: int, end: int, text: str) -> None:
        whole = self._area.text
        places = [_location(whole, at) for at in (start, end)]
        self._area.replace(clean(text), places[0], places[1], maintain_selection_offset=False)

    def _put(self, one: Attachment) -> None:
        self._known[one.mark] = one
        row, column = self._area.cursor_location
        before = self._area.document[row][:column]
        gap = " " if before and not before[-1].isspace() else ""
        self._area.put(f"{gap}{one.mark} ")

    # ---- where it comes from

    def paste(self, text: str) -> None:
        """Text from the terminal: a dropped file's name, something long, or just words."""
        if not text:
            self._area.begin(self._paste_picture())
        elif text.lstrip().startswith(_PATH_STARTS):
            self._area.begin(self._paste_paths(text))
        else:
            self._paste_words(text)

    def _paste_words(self, text: str) -> None:
        one = long_text(text, self._known)
        if one is None:
            self._area.put(text)
        else:
            self._put(one)

    async def _paste_paths(self, text: str) -> None:
        paths = await anyio.to_thread.run_sync(pasted_paths, text)
        if not paths:
            self._paste_words(text)
        for path in paths:
            await self.attach(path)

    async def _paste_picture(self) -> None:
        """Paste the image of the desktop's clipboard, or what was copied in this app."""
        try:
            data = await anyio.to_thread.run_sync(read_image)
        except PromptError as error:
            if self._owner.app.clipboard:
                data = None
            else:
                self.tell(str(error))
                return
        one = None if data is None else image_of(data, self._known)
        if one is None:
            if self._owner.app.clipboard:
                self._paste_words(clean(self._owner.app.clipboard))
            else:
                self.tell("There is no image in the clipboard.")
            return
        why = refusal(one, self._capabilities())
        if why is not None:
            self.tell(f"{why} The image is still in your clipboard.")
        else:
            self._put(one)

    async def attach(self, path: Path) -> None:
        """A file that the user chose, wherever it is."""
        try:
            roots = tuple(self._roots())
            one = await anyio.to_thread.run_sync(attachment_of, path, roots)
        except PromptError as error:
            self.tell(str(error))
            return
        self._put(one)
        self._tell_form(one)

    async def named(self, name: str, path: Path) -> None:
        """A file whose mark was put into the text already, by completing it."""
        try:
            roots = tuple(self._roots())
            one = await anyio.to_thread.run_sync(lambda: attachment_of(path, roots, name=name))
        except PromptError as error:
            self.tell(str(error))
            return
        self._known[one.mark] = one
        self._tell_form(one)

    def _tell_form(self, one: Attachment) -> None:
        """Report content that the agent does not accept; the file is sent as a link."""
        capabilities = self._capabilities()
        if capabilities is None:
            return
        if one.kind == "image" and not capabilities.image:
            self.tell(f"This agent does not accept images; {one.name} is sent as a link.")
        elif one.kind == "audio" and not capabilities.audio:
            self.tell(f"This agent does not accept audio; {one.name} is sent as a link.")

    def tell(self, text: str) -> None:
        """Show a sentence as a notification."""
        self._owner.app.notify(visible(text), severity="warning", markup=False, timeout=6)


def _location(text: str, at: int) -> tuple[int, int]:
    """The line and the column of a place in a text."""
    return text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1
