"""The kit's fixtures, used by tests in a session of pytest of their own."""

import json
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

PEER = Path(__file__).resolve().parent.parent / "defects" / "peer.py"
HEAD = f"""
import pytest
from accord.conformance.agent.editor_profiles import PROFILES

pytestmark = pytest.mark.anyio
AGENT = [{sys.executable!r}, "-I", "-S", {str(PEER)!r}, "agent", "1"]
CLIENT = [{sys.executable!r}, "-I", "-S", {str(PEER)!r}, "client", "1", "prompt"]


@pytest.fixture
def anyio_backend():
    return "asyncio"
"""


def passes(pytester: pytest.Pytester, text: str, count: int = 1) -> None:
    """Run this text as a test file with the plugin."""
    pytester.makepyfile(HEAD + text)
    result = pytester.runpytest_inprocess(
        "-p", "accord.conformance.pytest_plugin", "-p", "no:cacheprovider", "-q"
    )
    result.assert_outcomes(passed=count)


def test_an_agent_meets_an_editor(pytester: pytest.Pytester) -> None:
    """Issue 4: fixtures to start an agent under test, with editor profiles."""
    passes(
        pytester,
        """
async def test_it(acp_agent, tmp_path):
    (tmp_path / "notes.txt").write_text("one apple")
    async with acp_agent(AGENT, editor="agent-shell") as talk:
        session = await talk.session()
        await talk.prompt(session, "terminal echo hi")
        assert not talk.peer.received("terminal/create")
        result = await talk.prompt(session, "edit notes.txt two")
        assert result["stopReason"] == "end_turn"
        assert talk.host.written == [str(tmp_path / "notes.txt")]
        assert talk.agent["agentInfo"]["name"] == "correct-v1"
""",
    )


def test_a_test_can_run_for_each_editor(pytester: pytest.Pytester) -> None:
    """Issue 4: the capability sets of known editors."""
    passes(
        pytester,
        """
async def test_it(acp_agent, acp_editor):
    async with acp_agent(AGENT, editor=acp_editor) as talk:
        await talk.initialize()
        offered = PROFILES[acp_editor.name].capabilities
        assert talk.hello()["clientCapabilities"] == offered


def test_every_editor_is_known_by_its_name():
    assert all(one.mind and one.name == name for name, one in PROFILES.items())
    assert PROFILES["everything"].hello("2")["capabilities"] == {
        "elicitation": {"form": {}, "url": {}}
    }
""",
        count=9,
    )


def test_an_editor_can_speak_the_draft(pytester: pytest.Pytester) -> None:
    """Issue 4: an agent under test, in every version that the kit judges."""
    passes(
        pytester,
        f"""
DRAFT = [{sys.executable!r}, {str(PEER.parents[1] / "conformance" / "draft_agent.py")!r}]

async def test_it(acp_agent, tmp_path):
    async with acp_agent(DRAFT, editor="zed", version="draft") as talk:
        session = await talk.session()
        assert (await talk.prompt(session, "hi"))["stopReason"] == "end_turn"
        assert talk.said() == "hello"
        await talk.prompt(session, "edit")
        assert talk.host.written == [str(tmp_path / "notes.txt")]
        assert [one["id"] for one in talk.updates(kind="tool_call")]
    async with acp_agent(DRAFT, editor="nothing", version="draft") as talk:
        await talk.prompt(await talk.session(), "edit")
        assert talk.host.written == []
""",
    )


def test_raw_frames_are_sent(pytester: pytest.Pytester) -> None:
    """Issue 4: fixtures to send raw frames."""
    passes(
        pytester,
        """
async def test_it(acp_raw):
    async with acp_raw(AGENT) as peer:
        await peer.send_raw(b"xx\\n")
        frame = await peer.expect(lambda one: one.is_response, "an error")
        assert frame.object["error"]["code"] == -32700
""",
    )


