"""`accord demo`: a client, an agent and a small project with a mistake in it, all at work.

The project is made anew in a folder that is thrown away, so nothing of the user's is touched.
"""

import sys
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path
from textwrap import dedent

import anyio

from accord import Client, PermissionRequest, Permissions, Update
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


def add_arguments(parser: ArgumentParser) -> None:
    """What `accord demo` takes."""
    parser.add_argument("--yes", action="store_true", help="say yes to everything the agent asks")
    parser.add_argument("--prompt", default=PROMPT, help="what to ask the agent for")


def run(arguments: Namespace) -> int:
    """Run the demo; 0 when the turn came to its end."""
    with tempfile.TemporaryDirectory(prefix="accord-demo-") as folder:
        for name, text in PROJECT.items():
            Path(folder, name).write_text(dedent(text).lstrip())
        return anyio.run(_turn, folder, arguments.prompt, arguments.yes)


async def _turn(folder: str, prompt: str, yes: bool) -> int:
    view = View(sys.stdout)
    ask = not yes and sys.stdin.isatty()

    async def decide(request: PermissionRequest) -> bool:
        return await anyio.to_thread.run_sync(view.ask, request) if ask else True

    command = [sys.executable, "-m", "accord.cli.demo_agent"]
    async with Client.spawn(*command, permissions=Permissions.ask(decide)) as client:
        info = client.agent_info
        name = "the agent" if info is None else info.title or info.name
        view.started(name, client.protocol_version, folder)
        if not ask:
            view.note("every question of the agent is answered with yes")
        session = await client.new_session(cwd=folder)
        view.prompt(prompt)
        async with session.prompt(prompt) as turn:
            async for update in turn:
                _show(view, update)
        view.ended(turn.stop_reason or "unknown")
    return 0 if turn.stop_reason == "end_turn" else 1


def _show(view: View, update: Update) -> None:
    show = getattr(view, update.kind, None)
    if show is not None:
        show(update)
