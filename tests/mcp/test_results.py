"""Results of MCP in our words: block by block, nothing left out without a word."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import CallToolResult, ReadResourceResult, TextContent

from accord.machine.redaction.redactor import Redactor
from accord.mcp import results
from accord.mcp.error_messages import McpFault
from accord.mcp.results import McpTool, block_of, contents_of, result_of, text_of
from accord.mcp.server_spec import ServerSpec
from accord.schema import v2


def test_a_block_keeps_what_both_protocols_know() -> None:
    """Issue: mapped block by block."""
    hints = {"audience": ["user"], "priority": 0.5}
    block = block_of({"type": "text", "text": "hi", "annotations": hints})
    assert isinstance(block, v2.TextContent)
    assert isinstance(block.annotations, v2.Annotations)
    assert (block.annotations.audience, block.annotations.priority) == (["user"], 0.5)


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"type": "hologram", "light": 1}, "[hologram that cannot be shown]"),
        ({"type": "image", "data": "!!"}, "[image that cannot be shown: "),
    ],
)
def test_a_block_that_cannot_be_shown_is_said_in_text(members: dict[str, Any], text: str) -> None:
    """Issue: bad input gives something that a person understands."""
    block = block_of(members)
    assert isinstance(block, v2.TextContent)
    assert block.text.startswith(text)


def test_a_block_that_is_too_large_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """House rule: everything has a bound."""
    monkeypatch.setattr(results, "BLOCK_BYTES_MAX", 100)
    block = block_of({"type": "text", "text": "x" * 200})
    assert isinstance(block, v2.TextContent)
    assert "left out: too large" in block.text


def test_structured_content_alone_is_shown_as_json() -> None:
    """A model reads text, so there must be some."""
    result = result_of(CallToolResult(content=[], structured_content={"a": 1}))
    assert result.text == '{\n  "a": 1\n}'
    assert result.blocks == [v2.TextContent(text=result.text)]
    both = result_of(CallToolResult(content=[TextContent(text="one")], structured_content={"a": 1}))
    assert (both.text, both.structured) == ("one", {"a": 1})


def test_bytes_of_a_resource_are_named() -> None:
    """What is not text is named in the text."""
    answer = ReadResourceResult.model_validate(
        {"contents": [{"uri": "x://a", "blob": "AAAA"}, {"uri": "x://b", "text": "words"}]}
    )
    read = contents_of(answer)
    assert read.text == "[resource x://a, 3 bytes]\nwords"
    assert all(isinstance(one, v2.EmbeddedResource) for one in read.blocks)


def test_blocks_beyond_the_bound_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """House rule: everything has a bound; each block is an update to the client."""
    monkeypatch.setattr(results, "BLOCKS_MAX", 2)
    content = [TextContent(text=str(number)) for number in range(5)]
    result = result_of(CallToolResult(content=list(content)))
    assert result.text == "0\n1\n[3 more blocks left out]"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "data": "!!!!", "mimeType": "image/png"},
        {"type": "audio", "data": "a", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "x://a", "blob": "?"}},
    ],
)
def test_bytes_that_are_no_base64_fail_the_call(block: dict[str, Any]) -> None:
    """Issue: results checked against MCP's shapes, bad ones fail the call."""
    with pytest.raises(McpFault, match=r"malformed \(content\.0\.(data|blob): not base64\)"):
        result_of(CallToolResult.model_validate({"content": [block]}))


def test_a_key_that_the_server_quotes_is_hidden_wherever_it_stands() -> None:
    """Issue: credentials never shown; other values of variables are content."""
    spec = ServerSpec(
        name="s",
        transport="stdio",
        env={"API_TOKEN": "0123456789", "ROOT": "/srv/notes", "KEY": "short"},
        headers={"Authorization": "Bearer abcdefgh"},
    )
    assert spec.credentials == {"0123456789", "Bearer abcdefgh", "abcdefgh"}
    answer = CallToolResult(
        content=[TextContent(text="in /srv/notes with 0123456789")],
        structured_content={"keys": [{"is": "abcdefgh"}], "count": 2},
    )
    result = result_of(answer, Redactor(spec.credentials).by_value.text)
    assert result.text == "in /srv/notes with [secret]"
    assert result.blocks == [v2.TextContent(text=result.text)]
    assert result.structured == {"keys": [{"is": "[secret]"}], "count": 2}


def test_a_block_that_nobody_knows_is_named_by_its_tag() -> None:
    """An unknown variant of a peer's."""
    from accord.schema.struct import UnknownVariant

    assert text_of([UnknownVariant("type", "hologram", b"{}")]) == "[hologram]"


@pytest.mark.parametrize(
    ("hints", "kind"),
    [
        ({}, "other"),
        ({"readOnlyHint": True}, "fetch"),
        ({"readOnlyHint": True, "openWorldHint": True}, "fetch"),
        ({"readOnlyHint": "yes"}, "other"),
        ({"destructiveHint": False}, "other"),
    ],
)
def test_the_kind_of_a_tool_comes_from_its_hints(hints: dict[str, Any], kind: str) -> None:
    """Docs: a hint is never a permission, so `--allow read` does not mean a server's tools."""
    assert McpTool(server="s", name="t", annotations=hints).kind == kind
