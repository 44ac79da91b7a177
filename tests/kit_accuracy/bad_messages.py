"""What a program that breaks a rule of the wire does to the messages that it sends."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.kit_accuracy.line_peer import INVALID_REQUEST, NOT_FOUND, Json, as_line


def _with_number_id(message: Json) -> Json:
    answered = message.get("id")
    if "method" not in message and isinstance(answered, str) and answered.isdigit():
        return {**message, "id": int(answered)}
    return message


def _with_null_result(message: Json) -> Json:
    if "error" in message and message["error"]["code"] == NOT_FOUND:
        return {**message, "result": None}
    return message


def _without_empty_result(message: Json) -> Json:
    if message.get("result"):
        return message
    return {key: value for key, value in message.items() if key != "result"}


def _with_null_id(message: Json) -> Json:
    if "error" in message and message["error"]["code"] == INVALID_REQUEST:
        return {**message, "id": None}
    return message


def _without_jsonrpc(message: Json) -> Json:
    if "method" in message:
        return message
    return {key: value for key, value in message.items() if key != "jsonrpc"}


def _errors_on_several_lines(message: Json) -> str:
    return json.dumps(message, indent=2) if "error" in message else as_line(message)


def _answers_on_several_lines(message: Json) -> str:
    return as_line(message) if "method" in message else json.dumps(message, indent=2)


def as_it_is(message: Json) -> Json:
    return message


AGENT_CHANGES: dict[str, Callable[[Json], Json]] = {
    "V1-GEN-02": _with_number_id,
    "V1-GEN-03": _with_null_result,
    "V1-GEN-03b": _without_empty_result,
    "V2-GEN-03": _with_null_id,
}
CLIENT_CHANGES: dict[str, Callable[[Json], Json]] = {"V1-GEN-01": _without_jsonrpc}
AGENT_TEXTS: dict[str, Callable[[Json], str]] = {"TR-STDIO-02": _errors_on_several_lines}
CLIENT_TEXTS: dict[str, Callable[[Json], str]] = {"TR-STDIO-02": _answers_on_several_lines}
