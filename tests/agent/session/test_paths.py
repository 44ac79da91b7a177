"""Paths are absolute and plain on the wire, whatever a program calls them."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from accord.agent.session.paths import absolute

PARTS = st.sampled_from(["/", "//", ".", "..", "a", "b.txt", ".git", " ", "é"])


@given(st.lists(PARTS, max_size=6).map("".join))
def test_a_path_is_absolute_and_has_no_detours(path: str) -> None:
    """Ours: the short way for what is plain already gives what the long way gives."""
    session: Any = SimpleNamespace(roots=("/project/sub",))
    assert absolute(session, path) == os.path.normpath(os.path.join("/project/sub", path))


def test_a_path_object_does_as_well() -> None:
    """Ours: `tool.show_diff(turn.cwd / "a.txt", ...)` is what people write."""
    session: Any = SimpleNamespace(roots=("/project",))
    for path in (Path("/project/a.txt"), Path("a.txt")):
        given_as: Any = path
        assert absolute(session, given_as) == "/project/a.txt"
