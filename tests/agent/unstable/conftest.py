"""The unstable parts are served in both versions."""

from __future__ import annotations

import pytest


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> int:
    """Both versions."""
    assert isinstance(request.param, int)
    return request.param
