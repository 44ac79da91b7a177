"""Starts the agents of this folder: `agents.py --protocol 1 --break V1-GEN-02`."""

from __future__ import annotations

import argparse
import os
import sys


def main() -> None:
    parser = argparse.ArgumentParser(description="An agent that breaks at most one rule.")
    parser.add_argument("--protocol", choices=("1", "2", "draft"), default="1")
    parser.add_argument("--break", dest="broken", default="", metavar="RULE")
    parser.add_argument("--login", action="store_true", help="log in, and end")
    options = parser.parse_args()
    if options.login:
        return
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[0] = os.path.dirname(os.path.dirname(here))
    if options.protocol == "1":
        from tests.kit_accuracy.agent_v1 import Agent
        from tests.kit_accuracy.changed_agents_v1 import AGENTS

        AGENTS.get(options.broken, Agent)(options.broken).peer.serve()
    elif options.protocol == "draft":
        from tests.kit_accuracy.agent_draft import DraftAgent
        from tests.kit_accuracy.changed_agents_v2 import DRAFT_AGENTS

        DRAFT_AGENTS.get(options.broken, DraftAgent)(options.broken).peer.serve()
    else:
        from tests.kit_accuracy.agent_v2 import AgentV2
        from tests.kit_accuracy.changed_agents_v2 import AGENTS as AGENTS_V2

        AGENTS_V2.get(options.broken, AgentV2)(options.broken).peer.serve()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
