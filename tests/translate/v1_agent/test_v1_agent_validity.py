"""Whatever a v1 agent or a v2 client says, the other side gets what is valid in its version.

Messages are made of the official schemas, with odd things kept on them as well; each that comes
out is judged by the official schema of its version and, strictly, by ours (see `Stage`).
"""

from functools import cache
from typing import Any

import jsonschema
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from accord.schema.method import Method
from accord.translate.message import AGENT, CLIENT, Request
from tests.schema.generation import BASE64, JSON, PATHS, FromSchema
from tests.schema.official_schema import load
from tests.translate.v1_agent.scripted_peers import ABLE, Stage

IDS = st.sampled_from(["a", "b"])
# The words that adapters keep things under, with sense and without.
WORDS = """
    status kind name title rawInput raw changes patch oldText newText icons size audience priority
    planId cost configOptions availableCommands authMethods stopReason continues prompt description
    format input made modes state mcpCapabilities updatedAt
"""
SENSIBLE = [
    {"type": "_odd", "planId": "a", "name": "a", "description": "d"},
    [{"type": "_odd", "configId": "a", "name": "a", "methodId": "a"}],
    [{"operation": "delete", "path": "/a"}],
    {"format": "git_patch", "text": ""},
]
KEPT = st.dictionaries(st.sampled_from(WORDS.split()), JSON | st.sampled_from(SENSIBLE), max_size=3)
METAS = st.none() | st.fixed_dictionaries({"acp.translate": KEPT})


class WithKept(FromSchema):
    """Values of the schema on which adapters have kept something."""

    def _special(self, name: str, key: str) -> Any:
        return METAS if key == "_meta" else super()._special(name, key)


BLOCKS = {
    "ImageContent.data": BASE64,
    "AudioContent.data": BASE64,
    "BlobResourceContents.blob": BASE64,
}
V1 = WithKept(
    load("v1").unstable,
    {
        **BLOCKS,
        "ToolCall.toolCallId": IDS,
        "ToolCallUpdate.toolCallId": IDS,
        "SubagentUpdate.cwd": st.none() | PATHS,
        "SubagentUpdate.additionalDirectories": st.none() | st.lists(PATHS, max_size=2),
        "SubagentUpdate.sessionId": st.just("child"),
        "RequestPermissionRequest.sessionId": st.just("s1"),
        "ElicitationSessionScope.sessionId": st.just("s1"),
    },
    always=frozenset({"ElicitationSchema.type"}),
)
V2 = FromSchema(
    load("v2").unstable,
    {
        **BLOCKS,
        "NewSessionRequest.cwd": PATHS,
        "NewSessionRequest.additionalDirectories": st.lists(PATHS, max_size=2),
        "McpServerStdio.command": PATHS,
    },
)
# What fails here is large, and making it small takes minutes.
QUICKLY = (Phase.explicit, Phase.generate)


@cache
def _validator(version: str, side: str, method: str, is_result: bool) -> Any:
    official = load(version)
    for name, found in official.messages().items():
        if found == (side, method) and name.endswith("Response") == is_result:
            definitions = official.unstable.definitions
            return jsonschema.Draft202012Validator(
                {"$ref": f"#/$defs/{name}", "$defs": definitions}
            )
    return None


def judge(version: str, method: Method, is_result: bool, value: Any) -> None:
    """By the official schema."""
    validator = _validator(version, method.side, method.name, is_result)
    if validator is not None:
        validator.validate(value)
    else:
        assert method.name in ("session/set_model", "$/cancel_request")


def staged(**how: Any) -> Stage:
    return Stage(judge=judge, unstable=True, open_words=True, **how)


@settings(max_examples=30, phases=QUICKLY)
@given(st.lists(V1.definition("SessionUpdate"), min_size=1, max_size=6), st.booleans())
def test_updates_of_any_kind_are_valid_in_v2(updates: list[Any], is_able: bool) -> None:
    """Ours: the other side is never sent something invalid."""
    stage = staged()
    key = stage.working(agent=ABLE if is_able else {})
    for update in updates:
        stage.update(update)
    stage.end()
    assert "messageId" in stage.answer(key)
    assert stage.said()[-1] == "idle end_turn"
    stage.ask("session/resume", {"sessionId": "s1", "cwd": "/", "replayFrom": {"type": "start"}})
    assert stage.adapter.wake_at is None


@settings(max_examples=20, phases=QUICKLY)
@given(
    V1.definition("RequestPermissionRequest"),
    V1.definition("CreateElicitationRequest"),
    V2.definition("RequestPermissionResponse"),
    V2.definition("CreateElicitationResponse"),
)
def test_questions_and_answers_of_any_kind_are_valid(
    permission: Any, form: Any, outcome: Any, filled: Any
) -> None:
    """Ours: and what was not offered is never chosen."""
    stage = staged()
    stage.working()
    key = stage.ask("session/request_permission", permission, AGENT)
    stage.reply("session/request_permission", outcome, CLIENT)
    said = stage.answer(key)["outcome"]
    offered = [option["optionId"] for option in permission["options"]]
    assert said["outcome"] == "cancelled" or said["optionId"] in offered
    if form.get("requestId", form) is not form and "sessionId" not in form:
        form = {**form, "requestId": 4711}
    key = stage.ask("elicitation/create", form, AGENT)
    if key not in stage.answers:
        stage.reply("elicitation/create", filled, CLIENT)
    assert len(stage.answers[key]) == 1


@settings(max_examples=20, phases=QUICKLY)
@given(
    V1.definition("InitializeResponse"),
    V1.definition("NewSessionResponse"),
    V1.definition("ListSessionsResponse"),
    V1.definition("PromptResponse"),
)
def test_answers_of_any_kind_are_valid_in_v2(hello: Any, new: Any, listed: Any, end: Any) -> None:
    """Ours: by the result types of v2 and by the official ones."""
    stage = staged()
    info = {"name": "client", "version": "1"}
    stage.ask("initialize", {"protocolVersion": 2, "info": info})
    stage.reply("initialize", hello)
    stage.ask("session/new", {"cwd": "/work"})
    stage.reply("session/new", {**new, "sessionId": "s1"})
    stage.prompt()
    stage.reply("session/prompt", end)
    key = stage.ask("session/list", {})
    if key not in stage.answers:
        stage.reply("session/list", listed)
    assert stage.answer(key)["sessions"] is not None


@settings(max_examples=20, phases=QUICKLY)
@given(
    V2.definition("InitializeRequest"),
    V2.definition("NewSessionRequest"),
    V2.definition("PromptRequest"),
)
def test_requests_of_any_kind_are_valid_in_v1_or_refused(hello: Any, new: Any, prompt: Any) -> None:
    """Ours: and each is answered once."""
    stage = staged()
    stage.ask("initialize", {**hello, "protocolVersion": 2})
    stage.reply("initialize", {"protocolVersion": 1, "agentCapabilities": ABLE})
    key = stage.ask("session/new", new)
    if key not in stage.answers:
        stage.reply("session/new", {"sessionId": "s1"})
    else:
        stage.new()
    key = stage.ask("session/prompt", {**prompt, "sessionId": "s1"})
    if key not in stage.answers:
        stage.end()
    assert len(stage.answers[key]) == 1
    assert not [one for one in stage.to_agent if isinstance(one, Request)]
