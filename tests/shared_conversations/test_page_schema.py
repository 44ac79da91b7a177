"""`scripts/page_schema.py`: the page reads messages by the annotations of the wire types."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_pages_schema_is_that_of_the_wire_types() -> None:
    """A changed wire type changes the page, or this fails."""
    command = [sys.executable, str(ROOT / "scripts" / "page_schema.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
