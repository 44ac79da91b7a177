"""A translator between two peers that answer everything, to put one example message through it.

What each peer says besides the example is in the tables below, in each version's words.  Whatever
the translator says must be valid to the letter in the version of the side that it is said to.

Must not know: what should come of an example; the tests say that.
"""

import json
from typing import Any, Literal

from accord.proxy.relay.translators import Outside, Settings, between
from accord.schema.codec import encode
from accord.schema.draft.updates import decode_update
from accord.schema.method import Method
from accord.translate.message import (
    AGENT,
    CLIENT,
    HOST,
    Failure,
    Message,
    Notification,
    Request,
    Result,
    Side,
)
from accord.translate.validation import read_params, read_result
from tests.examples.examples import METHODS, ROOT, SESSION, Json, Spoken
from tests.examples.peers import ANSWERS, ASKED
from tests.interop.messages.validator import SCHEMAS, Validator
from tests.translate.surroundings import Around

HOW = Settings(unstable=True, host=frozenset({"fs", "terminal"}))
SPEAKERS: dict[Side, Literal["agent", "client"]] = {CLIENT: "client", AGENT: "agent"}
STEPS_MAX = 60
FILES = {
    f"{ROOT}/trees/pear.txt": "planted 1971\n",
    f"{ROOT}/beds/rows.toml": "rows = 8\n",
    f"{ROOT}/lawn.txt": "leaves\n",
}


