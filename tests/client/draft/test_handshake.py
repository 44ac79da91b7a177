"""How a client finds out that an agent speaks the 2026-02 draft, and begins again in its form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from accord.client import Client, Extensions
from accord.client.options import DraftOptions
from accord.client.permissions.permissions import Permissions
from accord.client.permissions.rules import Rule
from accord.client.services.terminals import TerminalService
from accord.errors import ConnectionLost, RemoteProtocolError, RequestFailed, VersionMismatch
from accord.transport.memory import MemoryTransport, memory_pair
from tests.client.draft.draft_script import ANSWER, PROGRAM, drafting, shake_hands
from tests.client.scripted_agent import BARE, Json, ScriptedAgent, playing

ONLY_ASYNCIO = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)


class Memory:
    """What a client remembers, for as long as a test takes."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, ...], tuple[str, str]] = {}
        self.forgotten = 0

    def recall(self, agent: Sequence[str], /) -> tuple[str, str] | None:
        return self.known.get(tuple(agent))

    def remember(self, agent: Sequence[str], dialect: str, version: str, /) -> None:
        self.known[tuple(agent)] = (dialect, version)

    def forget(self, agent: Sequence[str], /) -> None:
        self.known.pop(tuple(agent), None)
        self.forgotten += 1


def lines(log: Path) -> list[Any]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def initializes(log: Path) -> list[Json]:
    """The params of each `initialize`; each was the first thing that a new process heard."""
    found = lines(log)
    assert found.count("started") == sum(1 for one in found if _is_initialize(one))
    return [one["params"] for one in found if _is_initialize(one)]


def _is_initialize(line: Any) -> bool:
    return isinstance(line, dict) and line.get("method") == "initialize"


