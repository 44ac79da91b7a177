"""Finds the rules that a recording breaks, frame by frame.

Only what the bytes show is checked: that an answer belongs to a request, that a message has the
right type, that only advertised methods are called, that a finished tool call does not change.

Must not know files or rows.

What always holds: any sequence of frames is checked without an exception, and the state is bounded
by the number of open requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from accord.jsonrpc.json_depth import DEPTH_MAX, is_deeper
from accord.protocol.capabilities import is_open
from accord.protocol.negotiation import Chosen, Dialect, judge_answer
from accord.schema.method import Method
from accord.tracing.frames import OPEN_MAX, Frame, RequestMatcher, Speaker
from accord.tracing.validation import rules
from accord.tracing.validation.dialects import DIALECTS, DialectFacts
from accord.tracing.validation.message_types import TypeCheck, methods_of
from accord.tracing.validation.rules import BrokenRule, Level

# Tool calls of a recording whose status is tracked.
CALLS_MAX = 100_000
# Gates that depend on a session, a tool call or the login methods, not on a capability.
_OTHER_GATES = frozenset({"authMethods", "configOptions", "toolCall.cancel", "terminal.cancel"})
_OTHER: dict[Speaker, Speaker] = {"client": "agent", "agent": "client"}


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule that frame `number` breaks."""

    number: int
    rule: str
    level: Level
    sentence: str
    detail: str


@dataclass(frozen=True, slots=True)
class _OpenRequest:
    """An open request and its method."""

    frame: Frame
    method: Method | None


class ToolStatusChanges:
    """The last status of each tool call, of `CALLS_MAX` calls at most."""

    def __init__(self) -> None:
        self._status: dict[tuple[str | None, str], str] = {}

    def apply(
        self, facts: DialectFacts, session_id: str | None, kind: str, update: Mapping[str, Any]
    ) -> Iterator[tuple[bool, str]]:
        """Yield invalid changes of this update: whether a final status changed, and how."""
        if kind not in ("tool_call", "tool_call_update"):
            return
        call_id = update.get("toolCallId", update.get("id"))
        status = update.get("status")
        if not isinstance(call_id, str) or not isinstance(status, str):
            return
        key = (session_id, call_id)
        before = self._status.get(key)
        if before is not None and not facts.status_may_follow(before, status):
            yield before in facts.final_statuses, f"{call_id[:60]}: {status[:20]} after {before}"
        is_known = before is not None
        if before not in facts.final_statuses and (is_known or len(self._status) < CALLS_MAX):
            self._status[key] = status


