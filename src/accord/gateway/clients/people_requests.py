"""A client's requests about the people of a session, and what its user does there."""

from __future__ import annotations

from typing import Any, Final, Protocol

from accord.errors import RequestError
from accord.gateway.access.principal import Principal
from accord.gateway.clients.session_requests import (
    Following,
    Reply,
    SessionRequests,
    no_session,
    object_of,
)
from accord.gateway.configuration.rights import ROLES, Role
from accord.gateway.sessions.hosted_session import HostedSession
from accord.gateway.sessions.people.invites import (
    INVITE_SECONDS,
    INVITE_SECONDS_MAX,
    has_invite,
    make_invite,
    use_invite,
)
from accord.gateway.sessions.people.roles import require
from accord.gateway.sessions.people.session_people import NAME_CHARACTERS_MAX, TooManyMembers
from accord.machine import clock
from accord.proxy.hop import OpenRequest
from accord.schema.codec import encode
from accord.schema.struct import Raw

PRESENCE: Final = "_accord.session/presence"
"""A notification that the gateway understands."""


class Sessions(Protocol):
    """Stores who may do what."""

    async def store(self, session: HostedSession) -> None:
        """Store what is known of a session now."""
        ...


class Gateway(Protocol):
    """Finds sessions also for those who have a code for them."""

    @property
    def sessions(self) -> Sessions:
        """What stores the sessions."""
        ...

    async def find_invited(
        self, session_id: str, principal: Principal, code: str
    ) -> HostedSession | None:
        """Return a session that somebody may see, or join with a code."""
        ...


class PeopleRequests:
    """Answers them for one client."""

    def __init__(self, client: Following, requests: SessionRequests, gateway: Gateway) -> None:
        self._client = client
        self._requests = requests
        self._gateway = gateway

    def replies(self) -> dict[str, Reply]:
        """Return what answers each method."""
        return {
            "_accord.session/invite": self.invite,
            "_accord.session/join": self.join,
            "_accord.session/members": self.members,
            "_accord.session/remove": self.remove,
            "_accord.session/set_role": self.set_role,
        }

    def _answer(self, request: OpenRequest, session: HostedSession, **more: Any) -> None:
        client = self._client
        you = {
            "user": client.principal,
            "displayName": client.display_name,
            "role": client.role_in(session.facts),
        }
        who = {"members": session.people.listed(), "you": you, "turn": session.turns.author}
        request.answer(encode({**who, **more}))

    async def members(self, request: OpenRequest, params: Raw) -> None:
        """Answer who may do what, and who is here."""
        session, _ = await self._requests.find(request, params)
        self._answer(request, session)

    async def set_role(self, request: OpenRequest, params: Raw) -> None:
        """Let somebody in, or change what they may do."""
        session, read = await self._requests.find(request, params)
        require(self._client.role_in(session.facts), request.method)
        self._change(session, _user_in(read, session), _role_in(read))
        await self._store(session)
        self._answer(request, session)

    async def remove(self, request: OpenRequest, params: Raw) -> None:
        """Remove somebody; everybody may remove themselves."""
        session, read = await self._requests.find(request, params)
        user = _user_in(read, session)
        if user != self._client.principal:
            require(self._client.role_in(session.facts), request.method)
        self._change(session, user, None)
        await self._store(session)
        self._answer(request, session)

    async def invite(self, request: OpenRequest, params: Raw) -> None:
        """Make a code that lets one person in."""
        session, read = await self._requests.find(request, params)
        require(self._client.role_in(session.facts), request.method)
        seconds = read.get("seconds", INVITE_SECONDS)
        if not isinstance(seconds, int | float) or not 0 < seconds <= INVITE_SECONDS_MAX:
            said = f"Expected a number from 1 to {INVITE_SECONDS_MAX}"
            raise RequestError.invalid_params(said, "$.seconds")
        code, until = make_invite(session.facts, _role_in(read), seconds)
        await self._store(session)
        ends = clock.timestamp_of(until, "seconds")
        request.answer(encode({"code": code, "expiresAt": ends}))

    async def join(self, request: OpenRequest, params: Raw) -> None:
        """Become a member by a code."""
        read = object_of(params)
        session_id, code = read.get("sessionId"), read.get("code")
        if not isinstance(session_id, str) or not isinstance(code, str):
            raise RequestError.invalid_params("Expected `str`", "$.sessionId and $.code")
        client = self._client
        session = await self._gateway.find_invited(session_id, client.rights, code)
        if session is None or session.is_over or session.facts.agent != client.agent.name:
            raise no_session(request.method, session_id)
        if has_invite(session.facts, code):
            mine = client.role_in(session.facts)
            role = use_invite(session.facts, code, mine)
            if role != mine:
                self._change(session, client.principal, role)
            await self._store(session)
        self._answer(request, session, sessionId=session_id)

    async def _store(self, session: HostedSession) -> None:
        """Store a change before it is answered: one that was promised outlives a kill."""
        await session.flush()
        await self._gateway.sessions.store(session)

    def _change(self, session: HostedSession, user: str, role: Role | None) -> None:
        try:
            session.set_role(user, role)
        except TooManyMembers as error:
            raise RequestError.invalid_params(str(error), "$.user") from None


def _user_in(params: dict[str, Any], session: HostedSession) -> str:
    user = params.get("user")
    if not isinstance(user, str) or not 0 < len(user) <= NAME_CHARACTERS_MAX:
        said = f"Expected a name of at most {NAME_CHARACTERS_MAX} characters"
        raise RequestError.invalid_params(said, "$.user")
    if user == session.facts.owner:
        raise RequestError.invalid_params("the owner stays an admin", "$.user")
    return user


def _role_in(params: dict[str, Any]) -> Role:
    for role in ROLES:
        if params.get("role") == role:
            return role
    raise RequestError.invalid_params(f"Expected one of {', '.join(ROLES)}", "$.role")
