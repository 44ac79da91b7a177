"""A translator between two scripted peers in memory; everything that it says is checked.

Every params and result that leaves must be valid to the letter in the version of the side that
it goes to, and every request is answered at most once.
"""

from collections.abc import Callable
from typing import Any

from accord.schema.codec import encode
from accord.schema.draft import methods as draft_methods
from accord.schema.draft.updates import decode_update
from accord.schema.method import Method
from accord.schema.v1 import methods as v1_methods
from accord.schema.v2 import methods as v2_methods
from accord.translate.draft.tool_statuses import NEXT_STATUSES
from accord.translate.message import (
    AGENT,
    CLIENT,
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
    Translator,
)
from accord.translate.validation import Spoken

STAMP = "2026-02-04T10:30:00Z"


def _tables(version: Spoken) -> tuple[dict[str, Method], dict[str, Method]]:
    module = {"v1": v1_methods, "v2": v2_methods, "draft": draft_methods}[version]
    return module.CLIENT_METHODS, module.AGENT_METHODS


class Clock:
    """A clock that goes on when it is told, and everything else that surrounds a translator."""

    def __init__(self) -> None:
        self.now = 100.0
        self.files: dict[str, str] = {}
        self.secrets: list[tuple[str, Json]] = []
        self.log: list[str] = []
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"fresh-{self.count}"

    def keep_secret(self, method: str, secret: Json) -> None:
        self.secrets.append((method, secret))

    def surroundings(self) -> Surroundings:
        return Surroundings(
            now=lambda: self.now,
            stamp=lambda: STAMP,
            fresh=self.fresh,
            read_text=self.files.get,
            keep_secret=self.keep_secret,
            log=self.log.append,
        )


