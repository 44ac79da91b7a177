"""`guard` and its siblings in chains whose client and agent speak any version."""

import json
from functools import partial
from itertools import product
from typing import Literal, NamedTuple

import anyio
import pytest
from anyio.abc import TaskGroup
from hypothesis import given
from hypothesis import strategies as st

from accord.client.permissions.rules import Rule
from accord.proxy.builtin.budget import Limits, budget
from accord.proxy.builtin.context import context
from accord.proxy.builtin.guard.guard import guard
from accord.proxy.chain.component import in_process
from accord.proxy.chain.conductor import Component, conduct
from accord.proxy.proxy import Proxy
from accord.transport.memory import memory_pair
from accord.transport.transport import Transport
from tests.hang_limit import HANG_SECONDS
from tests.proxy.speakers import VERSIONS, Act, SpeakingAgent, SpeakingClient, Version, Wired

PAIRS = tuple(product(VERSIONS, VERSIONS))
# A client and an agent of different official versions need `accord translate`.
SPOKEN = tuple(pair for pair in PAIRS if pair[0] == pair[1] or "draft" in pair)
# And v2 has no requests for files and terminals.
SERVED = tuple(pair for pair in SPOKEN if "v2" not in pair)
SECRET = "a-value-that-nobody-may-see"
NO_EXECUTE = (Rule(effect="reject", kind="execute"),)


class Outcome(NamedTuple):
    """What the agent was told, and what reached the client."""

    permitted: tuple[bool, ...]
    asked: int
    services: tuple[str, ...]
    text: str
    failed: object
    heard: str = ""


async def conversation(
    proxies: tuple[Proxy, ...],
    client_speaks: Version,
    agent_speaks: Version,
    act: Act,
    *,
    strict: bool = False,
) -> Outcome:
    """One prompt through a chain of these proxies."""
    permitted: list[bool] = []
    over = anyio.Event()
    client = SpeakingClient(client_speaks, "/w", over.set)

    async with anyio.create_task_group() as tasks:

        def connect(_: TaskGroup) -> Transport:
            ours, theirs = memory_pair()
            wired = Wired(SpeakingAgent(agent_speaks, act, permitted.append, strict=strict), theirs)
            tasks.start_soon(theirs.start, wired, tasks)
            return ours

        ours, theirs = memory_pair()
        wired = Wired(client, theirs)
        await theirs.start(wired, tasks)
        components = [in_process(partial(_same, proxy)) for proxy in proxies]
        chain = [*components, Component("the agent", connect)]
        tasks.start_soon(conduct, chain, ours)
        wired.say(client.begin())
        with anyio.fail_after(HANG_SECONDS):
            await over.wait()
        await theirs.aclose()
        tasks.cancel_scope.cancel()
    return Outcome(
        tuple(permitted),
        len(client.permissions),
        tuple(client.services),
        client.text,
        client.failed,
        json.dumps(wired.lines),
    )


def _same(proxy: Proxy) -> Proxy:
    return proxy


@pytest.mark.anyio
@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
@pytest.mark.parametrize(("client", "agent"), SPOKEN)
async def test_a_rule_against_commands_is_for_every_version(
    client: Version, agent: Version, strict: bool
) -> None:
    """Issue 12: today a client that speaks the draft passes a policy that rejects `execute`."""
    act = Act("ask", "execute", "touch ran")
    outcome = await conversation((guard(NO_EXECUTE),), client, agent, act, strict=strict)
    assert outcome._replace(heard="") == Outcome((False,), 0, (), "", None)
    outcome = await conversation((guard(),), client, agent, act, strict=strict)
    assert outcome._replace(heard="") == Outcome((True,), 1, (), "", None)


@pytest.mark.anyio
@pytest.mark.parametrize(("client", "agent"), SERVED)
@pytest.mark.parametrize(
    ("kind", "target", "method"),
    [("execute", "touch ran", "terminal/create"), ("edit", "/w/x", "fs/write_text_file")],
)
async def test_what_the_client_is_to_do_is_judged_in_every_version(
    client: Version, agent: Version, kind: str, target: str, method: str
) -> None:
    """Issue 12: `guard` judges draft traffic as it judges v1 and v2."""
    act = Act("serve", kind, target)
    rules = (Rule(effect="reject", kind=kind),)
    outcome = await conversation((guard(rules),), client, agent, act)
    assert outcome._replace(heard="") == Outcome((False,), 0, (), "", None)
    outcome = await conversation((guard(),), client, agent, act)
    assert (outcome.permitted, outcome.asked, outcome.failed) == ((True,), 1, None)
    assert method in outcome.services


