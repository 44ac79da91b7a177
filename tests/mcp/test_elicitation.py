"""ServerQuestions of servers: the same form in the other protocol's words."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import ElicitRequestURLParams

from accord.agent.tools.elicitation import Answer
from accord.errors import LocalProtocolError
from accord.mcp import elicitation as questions
from accord.mcp.elicitation import Question, ServerQuestions, fits, titled

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"size": {"type": "string", "enum": ["s", "l"], "enumNames": ["small", "large"]}},
    "required": ["size"],
}


def test_old_names_of_choices_become_titles() -> None:
    """ACP has titled choices only."""
    size = titled(FORM)["properties"]["size"]
    assert size == {
        "type": "string",
        "oneOf": [{"const": "s", "title": "small"}, {"const": "l", "title": "large"}],
    }
    assert titled({"type": "object"}) == {"type": "object"}
    plain = {"properties": {"a": {"type": "string"}, "b": 5}}
    assert titled(plain) == plain


async def test_an_answer_must_fit_the_form() -> None:
    """Issue: elicitation passed on; the server must be able to rely on its own form."""
    assert await fits({"size": "s"}, FORM)
    assert not await fits({"size": "xl"}, FORM)
    assert not await fits({}, FORM)
    assert not await fits({}, {"type": "nonsense"})


async def test_a_page_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """MCP: the server says when what happens behind the page is over."""
    monkeypatch.setattr(questions, "OPEN_PAGES_MAX", 1)
    asked = ServerQuestions("shop")
    done: list[Answer] = []

    async def accept(question: Question) -> Answer:
        return Answer("accept", {"elicitation_id": question.url or ""})

    async def visited(answer: Answer) -> None:
        done.append(answer)
        raise LocalProtocolError("not open any more")

    for name in ("a", "b"):
        page = ElicitRequestURLParams(
            message="go", url=f"https://x.example/{name}", elicitation_id=name
        )
        assert (await asked.put(accept, page)).action == "accept"
    for name in ("a", "b", "b", "c"):
        await asked.completed(name, visited)
    assert [one.values["elicitation_id"] for one in done] == ["https://x.example/b"]