class Validator:
    """Checks frames in the order in which they were sent."""

    def __init__(self) -> None:
        self.dialect: Dialect = "v1"
        self._facts = DIALECTS["v1"]
        self._pairing = RequestMatcher()
        self._open_requests: dict[int, _OpenRequest] = {}
        self._types = TypeCheck()
        self._initialized = False
        self._capabilities: dict[Speaker, Mapping[str, Any]] = {"client": {}, "agent": {}}
        self._methods = self._tables("v1")
        self._tool_statuses = ToolStatusChanges()
        self._cancelled: set[str] = set()

    @property
    def takes_arrays(self) -> bool:
        """Whether an array is a batch of messages in the current dialect."""
        return self._facts.takes_arrays

    def judge(
        self, number: int, time: float, speaker: Speaker, raw: bytes, frame: Frame
    ) -> list[Problem]:
        """Return the rules that this frame breaks."""
        return [
            Problem(number, rule.id_in(self.dialect), rule.level, rule.sentence, detail)
            for rule, detail in self._broken(number, time, speaker, raw, frame)
        ]

    def _broken(
        self, number: int, time: float, speaker: Speaker, raw: bytes, frame: Frame
    ) -> Iterator[tuple[BrokenRule, str]]:
        if frame.kind == "blank":
            return
        if frame.kind == "batch" and self.takes_arrays and frame.entries:
            for entry in frame.entries:
                yield from self._broken(number, time, speaker, b"", entry)
            return
        if frame.kind == "batch":
            yield rules.ARRAY, "an array"
            return
        if frame.kind == "noise":
            yield from _noise(speaker, frame)
            return
        if frame.message.get("jsonrpc") != "2.0":
            yield rules.UNVERSIONED, f"jsonrpc is {_short(frame.message.get('jsonrpc'))}"
        if is_deeper(raw, DEPTH_MAX):
            yield rules.TOO_DEEP, ""
        if frame.kind == "request":
            yield from self._request(number, time, speaker, frame)
        elif frame.kind == "notification":
            yield from self._message(speaker, frame)
        else:
            yield from self._answer(number, time, speaker, frame)

    # ---- requests and notifications

    def _request(
        self, number: int, time: float, speaker: Speaker, frame: Frame
    ) -> Iterator[tuple[BrokenRule, str]]:
        if frame.id is None or isinstance(frame.id, bool | float | list | dict):
            yield rules.NULL_ID, f"the id is {_short(frame.id)}"
        elif self._pairing.is_open(speaker, frame.id):
            yield rules.REUSED_ID, f"the id is {_short(frame.id)}"
        if not self._initialized and frame.method != "initialize":
            yield rules.TOO_EARLY, f"{frame.method}"
        yield from self._message(speaker, frame)
        asked = self._pairing.pair(number, time, speaker, frame)
        if asked is not None:
            method = self._methods[_OTHER[speaker]].get(frame.method or "")
            self._open_requests[asked.serial] = _OpenRequest(frame, method)
            if len(self._open_requests) > 2 * OPEN_MAX:
                del self._open_requests[next(iter(self._open_requests))]

    def _message(self, speaker: Speaker, frame: Frame) -> Iterator[tuple[BrokenRule, str]]:
        name, handler = frame.method or "", _OTHER[speaker]
        if name == "session/cancel" and frame.session_id is not None:
            self._cancelled.add(frame.session_id)
        if name == "session/prompt" and frame.session_id is not None:
            self._cancelled.discard(frame.session_id)
        method = self._methods[handler].get(name)
        if method is None:
            if not name.startswith(("_", "$/")):
                yield rules.UNKNOWN_METHOD, name
            return
        # `proxy/successor` and `mcp/message` exist with and without an id.
        if method.kind != frame.kind and not name.startswith(("proxy/", "mcp/", "_")):
            yield rules.WRONG_KIND, f"{name} is a {method.kind}"
            return
        # `initialize` may carry the keys of several versions in one message.
        if name == "initialize":
            return
        fault = self._types.params(method, frame.message.get("params", {}))
        if fault is not None:
            rule = rules.UNKNOWN_KEY if fault.unknown_key else rules.SCHEMA
            yield rule, f"{name}: {fault.reason}"
        yield from self._gate(speaker, handler, method)
        yield from self._paths(frame)
        update = frame.update
        if update is not None:
            for final, detail in self._tool_statuses.apply(self._facts, frame.session_id, *update):
                yield (rules.FINAL_STATUS if final else rules.STATUS_BACK), detail

    def _gate(
        self, speaker: Speaker, handler: Speaker, method: Method
    ) -> Iterator[tuple[BrokenRule, str]]:
        if not self._initialized or method.gate is None or method.gate in _OTHER_GATES:
            return
        booleans = self._facts.has_boolean_capabilities
        if not is_open(method, self._capabilities[handler], booleans=booleans):
            rule = rules.AGENT_GATE if speaker == "agent" else rules.CLIENT_GATE
            yield rule, f"{method.name} needs {method.gate}"

    def _paths(self, frame: Frame) -> Iterator[tuple[BrokenRule, str]]:
        if not self._facts.has_absolute_paths:
            return
        for key in ("cwd", "path"):
            path = frame.params.get(key)
            if isinstance(path, str) and not _is_absolute(path):
                yield rules.RELATIVE_PATH, f"{key} is {_short(path)}"

    # ---- answers

    def _answer(
        self, number: int, time: float, speaker: Speaker, frame: Frame
    ) -> Iterator[tuple[BrokenRule, str]]:
        if "result" in frame.message and "error" in frame.message:
            yield rules.OUTCOME, "both"
        if frame.kind == "error":
            yield from _error(frame)
        asked = self._pairing.pair(number, time, speaker, frame)
        request = None if asked is None else self._open_requests.pop(asked.serial, None)
        if request is None:
            if frame.kind == "error" and frame.id is None:
                # The peer reports that it could not read a message.
                return
            other = str(frame.id) if isinstance(frame.id, int) else _number(frame.id)
            wrong_type = other is not None and self._pairing.is_open(_OTHER[speaker], other)
            rule = rules.ID_TYPE if wrong_type else rules.UNASKED
            yield rule, f"the id is {_short(frame.id)}"
            return
        if request.frame.method == "initialize" and frame.kind == "answer":
            self._initialize(request.frame, frame)
            request = _OpenRequest(request.frame, self._methods["agent"].get("initialize"))
            assert request.method is not None
            fault = self._types.params(request.method, request.frame.params, strict=False)
            if fault is not None:
                yield rules.SCHEMA, f"initialize, the request: {fault.reason}"
        yield from self._outcome(request, frame)

    def _outcome(self, request: _OpenRequest, frame: Frame) -> Iterator[tuple[BrokenRule, str]]:
        name = request.frame.method
        if frame.kind == "error":
            is_cancelled = request.frame.session_id in self._cancelled
            if (
                name == "session/prompt"
                and is_cancelled
                and self._facts.cancelled_prompt_has_result
            ):
                yield rules.CANCEL_ERROR, ""
            return
        if request.method is not None:
            fault = self._types.result(request.method, frame.message.get("result"))
            if fault is not None:
                rule = rules.UNKNOWN_KEY if fault.unknown_key else rules.SCHEMA
                yield rule, f"the result of {name}: {fault.reason}"
        if name == "session/request_permission":
            yield from _permission(request.frame, frame)

    def _initialize(self, asked: Frame, answer: Frame) -> None:
        """Check both sides by the dialect that they have agreed on from now on."""
        chosen = judge_answer(answer.result, (1, 2))
        if isinstance(chosen, Chosen):
            self.dialect = chosen.dialect
        self._facts = DIALECTS[self.dialect]
        self._initialized = True
        self._methods = self._tables(self.dialect)
        of_client = asked.params.get(self._facts.client_capabilities)
        of_agent = answer.result.get(self._facts.agent_capabilities)
        self._capabilities["client"] = of_client if isinstance(of_client, dict) else {}
        self._capabilities["agent"] = of_agent if isinstance(of_agent, dict) else {}

    def _tables(self, dialect: Dialect) -> dict[Speaker, Mapping[str, Method]]:
        return {"client": methods_of(dialect, "client"), "agent": methods_of(dialect, "agent")}


