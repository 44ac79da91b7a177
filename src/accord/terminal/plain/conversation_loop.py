"""The loop of the line mode: print updates, ask questions, read lines, until the user quits.

`display/chat_updates.py` prints what happens in the chat, `dialogs/question_dialogs.py` asks
its questions, and a `Listener` reads the answers.

Invariants
    * Everything that came before a question is printed before it.
    * Ctrl-C stops the turn; pressed again before the next prompt, it quits.  An open question is
      then cancelled.
    * Nothing is printed while the user types; it is printed when they are done or pause.
    * A line that is typed while the agent works is queued, and a message says so.
    * A question that a command of ours causes is answered while the command waits.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from accord.errors import AccordError
from accord.machine.processes import exit_on_signal as shutdown
from accord.machine.processes.descendants import kept
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.amounts_and_durations import counted
from accord.terminal.model.prompt.unsent_prompts import Draft
from accord.terminal.model.questions import Question
from accord.terminal.model.text.display_text import one_line
from accord.terminal.plain.dialogs.question_dialogs import dialogue_of
from accord.terminal.plain.dialogs.typed_choice import sentence
from accord.terminal.plain.display.chat_updates import ChatUpdates
from accord.terminal.plain.input.input_requests import Ask, Dialogue
from accord.terminal.plain.input.interactive_input import Person
from accord.terminal.plain.line_terminal import LineTerminal
from accord.terminal.plain.slash_commands.commands import Commands

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end the conversation at once."""

SIGNAL_CODE = 128
"""The offset of exit codes for signals."""

PROMPT, MORE, WORKING = Ask("prompt", "> "), Ask("prompt", "... "), Ask("working", "> ")
_STALE: Final = object()


async def talk(controller: ChatController, chat: Chat, terminal: LineTerminal) -> int:
    """Run a conversation until the user quits or the input ends; return the exit code.

    Raises:
        OSError: the output was closed.
    """
    return await ConversationLoop(controller, chat, terminal).run()


