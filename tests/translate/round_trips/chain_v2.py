"""A v2 client and a v2 agent with both translators between them: v2 to v1 and back to v2."""

from typing import Any, ClassVar

from accord.schema import v2
from accord.schema.codec import decode, encode
from accord.transcript.transcript import Transcript
from accord.translate.chain import Chain
from accord.translate.message import AGENT, CLIENT, Json, Key, Surroundings
from accord.translate.v1_agent import V1Agent
from accord.translate.v2_agent import V2Agent
from tests.translate.v2_agent.scripted_peers import SESSION, SPOKEN, World, X

OFFER: Json = {
    "session": {
        "prompt": {"image": {}, "audio": {}, "embeddedContext": {}},
        "mcp": {"stdio": {}, "http": {}},
        "delete": {},
    }
}


class Line(World):
    """Both ends speak v2; v1 is spoken in the middle."""

    spoken: ClassVar = {CLIENT: SPOKEN[AGENT], AGENT: SPOKEN[AGENT]}
    is_open = True

    def between(self, surroundings: Surroundings, strict: bool, unstable: bool) -> Any:
        """The v1 in the middle is seen by nobody else."""
        outer = V1Agent(surroundings, unstable=unstable)
        return Chain(outer, V2Agent(surroundings, strict=strict, unstable=unstable))

    def initialize(
        self,
        client: Json | None = None,
        agent: Json | None = None,
        *,
        auth: list[Json] | None = None,
    ) -> Json:
        """Both sides introduce themselves."""
        info = {"name": "c", "version": "1"}
        hello = {"protocolVersion": 2, "info": info, "capabilities": client or {}}
        key = self.ask(CLIENT, "initialize", hello)
        result: Json = {
            "protocolVersion": 2,
            "info": {"name": "a", "version": "1"},
            "capabilities": OFFER if agent is None else agent,
        }
        if auth is not None:
            result["authMethods"] = auth
        self.answer(AGENT, self.last(AGENT).key, result)
        found: Json = self.answer_to(key).result
        return found

    def begin(self) -> Key:
        """A turn in which both sides know that the agent works."""
        key = self.prompt()
        self.pass_time(0.06)
        return key


def line(*, auth: list[Json] | None = None, **options: Any) -> Line:
    """A line in which a session is open and nothing else has happened."""
    made = Line(unstable=True, is_exact=False, **options)
    made.initialize({}, auth=auth)
    made.new()
    return made


def folded(updates: list[Json]) -> Transcript:
    """What updates of v2 add up to."""
    transcript = Transcript("v2")
    for update in updates:
        raw = encode({"sessionId": SESSION, "update": update})
        transcript.apply(decode(v2.UpdateSessionNotification, raw).update)
    return transcript


def clean(value: Any) -> Any:
    """Without what a translator has kept, and without `_meta` that is empty by that."""
    if isinstance(value, dict):
        cleaned = {name: clean(item) for name, item in value.items() if name != X}
        # Null icons are none.
        for name in ("_meta", "icons"):
            if not cleaned.get(name, True):
                del cleaned[name]
        return cleaned
    return [clean(item) for item in value] if isinstance(value, list) else value
