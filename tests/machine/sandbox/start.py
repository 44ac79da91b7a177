"""Becomes a command in a sandbox, as it is told: for tests that run one as another user.

start.py SOURCE KIND ORDER       ORDER is JSON: command, folders and options
"""

import json
import os
import sys

sys.path.insert(0, sys.argv[1])

from accord.machine.processes.program_lookup import find_program
from accord.machine.sandbox.availability import Sandbox
from accord.machine.sandbox.options import SandboxOptions
from accord.machine.sandbox.sandboxed_command import sandboxed_command

kind, order = sys.argv[2], json.loads(sys.argv[3])
bwrap = find_program("bwrap")
sandbox = Sandbox("bubblewrap", bwrap) if kind == "bubblewrap" else Sandbox("landlock")
command = sandboxed_command(
    order["command"],
    folders=order["folders"],
    options=SandboxOptions(**order["options"]),
    sandbox=sandbox,
)
os.execv(command[0], command)
