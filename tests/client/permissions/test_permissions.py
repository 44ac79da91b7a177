"""Permissions: what is decided, by whom, and what is remembered."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from accord.client.permissions.grants import Grants
from accord.client.permissions.permissions import Permissions
from accord.client.permissions.request import (
    CANCELLED,
    OWN_OPTIONS,
    Decision,
    PermissionOption,
    PermissionRequest,
    Scope,
)
from accord.client.permissions.rules import Rule

pytestmark = pytest.mark.anyio

ONLY_ALWAYS = (PermissionOption("forever", "Always", "allow_always"),)


def request(session_id: str = "s", title: str = "Edit a", **about: Any) -> PermissionRequest:
    about = {"kind": "edit", "paths": ("/nowhere/a",), "options": OWN_OPTIONS, **about}
    return PermissionRequest(session_id=session_id, title=title, **about)


def answering(*answers: Any) -> tuple[Permissions, list[PermissionRequest]]:
    """Permissions whose user gives these answers, and what the user was asked."""
    left, asked = list(answers), []

    async def answer(one: PermissionRequest) -> Any:
        asked.append(one)
        await checkpoint()
        return left.pop(0)

    return Permissions.ask(answer), asked


@pytest.mark.rule("V1-PERM-04", "V2-PERM-03")
async def test_allow_all_and_deny_all_ask_nobody() -> None:
    """Issue: `allow_all` and `deny_all`."""
    assert await Permissions.allow_all().decide(request()) == Decision("allow_once")
    assert await Permissions.deny_all().decide(request()) == Decision("reject_once")
    for path in ("/a", "~/odd"):
        assert await Permissions.allow_all().may_write("s", path)
        assert not await Permissions.deny_all().may_write("s", path)
    assert await Permissions.allow_all().may_run("s", "rm", ["-rf", "/"])
    assert not await Permissions.deny_all().may_run("s", "ls")
    assert await Permissions.deny_all().may_read("s", "/a")


async def test_nobody_to_ask_means_no() -> None:
    """Issue: where there is no user to ask it is refused; that is the default."""
    nobody = Permissions()
    assert await nobody.decide(request()) == Decision("reject_once")
    assert await nobody.decide(request(options=ONLY_ALWAYS)) == CANCELLED
    assert not await nobody.may_write("s", "/a")
    assert not await nobody.may_run("s", "ls")
    assert await nobody.may_read("s", "/a")


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("allow_once", "allow_once"),
        ("reject_always", "reject_always"),
        (OWN_OPTIONS[1], "allow_always"),
        (Decision("allow_once", "session"), "allow_once"),
        (True, "allow_once"),
        (False, "reject_once"),
        (None, None),
        (Decision(None), None),
    ],
)
@pytest.mark.rule("V1-PERM-03")
async def test_the_answer_of_the_user_is_taken(answer: Any, chosen: str | None) -> None:
    """Issue: `ask(callback)`; the client answers with an offered id or cancelled."""
    user, asked = answering(answer)
    assert (await user.decide(request())).option_id == chosen
    assert len(asked) == 1


async def test_a_plain_function_may_answer_too() -> None:
    """Ours: not every program has something to wait for."""
    assert await Permissions.ask(lambda _: True).decide(request()) == Decision("allow_once")


@pytest.mark.parametrize(
    "nonsense",
    [
        "",
        "not_offered",
        1,
        0,
        "Allow once",
        {"optionId": "allow_once"},
        PermissionOption("allow_once", "Allow once", "reject_once"),
        PermissionOption("x", "X", "allow_once"),
        Decision("not_offered"),
        Decision("allow_once", "forever"),  # type: ignore[arg-type]
        Decision("allow_once", "session", Rule(effect="reject", kind="edit")),
        Decision("reject_once", "session", Rule(effect="allow", kind="edit")),
        [],
    ],
)
async def test_nonsense_is_a_refusal_and_is_reported(
    nonsense: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue: what is not understood is never approval."""
    user, _ = answering(nonsense, nonsense)
    with caplog.at_level(logging.ERROR, "accord.client"):
        assert await user.decide(request()) == Decision("reject_once")
    assert "refused" in caplog.text
    assert not await user.may_write("s", "/nowhere/a")
    assert user.remembered() == ()


