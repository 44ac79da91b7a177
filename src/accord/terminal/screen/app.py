"""The full screen: tabs of chats, the keys, and the life of the program.

This module does not know how an agent is asked for anything; the controller does that.

Invariants
    * The first frame is drawn before any agent starts, and no key typed until then is lost.
    * Nothing is drawn more often than `DRAWS_PER_SECOND`, and nothing while nothing happens.
    * Whatever ends the program, the agents end first.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from traceback import format_exc
from typing import ClassVar

import anyio
import anyio.to_thread
from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.timer import Timer

from accord.machine.console.control_characters import visible
from accord.machine.processes import exit_on_signal as shutdown
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.engine.garbage_collection import keep_all
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.model.bell_and_title import Attention
from accord.terminal.model.chat import Chat
from accord.terminal.render.content.image_lines import transmissions
from accord.terminal.render.syntax_colours import warm_up
from accord.terminal.screen.chat_pane import ChatPane
from accord.terminal.screen.chat_switcher import ChatSwitcher
from accord.terminal.screen.chrome.footer import Footer
from accord.terminal.screen.chrome.tab_bar import TabBar
from accord.terminal.screen.conversation import Conversation
from accord.terminal.screen.driver import ScreenDriver
from accord.terminal.screen.key_actions import ChatActions
from accord.terminal.screen.key_queue import KeyQueue
from accord.terminal.screen.terminal_hangup import when_gone
from accord.terminal.screen.widget_themes import apply_theme, register_themes

DRAWS_PER_SECOND = 30
DRAWING_SHARE_MAX = 0.25
"""The share of time spent on drawing: slow frames are drawn less often so that keys do not wait."""
DRAWN_SECONDS_MAX = 0.25
"""Changes are drawn after this time at the latest, however slow a frame is."""
LEAVING_SECONDS_MAX = 8.0
"""How long agents may take to end when we quit; they are killed before that."""

# Keys that a focused widget handles first.
_NOT_FIRST = frozenset({"enter", "escape", "question_mark"})
# The descriptor of the terminal's input.
_INPUT = 0
# Actions of the prompt editor, which binds their keys.
_OF_PROMPT = frozenset(
    {"send", "newline", "search_history", "attach", "edit_outside", "edit_queue"}
)


class AccordApp(App[int]):
    """`accord chat` on the full screen."""

    ENABLE_COMMAND_PALETTE = False
    CSS: ClassVar[str] = """
    Screen { layers: base overlay; }
    #panes { height: 1fr; }
    TabBar.-alone { display: none; }
    /* At the top: beneath is what the person types. */
    ToastRack { dock: top; align: right top; margin-bottom: 0; }
    Toast { padding: 0 1; }
    """

    def __init__(
        self,
        controller: ChatController,
        launch: LaunchOptions | None,
        choices: Mapping[str, LaunchOptions] | None = None,
        *,
        suggestions: Sequence[str] = (),
        welcome: str = "",
    ) -> None:
        """Without launch options the user chooses among `choices`.

        Enter on an empty prompt sends the next of `suggestions`; `welcome` is shown first.
        """
        super().__init__()
        self.controller = controller
        # Called when the terminal is gone, because nothing after the app runs then.
        self.on_hang_up: Callable[[], None] | None = None
        self._launch = launch
        self._choices = choices or {}
        self._suggestions = suggestions
        self._welcome = welcome
        self._attention = Attention(bell=controller.settings.bell)
        self.key_queue = KeyQueue(self, super().on_event, self._has_priority)
        # Held, not queried: a screen in front hides them from a query.
        self._tabs = TabBar(controller)
        self._footer = Footer(controller)
        self._chats = ChatSwitcher(
            controller, self.key_queue, self._tabs, self._footer, self._chat_changed
        )
        self._actions = ChatActions(self, self._chats, controller, self.leave)
        self._is_due = False
        self._next_draw = 0.0
        self._seconds: Timer | None = None
        self._controller_is_over = anyio.Event()
        self._is_leaving = False
        self._is_settled = False
        register_themes(self)
        apply_theme(self, controller.settings.theme)

    # ---- start

    def compose(self) -> ComposeResult:
        yield self._tabs
        yield self._chats
        yield self._footer

    async def on_mount(self) -> None:
        """Draw first, then start the agent."""
        self._bind_keys()
        self._seconds = self.set_interval(1.0, self._tick, pause=True)
        lifecycle = self.controller.lifecycle
        lifecycle.on_change = self._chats_changed
        lifecycle.run_in_terminal = self.run_in_terminal
        lifecycle.may_start = anyio.Event()
        self.run_worker(self._serve(), exit_on_error=True)
        self.call_later(self._begin)
        self._listen_to_signals()
        transmissions.on_waiting = self._pictures_wait

    async def _serve(self) -> None:
        try:
            await self.controller.run()
        finally:
            self._controller_is_over.set()

    async def _begin(self) -> None:
        if self._launch is not None:
            await self._open(self._launch)
            return
        from accord.terminal.screen.pickers import AgentsScreen

        agents = {name: " ".join(launch.command) for name, launch in self._choices.items()}
        self.push_screen(AgentsScreen(agents), self._agent_chosen)
        self.call_after_refresh(self.key_queue.open)

    def _agent_chosen(self, name: str | None) -> None:
        if name is None:
            self.call_later(self.leave, 0)
        else:
            self.call_later(self._open, self._choices[name])

    async def _open(self, launch: LaunchOptions) -> None:
        self.key_queue.hold()
        chat = await self.controller.open_chat(launch=launch)
        chat.suggestions.extend(self._suggestions)
        if self._welcome:
            chat.remark(self._welcome)
        await self._chats.sync()
        self.key_queue.release()
        # The frame with the prompt comes before everything that an agent needs.
        self.call_after_refresh(self.controller.lifecycle.may_start.set)

    # ---- chats

    @property
    def chat(self) -> Chat | None:
        """The chat in front."""
        return self._chats.chat

    @property
    def pane(self) -> ChatPane | None:
        """The pane of the chat in front."""
        return self._chats.pane

    def _chats_changed(self) -> None:
        # Keys from here on are for the chat that comes to the front.
        self.key_queue.hold()
        self.call_later(self._sync_chats)
        is_ready = any(chat.phase == "ready" for chat in self.controller.chats)
        if is_ready and not self._is_settled and not self.is_headless:
            # Once only: memory that is freed later must still be found as garbage.
            self._is_settled = True
            self.run_worker(settle(), exit_on_error=False)

    async def _sync_chats(self) -> None:
        await self._chats.sync()
        self.key_queue.release()

    def on_tab_bar_tab_chosen(self, event: TabBar.TabChosen) -> None:
        """Show the tab that was clicked."""
        event.stop()
        self._chats.show_chat(event.chat)

    def on_tab_bar_tab_closed(self, event: TabBar.TabClosed) -> None:
        """Close the tab whose close mark was clicked."""
        event.stop()
        self._actions.close(event.chat)

    def on_conversation_target_chosen(self, event: Conversation.TargetChosen) -> None:
        """Open what a clicked line refers to."""
        event.stop()
        self._actions.targets.use(event.target)

    # ---- drawing

    def _chat_changed(self, chat: Chat) -> None:
        self._attention.chat_changed(chat)
        if self._is_due:
            return
        self._is_due = True
        wait = max(0.0, self._next_draw - monotonic())
        asyncio.get_running_loop().call_later(wait, self.call_later, self._draw)

    def _draw(self) -> None:
        self._is_due = False
        began = monotonic()
        pane = self.pane
        if pane is not None and pane.is_mounted:
            pane.refresh_chat()
            self._footer.refresh_chat()
        self._tabs.refresh_chat()
        # A screen in front may show something of the chat too.
        refresh = getattr(self.screen, "refresh_chat", None)
        if refresh is not None:
            refresh()
        self._tell()
        self._pace()
        rest = min((monotonic() - began) / DRAWING_SHARE_MAX, DRAWN_SECONDS_MAX)
        self._next_draw = began + max(rest, 1 / DRAWS_PER_SECOND)

    def _tick(self) -> None:
        pane = self.pane
        if pane is not None and pane.is_mounted:
            pane.tick()
        self._pace()

    def _pace(self) -> None:
        """Run the one-second timer only while a time is shown."""
        if self._seconds is None:
            return
        runs = any(chat.is_busy or _counts_down(chat) for chat in self.controller.chats)
        (self._seconds.resume if runs else self._seconds.pause)()

    def _tell(self) -> None:
        """Ring the bell and set the window title while the user looks elsewhere."""
        signs = self._attention.take(self.controller.chats)
        if signs.bell and isinstance(self._driver, ScreenDriver):
            self._driver.ring()
        if signs.title is not None:
            self._write(signs.title)

    def bell(self) -> None:
        """Do nothing: the bell rings only if the user has enabled it."""

    def get_driver_class(self) -> type[Driver]:
        """Use our filtering driver, except in tests."""
        found = super().get_driver_class()
        return ScreenDriver if found is LinuxDriver else found

    def _pictures_wait(self) -> None:
        self.call_later(self._send_pictures)

    def _send_pictures(self) -> None:
        self._write(transmissions.take())

    def _write(self, sequence: str) -> None:
        """Write a sequence of our own to the terminal, bypassing the screen."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    def on_app_focus(self) -> None:
        """Note that the terminal has the focus."""
        self._attention.focus(is_here=True)

    def on_app_blur(self) -> None:
        """Note that the terminal lost the focus."""
        self._attention.focus(is_here=False)

    def on_resize(self, event: events.Resize) -> None:
        """Draw the conversations in the new width."""
        del event
        self._chats.redraw()

    def watch_theme(self) -> None:
        """Draw the conversations again: Textual redraws only its own styles."""
        self._chats.redraw()

    # ---- leaving

    def _listen_to_signals(self) -> None:
        if self.is_headless or sys.platform == "win32":
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._ended_by, number)
        when_gone(_INPUT, lambda: self._ended_by(signal.SIGHUP))

    def _ended_by(self, number: signal.Signals) -> None:
        shutdown.begin(number)
        if number is signal.SIGHUP and not os.isatty(_INPUT):
            # The terminal is gone: drawing would block forever.
            self.run_worker(self._leave_without_terminal(), exit_on_error=False)
        else:
            self.call_later(self.leave, 128 + number)

    async def _leave_without_terminal(self) -> None:
        await self._end_agents()
        if self.on_hang_up is not None:
            self.on_hang_up()
        shutdown.finish()
        os._exit(128 + signal.SIGHUP)

    async def _end_agents(self) -> None:
        for pane in self._chats.panes:
            pane.prompt.keep()
        self.controller.leave()
        with anyio.move_on_after(LEAVING_SECONDS_MAX):
            await self._controller_is_over.wait()

    async def leave(self, code: int = 0) -> None:
        """End the agents, then the program."""
        if self._is_leaving:
            return
        self._is_leaving = True
        await self._end_agents()
        self._write(transmissions.forget())
        self.exit(code, return_code=code)

    async def action_quit(self) -> None:
        """End the agents first.  Textual binds Ctrl+Q to this action and would exit at once."""
        await self.leave()

    def _fatal_error(self) -> None:
        """Print the traceback and exit.  Textual's own handler rings the bell and prints local
        variables, which may hold secrets."""
        self._exit_renderables.append(Text(visible(format_exc())))
        self._close_messages_no_wait()

    async def run_in_terminal(self, command: Sequence[str], env: Mapping[str, str]) -> int:
        """Run a program in the terminal while the app is suspended."""
        from accord.client.login import run_in_terminal

        try:
            # Both are needed: without `batch_update` we would draw over the program.
            with self.batch_update(), self.suspend():
                return await run_in_terminal(command, env)
        finally:
            self.refresh(layout=True)

    # ---- keys

    async def on_event(self, event: events.Event) -> None:
        """Queue keys and pasted text; see `App` for everything else."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self.key_queue.put(event)
        else:
            await super().on_event(event)

    def _has_priority(self, key: str) -> bool:
        bindings = self._bindings.key_to_bindings.get(key, ())
        return any(binding.priority for binding in bindings)

    def _bind_keys(self) -> None:
        for action in self.controller.settings.actions:
            if action.name in _OF_PROMPT:
                continue
            for key in action.keys:
                first = key not in _NOT_FIRST
                perform = f"perform({action.name!r})"
                self._bindings.bind(key, perform, action.text, show=False, priority=first)
        self._bindings.bind(
            "ctrl+c", "perform('interrupt')", "copy, stop, or quit", show=False, priority=True
        )

    def action_perform(self, name: str) -> None:
        """Do what a key of `model/key_bindings.py` is bound to."""
        getattr(self._actions, name)()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Refuse keys of the chat while another screen is in front of it."""
        if action == "perform" and len(self.screen_stack) > 1:
            return parameters[0] in ("quit", "interrupt")
        return True


def _counts_down(chat: Chat) -> bool:
    return chat.problem is not None and chat.problem.retry_at is not None


async def settle() -> None:
    """Do in the first idle moment what a key would have to wait for later."""
    await anyio.to_thread.run_sync(warm_up)
    keep_all()
