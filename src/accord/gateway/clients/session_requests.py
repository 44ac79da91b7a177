"""A client's requests about whole sessions: opening, joining, listing and closing them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, Protocol

from accord.errors import RequestError, RequestFailed
from accord.gateway.access.principal import Principal
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.clients.allowed_params import refuse_folders, refuse_programs
from accord.gateway.clients.event_messages import update_frame
from accord.gateway.configuration.rights import Role, includes
from accord.gateway.sessions.attachment import Attachment, Client
from accord.gateway.sessions.hosted_session import HostedSession
from accord.gateway.sessions.people.roles import require, role_needed
from accord.gateway.sessions.session_facts import role_in
from accord.jsonrpc.error_codes import PERMISSION_DENIED, RESOURCE_NOT_FOUND
from accord.proxy.hop import OpenRequest
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw

TITLE_CHARACTERS_MAX: Final = 200

Reply = Callable[[OpenRequest, Raw], Awaitable[None]]


class Sessions(Protocol):
    """What is needed of the gateway."""

    async def find(self, session_id: str, principal: Principal) -> HostedSession | None:
        """Return a session that somebody may see."""
        ...

    async def new_session(
        self, client: Any, method: str, params: dict[str, Any]
    ) -> tuple[HostedSession, Raw]:
        """Open a session in a process of the agent; return it and what the agent answered."""
        ...

    async def fork_session(
        self, client: Any, source: HostedSession, params: dict[str, Any]
    ) -> tuple[HostedSession, Raw]:
        """Branch off a session; return the new one and what the agent answered."""
        ...

    async def list_sessions(self, client: Any, params: dict[str, Any]) -> Any:
        """Return a page of the sessions that somebody may see."""
        ...

    async def close(self, session: HostedSession, *, delete: bool) -> None:
        """End a session in its process, for everybody; with `delete` forget it as well."""
        ...


class Following(Client, Protocol):
    """The connection to a client, which follows sessions."""

    agent: HostedAgent
    rights: Principal

    @property
    def is_gone(self) -> bool:
        """Whether the client has gone."""
        ...

    def attachment(self, session_id: str) -> Attachment | None:
        """Return how the client follows a session, if it does."""
        ...

    def follow(self, session: HostedSession, role: Role, *, cursor: int) -> Attachment:
        """Follow a session from an event on."""
        ...

    def send(self, frame: bytes) -> None:
        """Write a whole message to the client."""
        ...


class SessionRequests:
    """Answers them for one client."""

    def __init__(self, client: Following, sessions: Sessions) -> None:
        self._client = client
        self._sessions = sessions

    def replies(self) -> dict[str, Reply]:
        """Return what answers each method."""
        return {
            "session/new": self.new,
            "session/fork": self.fork,
            "session/load": self.join,
            "session/resume": self.join,
            "session/list": self.list,
            "session/close": self.close,
            "session/delete": self.close,
            "_accord.session/rename": self.rename,
        }

    async def new(self, request: OpenRequest, params: Raw) -> None:
        """Open a session, whose owner the client is."""
        read = object_of(params)
        self._may_start(request.method, read)
        session, result = await self._sessions.new_session(self._client, request.method, read)
        self._opened(request, session, result, cursor=0)

    def _may_start(self, method: str, params: dict[str, Any]) -> None:
        client = self._client
        if not includes(client.rights.role_for(client.agent.name), "editor"):
            said = f"you may follow sessions of {client.agent.name}, but not start any"
            data = {"reason": "role", "role": "viewer", "needed": "editor"}
            raise RequestFailed(method, PERMISSION_DENIED, said, data)
        refuse_programs(client.agent.settings, method, params)
        refuse_folders(client.agent.settings, method, params)

    def _opened(
        self, request: OpenRequest, session: HostedSession, result: Raw, *, cursor: int
    ) -> None:
        """Let the owner follow a new session, and answer."""
        client = self._client
        if client.is_gone:
            # Nobody follows it yet; its owner may come back for it.
            session.turn_over()
            return
        if session.facts.agent_session_id != session.session_id:
            result = Raw(encode({**to_python(result), "sessionId": session.session_id}))
        attachment = client.follow(session, "admin", cursor=cursor)
        attachment.after(cursor, partial(request.answer, result), must=True)

    async def fork(self, request: OpenRequest, params: Raw) -> None:
        """Branch off a session: the fork has its history, and belongs to the client alone."""
        source, read = await self.find(request, params)
        require(self._client.role_in(source.facts), request.method)
        self._may_start(request.method, read)
        session, result = await self._sessions.fork_session(self._client, source, read)
        # The client knows the history that it has forked.
        self._opened(request, session, result, cursor=session.inherited)

    async def find(self, request: OpenRequest, params: Raw) -> tuple[HostedSession, Any]:
        """Return the session that params name, and the params.

        Raises:
            RequestFailed: there is none that the client may see.
        """
        read = object_of(params)
        session_id = read.get("sessionId")
        if not isinstance(session_id, str):
            raise RequestError.invalid_params("Expected `str`", "$.sessionId")
        client = self._client
        session = await self._sessions.find(session_id, client.rights)
        while session is not None and session.is_over:
            session = await self._sessions.find(session_id, client.rights)
        if (
            session is None
            or role_in(session.facts, client.rights) is None
            or session.facts.agent != client.agent.name
        ):
            raise no_session(request.method, session_id)
        return session, read

    async def join(self, request: OpenRequest, params: Raw) -> None:
        """Follow a session, with its history if the client wants it."""
        client = self._client
        refuse_programs(client.agent.settings, request.method, object_of(params))
        session, read = await self.find(request, params)
        role = client.role_in(session.facts)
        if role is None or client.is_gone:
            return
        replays = request.method == "session/load" or read.get("replayFrom") is not None
        cursor = 0 if replays else session.last_put
        attachment = client.follow(session, role, cursor=cursor)
        attachment.after(session.last_put, partial(self._joined, request, session), must=True)

    def _joined(self, request: OpenRequest, session: HostedSession) -> None:
        state = session.state
        if state is not None:
            self._client.send(update_frame(session, state))
        opened = {key: one for key, one in session.facts.opened.items() if key != "sessionId"}
        request.answer(encode(opened))

    async def list(self, request: OpenRequest, params: Raw) -> None:
        """List the sessions that the client may see."""
        page = await self._sessions.list_sessions(self._client, to_python(params))
        request.answer(encode(page))

    async def rename(self, request: OpenRequest, params: Raw) -> None:
        """Give a session a title, which the agent does not change any more."""
        session, read = await self.find(request, params)
        require(self._client.role_in(session.facts), request.method)
        title = read.get("title")
        if (
            not isinstance(title, str)
            or not title.strip()
            or len(title) > TITLE_CHARACTERS_MAX
            or not title.isprintable()
        ):
            said = f"Expected one line of at most {TITLE_CHARACTERS_MAX} characters"
            raise RequestError.invalid_params(said, "$.title")
        session.rename(title.strip())
        await session.flush()
        request.answer(encode({"title": title.strip()}))

    async def close(self, request: OpenRequest, params: Raw) -> None:
        """Close or delete a session; who may not close it leaves it."""
        session, _ = await self.find(request, params)
        attachment = self._client.attachment(session.session_id)
        word = "deleted" if request.method == "session/delete" else "closed"
        role = self._client.role_in(session.facts)
        if word == "closed" and not includes(role, role_needed(request.method)):
            if attachment is not None:
                session.detach(attachment)
            request.answer(b"{}")
            return
        require(role, request.method)
        if attachment is not None:
            session.detach(attachment)
        session.end(f"{self._client.display_name} has {word} the session", word)
        await self._sessions.close(session, delete=word == "deleted")
        request.answer(b"{}")


def object_of(params: Raw) -> dict[str, Any]:
    """Return params that have to be an object.

    Raises:
        RequestError: they are none.
    """
    read = to_python(params)
    if not isinstance(read, dict):
        raise RequestError.invalid_params("Expected `object`", "$")
    return read


def no_session(method: str, session_id: str) -> RequestFailed:
    """Return the one answer about sessions that do not exist, or not for this client."""
    said = f"there is no session {session_id!r}"
    return RequestFailed(method, RESOURCE_NOT_FOUND, said, {"sessionId": session_id})
