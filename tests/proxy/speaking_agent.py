"""An agent of any version as a program: `speaking_agent.py VERSION HOW KIND TARGET`.

A command that it was permitted to run it runs itself, as an agent does that only asks.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.proxy.speakers import Act, SpeakingAgent


def main(version: str, how: str, kind: str, target: str) -> None:
    """Speak until the client goes."""
    act = Act(how, kind, target)  # type: ignore[arg-type]

    def done(permitted: bool) -> None:
        if permitted and act.how == "ask" and act.kind == "execute":
            subprocess.run(act.target, shell=True, check=True)

    agent = SpeakingAgent(version, act, done)  # type: ignore[arg-type]
    for line in sys.stdin:
        for message in agent.hear(json.loads(line)):
            print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