@pytest.mark.rule("D26-04", "D26-30")
@pytest.mark.parametrize("flags", [(), ("--strict",)], ids=["tolerant", "strict"])
async def test_a_draft_agent_is_started_again_and_asked_in_its_own_form(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    """Draft, 1.2: whether it answers in its shape or refuses; nothing else is in that form."""
    log = tmp_path / "log"
    memory = Memory()
    command = (*PROGRAM, *flags, "--log", str(log))
    async with Client.spawn(*command, draft=DraftOptions(dialects=memory)) as client:
        assert client.protocol_version == 1
        assert client.agent_info is not None
        assert client.agent_info.name == "drafty"
        session = await client.new_session(tmp_path)
        assert (await session.ask("hello")).text == "Hello."
    first, second = initializes(log)
    assert first["protocolVersion"] == 2
    assert set(second) == {"protocolVersion", "clientInfo", "capabilities"}
    assert second["protocolVersion"] == 1
    assert set(second["clientInfo"]) == {"name", "version"}
    assert memory.known == {command: ("draft", "0.1")}


@ONLY_ASYNCIO
async def test_what_was_found_is_remembered_for_the_next_start(tmp_path: Path) -> None:
    """The draft's table 1.2: the next start goes straight there."""
    log = tmp_path / "log"
    memory = Memory()
    command = (*PROGRAM, "--log", str(log))
    memory.remember(command, "draft", "0.1")
    async with Client.spawn(*command, draft=DraftOptions(dialects=memory)):
        pass
    assert [one["protocolVersion"] for one in initializes(log)] == [1]
    assert memory.forgotten == 0
    memory.remember(command, "draft", "0.0")
    async with Client.spawn(*command, draft=DraftOptions(dialects=memory)):
        pass
    # Another version may speak something better by now.
    assert memory.forgotten == 1


async def test_a_memory_that_is_wrong_is_forgotten_and_all_begins_from_the_top() -> None:
    """The draft's table 1.2: a refusal forgets it."""
    memory = Memory()
    for remembered in ("draft", "v1", "klingon"):
        memory.remember(["here"], remembered, "1")
        asked: list[Json] = []

        async def script(agent: ScriptedAgent, asked: list[Json] = asked) -> None:
            while True:
                request = await agent.expect("initialize")
                asked.append(request["params"])
                if "info" in request["params"]:
                    answer = {
                        "protocolVersion": 2,
                        "info": {"name": "a", "version": "2"},
                        "capabilities": {"session": {}},
                    }
                    agent.result(request, answer)
                else:
                    agent.error(request, -32602, "no")

        async with (
            playing(script) as (_, transport),
            Client.connect(
                transport, draft=DraftOptions(address="here", dialects=memory), **BARE
            ) as client,
        ):
            assert client.protocol_version == 2
        assert memory.known == {}
        assert len(asked) == (1 if remembered == "klingon" else 2)


async def test_the_first_error_is_reported_when_the_draft_is_refused_too() -> None:
    """The draft's table 1.2."""

    async def script(agent: ScriptedAgent) -> None:
        agent.error(await agent.expect("initialize"), -32602, "the first")
        agent.error(await agent.expect("initialize"), -32602, "the second")

    memory = Memory()
    async with playing(script) as (agent, transport):
        with pytest.raises(RequestFailed, match="the first"):
            async with Client.connect(
                transport, draft=DraftOptions(address="x", dialects=memory), **BARE
            ):
                pytest.fail("it was refused twice")
    assert len(agent.sent("initialize")) == 2
    assert memory.known == {}


async def test_an_agent_that_refuses_only_the_mixture_is_asked_for_version_1_alone() -> None:
    """Ours: it answered the draft's form in v1's shape, so v1's own keys are what it reads."""
    forms: list[set[str]] = []

    async def script(agent: ScriptedAgent) -> None:
        while True:
            request = await agent.expect("initialize")
            forms.append(set(request["params"]))
            if "info" in request["params"]:
                agent.error(request, -32602, "unknown key")
            else:
                agent.result(request, {"protocolVersion": 1, "agentCapabilities": {}})

    memory = Memory()
    async with (
        playing(script) as (_, transport),
        Client.connect(
            transport, draft=DraftOptions(address="x", dialects=memory), **BARE
        ) as client,
    ):
        assert client.protocol_version == 1
    assert forms[-1] == {"protocolVersion", "clientInfo", "clientCapabilities"}
    assert memory.known == {("x",): ("v1", "")}


async def test_a_remote_agent_is_connected_again_where_that_is_possible() -> None:
    """The draft's table 1.2: remote: connected again."""
    made: list[MemoryTransport] = []

    async def script(agent: ScriptedAgent) -> None:
        agent.result(await agent.expect("initialize"), ANSWER)
        await agent.ended.wait()

    async def again(agent: ScriptedAgent) -> None:
        agent.result(await agent.expect("initialize"), ANSWER)

    async with playing(script) as (first, one), playing(again) as (second, two):
        waiting = [two, one]

        def connect() -> MemoryTransport:
            made.append(waiting.pop())
            return made[-1]

        async with Client.connect(connect, **BARE) as client:
            assert client.agent_info is not None
            assert made == [one, two]
            assert len(first.received) == len(second.received) == 1


@pytest.mark.rule("D26-18")
@pytest.mark.parametrize(
    ("required", "missing"),
    [
        ({"terminal": {"create": True}}, "terminal.create"),
        ({"ui": {"diffViewer": True}, "fs": {"read": False}}, "ui.diffViewer"),
        ({"terminal": {"maxConcurrent": 5}}, "terminal.maxConcurrent of at least 5"),
        ({"_custom": {"x": {"y": True}}}, "_custom.x.y"),
        ({"teleport": "yes"}, "teleport"),
    ],
)
async def test_a_capability_that_the_agent_requires_and_we_lack_ends_it_at_once(
    required: Json, missing: str
) -> None:
    """Draft 10.3: a clear error, before anything else."""

    async def script(agent: ScriptedAgent) -> None:
        await shake_hands(agent, {**ANSWER, "requiredClientCapabilities": required})

    async with playing(script) as (agent, transport):
        with pytest.raises(VersionMismatch, match=missing):
            async with Client.connect(transport, **BARE):
                pytest.fail("it cannot work with us")
    assert [one["method"] for one in agent.received] == ["initialize", "initialize"]


@pytest.mark.rule("D26-18", "D26-33")
async def test_an_agent_that_refuses_for_a_missing_capability_says_so() -> None:
    """Draft, 3.1: -32007; it has understood the form, so this counts, not the first error."""

    async def script(agent: ScriptedAgent) -> None:
        agent.error(await agent.expect("initialize"), -32602, "unknown keys")
        agent.error(await agent.expect("initialize"), -32007, "I need terminals")

    async with playing(script) as (_, transport):
        with pytest.raises(VersionMismatch, match="I need terminals"):
            async with Client.connect(transport, **BARE):
                pytest.fail("it was refused")


async def test_required_capabilities_that_are_there_are_no_obstacle() -> None:
    """Draft 10.3; `_meta` and what is not wanted count for nothing."""
    required = {
        "fs": {"read": True, "watch": False},
        "terminal": {"create": True, "maxConcurrent": 3},
        "_meta": {"x": True},
    }
    answer = {**ANSWER, "requiredClientCapabilities": required}

    async def script(agent: ScriptedAgent) -> None:
        pass

    options = {"files": True, "terminals": TerminalService(count_max=3)}
    async with drafting(script, answer, **options) as (client, _):
        assert client.capabilities.load


@pytest.mark.rule("D26-04")
@pytest.mark.parametrize("missing", ["agentInfo", "capabilities", "protocolVersion"])
async def test_an_answer_without_what_it_must_have_is_the_agents_mistake(missing: str) -> None:
    """Draft 5.1.1."""
    broken = {name: value for name, value in ANSWER.items() if name != missing}

    async def script(agent: ScriptedAgent) -> None:
        agent.error(await agent.expect("initialize"), -32602, "the first")
        agent.result(await agent.expect("initialize"), broken)
        agent.result(await agent.expect("initialize"), broken)

    async with playing(script) as (_, transport):
        # Without the two it is v1's shape; then it is that, as far as it goes.
        errors = (RequestFailed, RemoteProtocolError)
        if missing == "protocolVersion":
            with pytest.raises(errors):
                async with Client.connect(transport, **BARE):
                    pytest.fail("there was no version")
        else:
            async with Client.connect(transport, **BARE) as client:
                assert not client.capabilities.load


@pytest.mark.rule("D26-17")
async def test_our_capabilities_tell_the_truth() -> None:
    """The draft's table 7: what is there, who can be asked, what is shown."""

    async def told(**options: Any) -> Json:
        params: list[Json] = []

        async def script(agent: ScriptedAgent) -> None:
            params.append(await shake_hands(agent))

        async with playing(script) as (_, transport), Client.connect(transport, **options):
            pass
        found: Json = params[0]["capabilities"]
        return found

    async def ask(request: object) -> bool:
        return True

    extensions = Extensions()

    @extensions.method("_acme/see")
    def see(params: dict[str, Any]) -> None:
        """Nothing."""

    assert await told(files=False, terminals=False) == {
        "fs": {"read": False, "write": False, "watch": False},
        "terminal": {"create": False, "interactive": False},
        "ui": {"permissionDialogs": False, "diffViewer": False, "codeNavigation": False},
    }
    found = await told(
        permissions=Permissions.ask(ask),
        terminals=TerminalService(count_max=7),
        draft=DraftOptions(ui=["diff_viewer", "code_navigation"]),
        extensions=extensions,
    )
    allowing = Permissions.policy([Rule(effect="allow", kind="edit")])
    for permissions, expected in (
        (Permissions(), False),
        (Permissions.deny_all(), False),
        (Permissions.policy([Rule(effect="reject", kind="edit")]), False),
        (Permissions.allow_all(), True),
        (allowing, True),
    ):
        assert (await told(permissions=permissions))["ui"]["permissionDialogs"] is expected
    assert found["fs"] == {"read": True, "write": True, "watch": False}
    assert found["terminal"] == {"create": True, "interactive": False, "maxConcurrent": 7}
    assert all(found["ui"].values())
    assert found["_custom"]


@ONLY_ASYNCIO
@pytest.mark.parametrize("step", [0, 1])
async def test_an_agent_that_dies_while_it_is_found_out_is_reported(
    step: int, tmp_path: Path
) -> None:
    """Ours: dead before the first answer, or before the second."""
    program = tmp_path / "dying.py"
    program.write_text(
        "import json, pathlib, sys\n"
        f"starts = pathlib.Path({str(tmp_path / 'starts')!r})\n"
        "count = len(starts.read_text()) if starts.exists() else 0\n"
        "starts.write_text('x' * (count + 1))\n"
        "request = json.loads(sys.stdin.readline())\n"
        f"if count == {step}:\n"
        "    sys.exit(4)\n"
        f"answer = {ANSWER!r}\n"
        "print(json.dumps({'jsonrpc': '2.0', 'id': request['id'], 'result': answer}), flush=True)\n"
        "sys.stdin.readline()\n"
    )
    with pytest.raises(ConnectionLost, match="exit code 4"):
        async with Client.spawn(PROGRAM[0], str(program)):
            pytest.fail("it died")
    assert (tmp_path / "starts").read_text() == "x" * (step + 1)


async def test_a_client_that_was_told_to_speak_v2_alone_does_not_try_the_draft() -> None:
    """Ours: the draft calls itself version 1."""

    async def script(agent: ScriptedAgent) -> None:
        agent.error(await agent.expect("initialize"), -32602, "no")

    async with playing(script) as (agent, transport):
        with pytest.raises(RequestFailed):
            async with Client.connect(transport, versions=(2,), **BARE):
                pytest.fail("it was refused")
    assert len(agent.received) == 1


def test_a_transport_is_one_or_makes_one() -> None:
    """Ours."""
    ours, _ = memory_pair()
    Client.connect(ours)
    Client.connect(lambda: ours)
