"""A v1 agent reads and writes files of a draft client, whose requests name no session."""

from __future__ import annotations

from typing import Final

from accord.jsonrpc.error_codes import METHOD_NOT_FOUND, RESOURCE_NOT_FOUND
from accord.schema import draft
from accord.translate.adapter import Outs
from accord.translate.draft.bridge import DraftBridge
from accord.translate.draft.client.state import State
from accord.translate.draft.conversion.meta_restore import keep_all, restore, taken
from accord.translate.draft.conversion.paths import file_uri
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Out,
    Request,
    Result,
)

UTF_8: Final = "utf-8"
_LINE_MAX: Final = 2**32 - 1


class Files:
    """Serves the agent's file requests by asking the client."""

    def __init__(self, bridge: DraftBridge, state: State) -> None:
        self._bridge = bridge
        self._state = state
        bridge.on_request[AGENT, "fs/read_text_file"] = self._read
        bridge.on_request[AGENT, "fs/write_text_file"] = self._write

    def _begin(self, request: Request, ability: str) -> Json:
        if not self._state.serves("fs", ability):
            raise CannotTranslate(METHOD_NOT_FOUND, f"the client does not serve {request.method}")
        asked = dict(request.params)
        keep_all(asked, {"sessionId": asked.pop("sessionId")})
        return asked

    def _read(self, request: Request) -> Outs:
        asked = self._begin(request, "read")
        line, limit = asked.pop("line", None), asked.pop("limit", None)
        if limit == 0:
            return [(AGENT, Result(request.key, {"content": ""}))]
        if line is not None:
            asked["startLine"] = max(line, 1)
        if limit is not None:
            asked["endLine"] = min((line or 1) + limit - 1, _LINE_MAX)

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._failed(request, answer)]
            result = dict(answer.result)
            had = {name: result.pop(name) for name in ("totalLines", "truncated") if name in result}
            encoding = result.pop("encoding")
            if encoding.lower() != UTF_8:
                had["encoding"] = encoding
            keep_all(result, had)
            return [(AGENT, Result(request.key, result))]

        ask = self._bridge.ask
        return [ask(CLIENT, "fs/read_text_file", asked, then, instead_of=request, of=AGENT)]

    def _write(self, request: Request) -> Outs:
        asked = self._begin(request, "write")
        had = taken(asked)
        names = ("createDirectories", "overwrite")
        asked = restore(asked, had, names, draft.WriteTextFileRequest)
        keep_all(asked, had)

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._failed(request, answer)]
            result = dict(answer.result)
            keep_all(result, {name: result.pop(name) for name in ("bytesWritten", "created")})
            return [(AGENT, Result(request.key, result))]

        ask = self._bridge.ask
        return [ask(CLIENT, "fs/write_text_file", asked, then, instead_of=request, of=AGENT)]

    def _failed(self, request: Request, failure: Failure) -> Out:
        """The error in official numbers; a file that is missing names itself."""
        side, answer = self._bridge.fail(AGENT, request.key, failure, request.params["sessionId"])
        assert isinstance(answer, Failure)
        if answer.code == RESOURCE_NOT_FOUND and answer.data.get("uri") == "":
            answer = answer._replace(data={**answer.data, "uri": file_uri(request.params["path"])})
        return side, answer
