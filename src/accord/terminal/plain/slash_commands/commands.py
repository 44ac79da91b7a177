"""What a user can say to us rather than to the agent: lines that begin with a slash.

This module does not know how lines are read.

Invariants
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

from accord.client.people import ROLES, Role
from accord.errors import AccordError
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.amounts_and_durations import cost_words, counted, usage_words
from accord.terminal.model.labels.session_settings import mode_name
from accord.terminal.model.people import (
    here_words,
    invitation_use,
    invitation_words,
    member_rows,
    working_words,
)
from accord.terminal.model.permissions.denied_request import retry_prompt
from accord.terminal.model.permissions.rule_text import rows_of
from accord.terminal.model.prompt.unsent_prompts import Attachment, Draft
from accord.terminal.model.text.display_text import one_line, path_words
from accord.terminal.plain.dialogs.typed_choice import meant_value, numbered, sentence
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.terminal.plain.slash_commands.changed_files import show_changes
from accord.terminal.plain.slash_commands.session_commands import CommandContext, SessionCommands
from accord.terminal.plain.slash_commands.tool_call_details import show_details
from accord.transcript import Plan

USAGE_COLUMNS = 18
"""The width of the command names in the list."""

LEAVING = frozenset({"quit", "exit", "bye"})
"""Words that quit without a slash too, because people type them first."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its function, its arguments and its description."""

    do: Callable[[Commands, str], Awaitable[None]]
    given: str
    text: str


