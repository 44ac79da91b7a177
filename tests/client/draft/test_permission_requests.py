"""Permission requests of the 2026-02 draft: shown as any other, answered in its own words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.client.permissions.grants import Grant, Grants
from accord.client.permissions.permissions import Permissions
from accord.client.permissions.request import Decision, PermissionRequest
from accord.client.permissions.rules import Rule
from tests.client.draft.draft_script import drafting, open_session, tell
from tests.client.scripted_agent import Json, ScriptedAgent


async def asked(
    folder: Path, permissions: Any, *requests: Json, call: Json | None = None
) -> list[Json]:
    """What the client answers to these requests, in one turn."""
    answers: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        prompt = await agent.expect("session/prompt")
        if call is not None:
            tell(agent, "tool_call", **call)
        for params in requests:
            request = agent.request("session/request_permission", {"sessionId": "s1", **params})
            answers.append(await agent.answer_to(request))
        agent.result(prompt, {"stopReason": "end_turn"})

    async with drafting(script, permissions=permissions) as (client, _):
        session = await client.new_session(folder)
        await session.ask("x")
    return answers


WRITE: Json = {"operation": "file_write", "resource": "/w/a.txt", "reason": "to fix it"}


@pytest.mark.rule("D26-10", "D26-21")
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("once", {"granted": True, "remember": False, "scope": "once"}),
        ("session", {"granted": True, "remember": True, "scope": "session"}),
        ("workspace", {"granted": True, "remember": True, "scope": "workspace"}),
        ("always", {"granted": True, "remember": True, "scope": "always"}),
        ("deny", {"granted": False, "remember": False}),
        ("deny_always", {"granted": False, "remember": True}),
        (True, {"granted": True, "remember": False, "scope": "once"}),
        (False, {"granted": False, "remember": False}),
        (None, {"granted": False}),
        ("nonsense", {"granted": False, "remember": False}),
    ],
)
async def test_the_users_answer_is_told_in_the_words_of_the_draft(
    tmp_path: Path, answer: Any, expected: Json
) -> None:
    """The draft's table 4.1: six options, and nothing that was not offered is ever granted."""
    (answered,) = await asked(tmp_path, Permissions.ask(lambda request: answer), WRITE)
    assert answered["result"] == expected


@pytest.mark.rule("D26-21")
@pytest.mark.parametrize("scope", ["session", "workspace", "always"])
@pytest.mark.parametrize("allowed", [True, False])
async def test_what_is_chosen_for_longer_is_kept_as_a_grant(
    tmp_path: Path, scope: str, allowed: bool
) -> None:
    """Issue 5: the scopes of the draft are those of our grants."""
    questions: list[PermissionRequest] = []
    chosen = scope if allowed else "deny_always"

    def ask(request: PermissionRequest) -> str:
        questions.append(request)
        return chosen

    grants = Grants()
    permissions = Permissions.ask(ask, grants=grants)
    first, second = await asked(tmp_path, permissions, WRITE, WRITE)
    assert len(questions) == 1
    assert first["result"]["granted"] is second["result"]["granted"] is allowed
    kept = [grant.scope for grant in grants]
    assert kept == ([scope] if allowed and scope != "session" else [])


@pytest.mark.rule("D26-21")
@pytest.mark.parametrize(("scope", "times"), [("session", 2), ("workspace", 1), ("always", 1)])
async def test_a_grant_outlives_the_connection_to_an_agent_of_the_draft(
    tmp_path: Path, scope: str, times: int
) -> None:
    """The draft's 5.2.1, 14.2: this workspace, for ever; it is the client that remembers."""
    questions: list[PermissionRequest] = []

    def ask(request: PermissionRequest) -> str:
        questions.append(request)
        return scope

    stored: list[Grant] = []

    def store(grants: Sequence[Grant]) -> None:
        stored[:] = grants

    for _ in range(2):
        # As a program does that was restarted.
        grants = Grants(tuple(stored), on_change=store)
        (answered,) = await asked(tmp_path, Permissions.ask(ask, grants=grants), WRITE)
        assert answered["result"]["granted"] is True
    assert len(questions) == times


async def test_our_own_remembering_is_not_the_agents(tmp_path: Path) -> None:
    """Ours: who allows once and has us remember it tells the agent: once."""
    permissions = Permissions.ask(lambda request: Decision("once", scope="workspace"))
    (answered,) = await asked(tmp_path, permissions, WRITE)
    assert answered["result"] == {"granted": True, "remember": False, "scope": "once"}
    assert [grant.scope for grant in permissions.remembered()] == ["workspace"]


