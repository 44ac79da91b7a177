"""The full screen with an agent that has only a moment to answer `initialize`."""

from __future__ import annotations

import os
import sys

from accord.cli.commands.chat import on_screen
from accord.client.permissions.permissions import Permissions
from accord.connection.limits import Limits
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.engine.launch_options import LaunchOptions

if __name__ == "__main__":
    controller = ChatController(permissions=Permissions(), limits=Limits(initialize_seconds=0.2))
    launch = LaunchOptions(command=tuple(sys.argv[1:]), folder=os.getcwd())
    sys.exit(on_screen(controller, launch, {}))
