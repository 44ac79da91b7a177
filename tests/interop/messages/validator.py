"""Judges messages against the official schema of a connection's version.

`params` and `result` are held against the definition that the schema marks with the method's name
(`x-method`) and the side that handles it (`x-side`); the root of the schema is never used, because
it accepts nearly anything.  The files are those of the installed npm package, read when a validator
is made.

It shares no code with the library that it judges.

Invariants
    * `check` sees every message of a connection, of both sides and in order: an answer is judged by
      the request that it answers.  Whoever calls it ignores the problems of the side that is not
      judged.
    * One exception to strictness: a client's `initialize` may carry the keys of v1 and v2 side by
      side, each held to its own version's definition.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.interop.messages.strict_schema import INTEGER_BOUNDS, Schema, StrictSchema

Side = Literal["agent", "client"]
Kind = Literal["Request", "Response", "Notification"]

PROJECT = Path(__file__).resolve().parents[3]
SCHEMAS = PROJECT / "node_modules" / "@agentclientprotocol" / "sdk" / "schema"
PATH_KEYS = {1: ("cwd", "path", "additionalDirectories"), 2: ()}
OTHER_SIDE: Mapping[Side, Side] = {"agent": "client", "client": "agent"}
ENVELOPE_KEYS = {
    "request": {"jsonrpc", "id", "method", "params"},
    "answer": {"jsonrpc", "id", "result", "error"},
}


@cache
def load_schema(version: int, unstable: bool) -> StrictSchema:
    """The definitions of one version, from the installed package; without it the test is skipped.

    Where node is missing, so is the package, and `make test` must pass and say what it left out.
    """
    if not SCHEMAS.is_dir():
        pytest.skip("the npm package with the official schema is not installed; it needs node")
    name = "schema.unstable.json" if unstable else "schema.json"
    document = json.loads((SCHEMAS / f"v{version}" / name).read_text("utf-8"))
    return StrictSchema(document["$defs"], PATH_KEYS[version])


def method_definitions(schema: StrictSchema) -> dict[tuple[str, Kind], tuple[str, str]]:
    """(method, kind) -> (definition, side that handles the method)."""
    kinds: tuple[Kind, ...] = ("Request", "Response", "Notification")
    return {
        (definition["x-method"], kind): (name, definition["x-side"])
        for name, definition in schema.definitions.items()
        for kind in kinds
        if "x-method" in definition and name.endswith(kind)
    }


class Validator:
    """Judges one connection's messages; guards which requests are open on which side."""

    def __init__(self, version: int, unstable: bool = False) -> None:
        self._schema = load_schema(version, unstable)
        self._sibling = load_schema(3 - version, unstable)
        self._methods = method_definitions(self._schema)
        self._open: dict[tuple[Side, str], str] = {}

    def check(self, direction: Side, message: Any) -> list[str]:
        """Every problem of a message that this side sent; empty when it is right."""
        if not isinstance(message, dict):
            return ["$: a message is an object"]
        problems = [] if message.get("jsonrpc") == "2.0" else ["$.jsonrpc: is not '2.0'"]
        if "method" in message:
            problems += _unknown_keys(message, "request")
            return problems + self._check_call(direction, message)
        problems += _unknown_keys(message, "answer")
        return problems + self._check_answer(direction, message)

    def _check_call(self, direction: Side, message: dict[str, Any]) -> list[str]:
        method = message["method"]
        if not isinstance(method, str):
            return ["$.method: is not a string"]
        problems: list[str] = []
        kind: Kind = "Notification"
        if "id" in message:
            kind = "Request"
            problems += self._open_request(direction, message["id"], method)
        if method.startswith("_"):
            return problems
        if (found := self._methods.get((method, kind))) is None:
            return [*problems, f"$.method: {method!r} is not a {kind.lower()} of this version"]
        name, side = found
        if side == direction:
            problems.append(f"$.method: {method!r} is handled by the {side}, who sent it")
        params = message.get("params", {})
        if method == "initialize":
            return problems + self._check_initialize(name, params)
        return problems + self._judge(self._schema.definitions[name], params, "$.params")

    def _open_request(self, direction: Side, request_id: Any, method: str) -> list[str]:
        if problems := _id_problems(request_id):
            return problems
        key = (direction, repr(request_id))
        if key in self._open:
            problems.append(f"$.id: {request_id!r} is still open")
        self._open[key] = method
        return problems

    def _check_initialize(self, name: str, params: Any) -> list[str]:
        own, other = self._schema.definitions[name], self._sibling.definitions[name]
        if not isinstance(params, dict):
            return self._judge(own, params, "$.params")
        foreign = params.keys() & (other["properties"].keys() - own["properties"].keys())
        mine = {key: value for key, value in params.items() if key not in foreign}
        problems = self._judge(own, mine, "$.params")
        for key in sorted(foreign):
            problems += self._sibling.judge(
                other["properties"][key], params[key], f"$.params.{key}"
            )
        return problems

    def _check_answer(self, direction: Side, message: dict[str, Any]) -> list[str]:
        if "id" not in message:
            return ["$: neither a method nor an id"]
        if ("result" in message) == ("error" in message):
            return ["$: an answer has exactly one of result and error"]
        request_id = message["id"]
        if request_id is None and "error" in message:
            return self._check_error(message["error"])
        if problems := _id_problems(request_id):
            return problems
        method = self._open.pop((OTHER_SIDE[direction], repr(request_id)), None)
        if method is None:
            return [f"$.id: nobody asked {request_id!r}"]
        if "error" in message:
            return self._check_error(message["error"])
        if (found := self._methods.get((method, "Response"))) is None:
            # The peer's request was an extension, or no method of this version at all: such a
            # result has no definition, and only the request was at fault.
            return []
        return self._judge(self._schema.definitions[found[0]], message["result"], "$.result")

    def _check_error(self, error: Any) -> list[str]:
        definitions = self._schema.definitions
        problems = self._judge(definitions["Error"], error, "$.error")
        special = definitions.get("UnsupportedProtocolVersionErrorData")
        if not problems and special is not None and error["code"] == -32022:
            problems += self._judge(special, error.get("data"), "$.error.data")
        return problems

    def _judge(self, definition: Schema, value: Any, path: str) -> list[str]:
        return sorted(self._schema.judge(definition, value, path))


def _unknown_keys(message: dict[str, Any], shape: str) -> list[str]:
    return [f"$: unknown key {key!r}" for key in sorted(message.keys() - ENVELOPE_KEYS[shape])]


def _id_problems(request_id: Any) -> list[str]:
    low, high = INTEGER_BOUNDS["int64"]
    if isinstance(request_id, str):
        return []
    if isinstance(request_id, int) and not isinstance(request_id, bool):
        return [] if low <= request_id <= high else [f"$.id: {request_id} is out of bounds"]
    return [f"$.id: {request_id!r} is neither a string nor an integer"]
