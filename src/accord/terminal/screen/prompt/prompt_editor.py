"""The prompt editor, with completion, history and attachments.

This module does not know how a prompt reaches the agent: it posts `Submitted`.

Invariants
    * `chat.draft` is the current text, and is saved to disk soon after; a sent prompt is not.
    * A stored draft is restored only into an untouched prompt.
    * No key loses text: a prompt that cannot be sent stays, the history returns to it, and undo
      restores it.
    * Esc closes an open list, and otherwise belongs to the screen.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static, TextArea

from accord.terminal.model.chat import Chat
from accord.terminal.model.external_editors import NO_EDITOR, chosen_editor
from accord.terminal.model.prompt.content_blocks import PromptError, with_pasted
from accord.terminal.model.prompt.history import TEXT_CHARACTERS_MAX, Walk
from accord.terminal.model.prompt.unsent_prompts import Draft
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.external_editor import edit_outside
from accord.terminal.screen.prompt.attachment_chips import Chips
from accord.terminal.screen.prompt.attachments import Attached
from accord.terminal.screen.prompt.completions import Completer, CompletionList
from accord.terminal.screen.prompt.saved_prompts import memory_of_user
from accord.terminal.screen.prompt.text_area import PromptArea

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController

SAVE_SECONDS = 0.5
"""Seconds after the last key when a draft is saved."""

TYPING_SECONDS = 5.0
"""Seconds after the last key when the others of a shared session see that nobody types."""

_ACTIONS = ("send", "newline", "search_history", "attach", "edit_outside", "edit_queue")


class PromptEditor(Widget):
    """The prompt editor.  Guards the invariants of this module."""

    DEFAULT_CSS = """
    PromptEditor {
        height: auto; layout: vertical; background: $surface;
        border: round $border-blurred; padding: 0 1;
    }
    PromptEditor:focus-within { border: round $border; }
    PromptEditor Horizontal { height: auto; }
    PromptEditor #mark { width: 2; height: 1; color: $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll_page(-1)", show=False),
        Binding("pagedown", "scroll_page(1)", show=False),
    ]

    class Submitted(Message):
        """The user submitted a draft, which may be empty."""

        def __init__(self, draft: Draft) -> None:
            super().__init__()
            self.draft = draft

    class ScrollAsked(Message):
        """The user wants to scroll the conversation by pages."""

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    def __init__(self, chat: Chat, controller: ChatController) -> None:
        super().__init__()
        self.chat = chat
        self._controller = controller
        self._keys = {key: name for name in _ACTIONS for key in controller.settings.keys_of(name)}
        self._memory = memory_of_user()
        self._walk = Walk(self._memory.history)
        self._area = PromptArea(self._key, self._paste)
        self._attached = Attached(
            self._area, self, lambda: controller.roots(chat), lambda: controller.capabilities(chat)
        )
        self._completer = Completer(
            self._area, self, chat, lambda: controller.roots(chat), self._file_taken
        )
        self._area.hint = self._completer.hint
        self._area.special_keys = frozenset({*self._keys, *controller.settings.keys_of("help")})
        self._saver: Timer | None = None
        # Runs while the others of a shared session see that the user types.
        self._typing: Timer | None = None
        self._drawn: tuple[object, ...] = ()
        self._restored_for: object = None
        # Whether the user has ever typed here.
        self._is_touched = False
        # The text that the history inserted.
        self._walked: str | None = None

    def compose(self) -> ComposeResult:
        """Lay out the completions, the attachments and the text area."""
        yield self._completer.list
        yield Chips()
        with Horizontal():
            yield Static("❯", id="mark", markup=False)
            yield self._area

    def on_mount(self) -> None:
        """Restore the stored draft."""
        if not self.chat.draft.is_empty:
            self._restored_for = self.chat.session_id
            self.take_draft(self.chat.draft)
        self.run_worker(self._memory.read(), exit_on_error=False)
        self.refresh_chat()

    def on_unmount(self) -> None:
        """Save the draft of a closed tab."""
        self.keep()
        self._memory.release(self.chat)

    # ---- the draft

    @property
    def draft(self) -> Draft:
        """The current text and attachments."""
        return self._attached.draft

    @property
    def is_empty(self) -> bool:
        """Whether the prompt is empty."""
        return not self._area.text

    def focus(self, scroll_visible: bool = True) -> PromptEditor:
        """Focus the text area."""
        self._area.focus(scroll_visible)
        return self

    def take_draft(self, draft: Draft) -> None:
        """Replace the text by a draft."""
        self._is_touched = True
        self._attached.take(draft)
        self._changed()

    def clear_text(self) -> bool:
        """Clear the prompt; return whether it had text.  Undo restores it."""
        if self.is_empty:
            return False
        self._area.show_text("")
        self._walk.reset()
        return True

    def copy_selection(self) -> bool:
        """Copy the selection; return whether there was one."""
        marked = self._area.selected_text
        if marked:
            self.app.copy_to_clipboard(marked)
            # Clear the selection, so that the same key does something else the next time.
            self._area.move_cursor(self._area.cursor_location)
        return bool(marked)

    def close_list(self) -> bool:
        """Close the list of completions; return whether it was open."""
        return self._completer.close()

    def keep(self) -> None:
        """Save the draft to disk now."""
        self._stop_saver()
        if self._is_touched:
            self._memory.save_now(self.chat)

    def refresh_chat(self) -> None:
        """Update the prompt after a change of the chat."""
        chat = self.chat
        said = placeholder(chat)
        now = (said, chat.phase, chat.session_id, tuple(chat.transcript.commands))
        if now == self._drawn:
            return
        self._drawn = now
        self._area.placeholder = said
        self._area.update_suggestion()
        asked = self._completer.asked()
        if asked is not None and asked.kind == "command" and self._area.has_focus:
            self._complete()
        if chat.session_id is not None and chat.session_id != self._restored_for:
            self._restored_for = chat.session_id
            if not self._is_touched:
                self.run_worker(self._restore(), exit_on_error=False)

    async def _restore(self) -> None:
        draft = await self._memory.restore(self.chat)
        # The user may have typed or even sent something while the disk was read.
        if not self._is_touched and not draft.is_empty:
            self.take_draft(draft)

    # ---- keys

    def _key(self, key: str) -> bool:
        """Handle a key of the text area; return whether it was handled."""
        if self._completer.list.is_open and self._list_key(key):
            return True
        if key in self._controller.settings.keys_of("help") and self.is_empty:
            # Otherwise the key types a character, so the app does not bind it.
            self.call_later(self.app.run_action, "perform('help')")
            return True
        name = self._keys.get(key)
        if name == "send" and self._ends_with_backslash():
            name = "newline"
        if name is not None:
            # Run as an action, so that the command palette does the same.
            getattr(self, f"action_{name}")()
            return True
        if key == "up" and self._area.is_on_first_line:
            return self._go(self._walk.older(self._area.text))
        if key == "down" and self._area.is_on_last_line:
            return self._go(self._walk.newer(self._area.text))
        if key == "backspace":
            return self._attached.delete_mark_before_cursor()
        if key == "tab" and self._completer.asked() is not None:
            self._completer.renew(again=True)
            return True
        return False

    def _list_key(self, key: str) -> bool:
        if key in ("up", "down"):
            self._completer.list.move(-1 if key == "up" else 1)
            return True
        if key == "escape":
            return self.close_list()
        if key == "tab" or self._keys.get(key) == "send":
            return self._completer.take(is_sending=key != "tab")
        return False

    def _ends_with_backslash(self) -> bool:
        """Whether a backslash before Enter asks for a line break (without Shift-Enter)."""
        row, column = self._area.cursor_location
        if column == 0 or self._area.document[row][column - 1] != "\\":
            return False
        self._area.delete((row, column - 1), (row, column))
        return True

    def _go(self, text: str | None) -> bool:
        if text is None:
            return self._walk.is_away
        self._area.show_text(text)
        self._walked = self._area.text
        self._completer.list.close()
        return True

    def _paste(self, text: str) -> None:
        self._attached.paste(text)
        self._area.focus()

    # ---- changes of the text

    @on(TextArea.Changed)
    def _text_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._changed()

    @on(TextArea.SelectionChanged)
    def _cursor_moved(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        self._complete()

    def _changed(self) -> None:
        draft = self._attached.draft
        self.query_one(Chips).show(draft.attachments)
        if self._walked is not None and self._area.text != self._walked:
            self._walked = None
        if draft != self.chat.draft:
            self._is_touched = True
            self.chat.draft = draft
            self._stop_saver()
            self._tell_typing(not draft.is_empty)
            if draft.is_empty:
                # It was sent or discarded: a crash must not bring it back.
                self._save()
            else:
                self._saver = self.set_timer(SAVE_SECONDS, self._save)
        self._complete()

    def _tell_typing(self, types: bool) -> None:
        """Tell the others in a shared session, once for each while."""
        if self._typing is not None:
            self._typing.stop()
            if not types:
                self._typing = None
                self._controller.tell(self.chat, "idle")
                return
        elif types:
            self._controller.tell(self.chat, "typing")
        if types:
            self._typing = self.set_timer(TYPING_SECONDS, partial(self._tell_typing, False))

    def _stop_saver(self) -> None:
        if self._saver is not None:
            self._saver.stop()
            self._saver = None

    def _save(self) -> None:
        self._saver = None
        self.run_worker(self._memory.save(self.chat), exit_on_error=False)

    @on(Chips.Removed)
    def _chip_removed(self, event: Chips.Removed) -> None:
        event.stop()
        self._attached.remove(event.mark)

    @on(Chips.Opened)
    def _chip_opened(self, event: Chips.Opened) -> None:
        event.stop()
        self._attached.open(event.mark)
        self._area.focus()

    @on(CompletionList.Taken)
    def _clicked(self, event: CompletionList.Taken) -> None:
        event.stop()
        self._completer.take(is_sending=False)
        self._area.focus()

    def _file_taken(self, name: str, path: Path) -> None:
        self._area.begin(self._attach_named(name, path))

    async def _attach_named(self, name: str, path: Path) -> None:
        await self._attached.named(name, path)
        self._changed()

    def _complete(self) -> None:
        if self._walked is None:
            self._completer.renew()

    # ---- actions

    def action_scroll_page(self, pages: int) -> None:
        """Scroll the conversation by a page."""
        self.post_message(self.ScrollAsked(pages))

    def action_newline(self) -> None:
        """Insert a line break."""
        self._area.put("\n")

    def action_send(self) -> None:
        """Submit the prompt, if the agent accepts its content."""
        draft = self.draft
        why = self._attached.refusal()
        if why is not None:
            self._attached.tell(f"{why} Remove it, or use another agent.")
            return
        self._completer.list.close()
        if not draft.is_empty:
            whole = with_pasted(draft)
            text = whole if len(whole) <= TEXT_CHARACTERS_MAX else draft.text
            self._memory.history.remember(text)
            self.run_worker(self._memory.said(text, self.chat.folder), exit_on_error=False)
            self._walk.reset()
            self._area.load_text("")
            self._attached.forget()
            self._changed()
        self.post_message(self.Submitted(draft))

    def action_search_history(self) -> None:
        """Open the picker of earlier prompts."""
        from accord.terminal.screen.prompt.history_picker import HistoryScreen

        def chosen(text: str | None) -> None:
            if text is not None:
                self._walk.reset()
                self._go(text)

        self.app.push_screen(HistoryScreen(self._memory.history), chosen)

    def action_attach(self) -> None:
        """Open the picker of files to attach."""
        from accord.terminal.screen.prompt.file_picker import AttachScreen

        index = self._completer.files

        def chosen(name: str | None) -> None:
            if name is not None:
                path = index.path_of(os.path.expanduser(name))
                self._area.begin(self._attached.attach(path))

        self.app.push_screen(AttachScreen(index), chosen)

    def action_edit_outside(self) -> None:
        """Edit the prompt in the user's editor."""
        self.run_worker(self._edit_outside(), exit_on_error=False, group="outside", exclusive=True)

    async def _edit_outside(self) -> None:
        command = chosen_editor(self._controller.settings.editor, os.environ)
        if command is None:
            self._attached.tell(NO_EDITOR)
            return
        try:
            text = await edit_outside(self.app, self._area.text, command)
        except PromptError as error:
            self._attached.tell(str(error))
            return
        if text != self._area.text:
            self._area.show_text(text)

    def action_edit_queue(self) -> None:
        """Edit the last queued prompt."""
        if self.chat.queue:
            self.take_queued(len(self.chat.queue) - 1)
        else:
            self._attached.tell("No prompt is queued.")

    def take_queued(self, index: int) -> None:
        """Edit a queued prompt; the current text is queued in its place."""
        if not 0 <= index < len(self.chat.queue):
            return
        mine = self.draft
        wanted = self.chat.queue[index]
        self.chat.queue[index : index + 1] = [] if mine.is_empty else [mine]
        self.take_draft(wanted)
        self.chat.changed()
        self._area.focus()


def placeholder(chat: Chat) -> str:
    """A hint about what happens to the next message."""
    if chat.phase == "starting":
        does = "Connecting" if chat.is_remote else "The agent is starting"
        return f"{does}; you can already type"
    if chat.lacks_session:
        return "There is no session yet; your text stays here"
    if chat.lacks_login:
        return "You are not logged in; your text stays here"
    if chat.phase == "lost":
        lost = "Not connected" if chat.is_remote else "The agent is not running"
        return f"{lost}; your text stays here"
    if chat.people is not None and not chat.people.may_prompt:
        return "You are a viewer: you can read along, but not send prompts"
    if chat.is_busy:
        return "Type your next message; it will be queued"
    if chat.suggestions:
        return f"{one_line(chat.suggestions[0])}   (press Enter to send)"
    commands = ", / for commands" if chat.transcript.commands else ""
    return f"What would you like to do?  @ for files{commands}"
