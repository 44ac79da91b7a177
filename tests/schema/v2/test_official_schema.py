"""Our v2 against the official schema: nothing is missing, nothing differs, nothing is lost."""

import json
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accord.schema.v2 as v2
from accord.schema.codec import Invalid, decode, encode, to_raw
from accord.schema.struct import UNSET, NonEmpty, Raw
from accord.schema.v2 import enumeration_openness as v2_enumerations
from accord.schema.v2 import methods as v2_methods
from tests.schema.comparison import Book, Comparison, has_gate, misplaced
from tests.schema.generation import BASE64, JSON, PATHS, WORDS, FromSchema, FromTypes
from tests.schema.official_schema import load

OFFICIAL = load("v2")
ENVELOPE = "a JSON-RPC envelope; jsonrpc/ has those"
EXTENSION = "any JSON, of a method whose name starts with an underscore"
SHARED = "fields that several structs have in common"

BOOK = Book(
    package=v2,
    enums=v2_enumerations.ENUMS,
    exempt={
        **dict.fromkeys(
            [
                f"{side}{kind}"
                for side in ("Agent", "Client", "Proxy")
                for kind in ("Request", "Response", "Notification")
            ],
            ENVELOPE,
        ),
        "ExtRequest": EXTENSION,
        "ExtResponse": EXTENSION,
        "ExtNotification": EXTENSION,
        "AbsolutePath": "a checked string of schema/struct.py, the same for all versions",
    },
    parts={
        "BlobResourceContents": "EmbeddedResourceResource",
        "DiffPathChange": "DiffChange",
        "DiffPathPairChange": "DiffChange",
        "ElicitationAcceptAction": "CreateElicitationResponse",
        "ElicitationFormMode": "CreateElicitationRequest",
        "ElicitationRequestScope": "CreateElicitationRequest",
        "ElicitationSessionScope": "CreateElicitationRequest",
        "ElicitationUrlMode": "CreateElicitationRequest",
        "ErrorStopReason": "StateUpdate",
        "IdleStateUpdate": "StateUpdate",
        "RequiresActionStateUpdate": "StateUpdate",
        "RunningStateUpdate": "StateUpdate",
        "SessionConfigBoolean": "SessionConfigOption",
        "SessionConfigSelect": "SessionConfigOption",
        "StringMultiSelectItems": "MultiSelectItems",
        "TextResourceContents": "EmbeddedResourceResource",
        "TitledMultiSelectItems": "MultiSelectItems",
        "UnknownStateUpdate": "StateUpdate",
    },
    together={
        "SessionConfigSelectEntry": ("SessionConfigSelectOption", "SessionConfigSelectGroup"),
        "SessionConfigSelectOption": ("SessionConfigSelectOption",),
        "StateSnapshot": ("StateUpdate",),
        "ToolCallPatch": ("ToolCallUpdate",),
    },
    kinds={
        "ElicitationContentValue": Raw,
        "ErrorData": Raw,
        "SessionConfigSelectOptions": NonEmpty[v2.SessionConfigSelectEntry],
        "StateUpdate": v2.StateSnapshot,
        "ToolCallUpdate": v2.ToolCallPatch,
    },
    ours_alone={
        "ConfigOptionFields": SHARED,
        "DiffPathChange": SHARED,
        "DiffPathPairChange": SHARED,
        "ElicitationFields": SHARED,
        "MessagePatch": SHARED,
        "ReplayFromNowhere": "makes the decoder ask for the tag",
    },
)
EARLY_DRAFT = "read from peers of the first drafts, never sent"
DIFFERENCES = {
    "Diff.newText: ours alone": EARLY_DRAFT,
    "Diff.oldText: ours alone": EARLY_DRAFT,
    "Diff.path: ours alone": EARLY_DRAFT,
    "ToolCallContent(diff).newText: ours alone": EARLY_DRAFT,
    "ToolCallContent(diff).oldText: ours alone": EARLY_DRAFT,
    "ToolCallContent(diff).path: ours alone": EARLY_DRAFT,
    "RequestPermissionRequest.toolCall: ours alone": EARLY_DRAFT,
    "PromptResponse.stopReason: ours alone": EARLY_DRAFT,
    "PromptResponse.messageId: required True, ours False": "missing from peers of August 2026",
    "Error.data: nullable True, ours False": "any JSON is Raw, which holds a null like the rest",
    "MessageMcpResponse.error: is (structs, {McpError}), ours (any)": (
        "keys that MCP adds must survive; it is checked to be an McpError"
    ),
    "ReplayFrom: has no variant ''": "makes the decoder ask for the tag",
}