class ConversationLoop:
    """One conversation.  Guards: what is being read, and what Ctrl-C means."""

    def __init__(self, controller: ChatController, chat: Chat, terminal: LineTerminal) -> None:
        self._controller = controller
        self._screen = terminal.screen
        self._printer = terminal.printer
        self._listener = terminal.listener
        self._history = terminal.history
        self._commands = Commands(controller, self, terminal.printer)
        self._tasks: TaskGroup | None = None
        self._changed = anyio.Event()
        # The scope of a command that waits for the agent.
        self._stirred = anyio.Event()
        self._left = False
        # Ctrl-C was pressed since the last prompt.
        self._wants_to_leave = False
        self._ended_by: signal.Signals | None = None
        # The open question, its dialogue, and the line that it asks for.
        self._question: Question | None = None
        self._dialogue: Dialogue | None = None
        self._put: Ask | None = None
        # What is being read, and the scope that stops it.
        self._reading: Ask | None = None
        self._reads: anyio.CancelScope | None = None
        # Lines of an unfinished prompt.
        self._lines: list[str] = []
        self._was_busy = False
        self._failures = 0
        self._chat = chat
        self._teller = ChatUpdates(chat, self._printer)
        # The previous chat, until the new one is open.
        self._before: Chat | None = None
        self._show(chat)
        self._listener.on_change = self._wake
        if isinstance(self._listener, Person):
            self._listener.complete = self._commands.complete
            controller.lifecycle.run_in_terminal = self._listener.lend

    @property
    def chat(self) -> Chat:
        """The chat that is currently shown."""
        return self._chat

    def turn_to(self, chat: Chat) -> None:
        """Switch to another chat, and close the old one when the new one is open."""
        self._before = self._chat
        self._show(chat)

    def _show(self, chat: Chat) -> None:
        self._chat.on_change = lambda: None
        self._chat = chat
        chat.on_change = self._wake
        self._printer.folder = chat.folder
        self._teller = ChatUpdates(
            chat, self._printer, quiet=self._controller.settings.quiet_seconds
        )
        self._wake()

    def leave(self) -> None:
        """Quit the conversation loop."""
        self._left = True

    async def edit(self, command: Sequence[str]) -> int:
        """Run an editor in the user's terminal and return its exit code.

        Raises:
            AccordError: there is no terminal.
        """
        if not isinstance(self._listener, Person):
            raise AccordError("There is no terminal to run an editor in.")
        return await self._listener.lend(command, kept({}))

    def start(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run something in the background that may ask the user; report a failure."""
        assert self._tasks is not None

        async def safely() -> None:
            try:
                await work()
            except AccordError as error:
                self._chat.remark(sentence(error), "error")

        self._tasks.start_soon(safely)

    async def run(self) -> int:
        """Run the loop and return the exit code."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGCONT, *ENDING) as signals:
            async with anyio.create_task_group() as self._tasks:
                self._tasks.start_soon(self._listen, signals)
                self._tasks.start_soon(self._tell)
                self.start(self._recall)
                await self._hear()
                self._tasks.cancel_scope.cancel()
        self._chat.on_change = lambda: None
        if self._ended_by is not None:
            if self._ended_by in ENDING:
                self._keep_begun()
            return SIGNAL_CODE + self._ended_by
        self._screen.end_line()
        while self._teller.tell_some():
            await self._screen.drain()
        self._printer.pause()
        await self._screen.drain()
        return 1 if self._failures and not self._listener.is_person else 0

    # ---- history

    async def _recall(self) -> None:
        if self._history is not None and isinstance(self._listener, Person):
            await to_thread.run_sync(self._history.load)
            self._listener.remember(self._history.texts[::-1])

    def _remember(self, text: str) -> None:
        history, folder = self._history, self._chat.folder
        if history is None:
            return
        history.remember(text)

        async def add() -> None:
            # A history that cannot be saved is not worth an error message.
            with suppress(OSError, AccordError):
                await to_thread.run_sync(history.add, text, folder)

        self.start(add)

    def _keep_begun(self) -> None:
        """Save an unfinished line when a signal ends the program.

        A line that the user discards is not saved.
        """
        if self._history is not None and isinstance(self._listener, Person):
            text = "\n".join((*self._lines, self._listener.begun))
            with suppress(OSError, AccordError):
                self._history.add(text, self._chat.folder)

    # ---- Ctrl-C

    async def _listen(self, signals: AsyncIterator[signal.Signals]) -> None:
        async for number in signals:
            if number is signal.SIGCONT:
                self._listener.resumed()
                await self._screen.drain()
                continue
            if number in ENDING or self._wants_to_leave:
                self._ended_by = number
                shutdown.begin(number)
                assert self._tasks is not None
                self._tasks.cancel_scope.cancel()
                return
            self._interrupt()

    def _interrupt(self) -> None:
        self._wants_to_leave = True
        self._lines.clear()
        self._listener.drop_line()
        chat = self._chat
        if chat.is_busy:
            self._printer.note("Stopping. Press Ctrl-C again to quit.")
            self._controller.stop(chat)
        elif self._question is not None:
            self._question.answer(None)
        else:
            self._printer.note("Press Ctrl-C again to quit, or type /quit.")
        self._wake()

    # ---- output

    def _wake(self) -> None:
        self._changed.set()
        self._stirred.set()

    async def _tell(self) -> None:
        while True:
            held = self._listener.held_for
            with anyio.move_on_after(self._teller.wait if held is None else held):
                await self._changed.wait()
            self._changed = anyio.Event()
            if self._listener.held_for is None:
                self._tell_now()
                await self._screen.drain()

    def _tell_some(self) -> bool:
        """Print what is new; return whether there is more."""
        if self._teller.tell_some():
            self._wake()
        return self._teller.is_behind

    def _tell_now(self) -> None:
        self._tell_some()
        chat = self._chat
        if self._was_busy and not chat.is_busy and chat.stop_reason != "end_turn":
            self._failures += 1
        self._was_busy = chat.is_busy
        if self._before is not None and chat.phase != "starting":
            self._leave_behind(self._before)
        if self._reading is not None and self._is_stale(self._reading):
            assert self._reads is not None
            self._reads.cancel()
        else:
            self._listener.refresh()

    def _leave_behind(self, before: Chat) -> None:
        """Close the previous chat, or return to it if the new one failed."""
        self._before = None
        closed = before
        if self._chat.phase == "lost":
            closed = self._chat
            self._show(before)
            self._printer.remark("Back in the previous session.", "warning")
        self.start(lambda: self._controller.close_chat(closed))

    def _is_stale(self, ask: Ask) -> bool:
        """Whether the current read no longer fits the situation."""
        if ask is self._put:
            return self._question is None or self._question.is_answered
        if self._first_question() is not None:
            return not self._teller.is_behind
        return (ask is WORKING) is not self._is_working

    @property
    def _is_working(self) -> bool:
        chat = self._chat
        # If the agent is lost, the reason follows soon.
        is_unclear = chat.phase == "lost" and chat.problem is None
        is_working = chat.is_busy or chat.phase == "starting" or is_unclear
        # Somebody else's turn must not break up what a person types; a script goes on meanwhile.
        is_working = is_working or (self._listener.is_person and chat.works_alone)
        return is_working or self._teller.is_behind

    def _first_question(self) -> Question | None:
        first = self._chat.questions.first
        return None if first is None or first.is_answered else first

    # ---- input

    async def _hear(self) -> None:
        while not self._left:
            ask = self._wanted()
            if ask is None:
                return
            said = await self._read(ask)
            if said is _STALE:
                continue
            assert said is None or isinstance(said, str)
            if ask is self._put:
                self._answer(said)
            elif said is None:
                return
            else:
                await self._take(said)
            await self._screen.drain()

    async def _done(self, text: str) -> Draft | None:
        """Run a command and answer the agent's questions meanwhile, or both would wait forever."""
        drafts: list[Draft | None] = []

        async def do() -> None:
            drafts.append(await self._commands.take(text))
            self._wake()

        assert self._tasks is not None
        self._tasks.start_soon(do)
        while not drafts:
            self._stirred = anyio.Event()
            # Do not read while an editor has the terminal.
            is_free = self._listener.held_for is None
            ask = self._wanted() if is_free and self._first_question() is not None else None
            if ask is None or ask is not self._put:
                await self._stirred.wait()
                continue
            said = await self._read(ask)
            if said is not _STALE:
                assert said is None or isinstance(said, str)
                self._answer(said)
                await self._screen.drain()
        return drafts[0]

    def _wanted(self) -> Ask | None:
        """The next line to ask for; None if the conversation is over."""
        if self._question is not None and self._question.is_answered:
            self._end_dialogue()
            self._printer.remark("(This question is no longer open.)")
        first = self._first_question()
        # Print everything that came before the question first.
        if first is not None and first is not self._question and not self._tell_some():
            self._question = first
            self._ring()
            self._listener.forget_typed()
            self._dialogue = dialogue_of(first, self._chat, self._printer)
            self._step(next)
        if self._put is not None:
            return self._put
        if self._is_working:
            return WORKING
        if self._listener.held_for is None:
            # Everything is printed before the user is prompted again.
            self._tell_now()
        if self._teller.is_behind:
            return WORKING
        if self._chat.phase == "lost" and not self._listener.is_person:
            # Without a user nobody can restart the agent.
            self._failures += 1
            return None
        return MORE if self._lines else PROMPT

    def _ring(self) -> None:
        """Ring the bell if the user has enabled it."""
        if self._controller.settings.bell and self._screen.isatty():
            self._screen.write("\a")

    async def _read(self, ask: Ask) -> object:
        with anyio.CancelScope() as self._reads:
            self._reading = ask
            try:
                if self._is_stale(ask):
                    return _STALE
                return await self._listener.read(ask)
            finally:
                self._reading = None
        return _STALE

    def _answer(self, said: str | None) -> None:
        self._step(lambda dialogue: dialogue.send(said))

    def _step(self, go_on: Callable[[Dialogue], Ask]) -> None:
        """Pass a line to the dialogue; its return value is the answer."""
        assert self._dialogue is not None
        assert self._question is not None
        try:
            self._put = go_on(self._dialogue)
        except StopIteration as end:
            self._question.answer(end.value)
            self._end_dialogue()

    def _end_dialogue(self) -> None:
        if self._dialogue is not None:
            self._dialogue.close()
        self._question = self._dialogue = self._put = None

    async def _take(self, line: str) -> None:
        """Handle a line: a command of Accord, or a prompt."""
        self._wants_to_leave = False
        if line.endswith("\\"):
            self._lines.append(line[:-1])
            return
        text = "\n".join((*self._lines, line))
        self._lines.clear()
        if not text.strip():
            return
        if not self._listener.is_person and self._commands.is_ours(text):
            self._printer.prompt(text)
        draft = await self._done(text)
        if draft is not None and not draft.is_empty:
            self.send(draft)

    def send(self, draft: Draft) -> None:
        """Send a prompt to the agent, now or when it is done."""
        self._remember(draft.text)
        chat = self._chat
        waits = chat.phase != "ready"
        if not waits:
            self._was_busy = True
            if self._listener.is_person:
                self._teller.typed(draft.text)
        self._controller.send(chat, draft)
        if not waits:
            return
        if chat.lacks_session:
            self._printer.note("There is no session. /new opens one and then sends this.")
            return
        if chat.phase == "lost":
            lost, starts = "The agent is not running", "starts it"
            if chat.is_remote:
                lost, starts = "Not connected", "connects again"
            self._printer.note(f"{lost}. /restart {starts} and then sends this.")
            return
        waiting = counted(len(chat.queue), "prompt")
        self._printer.note(f"Queued: {one_line(draft.summary, 60)} ({waiting} waiting; /queue)")
