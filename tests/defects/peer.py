"""Starts a peer of this folder: `peer.py agent|client VERSION [RULE|odd-NAME|extras] [STEP...]`.

Without a rule it is the correct one (with `extras` all that it may have), with a rule the one that
breaks that rule, with `odd-` and a name one of odd_peers/agents.py or odd_peers/clients.py.
"""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def main(side: str, version: str, *words: str) -> None:
    first = words[0] if words else ""
    if first.startswith("odd-"):
        made = importlib.import_module(f"tests.defects.odd_peers.{side}s").ODD[first].peer
    elif "-" in first:
        catalogue = importlib.import_module("tests.defects.catalogue")
        made = catalogue.broken(side, version, first)
    elif version == "draft" and side == "client":
        made = importlib.import_module("tests.defects.clients.draft").ClientDraft
    elif version == "draft":
        made = importlib.import_module("tests.conformance.draft_agent").Agent
    else:
        more = "extras" if first == "extras" else ""
        module = importlib.import_module(f"tests.defects.{side}s.v{version}.{more or side}")
        made = getattr(module, f"{side.title()}V{version}{more.title()}")
    peer = made()
    if side == "client":
        peer.steps = words[1:] if "-" in first else words
    peer.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
