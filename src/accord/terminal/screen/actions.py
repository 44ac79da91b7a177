"""What each key does: the actions of `model/keys.py` on the chat in front.

Must not know which key it was, nor how the screen is put together.

What always holds: an action that cannot be done says why; none fails.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING

from textual.app import App
from textual.notifications import SeverityLevel

from accord.errors import AccordError
from accord.terminal.model.cleaning import harmless, one_line
from accord.terminal.model.drafting import Draft
from accord.terminal.render.block import CopyText, OpenFile, OpenLink, OpenSession, Target
from accord.terminal.screen.conversation import Conversation
from accord.terminal.screen.problem_bar import ProblemBar
from accord.terminal.screen.prompt import PromptEditor
from accord.terminal.screen.status_line import StatusLine
from accord.terminal.screen.tab_bar import TabBar

if TYPE_CHECKING:
    from accord.terminal.engine.desk import Desk
    from accord.terminal.model.chat import Chat
    from accord.terminal.screen.pane import ChatPane

TOLD_SECONDS = 6.0
AGAIN_SECONDS = 2.0
"""Ctrl-C pressed twice within this time leaves."""


class ActingApp(App[int]):
    """The half of the app that does what is asked; the other half says what is in front."""

    desk: Desk
    _interrupted_at = float("-inf")

    @property
    def chat(self) -> Chat | None:
        """The chat in front."""
        raise NotImplementedError

    @property
    def pane(self) -> ChatPane | None:
        """Its pane."""
        raise NotImplementedError

    def show_chat(self, chat: Chat) -> None:
        """Bring a chat to the front."""
        raise NotImplementedError

    def set_side_by_side(self, wanted: bool | None) -> bool:
        """Show diffs so, or None for the other way; how they are shown now."""
        raise NotImplementedError

    async def leave(self, code: int = 0) -> None:
        """End the agents, then the program."""
        raise NotImplementedError

    def tell(self, text: str, severity: SeverityLevel = "information") -> None:
        """A sentence for a moment; what an agent said in it is made harmless."""
        self.notify(harmless(text), severity=severity, markup=False, timeout=TOLD_SECONDS)

    async def try_to(self, work: Awaitable[object]) -> bool:
        """Do it, and say why where it cannot be done."""
        try:
            await work
        except (AccordError, OSError) as error:
            self.tell(str(error), "error")
            return False
        return True

    def _soon(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do it beside the keys: an agent may take its time."""

        async def run() -> None:
            await self.try_to(work())

        self.run_worker(run(), exit_on_error=False)

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
                self.desk.send(chat, Draft(chat.suggestions[0]))
            return
        self.desk.send(chat, event.draft)

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
            from accord.terminal.model.permission_words import retry_prompt

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
        from accord.terminal.screen.plan_panel import PlanPanel

        if self.pane is not None:
            self.pane.query_one(PlanPanel).toggle()

    def action_follow(self) -> None:
        """Follow the file that the agent works on."""
        if self.pane is not None:
            self.pane.toggle_follow()

    def action_review(self) -> None:
        """What the agent changed."""
        from accord.terminal.screen.review import ReviewScreen

        if self.chat is not None:
            self.push_screen(ReviewScreen(self.chat, self.desk))

    def action_traffic(self) -> None:
        """Every message between us and the agent."""
        from accord.terminal.screen.traffic import TrafficScreen

        if self.chat is not None:
            self.push_screen(TrafficScreen(self.chat, self.desk))

    def action_grants(self) -> None:
        """What agents may do."""
        from accord.terminal.screen.dialogs.grants import GrantsScreen

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
        from accord.terminal.screen.help import HelpScreen

        self.push_screen(HelpScreen(self.desk.settings.actions))

    def action_help_when_empty(self) -> None:
        """The keys, by a letter that is otherwise typed."""
        self.action_help()

    async def action_quit(self) -> None:
        """Leave."""
        await self.leave(0)

    # ---- what a line of the conversation can be used for

    def on_conversation_target_chosen(self, event: Conversation.TargetChosen) -> None:
        """A line was clicked, or Enter was pressed on it."""
        event.stop()
        self.use(event.target)

    def use(self, target: Target) -> None:
        """Do what a line means."""
        if isinstance(target, OpenFile):
            self._open_file(target)
        elif isinstance(target, CopyText):
            self.copy_to_clipboard(target.text)
            self.tell("Copied.")
        elif isinstance(target, OpenLink):
            # Never opened by a click on what an agent wrote: copied, so that it is seen whole.
            self.copy_to_clipboard(target.url)
            self.tell(f"Copied the address: {one_line(target.url)}")
        elif isinstance(target, OpenSession):
            self._open_session(target.session_id)

    def action_open_editor(self) -> None:
        """The file of the entry, in the editor."""
        pane = self.pane
        entry = None if pane is None else pane.conversation.selected
        for place in getattr(entry, "locations", None) or getattr(entry, "diffs", None) or ():
            self._open_file(OpenFile(place.path, getattr(place, "line", None)))
            return
        self.tell("The selected entry names no file.")

    def _open_file(self, target: OpenFile) -> None:
        from accord.terminal.screen.editor import open_in_editor

        if self.chat is not None:
            roots = self.desk.roots(self.chat)
            why = open_in_editor(self, target.path, target.line, roots, self.desk.settings.editor)
            if why:
                self.tell(why, "error")

    def _open_session(self, session_id: str) -> None:
        from accord.client.wire import SessionInfo

        chat = self.chat
        if chat is None:
            return
        for other in self.desk.chats:
            if other.session_id == session_id:
                self.show_chat(other)
                return
        info = SessionInfo(session_id, chat.folder)
        self._soon(lambda: self.desk.open_stored(chat, info))


__all__ = ["ActingApp"]
