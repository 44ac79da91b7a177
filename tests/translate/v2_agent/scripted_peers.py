"""A v1 client and a v2 agent with the translator between them, driven by hand, without I/O.

Whatever goes in must be valid in the version of its side, and whatever comes out too, to the
letter: `accord.schema` is asked strictly.  What came out is copied and then spoiled, so that a
translator that still counts on it shows.
"""

from copy import deepcopy
from typing import Any, ClassVar

from accord.schema.codec import encode
from accord.schema.method import Method
from accord.schema.v1 import methods as v1_methods
from accord.schema.v2 import methods as v2_methods
from accord.translate.message import (
    AGENT,
    CLIENT,
    Failure,
    Json,
    Key,
    Message,
    Notification,
    Request,
    Result,
    Side,
    Surroundings,
)
from accord.translate.v2_agent import V2Agent
from accord.translate.validation import read_params, read_result

X = "acp.translate"
CWD = "/w"
SESSION = "s"

# (who handles it, method): in the words of the client's version and in those of the agent's.
SPOKEN: dict[Side, dict[tuple[Side, str], Method]] = {
    CLIENT: {
        **{(AGENT, name): one for name, one in v1_methods.AGENT_METHODS.items()},
        **{(CLIENT, name): one for name, one in v1_methods.CLIENT_METHODS.items()},
    },
    AGENT: {
        **{(AGENT, name): one for name, one in v2_methods.AGENT_METHODS.items()},
        **{(CLIENT, name): one for name, one in v2_methods.CLIENT_METHODS.items()},
    },
}
# A message beside whom it went to.
Sent = tuple[Side, Any]
OTHER = {CLIENT: AGENT, AGENT: CLIENT}


