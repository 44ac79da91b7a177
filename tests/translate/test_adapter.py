"""What every translator does alike, shown with small ones."""

import pytest

from accord.translate.adapter import Adapter, Outs
from accord.translate.chain import Chain
from accord.translate.message import (
    AGENT,
    CLIENT,
    HOST,
    Answer,
    CannotTranslate,
    Failure,
    Json,
    Notification,
    Request,
    Result,
)
from accord.translate.pass_through import Same
from tests.translate.surroundings import Around


class Renaming(Adapter):
    """Calls `a` what the agent calls `b`, and has a clock."""

    def __init__(self, around: Around, *, strict: bool = False) -> None:
        super().__init__(around.surroundings, strict=strict)
        self.on_request[CLIENT, "a"] = self._a
        self.on_request[CLIENT, "local"] = lambda request: [(CLIENT, Result(request.key, {}))]
        self.on_request[CLIENT, "lossy"] = self._lossy
        self.on_request[CLIENT, "here"] = self._here
        self.on_notification[CLIENT, "tell"] = self._tell
        self.on_notification[AGENT, "lossy"] = self._lossy_told
        self.at: float | None = None

    @property
    def wake_at(self) -> float | None:
        return self.at

    def due(self) -> Outs:
        self.at = None
        return [(CLIENT, Notification("woken", {}))]

    def _a(self, request: Request) -> Outs:
        def then(answer: Answer) -> Outs:
            if isinstance(answer, Result) and answer.result == "bad":
                raise CannotTranslate(-32603, "no form", {"why": 1})
            return [self.answer(CLIENT, request.key, answer)]

        return [self.ask(AGENT, "b", request.params, then, instead_of=request, of=CLIENT)]

    def _lossy(self, request: Request) -> Outs:
        self.lost("something")
        return [(CLIENT, Result(request.key, {}))]

    def _here(self, request: Request) -> Outs:
        return self.pass_on(CLIENT, request, HOST)

    def _lossy_told(self, params: Json) -> Outs:
        self.lost("something")
        return [(CLIENT, Notification("lossy", params))]

    def _tell(self, params: Json) -> Outs:
        def then(answer: Answer) -> Outs:
            raise CannotTranslate(-32603, "unreadable")

        return [self.ask(AGENT, "told", params, then)]


def asked(outs: Outs) -> Request:
    (_, message) = outs[0]
    assert isinstance(message, Request)
    return message


def test_a_request_is_asked_and_its_answer_comes_back_under_its_own_key() -> None:
    adapter = Renaming(Around())
    outs = adapter.receive(CLIENT, Request(41, "a", {"x": 1}))
    request = asked(outs)
    assert (outs[0][0], request.method, request.params) == (AGENT, "b", {"x": 1})
    assert adapter.is_open(CLIENT, 41)
    assert adapter.receive(AGENT, Result(request.key, {"y": 2})) == [(CLIENT, Result(41, {"y": 2}))]
    assert not adapter.is_open(CLIENT, 41)
    assert adapter.receive(AGENT, Result(request.key, {"y": 2})) == ()


def test_an_answer_that_cannot_be_translated_is_an_error_of_the_request() -> None:
    around = Around()
    adapter = Renaming(around)
    request = asked(adapter.receive(CLIENT, Request(1, "a", {})))
    outs = adapter.receive(AGENT, Result(request.key, "bad"))
    assert outs == [(CLIENT, Failure(1, -32603, "no form", {"why": 1}))]
    told = asked(adapter.receive(CLIENT, Notification("tell", {})))
    assert adapter.receive(AGENT, Result(told.key, {})) == ()
    assert around.said == ["an answer was not translated: unreadable"]


def test_a_cancellation_follows_the_request_it_names() -> None:
    adapter = Renaming(Around())
    request = asked(adapter.receive(CLIENT, Request(5, "a", {})))
    cancel = Notification("$/cancel_request", {"requestId": 5})
    assert adapter.receive(CLIENT, cancel) == [
        (AGENT, Notification("$/cancel_request", {"requestId": request.key}))
    ]
    nobody = Notification("$/cancel_request", {"requestId": 99})
    assert adapter.receive(CLIENT, nobody) == ()


def test_extensions_pass_both_ways_and_what_nobody_knows_does_not() -> None:
    around = Around()
    adapter = Renaming(around)
    for side, other in ((CLIENT, AGENT), (AGENT, CLIENT)):
        outs = adapter.receive(side, Request(7, "_x/y", {"p": 1}))
        assert outs[0][0] is other
        assert adapter.receive(side, Notification("_x/z", {})) == [
            (other, Notification("_x/z", {}))
        ]
    assert adapter.receive(CLIENT, Request(8, "nope", {})) == [
        (CLIENT, Failure(8, -32601, "Method not found: nope"))
    ]
    assert adapter.receive(HOST, Notification("_x/z", {})) == ()
    assert adapter.receive(AGENT, Notification("nope", {})) == ()
    assert adapter.losses == {"_x/z": 1, "nope": 1}