@pytest.mark.parametrize(
    ("operation", "resource", "facts"),
    [
        ("file_read", "a.txt", {"kind": "read", "paths": ("{cwd}/a.txt",)}),
        ("file_write", "/w/a", {"kind": "edit", "paths": ("/w/a",)}),
        ("file_delete", "/w/a", {"kind": "delete", "paths": ("/w/a",)}),
        ("terminal_execute", "make test", {"kind": "execute", "command": "make test"}),
        ("execute", "make test", {"kind": "execute", "command": "make test"}),
        ("network_access", "https://a.example/x", {"kind": "fetch", "hosts": ("a.example",)}),
        ("network_access", "b.example", {"kind": "fetch", "hosts": ("b.example",)}),
        ("mcp_tool", "files/read", {"kind": "other", "mcp_tool": "files/read"}),
        ("teleport", "mars", {"kind": "other"}),
    ],
)
async def test_an_operation_is_what_rules_and_users_look_at(
    tmp_path: Path, operation: str, resource: str, facts: Json
) -> None:
    """The draft's table 4.1."""
    seen: list[PermissionRequest] = []

    def ask(request: PermissionRequest) -> bool:
        seen.append(request)
        return False

    request = {"operation": operation, "resource": resource, "reason": "why"}
    await asked(tmp_path, Permissions.ask(ask), request)
    assert seen[0].title == f"{operation}: {resource}"
    assert seen[0].reason == "why"
    for name, expected in facts.items():
        if name == "paths":
            expected = tuple(path.format(cwd=tmp_path) for path in expected)
        assert getattr(seen[0], name) == expected


async def test_the_tool_call_is_shown_with_the_request(tmp_path: Path) -> None:
    """Ours: what the call names counts beside what the request says."""
    seen: list[PermissionRequest] = []

    def ask(request: PermissionRequest) -> bool:
        seen.append(request)
        return False

    call = {
        "id": "tc",
        "tool": "fs/write_text_file",
        "input": {},
        "status": "awaiting_permission",
        "location": {"path": "/w/b.txt", "line": 2},
    }
    await asked(tmp_path, Permissions.ask(ask), {**WRITE, "toolCallId": "tc"}, call=call)
    assert seen[0].tool_call is not None
    assert seen[0].tool_call.status == "pending"
    assert seen[0].paths == ("/w/a.txt", "/w/b.txt")


async def test_rules_decide_as_for_any_agent(tmp_path: Path) -> None:
    """Ours."""
    rules = [Rule(effect="allow", kind="edit"), Rule(effect="reject", command="rm *")]
    permissions = Permissions.policy(rules)
    run = {"operation": "terminal_execute", "resource": "rm -r x"}
    write = {**WRITE, "resource": str(tmp_path / "a.txt")}
    first, second = await asked(tmp_path, permissions, write, run)
    assert first["result"] == {"granted": True, "remember": False, "scope": "once"}
    assert second["result"]["granted"] is False


@pytest.mark.rule("D26-34")
async def test_an_approved_call_may_write_its_file_without_another_question(
    tmp_path: Path,
) -> None:
    """Draft 8.3: asked once, written once; another file is another question."""
    questions: list[str] = []
    answers: list[Json] = []

    def ask(request: PermissionRequest) -> bool:
        questions.append(request.title)
        return len(questions) == 1

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        prompt = await agent.expect("session/prompt")
        call: Json = {"id": "tc", "tool": "fs/write_text_file", "input": {}, "status": "pending"}
        tell(agent, "tool_call", **call)
        params = {"operation": "file_write", "resource": "a.txt", "toolCallId": "tc"}
        request = agent.request("session/request_permission", {"sessionId": "s1", **params})
        await agent.answer_to(request)
        tell(agent, "tool_call_update", id="tc", status="in_progress")
        for name in ("a.txt", "b.txt"):
            request = agent.request("fs/write_text_file", {"path": name, "content": "x"})
            answers.append(await agent.answer_to(request))
        agent.result(prompt, {"stopReason": "end_turn"})

    options: Json = {"permissions": Permissions.ask(ask), "files": True}
    async with drafting(script, **options) as (client, _):
        session = await client.new_session(tmp_path)
        await session.ask("x")
    assert answers[0]["result"]["created"] is True
    assert answers[1]["error"]["code"] == -32002
    assert len(questions) == 2


@pytest.mark.rule("D26-15")
async def test_a_question_that_is_cancelled_grants_nothing(tmp_path: Path) -> None:
    """The draft's table 4.1: cancelled is `granted: false`."""
    answers: list[Json] = []
    waiting = anyio.Event()

    async def ask(request: PermissionRequest) -> bool:
        waiting.set()
        await anyio.sleep_forever()
        return True

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        prompt = await agent.expect("session/prompt")
        request = agent.request("session/request_permission", {"sessionId": "s1", **WRITE})
        await agent.expect("session/cancel")
        answers.append(await agent.answer_to(request))
        agent.result(prompt, {"stopReason": "cancelled"})

    async with drafting(script, permissions=Permissions.ask(ask)) as (client, _):
        session = await client.new_session(tmp_path)
        async with session.prompt("x") as turn:
            await waiting.wait()
            await turn.cancel()
            assert (await turn.wait()).stop_reason == "cancelled"
    assert answers[0]["result"] == {"granted": False}


@pytest.mark.rule("D26-33")
async def test_a_question_about_no_session_is_refused(tmp_path: Path) -> None:
    """The draft's table 9: -32000 is a session that is not there."""
    (answered,) = await asked(tmp_path, Permissions.allow_all(), {**WRITE, "sessionId": "another"})
    assert answered["error"]["code"] == -32000


async def test_the_audit_says_for_how_long_it_was_allowed(tmp_path: Path) -> None:
    """Ours: the option that was chosen says it."""
    told: list[tuple[str, bool]] = []
    permissions = Permissions(
        ask=lambda request: "workspace",
        on_decided=lambda decided, agent: told.append((decided.scope, decided.allowed)),
    )
    await asked(tmp_path, permissions, WRITE)
    assert told == [("workspace", True)]
