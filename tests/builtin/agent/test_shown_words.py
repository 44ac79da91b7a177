"""What the built-in agent shows in people's editors, over many prompts (issue 14).

Titles, entries of plans and names of options are plain text there; contents are Markdown.  Each
rule below is one thing that looked wrong in an editor, held against all that is shown.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from accord.builtin.demo_project import write_demo_project
from tests.agent.raw_client import Message, raw_client
from tests.builtin.agent.turns import begin, made, say, spoken

BROKEN = "def double(values):\n    return [2 * one for one in value]\n\n\ndouble([1])\n"

PROMPTS = (
    *("what is this project?", "/map", "list files", "list files in notes", "show calc.py"),
    *("explain calc.py", "where is spread?", "who calls mean", "find TODO", "find a.b"),
    *("where is notes", "anything else that you know about spreads and means"),
    *("$ true", "$ echo hi", "$ printf 'a\\nb'", "$ sh -c 'exit 3'", "$ cat nothing"),
    *("$ python3 broken.py", "fix it", "run the tests", "fix it", "why", "/undo"),
    *("/rename mean average", "/undo", "rename nothing_here to x"),
    *("change 'no values' to 'nothing' in calc.py", "/undo", "move notes/b.md to c.md"),
    *("delete report.py", "/undo", "/plan add a --json flag to mean", "/mcp", "/help", "/model"),
)

SAID = ("agent_message", "agent_thought")


@dataclass
class Shown:
    """All that one session showed."""

    titles: list[str] = field(default_factory=list)
    # Of questions: the title and what stands beside it.
    asked: list[tuple[str, str]] = field(default_factory=list)
    contents: list[str] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    # The plan and the message of each turn.
    turns: list[tuple[list[str], str]] = field(default_factory=list)


def texts(call: Message) -> list[str]:
    """The texts among the contents of a call."""
    return [
        one["content"]["text"]
        for one in call.get("content") or ()
        if one["type"] == "content" and one["content"]["type"] == "text"
    ]


def look(shown: Shown, frames: list[Message]) -> None:
    """Take in what a turn said."""
    plan: list[str] = []
    for frame in frames:
        update: Message = frame.get("params", {}).get("update", {})
        kind = update.get("sessionUpdate", "")
        if kind.startswith("tool_call"):
            shown.titles += [update["title"]] if "title" in update else []
            given = update["content"] if kind == "tool_call_content_chunk" else None
            shown.contents += texts({"content": [given]} if given else update)
        elif kind in ("plan", "plan_update"):
            entries = update["entries"] if kind == "plan" else update["plan"]["entries"]
            plan = [one["content"] for one in entries]
    shown.entries += plan
    message = "\n".join(
        block["text"]
        for frame in frames
        if frame.get("params", {}).get("update", {}).get("sessionUpdate", "").startswith(SAID)
        for block in blocks(frame["params"]["update"])
    )
    shown.turns.append((plan, message))


def blocks(update: Message) -> list[Message]:
    content: Any = update.get("content") or []
    return content if isinstance(content, list) else [content]


async def session_of(folder: Path, version: int, answer: str) -> Shown:
    """Type every prompt, with one answer to all questions."""
    write_demo_project(folder)
    (folder / "notes").mkdir()
    (folder / "notes" / "b.md").write_text("# B\n\n\n")
    (folder / "broken.py").write_text(BROKEN)
    shown = Shown()

    def decide(params: Message) -> Message:
        call = params.get("toolCall") or params["subject"].get("toolCall", {})
        why = params.get("description") or "\n".join(texts(call))
        shown.asked.append((params.get("title") or call["title"], why))
        return {"outcome": {"outcome": "selected", "optionId": answer}}

    async with raw_client(made(), version=version) as client:
        client.serve["session/request_permission"] = decide
        session_id = (await begin(client, folder))["sessionId"]
        for prompt in PROMPTS:
            before = len(client.frames)
            await say(client, session_id, prompt)
            look(shown, client.frames[before:])
        assert spoken(client)
    return shown


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("answer", ["allow_once", "reject_once"])
async def test_nothing_reads_oddly_in_an_editor(tmp_path: Path, version: int, answer: str) -> None:
    """Every title, entry, content and reason of a session of many prompts."""
    shown = await session_of(tmp_path, version, answer)
    assert len(shown.titles) > 20
    assert shown.asked
    for title in shown.titles:
        assert title.strip()
        assert "`" not in title
        assert "**" not in title, "Find files **"
        assert not title.endswith((" .", ".", ":")), title
        assert "\\" not in title or title.startswith("Run "), title
    for title, why in shown.asked:
        assert why.strip(), f"{title}: every question says why"
        assert not plain(why).startswith(plain(title)), "Run sleep 60 in ."
        assert not why.endswith(" ."), why
    for text in shown.contents:
        assert text.strip(), "a silent command has no text, not an empty one"
        assert "The user " not in text, "told to the user"
    for entry in shown.entries:
        assert "`" not in entry, entry
    for plan, message in shown.turns:
        assert "The user " not in message
        assert not re.search(r"[?!.…]['”]?[?!]?\.(\s|$)", message.replace("...", "")), message
        assert not plan or not all(entry in message for entry in plan), "the plan is told twice"


def plain(text: str) -> str:
    """Without marks and case."""
    return re.sub(r"[`“”'\"]", "", text).lower()
