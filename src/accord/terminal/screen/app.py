"""The full screen: tabs of chats, the keys, and the life of the program.

Must not know how anything is asked of an agent: the desk does that.

What always holds
    * The first picture is there before any agent is started; what is typed then is not lost.
    * Nothing is drawn more often than `DRAWS_PER_SECOND`, and nothing at all while nothing happens.
    * Whatever ends the program, the agents are ended before it.
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
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.timer import Timer
from textual.widgets import ContentSwitcher

from accord.machine.console.control_characters import visible
from accord.machine.processes import shutdown
from accord.terminal.engine.chat_controller import Desk
from accord.terminal.engine.launch_options import Order
from accord.terminal.model.bell_and_title import Attention
from accord.terminal.model.chat import Chat
from accord.terminal.render.content.image_lines import image_mode, transmissions
from accord.terminal.render.render_options import Look
from accord.terminal.screen.actions import ActingApp
from accord.terminal.screen.chat_pane import ChatPane
from accord.terminal.screen.chrome.footer import Footer
from accord.terminal.screen.chrome.tab_bar import TabBar
from accord.terminal.screen.driver import ScreenDriver
from accord.terminal.screen.terminal_hangup import when_gone
from accord.terminal.screen.themes import palette_for, register_themes, wear
from accord.terminal.screen.warm_up import settle

DRAWS_PER_SECOND = 30
DRAWING_SHARE_MAX = 0.25
"""Of the time: what takes long to draw is drawn less often, so that keys are not kept waiting."""
DRAWN_SECONDS_MAX = 0.25
"""However long it takes, what comes is drawn so often."""
LEAVING_SECONDS_MAX = 8.0
"""So long agents may take to end when we leave; they are killed before that."""

# Keys that the editor of lines would take for itself: ours come first.
_NOT_FIRST = frozenset({"enter", "escape", "question_mark"})
# Where the terminal's keys come from.
_INPUT = 0
# What the prompt itself does with its keys.
_OF_PROMPT = frozenset(
    {"send", "newline", "search_history", "attach", "edit_outside", "edit_queue"}
)


class AccordApp(ActingApp):
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
        desk: Desk,
        order: Order | None,
        choices: Mapping[str, Order] | None = None,
        *,
        suggestions: Sequence[str] = (),
        welcome: str = "",
    ) -> None:
        """Without an order the person chooses among `choices`.

        `suggestions` are what Enter on an empty prompt says, one after the other; `welcome` is the
        first thing to be read.
        """
        super().__init__()
        self.desk = desk
        self._order = order
        self._choices = choices or {}
        self._suggestions = suggestions
        # What is to be done where the terminal goes and nothing after us is done any more.
        self.on_hang_up: Callable[[], None] | None = None
        self._welcome = welcome
        self._attention = Attention(bell=desk.settings.bell)
        # Held, not looked for: a screen in front of them hides them from a search.
        self._tabs = TabBar(desk)
        self._footer = Footer(desk)
        self._switcher = ContentSwitcher(id="panes")
        self._panes: dict[int, ChatPane] = {}
        self._active: Chat | None = None
        self._is_due = False
        self._next_draw = 0.0
        self._seconds: Timer | None = None
        self._desk_is_over = anyio.Event()
        self._is_leaving = False
        self._is_settled = False
        self._side_by_side = desk.settings.side_by_side
        register_themes(self)
        wear(self, desk.settings.theme)

    # ---- the picture

    def compose(self) -> ComposeResult:
        yield self._tabs
        yield self._switcher
        yield self._footer

    async def on_mount(self) -> None:
        """Draw first, then start the agent."""
        self._bind_keys()
        self._seconds = self.set_interval(1.0, self._tick, pause=True)
        self.desk.on_change = self._desk_changed
        self.desk.run_in_terminal = self.run_in_terminal
        self.desk.may_start = anyio.Event()
        self.run_worker(self._serve(), exit_on_error=True)
        self.call_later(self._begin)
        self._listen_to_signals()
        transmissions.on_waiting = self._pictures_wait

    async def _serve(self) -> None:
        try:
            await self.desk.run()
        finally:
            self._desk_is_over.set()

    async def _begin(self) -> None:
        if self._order is not None:
            await self._open(self._order)
            return
        from accord.terminal.screen.pickers import AgentsScreen

        agents = {name: " ".join(order.command) for name, order in self._choices.items()}
        self.push_screen(AgentsScreen(agents), self._agent_chosen)
        self.call_after_refresh(self.pass_keys)

    def _agent_chosen(self, name: str | None) -> None:
        if name is None:
            self.call_later(self.leave, 0)
        else:
            self.call_later(self._open, self._choices[name])

    async def _open(self, order: Order) -> None:
        self.hold_keys()
        chat = await self.desk.open_chat(order=order)
        chat.suggestions.extend(self._suggestions)
        if self._welcome:
            chat.remark(self._welcome)
        await self._show_chats()
        self.give_held()
        # The picture with the prompt comes before all that an agent needs.
        self.call_after_refresh(self.desk.may_start.set)

    @property
    def look(self) -> Look:
        """How conversations look now."""
        return Look(
            width=self.size.width,
            palette=palette_for(self.theme),
            side_by_side=self._side_by_side,
            images=image_mode(self.desk.settings.images, os.environ),
        )

    # ---- chats on the screen

    def _desk_changed(self) -> None:
        # What is typed from here on is for the chat that comes to the front.
        self.hold_keys()
        self.call_later(self._renew_chats)
        is_ready = any(chat.phase == "ready" for chat in self.desk.chats)
        if is_ready and not self._is_settled and not self.is_headless:
            # Once: what is closed later is to be found as garbage.
            self._is_settled = True
            self.run_worker(settle(), exit_on_error=False)

    async def _renew_chats(self) -> None:
        await self._show_chats()
        self.give_held()

    async def _show_chats(self) -> None:
        """A pane for each chat, and none for those that are gone."""
        chats = self.desk.chats
        for chat in chats:
            if id(chat) not in self._panes:
                pane = ChatPane(chat, self.desk, self.look, follow=self.desk.settings.follow)
                pane.id = f"pane-{id(chat)}"
                self._panes[id(chat)] = pane
                chat.on_change = lambda chat=chat: self._chat_changed(chat)  # type: ignore[misc]
                await self._switcher.mount(pane)
                self.show_chat(chat)
        there = {id(chat) for chat in chats}
        for key in [one for one in self._panes if one not in there]:
            await self._panes.pop(key).remove()
        if self._active is not None and id(self._active) not in there:
            self._active = None
            if chats:
                self.show_chat(chats[-1])
        self._tabs.set_class(len(chats) < 2, "-alone")
        self._tabs.refresh_chat()

    def show_chat(self, chat: Chat) -> None:
        """Bring a chat to the front."""
        pane = self._panes.get(id(chat))
        if pane is None:
            return
        # What is typed from here on is for this chat's prompt.
        self.hold_keys()
        self._active = chat
        self._switcher.current = pane.id
        self._footer.show(chat)
        self._tabs.show(chat)
        pane.refresh_chat()
        self.call_after_refresh(self._focus, pane)

    def _focus(self, pane: ChatPane) -> None:
        pane.take_focus()
        # Behind the focus, which is not there before what is asked of the app now is done.
        self.call_later(self.give_held)

    @property
    def chat(self) -> Chat | None:
        """The chat in front."""
        return self._active

    @property
    def pane(self) -> ChatPane | None:
        """Its pane."""
        return None if self._active is None else self._panes.get(id(self._active))

    # ---- drawing, no more often than needed

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
        # A screen in front may have something to show of the chat too.
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
        """The clock runs only while somebody looks at a time."""
        if self._seconds is None:
            return
        runs = any(chat.is_busy or _counts_down(chat) for chat in self.desk.chats)
        (self._seconds.resume if runs else self._seconds.pause)()

    def _tell(self) -> None:
        """The bell and the title of the window, where the person looks elsewhere."""
        signs = self._attention.take(self.desk.chats)
        if signs.bell and isinstance(self._driver, ScreenDriver):
            self._driver.ring()
        if signs.title is not None:
            self._write(signs.title)

    def bell(self) -> None:
        """Nothing: Textual rings where it likes; who wants to be called has said so."""

    def get_driver_class(self) -> type[Driver]:
        """The one that lets nothing pass but the screen; tests have theirs."""
        found = super().get_driver_class()
        return ScreenDriver if found is LinuxDriver else found

    def _pictures_wait(self) -> None:
        self.call_later(self._send_pictures)

    def _send_pictures(self) -> None:
        self._write(transmissions.take())

    def _write(self, sequence: str) -> None:
        """To the terminal itself, beside the screen: our own words only."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    def on_app_focus(self) -> None:
        """The person looks here."""
        self._attention.focus(is_here=True)

    def on_app_blur(self) -> None:
        """The person looks elsewhere."""
        self._attention.focus(is_here=False)

    def on_resize(self, event: events.Resize) -> None:
        """The pictures fit the new width; each view sees to its own."""
        del event
        self._redraw_all()

    def watch_theme(self) -> None:
        """Other colours: the conversations are drawn by themselves."""
        self._redraw_all()

    def set_side_by_side(self, wanted: bool | None) -> bool:
        """See `ActingApp`."""
        self._side_by_side = not self._side_by_side if wanted is None else wanted
        self._redraw_all()
        return self._side_by_side

    def _redraw_all(self) -> None:
        for pane in self._panes.values():
            if pane.is_mounted:
                pane.set_look(self.look)

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
            # The terminal is gone: nothing can be drawn, and who tries waits for ever.
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
        for pane in self._panes.values():
            if pane.is_mounted:
                pane.prompt.keep()
        self.desk.leave()
        with anyio.move_on_after(LEAVING_SECONDS_MAX):
            await self._desk_is_over.wait()

    async def leave(self, code: int = 0) -> None:
        """End the agents, then the program."""
        if self._is_leaving:
            return
        self._is_leaving = True
        await self._end_agents()
        self._write(transmissions.forget())
        self.exit(code, return_code=code)

    def _fatal_error(self) -> None:
        """End with the lines of an error.  Textual's own page rings, and prints local variables,
        which may hold secrets."""
        self._exit_renderables.append(Text(visible(format_exc())))
        self._close_messages_no_wait()

    async def run_in_terminal(self, command: Sequence[str], env: Mapping[str, str]) -> int:
        """Run a program on the terminal itself, our picture put aside."""
        from accord.client.login import run_in_terminal

        try:
            # Both: `suspend` gives the terminal away, without the other we would draw over it.
            with self.batch_update(), self.suspend():
                return await run_in_terminal(command, env)
        finally:
            self.refresh(layout=True)

    # ---- keys

    def _bind_keys(self) -> None:
        for action in self.desk.settings.actions:
            if action.name in _OF_PROMPT:
                continue
            for key in action.keys:
                first = key not in _NOT_FIRST
                self._bindings.bind(key, action.name, action.text, show=False, priority=first)
        self._bindings.bind(
            "ctrl+c", "interrupt", "copy, stop, or leave", show=False, priority=True
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Our keys are for the chat: a screen in front of it has its own."""
        del parameters
        is_ours = any(one.name == action for one in self.desk.settings.actions)
        if is_ours and len(self.screen_stack) > 1:
            return action == "quit"
        return True


def _counts_down(chat: Chat) -> bool:
    return chat.problem is not None and chat.problem.retry_at is not None


__all__ = ["AccordApp"]
