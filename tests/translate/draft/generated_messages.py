"""Generated conversations: legal messages of both sides in any order, with odd things kept.

What was kept in `_meta` is a peer's to write, so it is put there with names that the bridges
look for and values that nobody expects.
"""

import json
from functools import cache
from typing import Any

import jsonschema
from hypothesis import strategies as st

from accord.schema.codec import encode, to_python
from accord.schema.draft import methods as draft_methods
from accord.schema.draft.updates import UPDATE_TYPES
from accord.translate.message import (
    AGENT,
    CLIENT,
    Json,
    Message,
    Notification,
    Request,
    Result,
    Side,
)
from accord.translate.meta_store import DRAFT
from tests.schema.draft.strategies import values
from tests.schema.generation import BASE64, PATHS, FromSchema
from tests.schema.official_schema import load
from tests.translate.draft.scripted_peers import Wire

V1 = load("v1").unstable
SESSIONS = st.sampled_from(["s", "t"])
CALLS = st.sampled_from(["a", "b"])
TERMINALS = st.sampled_from(["T", "U"])
CODES = st.sampled_from([*range(-32009, -31999), -32601, -32602, -32603, -32800, -32052, 7])
_IDS = {"sessionId": SESSIONS, "toolCallId": CALLS, "terminalId": TERMINALS}
OFFICIAL = FromSchema(
    V1,
    {
        "ImageContent.data": BASE64,
        "AudioContent.data": BASE64,
        "BlobResourceContents.blob": BASE64,
        "SubagentUpdate.cwd": st.none() | PATHS,
        "SubagentUpdate.additionalDirectories": st.none() | st.lists(PATHS, max_size=2),
        "ReadTextFileRequest.path": PATHS,
        "ToolCallLocation.path": PATHS,
        "WriteTextFileRequest.path": PATHS,
        "CreateTerminalRequest.cwd": st.none() | PATHS,
        "NewSessionRequest.cwd": PATHS,
        "NewSessionRequest.additionalDirectories": st.lists(PATHS, max_size=2),
        "LoadSessionRequest.cwd": PATHS,
        "LoadSessionRequest.additionalDirectories": st.lists(PATHS, max_size=2),
        **{
            f"{name}.{key}": strategy
            for key, strategy in _IDS.items()
            for name, node in V1.definitions.items()
            if key in node.get("properties", {})
        },
        "ContentChunk.messageId": st.none() | st.sampled_from(["m", "n"]),
    },
)
PARAMS: dict[tuple[str, str], str] = {}
RESULTS: dict[tuple[str, str], str] = {}
for _name, (_side, _method) in load("v1").messages().items():
    (RESULTS if _name.endswith("Response") else PARAMS)[_side, _method] = _name

KEPT_NAMES = st.sampled_from(
    [
        "annotations", "attachment", "block", "capabilities", "cwd", "code", "column",
        "configOptions", "content", "createdAt", "data", "encoding", "error", "exitCode", "final",
        "force", "hunks", "id", "index", "input", "kind", "loaded", "locations", "made",
        "madeOutput", "messageCount", "messageId", "modes", "name", "noCwd", "noId", "noInput",
        "noName", "noPlanId", "noStatus", "output", "outputByteLimit", "overwrite", "pid",
        "planId", "previousMode", "priority", "promptCapabilities", "rawInput", "rawOutput",
        "reason", "replayed", "requiresPermission", "sessionId", "signal", "source", "status",
        "stopReason", "timeout", "timestamp", "title", "totalLines", "truncated", "uri", "url",
        "usage", "value", "visible", "wholeUsage", "requiredClientCapabilities", "authMethods",
        "untold", "methodId", "madeCreatedAt", "systemPromptMode", "duration", "createDirectories",
    ]
)  # fmt: skip
KEPT_VALUES = st.sampled_from(
    [None, True, False, 0, 1, -1, "text", "base64", "image", [], {}, ["previousMode"], "failed",
     "denied", "completed", [{"type": "diff"}], {"type": "text", "text": "x"}, {"code": 1}]
)  # fmt: skip
# Where any object is legal because unknown members are; strict reading refuses those.
_OPEN_OBJECTS = ("annotations", "input", "capabilities")


