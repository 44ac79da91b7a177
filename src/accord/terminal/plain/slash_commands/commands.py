"""What a person can say to us rather than to the agent: lines that begin with a slash.

It must not know how lines are read.

What always holds
    * A slash and a word that is not ours goes to the agent; `//word` always does.
    * A failure is a sentence; it never ends the conversation.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from anyio import to_thread

from accord.errors import AccordError
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.session_settings import mode_name
from accord.terminal.model.labels.turn_activity import cost_words, counted, path_words, usage_words
from accord.terminal.model.permissions.request_text import retry_prompt
from accord.terminal.model.permissions.rule_text import rows_of
from accord.terminal.model.prompt.draft import Attachment, Draft
from accord.terminal.model.text.display_text import one_line
from accord.terminal.plain.dialogs.numbered_list import meant_value, numbered, sentence
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.terminal.plain.slash_commands.details_changes_history import (
    show_changes,
    show_details,
    show_history,
)
from accord.terminal.plain.slash_commands.session_commands import SessionCommands, Situation
from accord.transcript import Plan

USAGE_COLUMNS = 18
"""How wide the names of the commands are in their list."""

LEAVING = frozenset({"quit", "exit", "bye"})
"""Words that leave without a slash too: it is what people type first."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what may follow its name, and what it is for."""

    do: Callable[[Commands, str], Awaitable[None]]
    given: str
    text: str