async def test_a_callback_that_raises_is_a_refusal_and_is_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Issue: what is not understood is never approval."""

    async def fails(_: PermissionRequest) -> bool:
        raise RuntimeError("the dialog broke")

    with caplog.at_level(logging.ERROR, "accord.client"):
        assert await Permissions.ask(fails).decide(request()) == Decision("reject_once")
    assert "the dialog broke" in caplog.text


async def test_an_id_that_was_offered_twice_is_no_answer() -> None:
    """Ours: nobody knows which of the two the agent would take it for."""
    twice = (
        PermissionOption("x", "Yes", "allow_once"),
        PermissionOption("x", "No", "reject_once"),
    )
    user, asked = answering("x")
    assert await user.decide(request(options=twice)) == CANCELLED
    assert await Permissions.allow_all().decide(request(options=twice)) == CANCELLED
    assert asked == []


async def test_an_option_of_an_unknown_kind_is_passed_on_but_approves_nothing() -> None:
    """Issue: unknown kinds are not approval; yet the user may choose what was offered."""
    odd = (PermissionOption("plan", "Plan first", "_plan"), *OWN_OPTIONS)
    user, _ = answering(Decision("plan", "always"), None)
    assert (await user.decide(request(options=odd))).option_id == "plan"
    assert user.remembered() == ()
    assert not await user.may_write("s", "/nowhere/a")
    only_odd = await Permissions.allow_all().decide(request(options=odd[:1]))
    assert only_odd == CANCELLED


async def test_yes_takes_a_lasting_option_only_where_there_is_no_other() -> None:
    """Ours: saying yes once must not have the agent remember more than needed."""
    user, _ = answering(True, True)
    assert (await user.decide(request(options=ONLY_ALWAYS))).option_id == "forever"
    assert (await user.decide(request(title="b", paths=("/b",)))).option_id == "allow_once"


async def test_a_narrow_rule_does_not_choose_a_lasting_option() -> None:
    """Ours: "always" would have the agent remember more than the rule says."""
    rules = [Rule(effect="allow", path="/nowhere/**")]
    nobody = Permissions.policy(rules)
    assert await nobody.decide(request(options=ONLY_ALWAYS)) == CANCELLED
    assert await nobody.decide(request()) == Decision("allow_once")
    edits = Permissions.policy([Rule(effect="allow", kind="edit")])
    edits.add_session("s", "/nowhere")
    assert await edits.decide(request()) == Decision("allow_once")
    # For the agent "always" would be more than edits in the session's folders.
    assert await edits.decide(request(options=ONLY_ALWAYS)) == CANCELLED
    everything = Permissions.policy([Rule(effect="allow")])
    assert await everything.decide(request(options=ONLY_ALWAYS)) == Decision("forever")


async def test_a_policy_decides_and_asks_for_the_rest() -> None:
    """Issue: a policy of rules."""
    asked = []

    async def user(one: PermissionRequest) -> bool:
        asked.append(one.title)
        return True

    rules = [Rule(effect="allow", path="/nowhere/**"), Rule(effect="reject", path="/etc/**")]
    policy = Permissions.policy(rules, otherwise=user)
    assert await policy.decide(request()) == Decision("allow_once")
    assert await policy.decide(request(paths=("/etc/x",))) == Decision("reject_once")
    assert asked == []
    assert await policy.decide(request(title="else", paths=("/x",))) == Decision("allow_once")
    assert asked == ["else"]
    strict = Permissions.policy([*rules, Rule(effect="ask", kind="delete")])
    assert await strict.decide(request(paths=("/x",))) == Decision("reject_once")
    assert await strict.decide(request(kind="delete", paths=())) == Decision("reject_once")


@pytest.mark.parametrize("scope", ["session", "workspace", "always"])
@pytest.mark.parametrize("option", ["allow_once", "reject_once"])
async def test_an_answer_is_remembered_for_its_scope(
    scope: Scope, option: str, tmp_path: Path
) -> None:
    """Issue: scopes once, session, workspace, always; allow and reject are remembered alike."""
    user, asked = answering(Decision(option, scope), None, None)
    user.add_session("s", str(tmp_path))
    user.add_session("t", str(tmp_path))
    user.add_session("u", "/nowhere")
    for _ in range(2):
        assert (await user.decide(request())).option_id == option
    assert await user.may_write("s", "/nowhere/a") is (option == "allow_once")
    assert len(asked) == 1
    seen = {one: (await user.decide(request(one))).option_id for one in ("t", "u")}
    holds = {"session": set(), "workspace": {"t"}, "always": {"t", "u"}}[scope]
    assert {one for one, chosen in seen.items() if chosen == option} == holds
    [grant] = user.remembered()
    assert grant.scope == scope


async def test_once_is_once() -> None:
    """Issue: the scope once."""
    user, asked = answering("allow_once", "reject_once")
    await user.decide(request())
    assert await user.decide(request()) == Decision("reject_once")
    assert len(asked) == 2
    assert user.remembered() == ()


async def test_an_always_of_the_agent_holds_for_the_session_and_for_that_thing() -> None:
    """Users: "always allow bash" must not approve every later command."""
    user, asked = answering("allow_always", None, None)
    about: dict[str, Any] = {"kind": "execute", "paths": (), "cwd": "/nowhere"}
    await user.decide(request(command="git status", **about))
    assert (await user.decide(request(command="git status", **about))).option_id == "allow_once"
    assert await user.decide(request(command="git status; rm x", **about)) == CANCELLED
    assert await user.decide(request("t", command="git status", **about)) == CANCELLED
    assert len(asked) == 3


async def test_the_user_may_choose_a_wider_rule() -> None:
    """Users: twenty questions for twenty edits are too many."""
    rule = Rule(effect="allow", path="/nowhere/**")
    user, asked = answering(Decision("allow_once", "session", rule))
    for name in "abc":
        assert (await user.decide(request(paths=(f"/nowhere/{name}",)))).option_id == "allow_once"
    assert len(asked) == 1


async def test_workspace_without_a_workspace_is_the_session() -> None:
    """Ours: never wider than what was meant."""
    user, _ = answering(Decision("allow_once", "workspace"))
    await user.decide(request())
    assert [grant.scope for grant in user.remembered()] == ["session"]


async def test_what_cannot_be_named_holds_once(caplog: pytest.LogCaptureFixture) -> None:
    """Issue: what is not understood is never approval; it is said that it holds once."""
    user, asked = answering(*[Decision("allow_once", "always")] * 2)
    for _ in range(2):
        await user.decide(request(paths=("~/odd",)))
    assert len(asked) == 2
    assert "holds only once" in caplog.text


async def test_a_revoked_grant_binds_a_running_session_at_once() -> None:
    """Issue: a revoked rule binds running sessions at once."""
    user, asked = answering(Decision("allow_once", "always"), False)
    running = user.for_connection()
    await running.decide(request())
    assert await running.may_write("s", "/nowhere/a")
    [grant] = user.remembered()
    assert user.revoke(grant.grant_id)
    assert not user.revoke(grant.grant_id)
    assert not await running.may_write("s", "/nowhere/a")
    assert len(asked) == 2


async def test_a_rule_that_is_taken_back_binds_at_once() -> None:
    """Issue: a revoked rule binds running sessions at once."""
    rule = Rule(effect="allow", kind="edit")
    policy = Permissions.policy([])
    running = policy.for_connection()
    running.add_session("s", "/nowhere")
    policy.add_rule(rule)
    assert policy.rules == (rule,)
    assert await running.may_write("s", "/nowhere/a")
    assert policy.remove_rule(rule)
    assert not policy.remove_rule(rule)
    assert not await running.may_write("s", "/nowhere/a")


async def test_two_agents_with_the_same_session_id_share_nothing_of_it() -> None:
    """Users: "always" of one session leaked into others."""
    user, _ = answering(Decision("allow_once", "session"), None)
    one, two = user.for_connection("cat"), user.for_connection("cat")
    await one.decide(request())
    assert await two.decide(request()) == CANCELLED
    assert (await one.decide(request())).option_id == "allow_once"
    one.end_connection()
    assert user.remembered() == ()


async def test_what_was_always_granted_to_one_agent_is_no_other_s() -> None:
    """Users: "always" leaked to all agents."""
    user, _ = answering(Decision("allow_once", "always"), None)
    cat, dog = user.for_connection("cat"), user.for_connection("dog")
    await cat.decide(request())
    assert await dog.decide(request()) == CANCELLED
    assert (await user.for_connection("cat").decide(request())).option_id == "allow_once"


async def test_an_agent_without_a_name_answers_for_no_other() -> None:
    """Users: "always" leaked to all agents."""
    user, _ = answering(Decision("allow_once", "always"), None)
    await user.for_connection().decide(request())
    assert await user.for_connection("cat").decide(request()) == CANCELLED


async def test_grants_may_be_shared_and_stored() -> None:
    """Issue: `always` and `workspace` live in an object that a later store fills."""
    grants = Grants()
    user = Permissions.ask(lambda _: Decision("allow_once", "always"), grants=grants)
    await user.decide(request())
    again = Permissions.policy([], grants=Grants(list(grants)))
    assert await again.decide(request()) == Decision("allow_once")


async def test_reading_is_free_unless_a_rule_speaks_against_it() -> None:
    """Ours: a rule against a path is meant for reading too."""
    asked: list[PermissionRequest] = []

    def user(one: PermissionRequest) -> bool:
        asked.append(one)
        return True

    rules = [
        Rule(effect="reject", path="**/.env"),
        Rule(effect="ask", path="secret/**"),
        Rule(effect="allow", kind="edit"),
    ]
    policy = Permissions.policy(rules, ask=user)
    policy.add_session("s", "/nowhere")
    assert await policy.may_read("s", "/nowhere/a")
    assert not await policy.may_read("s", "/nowhere/x/.env")
    assert asked == []
    assert await policy.may_read("s", "/nowhere/secret/a")
    assert [one.origin for one in asked] == ["read"]
    assert not policy.reads_freely("s")
    assert Permissions.deny_all().reads_freely("s")


async def test_a_revoke_that_is_taken_back_decides_again() -> None:
    """Issue: grants are revoked by one key, and that can be undone."""
    asked: list[PermissionRequest] = []

    def answer(one: PermissionRequest) -> Decision:
        asked.append(one)
        return Decision("allow_once", "session")

    user = Permissions.ask(answer)
    one = PermissionRequest(
        session_id="s", title="x", options=OWN_OPTIONS, kind="edit", paths=("/a",)
    )
    await user.decide(one)
    (grant,) = user.remembered()
    assert user.revoke(grant.grant_id)
    assert user.remembered() == ()
    assert user.restore(grant)
    await user.decide(one)
    assert len(asked) == 1


async def test_a_question_about_a_write_has_what_would_be_written() -> None:
    """Issue 6: what will happen, before it is allowed."""
    user, asked = answering(Decision("reject_once"))
    assert not await user.may_write("s", "/nowhere/a", content="new words\n")
    assert [one.new_text for one in asked] == ["new words\n"]
