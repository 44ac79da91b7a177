"""The sessions of the agent: list, search, open, rename, fork, delete."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio
import pytest

from accord.client.connection.capabilities import AgentCapabilities
from accord.client.wire.wire_interface import SessionInfo
from accord.errors import LocalProtocolError
from accord.terminal.model.chat import Chat
from accord.terminal.screen.pickers import SessionsScreen
from tests.terminal.screen.harness.stage import (
    ALL,
    CJK,
    HOSTILE,
    LONG,
    NARROW,
    WIDE,
    ControllerDouble,
    Stage,
    a_chat,
    place_of,
)

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def _info(session_id: str, title: str | None, minutes: int = 5, cwd: str = "/p") -> SessionInfo:
    when = (NOW - timedelta(minutes=minutes)).isoformat()
    return SessionInfo(session_id, cwd, (), title, when)


STORED = [
    _info("s1", "Mend the sum", 3, "/home/me/project"),
    _info("s2", "Write the docs", 90),
    _info("s3", None, 60 * 30),
]


class Listing:
    """A stage with the list of sessions on it."""

    def __init__(self, *stored: SessionInfo, can: AgentCapabilities | None = ALL) -> None:
        self.chat = a_chat("s1")
        self.double = ControllerDouble(self.chat, can=can)
        self.double.stored = list(stored)
        self.app = Stage()
        self.results: list[Chat | None] = []

    def push(self) -> None:
        screen = SessionsScreen(self.chat, self.double.controller, NOW)
        self.app.push_screen(screen, self.results.append)

    @property
    def said(self) -> list[str]:
        return self.app.notes


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_sessions_are_listed_with_folder_and_time(size: tuple[int, int]) -> None:
    """Issue: a session list with search; the one that is open is marked."""
    listing = Listing(*STORED)
    app = listing.app
    async with app.run_test(size=size) as pilot:
        listing.push()
        await pilot.pause()
        assert "❯ ● Mend the sum  /home/me/project" in app.text
        assert app.line_with("Mend").rstrip(" │").endswith("3 min ago")
        assert app.line_with("Write").rstrip(" │").endswith("1 h ago")
        assert app.line_with("untitled s3").rstrip(" │").endswith("yesterday")
        await pilot.press(*"docs")
        await pilot.pause()
        assert "Mend" not in app.text
        await pilot.press("enter")
        await pilot.pause()
    assert listing.double.asked == [("sessions",), ("open", "s2")]
    [chat] = listing.results
    assert chat is not None
    assert chat.session_id == "s2"


@pytest.mark.rule("V1-CLOSE-28")
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_renamed_session_has_the_title_that_the_agent_gave_back(
    size: tuple[int, int],
) -> None:
    """Protocol: agents trim."""
    listing = Listing(*STORED)
    app = listing.app
    async with app.run_test(size=size) as pilot:
        listing.push()
        await pilot.press("down", "ctrl+r")
        await pilot.pause()
        assert "New title" in app.text
        # What was there is marked, so that typing takes its place.
        await pilot.press(*"Docs for people  ", "enter")
        await pilot.pause()
        await pilot.pause()
        assert listing.double.asked[-1] == ("rename", "s2", "Docs for people")
        assert "❯   Docs for p  /p" in app.text
        # Nothing is renamed to nothing, and Esc leaves it.
        await pilot.press("ctrl+r", "ctrl+u", "enter", "escape")
        await pilot.pause()
        assert len(listing.double.asked) == 2


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_nothing_is_deleted_without_a_second_answer(size: tuple[int, int]) -> None:
    """Issue: delete; Enter alone does not do it."""
    listing = Listing(*STORED)
    app = listing.app
    async with app.run_test(size=size) as pilot:
        listing.push()
        await pilot.press("ctrl+d")
        await pilot.pause()
        assert listing.said == ["This session is open in a tab. Close the tab first."]
        for key in ("escape", "enter", "n"):
            await pilot.press("down", "ctrl+d")
            await pilot.pause()
            assert "Delete “" in app.text
            await pilot.press(key, "up")
        assert listing.double.asked == [("sessions",)]
        await pilot.press("down", "ctrl+d", "y")
        await pilot.pause()
        await pilot.pause()
        assert listing.double.asked[-1] == ("delete", "s2")
        assert "Write the docs" not in app.text
        assert "❯   untitled s3" in app.text


@pytest.mark.parametrize(
    ("keys", "asked"),
    [(["ctrl+f"], ("fork", "s1")), (["down", "ctrl+f"], ("fork_stored", "s2"))],
)
async def test_a_session_is_forked_open_or_not(keys: list[str], asked: tuple[str, str]) -> None:
    """Issue: fork."""
    listing = Listing(*STORED)
    async with listing.app.run_test(size=NARROW) as pilot:
        listing.push()
        await pilot.press(*keys)
        await pilot.pause()
    assert listing.double.asked[-1] == asked
    [chat] = listing.results
    assert chat is not None
    assert chat.session_id == "forked"


async def test_what_the_agent_cannot_do_is_said_and_not_done() -> None:
    """Protocol: only what the capabilities have."""
    can = AgentCapabilities(sessions=True, listing=True)
    listing = Listing(*STORED, can=can)
    app = listing.app
    async with app.run_test(size=WIDE) as pilot:
        listing.push()
        await pilot.pause()
        for words in ("rename", "fork", "delete"):
            assert words not in app.text
        await pilot.press("down", "ctrl+r", "ctrl+f", "ctrl+d", "enter")
        await pilot.pause()
        assert listing.said == [
            "This agent cannot rename sessions.",
            "This agent cannot fork sessions.",
            "This agent cannot delete sessions.",
            "This agent cannot resume sessions.",
        ]
        assert listing.double.asked == [("sessions",)]
        # The one that is open can be brought to the front all the same.
        await pilot.press("up", "enter")
        await pilot.pause()
        assert listing.results == [listing.chat]


@pytest.mark.parametrize(
    ("can", "words"),
    [
        (None, "The agent is not running."),
        (AgentCapabilities(), "This agent does not list its sessions."),
        (ALL, "There are no sessions yet."),
    ],
)
async def test_an_empty_list_says_why(can: AgentCapabilities | None, words: str) -> None:
    """Ours."""
    listing = Listing(can=can)
    async with listing.app.run_test(size=NARROW) as pilot:
        listing.push()
        await pilot.pause()
        assert words in listing.app.text
        await pilot.press("ctrl+r", "ctrl+f", "ctrl+d", "enter")
        await pilot.pause()
        assert listing.results == []


async def test_a_list_that_does_not_come_says_why_and_one_that_is_slow_waits() -> None:
    """Contract of the controller: errors are sentences."""
    listing = Listing()
    listing.double.error = LocalProtocolError("the agent is [b]tired[/b]")
    async with listing.app.run_test(size=WIDE) as pilot:
        listing.push()
        await pilot.pause()
        assert "The sessions could not be listed: the agent is [b]tired[/b]" in listing.app.text
    slow = Listing(*STORED)
    gate = anyio.Event()

    async def sessions(chat: Chat) -> list[SessionInfo]:
        await gate.wait()
        return STORED

    slow.double.sessions = sessions  # type: ignore[method-assign]
    async with slow.app.run_test(size=WIDE) as pilot:
        slow.push()
        await pilot.pause()
        assert "Asking the agent for its sessions…" in slow.app.text
        gate.set()
        await pilot.pause()
        await pilot.pause()
        assert "Mend the sum" in slow.app.text


async def test_a_session_that_does_not_open_says_why() -> None:
    """Contract of the controller."""
    listing = Listing(*STORED)
    async with listing.app.run_test(size=WIDE) as pilot:
        listing.push()
        await pilot.pause()
        listing.double.error = LocalProtocolError("it is gone")
        await pilot.press("enter")
        await pilot.pause()
        assert listing.said == ["it is gone"]
        assert listing.results == []


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_thousands_of_sessions_with_any_title(size: tuple[int, int]) -> None:
    """Issue: everything an agent sends is untrusted, and there may be much of it."""
    titles = (HOSTILE, LONG, CJK, "plain")
    stored = [_info(f"x{at}", f"{titles[at % 4]}", at) for at in range(3000)]
    listing = Listing(*stored)
    app = listing.app
    async with app.run_test(size=size) as pilot:
        listing.push()
        await pilot.pause()
        assert "[red]bold[/red]" in app.text
        assert "\x1b" not in app.text
        assert "\u202e" not in app.text
        await pilot.press("ctrl+end")
        await pilot.pause()
        assert "❯ plain" in app.text
        await pilot.click(offset=place_of(app, "delete"))
        await pilot.pause()
        assert "Delete “plain”?" in app.text
