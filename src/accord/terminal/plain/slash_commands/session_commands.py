"""Commands about the session: its mode, model and options, other sessions, logins.

This module does not know how lines are read, nor the other commands.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from accord.errors import AccordError
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.session_settings import mode_name, options_in_order, value_name
from accord.terminal.model.prompt.unsent_prompts import Draft
from accord.terminal.model.text.display_text import one_line
from accord.terminal.plain.dialogs.typed_choice import meant_value, numbered
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.transcript import ConfigOption

SESSIONS_SHOWN_MAX = 20
"""Listed sessions; others can be named by their id."""


class CommandContext(Protocol):
    """The part of the conversation loop that commands use."""

    @property
    def chat(self) -> Chat:
        """The chat that is currently shown."""
        ...

    def turn_to(self, chat: Chat) -> None:
        """Switch to another chat, and close the old one when the new one is open."""
        ...

    def leave(self) -> None:
        """Quit the conversation loop."""
        ...

    def send(self, draft: Draft) -> None:
        """Send a prompt to the agent, now or when it is done."""
        ...

    async def edit(self, command: Sequence[str]) -> int:
        """Run an editor in the user's terminal and return its exit code."""
        ...

    def start(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run something in the background that may ask the user; report a failure."""
        ...


class SessionCommands:
    """Commands about sessions.  Guards: a number refers to the latest list."""

    def __init__(
        self, controller: ChatController, context: CommandContext, printer: ChatPrinter
    ) -> None:
        self._controller = controller
        self._context = context
        self._printer = printer
        # The latest list, so that its entries can be named by number.
        self._sessions: list[str] = []

    @property
    def _chat(self) -> Chat:
        return self._context.chat

    def _say(self, text: str) -> None:
        self._printer.said("", text)

    async def mode(self, given: str) -> None:
        """Show or set the mode."""
        modes = self._chat.transcript.modes
        if not modes.available:
            raise AccordError("The agent offers no modes.")
        if not given:
            now = mode_name(self._chat.transcript)
            rows = [(one.name, one.description or "") for one in modes.available]
            numbered(self._printer, f"The mode is {one_line(now)}. Available modes:", rows)
            return
        pairs = [(one.mode_id, one.name) for one in modes.available]
        await self._controller.set_mode(self._chat, meant_value(given, pairs))
        self._say(f"The mode is {one_line(mode_name(self._chat.transcript))}.")

    async def model(self, given: str) -> None:
        """Show or set the model."""
        options = self._chat.transcript.config_options
        option = next((one for one in options if one.category == "model"), None)
        if option is None:
            raise AccordError("The agent does not offer a choice of models.")
        await self._option(option, given)

    async def options(self, given: str) -> None:
        """Show or set an option."""
        options = options_in_order(self._chat.transcript.config_options)
        if not options:
            raise AccordError("The agent offers no options.")
        if not given:
            rows = [(f"{one.name}: {value_name(one)}", one.description or "") for one in options]
            numbered(self._printer, "Options; /options NUMBER shows the possible values:", rows)
            return
        which, _, value = given.partition(" ")
        pairs = [(str(number), one.name) for number, one in enumerate(options)]
        chosen = options[int(meant_value(which, pairs))]
        await self._option(chosen, value.strip())

    async def _option(self, option: ConfigOption, given: str) -> None:
        name = one_line(option.name)
        if not given:
            rows = [(one.name, one.description or "") for one in option.choices]
            if option.type == "boolean":
                rows = [("on", ""), ("off", "")]
            numbered(
                self._printer, f"{name} is {one_line(value_name(option))}. Possible values:", rows
            )
            return
        value: str | bool = given
        if option.type == "boolean":
            value = meant_value(given, [("on", "yes"), ("off", "no")]) == "on"
        elif option.choices:
            value = meant_value(given, [(one.value, one.name) for one in option.choices])
        await self._controller.set_option(self._chat, option.option_id, value)
        # The value that the agent stored, which may differ.
        options = {one.option_id: one for one in self._chat.transcript.config_options}
        now = options.get(option.option_id)
        if now is not None:
            self._say(f"{name} is {one_line(value_name(now))}.")

    async def sessions(self, given: str) -> None:
        """List the agent's sessions."""
        found = await self._controller.sessions(self._chat)
        words = given.lower().split()
        found = [
            one for one in found if all(word in f"{one.title} {one.cwd}".lower() for word in words)
        ]
        self._sessions = [one.session_id for one in found]
        rows = [
            (
                one.title or one.session_id,
                " ".join(filter(None, (f"in {one.cwd}", (one.updated_at or "")[:16])))
                + (" (this one)" if one.session_id == self._chat.session_id else ""),
            )
            for one in found[:SESSIONS_SHOWN_MAX]
        ]
        if not rows:
            raise AccordError("No sessions found.")
        numbered(self._printer, "Sessions; /resume NUMBER continues one:", rows)
        if len(found) > SESSIONS_SHOWN_MAX:
            self._say(f"({len(found) - SESSIONS_SHOWN_MAX} more; /sessions WORD searches them.)")

    async def resume(self, given: str) -> None:
        """Continue another session of the agent."""
        if not given:
            raise AccordError("Which one? /sessions lists them, /resume NUMBER continues one.")
        is_number = given.isdecimal() and 1 <= int(given) <= len(self._sessions)
        wanted = self._sessions[int(given) - 1] if is_number else given
        for info in await self._controller.sessions(self._chat):
            if info.session_id == wanted:
                self._change(await self._controller.open_stored(self._chat, info))
                return
        raise AccordError(f"The agent has no session {one_line(wanted)}.")

    async def new(self, given: str) -> None:
        """Open a new session."""
        if self._chat.phase == "lost" or self._chat.problem is not None:
            self._controller.new_session(self._chat)
            return
        self._change(await self._controller.open_chat(self._chat))
        self._say("Opened a new session. It knows nothing of the previous one.")

    async def fork(self, given: str) -> None:
        """Continue in a copy of this session."""
        self._change(await self._controller.fork(self._chat))

    def _change(self, chat: Chat) -> None:
        if chat is not self._chat:
            self._context.turn_to(chat)

    async def title(self, given: str) -> None:
        """Give the session a new title."""
        if not given or self._chat.session_id is None:
            raise AccordError("Give the new title: /title TITLE")
        stored = await self._controller.rename(self._chat, self._chat.session_id, given)
        self._say(f"The session is now called {one_line(stored)}.")

    async def login(self, given: str) -> None:
        """Log in to the agent."""
        problem = self._chat.problem
        if problem is not None and problem.kind == "login_needed":
            self._controller.retry(self._chat)
        else:
            chat = self._chat
            self._context.start(lambda: self._controller.log_in(chat))

    async def logout(self, given: str) -> None:
        """Log out of the agent."""
        await self._controller.log_out(self._chat)