class Commands:
    """Our own commands.  Guards: what is attached goes with the next prompt, once."""

    def __init__(
        self, controller: ChatController, situation: Situation, printer: ChatPrinter
    ) -> None:
        self._controller = controller
        self._situation = situation
        self._printer = printer
        self.session = SessionCommands(controller, situation, printer)
        self._attached: list[Attachment] = []
        self._grants: list[str] = []

    @property
    def _chat(self) -> Chat:
        return self._situation.chat

    def _say(self, text: str) -> None:
        self._printer.said("", text)

    def complete(self, begun: str) -> list[str]:
        """The commands that begin so, ours and the agent's."""
        if not begun.startswith("/") or " " in begun:
            return []
        names = [*TABLE, *(one.name for one in self._chat.transcript.commands)]
        return sorted({f"/{name} " for name in names if name.startswith(begun[1:])})

    async def take(self, line: str) -> Draft | None:
        """Do what is ours; a draft is for the agent."""
        text = line.strip()
        if text in LEAVING:
            self._situation.leave()
            return None
        if text.startswith("//"):
            return self._draft(line.lstrip()[1:])
        command, rest = self._found(text)
        if command is None:
            return self._draft(line)
        try:
            await command.do(self, rest.strip())
        except AccordError as error:
            self._printer.remark(sentence(error), "error")
        return None

    def is_ours(self, line: str) -> bool:
        """Whether a line is for us."""
        text = line.strip()
        return text in LEAVING or self._found(text)[0] is not None

    def _found(self, text: str) -> tuple[Command | None, str]:
        if not text.startswith("/") or text.startswith("//"):
            return None, ""
        name, _, rest = text[1:].partition(" ")
        command = TABLE.get(ALIASES.get(name, name))
        if command is not None and rest.strip() and not command.given:
            # It takes nothing behind it; the agent's of the same name may.
            is_theirs = any(one.name == name for one in self._chat.transcript.commands)
            command = None if is_theirs else command
        return command, rest

    def _draft(self, text: str) -> Draft:
        attached, self._attached = tuple(self._attached), []
        return Draft(text, attached)

    # ---- the commands

    async def help(self, given: str) -> None:
        """All commands."""
        self._say("Commands of accord:")
        for name, command in TABLE.items():
            usage = f"/{name} {command.given}".rstrip()
            self._usage(usage, command.text)
        theirs = self._chat.transcript.commands
        if theirs:
            self._say(f"Commands of {one_line(self._chat.agent_name)}:")
        for one in theirs:
            hint = f" {one_line(one.hint)}" if one.hint else ""
            usage = f"/{'/' if one.name in TABLE else ''}{one_line(one.name)}{hint}"
            self._usage(usage, one_line(one.description))
        self._say("Everything else is said to the agent; a line that ends with \\ goes on in the")
        self._say("next. Ctrl-C stops the turn, and once more it leaves.")

    def _usage(self, usage: str, text: str) -> None:
        if len(usage) <= USAGE_COLUMNS:
            self._printer.said(f"  {usage:<{USAGE_COLUMNS}} ", text)
            return
        self._printer.said("  ", usage)
        self._printer.said(" " * (USAGE_COLUMNS + 3), text)

    async def quit(self, given: str) -> None:
        """Leave."""
        self._situation.leave()

    async def stop(self, given: str) -> None:
        """Cancel the turn."""
        if not self._chat.is_busy:
            raise AccordError("There is no turn to stop.")
        self._controller.stop(self._chat)

    async def retry(self, given: str) -> None:
        """Do again what failed or was denied."""
        chat = self._chat
        if chat.problem is not None:
            self._controller.retry(chat)
        elif chat.denied_request is not None:
            request, chat.denied_request = chat.denied_request, None
            self._controller.send(chat, retry_prompt(request))
        else:
            raise AccordError("Nothing failed that could be tried again.")

    async def restart(self, given: str) -> None:
        """Start the agent again."""
        if self._chat.phase != "lost":
            raise AccordError("The agent runs; /stop stops its turn.")
        self._say("Starting the agent again.")
        self._controller.restart(self._chat)

    async def grants(self, given: str) -> None:
        """What agents may do."""
        permissions = self._controller.permissions
        rows = rows_of(permissions.rules, self._controller.remembered(), self._chat.folder, given)
        self._grants = ["" if row.grant is None else row.grant.grant_id for row in rows]
        if not rows:
            raise AccordError("There are no rules, and nothing is remembered.")
        shown = [(f"{row.effect}: {row.words}", row.place) for row in rows]
        numbered(self._printer, "What agents may do; /revoke NUMBER takes one back:", shown)

    async def revoke(self, given: str) -> None:
        """Take back what was remembered."""
        if not (given.isdecimal() and 1 <= int(given) <= len(self._grants)):
            raise AccordError("Which one? /grants lists them, /revoke NUMBER takes one back.")
        grant_id = self._grants[int(given) - 1]
        if not grant_id:
            raise AccordError("That is a rule of your policy; it is changed in its file.")
        done = self._controller.revoke(grant_id)
        self._say("It is forgotten." if done else "It was forgotten already.")

    async def attach(self, given: str) -> None:
        """Send a file with the next prompt."""
        if not given:
            raise AccordError("Which file? /attach PATH")
        path = await to_thread.run_sync(_file, self._chat.folder, given)
        if path is None:
            raise AccordError(f"There is no file {one_line(given)}.")
        name = one_line(os.path.basename(path))
        self._attached.append(Attachment("file", name, path=path))
        self._say(f"{name} goes with what you say next.")

    async def edit(self, given: str) -> None:
        """Write the prompt in an editor."""
        editor = self._controller.settings.editor or editor_of(os.environ)
        with TemporaryDirectory(prefix="accord-prompt-") as folder:
            path = os.path.join(folder, "prompt.md")
            await to_thread.run_sync(_write, path, given)
            code = await self._situation.edit((*editor, path))
            text = await to_thread.run_sync(_read, path)
        if code or not text.strip():
            raise AccordError("Nothing is said: the editor left nothing.")
        draft = self._draft(text.rstrip())
        self._printer.prompt(draft.text)
        self._situation.send(draft)

    async def traffic(self, given: str) -> None:
        """Save every message as a recording."""
        if not given:
            raise AccordError("Where to? /traffic FILE")
        path = os.path.join(self._chat.folder, given)
        try:
            many = await to_thread.run_sync(self._controller.traffic(self._chat).save, path)
        except OSError as error:
            raise AccordError(f"It cannot be saved: {error.strerror or error}") from error
        self._say(f"{counted(many, 'message')} saved; `accord trace {one_line(given)}` shows them.")

    async def queue(self, given: str) -> None:
        """What waits to be said."""
        queue = self._chat.queue
        verb, _, number = given.partition(" ")
        if verb in ("drop", "now"):
            if not (number.isdecimal() and 1 <= int(number) <= len(queue)):
                raise AccordError(f"Which one? /queue {verb} NUMBER")
            if verb == "now" and self._chat.is_busy:
                self._controller.send_queued_now(self._chat, int(number) - 1)
                return
            gone = queue.pop(int(number) - 1)
            if verb == "now":
                self._controller.send(self._chat, gone)
                return
            self._chat.changed()
            self._say(f"Not said: {one_line(gone.summary)}")
            return
        if not queue:
            raise AccordError("Nothing waits to be said.")
        rows = [(one.summary, "") for one in queue]
        numbered(
            self._printer,
            "These wait; /queue drop NUMBER takes one back, /queue now NUMBER says it now:",
            rows,
        )

    async def plan(self, given: str) -> None:
        """The agent's plans, as they stand."""
        plans = [one for one in self._chat.entries if isinstance(one, Plan)]
        if not plans:
            raise AccordError("The agent has no plan.")
        self._printer.begin_turn()
        self._printer.plan(plans[-1])

    async def files(self, given: str) -> None:
        """Files that the agent changed."""
        journal = self._controller.journal(self._chat)
        await journal.settle()
        show_changes(self._printer, journal, self._chat.folder)

    async def diff(self, given: str) -> None:
        """What the agent changed, in full."""
        journal = self._controller.journal(self._chat)
        await journal.settle()
        show_changes(self._printer, journal, self._chat.folder, given, full=True)

    async def undo_file(self, given: str) -> None:
        """Take back what the agent changed in a file."""
        journal = self._controller.journal(self._chat)
        await journal.settle()
        pairs = [(one.path, path_words(one.path, self._chat.folder)) for one in journal.changes]
        path = meant_value(given, pairs)
        outcome = await journal.undo(path)
        self._say(
            f"Taken back: {outcome.done}. Left alone, because changed since: {outcome.refused}."
        )

    async def details(self, given: str) -> None:
        """What a tool was given and gave back."""
        show_details(self._printer, self._chat, given)

    async def history(self, given: str) -> None:
        """All of the conversation."""
        show_history(self._printer, self._chat)

    async def status(self, given: str) -> None:
        """Where things stand."""
        chat = self._chat
        view = chat.transcript
        phases = {
            "starting": "starts",
            "ready": "waits for you",
            "working": "works",
            "stopping": "is being stopped",
            "lost": "is gone",
        }
        self._say(f"{one_line(chat.agent_name)} {phases[chat.phase]}, in {one_line(chat.folder)}.")
        for what, words in (
            ("Session", chat.title or chat.session_id or ""),
            ("Mode", mode_name(view)),
            ("Context", usage_words(view.usage)),
            ("Cost", cost_words(view.usage.cost) if view.usage.cost else ""),
            ("Waiting to be said", str(len(chat.queue)) if chat.queue else ""),
        ):
            if words:
                self._say(f"{what}: {one_line(words)}")