class Commands:
    """Accord's own commands.  Guards: an attachment is sent once, with the next prompt."""

    def __init__(
        self, controller: ChatController, context: CommandContext, printer: ChatPrinter
    ) -> None:
        self._controller = controller
        self._context = context
        self._printer = printer
        self.session = SessionCommands(controller, context, printer)
        self._attached: list[Attachment] = []
        self._grants: list[str] = []

    @property
    def _chat(self) -> Chat:
        return self._context.chat

    def _say(self, text: str) -> None:
        self._printer.said("", text)

    def complete(self, begun: str) -> list[str]:
        """The commands that begin with this text, Accord's and the agent's."""
        if not begun.startswith("/") or " " in begun:
            return []
        names = [*TABLE, *(one.name for one in self._chat.transcript.commands)]
        return sorted({f"/{name} " for name in names if name.startswith(begun[1:])})

    async def take(self, line: str) -> Draft | None:
        """Run a command of Accord, or return a draft for the agent."""
        text = line.strip()
        if text in LEAVING:
            self._context.leave()
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
        """Whether a line is a command of Accord."""
        text = line.strip()
        return text in LEAVING or self._found(text)[0] is not None

    def _found(self, text: str) -> tuple[Command | None, str]:
        if not text.startswith("/") or text.startswith("//"):
            return None, ""
        name, _, rest = text[1:].partition(" ")
        command = TABLE.get(ALIASES.get(name, name))
        if command is not None and rest.strip() and not command.given:
            # It takes no arguments; the agent's command of the same name may.
            is_theirs = any(one.name == name for one in self._chat.transcript.commands)
            command = None if is_theirs else command
        return command, rest

    def _draft(self, text: str) -> Draft:
        attached, self._attached = tuple(self._attached), []
        return Draft(text, attached)

    # ---- the commands

    async def help(self, given: str) -> None:
        """List all commands of Accord and of the agent."""
        self._say("Accord commands:")
        for name, command in TABLE.items():
            usage = f"/{name} {command.given}".rstrip()
            self._usage(usage, command.text)
        theirs = self._chat.transcript.commands
        if theirs:
            self._say(f"Agent commands ({one_line(self._chat.agent_name)}):")
        for one in theirs:
            hint = f" {one_line(one.hint)}" if one.hint else ""
            usage = f"/{'/' if one.name in TABLE else ''}{one_line(one.name)}{hint}"
            self._usage(usage, one_line(one.description))
        self._say("Everything else is sent to the agent. A line that ends with \\ continues in the")
        self._say("next. Ctrl-C stops the turn; press it again to quit.")

    def _usage(self, usage: str, text: str) -> None:
        if len(usage) <= USAGE_COLUMNS:
            self._printer.said(f"  {usage:<{USAGE_COLUMNS}} ", text)
            return
        self._printer.said("  ", usage)
        self._printer.said(" " * (USAGE_COLUMNS + 3), text)

    async def quit(self, given: str) -> None:
        """End the conversation and quit."""
        self._context.leave()

    async def stop(self, given: str) -> None:
        """Stop the running turn."""
        if not (self._chat.is_busy or self._chat.works_alone):
            raise AccordError("No turn is running.")
        self._controller.stop(self._chat)

    async def retry(self, given: str) -> None:
        """Retry what failed or was denied."""
        chat = self._chat
        if chat.problem is not None:
            self._controller.retry(chat)
        elif chat.denied_request is not None:
            request, chat.denied_request = chat.denied_request, None
            self._controller.send(chat, retry_prompt(request))
        else:
            raise AccordError("Nothing to retry.")

    async def restart(self, given: str) -> None:
        """Start the agent again."""
        if self._chat.phase != "lost":
            raise AccordError("The agent is running; /stop stops its turn.")
        self._say("Restarting the agent.")
        self._controller.restart(self._chat)

    async def grants(self, given: str) -> None:
        """List permission rules and remembered answers."""
        permissions = self._controller.permissions
        rows = rows_of(permissions.rules, self._controller.remembered(), self._chat.folder, given)
        self._grants = ["" if row.grant is None else row.grant.grant_id for row in rows]
        if not rows:
            raise AccordError("There are no rules and no remembered answers.")
        shown = [(f"{row.effect}: {row.words}", row.place) for row in rows]
        numbered(self._printer, "Permission rules; /revoke NUMBER removes one:", shown)

    async def revoke(self, given: str) -> None:
        """Revoke a remembered answer."""
        if not (given.isdecimal() and 1 <= int(given) <= len(self._grants)):
            raise AccordError("Which one? /grants lists them, /revoke NUMBER removes one.")
        grant_id = self._grants[int(given) - 1]
        if not grant_id:
            raise AccordError("That is a rule of your policy; edit its file to change it.")
        done = self._controller.revoke(grant_id)
        self._say("Revoked." if done else "It was already revoked.")

    async def attach(self, given: str) -> None:
        """Send a file with the next prompt."""
        if not given:
            raise AccordError("Which file? /attach PATH")
        path = await to_thread.run_sync(_file, self._chat.folder, given)
        if path is None:
            raise AccordError(f"File not found: {one_line(given)}")
        name = one_line(os.path.basename(path))
        self._attached.append(Attachment("file", name, path=path))
        self._say(f"{name} will be sent with your next prompt.")

    async def edit(self, given: str) -> None:
        """Write the prompt in an editor."""
        editor = self._controller.settings.editor or editor_of(os.environ)
        with TemporaryDirectory(prefix="accord-prompt-") as folder:
            path = os.path.join(folder, "prompt.md")
            await to_thread.run_sync(_write, path, given)
            code = await self._context.edit((*editor, path))
            text = await to_thread.run_sync(_read, path)
        if code or not text.strip():
            raise AccordError("Nothing was sent: the editor left no text.")
        draft = self._draft(text.rstrip())
        self._printer.prompt(draft.text)
        self._context.send(draft)

    async def traffic(self, given: str) -> None:
        """Save every message as a recording."""
        if not given:
            raise AccordError("Where to? /traffic FILE")
        path = os.path.join(self._chat.folder, given)
        try:
            many = await to_thread.run_sync(self._controller.traffic(self._chat).save, path)
        except OSError as error:
            raise AccordError(
                f"The recording could not be saved: {error.strerror or error}"
            ) from error
        self._say(f"{counted(many, 'message')} saved; `accord trace {one_line(given)}` shows them.")

    async def queue(self, given: str) -> None:
        """List the queued prompts, remove one, or send it now."""
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
            self._say(f"Removed: {one_line(gone.summary)}")
            return
        if not queue:
            raise AccordError("Nothing is queued.")
        rows = [(one.summary, "") for one in queue]
        numbered(
            self._printer,
            "Queued prompts; /queue drop NUMBER removes one, /queue now NUMBER sends it now:",
            rows,
        )

    async def people(self, given: str) -> None:
        """List who is in the session; with a name and a role, let somebody in or out."""
        user, _, word = given.rpartition(" ")
        role = _role(word)
        if given and not (user and (role or word == "none")):
            raise AccordError(f"Which role? /people USER {', '.join(ROLES)} or none")
        if given:
            await self._controller.set_role(self._chat, user.strip(), role)
        people = await self._controller.people(self._chat)
        numbered(self._printer, "In this session:", member_rows(people))

    async def invite(self, given: str) -> None:
        """Show once how somebody can join the session, and with which role."""
        role = _role(given or "editor")
        if role is None:
            raise AccordError(f"Which role? /invite {', '.join(ROLES)}")
        address = await self._controller.invite(self._chat, role)
        self._say(invitation_words(role))
        self._printer.to_copy(invitation_use(address))

    async def plan(self, given: str) -> None:
        """Show the latest plan of the agent."""
        plans = [one for one in self._chat.entries if isinstance(one, Plan)]
        if not plans:
            raise AccordError("The agent has no plan.")
        self._printer.begin_turn()
        self._printer.plan(plans[-1])

    async def files(self, given: str) -> None:
        """List the files that the agent changed."""
        journal = self._controller.journal(self._chat)
        await journal.settle()
        show_changes(self._printer, journal, self._chat.folder)

    async def diff(self, given: str) -> None:
        """Show the diffs of the agent's changes."""
        journal = self._controller.journal(self._chat)
        await journal.settle()
        show_changes(self._printer, journal, self._chat.folder, given, full=True)

    async def undo_file(self, given: str) -> None:
        """Undo the agent's changes to a file."""
        journal = self._controller.journal(self._chat)
        await journal.settle()
        pairs = [(one.path, path_words(one.path, self._chat.folder)) for one in journal.changes]
        path = meant_value(given, pairs)
        outcome = await journal.undo(path)
        self._say(f"Undone: {outcome.done}. Not undone, because changed since: {outcome.refused}.")

    async def details(self, given: str) -> None:
        """Show the input and output of a tool call."""
        show_details(self._printer, self._chat, given)

    async def history(self, given: str) -> None:
        """Print the whole conversation again."""
        from accord.terminal.plain.display.chat_updates import ChatUpdates

        again = ChatUpdates(self._chat, ChatPrinter(self._printer.out, self._chat.folder))
        again.tell_all()

    async def status(self, given: str) -> None:
        """Show the agent's state, the session, the mode and the cost."""
        chat = self._chat
        view = chat.transcript
        phases = {
            "starting": "is starting",
            "ready": "is ready",
            "working": "is working",
            "stopping": "is being stopped",
            "lost": "is not running",
        }
        does = (
            "is " + working_words(chat).replace("W", "w", 1)
            if chat.works_alone
            else phases[chat.phase]
        )
        self._say(f"{one_line(chat.agent_name)} {does} in {one_line(chat.folder)}.")
        for what, words in (
            ("Session", chat.title or chat.session_id or ""),
            ("Mode", mode_name(view)),
            ("Context", usage_words(view.usage)),
            ("Cost", cost_words(view.usage.cost) if view.usage.cost else ""),
            ("Queued", str(len(chat.queue)) if chat.queue else ""),
            ("People", here_words(chat)),
        ):
            if words:
                self._say(f"{what}: {one_line(words)}")