class World:
    """Both peers; `sent` has everything that came out, `client` and `agent` what each was sent."""

    spoken: ClassVar = SPOKEN
    # Whether what the client gets may hold variants that nobody knows.
    is_open = False

    def __init__(
        self,
        *,
        strict: bool = False,
        unstable: bool = False,
        files: dict[str, str] | None = None,
        programs: dict[str, str] | None = None,
        is_exact: bool = True,
    ) -> None:
        self.now = 100.0
        self.count = 0
        self.logged: list[str] = []
        self.warnings: list[str] = []
        self.is_exact = is_exact
        self.sent: list[Sent] = []
        self.client: list[Any] = []
        self.agent: list[Any] = []
        # Requests that a peer made and that are not answered, with their methods.
        self.open: dict[tuple[Side, Key], str] = {}
        self.asked: dict[tuple[Side, Key], str] = {}
        self._keys = 1000
        self.files = files or {}
        surroundings = Surroundings(
            now=lambda: self.now,
            stamp=lambda: "2026-01-01T00:00:00Z",
            fresh=self._fresh,
            read_text=self.files.get,
            keep_secret=_keep_secret,
            log=self.logged.append,
            warn=self.warnings.append,
            find_program=(programs or {}).get,
        )
        self.translator = self.between(surroundings, strict, unstable)

    def between(self, surroundings: Surroundings, strict: bool, unstable: bool) -> Any:
        """What stands between the two peers."""
        return V2Agent(surroundings, strict=strict, unstable=unstable)

    def _fresh(self) -> str:
        self.count += 1
        return str(self.count)

    # ---- what goes in

    def ask(self, side: Side, method: str, params: Json) -> Key:
        """A request of a peer."""
        self._keys += 1
        key = self._keys
        row = self.spoken[side].get((OTHER[side], method))
        params = read_params(row, encode(params))
        self.open[side, key] = method
        self._take(self.translator.receive(side, Request(key, method, params)))
        return key

    def tell(self, side: Side, method: str, params: Json) -> list[Sent]:
        """A notification of a peer; answers what came out of it."""
        row = self.spoken[side].get((OTHER[side], method))
        message = Notification(method, read_params(row, encode(params)))
        return self._take(self.translator.receive(side, message))

    def answer(self, side: Side, key: Key, result: Json) -> list[Sent]:
        """A peer answers a request that it was sent."""
        row = self.spoken[side].get((side, self.asked.pop((side, key))))
        message = Result(key, read_result(row, encode(result)))
        return self._take(self.translator.receive(side, message))

    def fail(self, side: Side, key: Key, code: int, data: Any = None) -> list[Sent]:
        """A peer refuses a request that it was sent."""
        self.asked.pop((side, key), None)
        return self._take(self.translator.receive(side, Failure(key, code, "no", data)))

    def pass_time(self, seconds: float) -> list[Sent]:
        """Time passes, and whatever is due by then is done."""
        self.now += seconds
        at = self.translator.wake_at
        return self._take(self.translator.wake()) if at is not None and at <= self.now else []

    def die(self) -> list[Sent]:
        """The agent is gone."""
        return self._take(self.translator.agent_gone("the agent is gone"))

    # ---- what comes out

    def _take(self, outs: Any) -> list[Sent]:
        taken: list[Sent] = []
        for side, message in outs:
            copy = deepcopy(message)
            _spoil(message[-1] if not isinstance(message, Failure) else message.data)
            self._check(side, copy)
            taken.append((side, copy))
            (self.client if side is CLIENT else self.agent).append(copy)
        self.sent += taken
        return taken

    def _check(self, side: Side, message: Message) -> None:
        """A peer never gets what is invalid in its version, nor an answer that is not due."""
        spoken = self.spoken[side]
        if isinstance(message, Request | Notification):
            row = spoken.get((side, message.method))
            if message.method.startswith("_"):
                row = None
            else:
                assert row is not None, message
                notes: list[str] = []
                row.decode_params(encode(message.params), notes=notes, strict=self.is_exact)
                # Of v1, forms may hold what is of a later version; nothing else may.
                is_open = side is AGENT or message.method == "elicitation/create"
                assert is_open or self.is_open or not notes, notes
            if isinstance(message, Request):
                assert (side, message.key) not in self.asked
                self.asked[side, message.key] = message.method
            return
        method = self.open.pop((side, message.key))
        row = spoken.get((OTHER[side], method))
        if isinstance(message, Result) and row is not None:
            row.decode_result(encode(message.result), strict=self.is_exact)

    # ---- what a test wants to know

    def last(self, side: Side, kind: type[Any] = Request) -> Any:
        """The last message of a kind that a peer was sent."""
        messages = self.client if side is CLIENT else self.agent
        return next(one for one in reversed(messages) if isinstance(one, kind))

    @property
    def losses(self) -> dict[str, int]:
        """What could not be said, by kind."""
        found: dict[str, int] = self.translator.losses
        return found

    def updates(self) -> list[Json]:
        """Every update that the client was told."""
        return [
            one.params["update"]
            for one in self.client
            if isinstance(one, Notification) and one.method == "session/update"
        ]

    def answer_to(self, key: Key) -> Any:
        """The answer that the client got to a request; None if it is open."""
        found = [one for one in self.client if isinstance(one, Result | Failure) and one.key == key]
        assert len(found) <= 1
        return found[0] if found else None

    # ---- whole steps

    def initialize(
        self,
        client: Json | None = None,
        agent: Json | None = None,
        *,
        auth: list[Json] | None = None,
    ) -> Json:
        """Both sides introduce themselves."""
        params: Json = {"protocolVersion": 1, "clientCapabilities": client or {}}
        key = self.ask(CLIENT, "initialize", params)
        capabilities = {"session": {"mcp": {"stdio": {}}}} if agent is None else agent
        result: Json = {
            "protocolVersion": 2,
            "info": {"name": "a", "version": "1"},
            "capabilities": capabilities,
        }
        if auth is not None:
            result["authMethods"] = auth
        self.answer(AGENT, self.last(AGENT).key, result)
        found: Json = self.answer_to(key).result
        return found

    def new(self, result: Json | None = None) -> Json:
        """A session is opened."""
        key = self.ask(CLIENT, "session/new", {"cwd": CWD, "mcpServers": []})
        self.answer(AGENT, self.last(AGENT).key, {"sessionId": SESSION, **(result or {})})
        found: Json = self.answer_to(key).result
        return found

    def prompt(self, text: str = "hello") -> Key:
        """The client prompts; the agent gives the prompt its place and begins to work."""
        key = self.ask(
            CLIENT,
            "session/prompt",
            {"sessionId": SESSION, "prompt": [{"type": "text", "text": text}]},
        )
        request = self.last(AGENT)
        if request.method == "session/prompt" and (AGENT, request.key) in self.asked:
            self.update({"sessionUpdate": "state_update", "state": "running"})
            self.answer(AGENT, request.key, {"messageId": f"u{key}"})
        return key

    def update(self, update: Json) -> list[Json]:
        """The agent tells something; answers what the client was told by that."""
        outs = self.tell(AGENT, "session/update", {"sessionId": SESSION, "update": update})
        return [
            one.params["update"]
            for side, one in outs
            if side is CLIENT and isinstance(one, Notification) and one.method == "session/update"
        ]

    def idle(self, reason: str | None = "end_turn", **fields: Any) -> list[Json]:
        """The agent has nothing more to do."""
        update: Json = {"sessionUpdate": "state_update", "state": "idle", **fields}
        if reason is not None:
            update["stopReason"] = reason
        return self.update(update)


def started(client: Json | None = None, **options: Any) -> World:
    """A world in which a session is open and nothing else has happened."""
    world = World(**options)
    world.initialize(client)
    world.new()
    return world


def _keep_secret(method: str, secret: Json) -> None:
    raise AssertionError("there are no secrets here")


def _spoil(value: Any) -> None:
    if isinstance(value, dict):
        for item in list(value.values()):
            _spoil(item)
        value.clear()
        value["spoiled"] = True
    elif isinstance(value, list):
        for item in value:
            _spoil(item)
        value.clear()


__all__ = ["AGENT", "CLIENT", "CWD", "SESSION", "World", "X", "started"]