def editor_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The editor that the person has chosen for everything."""
    return tuple(shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "")) or ("vi",)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _file(folder: str, given: str) -> str | None:
    path = os.path.join(folder, os.path.expanduser(given))
    return path if os.path.isfile(path) else None


def _on_session(
    do: Callable[[SessionCommands, str], Awaitable[None]],
) -> Callable[[Commands, str], Awaitable[None]]:
    return lambda commands, given: do(commands.session, given)


ALIASES = {"q": "quit", "exit": "quit", "?": "help", "cancel": "stop"}

TABLE: dict[str, Command] = {
    "help": Command(Commands.help, "", "this list"),
    "stop": Command(Commands.stop, "", "stop the turn, as Ctrl-C does"),
    "retry": Command(Commands.retry, "", "try again what failed, or what was denied"),
    "queue": Command(Commands.queue, "[drop|now N]", "what waits to be said, and taking it back"),
    "attach": Command(Commands.attach, "PATH", "send a file with what you say next"),
    "edit": Command(Commands.edit, "[TEXT]", "write what you say next in your editor"),
    "mode": Command(_on_session(SessionCommands.mode), "[NAME]", "the mode, and switching it"),
    "model": Command(
        _on_session(SessionCommands.model), "[NAME]", "the model, and choosing another"
    ),
    "options": Command(_on_session(SessionCommands.options), "[N VALUE]", "what else can be set"),
    "status": Command(Commands.status, "", "where things stand"),
    "plan": Command(Commands.plan, "", "the agent's plan"),
    "files": Command(Commands.files, "", "files that the agent changed"),
    "diff": Command(Commands.diff, "[PATH]", "what it changed in them"),
    "undo-file": Command(Commands.undo_file, "PATH", "take back what it changed in a file"),
    "details": Command(Commands.details, "[N]", "what its last tools were given and gave back"),
    "history": Command(Commands.history, "", "all of this conversation again"),
    "traffic": Command(Commands.traffic, "FILE", "save every message, for accord trace"),
    "sessions": Command(_on_session(SessionCommands.sessions), "[WORD]", "earlier sessions"),
    "resume": Command(_on_session(SessionCommands.resume), "N or ID", "go on with one of them"),
    "new": Command(_on_session(SessionCommands.new), "", "a new session"),
    "fork": Command(_on_session(SessionCommands.fork), "", "a copy of this session, to go on in"),
    "title": Command(_on_session(SessionCommands.title), "TITLE", "name this session"),
    "grants": Command(Commands.grants, "[WORD]", "what agents may do, and rules"),
    "revoke": Command(Commands.revoke, "N", "take back what was allowed for longer"),
    "login": Command(_on_session(SessionCommands.login), "", "log in to the agent"),
    "logout": Command(_on_session(SessionCommands.logout), "", "log out of the agent"),
    "restart": Command(Commands.restart, "", "start an agent again that is gone"),
    "quit": Command(Commands.quit, "", "leave"),
}

__all__ = ["ALIASES", "LEAVING", "TABLE", "Command", "Commands"]