def test_every_definition_field_and_value_is_as_the_official_schema_has_it() -> None:
    """The issue: definitions, fields, requiredness, nullability, bounds, marks and words."""
    found = Comparison(OFFICIAL, BOOK).run()
    assert sorted(found - DIFFERENCES.keys()) == []
    assert sorted(DIFFERENCES.keys() - found) == []


def test_the_method_tables_have_every_message_on_the_side_that_handles_it() -> None:
    """The issue: method tables as data, against `x-method` and `x-side` of the schema."""
    tables = (
        v2_methods.AGENT_METHODS,
        v2_methods.CLIENT_METHODS,
        v2_methods.PROXY_METHODS,
        v2_methods.PROXY_NOTIFICATIONS,
    )
    assert misplaced(OFFICIAL, v2, *tables) == []


def test_every_gate_is_a_path_in_the_capabilities_of_the_side_that_handles_it() -> None:
    """Ours: but for those that the session, the answer to `initialize` or an entity holds."""
    elsewhere = {"authMethods", "configOptions", "toolCall.cancel", "terminal.cancel"}
    gates = {row.gate for row in v2_methods.AGENT_METHODS.values() if row.gate}
    assert {gate for gate in gates if not has_gate(v2.AgentCapabilities, gate)} == elsewhere
    gates = {row.gate for row in v2_methods.CLIENT_METHODS.values() if row.gate}
    assert {gate for gate in gates if not has_gate(v2.ClientCapabilities, gate)} == set()


def test_the_error_codes_are_those_of_the_official_schema() -> None:
    """The schema: nine are named, every other one is legal too."""
    branches = OFFICIAL.unstable.definitions["ErrorCode"]["anyOf"]
    named = {branch["const"] for branch in branches if "const" in branch}
    assert named == set(get_args(v2.PredefinedErrorCode))


def test_bounds_that_are_no_size_of_an_integer_are_ours_too() -> None:
    """The schema: `minimum` and `maximum` beside a format, and of the one bounded number."""
    bounds = {
        f"{name}.{key}": (value["minimum"], value.get("maximum"))
        for name, node in OFFICIAL.unstable.definitions.items()
        for key, value in node.get("properties", {}).items()
        if value.get("minimum", 0) > 0 or "maximum" in value
    }
    assert bounds == {
        "Annotations.priority": (0, 1),
        "TerminalSize.cols": (1, 65535),
        "TerminalSize.rows": (1, 65535),
        "ToolCallLocation.line": (1, None),
    }
    with pytest.raises(Invalid):
        decode(v2.TerminalSize, b'{"cols":0,"rows":1}')
    with pytest.raises(Invalid):
        decode(v2.ToolCallLocation, b'{"path":"/a","line":0}', strict=True)
    for priority in (b"-0.1", b"1.1"):
        with pytest.raises(Invalid):
            decode(v2.Annotations, b'{"priority":%s}' % priority, strict=True)


OPENING = ("NewSession", "ResumeSession", "ForkSession")
SPECIAL = {
    **{f"{name}Request.cwd": PATHS for name in OPENING},
    **{f"{name}Request.additionalDirectories": st.lists(PATHS, max_size=2) for name in OPENING},
    "ListSessionsRequest.cwd": st.none() | PATHS,
    "CommandPermissionSubject.cwd": PATHS,
    "McpServerStdio.command": PATHS,
    "ImageContent.data": BASE64,
    "AudioContent.data": BASE64,
    "BlobResourceContents.blob": BASE64,
    "TerminalOutput.data": BASE64,
    "TerminalOutputChunk.data": BASE64,
}
THEIRS = FromSchema(OFFICIAL.unstable, SPECIAL)
MESSAGES = sorted(OFFICIAL.messages())
BUSY = "UpdateSessionNotification"


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.rule("V2-GEN-10")
def test_what_validates_there_we_read_and_write_again_without_loss(name: str) -> None:
    """The issue: unknown variants, `_meta` and raw data included."""

    @settings(max_examples=80 if name == BUSY else 15)
    @given(THEIRS.definition(name))
    def survives(value: Any) -> None:
        text = json.dumps(value).encode()
        assert json.loads(encode(decode(getattr(v2, name), text))) == value

    survives()


def _contents(types: FromTypes) -> Any:
    text = types.plain_struct(v2.EmbeddedResourceResource, text=WORDS, blob=st.just(UNSET))
    blob = st.binary(max_size=8)
    return text | types.plain_struct(v2.EmbeddedResourceResource, text=st.just(UNSET), blob=blob)


