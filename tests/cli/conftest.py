"""What the tests of the commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A fresh home with a project."""
    return Home(tmp_path)
