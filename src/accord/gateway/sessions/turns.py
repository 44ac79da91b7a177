"""The prompts of a session: their order, who wrote them, and whether a turn runs.

What always holds
    * All clients see one order of prompts: the order of the log.
    * A prompt is in the log before the agent gets it, and is sent to the agent once at most.
    * Where the answer to a prompt ends its turn, one prompt at most is with the agent.
    * A prompt that is cancelled before the agent has it never reaches the agent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol

import anyio

from accord.gateway.agents.agent_process import AgentProcess, Answer
from accord.gateway.sessions.attachment import Client
from accord.gateway.sessions.log_events import ANSWER, PROMPT, Put, body_of
from accord.gateway.sessions.requests.client_requests import ClientRequest, ClientRequests
from accord.gateway.sessions.session_facts import SessionFacts
from accord.gateway.sessions.session_versions import VERSIONS
from accord.gateway.spans.interface import NO_SPAN, NO_SPANS, Span, Spans, meta_of
from accord.jsonrpc.error_codes import INVALID_PARAMS, INVALID_REQUEST, PERMISSION_DENIED
from accord.proxy.hop import OpenRequest
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw

PROMPTS_WAITING_MAX: Final = 16
"""Prompts of one session that the agent does not have yet."""

AUTHOR_META: Final = "accord.author"
"""In the `_meta` of a prompt, and of the messages that repeat it: who wrote it."""


def author_of(client: Client) -> dict[str, str]:
    """Return what a prompt says about who wrote it."""
    return {"user": client.principal, "displayName": client.display_name}


class Prompt:
    """One prompt, and the request that is answered at its end."""

    def __init__(self, client_request: ClientRequest, params: dict[str, Any]) -> None:
        self.client_request = client_request
        self.client = client_request.client
        self.params = params
        self.seq = 0
        self.is_cancelled = False


class TurnHost(Protocol):
    """What turns need of their session."""

    @property
    def process(self) -> AgentProcess | None:
        """The process that the session lives in, if it runs."""
        ...

    def when_running(self, then: Callable[[], None], failed: Callable[[Answer], None]) -> None:
        """Bring the session back into a process, and do something then."""
        ...

    def changed(self) -> None:
        """Store the facts of the session."""
        ...

    def turn_over(self) -> None:
        """Take notice that nothing runs any more."""
        ...

    def interrupted(self, text: str) -> None:
        """Tell everybody that a turn was cut short."""
        ...


class Turns:
    """Guards: each prompt is in one place: waiting, on its way through the log, or sent."""

    def __init__(
        self,
        facts: SessionFacts,
        host: TurnHost,
        put: Put,
        requests: ClientRequests,
        spans: Spans = NO_SPANS,
    ) -> None:
        self.state: dict[str, Any] | None = None
        """The last state that the agent reported, if it reports any."""
        self.span: Span = NO_SPAN
        """The span of the turn that runs."""
        self._spans = spans
        self._facts = facts
        self._host = host
        self._put = put
        self._requests = requests
        self._version = VERSIONS[facts.version]
        self._waiting: deque[Prompt] = deque()
        self._on_its_way: list[Prompt] = []
        self._sent: dict[int, Prompt] = {}
        # Prompts that the agent has not repeated yet, in the order of their sending.
        self._unrepeated: deque[Prompt] = deque()
        self._was_idle = False
        # Whether it was told already that the turn ended with its process.
        self._is_lost = False
        self._idle = anyio.Event()

    # ---- what runs

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs or a prompt waits."""
        return self.is_open or self.is_running

    @property
    def is_open(self) -> bool:
        """Whether the request of a prompt is open."""
        return bool(self._waiting or self._on_its_way or self._sent)

    @property
    def is_running(self) -> bool:
        """Whether the agent says that it works."""
        return self.state is not None and self.state.get("state") == "running"

    @property
    def author(self) -> dict[str, str] | None:
        """The person who wrote the prompt that the agent works on, while its request is open."""
        for prompt in (*self._sent.values(), *self._on_its_way):
            return author_of(prompt.client)
        return None

    async def wait_idle(self) -> None:
        """Wait until a turn is over."""
        if self._idle.is_set():
            self._idle = anyio.Event()
        await self._idle.wait()

    # ---- what clients ask

    def prompt(self, client: Client, request: OpenRequest, params: Raw) -> None:
        """Take a prompt; it is sent when it is its turn."""
        if len(self._waiting) >= PROMPTS_WAITING_MAX:
            said = f"{PROMPTS_WAITING_MAX} prompts wait in this session already"
            request.refuse(INVALID_REQUEST, said, encode({"reason": "too_many_prompts"}))
            return
        read = to_python(params)
        blocks = read.get("prompt")
        if not isinstance(blocks, list) or not all(isinstance(one, dict) for one in blocks):
            said = "Invalid params: Expected an array of content blocks at $.prompt"
            request.refuse(INVALID_PARAMS, said)
            return
        prompt = Prompt(self._requests.take(client, request), read)
        prompt.client_request.take_back = partial(self._cancel, prompt)
        self._waiting.append(prompt)
        self.send_next()

    def cancel(self) -> None:
        """Cancel the prompts that the agent does not have yet."""
        for prompt in [*self._waiting, *self._on_its_way]:
            self._cancel(prompt)

    def _cancel(self, prompt: Prompt) -> None:
        prompt.is_cancelled = True
        if prompt in self._waiting:
            self._waiting.remove(prompt)
            self._requests.answer(prompt.client_request, self._version.cancelled())

    def drop(self, principal: str) -> None:
        """Refuse the prompts of somebody who may no longer send any."""
        for prompt in [one for one in self._waiting if one.client.principal == principal]:
            self._waiting.remove(prompt)
            answer = Answer()
            said = "the prompt was not sent: you may no longer send prompts in this session"
            answer.failed(PERMISSION_DENIED, said, Raw(encode({"reason": "role"})))
            self._requests.answer(prompt.client_request, answer)

    # ---- the way to the agent

    def send_next(self) -> None:
        """Send the prompts whose turn it is."""
        while self._waiting:
            if self._version.answer_ends_turn and (self._on_its_way or self._sent):
                return
            prompt = self._waiting.popleft()
            self._on_its_way.append(prompt)
            if not self._facts.turn_open:
                self._facts.turn_open = True
                self._host.changed()
            client = prompt.client
            body = body_of(
                author=author_of(client),
                connection=client.token,
                prompt=prompt.params["prompt"],
            )
            self._put(PROMPT, body, partial(self._logged, prompt))

    def _logged(self, prompt: Prompt, seq: int) -> None:
        prompt.seq = seq
        self._host.when_running(partial(self._send, prompt), partial(self._ended, prompt))

    def _send(self, prompt: Prompt) -> None:
        process = self._host.process
        if prompt.is_cancelled or process is None:
            self._ended(prompt, self._version.cancelled())
            return
        self._on_its_way.remove(prompt)
        self._sent[prompt.seq] = prompt
        self._was_idle = self._is_lost = False
        if self._facts.unused:
            self._facts.unused = False
            self._host.changed()
        if not self._version.answer_ends_turn:
            self._unrepeated.append(prompt)
        meta = meta_of(prompt.params)
        if self.span is NO_SPAN:
            about = {"accord.agent": self._facts.agent, "accord.session": self._facts.session_id}
            self.span = self._spans.begin("turn", about, params=encode({"_meta": meta}))
        params = {
            **prompt.params,
            "sessionId": self._facts.agent_session_id,
            "_meta": {
                **meta,
                **self.span.keys,
                AUTHOR_META: author_of(prompt.client),
            },
        }
        call_id = process.begin_call("session/prompt", encode(params), partial(self._ended, prompt))
        if call_id:
            prompt.client_request.sent_to(process, call_id)

    def _ended(self, prompt: Prompt, answer: Answer) -> None:
        self._sent.pop(prompt.seq, None)
        if prompt in self._on_its_way:
            self._on_its_way.remove(prompt)
        if prompt in self._unrepeated and answer.error is not None:
            self._unrepeated.remove(prompt)
        if answer.is_lost and answer.error is not None:
            # In front of the answer, which is the end of the turn in the log.
            self._lost(answer.error[1])
        body = encode({"prompt": prompt.seq, **_as_json(answer)})

        def logged(seq: int) -> None:
            self._requests.answer_behind(seq, prompt.client_request, answer)

        self._put(ANSWER, body, logged)
        if self._version.answer_ends_turn:
            self._end_span(failed=answer.error is not None)
        if self._version.answer_ends_turn or answer.error is not None or self._was_idle:
            self._over()
        self.send_next()

    # ---- what the agent says

    def reported(self, update: dict[str, Any]) -> None:
        """Take a state that the agent reports."""
        self.state = update
        if update.get("state") == "idle":
            self._was_idle = True
            self._over()
        else:
            self._is_lost = False

    def repeated(self, update: dict[str, Any]) -> bool:
        """Note in the message that repeats a prompt who wrote it; False if it repeats none."""
        if not self._unrepeated:
            return False
        prompt = self._unrepeated.popleft()
        meta = update.get("_meta")
        known = meta if isinstance(meta, dict) else {}
        update["_meta"] = {**known, AUTHOR_META: author_of(prompt.client)}
        return True

    def _over(self) -> None:
        if self.is_open or self.is_running:
            return
        self._idle.set()
        self._end_span()
        if self._facts.turn_open:
            self._facts.turn_open = False
            self._host.changed()
        self._host.turn_over()

    def _end_span(self, outcome: str | None = None, *, failed: bool = False) -> None:
        span, self.span = self.span, NO_SPAN
        span.end(outcome, failed=failed)

    def _lost(self, reason: str) -> None:
        self._end_span("interrupted", failed=True)
        if not self._is_lost:
            self._is_lost = True
            self._host.interrupted(f"{reason}. The turn was interrupted.")

    def process_ended(self, reason: str) -> None:
        """The agent is gone, after every prompt that it had was answered."""
        # A prompt that the agent never had goes to the next process.
        if self.is_running or (self._facts.turn_open and not self.is_open):
            self._lost(reason)
        self._unrepeated.clear()
        if self.is_running:
            self.state = None
        self._over()

    def end(self) -> None:
        """Answer all prompts as cancelled: somebody has ended the session."""
        for prompt in [*self._waiting, *self._on_its_way, *self._sent.values()]:
            prompt.is_cancelled = True
            self._requests.answer(prompt.client_request, self._version.cancelled())
        self._waiting.clear()
        self._end_span("cancelled")


def _as_json(answer: Answer) -> dict[str, Any]:
    if answer.error is not None:
        code, message, _ = answer.error
        return {"error": {"code": code, "message": message}}
    return {"result": answer.result}
