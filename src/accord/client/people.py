"""The people of a session that a gateway shares: who is here, who may do what, who wrote what.

A gateway tells only clients that say that they understand it.  `People` says so by an `Extensions`,
which the client is given.

Must not know: how a gateway works, beyond `docs/reference/extensions.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Protocol, TypeAlias, get_args

from accord.client.connection.extensions import Extensions
from accord.errors import AccordError
from accord.schema.codec import Invalid, to_python
from accord.transcript import Message

Role: TypeAlias = Literal["viewer", "editor", "admin"]
Activity: TypeAlias = Literal["typing", "idle", "focus", "blur"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)
AUTHOR_META: Final = "accord.author"
_PREFIX: Final = "_accord.session/"


class GatewayClient(Protocol):
    """The `Client` that the session belongs to, as far as it is needed here."""

    @property
    def extensions(self) -> frozenset[str]:
        """The extension methods that the other side advertises."""
        ...

    async def call_extension(self, method: str, params: object = None) -> Any:
        """Call a method beyond the protocol."""
        ...

    async def notify_extension(self, method: str, params: object = None) -> None:
        """Send a notification beyond the protocol."""
        ...


@dataclass(frozen=True, slots=True)
class Author:
    """The user who wrote a prompt."""

    user: str
    display_name: str


@dataclass(frozen=True, slots=True)
class Member:
    """One person of a session; `display_name` is known of those who are or were here."""

    user: str
    role: Role
    display_name: str = ""
    here: bool = False
    typing: bool = False
    focus: bool = False

    @property
    def name(self) -> str:
        """The name to show."""
        return self.display_name or self.user


@dataclass(frozen=True, slots=True)
class PeopleEvent:
    """Something that happened among the people of a session.

    `kind` is `join`, `leave`, `typing`, `idle`, `focus`, `blur`, `members` (roles have changed),
    `settled` (somebody has answered what several were asked), `primary` (somebody else serves files
    and terminals now), `turn` (the agent got a prompt of an agent of version 1, or is done with it)
    or `closed` (the session is over for us, for this `reason`).
    """

    session_id: str
    kind: str
    user: str = ""
    display_name: str = ""
    outcome: str = ""
    reason: str = ""

    @property
    def name(self) -> str:
        """The name to show."""
        return self.display_name or self.user


Hearer: TypeAlias = Callable[[PeopleEvent, Mapping[str, Any]], None]


class SessionPeople:
    """The people of one session, kept up to date by what the gateway tells."""

    def __init__(self, client: GatewayClient, session_id: str, hearers: dict[str, Hearer]) -> None:
        """Use `People.of`, which also passes on events."""
        hearers[session_id] = self._take
        self.session_id = session_id
        self.members: tuple[Member, ...] = ()
        """All who may see the session, those who are here and the others."""
        self.user = ""
        """The id of our own user."""
        self.primary: str | None = None
        """Whose client serves files and terminals, once the gateway has told a change."""
        self.turn: Author | None = None
        """The author of the running prompt; agents of version 2 report their state instead."""
        self.is_over = False
        """Whether the session is closed for us."""
        self._client = client

    @property
    def you(self) -> Member | None:
        """Our own entry among the members."""
        return next((one for one in self.members if one.user == self.user), None)

    @property
    def role(self) -> Role:
        """What we may do."""
        return "viewer" if self.you is None else self.you.role

    @property
    def may_prompt(self) -> bool:
        """Whether our role covers prompts."""
        return not self.is_over and self.role != "viewer"

    @property
    def others(self) -> tuple[Member, ...]:
        """The others who are here."""
        return tuple(one for one in self.members if one.here and one.user != self.user)

    async def refresh(self) -> None:
        """Ask the gateway who is here."""
        self._read(await self._call("members"))

    async def set_role(self, user: str, role: Role) -> None:
        """Let somebody in, or change what they may do; an admin may."""
        self._read(await self._call("set_role", user=user, role=role))

    async def remove(self, user: str) -> None:
        """Remove somebody; everybody may remove themselves, an admin others too."""
        self._read(await self._call("remove", user=user))

    async def invite(self, role: Role, *, seconds: float | None = None) -> str:
        """Make a code that lets one person in with this role; an admin may."""
        more = {} if seconds is None else {"seconds": seconds}
        answer = await self._call("invite", role=role, **more)
        return _text(answer, "code")

    async def tell(self, activity: Activity) -> None:
        """Tell the others what our user does."""
        params = {"sessionId": self.session_id, "event": activity}
        await self._client.notify_extension(f"{_PREFIX}presence", params)

    async def _call(self, name: str, **params: object) -> Mapping[str, Any]:
        asked = {"sessionId": self.session_id, **params}
        answer = await self._client.call_extension(f"{_PREFIX}{name}", asked)
        return answer if isinstance(answer, Mapping) else {}

    # ---- what the gateway tells

    def _read(self, answer: Mapping[str, Any]) -> None:
        self._read_members(answer)
        self.turn = _author(answer.get("turn"))
        you = answer.get("you")
        if isinstance(you, Mapping):
            self.user = _text(you, "user")

    def _read_members(self, answer: Mapping[str, Any]) -> None:
        listed = answer.get("members")
        names = {one.user: one.display_name for one in self.members}
        if isinstance(listed, list):
            self.members = tuple(_member(one, names) for one in listed if isinstance(one, Mapping))

    def _take(self, event: PeopleEvent, params: Mapping[str, Any]) -> None:
        match event.kind:
            case "members":
                self._read_members(params)
            case "primary":
                self.primary = event.user or None
            case "turn":
                self.turn = _author(params.get("turn"))
            case "closed":
                self.is_over, self.turn = True, None
            case "settled":
                pass
            case kind:
                self._change(event, kind, params)

    def _change(self, event: PeopleEvent, kind: str, params: Mapping[str, Any]) -> None:
        known = next((one for one in self.members if one.user == event.user), None)
        member = known or Member(event.user, _role(params))
        member = replace(member, display_name=event.display_name or member.display_name)
        if kind in ("join", "leave"):
            member = replace(member, here=kind == "join", typing=False, focus=False)
        elif kind in ("typing", "idle"):
            member = replace(member, typing=kind == "typing")
        elif kind in ("focus", "blur"):
            member = replace(member, focus=kind == "focus")
        rest = tuple(one for one in self.members if one is not known)
        at = len(rest) if known is None else self.members.index(known)
        self.members = (*rest[:at], member, *rest[at:])


class People:
    """Hears of a gateway who is in the sessions of one client.

    Give its `Extensions` to the client before it connects.
    """

    def __init__(
        self, extensions: Extensions, *, on_event: Callable[[PeopleEvent], object] | None = None
    ) -> None:
        """`on_event` is called with each event, after `SessionPeople` has taken it."""
        self._hearers: dict[str, Hearer] = {}
        self._on_event = on_event
        for name in ("closed", "members", "presence", "primary", "settled", "turn"):
            extensions.notification(f"{_PREFIX}{name}")(self._hears(name))

    def _hears(self, name: str) -> Callable[[dict[str, Any]], None]:
        def hear(params: dict[str, Any]) -> None:
            self._take(name, params)

        return hear

    def _take(self, name: str, params: dict[str, Any]) -> None:
        turn = params.get("turn")
        who = turn if isinstance(turn, Mapping) else params
        event = PeopleEvent(
            session_id=_text(params, "sessionId"),
            kind=_text(params, "event") if name == "presence" else name,
            user=_text(who, "by" if name == "settled" else "user"),
            display_name=_text(who, "displayName"),
            outcome=_text(params, "outcome"),
            reason=_text(params, "reason"),
        )
        hear = self._hearers.get(event.session_id)
        if hear is not None:
            hear(event, params)
        if self._on_event is not None:
            self._on_event(event)

    async def of(self, client: GatewayClient, session_id: str) -> SessionPeople | None:
        """Return the people of an open session; None if no gateway shares it.

        Only what was returned last for a session is kept up to date.
        """
        if f"{_PREFIX}members" not in client.extensions:
            return None
        people = SessionPeople(client, session_id, self._hearers)
        await people.refresh()
        return people

    async def join(self, client: GatewayClient, session_id: str, code: str) -> None:
        """Become a member of a session by a code; it can be loaded then.

        Raises:
            RequestFailed: there is no such session for this code.
        """
        if f"{_PREFIX}join" not in client.extensions:
            raise AccordError("the agent is not behind a gateway that shares sessions")
        params = {"sessionId": session_id, "code": code}
        await client.call_extension(f"{_PREFIX}join", params)


def author_of(message: Message) -> Author | None:
    """Return who wrote a prompt, if a gateway says it."""
    raw = message.meta.get(AUTHOR_META)
    if raw is None:
        return None
    try:
        return _author(to_python(raw))
    except Invalid:
        return None


def _author(read: object) -> Author | None:
    if not isinstance(read, Mapping):
        return None
    user = _text(read, "user")
    return Author(user, _text(read, "displayName") or user) if user else None


def _member(one: Mapping[str, Any], names: Mapping[str, str]) -> Member:
    user = _text(one, "user")
    return Member(
        user,
        _role(one),
        display_name=_text(one, "displayName") or names.get(user, ""),
        here=one.get("here") is True,
        typing=one.get("typing") is True,
        focus=one.get("focus") is True,
    )


def _role(one: Mapping[str, Any]) -> Role:
    for role in ROLES:
        if one.get("role") == role:
            return role
    return "viewer"


def _text(one: Mapping[str, Any], key: str) -> str:
    value = one.get(key)
    return value if isinstance(value, str) else ""


__all__ = ["Author", "Member", "People", "PeopleEvent", "SessionPeople", "author_of"]
