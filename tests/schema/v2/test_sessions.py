"""Sessions, prompts, permissions and cancelling."""

from typing import Any

import pytest

from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, UnknownVariant


def read(union: Any, raw: bytes) -> Any:
    """Read a member of a union, which type checkers do not take for a class."""
    return decode(union, raw)


@pytest.mark.parametrize("lists", [b"", b',"mcpServers":null', b',"additionalDirectories":null'])
def test_absent_and_null_lists_of_a_new_session_are_the_same(lists: bytes) -> None:
    """V2-SESS-02: and equal `[]`."""
    assert decode(v2.NewSessionRequest, b'{"cwd":"/a"%s}' % lists) == v2.NewSessionRequest(cwd="/a")


@pytest.mark.parametrize(
    "fields",
    [
        b'"cwd":"a"',
        b'"cwd":null',
        b'"cwd":"/a","additionalDirectories":["b"]',
        b'"cwd":"/a","additionalDirectories":[5]',
        b'"cwd":"/a","mcpServers":[{"type":"stdio","name":"n","command":"npx"}]',
        b'"cwd":"/a","mcpServers":[{"name":"n","command":"/npx"}]',
        b'"cwd":"/a","mcpServers":5',
        b'"cwd":"/a","systemPrompt":{"mode":"append"}',
    ],
)
def test_what_a_session_is_made_of_is_checked_strictly(fields: bytes) -> None:
    """The schema: in requests nothing but null is tolerated; paths are absolute."""
    with pytest.raises(Invalid):
        decode(v2.NewSessionRequest, b"{" + fields + b"}")


@pytest.mark.parametrize("cwd", [b"/a", rb"C:\\a", b"C:/a", rb"\\\\host\\share"])
def test_a_path_is_absolute_on_the_agents_machine(cwd: bytes) -> None:
    """The schema: POSIX, drive letter or UNC, wherever we run."""
    assert decode(v2.ListSessionsRequest, b'{"cwd":"%s"}' % cwd).cwd


def test_an_unknown_transport_arrives_as_unknown() -> None:
    """V2-SESS-24: so that the agent can refuse it by name."""
    value = decode(v2.NewSessionRequest, b'{"cwd":"/a","mcpServers":[{"type":"sse","name":"n"}]}')
    assert value.mcp_servers == [UnknownVariant("type", "sse", b'{"type":"sse","name":"n"}')]


@pytest.mark.parametrize("cursor", [b"5", b"{}", b'{"type":null}', b'"start"', b"[]"])
@pytest.mark.rule("V2-SESS-12")
def test_a_malformed_cursor_of_a_replay_is_refused(cursor: bytes) -> None:
    """V2-SESS-12: never read as none, and never as `start`."""
    with pytest.raises(Invalid):
        decode(v2.ResumeSessionRequest, b'{"sessionId":"s","cwd":"/a","replayFrom":%s}' % cursor)


def test_replay_is_from_the_start_or_not_at_all() -> None:
    """V2-SESS-09: absent and null mean no replay."""
    head = b'{"sessionId":"s","cwd":"/a"'
    assert decode(v2.ResumeSessionRequest, head + b"}").replay_from is UNSET
    assert decode(v2.ResumeSessionRequest, head + b',"replayFrom":null}').replay_from is None
    value = decode(v2.ResumeSessionRequest, head + b',"replayFrom":{"type":"start"}}')
    assert value.replay_from == v2.ReplayFromStart()
    assert b'"replayFrom":{"type":"start"}' in encode(value)


@pytest.mark.parametrize(
    "wanted", [v2.NewSessionResponse, v2.ResumeSessionResponse, v2.ForkSessionResponse]
)
@pytest.mark.rule("V2-SESS-03")
def test_a_null_list_in_a_session_result_is_read_as_absent(wanted: Any) -> None:
    """V2-SESS-03: it is never sent, and not held against who sends it."""
    raw = b'{"sessionId":"s","configOptions":null,"availableCommands":5}'
    value = decode(wanted, raw)
    assert (value.config_options, value.available_commands) == (UNSET, UNSET)


@pytest.mark.rule("V2-SESS-20")
def test_an_empty_cursor_is_a_cursor() -> None:
    """V2-SESS-20: only absence and null end the list; a malformed cursor is an error."""
    assert decode(v2.ListSessionsResponse, b'{"sessions":[],"nextCursor":""}').next_cursor == ""
    assert decode(v2.ListSessionsResponse, b'{"sessions":[],"nextCursor":null}').next_cursor is None
    assert decode(v2.ListSessionsResponse, b'{"sessions":[]}').next_cursor is UNSET
    with pytest.raises(Invalid):
        decode(v2.ListSessionsResponse, b'{"sessions":[],"nextCursor":5}')


def test_bad_sessions_in_a_list_are_dropped() -> None:
    """The schema: but the key must be there, and a session's roots are strict."""
    value = decode(
        v2.ListSessionsResponse,
        b'{"sessions":[{"sessionId":"a","cwd":"/a","title":5},{"sessionId":"b"},'
        b'{"sessionId":"c","cwd":"/c","additionalDirectories":[1]}]}',
    )
    assert value.sessions == [v2.SessionInfo(session_id="a", cwd="/a")]
    assert decode(v2.ListSessionsResponse, b'{"sessions":null}').sessions == []
    with pytest.raises(Invalid):
        decode(v2.ListSessionsResponse, b"{}")


