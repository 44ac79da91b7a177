"""A direct connection and one through both bridges to the draft, told the same."""

from __future__ import annotations

import copy
from typing import Any

from accord.translate.chain import Chain
from accord.translate.draft.agent import DraftAgent
from accord.translate.draft.client import DraftClient
from accord.translate.message import AGENT, CLIENT, Failure, Json, Notification, Request, Result
from accord.translate.meta_store import DRAFT
from accord.translate.pass_through import Same
from tests.translate.draft.scripted_peers import Clock, Wire, both


class Pair:
    """A direct connection and one through both bridges, told the same."""

    def __init__(self, direct: Wire, through: Wire) -> None:
        self.direct = direct
        self.through = through

    @classmethod
    def of_v1(cls) -> Pair:
        """v1, through the draft."""
        clock = Clock()
        outer = DraftAgent(clock.surroundings(), unstable=True)
        inner = DraftClient(clock.surroundings(), unstable=True)
        return cls._made(clock, Chain(outer, inner), "v1")

    @classmethod
    def of_draft(cls) -> Pair:
        """The draft, through v1."""
        clock = Clock()
        outer = DraftClient(clock.surroundings(), unstable=True)
        inner = DraftAgent(clock.surroundings(), unstable=True)
        return cls._made(clock, Chain(outer, inner), "draft")

    @classmethod
    def _made(cls, clock: Clock, chain: Chain, spoken: Any) -> Pair:
        same = Same(clock.surroundings())
        return cls(
            Lenient(same, both(spoken, spoken), clock), Lenient(chain, both(spoken, spoken), clock)
        )

    def both(self) -> tuple[Wire, Wire]:
        return self.direct, self.through

    def ask(self, side: Any, method: str, params: Json) -> tuple[int, int]:
        """A request on both; the keys of the requests."""
        keys = [wire.ask(side, method, copy.deepcopy(params)) for wire in self.both()]
        return keys[0], keys[1]

    def arrived(self, side: Any, method: str) -> tuple[Request, Request]:
        """The request as it arrived on both."""
        found = [wire.request(side, method) for wire in self.both()]
        return found[0], found[1]

    def answer(self, side: Any, keys: Any, result: Any) -> None:
        """An answer on both."""
        for wire, key in zip(self.both(), keys, strict=True):
            wire.answer(side, key.key, copy.deepcopy(result))

    def fail(self, side: Any, keys: Any, failure: Failure) -> None:
        """An error on both."""
        for wire, key in zip(self.both(), keys, strict=True):
            wire.fail(side, key.key, failure.code, failure.message, copy.deepcopy(failure.data))

    def answers(self, side: Any, keys: tuple[int, int]) -> tuple[Any, Any]:
        """The answer on both, without its key."""
        found = []
        for wire, key in zip(self.both(), keys, strict=True):
            (one,) = [each for each in wire.took(side) if getattr(each, "key", None) == key]
            found.append(one._replace(key=0))
        return found[0], found[1]

    def call(self, side: Any, method: str, params: Json, result: Any) -> tuple[Any, Any]:
        """A request and its answer on both: the params that arrived are the same."""
        keys = self.ask(side, method, params)
        direct, through = self.arrived(AGENT if side is CLIENT else CLIENT, method)
        # Lossy: what one bridge tells the next beside it; the peer's own things are all there.
        assert plain(without_kept(through.params)) == plain(direct.params)
        self.answer(AGENT if side is CLIENT else CLIENT, (direct, through), result)
        return self.answers(side, keys)

    def tell(self, side: Any, method: str, params: Json) -> tuple[list[Any], list[Any]]:
        """A notification on both; what the other side was told."""
        heard = []
        for wire in self.both():
            wire.take()
            wire.tell(side, method, copy.deepcopy(params))
            wire.wait(0.2)
            heard.append(wire.took(AGENT if side is CLIENT else CLIENT, Notification))
        return heard[0], heard[1]


class Lenient(Wire):
    """Does not judge: what is passed through may be of variants that nobody knows."""

    def _official(self, side: Any, message: Any, name: str) -> None:
        raise AssertionError

    def _judge(self, side: Any, message: Any) -> None:
        if isinstance(message, Result | Failure):
            self._came.pop((side, message.key))
        elif isinstance(message, Request):
            self.asked[side, message.key] = message.method


def plain(value: Any) -> Any:
    """Null is absent, as v1 has it outside of raw values; so is a `_meta` that says nothing."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: one if name in ("_meta", "rawInput", "rawOutput", "input") else plain(one)
        for name, one in value.items()
        if (one is not None or name in ("rawInput", "rawOutput", "input", "currentValue"))
        and not (name == "_meta" and one == {})
    }


def without_kept(value: Any) -> Any:
    """What bridges keep for each other is not part of what was said."""
    if isinstance(value, Result):
        return value._replace(result=without_kept(value.result))
    if isinstance(value, list):
        return [without_kept(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {name: without_kept(one) for name, one in value.items()}
    meta = made.get("_meta")
    if isinstance(meta, dict) and DRAFT in meta:
        del meta[DRAFT]
        if not meta:
            del made["_meta"]
    return made
