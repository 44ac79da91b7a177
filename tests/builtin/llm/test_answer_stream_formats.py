"""A whole turn in every format that a provider speaks: thought, text, tool call, what follows."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builtin.llm.talk import FORMATS, KEY, choice_of, made, talk
from tests.fake_llm import FakeLLM

SCRIPT = (
    '[[think hm, let me look]][[say I look.]][[tool read {"path": "calc.py"}]]'
    "[[say It says $RESULT]]"
)
EVERY_FORMAT = pytest.mark.parametrize("form", FORMATS)


@EVERY_FORMAT
@pytest.mark.parametrize("version", [1, 2])
async def test_a_turn_thinks_speaks_reads_a_file_and_goes_on(
    form: str, version: int, llm: FakeLLM, project: Path
) -> None:
    """Issue 3: streaming text and thoughts, tool calls as they form, in each provider's words."""
    async with talk(made(choice_of(form, llm)), project, version=version) as session:
        end = await session.say(SCRIPT)
        assert end == {"stopReason": "end_turn"} | _usage(end)
        assert session.thoughts == "hm, let me look"
        assert session.text.startswith("I look.It says ")
        assert "return sum(values) / len(value)" in session.text
        (life,) = session.calls()
        assert (life[0]["title"], life[0]["kind"], life[0]["status"]) == ("read", "read", "pending")
        assert "rawInput" not in life[0]
        assert next(one["rawInput"] for one in life if "rawInput" in one) == {"path": "calc.py"}
        stands = session.last_of_calls()[0]
        assert stands["status"] == "completed"
        assert stands["locations"][0]["path"] == str(project / "calc.py")
    assert len(llm.asked) == 2
    assert KEY not in json.dumps(llm.requests)


def _usage(end: dict[str, Any]) -> dict[str, Any]:
    return {"usage": end["usage"]} if "usage" in end else {}


@EVERY_FORMAT
async def test_chunks_arrive_as_they_are_streamed(form: str, llm: FakeLLM, project: Path) -> None:
    """Ours: nothing is held back until the answer is whole."""
    async with talk(made(choice_of(form, llm)), project) as session:
        turn = session.start("[[say first]][[hang]]")
        await session.client.update("agent_message_chunk")
        session.client.notify("session/cancel", {"sessionId": session.session_id})
        assert (await session.ended(turn))["stopReason"] == "cancelled"


@EVERY_FORMAT
async def test_a_model_that_is_cut_off_or_refuses_gives_that_stop_reason(
    form: str, llm: FakeLLM, project: Path
) -> None:
    """Spec: max_tokens and refusal are stop reasons of their own."""
    async with talk(made(choice_of(form, llm)), project) as session:
        end = await session.say("[[say and then]][[stop max_tokens]]")
        assert end["stopReason"] == "max_tokens"
        end = await session.say("[[say no]][[stop refusal]]")
        assert end["stopReason"] == "refusal"


@EVERY_FORMAT
async def test_our_instructions_reach_the_model(form: str, llm: FakeLLM, project: Path) -> None:
    """Ours: in every format, with the project's and the place."""
    (project / "AGENTS.md").write_text("Always say please.")
    async with talk(made(choice_of(form, llm)), project) as session:
        end = await session.say("[[say hi]]")
        assert end["stopReason"] == "end_turn", end
    body = json.dumps(llm.asked[0])
    assert "You are Accord" in body
    assert "Always say please." in body
    assert str(project) in body
