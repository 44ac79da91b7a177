"""One chat on the screen: the conversation, its surroundings, and the prompt or question.

This module does not know tabs, other chats or keys; the app knows those.

Invariants
    * Exactly one of the prompt and the first open question is there to be typed into; what was
      typed into the prompt stays while a question is answered.
    * Nothing is drawn for a chat that did not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget
from textual.widgets import TextArea

from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.model.chat import Chat
from accord.terminal.model.key_bindings import key_text
from accord.terminal.model.prompt.unsent_prompts import Draft
from accord.terminal.model.questions import Question
from accord.terminal.render.render_options import Look
from accord.terminal.screen.chrome.plan_panel import PlanPanel
from accord.terminal.screen.chrome.problem_bar import ProblemBar
from accord.terminal.screen.chrome.status_line import StatusLine
from accord.terminal.screen.conversation import Conversation
from accord.terminal.screen.prompt import PromptEditor, QueuePanel

if TYPE_CHECKING:
    from accord.terminal.screen.chrome.web_pages_bar import PagesBar
    from accord.terminal.screen.dialogs import Dialog
    from accord.terminal.screen.inspectors.follow_panel import FollowPanel

BESIDE_COLUMNS_MIN = 110
"""The minimum width to show the followed file next to the conversation, not below."""


class ChatPane(Widget):
    """One chat on the screen."""

    DEFAULT_CSS: ClassVar[str] = """
    ChatPane { height: 1fr; width: 1fr; layout: vertical; }
    ChatPane #middle { height: 1fr; layout: vertical; }
    ChatPane.-beside #middle { layout: horizontal; }
    ChatPane Conversation { height: 1fr; width: 1fr; min-height: 3; }
    ChatPane FollowPanel { display: none; }
    ChatPane.-following FollowPanel { display: block; height: 45%; width: 1fr; }
    ChatPane.-following.-beside FollowPanel { height: 1fr; width: 45%; }
    ChatPane #asking { height: auto; max-height: 80%; display: none; }
    ChatPane.-asking #asking { display: block; }
    ChatPane.-asking PromptEditor { display: none; }
    """

    def __init__(self, chat: Chat, controller: ChatController, look: Look, *, follow: bool) -> None:
        super().__init__()
        self.chat = chat
        self._controller = controller
        self._look = look
        self._question: Question | None = None
        self._drawn = -1
        self._follows = follow
        self._followed: FollowPanel | None = None
        self._pages: PagesBar | None = None
        self._dialog: Dialog | None = None
        # Held, not looked for: a pane that is closed is still asked for a moment.
        self.conversation = Conversation(chat, look)
        self.prompt = PromptEditor(chat, controller)
        self.plan = PlanPanel(chat, controller)
        self._queue = QueuePanel(chat, controller)
        retry = controller.settings.keys_of("retry")
        self._problem = ProblemBar(chat, key_text(retry[0]) if retry else "")
        self._status = StatusLine(chat, controller)
        self._middle = Container(id="middle")
        self._asking = Container(id="asking")

    def compose(self) -> ComposeResult:
        with self._middle:
            yield self.conversation
        yield self.plan
        yield self._queue
        yield self._problem
        yield self._status
        yield self._asking
        yield self.prompt

    def on_mount(self) -> None:
        """Show the followed file at the start, if the settings say so."""
        if self._follows:
            self._follows = False
            self.toggle_follow()
        self.refresh_chat()

    def on_resize(self) -> None:
        """Move the followed file below the conversation on a narrow screen."""
        self.set_class(self.size.width >= BESIDE_COLUMNS_MIN, "-beside")
        if self._dialog is not None and self._dialog.is_mounted:
            # Its own size may be as it was, but not the room that it may take.
            self._dialog.call_after_refresh(self._dialog.fit)

    # ---- what the user does

    def on_prompt_editor_submitted(self, event: PromptEditor.Submitted) -> None:
        """Send the prompt; an empty one means the first remedy, or the first suggestion."""
        event.stop()
        chat = self.chat
        if not event.draft.is_empty:
            self._send(event.draft)
        elif chat.problem is not None:
            self.retry()
        elif chat.suggestions and not chat.is_busy:
            self._send(Draft(chat.suggestions[0]))

    def _send(self, draft: Draft) -> None:
        if not self.chat.is_busy:
            # Whoever sends a prompt wants to see the answer.
            self.conversation.action_scroll_end()
        self._controller.send(self.chat, draft)

    def on_prompt_editor_scroll_asked(self, event: PromptEditor.ScrollAsked) -> None:
        """Scroll the conversation by pages, wherever the cursor is."""
        event.stop()
        conversation = self.conversation
        (conversation.action_page_up if event.pages < 0 else conversation.action_page_down)()

    def on_status_line_stop_pressed(self, event: StatusLine.StopPressed) -> None:
        """Stop the turn: the Stop button was clicked."""
        event.stop()
        self.stop()

    def stop(self) -> None:
        """Stop the turn; if none is running, dismiss the problem."""
        chat = self.chat
        if not chat.is_busy and chat.problem is not None and "dismiss" in chat.problem.remedies:
            chat.set_problem(None)
        else:
            self._controller.stop(chat)

    def retry(self) -> bool:
        """Repeat what failed, or offer to ask again for what was denied; False if there is none."""
        chat = self.chat
        if chat.problem is not None:
            self._controller.retry(chat)
            return True
        if chat.denied_request is not None:
            from accord.terminal.model.permissions.denied_request import retry_prompt

            self.prompt.take_draft(retry_prompt(chat.denied_request))
            return True
        return False

    def on_problem_bar_chosen(self, event: ProblemBar.Chosen) -> None:
        """Apply the remedy that was clicked."""
        event.stop()
        chat = self.chat
        if event.remedy == "dismiss":
            chat.set_problem(None)
        elif event.remedy == "restart":
            self._controller.restart(chat)
        elif event.remedy == "new_session":
            self._controller.new_session(chat)
        else:
            self._controller.retry(chat)
        self.take_focus()

    # ---- how it looks

    def set_look(self, look: Look) -> None:
        """Draw in other colours."""
        self._look = look
        self.conversation.set_look(look)

    def toggle_follow(self) -> bool:
        """Show or hide the file that the agent works on; whether it is shown now."""
        self._follows = not self._follows
        self.set_class(self._follows, "-following")
        if self._follows and self._followed is None:
            from accord.terminal.screen.inspectors.follow_panel import FollowPanel

            self._followed = FollowPanel(self.chat, self._controller)
            self._middle.mount(self._followed)
        elif self._follows and self._followed is not None:
            self._followed.refresh_chat()
        return self._follows

    def take_focus(self) -> None:
        """Put the cursor where the user answers now."""
        if not self.is_attached:
            return
        if self._question is None:
            self.prompt.focus()
        elif self._dialog is not None:
            self._dialog.focus()

    def on_dialog_too_early(self, event: Dialog.TooEarly) -> None:
        """Send keys that were typed for the prompt to the prompt when a question appears."""
        event.stop()
        if event.character and not self.prompt.is_empty:
            self.prompt.query_one(TextArea).insert(event.character)

    # ---- drawing

    def refresh_chat(self) -> None:
        """Draw what changed in the chat."""
        if self._drawn == self.chat.revision or not self.is_mounted:
            return
        self._drawn = self.chat.revision
        self.conversation.refresh_chat()
        self._refresh_around()

    def tick(self) -> None:
        """Update the shown times each second."""
        self.conversation.refresh_chat()
        self._status.refresh_chat()
        self._problem.refresh_chat()
        if self._follows and self._followed is not None and self._followed.is_mounted:
            self._followed.refresh_chat()

    def _refresh_around(self) -> None:
        self.plan.refresh_chat()
        self._queue.refresh_chat()
        self._problem.refresh_chat()
        self._status.refresh_chat()
        self.prompt.refresh_chat()
        if self._follows and self._followed is not None and self._followed.is_mounted:
            self._followed.refresh_chat()
        if self.chat.pages or self._pages is not None:
            self._refresh_pages()
        if self._dialog is not None and self._dialog.is_mounted:
            self._dialog.refresh_chat()
        first = self.chat.questions.first
        if first is not self._question:
            self._question = first
            self.call_later(self._show_question)

    def _refresh_pages(self) -> None:
        """Say that a page is waited for; the bar is made for the first one."""
        if self._pages is None:
            from accord.terminal.screen.chrome.web_pages_bar import PagesBar

            self._pages = PagesBar(self.chat, self._controller)
            self.mount(self._pages, before=self._status)
        elif self._pages.is_mounted:
            self._pages.refresh_chat()

    async def _show_question(self) -> None:
        """Put the first open question in the place of the prompt, or the prompt back."""
        if not self.is_attached:
            return
        place, question = self._asking, self._question
        had_focus = self._has_focus()
        self._dialog = None
        await place.remove_children()
        if question is not self._question or not place.is_attached:
            return
        self.set_class(question is not None, "-asking")
        if question is not None:
            from accord.terminal.screen.dialogs import dialog_for

            self._dialog = dialog_for(question, self.chat, self._controller)
            await place.mount(self._dialog)
        if had_focus:
            self.call_after_refresh(self.take_focus)

    def _has_focus(self) -> bool:
        focused = self.screen.focused
        return focused is None or self in focused.ancestors_with_self
