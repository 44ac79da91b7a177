"""What v1's types check beyond their fields, and the old forms that they still read."""

from typing import Any

import pytest

import accord.schema.v1 as v1
from accord.schema.codec import Invalid, decode, encode
from accord.schema.struct import UNSET, Raw, UnknownVariant
from accord.schema.v1 import methods as v1_methods


def refused(wanted: Any, raw: bytes) -> tuple[str, str]:
    """Path and reason of the refusal."""
    with pytest.raises(Invalid) as caught:
        decode(wanted, raw)
    return caught.value.path, caught.value.reason


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        (
            b'{"name":"a","command":"/b","args":null,"env":null}',
            b'{"name":"a","command":"/b","args":[],"env":[]}',
        ),
        (
            b'{"name":"a","command":"/b","args":["x"]}',
            b'{"name":"a","command":"/b","args":["x"],"env":[]}',
        ),
        (
            b'{"name":"a","command":"/b","env":[{"name":"K","value":"v"}]}',
            b'{"name":"a","command":"/b","args":[],"env":[{"name":"K","value":"v"}]}',
        ),
        (
            b'{"type":"http","name":"a","url":"u"}',
            b'{"type":"http","name":"a","url":"u","headers":[]}',
        ),
        (
            b'{"type":"sse","name":"a","url":"u","headers":[{"name":"K","value":"v"}]}',
            b'{"type":"sse","name":"a","url":"u","headers":[{"name":"K","value":"v"}]}',
        ),
        (
            b'{"type":"acp","name":"a","serverId":"s"}',
            b'{"type":"acp","name":"a","serverId":"s"}',
        ),
    ],
)
def test_an_mcp_server_is_written_with_every_list_that_its_form_requires(
    raw: bytes, written: bytes
) -> None:
    """Demanded by agents that read strictly; old clients leave `env` out (contradiction 18)."""
    assert encode(decode(v1.McpServer, raw)) == written


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"name":"a"}', "an MCP server needs `command`"),
        (b'{"type":"http","name":"a"}', "an MCP server of type http needs `url`"),
        (b'{"type":"acp","name":"a"}', "an MCP server of type acp needs `serverId`"),
        (
            b'{"type":"ws","name":"a"}',
            "an MCP server of the unknown type 'ws' needs `command`",
        ),
    ],
)
def test_an_mcp_server_must_have_what_its_form_needs(raw: bytes, reason: str) -> None:
    assert refused(v1.McpServer, raw) == ("$", reason)


@pytest.mark.rule("V1-GEN-13", "V1-SESS-08")
def test_one_bad_mcp_server_fails_the_request_and_null_means_none() -> None:
    path, _ = refused(
        v1.NewSessionRequest, b'{"cwd":"/","mcpServers":[{"name":"a","command":"/b"},{}]}'
    )
    assert path == "$.mcpServers[1].name"
    raw = b'{"cwd":"/","mcpServers":null,"additionalDirectories":null}'
    assert decode(v1.NewSessionRequest, raw) == v1.NewSessionRequest(cwd="/", mcp_servers=[])


@pytest.mark.rule("V1-GEN-12")
def test_a_malformed_client_info_is_no_error_and_a_missing_version_is_one() -> None:
    request = decode(v1.InitializeRequest, b'{"protocolVersion":1,"clientInfo":5}')
    assert request.client_info is UNSET
    assert refused(v1.InitializeRequest, b"{}")[0] == "$.protocolVersion"
    assert refused(v1.InitializeRequest, b'{"protocolVersion":"1"}')[0] == "$.protocolVersion"


@pytest.mark.rule("V1-GEN-13")
def test_a_bad_auth_method_is_skipped() -> None:
    raw = b'{"protocolVersion":1,"authMethods":[{"id":"a","name":"A"},{"id":1},"x"]}'
    assert decode(v1.InitializeResponse, raw).auth_methods == [v1.AuthMethod(id="a", name="A")]