def _options(types: FromTypes) -> Any:
    values = types.plain_struct(
        v2.SessionConfigSelectEntry,
        value=WORDS,
        group_id=st.just(UNSET),
        options=st.just(UNSET),
    )
    groups = types.plain_struct(
        v2.SessionConfigSelectEntry,
        value=st.just(UNSET),
        description=st.just(UNSET),
        group_id=WORDS,
        options=st.lists(types.struct(v2.SessionConfigSelectOption), min_size=1, max_size=2),
    )
    entries = st.lists(values, min_size=1, max_size=2) | st.lists(groups, min_size=1, max_size=2)
    return types.plain_struct(v2.SessionConfigSelect, options=entries)


def _choices(types: FromTypes) -> Any:
    plain = types.plain_struct(
        v2.KnownMultiSelectItems,
        type=st.just("string"),
        enum=st.lists(WORDS, min_size=1, max_size=2),
        any_of=st.just(UNSET),
    )
    titled = types.plain_struct(
        v2.KnownMultiSelectItems,
        type=st.just(UNSET),
        enum=st.just(UNSET),
        any_of=st.lists(types.struct(v2.EnumOption), min_size=1, max_size=2),
    )
    return plain | titled


def _outcomes(types: FromTypes) -> Any:
    result = JSON.map(lambda value: v2.MessageMcpResponse(result=to_raw(value)))
    error = types.struct(v2.McpError)
    return result | error.map(lambda one: v2.MessageMcpResponse(error=to_raw(one)))


def _states(struct: Any) -> Any:
    """Running and waiting have no stop reason, and only the reason `error` has an error."""
    none = {"stop_reason": st.just(UNSET), "error": st.just(UNSET), "usage": st.just(UNSET)}
    busy = st.sampled_from(["running", "requires_action", "unknown"])
    reasons = [word for word in v2_enumerations.ENUMS["StopReason"].values if word != "error"]

    def made(types: FromTypes) -> Any:
        idle = {"state": st.just("idle"), "stop_reason": st.none() | st.sampled_from(reasons)}
        return (
            types.plain_struct(struct, **none, state=busy)
            | types.plain_struct(struct, **idle, error=st.just(UNSET))
            | types.plain_struct(struct, state=st.just("idle"), stop_reason=st.just("error"))
        )

    return made


def _scoped(struct: Any) -> Any:
    def made(types: FromTypes) -> Any:
        session = types.plain_struct(struct, session_id=WORDS, request_id=st.just(UNSET))
        alone = {"session_id": st.just(UNSET), "tool_call_id": st.just(UNSET)}
        return session | types.plain_struct(struct, **alone, request_id=WORDS)

    return made


def _only(struct: Any, **fixed: Any) -> Any:
    return lambda types: types.plain_struct(struct, **fixed)


ABSENT = st.just(UNSET)
OURS = FromTypes(
    {
        v2.EmbeddedResourceResource: _contents,
        v2.SessionConfigSelect: _options,
        v2.KnownMultiSelectItems: _choices,
        v2.MessageMcpResponse: _outcomes,
        v2.StateSnapshot: _states(v2.StateSnapshot),
        v2.StateUpdate: _states(v2.StateUpdate),
        v2.ElicitationFormMode: _scoped(v2.ElicitationFormMode),
        v2.ElicitationUrlMode: _scoped(v2.ElicitationUrlMode),
        v2.Annotations: _only(v2.Annotations, priority=st.floats(0, 1) | ABSENT),
        v2.Diff: _only(v2.Diff, path=ABSENT, old_text=ABSENT, new_text=ABSENT),
        v2.PromptResponse: _only(v2.PromptResponse, message_id=WORDS, stop_reason=ABSENT),
        v2.RequestPermissionRequest: _only(v2.RequestPermissionRequest, tool_call=ABSENT),
        v2.ReplayFromNowhere: lambda types: types.struct(v2.ReplayFromStart),
    }
)


@pytest.mark.parametrize("name", MESSAGES)
def test_what_we_write_validates_there_and_is_read_back_the_same(name: str) -> None:
    """The issue: the definition that `x-method` names, not the root, which accepts anything."""
    definitions = OFFICIAL.unstable.document["$defs"]
    validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions})

    @settings(max_examples=60 if name == BUSY else 10)
    @given(OURS.value(getattr(v2, name)))
    def validates(value: Any) -> None:
        text = encode(value)
        validator.validate(json.loads(text))
        assert encode(decode(getattr(v2, name), text, strict=True)) == text

    validates()
