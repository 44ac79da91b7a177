"""The common part of all translators: dispatch, open requests, cancellation, extension methods.

A translator is a subclass with two tables of handlers by method.  What is in no table: methods
and notifications that begin with `_` are passed on as they are, other requests are refused with
"method not found", other notifications are dropped and counted.

What always holds
    * Every request that came in is answered exactly once, also when the agent goes.
    * `$/cancel_request` follows the request it names to the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from accord.jsonrpc.error_codes import INTERNAL_ERROR, METHOD_NOT_FOUND, text_of
from accord.schema.method import CANCEL_REQUEST
from accord.translate.message import (
    AGENT,
    CLIENT,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Key,
    Message,
    Notification,
    Out,
    Request,
    Result,
    Side,
    Surroundings,
)

Outs: TypeAlias = Sequence[Out]
Then: TypeAlias = Callable[[Answer], Outs]
OnRequest: TypeAlias = Callable[[Request], Outs]
OnNotification: TypeAlias = Callable[[Json], Outs]

NOTHING: Final[tuple[Out, ...]] = ()


class Adapter:
    """The common part of all translators; see `message.Translator`."""

    def __init__(
        self, surroundings: Surroundings, *, strict: bool = False, unstable: bool = False
    ) -> None:
        self.around = surroundings
        self.strict = strict
        self.unstable = unstable
        self.losses: dict[str, int] = {}
        self.on_request: dict[tuple[Side, str], OnRequest] = {}
        self.on_notification: dict[tuple[Side, str], OnNotification] = {}
        # Our requests with their continuations; the peers' with the requests made for them.
        self._asked: dict[tuple[Side, Key], tuple[Then, tuple[Side, Key] | None]] = {}
        self._open: dict[tuple[Side, Key], tuple[Side, Key] | None] = {}
        self._keys = 0

    # ---- for the driver

    @property
    def wake_at(self) -> float | None:
        """When to call `wake`; None unless a subclass has timers."""
        return None

    def wake(self) -> Outs:
        """Do what is due; see `message.Translator`."""
        return self._settled(self.due())

    def receive(self, side: Side, message: Message) -> Outs:
        """Take the next message of a side; see `message.Translator`."""
        if isinstance(message, Notification):
            return self._notified(side, message)
        if isinstance(message, Request):
            return self._requested(side, message)
        asked = self._asked.pop((side, message.key), None)
        return self._answered(message, *asked) if asked is not None else NOTHING

    def agent_gone(self, why: str) -> Outs:
        """Every request of the client that is still open fails; see `message.Translator`."""
        self._asked.clear()
        outs = list(self.ended(why))
        open_keys = [key for side, key in self._open if side is CLIENT]
        self._open.clear()
        answered = {
            message.key
            for side, message in outs
            if side is CLIENT and isinstance(message, Result | Failure)
        }
        outs += [
            (CLIENT, Failure(key, INTERNAL_ERROR, why, {"reason": "agent_gone"}))
            for key in open_keys
            if key not in answered
        ]
        return outs

    def ended(self, why: str) -> Outs:
        """Messages of a subclass when the agent is gone; answers among them count."""
        return NOTHING

    def due(self) -> Outs:
        """Do what was due at `wake_at`."""
        return NOTHING

    def withdraw(self, side: Side, key: Key) -> Outs:
        """Cancel a request of a side, even if its version has no message for that."""
        return self._cancelled(side, key)

    # ---- for subclasses

    def ask(
        self,
        side: Side,
        method: str,
        params: Json,
        then: Then,
        *,
        instead_of: Request | None = None,
        of: Side | None = None,
    ) -> Out:
        """Make a request to a side; `then` is called with its answer.

        With `instead_of` (a request that came from the side `of`), cancelling that one cancels
        this one, and it is answered with the error if `then` raises `CannotTranslate`.
        """
        self._keys += 1
        key = self._keys
        origin = None
        if instead_of is not None:
            assert of is not None
            origin = (of, instead_of.key)
            self._open[origin] = (side, key)
        self._asked[side, key] = (then, origin)
        return side, Request(key, method, params)

    def pass_on(self, side: Side, request: Request, to: Side) -> Outs:
        """Forward a request to the other side, and answer with its answer."""

        def then(answer: Answer) -> Outs:
            return [self.answer(side, request.key, answer)]

        return [self.ask(to, request.method, request.params, then, instead_of=request, of=side)]

    def answer(self, side: Side, key: Key, answer: Answer) -> Out:
        """Answer a request of a side with the content of another answer."""
        return side, answer._replace(key=key)

    def lost(self, kind: str) -> None:
        """Count what could not be translated; in strict mode that is an error.

        Raises:
            CannotTranslate: in strict mode.
        """
        self.losses[kind] = self.losses.get(kind, 0) + 1
        if self.strict:
            raise CannotTranslate(
                INTERNAL_ERROR, f"{kind} cannot be expressed in the other version", {"loss": kind}
            )

    def is_open(self, side: Side, key: Key) -> bool:
        """Whether a request of a side still waits for its answer."""
        return (side, key) in self._open

    # ---- inside

    def _requested(self, side: Side, request: Request) -> Outs:
        self._open[side, request.key] = None
        handler = self.on_request.get((side, request.method))
        try:
            if handler is not None:
                outs: Outs = handler(request)
            elif request.method.startswith("_") and side is not Side.HOST:
                outs = self.pass_on(side, request, AGENT if side is CLIENT else CLIENT)
            else:
                raise CannotTranslate(
                    METHOD_NOT_FOUND, f"{text_of(METHOD_NOT_FOUND)}: {request.method}"
                )
        except CannotTranslate as error:
            outs = [(side, Failure(request.key, error.code, error.message, error.data))]
        return self._settled(outs)

    def _notified(self, side: Side, message: Notification) -> Outs:
        handler = self.on_notification.get((side, message.method))
        if handler is not None:
            try:
                return self._settled(handler(message.params))
            except CannotTranslate as error:
                self.around.log(f"{message.method} was not translated: {error.message}")
                return NOTHING
        if message.method == CANCEL_REQUEST:
            return self._cancelled(side, message.params.get("requestId"))
        if message.method.startswith("_") and side is not Side.HOST:
            return [(AGENT if side is CLIENT else CLIENT, message)]
        self.losses[message.method] = self.losses.get(message.method, 0) + 1
        self.around.log(f"{message.method} has no counterpart on the other side")
        return NOTHING

    def _cancelled(self, side: Side, key: Any) -> Outs:
        asked = self._open.get((side, key))
        if asked is None:
            return NOTHING
        to, asked_key = asked
        return [(to, Notification(CANCEL_REQUEST, {"requestId": asked_key}))]

    def _answered(self, message: Answer, then: Then, origin: tuple[Side, Key] | None) -> Outs:
        try:
            outs = then(message)
        except CannotTranslate as error:
            if origin is None:
                self.around.log(f"an answer was not translated: {error.message}")
                return NOTHING
            side, key = origin
            outs = [(side, Failure(key, error.code, error.message, error.data))]
        return self._settled(outs)

    def _settled(self, outs: Outs) -> Outs:
        """Forget the requests that are answered among these."""
        for to, message in outs:
            if isinstance(message, Result | Failure):
                self._open.pop((to, message.key), None)
        return outs