@pytest.mark.rule("V2-SESS-13")
def test_a_missing_state_of_a_status_stays_missing() -> None:
    """V2-SESS-13: it is not idle, and neither is a malformed one."""
    assert decode(v2.SessionStatusResponse, b'{"status":"open"}').state is UNSET
    assert decode(v2.SessionStatusResponse, b'{"status":"_x","state":{}}').state is UNSET


@pytest.mark.rule("V2-PROMPT-03")
def test_an_empty_prompt_is_refused() -> None:
    """V2-PROMPT-03: also when something else in the request makes the reader look twice."""
    for tail in (b"", b',"_meta":5'):
        with pytest.raises(Invalid) as caught:
            decode(v2.PromptRequest, b'{"sessionId":"s","prompt":[]%s}' % tail)
        assert caught.value.path == "$.prompt"


def test_a_block_of_an_unknown_type_arrives_as_unknown() -> None:
    """V2-PROMPT-02: so that the agent can refuse it by name."""
    value = decode(v2.PromptRequest, b'{"sessionId":"s","prompt":[{"type":"_x"}]}')
    assert value.prompt == [UnknownVariant("type", "_x", b'{"type":"_x"}')]


def test_answers_to_a_prompt_of_three_ages_are_read() -> None:
    """V2-PROMPT-04 today; `{}` in August 2026; a stop reason in the first drafts."""
    assert decode(v2.PromptResponse, b'{"messageId":"m"}') == v2.PromptResponse(message_id="m")
    assert decode(v2.PromptResponse, b"{}").message_id is UNSET
    assert decode(v2.PromptResponse, b'{"stopReason":"end_turn"}').stop_reason == "end_turn"
    with pytest.raises(Invalid):
        decode(v2.PromptResponse, b'{"messageId":null}')


OPTION = b'{"optionId":"o","name":"n","kind":"_maybe"}'


def test_a_permission_request_needs_a_title_and_an_option() -> None:
    """V2-PERM-02: and options are not tolerated away."""
    good = b'{"sessionId":"s","title":"t","options":[%s]}' % OPTION
    value = decode(v2.RequestPermissionRequest, good)
    assert value.options == [v2.PermissionOption(option_id="o", name="n", kind="_maybe")]
    for bad in (
        b'{"sessionId":"s","options":[%s]}' % OPTION,
        b'{"sessionId":"s","title":"t","options":[]}',
        b'{"sessionId":"s","title":"t","options":[%s,7]}' % OPTION,
        b'{"sessionId":"s","title":"t","options":[%s],"subject":{"type":"command"}}' % OPTION,
    ):
        with pytest.raises(Invalid):
            decode(v2.RequestPermissionRequest, bad)


@pytest.mark.rule("V2-PERM-06")
def test_a_command_to_permit_has_an_absolute_directory() -> None:
    """V2-PERM-06: the user must see where it would run."""
    head = b'{"type":"command","command":"ls","cwd":'
    value = read(v2.RequestPermissionSubject, head + b'"/a","toolCallId":5}')
    assert value == v2.CommandPermissionSubject(command="ls", cwd="/a")
    with pytest.raises(Invalid, match="absolute"):
        read(v2.RequestPermissionSubject, head + b'"a"}')


def test_a_tool_call_to_permit_has_no_update_tag() -> None:
    """The schema: the bare object, though it is applied like an update."""
    subject = v2.ToolCallPermissionSubject(tool_call=v2.ToolCallPatch(tool_call_id="c"))
    assert encode(subject) == b'{"type":"tool_call","toolCall":{"toolCallId":"c"}}'


def test_a_permission_request_of_the_first_drafts_is_read() -> None:
    """Early draft: the tool call at the top and no title."""
    raw = b'{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[%s]}' % OPTION
    notes: list[str] = []
    value = decode(v2.RequestPermissionRequest, raw, notes=notes)
    assert value.title == ""
    assert value.tool_call == v2.ToolCallPatch(tool_call_id="c")
    assert notes == ["missing, read as empty (at $.title)"]


def test_an_unknown_outcome_arrives_as_unknown() -> None:
    """V2-PERM-08: and so it does not approve anything."""
    value = decode(v2.RequestPermissionResponse, b'{"outcome":{"outcome":"_sure","optionId":"o"}}')
    assert isinstance(value.outcome, UnknownVariant)
    with pytest.raises(Invalid):
        decode(v2.RequestPermissionResponse, b'{"outcome":{"outcome":"selected"}}')


@pytest.mark.parametrize("identifier", [b"null", b"1.5", b"true", b"9223372036854775808", b"{}"])
@pytest.mark.rule("V2-GEN-01")
def test_a_request_id_is_a_string_or_an_integer(identifier: bytes) -> None:
    """V2-GEN-01: never null, never a fraction."""
    with pytest.raises(Invalid):
        decode(v2.CancelRequestNotification, b'{"requestId":%s}' % identifier)
    assert decode(v2.CancelRequestNotification, b'{"requestId":"a"}').request_id == "a"
    assert decode(v2.CancelRequestNotification, b'{"requestId":-7}').request_id == -7
