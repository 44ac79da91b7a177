"""`accord demo`: a client, an agent and a small project with a mistake in it, all at work.

The project is made anew in a folder that is thrown away, so nothing of the user's is touched.
"""

import signal
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from io import TextIOWrapper
from math import inf
from pathlib import Path
from textwrap import dedent
from typing import TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream

from accord import Client, PermissionRequest, Permissions, Update
from accord.cli.answers import Answers
from accord.cli.demo_view import View

PROJECT = {
    "sums.py": '''
        """Sums."""


        def add(a: int, b: int) -> int:
            """The sum of two numbers."""
            return a - b
    ''',
    "test_sums.py": """
        from sums import add

        found = add(2, 3)
        if found != 5:
            raise SystemExit(f"FAILED: add(2, 3) is {found}, not 5")
        print("ok: add(2, 3) is 5")
    """,
}
PROMPT = "The test of sums.py fails. Find out why and mend it."

DESCRIPTION = """\
Starts an agent under a client on a small project with a mistake in it and shows the turn as it
streams. The agent is scripted: there is no model behind it and it takes any prompt for the same
task, but the protocol, the processes, the files and the permissions are real.

Each question is answered by y or n; Enter, the end of the input and anything unclear are a no.
Where the input is a pipe, its lines are the answers.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """What `accord demo` takes."""
    parser.description = DESCRIPTION
    parser.add_argument("--yes", action="store_true", help="say yes to everything the agent asks")
    parser.add_argument("--prompt", default=PROMPT, help="what to ask the agent for")


def run(arguments: Namespace) -> int:
    """Run the demo; 0 when the turn came to its end."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A letter that the terminal does not know is no reason to end.
        sys.stdout.reconfigure(errors="replace")
    with tempfile.TemporaryDirectory(prefix="accord-demo-") as folder:
        for name, text in PROJECT.items():
            Path(folder, name).write_text(dedent(text).lstrip())
        try:
            code = anyio.run(_until_interrupted, folder, arguments.prompt, arguments.yes)
        finally:
            # We are leaving; Ctrl-C would now only leave the folder behind.
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGINT, before)
    if code is None:
        raise KeyboardInterrupt
    return code


async def _until_interrupted(folder: str, prompt: str, yes: bool) -> int | None:
    """The exit code; None when Ctrl-C was pressed.  The agent is gone in any case.

    Pressed once more it changes nothing: leaving is under way, and is bounded.
    """
    code: int | None = None

    async def leave(scope: anyio.CancelScope) -> None:
        async for _ in interrupts:
            scope.cancel()

    with anyio.open_signal_receiver(signal.SIGINT) as interrupts:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(leave, tasks.cancel_scope)
            code = await _turn(folder, prompt, yes)
            tasks.cancel_scope.cancel()
    return code


class _Question:
    """A request of the agent on its way to the screen, and the answer on its way back."""

    def __init__(self, request: PermissionRequest) -> None:
        self.request = request
        self.answered = anyio.Event()
        self.allowed = False


Event: TypeAlias = Update | _Question | None


async def _turn(folder: str, prompt: str, yes: bool) -> int:
    view = View(sys.stdout)
    # Updates and questions in one line, so that nobody is asked before the screen shows why.
    events, shown = anyio.create_memory_object_stream[Event](inf)

    async def decide(request: PermissionRequest) -> bool:
        question = _Question(request)
        events.send_nowait(question)
        await question.answered.wait()
        return question.allowed

    permissions = Permissions.allow_all() if yes else Permissions.ask(decide)
    command = [sys.executable, "-m", "accord.cli.demo_agent"]
    # Outermost: the agent may speak until it is gone, and what nobody shows any more does no harm.
    with events, shown:
        async with Client.spawn(*command, permissions=permissions) as client:
            info = client.agent_info
            name = "The agent" if info is None else info.title or info.name
            view.started(name, client.protocol_version, folder)
            if yes:
                view.note("Every question of the agent is answered with yes.")
            session = await client.new_session(cwd=folder, on_update=events.send_nowait)
            view.prompt(prompt)
            turn = session.prompt(prompt)
            async with anyio.create_task_group() as tasks, turn:
                tasks.start_soon(_screen, view, shown)
                await turn.wait()
                events.send_nowait(None)
            view.finished(turn.stop_reason or "unknown")
    return 0 if turn.stop_reason == "end_turn" else 1


async def _screen(view: View, shown: MemoryObjectReceiveStream[Event]) -> None:
    """Show what comes and ask what is asked, one thing at a time, until None comes."""
    answers = Answers.of_stdin()
    while (event := await shown.receive()) is not None:
        if not isinstance(event, _Question):
            view.show(event)
            continue
        view.question(event.request)
        event.allowed = await answers.yes(view.ask, view.answered)
        if not event.allowed:
            view.declined(event.request)
        event.answered.set()
