"""What each key does: the actions of `model/key_bindings.py`, on the chat in front.

This module does not know which key was pressed.

Invariant: an action that is not possible says why; none raises.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING

from textual.app import App

from accord.terminal.render.block import OpenFile
from accord.terminal.screen.click_targets import ClickTargets
from accord.terminal.screen.notifications import notify, run_in_background

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController
    from accord.terminal.model.chat import Chat
    from accord.terminal.screen.chat_switcher import ChatSwitcher

AGAIN_SECONDS = 2.0
"""Pressing Ctrl-C twice within this time quits."""


class ChatActions:
    """One method for each action of the app.  Guards the invariant of this module."""

    def __init__(
        self,
        app: App[int],
        chats: ChatSwitcher,
        controller: ChatController,
        quit_app: Callable[[], Awaitable[None]],
    ) -> None:
        self._app = app
        self._chats = chats
        self._controller = controller
        self._quit_app = quit_app
        self.targets = ClickTargets(app, chats, controller)
        self._interrupted_at = float("-inf")

    def _tell(self, text: str) -> None:
        notify(self._app, text)

    # ---- the turn

    def stop(self) -> None:
        """Stop the turn; if none is running, dismiss the problem."""
        if self._chats.pane is not None:
            self._chats.pane.stop()

    def retry(self) -> None:
        """Repeat what failed; after a denial, offer to ask for it again."""
        if self._chats.pane is not None and not self._chats.pane.retry():
            self._tell("Nothing to retry.")

    def interrupt(self) -> None:
        """Handle Ctrl-C: copy the selection, stop the turn, clear the prompt, or quit."""
        app, chat, pane = self._app, self._chats.chat, self._chats.pane
        marked = app.screen.get_selected_text()
        if marked:
            app.copy_to_clipboard(marked)
            app.screen.clear_selection()
            return
        if pane is not None and pane.prompt.copy_selection():
            return
        is_in_front = len(app.screen_stack) == 1
        if chat is not None and chat.is_busy and is_in_front:
            self._controller.stop(chat)
            return
        if pane is not None and is_in_front and pane.prompt.clear_text():
            return
        if monotonic() - self._interrupted_at < AGAIN_SECONDS:
            app.call_later(self._quit_app)
            return
        self._interrupted_at = monotonic()
        self._tell("Press Ctrl-C again to quit.")

    # ---- sessions

    def cycle_mode(self) -> None:
        """Switch to the next mode."""
        self._with_chat(self._controller.cycle_mode)

    def new_tab(self) -> None:
        """Open another session with the same agent."""
        self._with_chat(self._controller.open_chat)

    def log_in(self) -> None:
        """Log in to the agent."""
        self._with_chat(self._controller.log_in)

    def log_out(self) -> None:
        """Log out of the agent."""
        self._with_chat(self._controller.log_out)

    def _with_chat(self, work: Callable[[Chat], Awaitable[object]]) -> None:
        chat = self._chats.chat
        if chat is not None:
            run_in_background(self._app, lambda: work(chat))

    def pick_options(self) -> None:
        """Show modes, models and options."""
        from accord.terminal.screen.pickers import OptionsScreen

        if self._chats.chat is not None:
            self._app.push_screen(OptionsScreen(self._chats.chat, self._controller))

    def pick_session(self) -> None:
        """Show the earlier sessions of the agent."""
        from accord.terminal.screen.pickers import SessionsScreen

        def chosen(chat: Chat | None) -> None:
            if chat is not None:
                self._chats.show_chat(chat)

        if self._chats.chat is not None:
            self._app.push_screen(SessionsScreen(self._chats.chat, self._controller), chosen)

    def people(self) -> None:
        """Show the people of the session."""
        from accord.terminal.screen.pickers import PeopleScreen

        if self._chats.chat is not None:
            self._app.push_screen(PeopleScreen(self._chats.chat, self._controller))

    def close_tab(self) -> None:
        """Close the tab in front."""
        if self._chats.chat is not None:
            self.close(self._chats.chat)

    def close(self, chat: Chat) -> None:
        """Close the tab of a chat, unless it is the only one."""
        if len(self._controller.chats) < 2:
            self._tell("This is the only tab. Quit to close it.")
            return
        run_in_background(self._app, lambda: self._controller.close_chat(chat))

    def next_tab(self) -> None:
        """Show the tab to the right."""
        self._turn_tab(1)

    def previous_tab(self) -> None:
        """Show the tab to the left."""
        self._turn_tab(-1)

    def _turn_tab(self, step: int) -> None:
        chats, chat = self._controller.chats, self._chats.chat
        if chat in chats and len(chats) > 1:
            self._chats.show_chat(chats[(chats.index(chat) + step) % len(chats)])

    # ---- entries of the conversation

    def toggle_fold(self) -> None:
        """Fold or unfold the entry."""
        if self._chats.pane is not None:
            self._chats.pane.conversation.toggle_fold()

    def fold_all(self) -> None:
        """Fold or unfold all entries."""
        if self._chats.pane is not None:
            self._chats.pane.conversation.fold_all()

    def previous_entry(self) -> None:
        """Select the entry above."""
        if self._chats.pane is not None:
            self._chats.pane.conversation.select(-1)

    def next_entry(self) -> None:
        """Select the entry below."""
        if self._chats.pane is not None:
            self._chats.pane.conversation.select(1)

    def details(self) -> None:
        """Show the raw input and output of the tool."""
        if self._chats.pane is not None:
            self._chats.pane.conversation.toggle_fold("details")

    def copy(self) -> None:
        """Copy the entry as text."""
        if self._chats.pane is not None:
            text = self._chats.pane.conversation.text_of_selected()
            if text:
                self._app.copy_to_clipboard(text)
                self._tell("Copied.")

    def open_editor(self) -> None:
        """Open the file of the entry in the editor."""
        pane = self._chats.pane
        entry = None if pane is None else pane.conversation.selected
        for place in getattr(entry, "locations", None) or getattr(entry, "diffs", None) or ():
            self.targets.open_file(OpenFile(place.path, getattr(place, "line", None)))
            return
        self._tell("The selected entry names no file.")

    def side_by_side(self) -> None:
        """Show diffs inline or side by side."""
        now = self._chats.toggle_side_by_side()
        self._tell("Diffs are side by side where there is room." if now else "Diffs are inline.")

    # ---- panels and screens

    def toggle_plan(self) -> None:
        """Show or hide the plan."""
        if self._chats.pane is not None:
            self._chats.pane.plan.toggle()

    def follow(self) -> None:
        """Show or hide the file that the agent is working on."""
        if self._chats.pane is not None:
            self._chats.pane.toggle_follow()

    def review(self) -> None:
        """Show what the agent changed."""
        from accord.terminal.screen.inspectors.review_screen import ReviewScreen

        if self._chats.chat is not None:
            self._app.push_screen(ReviewScreen(self._chats.chat, self._controller))

    def traffic(self) -> None:
        """Show all messages exchanged with the agent."""
        from accord.terminal.screen.inspectors.traffic_screen import TrafficScreen

        if self._chats.chat is not None:
            self._app.push_screen(TrafficScreen(self._chats.chat, self._controller))

    def grants(self) -> None:
        """Show the permission rules and remembered answers."""
        from accord.terminal.screen.inspectors.permission_rules_screen import GrantsScreen

        chat = self._chats.chat
        folder = None if chat is None else chat.folder
        self._app.push_screen(GrantsScreen(self._controller, folder))

    def theme(self) -> None:
        """Choose a theme, with a preview."""
        from accord.terminal.screen.pickers import ThemeScreen

        self._app.push_screen(ThemeScreen(self._app.theme))

    def palette(self) -> None:
        """Show the command palette."""
        from accord.terminal.screen.pickers import PaletteScreen

        def chosen(name: str | None) -> None:
            if name is not None:
                self._app.call_later(self._run_by_name, name)

        self._app.push_screen(PaletteScreen(self._controller.settings.actions), chosen)

    async def _run_by_name(self, name: str) -> None:
        if hasattr(self, name):
            await self._app.run_action(f"perform({name!r})")
        elif self._chats.pane is not None:
            await self._app.run_action(name, self._chats.pane.prompt)

    def help(self) -> None:
        """Show the keyboard shortcuts."""
        from accord.terminal.screen.help_screen import HelpScreen

        self._app.push_screen(HelpScreen(self._controller.settings.actions))

    def quit(self) -> None:
        """End the agents and quit."""
        self._app.call_later(self._quit_app)
