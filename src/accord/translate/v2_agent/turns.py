"""The turns of one session: v1's prompts stay open until v2's state is idle.

v2 answers a prompt when it has its place in the conversation and tells by states when work begins
and ends; v1 answers when the work is over.  So v1's request stays open until the idle that ends
its work, and a prompt that comes meanwhile waits here, so that each has a stop reason of its own.

What always holds
    * At most one prompt is with the agent, and at most `PROMPTS_QUEUED_MAX` wait.
    * Each prompt is answered once: by idle, by the agent's refusal, or by what ended it before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_REQUEST, REQUEST_CANCELLED, text_of
from accord.protocol.v1.turn import STOP_REASONS
from accord.schema.method import SESSION_UPDATE
from accord.translate.adapter import Outs
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Key,
    Notification,
    Out,
    Request,
    Result,
)
from accord.translate.meta_store import OFFICIAL, keep, restore
from accord.translate.v2_agent.client_features import TranslationContext, copied
from accord.translate.v2_agent.updates.messages import Messages

PROMPTS_QUEUED_MAX: Final = 16
ECHOES_HELD_MAX: Final = 256

CANCELLED: Final = "cancelled"
Asking = Callable[[Request, Callable[[Answer], Outs]], Out]


class _Prompt:
    __slots__ = ("blocks", "echo_id", "ended", "is_echoed", "is_inserted", "request")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.blocks: list[Json] = copied(request.params["prompt"])
        self.is_inserted = False
        # The id under which the agent echoes the prompt, and whether all of it was echoed.
        self.echo_id: str | None = None
        self.is_echoed = False
        # An idle state that came before the agent's answer.
        self.ended: Json | None = None


class Turns:
    """The prompts and the state of one session."""

    def __init__(
        self, context: TranslationContext, session_id: str, messages: Messages, ask: Asking
    ) -> None:
        self._context = context
        self._session_id = session_id
        self.messages = messages
        self._ask = ask
        self._current: _Prompt | None = None
        self._queue: deque[_Prompt] = deque()
        self._echoes: list[Json] = []
        # Whether the agent works in the foreground; an unknown state counts as work.
        self.state: str = "idle"

    @property
    def is_open(self) -> bool:
        """Whether a prompt waits for its answer."""
        return self._current is not None

    # ---- the client

    def prompt(self, request: Request) -> Outs:
        """Take a prompt whose blocks are in v2's form.

        Raises:
            CannotTranslate: too many wait.
        """
        prompt = _Prompt(request)
        if self._current is None:
            return [self._start(prompt)]
        if len(self._queue) >= PROMPTS_QUEUED_MAX:
            raise CannotTranslate(
                INVALID_REQUEST, f"{PROMPTS_QUEUED_MAX} prompts are already waiting in this session"
            )
        self._queue.append(prompt)
        return ()

    def cancel(self, params: Json) -> Outs:
        """Take `session/cancel`: for the turn, and for the prompts that wait for its end."""
        outs: list[Out] = [
            (CLIENT, Result(prompt.request.key, {"stopReason": CANCELLED}))
            for prompt in self._queue
        ]
        self._queue.clear()
        return [*outs, (AGENT, Notification("session/cancel", params))]

    def withdraw(self, key: Key) -> Outs | None:
        """Take `$/cancel_request` for a prompt; None if no prompt has this key."""
        if self._current is not None and self._current.request.key == key:
            return [(AGENT, Notification("session/cancel", {"sessionId": self._session_id}))]
        for prompt in self._queue:
            if prompt.request.key == key:
                self._queue.remove(prompt)
                return [(CLIENT, Result(key, {"stopReason": CANCELLED}))]
        return None

    def closed(self) -> Outs:
        """End all open prompts as cancelled: the session is closed."""
        open_prompts = [*([self._current] if self._current else ()), *self._queue]
        self._current = None
        self._queue.clear()
        return [
            (CLIENT, Result(prompt.request.key, {"stopReason": CANCELLED}))
            for prompt in open_prompts
        ]

    # ---- the agent

    def changed(self, update: Json) -> Outs:
        """Take a state of the session; idle ends the open prompt."""
        before, self.state = self.state, update["state"]
        prompt = self._current
        if prompt is None:
            return ()
        if self.state != "idle":
            prompt.ended = None
            return ()
        if before == "idle" and update.get("stopReason") is None:
            # The same state again, with another member changed.
            return ()
        if not prompt.is_inserted and prompt.echo_id is None:
            # This may be the end of other work: the answer to the prompt will show it.
            prompt.ended = update if before != "idle" else None
            return ()
        return self._end(prompt, update)

    def echo(self, update: Json) -> Sequence[Json] | None:
        """Take a user message: None if the client must get it, otherwise what replaces it."""
        prompt = self._current
        message_id: str = update["messageId"]
        if prompt is None or prompt.echo_id not in (None, message_id):
            return None
        if prompt.echo_id is None:
            if prompt.is_inserted or not self._is_echo(prompt, update):
                return self._held(prompt, update)
            prompt.echo_id = message_id
            self.messages.is_ours(message_id, prompt.blocks)
        if update["sessionUpdate"] == "user_message":
            if prompt.is_echoed:
                return None
            prompt.is_echoed = True
            self.messages.is_ours(message_id, update.get("content") or prompt.blocks)
        return ()

    # ---- inside

    def _start(self, prompt: _Prompt) -> Out:
        self._current = prompt

        def then(answer: Answer) -> Outs:
            return self._answered(prompt, answer)

        return self._ask(prompt.request, then)

    def _answered(self, prompt: _Prompt, answer: Answer) -> Outs:
        if prompt is not self._current:
            # The prompt was answered when its session was closed.
            return ()
        if isinstance(answer, Failure):
            return [*self._released(), *self._refused(prompt, answer)]
        result: Json = answer.result
        message_id = result.get("messageId")
        prompt.is_inserted = True
        if isinstance(message_id, str) and prompt.echo_id is None:
            prompt.echo_id = message_id
            self.messages.is_ours(message_id, prompt.blocks)
        outs = self._released()
        if isinstance(result.get("stopReason"), str):
            # The early drafts of v2 answer a prompt at the end of its turn.
            return [*outs, *self._end(prompt, result)]
        return [*outs, *self._end(prompt, prompt.ended)] if prompt.ended else outs

    def _refused(self, prompt: _Prompt, failure: Failure) -> Outs:
        key = prompt.request.key
        answer: Answer = failure._replace(key=key)
        if failure.code == REQUEST_CANCELLED:
            # In v1 a turn that the user cancels does not end with an error.
            answer = Result(key, {"stopReason": CANCELLED})
        return [(CLIENT, answer), *self._next()]

    def _end(self, prompt: _Prompt, idle: Json) -> Outs:
        outs = [*self._released(), (CLIENT, self._stopped(prompt.request.key, idle))]
        self.messages.rested()
        return [*outs, *self._next()]

    def _next(self) -> Outs:
        self._current = None
        return [self._start(self._queue.popleft())] if self._queue else ()

    def _stopped(self, key: Key, idle: Json) -> Answer:
        reason = idle.get("stopReason")
        if reason == "error":
            error: Json = idle.get("error") or {}
            code = error.get("code", INTERNAL_ERROR)
            return Failure(key, code, error.get("message", text_of(code)), error.get("data"))
        result: dict[str, Any] = {"stopReason": reason}
        if isinstance(idle.get("_meta"), dict):
            result["_meta"] = idle["_meta"]
            restore(result, {"scope": lambda _: True})
            # v1's usage has no scope.
            result.pop("scope", None)
        if idle.get("usage") is not None:
            result["usage"] = idle["usage"]
        if reason not in STOP_REASONS:
            result["stopReason"] = "end_turn"
            self._count(result, "stopReason", reason, "stop reason")
        if "background" in idle:
            self._count(result, "background", idle["background"], "background")
        return Result(key, result)

    def _count(self, result: Json, name: str, value: Any, kind: str) -> None:
        """Keep and count a loss; a turn is answered even in strict mode."""
        keep(result, OFFICIAL, name, value)
        try:
            self._context.lost(kind)
        except CannotTranslate as error:
            self._context.around.log(error.message)

    def _is_echo(self, prompt: _Prompt, update: Json) -> bool:
        if update["sessionUpdate"] == "user_message":
            return bool(update.get("content") == prompt.blocks)
        return bool(update["content"] == prompt.blocks[0])

    def _held(self, prompt: _Prompt, update: Json) -> Sequence[Json] | None:
        """Hold back user messages until the agent's answer to the prompt tells whose they are."""
        if prompt.is_inserted or len(self._echoes) >= ECHOES_HELD_MAX:
            return None
        self._echoes.append(update)
        return ()

    def _released(self) -> Outs:
        """Release the messages that were held back, except for the client's own."""
        echoes, self._echoes = self._echoes, []
        outs: list[Out] = []
        for update in echoes:
            said = self.echo(update) if self._current and self._current.is_inserted else None
            if said is None:
                is_whole = update["sessionUpdate"] == "user_message"
                said = (self.messages.whole if is_whole else self.messages.chunk)(update)
            for one in said:
                params = {"sessionId": self._session_id, "update": one}
                outs.append((CLIENT, Notification(SESSION_UPDATE, params)))
        return outs
