"""File requests of a v1 agent to a draft client, which name no session there."""

from __future__ import annotations

from typing import Final, NamedTuple

from accord.jsonrpc.error_codes import INTERNAL_ERROR, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND
from accord.schema import draft
from accord.translate.adapter import Outs
from accord.translate.draft.bridge import DraftBridge
from accord.translate.draft.client.session_memory import State
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
# How often the rest of a file is requested before the reading is given up.
PARTS_MAX: Final = 1000
_LINE_MAX: Final = 2**32 - 1


class _Part(NamedTuple):
    """The progress of reading a file: the lines up to `start` are in `before`."""

    before: str
    start: int
    end: int | None
    parts_left: int

    def following(self, result: Json) -> _Part | str | None:
        """Return the whole text, or the part to read next; None if there can be no whole text."""
        content: str = result["content"]
        text = self.before + content
        if not self._is_cut(result):
            return text
        lines = content.count("\n")
        if not lines or self.parts_left <= 1:
            return None
        # A line that was truncated is read again from its start.
        text, start = text[: text.rindex("\n") + 1], self.start + lines
        if self.end is not None and start > self.end:
            return text
        return _Part(text, start, self.end, self.parts_left - 1)

    def _is_cut(self, result: Json) -> bool:
        """Whether requested lines are missing."""
        if result.get("truncated") is not True:
            return False
        content: str = result["content"]
        is_whole = content.endswith("\n")
        last = self.start + content.count("\n") + (not is_whole) - 1
        if self.end is not None and last >= self.end and is_whole:
            # Some clients report `truncated` if the file has more than the requested lines.
            return False
        total = result.get("totalLines")
        return total is None or last < total or not is_whole


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
        had = taken(asked)
        asked = restore(asked, had, ("encoding",), draft.ReadTextFileRequest)
        keep_all(asked, had)
        start = max(line or 1, 1)
        end = None if limit is None else min(start + limit - 1, _LINE_MAX)
        if line is not None or end is not None:
            asked["startLine"] = start
        if end is not None:
            asked["endLine"] = end
        return self._read_part(request, asked, _Part("", start, end, PARTS_MAX))

    def _read_part(self, request: Request, asked: Json, part: _Part) -> Outs:
        """Read on from a line, until the text that the client truncates is whole."""

        def then(answer: Answer) -> Outs:
            if isinstance(answer, Failure):
                return [self._failed(request, answer)]
            result = dict(answer.result)
            # A bridge cannot know whether the agent wants the whole text: report it.
            following = part.following(result) if self._bridge.details else result["content"]
            if isinstance(following, _Part):
                further = {**asked, "startLine": following.start}
                return self._read_part(request, further, following)
            if following is None:
                raise CannotTranslate(
                    INTERNAL_ERROR,
                    "the client does not return the whole file",
                    {"reason": "truncated"},
                )
            result["content"] = following
            had = {name: result.pop(name) for name in ("totalLines", "truncated") if name in result}
            if part.before:
                had.pop("truncated", None)
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
        names = ("createDirectories", "overwrite", "encoding")
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
        """Convert the error to official codes; the one for a missing file names it."""
        side, answer = self._bridge.fail(AGENT, request.key, failure, request.params["sessionId"])
        assert isinstance(answer, Failure)
        if answer.code == RESOURCE_NOT_FOUND and answer.data.get("uri") == "":
            answer = answer._replace(data={**answer.data, "uri": file_uri(request.params["path"])})
        return side, answer
