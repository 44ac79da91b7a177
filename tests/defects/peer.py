"""Starts a peer of this folder: `peer.py agent|client VERSION [RULE] [STEP...]`.

Without a rule it is the correct one, with a rule the one that breaks that rule.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def main(side: str, version: str, *words: str) -> None:
    rule = words[0] if words and "-" in words[0] else None
    if rule is None:
        module = importlib.import_module(f"tests.defects.{side}_v{version}")
        made = getattr(module, f"{side.title()}V{version}")
    else:
        catalogue = importlib.import_module("tests.defects.catalogue")
        made = catalogue.broken(side, version, rule)
    peer = made()
    if side == "client":
        peer.steps = words[0 if rule is None else 1 :]
    peer.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
