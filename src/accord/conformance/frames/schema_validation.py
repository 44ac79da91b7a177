"""Whether a message strictly has the type of its version, by `accord.schema`.

Must not know: which rule a wrong shape breaks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from accord.conformance.frames.raw_peer import Frame, Message
from accord.conformance.rule_definition import Version
from accord.schema.invalid import Invalid
from accord.schema.method import Method

METHODS: dict[Version, str] = {
    "1": "accord.schema.v1.methods",
    "2": "accord.schema.v2.methods",
    "draft": "accord.schema.draft.methods",
}


@dataclass(frozen=True, slots=True)
class Flaw:
    """A fault of one frame: its method, where it is, and why.

    `where` is a path from the params or the result, such as `$.update.content`.
    """

    frame: Frame
    method: str
    part: str
    where: str
    why: str

    @property
    def is_own(self) -> bool:
        """Whether this is only a variant that is marked as custom."""
        return self.why.startswith("unknown variant '_")

    def __str__(self) -> str:
        return f"{self.part} of {self.method}, {self.where}: {self.why}"


def tables(version: Version) -> tuple[dict[str, Method], dict[str, Method]]:
    """The methods that the agent handles, and those that the client handles."""
    methods = import_module(METHODS[version])
    return methods.AGENT_METHODS, methods.CLIENT_METHODS


def flaws(frames: Sequence[Frame], version: Version, *, of_agent: bool) -> Iterator[Flaw]:
    """Find the faults in the messages of the judged program, which is the agent or the client.

    Frames that the kit sent only tell which request an answer belongs to.  An unknown method is a
    flaw of part `method`; names that start with `_` or `$/` are extensions.
    """
    for_agent, for_client = tables(version)
    sends, handles = (for_client, for_agent) if of_agent else (for_agent, for_client)
    asked: dict[str, str] = {}
    for frame in frames:
        if frame.sent:
            if frame.is_request and frame.method is not None:
                asked[_key(frame.object.get("id"))] = frame.method
        elif frame.method is not None:
            yield from _of_call(frame, sends)
        elif frame.is_response and "result" in frame.object:
            method = handles.get(asked.get(_key(frame.object.get("id")), ""))
            if method is not None and method.kind == "request":
                yield from _of_result(frame, method)


def _key(request_id: Any) -> str:
    return json.dumps(request_id)


def _of_call(frame: Frame, sends: dict[str, Method]) -> Iterator[Flaw]:
    name = frame.method or ""
    if name.startswith(("_", "$/")):
        return
    method = sends.get(name)
    if method is None:
        yield Flaw(frame, name, "method", "$", "no method of this version")
        return
    if (method.kind == "request") != frame.is_request:
        yield Flaw(frame, name, "method", "$", f"it is a {method.kind}")
    raw = json.dumps(frame.object.get("params", {})).encode()
    try:
        method.decode_params(raw, strict=True)
    except Invalid as error:
        yield Flaw(frame, name, "params", error.path, error.reason)


def _other_version(result: Message | None, method: Method) -> bool:
    agreed = result.get("protocolVersion") if isinstance(result, dict) else None
    mine = 2 if ".v2." in str(getattr(method.result, "__module__", "")) else 1
    return agreed in (1, 2) and agreed != mine


def _of_result(frame: Frame, method: Method) -> Iterator[Flaw]:
    result: Message | None = frame.object.get("result")
    # Another version was agreed on, to which this table does not apply.
    if method.name == "initialize" and _other_version(result, method):
        return
    # Null stands for an empty object in older documents, and is read as one everywhere.
    if result is None:
        return
    try:
        method.decode_result(json.dumps(result).encode(), strict=True)
    except Invalid as error:
        yield Flaw(frame, method.name, "result", error.path, error.reason)