def test_embedded_resources_hold_text_or_bytes() -> None:
    wanted = v1.EmbeddedResourceResource
    assert decode(wanted, b'{"uri":"u","text":"t"}').text == "t"
    assert decode(wanted, b'{"uri":"u","blob":"aGk="}').blob == b"hi"
    assert refused(wanted, b'{"uri":"u"}')[1] == "an embedded resource needs `text` or `blob`"


def test_select_entries_are_values_or_groups() -> None:
    wanted = v1.SessionConfigSelectEntry
    assert decode(wanted, b'{"value":"v","name":"n"}').value == "v"
    group = decode(wanted, b'{"group":"g","name":"n","options":[{"value":"v","name":"n"},5]}')
    assert group.options == [v1.SessionConfigSelectOption(value="v", name="n")]
    assert refused(wanted, b'{"name":"n"}')[1] == "a select entry needs `value` or `group`"
    assert refused(wanted, b'{"group":"g","name":"n"}')[1] == "a select group needs `options`"


def test_a_boolean_value_says_that_it_is_one() -> None:
    wanted = v1.SetSessionConfigOptionRequest
    good = b'{"sessionId":"s","configId":"c","type":"boolean","value":true}'
    assert decode(wanted, good).value is True
    assert decode(wanted, b'{"sessionId":"s","configId":"c","type":"new","value":"v"}').value == "v"
    _, reason = refused(wanted, b'{"sessionId":"s","configId":"c","value":true}')
    assert reason == 'a boolean `value` needs `type` "boolean"'


def test_an_mcp_outcome_is_a_result_or_an_error_with_all_its_keys() -> None:
    wanted = v1.MessageMcpResponse
    assert decode(wanted, b'{"result":null}').failure is None
    text = b'{"error":{"code":-1,"message":"no","data":null,"more":[1]}}'
    value = decode(wanted, text)
    failure = value.failure
    assert failure is not None
    assert (failure.code, failure.message) == (-1, "no")
    assert isinstance(failure.data, Raw)
    assert encode(value) == text
    both = decode(wanted, b'{"result":1,"error":5}')
    assert both.failure is None
    assert refused(wanted, b"{}")[1] == "an MCP outcome needs `result` or `error`"
    assert "code" in refused(wanted, b'{"error":{"message":"no"}}')[1]
    assert refused(wanted, b'{"error":null}')[0] == "$"


def test_choices_are_plain_or_labelled_and_others_are_kept() -> None:
    wanted = v1.KnownMultiSelectItems
    assert decode(wanted, b'{"type":"string","enum":["a"]}').enum == ["a"]
    assert decode(wanted, b'{"anyOf":[]}').any_of == []
    assert refused(wanted, b"{}")[1] == "choices need `type` or `anyOf`"
    assert refused(wanted, b'{"type":"string"}')[1] == "choices of type string need `enum`"
    schema = b'{"type":"array","items":{"type":"colour","x":1}}'
    prop = decode(v1.MultiSelectPropertySchema, schema)
    assert prop.items == UnknownVariant("type", "colour", b'{"type":"colour","x":1}')
    assert encode(prop) == schema


def test_an_elicitation_belongs_to_a_session_or_a_request() -> None:
    wanted = v1.ElicitationUrlMode
    rest = b'"message":"m","mode":"url","elicitationId":"e","url":"u"'
    assert decode(wanted, b'{%s,"requestId":null}' % rest).request_id is None
    assert decode(wanted, b'{%s,"sessionId":"s"}' % rest).session_id == "s"
    _, reason = refused(wanted, b"{%s}" % rest)
    assert reason == "an elicitation needs `sessionId` or `requestId`"


def test_a_form_without_its_type_or_with_a_wrong_one_is_read_and_written_with_it() -> None:
    for raw in (b"{}", b'{"type":5}', b'{"type":"object"}'):
        assert encode(decode(v1.ElicitationSchema, raw)) == b'{"type":"object"}'


