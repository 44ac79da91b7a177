"""What each key does: the actions of `model/keys.py` on the chat in front.

Must not know which key it was, nor how the screen is put together.

What always holds: an action that cannot be done says why; none fails.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from accord.terminal.model.prompt.draft import Draft
from accord.terminal.screen.chrome.problem_bar import ProblemBar
from accord.terminal.screen.chrome.status_line import StatusLine
from accord.terminal.screen.chrome.tab_bar import TabBar
from accord.terminal.screen.click_targets import TargetsApp
from accord.terminal.screen.prompt import PromptEditor

if TYPE_CHECKING:
    from accord.terminal.model.chat import Chat

AGAIN_SECONDS = 2.0
"""Ctrl-C pressed twice within this time leaves."""


class ActingApp(TargetsApp):
    """Does what a key asks for, on the chat in front."""

    _interrupted_at = float("-inf")

    # ---- the prompt and the turn

    def on_prompt_editor_submitted(self, event: PromptEditor.Submitted) -> None:
        """Something was said."""
        event.stop()
        chat = self.chat
        if chat is None:
            return
        if event.draft.is_empty:
            # Nothing to say: then the first remedy of what is wrong is meant.
            if chat.problem is not None:
                self.action_retry()
            elif chat.suggestions and not chat.is_busy:
                self._say(chat, Draft(chat.suggestions[0]))
            return
        self._say(chat, event.draft)

    def _say(self, chat: Chat, draft: Draft) -> None:
        if self.pane is not None and not chat.is_busy:
            # Who says something wants to see the answer.
            self.pane.conversation.action_scroll_end()
        self.desk.send(chat, draft)

    def action_stop(self) -> None:
        """Stop the turn; where nothing runs, put away what went wrong."""
        chat = self.chat
        if chat is None:
            return
        if not chat.is_busy and chat.problem is not None and "dismiss" in chat.problem.remedies:
            chat.set_problem(None)
            return
        self.desk.stop(chat)

    def on_prompt_editor_scroll_asked(self, event: PromptEditor.ScrollAsked) -> None:
        """The page keys scroll what was said, wherever the cursor is."""
        event.stop()
        if self.pane is not None:
            self.pane.scroll_pages(event.pages)

    def on_status_line_stop_pressed(self, event: StatusLine.StopPressed) -> None:
        """The visible Stop was clicked."""
        event.stop()
        self.action_stop()

    def action_interrupt(self) -> None:
        """Ctrl-C: copies what is marked, stops what runs, empties the prompt, at last leaves."""
        marked = self.screen.get_selected_text()
        if marked:
            self.copy_to_clipboard(marked)
            self.screen.clear_selection()
            return
        chat, pane = self.chat, self.pane
        if pane is not None and pane.prompt.copy_selection():
            return
        if chat is not None and chat.is_busy and len(self.screen_stack) == 1:
            self.desk.stop(chat)
            return
        if pane is not None and len(self.screen_stack) == 1 and pane.prompt.clear_text():
            return
        if monotonic() - self._interrupted_at < AGAIN_SECONDS:
            self.call_later(self.leave, 0)
            return
        self._interrupted_at = monotonic()
        self.tell("Press Ctrl-C again to leave.")

    def action_retry(self) -> None:
        """Do again what failed; where something was not allowed, offer to ask for it again."""
        chat, pane = self.chat, self.pane
        if chat is None or pane is None:
            return
        if chat.problem is not None:
            self.desk.retry(chat)
        elif chat.denied_request is not None:
            from accord.terminal.model.permissions.request_text import retry_prompt

            pane.prompt.take_draft(retry_prompt(chat.denied_request))
        else:
            self.tell("There is nothing to try again.")

    def on_problem_bar_chosen(self, event: ProblemBar.Chosen) -> None:
        """A remedy was clicked."""
        event.stop()
        chat = self.chat
        if chat is None:
            return
        if event.remedy == "dismiss":
            chat.set_problem(None)
        elif event.remedy == "restart":
            self.desk.restart(chat)
        elif event.remedy == "new_session":
            self.desk.new_session(chat)
        else:
            self.desk.retry(chat)
        if self.pane is not None:
            self.pane.take_focus()

    # ---- sessions

    def action_cycle_mode(self) -> None:
        """The next mode."""
        chat = self.chat
        if chat is not None:
            self._soon(lambda: self.desk.cycle_mode(chat))

    def action_pick_options(self) -> None:
        """Modes, models and options."""
        from accord.terminal.screen.pickers import OptionsScreen

        if self.chat is not None:
            self.push_screen(OptionsScreen(self.chat, self.desk))

    def action_pick_session(self) -> None:
        """Earlier sessions."""
        from accord.terminal.screen.pickers import SessionsScreen

        def chosen(chat: Chat | None) -> None:
            if chat is not None:
                self.show_chat(chat)

        if self.chat is not None:
            self.push_screen(SessionsScreen(self.chat, self.desk), chosen)

    def action_new_tab(self) -> None:
        """Another session with the same agent."""
        chat = self.chat
        if chat is not None:
            self._soon(lambda: self.desk.open_chat(chat))

    def action_close_tab(self) -> None:
        """Close the tab in front; the last one is the program."""
        chat = self.chat
        if chat is not None:
            self._close(chat)

    def _close(self, chat: Chat) -> None:
        if len(self.desk.chats) < 2:
            self.tell("This is the only tab; leave the program to close it.")
            return
        self._soon(lambda: self.desk.close_chat(chat))

    def _turn_tab(self, step: int) -> None:
        chats, chat = self.desk.chats, self.chat
        if chat in chats and len(chats) > 1:
            self.show_chat(chats[(chats.index(chat) + step) % len(chats)])

    def action_next_tab(self) -> None:
        """The tab to the right."""
        self._turn_tab(1)

    def action_previous_tab(self) -> None:
        """The tab to the left."""
        self._turn_tab(-1)

    def on_tab_bar_tab_chosen(self, event: TabBar.TabChosen) -> None:
        """A tab was clicked."""
        event.stop()
        self.show_chat(event.chat)

    def on_tab_bar_tab_closed(self, event: TabBar.TabClosed) -> None:
        """The mark that closes a tab was clicked."""
        event.stop()
        self._close(event.chat)

    def action_log_in(self) -> None:
        """Log in to the agent."""
        chat = self.chat
        if chat is not None:
            self._soon(lambda: self.desk.log_in(chat))

    def action_log_out(self) -> None:
        """Log out of the agent."""
        chat = self.chat
        if chat is not None:
            self._soon(lambda: self.desk.log_out(chat))

    # ---- looking

    def action_toggle_fold(self) -> None:
        """Fold or unfold the entry."""
        if self.pane is not None:
            self.pane.conversation.toggle_fold()

    def action_fold_all(self) -> None:
        """Fold or unfold all."""
        if self.pane is not None:
            self.pane.conversation.fold_all()

    def action_previous_entry(self) -> None:
        """The entry above."""
        if self.pane is not None:
            self.pane.conversation.select(-1)

    def action_next_entry(self) -> None:
        """The entry below."""
        if self.pane is not None:
            self.pane.conversation.select(1)

    def action_details(self) -> None:
        """What the tool was given and gave back."""
        if self.pane is not None:
            self.pane.conversation.toggle_fold("details")

    def action_copy(self) -> None:
        """The entry as text."""
        if self.pane is not None:
            text = self.pane.conversation.text_of_selected()
            if text:
                self.copy_to_clipboard(text)
                self.tell("Copied.")

    def action_side_by_side(self) -> None:
        """Diffs inline or side by side."""
        now = self.set_side_by_side(None)
        self.tell("Diffs side by side, where there is room." if now else "Diffs inline.")

    def action_toggle_plan(self) -> None:
        """Show or hide the plan."""
        if self.pane is not None:
            self.pane.plan.toggle()

    def action_follow(self) -> None:
        """Follow the file that the agent works on."""
        if self.pane is not None:
            self.pane.toggle_follow()

    def action_review(self) -> None:
        """What the agent changed."""
        from accord.terminal.screen.inspectors.review_screen import ReviewScreen

        if self.chat is not None:
            self.push_screen(ReviewScreen(self.chat, self.desk))

    def action_traffic(self) -> None:
        """Every message between us and the agent."""
        from accord.terminal.screen.inspectors.traffic_screen import TrafficScreen

        if self.chat is not None:
            self.push_screen(TrafficScreen(self.chat, self.desk))

    def action_grants(self) -> None:
        """What agents may do."""
        from accord.terminal.screen.inspectors.permission_rules_screen import GrantsScreen

        self.push_screen(GrantsScreen(self.desk, None if self.chat is None else self.chat.folder))

    def action_theme(self) -> None:
        """One of the four, seen while choosing."""
        from accord.terminal.screen.pickers import ThemeScreen

        self.push_screen(ThemeScreen(self.theme))

    # ---- the program

    def action_palette(self) -> None:
        """Everything by name."""
        from accord.terminal.screen.pickers import PaletteScreen

        def chosen(name: str | None) -> None:
            if name is not None:
                self.call_later(self._act, name)

        self.push_screen(PaletteScreen(self.desk.settings.actions), chosen)

    async def _act(self, name: str) -> None:
        if not await self.run_action(name) and self.pane is not None:
            await self.run_action(name, self.pane.prompt)

    def action_help(self) -> None:
        """The keys."""
        from accord.terminal.screen.help_screen import HelpScreen

        self.push_screen(HelpScreen(self.desk.settings.actions))

    async def action_quit(self) -> None:
        """Leave."""
        await self.leave(0)


__all__ = ["ActingApp"]
