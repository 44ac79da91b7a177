"""Draws the picture in the README: the demo when it asks before it changes a file.

Usage: make picture
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import anyio
from textual.pilot import Pilot

from accord.builtin.demo_project import write_demo_project
from accord.cli.commands.demo import FIRST_MINUTE, demo_agent
from accord.client.permissions.permissions import Permissions
from accord.client.permissions.request import Decision
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.screen.app import AccordApp
from accord.terminal.screen.dialogs.permission import PermissionDialog
from accord.terminal.screen.screenshot import picture_of

SIZE = (100, 36)
SECONDS_MAX = 60
FILE = Path(__file__).resolve().parent.parent / "docs" / "images" / "chat.svg"


async def _say_next(app: AccordApp, pilot: Pilot[int]) -> None:
    while app.chat is None or app.chat.phase != "ready":
        await pilot.pause()
    await pilot.press("enter")
    while app.chat.phase == "ready":
        await pilot.pause()


async def draw(home: Path) -> str:
    """Play the demo up to there, and draw it."""
    folder = home / "demo"
    folder.mkdir()
    write_demo_project(folder)
    desk = ChatController(permissions=Permissions())
    order = LaunchOptions(command=demo_agent(), name="demo", folder=str(folder))
    app = AccordApp(desk, order, suggestions=FIRST_MINUTE[1:])
    with anyio.fail_after(SECONDS_MAX):
        async with app.run_test(size=SIZE) as pilot:
            await _say_next(app, pilot)
            assert app.chat is not None
            while (question := app.chat.questions.first) is None:
                await pilot.pause()
            question.answer(Decision(question.request.of_kind("allow_once").option_id))
            await _say_next(app, pilot)
            while not app.query(PermissionDialog):
                await pilot.pause()
            for _ in range(20):
                await pilot.pause()
            picture = picture_of(app)
            await app.leave()
    return picture


def main() -> None:
    """Draw, and write the file."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch).resolve()
        os.environ.update(
            HOME=str(home),
            ACCORD_CONFIG_DIR=str(home / "config"),
            ACCORD_STATE_DIR=str(home / "state"),
        )
        picture = anyio.run(draw, home)
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(picture, encoding="utf-8")
    print(f"wrote {FILE.name}")


if __name__ == "__main__":
    main()
