"""The last filter of `guard`, for every message to the client and to the agent.

What always holds
    * No message of the agent reaches the client with a secret in it: answers, errors, requests,
      notifications, extensions.
    * Actions for the client are not changed: a file to write, a command to run, an address to
      open.  Without its secrets an action would be a different one.
    * Identifiers are not changed, since the client sends them back.
"""

from __future__ import annotations

import json
from typing import Final

from accord.machine.redaction.redactor import Redactor
from accord.schema.method import SESSION_UPDATE
from accord.schema.struct import Raw

ACTS: Final = ("fs/", "terminal/", "mcp/")
"""Prefixes of methods for actions that one side performs for the other."""
ELICIT: Final = "elicitation/create"


class ToClient:
    """Removes secrets from the agent's messages."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def params(self, method: str, params: bytes | Raw) -> bytes | Raw:
        """Redact a notification or a request of the agent."""
        if method == SESSION_UPDATE or method.startswith(ACTS):
            # `stream_redaction.py` has already redacted updates, whose texts come in pieces.
            return params
        made = self._clean(params)
        return _with_address(params, made) if method == ELICIT and made is not params else made

    def result(self, method: str, result: bytes | Raw) -> bytes | Raw:
        """Redact an answer of the agent."""
        return result if method.startswith(ACTS) else self._clean(result)

    def error(self, message: str, data: bytes | Raw | None) -> tuple[str, bytes | Raw | None]:
        """Redact an error of the agent."""
        return self._redactor.line(message), None if data is None else self._clean(data)

    def _clean(self, raw: bytes | Raw) -> bytes | Raw:
        data = bytes(memoryview(raw))
        made = self._redactor.frame(data, keep_ids=True)
        return raw if made is data else made


class ToAgent:
    """Learns the secrets that the client gives to the agent, and changes nothing."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def params(self, method: str, params: bytes | Raw) -> bytes | Raw:
        """Learn secrets from a request of the client: variables of MCP servers, a login."""
        if method != "session/prompt" and not method.startswith(ACTS):
            self._redactor.frame(bytes(memoryview(params)))
        return params

    def result(self, method: str, result: bytes | Raw) -> bytes | Raw:
        """Learn secrets from an answer of the client: a submitted form."""
        return self.params(method, result)

    def error(self, message: str, data: bytes | Raw | None) -> tuple[str, bytes | Raw | None]:
        """Return an error of the client unchanged."""
        return message, data


def _with_address(params: bytes | Raw, made: bytes | Raw) -> bytes | Raw:
    """Restore the address that the user is asked to open."""
    address = json.loads(bytes(memoryview(params))).get("url")
    if address is None:
        return made
    return json.dumps({**json.loads(bytes(memoryview(made))), "url": address}).encode()
