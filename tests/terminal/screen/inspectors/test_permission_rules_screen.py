"""The list of what agents may do: searched, revoked, taken back."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import SimpleNamespace

from textual.pilot import Pilot

from accord.client.permissions.grants import Grant, Grants
from accord.client.permissions.permissions import Permissions
from accord.client.permissions.request import Decision
from accord.client.permissions.rules import Rule
from accord.terminal.screen.inspectors.permission_rules_screen import GrantsScreen
from tests.terminal.screen.harness.question_stage import FOLDER, HOSTILE, Asking, a_request

NARROW = (60, 20)


def a_grant(grant_id: str, rule: Rule, agent: str | None = None) -> Grant:
    return Grant(
        grant_id=grant_id, rule=rule, scope="workspace", workspace="/nowhere/project", agent=agent
    )


EDIT = a_grant("g1", Rule(effect="allow", kind="edit", path=f"{FOLDER}/a.py", exact=True), "demo")
TOOL = a_grant("g2", Rule(effect="reject", mcp_tool="tracker/create", exact=True))


@asynccontextmanager
async def listed(
    *grants: Grant, rules: tuple[Rule, ...] = (), size: tuple[int, int] = (100, 30)
) -> AsyncGenerator[tuple[Asking, Pilot[None], Permissions]]:
    """The list on a screen."""
    permissions = Permissions(rules, ask=lambda _: None, grants=Grants(grants))
    app = Asking()
    async with app.run_test(size=size) as pilot:
        app.push_screen(GrantsScreen(SimpleNamespace(permissions=permissions), FOLDER))
        await pilot.pause()
        await pilot.pause()
        yield app, pilot, permissions


async def test_rules_and_answers_are_said_in_words() -> None:
    """Issue: a screen lists grants, allow and reject alike."""
    rules = (Rule(effect="ask", kind="execute"), Rule(effect="allow", kind="read", path="src/**"))
    async with listed(EDIT, TOOL, rules=rules) as (app, _, _permissions):
        for words in (
            "✓ allow   changing a.py  in /nowhere/project, for demo",
            "✗ reject  the tool create of the MCP server tracker",
            "? ask     running any command  a rule",
            "✓ allow   reading files matching src/**",
        ):
            assert words in app.text


async def test_a_revoked_answer_binds_at_once_and_that_can_be_undone() -> None:
    """Issue: revokes grants; a revoked grant binds running sessions at once."""
    async with listed(TOOL, EDIT, size=NARROW) as (app, pilot, permissions):
        request = a_request(paths=(f"{FOLDER}/a.py",))
        here = permissions.for_connection("demo")
        here.add_session("s", FOLDER)
        assert await here.decide(request) == Decision("allow_once")
        await pilot.press("delete")
        assert permissions.remembered() == (TOOL,)
        assert (await here.decide(request)).option_id is None
        await pilot.pause()
        assert "Revoked: changing a.py. Ctrl+Z restores it." in " ".join(
            app.text.replace("│", " ").split()
        )
        await pilot.press("ctrl+z")
        assert set(permissions.remembered()) == {TOOL, EDIT}
        assert await here.decide(request) == Decision("allow_once")
        await pilot.press("ctrl+z")
        await pilot.pause()
        assert "Nothing to undo" in app.text


async def test_a_rule_is_not_revoked_here() -> None:
    """Brief: the policy file is read-only."""
    async with listed(rules=(Rule(effect="allow", kind="read"),)) as (app, pilot, permissions):
        assert "Rules are in your permissions file" in app.text
        await pilot.press("delete")
        await pilot.pause()
        assert len(permissions.rules) == 1
        assert "not here" in app.text


async def test_the_list_is_searched() -> None:
    """Brief: with search."""
    async with listed(EDIT, TOOL) as (app, pilot, permissions):
        await pilot.press(*"tracker rej")
        await pilot.pause()
        assert "changing" not in app.text
        await pilot.press("enter", "delete")
        assert permissions.remembered() == (EDIT,)
        await pilot.pause()
        assert "Ctrl+Z restores it" in app.text


async def test_arrows_go_through_the_list_while_something_is_typed() -> None:
    """Brief: by keyboard alone."""
    async with listed(EDIT, TOOL) as (app, pilot, permissions):
        await pilot.press("down")
        await pilot.pause()
        assert "allow: changing a.py" in app.text
        await pilot.press("delete", "delete", "delete")
        assert permissions.remembered() == ()
        await pilot.pause()
        await pilot.press("up", "down")
        await pilot.press("escape")
        assert not isinstance(app.screen, GrantsScreen)


async def test_a_newer_answer_is_not_undone() -> None:
    """Client: one thing has one answer."""
    async with listed(EDIT) as (app, pilot, permissions):
        await pilot.press("delete")
        newer = a_grant("g9", Rule(effect="reject", kind="edit", path=EDIT.rule.path, exact=True))
        newer = Grant(grant_id="g9", rule=newer.rule, scope="workspace", workspace=EDIT.workspace,
                      agent="demo")  # fmt: skip
        assert permissions.restore(newer)
        await pilot.press("ctrl+z")
        await pilot.pause()
        assert permissions.remembered() == (newer,)
        assert "newer answer" in app.text


async def test_nothing_in_the_list_is_markup() -> None:
    """Issue: titles are the agent's words."""
    grant = a_grant("g", Rule(effect="allow", kind="other", title=HOSTILE), HOSTILE)
    async with listed(grant) as (app, _, _permissions):
        assert "[red]bold[/red]" in app.text
        assert not {"\x1b", "\u202e"} & set(app.text)


async def test_an_empty_list_says_so() -> None:
    """Ours: never an empty screen."""
    async with listed() as (app, pilot, _):
        assert "no remembered answers" in app.text
        await pilot.press("x", "delete", "up")
        await pilot.pause()
        assert "No matches" in app.text
