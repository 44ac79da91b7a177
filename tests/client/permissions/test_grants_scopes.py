"""What an answer covers that our own side remembers: for a session or for a folder."""

from __future__ import annotations

from typing import Any, cast

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord import Decision, PermissionRequest, Permissions
from accord.client.permissions.command_patterns import read_command
from accord.client.permissions.request import OWN_OPTIONS, Scope
from accord.schema.struct import Raw
from accord.transcript.items.tool_call import ToolCall

FOLDER = "/nowhere/project"

commands = st.builds(
    lambda line, cwd: {"kind": "execute", "command": line, "cwd": cwd},
    st.sampled_from(["make", "make x", "make  x", "rm config.json", "make; rm x", "sh -c 'rm x'"]),
    st.sampled_from([FOLDER, f"{FOLDER}/sub", "/elsewhere", None]),
)
changes = st.builds(
    lambda kind, path: {"kind": kind, "paths": (path,)},
    st.sampled_from(["edit", "delete", "read"]),
    st.sampled_from([f"{FOLDER}/a", f"{FOLDER}/a/b", f"{FOLDER}/.envrc", "/elsewhere/a"]),
)
tools = st.builds(
    lambda tool: {"kind": "other", "mcp_tool": tool}, st.sampled_from(["db/a", "db/ab", "web/a"])
)
# A title, and perhaps input that says more than that.
bare = st.builds(
    lambda title, given: {"kind": "other", "title": title, "given": given},
    st.sampled_from(["Run command?", "Send"]),
    st.sampled_from([None, '{"text":"ls"}', '{"text":"rm -rf /"}']),
)
acts = st.one_of(commands, changes, tools, bare)


def request_of(about: dict[str, Any]) -> PermissionRequest:
    fields = {"title": "It", **about}
    given = fields.pop("given", None)
    call = ToolCall("t")
    if given is not None:
        call.patch(raw_input=Raw(given.encode()))
    return PermissionRequest(session_id="s", options=OWN_OPTIONS, tool_call=call, **fields)


def is_same(first: dict[str, Any], later: dict[str, Any]) -> bool:
    """The reference: what may pass unasked after the first."""
    if first.get("given") is not None:
        return False
    if "command" not in first or "command" not in later:
        return first == later
    folders = {one["cwd"] or FOLDER for one in (first, later)}
    lines = read_command(first["command"]), read_command(later["command"])
    return len(folders) == 1 and lines[0].same(lines[1])


@pytest.mark.parametrize("scope", ["session", "workspace"])
@given(first=acts, later=acts)
@settings(max_examples=300, deadline=None)
def test_an_answer_that_we_remember_covers_the_same_act_only(
    scope: str, first: dict[str, Any], later: dict[str, Any]
) -> None:
    """Issue 12: the same command and folder, the same file and kind, the same tool."""
    asked: list[PermissionRequest] = []

    def decide(request: PermissionRequest) -> Decision:
        asked.append(request)
        is_first = len(asked) == 1
        return Decision("allow_once", cast(Scope, scope)) if is_first else Decision("reject_once")

    async def play() -> None:
        permissions = Permissions.ask(decide)
        permissions.add_session("s", FOLDER)
        await permissions.decide(request_of(first))
        await permissions.decide(request_of(later))

    anyio.run(play)
    assert len(asked) == (1 if is_same(first, later) else 2)