def _legal(kept: Json) -> Json:
    return {name: one for name, one in kept.items() if name not in _OPEN_OBJECTS or one in ({}, 5)}


KEPT = st.dictionaries(KEPT_NAMES, KEPT_VALUES, max_size=4).map(_legal)


def with_kept(draw: Any, value: Any) -> Any:
    """The value with things kept on some of its objects."""
    if isinstance(value, list):
        return [with_kept(draw, one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {
        name: one if name in ("_meta", "env", "headers") else with_kept(draw, one)
        for name, one in value.items()
    }
    if draw(st.integers(0, 5)) == 0:
        meta = made.get("_meta")
        made["_meta"] = {**(meta if isinstance(meta, dict) else {}), DRAFT: draw(KEPT)}
    return made


_DRAFT_METHODS = {
    CLIENT: draft_methods.AGENT_METHODS,
    AGENT: draft_methods.CLIENT_METHODS,
}
_DRAFT_IDS = {"id": CALLS, **_IDS}


def draft_value(draw: Any, wanted: Any) -> Json:
    """A legal value of a type of the draft, about few sessions, calls and terminals."""
    made: Json = to_python(encode(draw(values(wanted))))
    for name, ids in _DRAFT_IDS.items():
        if isinstance(made.get(name), str):
            made[name] = draw(ids)
    return made


def official_value(draw: Any, name: str) -> Any:
    """A legal value of a definition of the official schema."""
    return json.loads(json.dumps(draw(OFFICIAL.definition(name))))


class Talk:
    """Says something legal on one side or the other."""

    def __init__(self, draw: Any, wire: Wire, draft_side: Side) -> None:
        self.draw = draw
        self.wire = wire
        self.draft_side = draft_side

    def request(self, side: Side, method: str) -> None:
        """A request of a peer."""
        if side is self.draft_side:
            params = draft_value(self.draw, _DRAFT_METHODS[side][method].params)
        else:
            other = "agent" if side is CLIENT else "client"
            params = official_value(self.draw, PARAMS[other, method])
        self.wire.ask(side, method, with_kept(self.draw, params))

    def update(self) -> None:
        """An update of the agent."""
        if self.draft_side is AGENT:
            kind = self.draw(st.sampled_from([*UPDATE_TYPES, "made_up"]))
            wanted = UPDATE_TYPES.get(kind, UPDATE_TYPES["plan"])
            params: Json = {"sessionId": self.draw(SESSIONS), "type": kind}
            params["data"] = draft_value(self.draw, wanted)
            if self.draw(st.booleans()):
                params["timestamp"] = "2026-02-04T10:30:00Z"
        else:
            params = official_value(self.draw, "SessionNotification")
        self.wire.tell(AGENT, "session/update", with_kept(self.draw, params))

    def answer(self) -> None:
        """An answer to something that a peer was asked."""
        if not self.wire.asked:
            return
        side, key = self.draw(st.sampled_from(sorted(self.wire.asked, key=str)))
        method = self.wire.asked[side, key]
        if self.draw(st.integers(0, 3)) == 0:
            data = self.draw(st.sampled_from([None, {}, "x", {"reason": "rate_limited"}]))
            self.wire.fail(side, key, self.draw(CODES), "no", data)
            return
        if side is self.draft_side:
            other = AGENT if side is CLIENT else CLIENT
            result = draft_value(self.draw, _DRAFT_METHODS[other][method].result)
        else:
            name = RESULTS["client" if side is CLIENT else "agent", method]
            result = official_value(self.draw, name)
        self.wire.answer(side, key, with_kept(self.draw, result))


@cache
def _validator(name: str) -> Any:
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": V1.definitions})


def official_check(side: Side, message: Message, method: str) -> None:
    """What goes to the v1 side is valid by the official schema."""
    handler = "client" if side is CLIENT else "agent"
    if isinstance(message, Result):
        name = RESULTS["agent" if side is CLIENT else "client", method]
        _validator(name).validate(message.result)
    else:
        assert isinstance(message, Request | Notification)
        _validator(PARAMS[handler, method]).validate(message.params)