@pytest.mark.parametrize("way", ["spawn", "stdio"])
def test_a_client_meets_the_test_as_its_agent(pytester: pytest.Pytester, way: str) -> None:
    """Issue 4: fixtures to start a client under test; both ways of starting it."""
    source = "" if way == "stdio" else SPAWNING
    passes(
        pytester,
        source
        + f"""
async def test_it(acp_client, tmp_path):
    command = CLIENT if {way!r} == "stdio" else spawning(tmp_path)
    async with acp_client(command, way={way!r}) as talk:
        from accord.conformance.client.fake_agent import Offer
        await talk.initialize(Offer())
        await talk.session()
        prompt = await talk.prompt()
        answer = await talk.call("session/request_permission", **talk.permission())
        assert answer["result"]["outcome"]["outcome"] == "selected"
        await talk.end_turn(prompt)
""",
    )


# A client that starts its agent itself and speaks through its pipes.
SPAWNING = """
import sys


def spawning(folder):
    program = folder / "client.py"
    program.write_text(
        "import subprocess, sys\\n"
        "pipe = subprocess.PIPE\\n"
        "agent = subprocess.Popen([sys.argv[1]], stdin=pipe, stdout=pipe)\\n"
        f"sys.exit(subprocess.call({CLIENT!r}, stdin=agent.stdout, stdout=agent.stdin))\\n"
    )
    return [sys.executable, str(program)]
"""


def test_a_recording_is_played_to_an_agent(pytester: pytest.Pytester) -> None:
    """Issue 4: fixtures to use recorded transcripts."""
    lines: list[dict[str, object]] = [{"format": "accord-recording", "version": 1}]

    def said(speaker: str, **message: object) -> None:
        frame = json.dumps({"jsonrpc": "2.0", **message})
        lines.append({"t": 0.1, "from": speaker, "frame": frame})

    said("client", id=1, method="initialize", params={"protocolVersion": 1})
    said("agent", id=1, result={"protocolVersion": 1})
    said("client", id=2, method="session/new", params={"cwd": "/tmp", "mcpServers": []})
    said("agent", id=2, result={"sessionId": "of-old"})
    prompt = [{"type": "text", "text": "edit /tmp/x y"}]
    said("client", id=3, method="session/prompt", params={"sessionId": "of-old", "prompt": prompt})
    said("agent", id=9, method="session/request_permission", params={})
    rejected = {"outcome": "selected", "optionId": "reject"}
    said("client", id=9, result={"outcome": rejected})
    said("agent", id=3, result={"stopReason": "end_turn"})
    said("client", method="session/cancel", params={"sessionId": "of-old"})
    lines.append({"t": 0.2, "from": "stderr", "text": "bye"})
    text = "\n".join(json.dumps(line) for line in lines) + "\nnot json\n"
    pytester.path.joinpath("old.jsonl").write_text(text)
    passes(
        pytester,
        f"""
from accord.conformance.frames.recordings import NotARecording


async def test_it(acp_agent, acp_recording):
    recorded = acp_recording({str(pytester.path / "old.jsonl")!r})
    assert len(recorded.of("client", "session/prompt")) == 1
    async with acp_agent(AGENT) as talk:
        answers = await talk.play(recorded)
    assert answers[-1]["result"] == {{"stopReason": "end_turn"}}
    assert "not written" in talk.said()


def test_other_files_are_refused(acp_recording, tmp_path):
    (tmp_path / "x").write_text("hello")
    with pytest.raises(NotARecording):
        acp_recording(tmp_path / "x")
""",
        count=2,
    )


def test_checks_of_the_kit_run_in_a_test(pytester: pytest.Pytester) -> None:
    """Issue 4: the kit as a pytest plugin."""
    passes(
        pytester,
        """
async def test_it(acp_judge):
    assert await acp_judge(AGENT, only=["V1-INIT-*"]) == []
    broken = await acp_judge([*AGENT, "V1-INIT-10"], only=["V1-INIT-10"])
    assert [one.partition(":")[0] for one in broken] == ["V1-INIT-10"]
    # Issue 13: what was not judged is not conformant.
    left = await acp_judge(AGENT, only=["V1-ELIC-11"], scenario="none")
    assert left == ["V1-ELIC-11: not exercised: the scenario has no prompt for 'secret'"]
""",
    )