def test_a_loss_is_counted_and_in_strict_mode_an_error() -> None:
    lenient = Renaming(Around())
    assert lenient.receive(CLIENT, Request(1, "lossy", {})) == [(CLIENT, Result(1, {}))]
    assert lenient.receive(AGENT, Notification("lossy", {})) != ()
    assert lenient.losses == {"something": 2}
    around = Around()
    strict = Renaming(around, strict=True)
    [(side, answer)] = strict.receive(CLIENT, Request(1, "lossy", {}))
    assert side is CLIENT
    assert isinstance(answer, Failure)
    assert answer.data == {"loss": "something"}
    assert strict.receive(AGENT, Notification("lossy", {})) == ()
    assert "was not translated" in around.said[0]


def test_when_the_agent_goes_every_open_request_is_answered_once() -> None:
    class Ending(Renaming):
        def ended(self, why: str) -> Outs:
            return [(CLIENT, Notification("over", {})), (CLIENT, Result(1, {"why": why}))]

    adapter = Ending(Around())
    for key in (1, 2):
        adapter.receive(CLIENT, Request(key, "a", {}))
    adapter.receive(AGENT, Request(9, "_of/agent", {}))
    assert adapter.agent_gone("it died") == [
        (CLIENT, Notification("over", {})),
        (CLIENT, Result(1, {"why": "it died"})),
        (CLIENT, Failure(2, -32603, "it died", {"reason": "agent_gone"})),
    ]
    assert Adapter(Around().surroundings).agent_gone("x") == []


def test_an_adapter_without_a_clock_is_never_due() -> None:
    adapter = Adapter(Around().surroundings)
    assert adapter.wake_at is None
    assert adapter.wake() == ()


def test_the_same_version_on_both_sides_passes_everything() -> None:
    same = Same(Around().surroundings)
    request = asked(same.receive(CLIENT, Request(3, "anything", {"a": 1})))
    assert (request.method, request.params) == ("anything", {"a": 1})
    cancel = same.receive(CLIENT, Notification("$/cancel_request", {"requestId": 3}))
    assert cancel == [(AGENT, Notification("$/cancel_request", {"requestId": request.key}))]
    assert same.receive(AGENT, Result(request.key, 1)) == [(CLIENT, Result(3, 1))]
    assert same.receive(AGENT, Notification("n", {})) == [(CLIENT, Notification("n", {}))]


def test_a_chain_carries_messages_through_both_and_wakes_whoever_wants() -> None:
    outer, inner = Renaming(Around()), Renaming(Around())
    inner.on_request[CLIENT, "b"] = lambda request: inner.pass_on(CLIENT, request, AGENT)
    chain = Chain(outer, inner)
    times = [chain.wake_at]
    outer.at, inner.at = 7.0, 5.0
    assert [*times, chain.wake_at] == [None, 5.0]
    assert chain.wake() == [(CLIENT, Notification("woken", {}))]
    assert inner.losses == {}
    request = asked(chain.receive(CLIENT, Request(1, "a", {"x": 1})))
    assert request.method == "b"
    assert chain.receive(AGENT, Result(request.key, {"y": 1})) == [(CLIENT, Result(1, {"y": 1}))]
    assert chain.receive(CLIENT, Notification("_n/m", {})) == [(AGENT, Notification("_n/m", {}))]
    assert chain.losses == {"woken": 1}


def test_a_chain_keeps_apart_what_its_two_ask_of_the_host() -> None:
    outer, inner = Renaming(Around()), Renaming(Around())
    inner.on_request[CLIENT, "b"] = lambda request: inner.pass_on(CLIENT, request, HOST)
    chain = Chain(outer, inner)
    first = asked(chain.receive(CLIENT, Request(1, "here", {})))
    second = asked(chain.receive(CLIENT, Request(2, "a", {})))
    assert first.key != second.key
    assert chain.receive(HOST, Result(second.key, {"of": 2})) == [(CLIENT, Result(2, {"of": 2}))]
    assert chain.receive(HOST, Result(first.key, {"of": 1})) == [(CLIENT, Result(1, {"of": 1}))]
    assert chain.receive(HOST, Result(99, {})) == ()
    assert chain.receive(HOST, Notification("host/x", {})) == []
    assert chain.losses == {"host/x": 2}
    outer.on_notification[HOST, "host/y"] = lambda params: [(HOST, Notification("ack", params))]
    assert chain.receive(HOST, Notification("host/y", {})) == [(HOST, Notification("ack", {}))]


def test_when_the_agent_of_a_chain_goes_its_client_is_told_once() -> None:
    outer, inner = Renaming(Around()), Renaming(Around())
    inner.on_request[CLIENT, "b"] = lambda request: inner.pass_on(CLIENT, request, AGENT)
    chain = Chain(outer, inner)
    chain.receive(CLIENT, Request(1, "a", {}))
    chain.receive(CLIENT, Request(2, "here", {}))
    answers = [message for _, message in chain.agent_gone("gone")]
    assert sorted(message.key for message in answers) == [1, 2]  # type: ignore[union-attr]


@pytest.mark.parametrize("side", [CLIENT, AGENT])
def test_a_chain_answers_what_it_does_not_know(side: object) -> None:
    chain = Chain(Renaming(Around()), Renaming(Around()))
    outs = chain.receive(side, Request(4, "nope", {}))  # type: ignore[arg-type]
    assert [message for _, message in outs] == [Failure(4, -32601, "Method not found: nope")]
