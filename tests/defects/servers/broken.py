"""Servers that break one rule of HTTP or WebSocket each."""

from __future__ import annotations

from typing import Any

from accord.conformance.frames.raw_peer import Message, Reply
from accord.conformance.network.http1 import Head
from accord.conformance.network.http_caller import CONNECTION
from accord.conformance.network.http_listener import HttpListener, Response, Seen
from accord.conformance.network.served_connection import ServedHttp
from tests.defects.catalogue import Catalogue
from tests.defects.servers.server import FirstInitialize, SmallAgent, SmallServer

HTTP = Catalogue()
WEBSOCKET = Catalogue()


def _with_type(seen: Seen, kind: str = "application/json") -> Seen:
    headers = [one for one in seen.head.headers if one[0] != "content-type"]
    return Seen(Head(seen.head.words, (*headers, ("content-type", kind))), seen.body)


@HTTP.breaks("TR-HTTP-04")
class TakesAnyType(SmallServer):
    async def post(self, seen: Seen) -> Response:
        return await SmallServer.post(self, _with_type(seen))


@HTTP.breaks("TR-HTTP-05")
class StreamsToAnybody(SmallServer):
    def get(self, seen: Seen) -> Any:
        headers = (*seen.head.headers, ("accept", "text/event-stream"))
        kept = tuple(one for one in headers if one != ("accept", "application/json"))
        return SmallServer.get(self, Seen(Head(seen.head.words, kept)))


@HTTP.breaks("TR-HTTP-06")
class AnswersInitializeAsText(SmallServer):
    async def initialize(self, seen: Seen, message: Message) -> Response:
        made = await SmallServer.initialize(self, seen, message)
        return Response(made.status, made.body, "text/plain", made.headers)


@HTTP.breaks("TR-HTTP-07")
class AcceptsWithABody(SmallServer):
    async def take(self, connection: ServedHttp, seen: Seen, message: Message) -> Response:
        await SmallServer.take(self, connection, seen, message)
        return Response(202, b"thank you")


@HTTP.breaks("TR-HTTP-08")
class KnowsNoBadConnection(SmallServer):
    def find(self, seen: Seen) -> ServedHttp | Response:
        found = SmallServer.find(self, seen)
        if isinstance(found, Response) and seen.head.header(CONNECTION) == "accord-check-unknown":
            return Response(400, b"Unknown")
        return found


@HTTP.breaks("TR-HTTP-09")
class NeedsNoSession(SmallServer):
    def session_problem(self, connection: ServedHttp, seen: Seen, message: Message) -> str:
        return ""


@HTTP.breaks("TR-HTTP-11")
class AnswersLoadToTheSession(SmallServer):
    async def take(self, connection: ServedHttp, seen: Seen, message: Message) -> Response:
        if message.get("method") != "session/load":
            return await SmallServer.take(self, connection, seen, message)
        named = message | {"method": "session/other"}
        await connection.take(seen.body, named, seen.head.header("acp-session-id"))
        return Response(202)


@HTTP.breaks("TR-HTTP-12")
class KeepsDeletedConnections(SmallServer):
    async def delete(self, seen: Seen) -> Response:
        found = self.find(seen)
        return found if isinstance(found, Response) else Response(202)


@HTTP.breaks("TR-HTTP-13")
class TakesArrays(SmallServer):
    def refuse_array(self) -> Response:
        return Response(202)


@HTTP.breaks("TR-HTTP-14")
class HasManyReaders(SmallServer):
    def get(self, seen: Seen) -> Any:
        found = self.find(seen)
        if isinstance(found, ServedHttp):
            for stream in found.streams.values():
                stream.has_reader = False
        return SmallServer.get(self, seen)


class _LoadsForAnybody(SmallAgent):
    def owns(self, name: str) -> bool:
        return name in self.sessions


@HTTP.breaks("TR-HTTP-20")
@WEBSOCKET.breaks("TR-HTTP-20")
class LoadsSessionsForAnybody(SmallServer):
    def begin(self, link: Any, user: str) -> None:
        self.agent = _LoadsForAnybody
        SmallServer.begin(self, link, user)


