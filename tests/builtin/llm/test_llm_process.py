"""The built-in agent with a model, as people run it: another process, our own client."""

import sys
from pathlib import Path

import anyio
import pytest

from accord import AuthenticationRequired, Client, Permissions
from tests.fake_llm import FakeLLM
from tests.hang_limit import HANG_SECONDS


def environ(home: Path, llm: FakeLLM) -> dict[str, str]:
    """A user with a server of their own and nothing else."""
    return {
        "ACCORD_CONFIG_DIR": str(home / "config"),
        "ACCORD_STATE_DIR": str(home / "state"),
        "ACCORD_PROBE": "off",
        "ACCORD_MODEL": "openai:gpt-5",
        "OPENAI_BASE_URL": f"{llm.url}/v1",
        "OPENAI_API_KEY": "sk-test-key-of-nobody",
    }


@pytest.mark.slow
async def test_a_conversation_with_a_model_survives_its_process(
    llm: FakeLLM, home: Path, project: Path
) -> None:
    """Issue 3: the model brain in `accord agent`; a second process goes on where the first was."""
    command = (sys.executable, "-m", "accord", "agent")
    env = environ(home, llm)
    fix = (
        '[[say I look.]][[tool read {"path": "calc.py"}]]'
        '[[tool edit {"path": "calc.py", "old": "len(value)", "new": "len(values)"}]][[say Done.]]'
    )
    with anyio.fail_after(HANG_SECONDS):
        permissions = Permissions.allow_all()
        async with Client.spawn(*command, env=env, permissions=permissions) as client:
            session = await client.new_session(project)
            reply = await session.ask(fix)
            assert reply.text == "I look.\n\nDone."
            assert reply.stop_reason == "end_turn"
            session_id = session.id
        assert "len(values)" in (project / "calc.py").read_text()
        async with Client.spawn(*command, env=env) as client:
            session = await client.load_session(session_id, project)
            assert (await session.ask("[[say And on.]]")).text == "And on."
            async with session.prompt("[[slow 500 0.01 word]]") as turn:
                async for update in turn:
                    if update.kind == "message":
                        await turn.cancel()
                        break
            assert turn.stop_reason == "cancelled"
    assert "I look." in str(llm.asked[-1]["messages"])


@pytest.mark.slow
async def test_a_model_without_a_key_wants_a_login_and_gets_it(
    llm: FakeLLM, home: Path, project: Path
) -> None:
    """Issue 3: authentication when a chosen provider has no key; the login may come later."""
    from accord.builtin.models.api_keys import Credentials

    env = environ(home, llm) | {
        "ACCORD_MODEL": "anthropic:claude-sonnet-5",
        "ANTHROPIC_BASE_URL": "",
        "ANTHROPIC_API_KEY": "",
        "OPENAI_BASE_URL": "",
        "OPENAI_API_KEY": "",
    }
    with anyio.fail_after(HANG_SECONDS):
        async with Client.spawn(sys.executable, "-m", "accord", "agent", env=env) as client:
            session = await client.new_session(project)
            with pytest.raises(AuthenticationRequired, match="ANTHROPIC_API_KEY"):
                await session.ask("hello")
            Credentials(home / "config" / "credentials.json").keep("anthropic", "pasted-key")
            await session.set_option("model", "offline")
            assert "calc.py" in (await session.ask("what is this project?")).text
    assert llm.requests == []
