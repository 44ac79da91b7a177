"""The people of a session, as pickers."""

from __future__ import annotations

import pytest

from accord.client.people import SessionPeople
from accord.errors import LocalProtocolError
from accord.terminal.model.chat import Chat
from accord.terminal.screen.pickers import PeopleScreen
from tests.terminal.screen.harness.shared_chats import ANN, BOB, EVE, shared_chat
from tests.terminal.screen.harness.stage import (
    HOSTILE,
    NARROW,
    WIDE,
    ControllerDouble,
    Stage,
    a_chat,
)


class Shared(ControllerDouble):
    """A controller of chats that a gateway shares."""

    async def people(self, chat: Chat) -> SessionPeople:
        if chat.people is None:
            raise LocalProtocolError("no gateway shares this session")
        await chat.people.refresh()
        return chat.people

    async def invite(self, chat: Chat, role: str) -> str:
        self._note("invite", role)
        return "https://agents.example.com/acp#invite=s1.code"

    async def set_role(self, chat: Chat, user: str, role: str | None) -> None:
        self._note("role", user, role)
        chat.changed()


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_an_admin_invites_somebody_and_sees_the_address_once(size: tuple[int, int]) -> None:
    """Issue 17: an invitation with a role; it can be copied."""
    chat = shared_chat("ann", ANN, BOB)
    double = Shared(chat)
    app = Stage()
    async with app.run_test(size=size) as pilot:
        app.push_screen(PeopleScreen(chat, double.controller))
        await pilot.pause()
        assert "admin, here" in app.line_with("Ann (you)")
        assert "viewer, typing" in app.line_with("Bob")
        await pilot.press(*"invite", "enter")
        await pilot.pause()
        assert "reads along" in app.line_with("viewer")
        await pilot.press("down", "enter")
        await pilot.pause()
        assert double.asked == [("invite", "editor")]
        shown = "".join(line.strip(" │") for line in app.lines).replace(" ", "")
        assert "oneperson" in shown
        assert "accordchat'https://agents.example.com/acp#invite=s1.code'" in shown
        await pilot.press("c")
        assert app.clipboard.startswith("accord chat 'https://")
        assert app.notes == ["Copied."]
        await pilot.press("escape")
        await pilot.pause()
        assert "s1.code" not in app.text


async def test_an_admin_changes_a_role_and_removes_somebody() -> None:
    """Issue 17: as far as the gateway offers it."""
    chat = shared_chat("ann", ANN, BOB, EVE)
    double = Shared(chat)
    app = Stage()
    async with app.run_test(size=WIDE) as pilot:
        app.push_screen(PeopleScreen(chat, double.controller))
        await pilot.pause()
        await pilot.press(*"bob", "enter")
        await pilot.pause()
        assert "●" in app.line_with("reads along")
        await pilot.press(*"editor", "enter")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press(*"remove", "enter")
        await pilot.pause()
        assert double.asked == [("role", "bob", "editor"), ("role", "bob", None)]


async def test_a_failure_is_told_and_nothing_is_lost() -> None:
    """Ours: what the gateway refuses is a sentence."""
    chat = shared_chat("ann", ANN, BOB)
    double = Shared(chat)
    double.error = LocalProtocolError("the owner stays an admin")
    app = Stage()
    async with app.run_test(size=WIDE) as pilot:
        app.push_screen(PeopleScreen(chat, double.controller))
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.notes == ["the owner stays an admin"]


async def test_somebody_else_may_only_leave() -> None:
    """An editor sees who is here, is told whom to ask, and may go."""
    chat = shared_chat("eve", ANN, {**EVE, "here": True}, {**BOB, "displayName": HOSTILE})
    double = Shared(chat)
    app = Stage()
    async with app.run_test(size=WIDE) as pilot:
        app.push_screen(PeopleScreen(chat, double.controller))
        await pilot.pause()
        assert "Invite" not in app.text
        assert "\x1b" not in app.text
        await pilot.press(*"ann", "enter")
        assert app.notes[-1].endswith("Ask Ann.")
        await pilot.press(*["backspace"] * 3, *"eve", "enter")
        await pilot.pause()
        assert "reads along" not in app.text
        await pilot.press("enter")
        await pilot.pause()
        assert double.asked == [("role", "eve", None)]


async def test_without_a_gateway_nobody_else_can_be_here() -> None:
    chat = a_chat()
    app = Stage()
    async with app.run_test(size=WIDE) as pilot:
        app.push_screen(PeopleScreen(chat, Shared(chat).controller))
        await pilot.pause()
        assert "no gateway shares this session" in app.text