@HTTP.breaks("TR-HTTP-21")
class TrustsIds(SmallServer):
    def user_of(self, head: Head) -> str | None:
        known = self.owners.get(head.header(CONNECTION) or "")
        return known if known is not None else SmallServer.user_of(self, head)


@WEBSOCKET.breaks("TR-HTTP-21")
class UpgradesAnybody(SmallServer):
    def user_of(self, head: Head) -> str | None:
        return SmallServer.user_of(self, head) or "anybody"


@HTTP.breaks("TR-SERVER-01")
@WEBSOCKET.breaks("TR-SERVER-01")
class ServesForeignPages(SmallServer):
    def refusal(self, head: Head) -> Response | None:
        kept = tuple(one for one in head.headers if one[0] != "origin")
        return SmallServer.refusal(self, Head(head.words, kept))


@HTTP.breaks("TR-SERVER-02")
@WEBSOCKET.breaks("TR-SERVER-02")
class HasAnyName(SmallServer):
    def refusal(self, head: Head) -> Response | None:
        kept = tuple(one for one in head.headers if one[0] != "host")
        return SmallServer.refusal(self, Head(head.words, (*kept, ("host", "localhost:1"))))


@HTTP.breaks("TR-SERVER-03")
class NamesItsEvents(SmallServer):
    def event(self, line: bytes) -> bytes:
        return b"event: acp\n" + HttpListener.event(self, line)


@HTTP.breaks("TR-SERVER-04")
class InitializesAgain(SmallServer):
    async def initialize(self, seen: Seen, message: Message) -> Response:
        kept = tuple(one for one in seen.head.headers if one[0] != CONNECTION)
        return await SmallServer.initialize(
            self, Seen(Head(seen.head.words, kept), seen.body), message
        )


class _AgentInitializesAgain(SmallAgent):
    async def initialize(self, params: Message) -> Reply:
        self.initialized = False
        return await SmallAgent.initialize(self, params)


@WEBSOCKET.breaks("TR-SERVER-04")
class InitializesTheSocketAgain(SmallServer):
    def begin(self, link: Any, user: str) -> None:
        self.agent = _AgentInitializesAgain
        SmallServer.begin(self, link, user)


@HTTP.breaks("TR-SERVER-05")
class TakesAnyBody(SmallServer):
    async def post(self, seen: Seen) -> Response:
        refused = await SmallServer.post(self, seen)
        is_bad = not seen.body.startswith((b'{"', b"["))
        return Response(202) if refused.status == 400 and is_bad else refused


@HTTP.breaks("TR-SERVER-06")
class KnowsNoMethods(SmallServer):
    async def respond(self, seen: Seen) -> Response:
        answer = await SmallServer.respond(self, seen)
        return Response(404, b"Not found") if answer.status == 405 else answer


@HTTP.breaks("LIM-03")
class TakesBodiesOfAnyLength(SmallServer):
    async def post(self, seen: Seen) -> Response:
        return await HttpListener.post(self, seen)


@WEBSOCKET.breaks("TR-HTTP-15")
class HasNoConnectionId(SmallServer):
    async def upgrade(self, *words: Any) -> None:
        self.upgrade_headers = {}
        await SmallServer.upgrade(self, *words)


class _SpeaksBinary(FirstInitialize):
    async def receive(self, max_bytes: int = 65_536) -> bytes:
        if self.link.binary_frames:
            message: bytes = self.link.binary_frames.pop()
            return message + b"\n"
        return await FirstInitialize.receive(self, max_bytes)


@WEBSOCKET.breaks("TR-HTTP-16")
class ReadsBinaryFrames(SmallServer):
    def begin_socket(self, link: Any, user: str) -> None:
        self.begin(_SpeaksBinary(link), user)


class _Silent(FirstInitialize):
    async def checked(self, line: bytes) -> bytes:
        return line


@WEBSOCKET.breaks("TR-SERVER-05")
class SaysNothingOfBadFrames(SmallServer):
    def begin_socket(self, link: Any, user: str) -> None:
        self.begin(_Silent(link), user)
