"""`accord sessions resume` as a person sees it: in a terminal, with a keyboard."""

from __future__ import annotations

from pathlib import Path

import anyio

from accord.store import SessionRecord
from accord.store.sqlite import SqliteStore
from tests.cli.terminal import in_terminal

PROMPT = "\n> "


async def _store(path: Path, folder: Path) -> None:
    store = SqliteStore(path)
    await store.create(SessionRecord("abc", str(folder), title="About mean"))
    await store.aclose()


def test_a_conversation_goes_on_in_the_terminal(tmp_path: Path) -> None:
    """Issue: accord sessions resume."""
    folder, state = tmp_path / "project", tmp_path / "state"
    folder.mkdir()
    (folder / "calc.py").write_text("def mean(values):\n    return sum(values) / len(values)\n")
    anyio.run(_store, state / "sessions.sqlite3", folder)
    places = {"ACCORD_STATE_DIR": str(state), "ACCORD_CONFIG_DIR": str(tmp_path / "config")}
    with in_terminal("sessions", "resume", "ab", env=places) as chat:
        chat.wait_for(PROMPT)
        assert "About mean" in chat.text
        chat.press("where is mean\n")
        chat.wait_for("calc.py:1")
        chat.wait_for(PROMPT, 2)
        chat.press("/quit\n")
        assert chat.exit_code() == 0
    with in_terminal("sessions", "show", "abc", env=places) as shown:
        assert shown.exit_code() == 0
        assert "where is mean" in shown.text