def editor_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The user's editor, by $VISUAL or $EDITOR."""
    return tuple(shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "")) or ("vi",)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _role(word: str) -> Role | None:
    for role in ROLES:
        if role == word:
            return role
    return None


def _file(folder: str, given: str) -> str | None:
    path = os.path.join(folder, os.path.expanduser(given))
    return path if os.path.isfile(path) else None


def _on_session(
    do: Callable[[SessionCommands, str], Awaitable[None]],
) -> Callable[[Commands, str], Awaitable[None]]:
    return lambda commands, given: do(commands.session, given)


ALIASES = {"q": "quit", "exit": "quit", "?": "help", "cancel": "stop"}

TABLE: dict[str, Command] = {
    "help": Command(Commands.help, "", "list the commands"),
    "stop": Command(Commands.stop, "", "stop the turn, like Ctrl-C"),
    "retry": Command(Commands.retry, "", "retry what failed or was denied"),
    "queue": Command(Commands.queue, "[drop|now N]", "list, remove or send queued prompts"),
    "attach": Command(Commands.attach, "PATH", "send a file with your next prompt"),
    "edit": Command(Commands.edit, "[TEXT]", "write your next prompt in your editor"),
    "mode": Command(_on_session(SessionCommands.mode), "[NAME]", "show or switch the mode"),
    "model": Command(_on_session(SessionCommands.model), "[NAME]", "show or choose the model"),
    "options": Command(_on_session(SessionCommands.options), "[N VALUE]", "show or set options"),
    "status": Command(Commands.status, "", "show the current state"),
    "people": Command(Commands.people, "[USER ROLE]", "list who is here, or change their role"),
    "invite": Command(Commands.invite, "[ROLE]", "let somebody join this session"),
    "plan": Command(Commands.plan, "", "show the plan"),
    "files": Command(Commands.files, "", "list the files that the agent changed"),
    "diff": Command(Commands.diff, "[PATH]", "show what it changed in them"),
    "undo-file": Command(Commands.undo_file, "PATH", "undo its changes to a file"),
    "details": Command(Commands.details, "[N]", "show input and output of recent tools"),
    "history": Command(Commands.history, "", "show the whole conversation again"),
    "traffic": Command(Commands.traffic, "FILE", "save all messages, for accord trace"),
    "sessions": Command(_on_session(SessionCommands.sessions), "[WORD]", "list earlier sessions"),
    "resume": Command(_on_session(SessionCommands.resume), "N or ID", "continue one of them"),
    "new": Command(_on_session(SessionCommands.new), "", "open a new session"),
    "fork": Command(_on_session(SessionCommands.fork), "", "continue in a copy of this session"),
    "title": Command(_on_session(SessionCommands.title), "TITLE", "rename this session"),
    "grants": Command(Commands.grants, "[WORD]", "list permission rules"),
    "revoke": Command(Commands.revoke, "N", "revoke a remembered answer"),
    "login": Command(_on_session(SessionCommands.login), "", "log in to the agent"),
    "logout": Command(_on_session(SessionCommands.logout), "", "log out of the agent"),
    "restart": Command(Commands.restart, "", "start the agent again"),
    "quit": Command(Commands.quit, "", "quit"),
}
