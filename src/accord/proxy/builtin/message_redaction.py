"""What `guard` sees last of all: everything that goes to the client, and to the agent.

What always holds
    * Nothing that the agent says reaches the client with a secret in it: answers, errors,
      questions, notifications, extensions.
    * What the agent has the client do stays as it is: a file to be written, a command to be run,
      an address to be opened.  Without its secrets it would be something else.
    * Identifiers stay as they are, since the client sends them back.
"""

from __future__ import annotations

import json
from typing import Final

from accord.machine.redaction.redactor import Redactor
from accord.schema.method import SESSION_UPDATE
from accord.schema.struct import Raw

ACTS: Final = ("fs/", "terminal/", "mcp/", "nes/", "document/")
"""Methods by which one side works for the other, by their beginnings."""
ELICIT: Final = "elicitation/create"


class ToClient:
    """Takes secrets out of what the agent says."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def params(self, method: str, params: bytes | Raw) -> bytes | Raw:
        """What the agent tells or asks."""
        if method == SESSION_UPDATE or method.startswith(ACTS):
            # Updates have texts in pieces; `stream_redaction.py` has seen them.
            return params
        made = self._clean(params)
        return _with_address(params, made) if method == ELICIT and made is not params else made

    def result(self, method: str, result: bytes | Raw) -> bytes | Raw:
        """What the agent answers."""
        return result if method.startswith(ACTS) else self._clean(result)

    def error(self, message: str, data: bytes | Raw | None) -> tuple[str, bytes | Raw | None]:
        """How the agent refuses."""
        return self._redactor.line(message), None if data is None else self._clean(data)

    def _clean(self, raw: bytes | Raw) -> bytes | Raw:
        data = bytes(memoryview(raw))
        made = self._redactor.frame(data, keep_ids=True)
        return raw if made is data else made


class ToAgent:
    """Remembers the secrets that the client hands to the agent, and lets everything pass."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def params(self, method: str, params: bytes | Raw) -> bytes | Raw:
        """What the client tells or asks: the variables of MCP servers, a login."""
        if method != "session/prompt" and not method.startswith(ACTS):
            self._redactor.frame(bytes(memoryview(params)))
        return params

    def result(self, method: str, result: bytes | Raw) -> bytes | Raw:
        """What the client answers: a form that was filled in."""
        return self.params(method, result)

    def error(self, message: str, data: bytes | Raw | None) -> tuple[str, bytes | Raw | None]:
        """How the client refuses."""
        return message, data


def _with_address(params: bytes | Raw, made: bytes | Raw) -> bytes | Raw:
    """The user is to open it, so it stays as it was."""
    address = json.loads(bytes(memoryview(params))).get("url")
    if address is None:
        return made
    return json.dumps({**json.loads(bytes(memoryview(made))), "url": address}).encode()


__all__ = ["ACTS", "ToAgent", "ToClient"]
