"""Our v1 against the official schema: nothing is missing, nothing differs, nothing is lost."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accord.schema.v1 as v1
from accord.schema.codec import decode, encode
from accord.schema.struct import UNSET, Raw, WireStruct
from accord.schema.v1 import enumeration_openness as v1_enumerations
from accord.schema.v1 import methods as v1_methods
from tests.schema.comparison import Book, Comparison, has_gate, misplaced, structs_of
from tests.schema.generation import BASE64, JSON, PATHS, WORDS, FromSchema, FromTypes, canonical
from tests.schema.official_schema import load

OFFICIAL = load("v1")
ENVELOPE = "a JSON-RPC envelope; jsonrpc/ has those"
EXTENSION = "any JSON, of a method whose name starts with an underscore"
BASE = "a base of structs; it is never sent"
SEED = "is in no schema, but agents speak it"

BOOK = Book(
    package=v1,
    enums=v1_enumerations.ENUMS,
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
        "ElicitationSchemaType": "one word, which is the tag of ElicitationSchema",
        "ErrorCode": "an open set of numbers, compared below",
    },
    renamed={"ToolCallUpdate": "ToolCallPatch"},
    parts={
        "AuthMethodAgent": "AuthMethod",
        "AuthMethodTerminal": "AuthMethod",
        "BlobResourceContents": "EmbeddedResourceResource",
        "ElicitationAcceptAction": "CreateElicitationResponse",
        "ElicitationFormMode": "CreateElicitationRequest",
        "ElicitationRequestScope": "CreateElicitationRequest",
        "ElicitationSessionScope": "CreateElicitationRequest",
        "ElicitationUrlMode": "CreateElicitationRequest",
        "ErrorStopReason": "IdleStateUpdate",
        "McpServerAcp": "McpServer",
        "McpServerHttp": "McpServer",
        "McpServerSse": "McpServer",
        "McpServerStdio": "McpServer",
        "SessionConfigBoolean": "SessionConfigOption",
        "SessionConfigSelect": "SessionConfigOption",
        "StringMultiSelectItems": "MultiSelectItems",
        "TextResourceContents": "EmbeddedResourceResource",
        "TitledMultiSelectItems": "MultiSelectItems",
    },
    together={
        "SessionConfigSelectEntry": ("SessionConfigSelectOption", "SessionConfigSelectGroup")
    },
    kinds={"SessionConfigSelectOptions": list[v1.SessionConfigSelectEntry]},
    ours_alone={
        "ConfigOptionFields": BASE,
        "ElicitationFields": BASE,
        "ModelInfo": SEED,
        "SessionModelState": SEED,
        "SetSessionModelRequest": SEED,
        "SetSessionModelResponse": SEED,
    },
)

# Where we differ on purpose, and why.  An entry that no longer differs fails the test too.
DEVIATIONS = {
    "NewSessionResponse.models: ours alone": SEED,
    "LoadSessionResponse.models: ours alone": SEED,
    "ResumeSessionResponse.models: ours alone": SEED,
    "AuthMethod.type: tolerance , ours E": "the branch without a tag takes any `type`",
    "MessageMcpResponse.error: is (structs, {McpError}), ours (any)": (
        "keys that MCP adds must survive; it is checked to be an McpError"
    ),
}


def test_every_definition_field_and_value_is_as_the_official_schema_has_it() -> None:
    """Demanded by the users of both: what one side writes the other one reads."""
    assert Comparison(OFFICIAL, BOOK).run() == set(DEVIATIONS)


def test_the_error_codes_are_those_of_the_official_schema() -> None:
    branches = OFFICIAL.unstable.definitions["ErrorCode"]["anyOf"]
    named = {branch["title"]: branch["const"] for branch in branches if "const" in branch}
    assert named == v1.ERROR_CODES


def test_the_method_tables_have_every_message_on_the_side_that_handles_it() -> None:
    tables = (
        v1_methods.AGENT_METHODS,
        v1_methods.CLIENT_METHODS,
        v1_methods.PROXY_METHODS,
        v1_methods.PROXY_NOTIFICATIONS,
    )
    assert misplaced(OFFICIAL, v1, *tables) == ["session/set_model of agent"]


def test_every_gate_is_a_path_in_the_capabilities_of_the_side_that_handles_it() -> None:
    agent = v1_methods.AGENT_METHODS.values()
    gates: list[tuple[type[WireStruct], str]]
    gates = [(v1.AgentCapabilities, row.gate) for row in agent if row.gate]
    client = v1.ClientCapabilities
    gates += [(client, row.gate) for row in v1_methods.CLIENT_METHODS.values() if row.gate]
    gates += [(client, gate) for gate in v1_methods.UPDATE_GATES.values()]
    assert [gate for root, gate in gates if not has_gate(root, gate)] == []


def test_every_gated_update_is_one() -> None:
    tags = {struct.__struct_config__.tag for struct in structs_of(v1.SessionUpdate)}
    assert v1_methods.UPDATE_GATES.keys() <= tags


OPENING = ("NewSession", "LoadSession", "ResumeSession", "ForkSession")
SPECIAL = {
    **{f"{name}Request.cwd": PATHS for name in OPENING},
    **{f"{name}Request.additionalDirectories": st.lists(PATHS, max_size=2) for name in OPENING},
    "ListSessionsRequest.cwd": st.none() | PATHS,
    "CreateTerminalRequest.cwd": st.none() | PATHS,
    "ReadTextFileRequest.path": PATHS,
    "WriteTextFileRequest.path": PATHS,
    "ImageContent.data": BASE64,
    "AudioContent.data": BASE64,
    "BlobResourceContents.blob": BASE64,
}
THEIRS = FromSchema(OFFICIAL.unstable, SPECIAL, always=frozenset({"ElicitationSchema.type"}))
MESSAGES = sorted(OFFICIAL.messages())
# We leave these keys out when they are false.
FALSE_BY_DEFAULT = OFFICIAL.false_by_default()


def _validator(name: str) -> Any:
    definitions = OFFICIAL.unstable.document["$defs"]
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions})


@pytest.mark.parametrize("name", MESSAGES)
def test_what_validates_there_we_read_and_write_again_without_loss(name: str) -> None:
    validator = _validator(name)

    @settings(max_examples=200 if name == "SessionNotification" else 25)
    @given(THEIRS.definition(name))
    def survives(value: Any) -> None:
        validator.validate(value)
        again = json.loads(encode(decode(getattr(v1, name), json.dumps(value).encode())))
        assert canonical(again, FALSE_BY_DEFAULT) == canonical(value, FALSE_BY_DEFAULT)

    survives()


def _mcp_servers(types: FromTypes) -> Any:
    env = st.lists(types.struct(v1.EnvVariable), max_size=2)
    headers = st.lists(types.struct(v1.HttpHeader), max_size=2)
    name = {"name": WORDS}
    program = {**name, "command": WORDS, "args": st.lists(WORDS, max_size=2), "env": env}
    remote = {**name, "type": st.sampled_from(["http", "sse"]), "url": WORDS, "headers": headers}
    acp = {**name, "type": st.just("acp"), "server_id": WORDS}
    forms = st.one_of([st.fixed_dictionaries(form) for form in (program, remote, acp)])
    return forms.map(lambda kw: v1.McpServer(**kw))


def _contents(types: FromTypes) -> Any:
    text = types.plain_struct(v1.EmbeddedResourceResource, text=WORDS)
    return text | types.plain_struct(v1.EmbeddedResourceResource, blob=st.binary(max_size=8))


def _entries(types: FromTypes) -> Any:
    value = st.fixed_dictionaries({"name": WORDS, "value": WORDS})
    return value.map(lambda kw: v1.SessionConfigSelectEntry(**kw))


def _set_option(types: FromTypes) -> Any:
    ids = {"session_id": WORDS, "config_id": WORDS}
    switch = st.fixed_dictionaries({**ids, "type": st.just("boolean"), "value": st.booleans()})
    choice = st.fixed_dictionaries({**ids, "value": WORDS})
    return (switch | choice).map(lambda kw: v1.SetSessionConfigOptionRequest(**kw))


def _outcomes(types: FromTypes) -> Any:
    result = JSON.map(lambda value: v1.MessageMcpResponse(result=Raw(json.dumps(value).encode())))
    error = types.struct(v1.McpError)
    return result | error.map(lambda one: v1.MessageMcpResponse(error=Raw(encode(one))))


def _choices(types: FromTypes) -> Any:
    plain = types.plain_struct(
        v1.KnownMultiSelectItems, type=st.just("string"), enum=st.lists(WORDS, max_size=2)
    )
    options = st.lists(types.struct(v1.EnumOption), max_size=2)
    titled = types.plain_struct(v1.KnownMultiSelectItems, type=st.just(UNSET), any_of=options)
    return plain | titled


OURS = FromTypes(
    {
        v1.McpServer: _mcp_servers,
        v1.EmbeddedResourceResource: _contents,
        v1.SessionConfigSelectEntry: _entries,
        v1.SetSessionConfigOptionRequest: _set_option,
        v1.MessageMcpResponse: _outcomes,
        v1.KnownMultiSelectItems: _choices,
        v1.ElicitationFormMode: lambda types: types.plain_struct(
            v1.ElicitationFormMode, session_id=WORDS
        ),
        v1.ElicitationUrlMode: lambda types: types.plain_struct(
            v1.ElicitationUrlMode, session_id=WORDS
        ),
    }
)


@pytest.mark.parametrize("name", MESSAGES)
def test_what_we_write_validates_there(name: str) -> None:
    validator = _validator(name)

    @settings(max_examples=200 if name == "SessionNotification" else 25)
    @given(OURS.value(getattr(v1, name)))
    def validates(value: Any) -> None:
        validator.validate(json.loads(encode(value)))

    validates()