@pytest.mark.parametrize(
    ("wanted", "raw"),
    [
        (v1.Usage, b'{"totalTokens":%d,"inputTokens":0,"outputTokens":0}'),
        (v1.UsageUpdate, b'{"sessionUpdate":"usage_update","used":0,"size":%d}'),
        (v1.CreateTerminalRequest, b'{"sessionId":"s","command":"c","outputByteLimit":%d}'),
        (v1.MultiSelectPropertySchema, b'{"type":"array","items":{"anyOf":[]},"maxItems":%d}'),
    ],
)
def test_every_number_of_64_bits_keeps_its_bound(wanted: Any, raw: bytes) -> None:
    assert decode(wanted, raw % (2**64 - 1))
    assert "2**64 - 1" in refused(wanted, raw % 2**64)[1]


def test_a_mode_update_may_use_the_key_of_an_old_example() -> None:
    raw = b'{"sessionId":"s","update":{"sessionUpdate":"current_mode_update","modeId":"m"}}'
    assert decode(v1.SessionNotification, raw).update == v1.CurrentModeUpdate(current_mode_id="m")


@pytest.mark.rule("V1-GEN-10")
def test_an_unknown_update_is_kept_whole() -> None:
    raw = b'{"sessionId":"s","update":{"sessionUpdate":"weather","sun":1}}'
    value = decode(v1.SessionNotification, raw)
    assert isinstance(value.update, UnknownVariant)
    assert (value.update.tag, encode(value)) == ("weather", raw)


def test_a_permission_request_holds_a_tool_call_without_the_tag_of_an_update() -> None:
    patch = v1.ToolCallPatch(tool_call_id="t")
    assert encode(patch) == b'{"toolCallId":"t"}'
    update = v1.ToolCallUpdate(tool_call_id="t")
    assert encode(update) == b'{"sessionUpdate":"tool_call_update","toolCallId":"t"}'


def test_models_of_older_agents_are_read() -> None:
    raw = (
        b'{"sessionId":"s","models":{"currentModelId":"a",'
        b'"availableModels":[{"modelId":"a","name":"A"}]}}'
    )
    models = decode(v1.NewSessionResponse, raw).models
    assert models == v1.SessionModelState(
        current_model_id="a", available_models=[v1.ModelInfo(model_id="a", name="A")]
    )


@pytest.mark.parametrize(
    "method",
    [
        "session/load",
        "session/set_mode",
        "session/set_model",
        "authenticate",
        "fs/write_text_file",
        "terminal/kill",
        "terminal/release",
    ],
)
def test_older_documents_answer_these_with_null(method: str) -> None:
    row = (v1_methods.AGENT_METHODS | v1_methods.CLIENT_METHODS)[method]
    assert row.decode_result(b"null") == row.result()


def test_the_package_has_every_name_once() -> None:
    assert len(v1.__all__) == len(set(v1.__all__))
    assert all(hasattr(v1, name) for name in v1.__all__)


def test_the_frequent_updates_are_decoded_without_python() -> None:
    """Demanded by the speed goals: a `__post_init__` costs more than the rest of the message."""
    hot = (
        v1.SessionNotification,
        v1.UserMessageChunk,
        v1.AgentMessageChunk,
        v1.AgentThoughtChunk,
        v1.ToolCall,
        v1.ToolCallUpdate,
        v1.TextContent,
        v1.Content,
        v1.Diff,
    )
    assert [struct for struct in hot if hasattr(struct, "__post_init__")] == []


def test_capabilities_that_the_schema_has_dropped_are_ignored() -> None:
    """Ours: a peer of August 2026 may offer next edits, which are not read."""
    dropped = b'{"loadSession":true,"nes":{"events":5},"positionEncoding":"utf-16"}'
    assert decode(v1.AgentCapabilities, dropped).load_session is True