class Wire:
    """Drives a translator; `said` has what it sent since the last look."""

    def __init__(
        self,
        translator: Translator,
        spoken: dict[Side, Spoken],
        clock: Clock,
        *,
        check: Callable[[Side, Message, str], None] | None = None,
    ) -> None:
        self.translator = translator
        self.clock = clock
        self.said: list[Out] = []
        # What a side handles, and what it may ask of the other, in the version that it speaks.
        self._handles = {side: _tables(version)[side is AGENT] for side, version in spoken.items()}
        self._asks = {side: _tables(version)[side is CLIENT] for side, version in spoken.items()}
        self._draft = {side for side, version in spoken.items() if version == "draft"}
        self._came: dict[tuple[Side, Key], str] = {}
        self.asked: dict[tuple[Side, Key], str] = {}
        self._keys = 1000
        self._check = check
        # The side of an endpoint of ours, which understands more than its version has.
        self.own_side: Side | None = None

    # ---- what the peers do

    def ask(self, side: Side, method: str, params: Json | None = None) -> Key:
        """A peer asks; returns the key of its request."""
        self._keys += 1
        self._came[side, self._keys] = method
        self._hear(self.translator.receive(side, Request(self._keys, method, params or {})))
        return self._keys

    def tell(self, side: Side, method: str, params: Json) -> None:
        """A peer says something that nobody answers."""
        self._hear(self.translator.receive(side, Notification(method, params)))

    def answer(self, side: Side, key: Key, result: Any) -> None:
        """A peer answers what it was asked."""
        del self.asked[side, key]
        self._hear(self.translator.receive(side, Result(key, result)))

    def fail(self, side: Side, key: Key, code: int, message: str = "no", data: Any = None) -> None:
        """A peer refuses what it was asked."""
        del self.asked[side, key]
        self._hear(self.translator.receive(side, Failure(key, code, message, data)))

    def wait(self, seconds: float) -> None:
        """Time goes by."""
        end = self.clock.now + seconds
        while self.translator.wake_at is not None and self.translator.wake_at <= end:
            self.clock.now = max(self.clock.now, self.translator.wake_at)
            self._hear(self.translator.wake())
        self.clock.now = end

    def agent_dies(self) -> None:
        """The agent will say no more."""
        self._hear(self.translator.agent_gone("it crashed"))

    # ---- what is looked at

    def take(self) -> list[Out]:
        """What was said since the last look."""
        said, self.said = self.said, []
        return said

    def took(self, side: Side, kind: type[Message] | None = None) -> list[Any]:
        """What was said to one side since the last look; all else is forgotten."""
        return [
            message
            for to, message in self.take()
            if to is side and (kind is None or isinstance(message, kind))
        ]

    def one(self, side: Side, method: str) -> Request:
        """The one request that was made to a side, and nothing else was said."""
        said = self.take()
        assert len(said) == 1, said
        to, message = said[0]
        assert to is side
        assert isinstance(message, Request)
        assert message.method == method
        return message

    def request(self, side: Side, method: str) -> Request:
        """The one request of a method that was made to a side among other things."""
        (found,) = [one for one in self.took(side, Request) if one.method == method]
        assert isinstance(found, Request)
        return found

    def result(self, side: Side, key: Key) -> Any:
        """The result of a request of a side."""
        (found,) = [one for one in self.took(side) if getattr(one, "key", None) == key]
        assert isinstance(found, Result), found
        return found.result

    def error(self, side: Side, key: Key) -> Failure:
        """The error that a request of a side was answered with."""
        (found,) = [one for one in self.took(side) if getattr(one, "key", None) == key]
        assert isinstance(found, Failure), found
        return found

    def updates(self, side: Side) -> list[Json]:
        """The params of the updates that a side was sent since the last look."""
        told = self.took(side, Notification)
        return [one.params for one in told if one.method == "session/update"]

    @property
    def open(self) -> list[tuple[Side, str]]:
        """Requests of the peers that have no answer yet."""
        return [(side, method) for (side, _), method in self._came.items()]

    # ---- checking

    def _hear(self, outs: Any) -> None:
        for side, message in outs:
            self._judge(side, message)
            self.said.append((side, message))

    def _judge(self, side: Side, message: Message) -> None:
        if isinstance(message, Result | Failure):
            name = self._came.pop((side, message.key))
            method = self._asks[side].get(name)
            if isinstance(message, Result) and method is not None:
                raw = encode(self._calm(side, message.result))
                method.decode_result(raw, strict=side is not self.own_side)
                self._official(side, message, name)
            return
        if isinstance(message, Request):
            assert (side, message.key) not in self.asked
            self.asked[side, message.key] = message.method
        method = self._handles[side].get(message.method)
        if method is None:
            assert message.method.startswith("_"), message
            return
        self._judge_params(side, method, message)

    def _judge_params(self, side: Side, method: Method, message: Request | Notification) -> None:
        assert method.side == ("client" if side is CLIENT else "agent"), message
        assert (method.kind == "request") == isinstance(message, Request), message
        raw = encode(self._calm(side, message.params))
        params = method.decode_params(raw, strict=side is not self.own_side)
        if side in self._draft and message.method == "session/update":
            decode_update(params, strict=True)
        self._official(side, message, message.method)

    def _calm(self, side: Side, value: Any) -> Any:
        """With common words where any is legal: strict reading refuses those it does not know."""
        return _common_words(value) if side in self._draft else value

    def _official(self, side: Side, message: Message, name: str) -> None:
        if self._check is not None and side not in self._draft:
            self._check(side, message, name)


def check_steps(said: list[Out]) -> None:
    """D26-32, D26-34: every call is told of first, and every status follows from the one before."""
    statuses: dict[tuple[str, str], str] = {}
    for side, message in said:
        if side is not CLIENT or not isinstance(message, Notification):
            continue
        params = message.params
        if params.get("type") == "tool_call":
            statuses.setdefault((params["sessionId"], params["data"]["id"]), "pending")
            assert params["data"]["status"] == "pending"
        elif params.get("type") == "tool_call_update":
            call = params["sessionId"], params["data"]["id"]
            status = params["data"].get("status")
            assert call in statuses
            if status is not None:
                assert status in NEXT_STATUSES[statuses[call]], (statuses[call], status)
                statuses[call] = status


# Lists of words that the draft leaves open, and one word of each.
_OPEN_WORDS = {
    "mode": "default",
    "initialMode": "default",
    "currentMode": "default",
    "previousMode": "default",
    "source": "user",
}


def _common_words(value: Any, inside: str = "") -> Any:
    if isinstance(value, list):
        return [_common_words(one, inside) for one in value]
    if not isinstance(value, dict):
        return value
    words = {**_OPEN_WORDS, "status": "pending"} if inside == "steps" else _OPEN_WORDS
    return {
        name: words[name]
        if name in words and isinstance(one, str)
        else one
        if name == "_meta"
        else _common_words(one, name)
        for name, one in value.items()
    }


def both(spoken_client: Spoken, spoken_agent: Spoken) -> dict[Side, Spoken]:
    """The dialect of each side."""
    return {CLIENT: spoken_client, AGENT: spoken_agent}
