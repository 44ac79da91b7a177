"""Finds out which version a client and an agent speak, and which translator fits.

One `initialize` asks for both official versions, so that most agents are started only once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

import anyio

from accord.connection.translation.translator_side import Port
from accord.jsonrpc.error_codes import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from accord.machine.redacted_logs import logger
from accord.protocol.negotiation import (
    NUMBERS,
    Chosen,
    Refused,
    in_v1_keys,
    judge_answer,
    judge_request,
)
from accord.proxy.relay.translators import Outside
from accord.schema.codec import encode, to_python
from accord.schema.invalid import Invalid
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    Failure,
    Json,
    Out,
    Request,
    Result,
    Translator,
)
from accord.translate.validation import Spoken, methods_of, read_params, read_result
from accord.transport.transport import Ended

_log = logger("accord.proxy")

INITIALIZE: Final = "initialize"
# Versions that exclude all others when they are the one to serve; v2 is served beside them.
_SERVED_ALONE: Final[Mapping[Outside | None, Spoken]] = MappingProxyType(
    {"v1": "v1", "draft": "draft"}
)


class Opener(Protocol):
    """A relay that can start its agent, ask it to initialize, and adopt a translator."""

    client: Port

    async def start_agent(self) -> None:
        """Start the agent in place of the running one."""
        ...

    async def probe(self, params: Json) -> Answer:
        """Ask the agent to initialize."""
        ...

    def candidate(self, outside: Outside, inside: Spoken) -> Translator:
        """Return a translator between two versions."""
        ...

    def adopt(
        self, translator: Translator, inside: Spoken, said: Iterable[Out], result: object
    ) -> None:
        """Use this translator from now on."""
        ...


class AgentNegotiation:
    """Finds out which version the agent speaks, and which translator fits."""

    def __init__(self, relay: Opener, request: Request, outside: Outside, speaks: Spoken | None):
        self._relay = relay
        self._request = request
        self._outside: Outside = outside
        self._speaks: Spoken | None = speaks

    async def run(self) -> None:
        """Open the conversation; the client's `initialize` is answered in any case."""
        try:
            await self._run()
        except InitializeRefused as error:
            self._fail(error.code, error.message, error.data)

    async def _run(self) -> None:
        await self._relay.start_agent()
        if self._speaks is not None:
            await self._ask_in(self._speaks, None)
            return
        official: dict[Spoken, _Started] = {"v1": self._begin("v1"), "v2": self._begin("v2")}
        together = _together(*(started.params for started in official.values()))
        answer = await self._relay.probe(together)
        if isinstance(answer, Failure):
            await self._refused(answer)
            return
        verdict = judge_answer(_object(answer.result), (1, 2))
        if isinstance(verdict, Refused):
            self._fail(verdict.code, verdict.message, verdict.data)
            return
        for note in verdict.notes:
            _log.info("%s", note)
        started = official.get(verdict.dialect)
        if started is None:
            await self._again(verdict.dialect, answer)
        else:
            self._take(started, verdict, answer.result)

    async def _refused(self, failure: Failure) -> None:
        """Ask again in the form of one version; if that fails too, report the first refusal."""
        supported = failure.data.get("supported") if isinstance(failure.data, dict) else None
        if failure.code == UNSUPPORTED_PROTOCOL_VERSION and supported and 1 not in supported:
            self._fail(failure.code, failure.message, failure.data)
        elif failure.code == UNSUPPORTED_PROTOCOL_VERSION:
            await self._again("v1", failure)
        elif failure.code == INVALID_PARAMS:
            await self._again("draft", failure)
        else:
            self._fail(failure.code, failure.message, failure.data)

    async def _again(self, spoken: Spoken, first: Answer) -> None:
        await self._relay.start_agent()
        await self._ask_in(spoken, first if isinstance(first, Failure) else None)

    async def _ask_in(self, spoken: Spoken, first: Failure | None) -> None:
        started = self._begin(spoken)
        answer = await self._relay.probe(started.params)
        if isinstance(answer, Failure):
            failure = first or answer
            self._fail(failure.code, failure.message, failure.data)
            return
        self._take(started, Chosen(spoken, NUMBERS[spoken]), answer.result)

    def _begin(self, inside: Spoken) -> _Started:
        translator = self._relay.candidate(self._outside, inside)
        params = to_python(encode(self._request.params))
        outs = translator.receive(CLIENT, Request(self._request.key, INITIALIZE, params))
        for side, message in outs:
            if side is AGENT and isinstance(message, Request) and message.method == INITIALIZE:
                return _Started(translator, message.key, message.params)
            if side is CLIENT and isinstance(message, Failure):
                raise InitializeRefused(message.code, message.message, message.data)
        raise AssertionError("a translator did not pass initialize on")

    def _take(self, started: _Started, verdict: Chosen, result: Any) -> None:
        spoken = verdict.dialect
        try:
            read = read_result(methods_of(spoken)[INITIALIZE], encode(result))
        except Invalid as error:
            self._fail(INTERNAL_ERROR, f"the agent's answer to initialize cannot be read: {error}")
            return
        said = started.translator.receive(AGENT, Result(started.key, read))
        self._relay.adopt(started.translator, spoken, said, result)

    def _fail(self, code: int, message: str, data: Any = None) -> None:
        if self._outside == "draft":
            from accord.translate.draft.error_codes import to_draft_error

            code, data = to_draft_error(code, data, named_session=False)
        self._relay.client.refuse(self._request.key, code, message, data)


