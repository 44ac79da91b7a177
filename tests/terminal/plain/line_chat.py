"""A program that talks in lines to the agent that its arguments start, for tests in a terminal."""

from __future__ import annotations

import os
import sys

import anyio

from accord.client.permissions.permissions import Permissions
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.plain.line_mode import run_plain
from accord.terminal.plain.line_terminal import line_terminal

if __name__ == "__main__":
    launch = LaunchOptions(command=tuple(sys.argv[1:]), folder=os.getcwd())
    with line_terminal(launch.folder) as terminal:
        sys.exit(anyio.run(run_plain, ChatController(permissions=Permissions()), launch, terminal))
