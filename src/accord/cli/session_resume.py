"""Going on with a stored session of the built-in agent, in the terminal or with one prompt."""

from __future__ import annotations

import sys

import anyio

from accord.cli.chat import Chat
from accord.cli.chat_view import ChatPrinter
from accord.client import Client
from accord.errors import AccordError
from accord.store.interface import SessionRecord

AGENT = ("-m", "accord", "agent")


class ResumedChat(Chat):
    """A conversation that goes on where a stored one ended."""

    session_id: str

    async def _talk(self, client: Client, folder: str) -> None:
        session = await client.resume_session(
            self.session_id, cwd=folder, on_update=self._events.send_nowait
        )
        while (text := await self._speaker.prompt()) is not None:
            self._wants_to_leave = False
            await self._take_turn(session, text)


def resume(record: SessionRecord, prompt: str) -> int:
    """Talk, or say one thing; the session's own folder is where it goes on."""
    if prompt:
        from accord.cli.main import main

        # A space makes it no option of `run`, whatever it begins with.
        text = f" {prompt}" if prompt.startswith("-") else prompt
        given = ("run", "--session", record.session_id, "--cwd", record.cwd, text)
        return main([*given, "--", sys.executable, *AGENT])
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AccordError("this is no terminal: say a PROMPT, or use `accord run --session`")
    return _talk(record)


def _talk(record: SessionRecord) -> int:
    from accord.cli.keyboard import Keyboard
    from accord.cli.speakers import Person

    printer = ChatPrinter(sys.stdout)
    printer.note(f"{record.title or record.session_id}, in {record.cwd}")
    printer.note("`accord sessions show` has what was said before. /quit leaves.")
    keyboard = Keyboard(sys.stdin.fileno())
    chat = ResumedChat(printer, Person(keyboard, printer, (), yes=False))
    chat.session_id = record.session_id
    with keyboard.watched():
        stayed = anyio.run(chat.run, (sys.executable, *AGENT), record.cwd)
    if not stayed:
        raise KeyboardInterrupt
    return 0


__all__ = ["resume"]
