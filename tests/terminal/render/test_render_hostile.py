"""Nothing that an agent sends reaches the terminal but letters: whole conversations of nonsense."""

from __future__ import annotations

import base64
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accord.terminal.render.render_options import Look
from tests.terminal.render.scene import FOLDER, PALETTES, Scene, check, png

Strategy = st.SearchStrategy[Any]

SNIPPETS = [
    "\x1b[31mred\x1b[0m",
    "\x1b]0;owned\x07",
    "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1bPq#0;2;0;0;0#0~~\x1b\\",
    "\x1b_Gf=100;AAAA\x1b\\",
    "\x9b2J",
    "\x9d0;x\x9c",
    "\x1b[2J\x1b[H\x1b[?1049h",
    "\r",
    "\r\n",
    "\b\b\b",
    "\x00",
    "\x7f",
    "\t",
    "\n",
    "\u202egnp.exe\u202c",
    "\u2066\u2069\u200f",
    "\u200b\u200d\ufeff",
    "👨\u200d👩\u200d👧\U0001f3fd❤\ufe0f",
    "漢字かな",
    "e\u0301" + "\u0301" * 20,
    "\U0010eeee\u0305\u0305",
    "\u2028",
    "[bold red]x[/] [@click=app.quit]y[/]",
    "```python\ndef f():\n    return '\x1b[1m'\n```",
    "| a | b |\n|---|---|\n| \x1b[5m | 2 |",
    "[a](javascript:x) ![b](\x1b.png) &#27; &#x202e; <b>",
    "@@ -1,2 +1,2 @@ \x1b[1m\n-a\x1b[K\n+b\n c",
    "diff --git a/x b/y\n--- a/x\n+++ b/y\n",
    "x" * 130,
    "a b " * 40,
    "/home/me/project/\x1b[1m/a.py",
    "file:///home/me/\x9bx",
    "",
]
WORDS: Strategy = st.one_of(
    st.sampled_from(SNIPPETS),
    st.lists(st.sampled_from(SNIPPETS), max_size=4).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
LINES: Strategy = st.lists(WORDS, max_size=8).map("\n".join)
BYTES: Strategy = st.one_of(
    LINES.map(lambda text: text.encode()),
    st.binary(max_size=40),
    st.just(png(20, 10)),
    st.just(b"GIF89a\x10\x00\x10\x00\x1b[1m"),
).map(lambda data: base64.b64encode(data).decode())
JSON: Strategy = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)
META = st.dictionaries(
    st.sampled_from(["claudeCode", "terminal_info", "terminal_output", "duration", "x"]),
    st.one_of(
        JSON,
        st.fixed_dictionaries(
            {"parentToolUseId": WORDS, "toolName": WORDS, "terminal_id": WORDS, "data": LINES}
        ),
    ),
    max_size=3,
)


def members(**required: Strategy) -> Any:
    return lambda **optional: st.fixed_dictionaries(required, optional=optional)


