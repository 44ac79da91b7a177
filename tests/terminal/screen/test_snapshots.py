"""Pictures of the main states, compared cell by cell with those that somebody looked at.

`make snapshots` draws them again; look at each before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from textual.pilot import Pilot

from accord.client.permissions.request import OWN_OPTIONS, PermissionRequest
from accord.terminal.model.chat import Chat, Problem
from accord.terminal.model.prompt.unsent_prompts import Draft
from accord.terminal.model.settings import Settings
from accord.terminal.model.theme_detection import ThemeName
from accord.terminal.screen.app import AccordApp
from accord.terminal.screen.screenshot import picture_of
from tests.hang_limit import HANG_SECONDS
from tests.terminal.screen.harness.app_stage import staged, until
from tests.terminal.screen.harness.stage import NARROW, hear, pass_time, select, set_up

PICTURES = Path(__file__).parent / "snapshots"
MARKDOWN = """\
## What I found

The **mean** of an *empty* list is `None`, see [calc](https://example.com/calc).

1. read `calc.py`
2. change it
   - with care

| name | lines |
|---|---:|
| calc.py | 13 |
| 漢字.py | 7 |

```python
def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
```
"""


@pytest.fixture(autouse=True)
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCORD_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("ACCORD_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", "/home/me")


def say(chat: Chat, text: str, kind: str = "agent_message_chunk") -> None:
    hear(chat, sessionUpdate=kind, content={"type": "text", "text": text})


def call(chat: Chat, call_id: str, title: str, kind: str, **more: Any) -> None:
    hear(chat, sessionUpdate="tool_call", toolCallId=call_id, title=title, kind=kind, **more)


def conversation(chat: Chat) -> None:
    """A bit of everything."""
    set_up(chat, configOptions=[select("mode", "Mode", ["ask", "code"], category="mode")])
    chat.set_phase("working")
    say(chat, "please repair the mean", "user_message_chunk")
    say(chat, "I look at calc.py first.", "agent_thought_chunk")
    steps = [("Read it", "completed"), ("Change it", "in_progress"), ("Run it", "pending")]
    hear(
        chat,
        sessionUpdate="plan",
        entries=[{"content": what, "priority": "high", "status": how} for what, how in steps],
    )
    call(chat, "a", "Read calc.py", "read", status="completed", locations=[{"path": "calc.py"}])
    diff = {"type": "diff", "path": "calc.py", "oldText": "a\nb\nc\n", "newText": "a\nB\nc\n"}
    call(chat, "b", "Change calc.py", "edit", status="in_progress", content=[diff])
    pass_time(chat, 2.5)
    call(chat, "c", "Run the tests", "execute", status="failed")
    call(chat, "d", "A new sort of thing", "_dream", status="_dozing")
    hear(chat, sessionUpdate="usage_update", used=12_000, size=100_000)
    say(chat, MARKDOWN)


async def working(app: AccordApp, pilot: Pilot[int], chat: Chat) -> None:
    """The conversation, on the screen before anything else happens."""
    conversation(chat)
    await until(pilot, lambda: not app._is_due)


async def asking(app: AccordApp, pilot: Pilot[int], chat: Chat) -> None:
    await working(app, pilot, chat)
    request = PermissionRequest(
        session_id="s1",
        title="Run the tests",
        options=OWN_OPTIONS,
        reason="To see **whether** it works",
        kind="execute",
        command="python -m unittest discover",
        cwd="/home/me/project",
        tool_call=chat.transcript.tool_call("c"),
    )
    app.run_worker(chat.questions.ask("permission", request), exit_on_error=False)
    await until(pilot, lambda: chat.needs_answer and not app._is_due)
    pass_time(chat, 5)
    await until(pilot, lambda: app.pane is not None and app.pane.has_class("-asking"))


async def lost(app: AccordApp, pilot: Pilot[int], chat: Chat) -> None:
    await working(app, pilot, chat)
    chat.set_phase("lost")
    text = "The agent stopped (exit code 3): it ended"
    chat.remark(text, "error", "Last output on stderr:\nTraceback\nMemoryError")
    chat.set_problem(Problem("agent_lost", text, "Traceback\nMemoryError", ("restart",)))


async def queued(app: AccordApp, pilot: Pilot[int], chat: Chat) -> None:
    await working(app, pilot, chat)
    chat.queue.extend([Draft("then run the tests"), Draft("and commit it\nwith a good message")])
    await pilot.press("ctrl+t")
    await until(pilot, lambda: len(app.controller.chats) == 2 and app.chat is not chat)
    chat.changed()
    await pilot.press("ctrl+pageup")
    await until(pilot, lambda: app.chat is chat)
    await pilot.press(*"what is next")


def opening(key: str) -> Callable[[AccordApp, Pilot[int], Chat], Awaitable[None]]:
    async def scene(app: AccordApp, pilot: Pilot[int], chat: Chat) -> None:
        await working(app, pilot, chat)
        await pilot.press(key)
        await until(pilot, lambda: len(app.screen_stack) == 2)

    return scene


SCENES = {
    "working": (working, (100, 36), "accord-dark"),
    "working-light": (working, (100, 36), "accord-light"),
    "working-contrast": (working, (100, 36), "accord-contrast"),
    "working-no-colour": (working, (100, 36), "accord-none"),
    "working-narrow": (working, NARROW, "accord-dark"),
    "asking": (asking, (100, 36), "accord-dark"),
    "asking-narrow": (asking, NARROW, "accord-dark"),
    "asking-no-colour": (asking, (80, 24), "accord-none"),
    "lost": (lost, (100, 30), "accord-dark"),
    "queued": (queued, (100, 30), "accord-dark"),
    "help": (opening("f1"), (100, 30), "accord-dark"),
    "options-narrow": (opening("f3"), NARROW, "accord-dark"),
}


async def settled(app: AccordApp, pilot: Pilot[int]) -> str:
    """The picture when it does not change anymore."""
    before = ""
    while before != (now := picture_of(app)):
        before = now
        for _ in range(3):
            await pilot.pause()
    return now


@pytest.mark.parametrize("name", SCENES)
async def test_it_looks_as_it_did(name: str) -> None:
    """Issue 6: SVG snapshots of the main states."""
    scene, size, theme = SCENES[name]
    chosen: ThemeName = theme  # type: ignore[assignment]
    with anyio.fail_after(HANG_SECONDS):
        async with staged(size, settings=Settings(theme=chosen)) as (app, pilot, chat):
            await scene(app, pilot, chat)
            await until(pilot, lambda: chat.revision and not app._is_due)
            drawn = await settled(app, pilot)
    file = PICTURES / f"{name}.svg"
    if os.environ.get("ACCORD_DRAW"):
        file.write_text(drawn, "utf-8")
    assert drawn == file.read_text("utf-8"), f"{name} looks different; see the head of this file"
