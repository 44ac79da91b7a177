"""Clients of v2 that do not survive what a peer may send them: those of v1, reworded."""

from tests.defects.broken_clients.v1 import faults as v1_faults
from tests.defects.broken_clients.v2.sessions import as_in_v1
from tests.defects.catalogue import Catalogue

BROKEN = Catalogue()
for _rule, _made in v1_faults.BROKEN.items():
    BROKEN.breaks(_rule)(as_in_v1(_made))
