"""Whatever a v2 agent says, the v1 client gets what is valid in v1, by both schemas.

The updates are made of the official schema of v2, unknown variants and words included; each
message that comes out is judged by the official schema of v1 and, strictly, by ours (see `World`).
"""

from functools import cache
from typing import Any

import jsonschema
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from accord.translate.message import AGENT, CLIENT, Notification, Request, Result
from tests.schema.generation import BASE64, PATHS, FromSchema
from tests.schema.official_schema import load
from tests.translate.v2_agent.scripted_peers import CWD, SESSION, World, started

V1 = load("v1").unstable
V2 = load("v2").unstable
IDS = st.sampled_from(["a", "b"])
SPECIAL = {
    "ImageContent.data": BASE64,
    "AudioContent.data": BASE64,
    "BlobResourceContents.blob": BASE64,
    "TerminalOutput.data": BASE64,
    "TerminalOutputChunk.data": BASE64,
    "TerminalUpdate.cwd": st.none() | PATHS,
    "SubagentUpdate.cwd": st.none() | PATHS,
    "SubagentUpdate.additionalDirectories": st.none() | st.lists(PATHS, max_size=2),
    "SubagentUpdate.sessionId": st.just("child"),
    "CommandPermissionSubject.cwd": PATHS,
    "RequestPermissionRequest.sessionId": st.just(SESSION),
    "ElicitationSessionScope.sessionId": st.just(SESSION),
    **{
        f"{name}.{key}": IDS
        for key, names in {
            "messageId": ("ContentChunk", "UserMessage", "AgentMessage", "AgentThought"),
            "toolCallId": ("ToolCallUpdate", "ToolCallContentChunk", "CommandPermissionSubject"),
            "terminalId": ("TerminalUpdate", "TerminalOutputChunk", "Terminal"),
            "planId": ("PlanItems", "PlanFile", "PlanMarkdown", "PlanRemoved"),
            "compactionId": ("CompactionUpdate", "CompactionSummaryChunk"),
        }.items()
        for name in names
    },
}
THEIRS = FromSchema(V2, SPECIAL)
FEATURES: dict[str, Any] = {
    "session": {"configOptions": {"boolean": {}}, "compaction": {}, "notices": {}},
    "plan": {},
    "subagents": {},
}
# What fails here is large, and making it small takes minutes.
QUICKLY = (Phase.explicit, Phase.generate)
CLIENTS = st.sampled_from([{}, FEATURES])


@cache
def _validator(name: str) -> Any:
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": V1.definitions})


def _judge(world: World) -> None:
    names = {
        "session/update": "SessionNotification",
        "session/request_permission": "RequestPermissionRequest",
        "elicitation/create": "CreateElicitationRequest",
    }
    for message in world.client:
        if isinstance(message, Request | Notification) and message.method in names:
            _validator(names[message.method]).validate(message.params)


@settings(max_examples=40, phases=QUICKLY)
@given(CLIENTS, st.lists(THEIRS.definition("SessionUpdate"), min_size=1, max_size=6))
def test_updates_of_any_kind_are_valid_in_v1(client: Any, updates: list[Any]) -> None:
    """Ours: the other side is never sent something invalid."""
    # Not to the letter: strictly, words that belong to nobody yet are refused even in open sets.
    world = started(client, is_exact=False)
    key = world.prompt()
    for update in updates:
        world.update(update)
        world.pass_time(0.06)
    world.pass_time(1)
    world.idle()
    assert world.answer_to(key) is not None
    assert world.translator.wake_at is None
    _judge(world)


@settings(max_examples=40, phases=QUICKLY)
@given(
    st.lists(THEIRS.definition("ToolCallUpdate"), max_size=3),
    THEIRS.definition("RequestPermissionRequest"),
    THEIRS.definition("CreateElicitationRequest"),
)
def test_questions_of_any_kind_are_valid_in_v1(calls: Any, permission: Any, form: Any) -> None:
    """Ours: and each is answered once."""
    world = started(is_exact=False)
    for call in calls:
        world.update({"sessionUpdate": "tool_call_update", **call})
    key = world.ask(AGENT, "session/request_permission", permission)
    chosen = {"outcome": "selected", "optionId": permission["options"][0]["optionId"]}
    world.answer(CLIENT, world.last(CLIENT).key, {"outcome": chosen})
    assert world.last(AGENT, Result) == Result(key, {"outcome": chosen})
    if "requestId" in form:
        form = {**form, "requestId": 1}
    key = world.ask(AGENT, "elicitation/create", form)
    if (AGENT, key) in world.open:
        world.answer(CLIENT, world.last(CLIENT).key, {"action": "decline"})
    assert not [key for side, key in world.open if side is AGENT]
    _judge(world)


@settings(max_examples=30, phases=QUICKLY)
@given(
    THEIRS.definition("InitializeResponse"),
    THEIRS.definition("NewSessionResponse"),
    THEIRS.definition("ListSessionsResponse"),
)
def test_answers_of_any_kind_are_valid_in_v1(hello: Any, new: Any, listed: Any) -> None:
    """Ours: by the result types of v1 (see `World`) and by the official ones."""
    world = World(unstable=True, is_exact=False)
    key = world.ask(CLIENT, "initialize", {"protocolVersion": 1})
    session = hello.get("capabilities", {}).get("session") or {}
    capabilities = {**hello.get("capabilities", {}), "session": session}
    hello = {**hello, "protocolVersion": 2, "capabilities": capabilities}
    world.answer(AGENT, world.last(AGENT).key, hello)
    _validator("InitializeResponse").validate(world.answer_to(key).result)
    key = world.ask(CLIENT, "session/new", {"cwd": CWD, "mcpServers": []})
    world.answer(AGENT, world.last(AGENT).key, new)
    _validator("NewSessionResponse").validate(world.answer_to(key).result)
    key = world.ask(CLIENT, "session/list", {})
    world.answer(AGENT, world.last(AGENT).key, listed)
    _validator("ListSessionsResponse").validate(world.answer_to(key).result)
    _judge(world)