class Bench:
    """`said` has what each side was sent; `answers` what requests were answered with."""

    def __init__(self, outside: Outside, inside: Spoken) -> None:
        self.around = Around(FILES)
        around = self.around.surroundings._replace(find_program=lambda name: f"/opt/{name}")
        self.translator = between(outside, inside, around, HOW)
        self.early = outside == "v2-early"
        client: Spoken = "v2" if outside == "v2-early" else outside
        self.spoken: dict[Side, Spoken] = {CLIENT: client, AGENT: inside, HOST: "v1"}
        self.said: dict[Side, list[Message]] = {CLIENT: [], AGENT: [], HOST: []}
        self.answers: dict[int, Result | Failure] = {}
        self.instead: dict[tuple[Side, str], Json] = {}
        self.held: set[str] = set()
        self._keys = 1000
        self._asked: dict[tuple[Side, int], str] = {}
        self._waiting: list[tuple[Side, Request]] = []
        official = {"v1": 1, "v2": 2} if SCHEMAS.is_dir() else {}
        self._officials = {
            side: Validator(official[version], unstable=True)
            for side, version in self.spoken.items()
            if version in official and side is not HOST and not (self.early and side is CLIENT)
        }

    # ---- what the peers say

    def ask(self, side: Side, method: str, params: Json | None = None) -> int:
        """A peer asks; everybody else answers what they are asked for it."""
        self._keys += 1
        key = self._keys
        self._asked[side, key] = method
        given = ASKED[self.spoken[side]].get(method, {}) if params is None else params
        read = read_params(self._row(side, method), encode(given))
        self._receive(side, Request(key, method, read))
        self._settle()
        return key

    def tell(self, side: Side, method: str, params: Json) -> list[Message]:
        """A peer tells something; what the other one hears."""
        read = read_params(self._row(side, method), encode(params))
        other = AGENT if side is CLIENT else CLIENT
        before = len(self.said[other])
        self._receive(side, Notification(method, read))
        self._settle()
        return self.said[other][before:]

    def release(self, method: str) -> None:
        """Those who held a request of this method back answer now."""
        self.held.discard(method)
        self._settle()

    def _row(self, side: Side, method: str) -> Method | None:
        return METHODS[self.spoken[side]].get(method)

    # ---- how it goes on

    def _settle(self) -> None:
        for _ in range(STEPS_MAX):
            ready = [one for one in self._waiting if one[1].method not in self.held]
            if ready:
                self._waiting.remove(ready[0])
                self._answer(*ready[0])
            elif self.translator.wake_at is not None and self.translator.wake_at < 120:
                self.around.time = max(self.around.time, self.translator.wake_at)
                self._take(self.translator.wake())
            else:
                return
        raise AssertionError(f"it goes on for ever: {self.said}")

    def _answer(self, side: Side, request: Request) -> None:
        if request.method == "host/locate":
            found = {"at": request.params["path"], "oldText": None}
            self._receive(side, Result(request.key, found))
            return
        options = request.params.get("options")
        if side is CLIENT and options and options[0]["optionId"] == "allow":
            # The question of the translator's own, before its machine does something.
            allowed = {"outcome": {"outcome": "selected", "optionId": "allow"}}
            self._receive(side, Result(request.key, allowed))
            return
        given = self.instead.get((CLIENT if side is HOST else side, request.method))
        answer: Message
        if given is not None and "error" in given:
            error = given["error"]
            answer = Failure(request.key, error["code"], error["message"], error.get("data"))
        else:
            table = ANSWERS[self.spoken[side]]
            if given is None and request.method == "_mcp/request":
                answer = Failure(request.key, -32601, "no such method")
                self._receive(side, answer)
                return
            assert given or request.method in table, request
            result = given["result"] if given is not None else table[request.method]
            row = self._row(side, request.method)
            answer = Result(request.key, read_result(row, encode(result)))
        self._receive(side, answer)

    def _receive(self, side: Side, message: Message) -> None:
        if side in self._officials:
            # Peers are not judged; it is only for what is answered to them, and by them.
            self._officials[side].check(SPEAKERS[side], _bare(message))
        self._take(self.translator.receive(side, message))

    def _take(self, outs: Any) -> None:
        for side, message in outs:
            self._judge(side, message)
            self.said[side].append(message)
            if isinstance(message, Request):
                self._waiting.append((side, message))
            elif isinstance(message, Result | Failure):
                assert message.key not in self.answers, "answered twice"
                self.answers[message.key] = message

    # ---- whether it is right

    def _judge(self, side: Side, message: Message) -> None:
        if side in self._officials:
            speaker = SPEAKERS[AGENT if side is CLIENT else CLIENT]
            # What all benches say in the beginning is judged once.
            asked = "" if isinstance(message, Notification) else self._asked.get((side, message[0]))
            said_of = message if isinstance(message, Notification) else message[1:]
            key = self.spoken[side], speaker, json.dumps([asked, said_of])
            said = _bare(message) if key in JUDGED else _on_wire(message)
            problems = self._officials[side].check(speaker, said)
            assert key in JUDGED or problems == [], message
            JUDGED.add(key)
        if side is CLIENT and self.early:
            # Its form is none of today's; the tests look at it.
            return
        if isinstance(message, Failure):
            return
        if isinstance(message, Result):
            row = self._row(side, self._asked[side, message.key])
            if row is not None:
                row.decode_result(encode(message.result), strict=True)
            return
        row = self._row(side, message.method)
        if row is None:
            assert message.method.startswith(("_", "host/")), message
            return
        given = dict(message.params)
        if side is HOST:
            # Where the host found a file is a word between the two of them.
            given.pop("at", None)
        params = row.decode_params(encode(given), strict=True)
        if self.spoken[side] == "draft" and message.method == "session/update":
            decode_update(params, strict=True)

    def text(self, side: Side) -> str:
        """All that a side was sent, as JSON."""
        return json.dumps(self.said[side], ensure_ascii=False)

    # ---- the usual beginning

    def begin(self, *, session: bool = True, prompt: bool = False) -> int | None:
        """Say hello, open a session, and have a prompt that the agent works on."""
        self.ask(CLIENT, "initialize")
        if session:
            self.ask(CLIENT, "session/new")
        if not prompt:
            return None
        self.held.add("session/prompt")
        return self.ask(CLIENT, "session/prompt")


# Version, who said it, and what.
JUDGED: set[tuple[str, str, str]] = set()


def _bare(message: Message) -> Json:
    """Without what it says: enough to know what is open."""
    on_wire = _on_wire(message)
    return {name: {} if name in ("params", "result") else one for name, one in on_wire.items()}


def _on_wire(message: Message) -> Json:
    if isinstance(message, Notification):
        return {"jsonrpc": "2.0", "method": message.method, "params": message.params}
    head: Json = {"jsonrpc": "2.0", "id": message.key}
    if isinstance(message, Request):
        return {**head, "method": message.method, "params": message.params}
    if isinstance(message, Result):
        return {**head, "result": message.result}
    error = {"code": message.code, "message": message.message, "data": message.data}
    return {**head, "error": error}


__all__ = ["SESSION", "Bench"]