class Probe:
    """An `initialize` that was sent to the agent, and its answer."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.answer: Answer | None = None

    def settle(self, answer: Answer) -> None:
        """Store the answer and wake the task that waits for it."""
        self.answer = answer
        self.done.set()


class _Started:
    def __init__(self, translator: Translator, key: int, params: Json) -> None:
        self.translator = translator
        self.key = key
        self.params = params


class Asked(NamedTuple):
    """A client's `initialize`: the version that it speaks, and the one that it is served in."""

    params: Json
    spoken: Spoken
    outside: Outside
    may_be_draft: bool = False
    """Whether its first request may still show that it speaks the draft."""


class InitializeRefused(Exception):
    """The `initialize` of a client cannot be served."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def read_initialize(params: Json, to: Outside | None) -> Asked:
    """Judge the `initialize` of a client that is served in one version, or in its own.

    Raises:
        InitializeRefused: it is malformed, or asks for a version that is not served.
    """
    only = _SERVED_ALONE.get(to)
    params = _with_draft_marker(params) if to == "draft" else params
    chosen = judge_request(params, (1, 2) if only is None else (1,))
    if isinstance(chosen, Refused):
        raise InitializeRefused(chosen.code, chosen.message, chosen.data)
    spoken = chosen.dialect
    if only not in (None, spoken):
        said = f"only {only} is served here, and the client asked for {spoken}"
        raise InitializeRefused(INVALID_PARAMS, said)
    try:
        read = read_params(methods_of(spoken)[INITIALIZE], encode(_alone(params, spoken)))
    except Invalid as error:
        data = {"path": error.path, "reason": error.reason}
        said = f"Invalid params: {error.reason} at {error.path}"
        raise InitializeRefused(INVALID_PARAMS, said, data) from None
    early = (to, spoken) == ("v2-early", "v2")
    outside: Outside = "v2-early" if early else spoken
    return Asked(read, spoken, outside, may_be_draft=only is None and spoken == "v1")


def repeat_refusal(params: Json, spoken: Spoken | None) -> tuple[int, str]:
    """The code and sentence that refuse `initialize` once it has succeeded."""
    chosen = judge_request(params, (1, 2))
    if isinstance(chosen, Chosen) and chosen.dialect != spoken:
        return INVALID_PARAMS, "a connection keeps the dialect that it began with"
    return INVALID_REQUEST, "initialize may not be repeated on this connection"


def _alone(params: Json, spoken: Spoken) -> Json:
    """An `initialize` without the keys that it has for agents of other versions."""
    foreign = ("clientInfo", "clientCapabilities") if spoken == "v2" else ("info",)
    if spoken == "v1":
        params = dict(in_v1_keys(params))
        foreign = ("info", "capabilities")
    kept = {name: value for name, value in params.items() if name not in foreign}
    if spoken == "v2" and "info" not in kept:
        # A client of a newer version may introduce itself in another way.
        kept["info"] = {"name": "unknown", "version": "unknown"}
    return {**kept, "protocolVersion": NUMBERS[spoken]}


def _with_draft_marker(params: Json) -> Json:
    """An `initialize` with the key that tells the draft from v1, if it has neither one's."""
    is_shown = "capabilities" in params or "clientCapabilities" in params
    return params if is_shown else {**params, "capabilities": {}}


def _together(v1: Json, v2: Json) -> Json:
    """Join two `initialize` into one for agents of either version; their keys do not collide."""
    both = {**v1, **v2}
    metas = [one["_meta"] for one in (v1, v2) if isinstance(one.get("_meta"), dict)]
    if len(metas) == 2:
        both["_meta"] = {**metas[0], **metas[1]}
    return both


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def farewell(why: Ended) -> str:
    """The sentence that tells the client how its agent ended."""
    said = f"the agent is gone: {why.reason}"
    if why.exit_status is not None and why.exit_status not in said:
        said += f" ({why.exit_status})"
    tail = why.stderr_tail.strip().splitlines()
    return f"{said}; its last line on stderr: {tail[-1][:200]}" if tail else said