@pytest.mark.anyio
@pytest.mark.parametrize(("client", "agent"), SPOKEN)
async def test_what_runs_unasked_is_told_in_every_version(client: Version, agent: Version) -> None:
    act = Act("tell", "execute", "touch ran")
    outcome = await conversation((guard(NO_EXECUTE),), client, agent, act)
    assert "guard: the turn was cancelled" in outcome.text


@pytest.mark.anyio
@pytest.mark.parametrize(("client", "agent"), SPOKEN)
async def test_secrets_are_taken_out_in_every_version(client: Version, agent: Version) -> None:
    """Issue 12: redaction on draft traffic as well."""
    act = Act("ask", "execute", f"curl -H {SECRET}")
    kept = await conversation((guard(redact=False),), client, agent, act)
    assert SECRET in kept.heard
    outcome = await conversation((guard(secrets=[SECRET]),), client, agent, act)
    assert outcome.asked == 1
    assert SECRET not in outcome.heard


@pytest.mark.anyio
@pytest.mark.parametrize(("client", "agent"), SPOKEN)
async def test_a_budget_is_kept_in_every_version(client: Version, agent: Version) -> None:
    """Issue 12: the same for `budget`."""
    act = Act("ask", "execute", "ls")
    outcome = await conversation((budget(Limits(prompts=0)),), client, agent, act)
    assert "The budget of 0 prompts is spent." in outcome.text
    assert outcome.failed is not None
    assert outcome.permitted == ()


@pytest.mark.anyio
@pytest.mark.parametrize(("client", "agent"), SPOKEN)
async def test_several_proxies_stand_between_peers_of_every_version(
    client: Version, agent: Version
) -> None:
    """Issue 12: draft peers may stand first and last in a chain."""
    act = Act("ask", "execute", "ls")
    chain = (context(agents_md=False), guard(), budget(Limits(prompts=1)))
    outcome = await conversation(chain, client, agent, act)
    assert outcome._replace(heard="") == Outcome((True,), 1, (), "", None)


# ---- the same act, the same judgement

TARGETS = {
    "execute": ("ls", "rm x", "rm -rf build", "git push", "make test && rm x"),
    "edit": ("/w/src/a", "/w/secret/a", "/etc/passwd"),
    "read": ("/w/src/a", "/w/secret/a"),
    "delete": ("/w/src/a", "/w/b"),
    "fetch": ("https://example.com/x", "https://evil.example/y"),
}
ACTS = [Act("ask", kind, target) for kind, targets in TARGETS.items() for target in targets]
EFFECTS: tuple[Literal["allow", "ask", "reject"], ...] = ("allow", "ask", "reject")
RULES = st.one_of(
    st.builds(Rule, effect=st.sampled_from(EFFECTS), kind=st.sampled_from(tuple(TARGETS))),
    st.builds(
        Rule, effect=st.sampled_from(EFFECTS), command=st.sampled_from(("rm", "ls", "git push"))
    ),
    st.builds(
        Rule, effect=st.sampled_from(EFFECTS), path=st.sampled_from(("/w/secret/**", "/w/src/**"))
    ),
    st.builds(
        Rule, effect=st.sampled_from(EFFECTS), host=st.sampled_from(("example.com", "*.example"))
    ),
)


@given(st.sampled_from(ACTS), st.lists(RULES, max_size=3), st.sampled_from(SPOKEN))
def test_the_same_act_is_judged_the_same_in_every_version(
    act: Act, rules: list[Rule], pair: tuple[Version, Version]
) -> None:
    """Issue 12: a property over all versions."""

    async def judged(client: Version, agent: Version) -> tuple[tuple[bool, ...], int]:
        outcome = await conversation((guard(rules),), client, agent, act)
        assert outcome.failed is None
        return outcome.permitted, outcome.asked

    assert anyio.run(judged, *pair) == anyio.run(judged, "v1", "v1")
