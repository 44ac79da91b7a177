"""File requests of a draft agent to a v1 client.

These requests name no session; `state.State.owner` says whose they are.  A v1 client reads and
writes UTF-8 and says nothing of what it found, so the rest of the draft's answer is worked out.
With `details` it is our own client: it finds the rest of the request in `_meta` and answers there.
"""

from __future__ import annotations

from typing import Final

from accord.jsonrpc.error_codes import RESOURCE_NOT_FOUND
from accord.schema import draft
from accord.translate.adapter import Outs
from accord.translate.draft.agent.session_memory import State
from accord.translate.draft.bridge import DraftBridge, invalid
from accord.translate.draft.conversion.meta_restore import keep_all, restore, taken
from accord.translate.draft.conversion.paths import is_absolute, resolved
from accord.translate.draft.error_codes import (
    DRAFT_ACCESS_DENIED,
    DRAFT_CANCELLED,
    DRAFT_CAPABILITY_NOT_SUPPORTED,
)
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Request,
    Result,
)

UTF_8: Final = "utf-8"
_NAMES_OF_UTF_8: Final = frozenset({"utf-8", "utf8"})


class Files:
    """Serves the agent's file requests by asking the client."""

    def __init__(self, bridge: DraftBridge, state: State) -> None:
        self._bridge = bridge
        self._state = state
        bridge.on_request[AGENT, "fs/read_text_file"] = self._read
        bridge.on_request[AGENT, "fs/write_text_file"] = self._write

    def _begin(self, params: Json, ability: str) -> Json:
        """Check a request, and return params with v1's path and session."""
        if not self._state.serves("fs", ability):
            raise CannotTranslate(
                DRAFT_CAPABILITY_NOT_SUPPORTED, f"the client does not offer fs.{ability}"
            )
        encoding = params.pop("encoding", UTF_8)
        had = taken(params)
        if self._bridge.details:
            had["encoding"] = encoding
        elif encoding.lower() not in _NAMES_OF_UTF_8:
            raise invalid(f"the client supports only UTF-8 files, not {encoding}")
        path = params.pop("path")
        named = had.pop("sessionId", params.pop("sessionId", None))
        session = self._state.owner(path if is_absolute(path) else None, named)
        if session.muted:
            raise CannotTranslate(DRAFT_CANCELLED, "the turn was cancelled")
        asked: Json = {"sessionId": session.id, "path": resolved(path, session.folder), **params}
        keep_all(asked, had)
        return asked

    # ---- reading

    def _read(self, request: Request) -> Outs:
        params = dict(request.params)
        first, last = params.pop("startLine", None), params.pop("endLine", None)
        asked = self._begin(params, "read")
        if first is not None:
            asked["line"] = max(first, 1)
        skipped, count = max(first or 1, 1) - 1, None
        if last is not None:
            count = last - skipped
            if count <= 0:
                if self._bridge.details:
                    raise invalid("endLine is before startLine", path="$.endLine")
                return [(AGENT, Result(request.key, {"content": "", "encoding": UTF_8}))]
            asked["limit"] = count

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(AGENT, request.key, answer)]
            return [(AGENT, Result(request.key, _read_result(answer.result, skipped, count)))]

        ask = self._bridge.ask
        return [ask(CLIENT, "fs/read_text_file", asked, then, instead_of=request, of=AGENT)]

    # ---- writing

    def _write(self, request: Request) -> Outs:
        params = dict(request.params)
        replaces = params.pop("overwrite", None)
        folders = params.pop("createDirectories", None)
        asked = self._begin(params, "write")
        hints = {"overwrite": replaces, "createDirectories": folders}
        keep_all(asked, {name: value for name, value in hints.items() if value is not None})
        if replaces is not False or self._bridge.details:
            return self._written(request, asked, created=False)
        if not self._state.serves("fs", "read"):
            raise CannotTranslate(
                DRAFT_CAPABILITY_NOT_SUPPORTED,
                "without fs.read it is unknown whether the file exists",
            )
        look: Json = {"sessionId": asked["sessionId"], "path": asked["path"], "line": 1, "limit": 1}

        def looked(answer: Answer) -> Outs:
            if isinstance(answer, Result):
                raise CannotTranslate(
                    DRAFT_ACCESS_DENIED, "the file already exists", {"path": asked["path"]}
                )
            if answer.code != RESOURCE_NOT_FOUND:
                return [self._bridge.fail(AGENT, request.key, answer)]
            return self._written(request, asked, created=True)

        ask = self._bridge.ask
        return [ask(CLIENT, "fs/read_text_file", look, looked, instead_of=request, of=AGENT)]

    def _written(self, request: Request, asked: Json, *, created: bool) -> Outs:
        size = len(asked["content"].encode(errors="surrogatepass"))

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._bridge.fail(AGENT, request.key, answer)]
            result = dict(answer.result)
            had = taken(result)
            result = {**result, "bytesWritten": size, "created": created}
            result = restore(result, had, ("bytesWritten", "created"), draft.WriteTextFileResponse)
            keep_all(result, had)
            return [(AGENT, Result(request.key, result))]

        ask = self._bridge.ask
        return [ask(CLIENT, "fs/write_text_file", asked, then, instead_of=request, of=AGENT)]


def _read_result(answer: Json, skipped: int, limit: int | None) -> Json:
    result = {**answer, "encoding": UTF_8}
    had = taken(result)
    text = result["content"]
    count = text.count("\n") + (1 if text and not text.endswith("\n") else 0)
    if (limit is None or count < limit) and (count or not skipped):
        # The end of the file was seen.
        result["totalLines"], result["truncated"] = skipped + count, False
    names = ("totalLines", "truncated", "encoding")
    result = restore(result, had, names, draft.ReadTextFileResponse)
    keep_all(result, had)
    return result
