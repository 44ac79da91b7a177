"""The people of a session: who may do what, who is here, and who serves files and terminals.

What always holds
    * What somebody may do follows from the session's facts and from their own rights, and a change
      of it holds for their open connections at once.
    * The primary client may prompt, and serves what the agent was told, if anybody does both.  It
      does not change while that is so.
    * A join is told once for each person, and so is a leave, however many connections they have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from anyio.abc import TaskGroup

from accord.gateway.configuration.rights import Role, includes
from accord.gateway.sessions.attachment import Attachment, Client
from accord.gateway.sessions.log_events import MEMBERS, Put, body_of
from accord.gateway.sessions.people.presence import Presence
from accord.gateway.sessions.session_facts import SessionFacts

MEMBERS_MAX: Final = 200
"""People of one session besides its owner."""
NAME_CHARACTERS_MAX: Final = 256
"""The name of one of them."""

ROLE_OF_PRIMARY: Final[Role] = "editor"


class TooManyMembers(ValueError):
    """A session has as many members as it may have."""


class People:
    """Guards: `primary` is in `attachments`."""

    def __init__(
        self,
        facts: SessionFacts,
        put: Put,
        tasks: TaskGroup,
        *,
        needed: Callable[[], frozenset[str]],
        role_changed: Callable[[Attachment], None],
        changed: Callable[[], None],
        removed: Callable[[Attachment], None],
    ) -> None:
        """`needed` is what the agent was told that its client does for it."""
        self.attachments: list[Attachment] = []
        self.primary: Attachment | None = None
        self.presence = Presence(self._tell_presence, tasks)
        self._facts = facts
        self._put = put
        self._needed = needed
        self._role_changed = role_changed
        self._changed = changed
        self._removed = removed

    # ---- who is here

    def attachment_of(self, client: Client) -> Attachment | None:
        """Return how a client follows the session, if it does."""
        for attachment in self.attachments:
            if attachment.client is client:
                return attachment
        return None

    def add(self, attachment: Attachment) -> None:
        """Take in a client that begins to follow; the others hear of it."""
        is_first = not self._is_here(attachment.client.principal)
        self.attachments.append(attachment)
        if is_first:
            self._tell_presence(attachment, "join")
        self._choose_primary()

    def remove(self, attachment: Attachment) -> None:
        """Forget a client that follows no longer; the others hear of it."""
        self.attachments.remove(attachment)
        self.presence.left(attachment)
        if not self._is_here(attachment.client.principal):
            self._tell_presence(attachment, "leave")
        self._choose_primary()

    def _is_here(self, principal: str) -> bool:
        return any(one.client.principal == principal for one in self.attachments)

    def _choose_primary(self) -> None:
        old = self.primary
        may = [one for one in self.attachments if includes(one.role, ROLE_OF_PRIMARY)]
        needed = self._needed()
        fit = [one for one in may if one.client.services >= needed] or may
        if old in fit:
            return
        self.primary = fit[0] if fit else None
        if old is not None or len(self.attachments) > 1:
            user = None if self.primary is None else self.primary.client.principal
            self.tell_all("_accord.session/primary", {"user": user})

    # ---- who may do what

    def listed(self) -> list[dict[str, Any]]:
        """Return the members, which of them are here, and what they do."""
        found: dict[str, dict[str, Any]] = {}
        roles: dict[str, Role] = {self._facts.owner: "admin", **self._facts.members}
        for name, role in roles.items():
            found[name] = {"user": name, "role": role, "here": False}
        for attachment in self.attachments:
            client = attachment.client
            # Admins of the agent are here without being members.
            one = found.setdefault(client.principal, {"user": client.principal})
            one |= {"role": attachment.role, "here": True, "displayName": client.display_name}
            one["typing"] = one.get("typing", False) or attachment.is_typing
            one["focus"] = one.get("focus", False) or attachment.has_focus
        return list(found.values())

    def set_role(self, principal: str, role: Role | None) -> None:
        """Let somebody in, change what they may do, or (None) remove them.

        Raises:
            TooManyMembers: there are as many as there may be.
        """
        members = self._facts.members
        if role is None:
            members.pop(principal, None)
        elif principal not in members and len(members) >= MEMBERS_MAX:
            raise TooManyMembers(f"a session has {MEMBERS_MAX} members at most")
        else:
            members[principal] = role
        for attachment in list(self.attachments):
            if attachment.client.principal == principal:
                self._follow_role(attachment)
        self._changed()
        self._put(MEMBERS, body_of(members=self._roles()))

    def _follow_role(self, attachment: Attachment) -> None:
        role = attachment.client.role_in(self._facts)
        if role is None:
            self._removed(attachment)
        elif role != attachment.role:
            attachment.role = role
            self._role_changed(attachment)
            self._choose_primary()

    def _roles(self) -> list[dict[str, str]]:
        members = {self._facts.owner: "admin", **self._facts.members}
        return [{"user": name, "role": role} for name, role in members.items()]

    # ---- telling them

    def _tell_presence(self, attachment: Attachment, event: str) -> None:
        """Tell the others that somebody has come, gone, types or looks."""
        client = attachment.client
        said = {
            "sessionId": self._facts.session_id,
            "event": event,
            "user": client.principal,
            "displayName": client.display_name,
            "role": attachment.role,
        }
        for other in self.attachments:
            if other.client is not client:
                other.client.extension("_accord.session/presence", said, droppable=True)

    def tell_all(self, method: str, params: dict[str, Any]) -> None:
        """Send everybody who is here a notification of the gateway's own."""
        for attachment in self.attachments:
            attachment.client.extension(method, {"sessionId": self._facts.session_id, **params})