ANNOTATIONS = members()(
    audience=st.lists(st.sampled_from(["user", "assistant", "\x1b"])), priority=st.just(1)
)
BLOCK: Strategy = st.one_of(
    members(type=st.just("text"), text=LINES)(annotations=ANNOTATIONS),
    members(type=st.just("image"), data=BYTES, mimeType=WORDS)(uri=WORDS, annotations=ANNOTATIONS),
    members(type=st.just("audio"), data=BYTES, mimeType=WORDS)(),
    members(type=st.just("resource_link"), uri=WORDS, name=WORDS)(
        title=WORDS, description=LINES, mimeType=WORDS, size=st.integers(0, 2**60)
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("resource"),
            "resource": st.one_of(
                members(uri=WORDS, text=LINES)(mimeType=WORDS),
                members(uri=WORDS, blob=BYTES)(mimeType=st.sampled_from(["image/png", "\x1b"])),
            ),
        }
    ),
    st.fixed_dictionaries({"type": st.just("_\x1b[1mnew"), "title": WORDS, "more": JSON}),
)
CHANGE = members(
    operation=st.sampled_from(["add", "delete", "modify", "move", "copy", "_\x1b"]), path=WORDS
)(oldPath=WORDS)
ITEM: Strategy = st.one_of(
    st.fixed_dictionaries({"type": st.just("content"), "content": BLOCK}),
    members(type=st.just("diff"), path=WORDS, newText=LINES)(oldText=LINES),
    members(type=st.just("diff"), changes=st.lists(CHANGE, max_size=3))(
        patch=st.fixed_dictionaries({"format": st.just("git_patch"), "text": LINES})
    ),
    st.fixed_dictionaries(
        {"type": st.just("terminal"), "terminalId": st.sampled_from(["t", "\x1b"])}
    ),
    st.fixed_dictionaries({"type": st.just("_other"), "content": JSON}),
)
CALL: dict[str, Strategy] = {
    "title": LINES,
    "name": WORDS,
    "kind": st.sampled_from(["edit", "execute", "_\x1b[2J"]),
    "status": st.sampled_from(["pending", "in_progress", "completed", "failed", "_\x9b"]),
    "content": st.lists(ITEM, max_size=4),
    "locations": st.lists(members(path=WORDS)(line=st.integers(0, 2**31)), max_size=3),
    "rawInput": JSON,
    "rawOutput": JSON,
    "_meta": META,
}
IDS = st.sampled_from(["c", "d"])
CHUNKS = st.sampled_from(["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"])
PLAN_ENTRY = st.fixed_dictionaries(
    {"content": LINES, "priority": WORDS, "status": st.sampled_from(["pending", "\x1b"])}
)
UNKNOWN = st.fixed_dictionaries({"sessionUpdate": st.just("_\x1b[1m"), "title": WORDS, "x": JSON})
V1: Strategy = st.one_of(
    st.fixed_dictionaries({"sessionUpdate": CHUNKS, "content": BLOCK}),
    st.fixed_dictionaries(
        {"sessionUpdate": st.just("tool_call"), "toolCallId": IDS, **CALL},
    ),
    members(sessionUpdate=st.just("tool_call_update"), toolCallId=IDS)(**CALL),
    st.fixed_dictionaries({"sessionUpdate": st.just("plan"), "entries": st.lists(PLAN_ENTRY)}),
    UNKNOWN,
)
STATE = st.fixed_dictionaries({"state": st.sampled_from(["idle", "running", "_\x1b"])})
V2: Strategy = st.one_of(
    st.fixed_dictionaries({"sessionUpdate": CHUNKS, "messageId": IDS, "content": BLOCK}),
    members(sessionUpdate=st.just("tool_call_update"), toolCallId=IDS)(**CALL),
    st.fixed_dictionaries(
        {"sessionUpdate": st.just("tool_call_content_chunk"), "toolCallId": IDS, "content": ITEM}
    ),
    members(sessionUpdate=st.just("terminal_update"), terminalId=st.just("t"))(
        command=LINES,
        cwd=WORDS,
        output=st.fixed_dictionaries({"data": BYTES}),
        exitStatus=members()(exitCode=st.integers(0, 255), signal=WORDS),
    ),
    st.fixed_dictionaries(
        {
            "sessionUpdate": st.just("terminal_output_chunk"),
            "terminalId": st.just("t"),
            "data": BYTES,
        }
    ),
    st.fixed_dictionaries(
        {
            "sessionUpdate": st.just("notice"),
            "severity": WORDS,
            "title": WORDS.filter(lambda text: 0 < len(text) < 60),
            "description": LINES,
        }
    ),
    members(sessionUpdate=st.just("subagent_update"), sessionId=IDS)(
        title=WORDS, description=LINES, cwd=WORDS, state=STATE
    ),
    UNKNOWN,
)
LOOKS = st.builds(
    Look,
    st.integers(20, 120),
    st.sampled_from(PALETTES),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["none", "kitty", "sixel"]),
)


def render_all(scene: Scene, look: Look) -> None:
    for entry in range(len(scene.chat.entries)):
        block = scene.block(entry)
        for folded in (True, False):
            block.folded = folded
            strips = block.render(look, scene.chat)
            if look.images != "kitty":
                # It would be replaced by a part of a picture.
                assert not any("\U0010eeee" in strip.text for strip in strips)
            check(strips, look.width)
            for line in range(len(strips)):
                block.target_at(line)
            assert block.estimate(look) >= 0
        if block.toggle("details"):
            check(block.render(look, scene.chat), look.width)
        block.text()
        block.forget()


HOSTILE = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@HOSTILE
@given(st.lists(V1, min_size=1, max_size=5), st.lists(LINES, max_size=2), LOOKS, WORDS)
def test_no_conversation_of_v1_can_command_the_terminal(
    updates: list[Any], output: list[str], look: Look, word: str
) -> None:
    """Issue 6: escape sequences never reach the terminal unfiltered."""
    scene = Scene(1)
    for update in updates:
        scene.update(**update)
    scene.chat.transcript.terminal_started("t", word, f"{FOLDER}/{word}")
    for text in output:
        scene.chat.transcript.terminal_output("t", text.encode())
    scene.chat.transcript.terminal_exited("t", None, word)
    scene.chat.deny("c", word)
    scene.chat.remark(word, "warning", word)
    render_all(scene, look)


@HOSTILE
@given(st.lists(V2, min_size=1, max_size=6), LOOKS)
def test_no_conversation_of_v2_can_command_the_terminal(updates: list[Any], look: Look) -> None:
    """Issue 6: escape sequences never reach the terminal unfiltered."""
    scene = Scene(2)
    for update in updates:
        scene.update(**update)
    render_all(scene, look)