def _noise(speaker: Speaker, frame: Frame) -> Iterator[tuple[BrokenRule, str]]:
    if frame.message:
        yield rules.OUTCOME, frame.why or ""
    else:
        yield (rules.AGENT_NOISE if speaker == "agent" else rules.CLIENT_NOISE), frame.why or ""


def _error(frame: Frame) -> Iterator[tuple[BrokenRule, str]]:
    error = frame.message.get("error")
    if not isinstance(error, dict):
        yield rules.BAD_ERROR, "the error is not an object"
        return
    code = error.get("code")
    if isinstance(code, bool) or not isinstance(code, int):
        yield rules.BAD_ERROR, f"the code is {_short(code)}"
    if not isinstance(error.get("message"), str):
        yield rules.BAD_ERROR, "the message is not a string"


def _permission(asked: Frame, answer: Frame) -> Iterator[tuple[BrokenRule, str]]:
    options, outcome = asked.params.get("options"), answer.result.get("outcome")
    if not isinstance(options, list) or not isinstance(outcome, dict):
        return
    chosen = outcome.get("optionId")
    offered = [option.get("optionId") for option in options if isinstance(option, dict)]
    if isinstance(chosen, str) and chosen not in offered:
        yield rules.NOT_OFFERED, f"{_short(chosen)} was not offered"


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "\\\\")) or path[1:3] in (":\\", ":/")


def _number(text: object) -> int | None:
    try:
        return int(text) if isinstance(text, str) and len(text) < 20 else None
    except ValueError:
        return None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
