"""Apps on a stage are waited for by what they have to do, not by how busy the machine is."""

from __future__ import annotations

import pytest

from tests.terminal.screen.harness.idle import wait_for_idle


@pytest.fixture(autouse=True)
def waited_for_by_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a key and in a pause."""
    monkeypatch.setattr("textual.app.wait_for_idle", wait_for_idle)
    monkeypatch.setattr("textual.pilot.wait_for_idle", wait_for_idle)
    # What changed is drawn at once: 60 times a second is for people.
    monkeypatch.setattr("textual.screen.UPDATE_PERIOD", 0.001)
