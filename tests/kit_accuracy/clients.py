"""Starts the clients of this folder: `clients.py --protocol 1 --break V1-GEN-01 AGENT ARG...`."""

from __future__ import annotations

import argparse
import os
import shlex
import sys


def main() -> int:
    parser = argparse.ArgumentParser(description="A client that breaks at most one rule.")
    parser.add_argument("--protocol", choices=("1", "2"), default="1")
    parser.add_argument("--break", dest="broken", default="", metavar="RULE")
    purposes = ("prompt", "cancel", "list", "login", "mcp", "resume", "delete")
    parser.add_argument("--purpose", choices=purposes, default="prompt")
    parser.add_argument("agent", nargs=argparse.REMAINDER, help="how to start the agent")
    options = parser.parse_args()
    command = options.agent
    if len(command) == 1:
        command = shlex.split(command[0])
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[0] = os.path.dirname(os.path.dirname(here))
    from tests.kit_accuracy.changed_clients import CLIENTS, CLIENTS_V2

    client_type: type[Client]
    if options.protocol == "1":
        from tests.kit_accuracy.client_v1 import Client

        client_type = CLIENTS.get(options.broken, Client)
    else:
        from tests.kit_accuracy.client_v2 import ClientV2

        client_type = CLIENTS_V2.get(options.broken, ClientV2)
    return client_type(command, options.broken, options.purpose).run()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
