"""Modes, models and options of a session, to look at and to set.

This module does not know how a choice reaches the agent: the controller does that.

Invariants
    * Options are in the agent's order, with a model's own options right behind it.
    * An option of an unknown type is shown with its value and cannot be changed.
    * The shown value is the agent's, never one that was only requested.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.content import Content

from accord.errors import AccordError
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.session_settings import mode_name, options_in_order, value_name
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.chrome.footer import shortened
from accord.terminal.screen.pickers.picker import NamePicker, Picker
from accord.terminal.screen.pickers.search_matches import Row
from accord.transcript import ConfigOption, Update

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController

_MODES = "modes"
_OPTION = "option "
_FOLDER = "folder "
_FOLDERS = "Folders"
_CHOICES_SUMMED_MAX = 6
# Updates that change what is shown here.
_CONCERNS = frozenset({"mode", "config_options"})


class OptionsScreen(Picker[None]):
    """The settings of a session.  A change takes effect at once; Esc closes."""

    heading: ClassVar[str] = "Modes, models and options"
    empty_text: ClassVar[str] = "This agent offers no modes, models or options."
    choose_text: ClassVar[str] = "change"

    def __init__(self, chat: Chat, controller: ChatController) -> None:
        super().__init__()
        self._chat = chat
        self._controller = controller
        self._shown_revision = -1
        self.refresh_chat()

    def on_mount(self) -> None:
        """Listen to the chat, because the agent may change values while this is open."""
        super().on_mount()
        self._chat.hearers.append(self._heard)

    def on_unmount(self) -> None:
        """Stop listening to the chat."""
        self._chat.hearers.remove(self._heard)

    def _heard(self, update: Update) -> None:
        if update.kind in _CONCERNS:
            self.call_later(self.refresh_chat)

    def refresh_chat(self) -> None:
        """Show what is set now."""
        if self._chat.revision == self._shown_revision:
            return
        self._shown_revision = self._chat.revision
        rows = option_rows(self._chat)
        if tuple(rows) != self.rows.all:
            self.show(rows)

    def chosen(self, row: Row) -> None:
        """Turn a switch, or offer the choices."""
        if row.key == _MODES:
            self._choose_mode()
            return
        option = self._option(row.key)
        if option is None:
            return
        if option.type == "boolean":
            self._set(option, not option.value)
        else:
            self._offer(option)

    def _option(self, key: str) -> ConfigOption | None:
        wanted = key.removeprefix(_OPTION)
        options = self._chat.transcript.config_options
        return next((one for one in options if one.option_id == wanted), None)

    def _choose_mode(self) -> None:
        modes = self._chat.transcript.modes
        rows = [
            Row(
                mode.mode_id,
                one_line(mode.name) or one_line(mode.mode_id),
                one_line(mode.description or ""),
                current=mode.mode_id == modes.current,
            )
            for mode in modes.available
        ]

        def take(mode_id: str | None) -> None:
            if mode_id is not None:
                self._do(lambda: self._controller.set_mode(self._chat, mode_id))

        self.app.push_screen(ChoicesScreen("Mode", rows), take)

    def _offer(self, option: ConfigOption) -> None:
        def take(value: str | None) -> None:
            if value is not None:
                self._set(option, value)

        self.app.push_screen(ChoicesScreen(one_line(option.name), choice_rows(option)), take)

    def _set(self, option: ConfigOption, value: str | bool) -> None:
        self._do(lambda: self._controller.set_option(self._chat, option.option_id, value))

    def _do(self, work: Callable[[], Awaitable[None]]) -> None:
        async def safely() -> None:
            try:
                await work()
            except AccordError as error:
                self.tell_error(error)
            if self.is_attached:
                self._shown_revision = -1
                self.refresh_chat()

        # Of the app: what the agent asks meanwhile is answered when this screen is closed.
        self.app.run_worker(safely(), group="set")


class ChoicesScreen(NamePicker):
    """The values of one option."""

    def __init__(self, name: str, rows: Sequence[Row]) -> None:
        super().__init__()
        self._subject = name
        self.show(rows, empty="Nothing to choose from.")

    def on_mount(self) -> None:
        """Set the title to the option's name."""
        super().on_mount()
        # As content: a title that is a string is read as markup.
        self.query_one(Vertical).border_title = Content(self._subject)


def option_rows(chat: Chat) -> list[Row]:
    """The rows for all that can be set, and the folders that the agent may work in."""
    transcript = chat.transcript
    options = options_in_order(transcript.config_options)
    rows: list[Row] = []
    if transcript.modes.available and not any(one.category == "mode" for one in options):
        names = [one_line(mode.name) for mode in transcript.modes.available]
        rows.append(Row(_MODES, "Mode", _summed(names), one_line(mode_name(transcript))))
    rows += [_option_row(option) for option in options]
    if chat.roots:
        group = _FOLDERS
        rows.append(_folder_row(chat.folder, "the project", group))
        rows += [_folder_row(root, "added by you", group) for root in chat.roots]
    return rows


def _option_row(option: ConfigOption) -> Row:
    name = one_line(option.name) or one_line(option.option_id)
    described = one_line(option.description or "")
    value = one_line(value_name(option))
    if option.type == "unknown":
        why = "of an unknown type; it cannot be changed"
        return Row(_OPTION + option.option_id, name, described or why, value, enabled=False)
    if option.type == "select":
        described = described or _summed([one_line(one.name) for one in option.choices])
    return Row(_OPTION + option.option_id, name, described, value)


def _folder_row(folder: str, what: str, group: str) -> Row:
    title = one_line(shortened(folder))
    return Row(_FOLDER + folder, title, note=what, group=group, enabled=False)


def _summed(names: list[str]) -> str:
    more = ", …" if len(names) > _CHOICES_SUMMED_MAX else ""
    return ", ".join(names[:_CHOICES_SUMMED_MAX]) + more


def choice_rows(option: ConfigOption) -> list[Row]:
    """The values of an option, under the headings that the agent gave them."""
    return [
        Row(
            choice.value,
            one_line(choice.name) or one_line(choice.value),
            one_line(choice.description or ""),
            group=one_line(choice.group_name or choice.group_id or ""),
            current=choice.value == option.value,
            words=one_line(choice.value),
        )
        for choice in option.choices
    ]
