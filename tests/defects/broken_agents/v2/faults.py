"""Agents of v2 that do not survive what a peer or a pipe may do to them."""

from tests.defects.broken_agents.v1 import faults as v1
from tests.defects.broken_agents.v2.wire import as_in_v1
from tests.defects.catalogue import Catalogue

BROKEN = Catalogue()
for _rule, _made in v1.BROKEN.items():
    BROKEN.breaks(_rule)(as_in_v1(_made))
