"""Permission as the 2026-02 draft asks for it: an operation, a resource, and for how long."""

from __future__ import annotations

from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.agent.tools.permission_request import PermissionOption
from tests.agent.draft.draft_client import OFFER, DraftClient, draft_client


def agent_that(handler: Any, **more: Any) -> Agent:
    """An agent with this handler."""
    agent = Agent("asks", version="1", **more)
    agent.on_prompt(handler)
    return agent


async def asked(client: DraftClient, session: str) -> Any:
    """A prompt whose permission request is open; both."""
    prompt = client.start_prompt(session)
    return prompt, await client.next("session/request_permission")


async def one_edit(turn: Turn) -> None:
    """A call that asks, and works if it may."""
    call = turn.tool_call("Edit a", kind="edit", locations=["/w/a"], raw_input={"path": "/w/a"})
    async with call:
        if await call.ask("Because"):
            await call.run(int, "1")
            await turn.say("done")
        else:
            await turn.say("refused")


@pytest.mark.rule("D26-34", "D26-22")
async def test_a_call_is_told_asked_about_begun_and_done_in_this_order() -> None:
    """The draft's table 4.1, 5.1."""
    async with draft_client(agent_that(one_edit)) as client:
        session = await client.new_session()
        prompt, request = await asked(client, session)
        assert request["params"] == {
            "sessionId": session,
            "operation": "file_write",
            "resource": "/w/a",
            "reason": "Because\nIf it is remembered, it covers only editing /w/a.",
            "toolCallId": client.told("tool_call")[0]["id"],
        }
        assert client.statuses() == ["pending", "awaiting_permission"]
        client.grant(request, scope="once")
        assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"
        assert client.statuses() == [
            "pending", "awaiting_permission", "in_progress", "completed",
        ]  # fmt: skip
        assert client.text() == "done"


@pytest.mark.rule("D26-32")
@pytest.mark.parametrize(
    "answer",
    [{"granted": False}, {"granted": False, "remember": True}, {}, {"granted": "yes"}, [], None],
)
async def test_only_a_grant_is_consent(answer: Any) -> None:
    """The draft's table 4.1: a refusal ends the call as `denied`."""
    async with draft_client(agent_that(one_edit)) as client:
        session = await client.new_session()
        prompt, request = await asked(client, session)
        client.reply(request, answer)
        assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"
        assert client.statuses() == ["pending", "awaiting_permission", "denied"]
        assert client.text() == "refused"


@pytest.mark.parametrize("code", [-32002, -32003])
async def test_an_error_that_says_no_is_no(code: int) -> None:
    """The draft's table 4.1, 9: permission denied, operation cancelled."""
    async with draft_client(agent_that(one_edit)) as client:
        session = await client.new_session()
        prompt, request = await asked(client, session)
        client.refuse(request, code)
        assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"
        assert client.statuses()[-1] == "denied"


async def test_a_client_without_dialogs_is_not_asked() -> None:
    """Draft, 7: `ui.permissionDialogs` false; the mode may allow, else the answer is no."""
    agent = agent_that(one_edit)
    agent.add_mode("default", "Default")
    agent.add_mode("code", "Code", allow="edit")
    async with draft_client(agent, OFFER | {"ui": {"permissionDialogs": False}}) as client:
        session = await client.new_session()
        await client.prompt(session)
        assert client.statuses() == ["pending", "awaiting_permission", "denied"]
        await client.result("session/set_mode", {"sessionId": session, "mode": "code"})
        await client.prompt(session)
        assert client.statuses()[3:] == ["pending", "in_progress", "completed"]
        assert "session/request_permission" not in client.methods()


@pytest.mark.parametrize(
    ("scope", "here", "there", "elsewhere"),
    [
        ({"scope": "once"}, True, True, True),
        ({}, True, True, True),
        ({"scope": "session"}, False, True, True),
        ({"remember": True}, False, True, True),
        ({"scope": "workspace"}, False, False, True),
        ({"scope": "always"}, False, False, False),
    ],
)
async def test_a_grant_holds_as_long_as_the_user_said(
    scope: dict[str, Any], here: bool, there: bool, elsewhere: bool
) -> None:
    """The draft's table 4.1: once, session, workspace, always; whether the user is asked again."""
    async with draft_client(agent_that(one_edit)) as client:
        session = await client.new_session("/one")
        before = await client.new_session("/one")
        prompt, request = await asked(client, session)
        client.grant(request, **scope)
        await client.answer(prompt)
        later = await client.new_session("/one")
        other = await client.new_session("/two")
        again = {session: here, before: there, later: there, other: elsewhere}
        for one, is_asked in again.items():
            asked_before = client.methods().count("session/request_permission")
            prompt = client.start_prompt(one)
            if is_asked:
                client.grant(await client.next("session/request_permission"), scope="once")
            await client.answer(prompt)
            asked_now = client.methods().count("session/request_permission") - asked_before
            assert asked_now == int(is_asked)
    async with draft_client(agent_that(one_edit)) as stranger:
        # Another client has another user.
        session = await stranger.new_session("/one")
        prompt, request = await asked(stranger, session)
        stranger.grant(request)
        await stranger.answer(prompt)


async def test_an_option_of_the_agents_own_is_chosen_by_what_it_means() -> None:
    """The draft's table 4.1: the first that fits; none is `cancelled`."""
    chosen: list[Any] = []

    async def choose(turn: Turn) -> None:
        call = turn.tool_call("Go on?", kind="switch_mode")
        await call.announce()
        for kinds in (("allow_always",), ("allow_once", "allow_always"), ("reject_once",)):
            options = [
                PermissionOption(f"o{n}", n, kind) for n, kind in zip("ab", kinds, strict=False)
            ]
            chosen.append(await call.choose("?", options=options))
        await call.complete()

    async with draft_client(agent_that(choose)) as client:
        session = await client.new_session()
        prompt = client.start_prompt(session)
        for scope in ("once", "session", "session"):
            request = await client.next("session/request_permission")
            assert request["params"]["operation"] == "mcp_tool"
            assert request["params"]["resource"] == "Go on?"
            client.grant(request, scope=scope)
        await client.answer(prompt)
    assert [one and one.option_id for one in chosen] == [None, "ob", None]
