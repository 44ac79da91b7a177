"""Invitations to a session: a code lets one person in, with one role, for a while.

What always holds
    * A code works once, and is stored only as its hash.
    * It never takes anything from somebody who may do more already.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from typing import Any, Final

from accord.gateway.configuration.rights import Role, includes
from accord.gateway.sessions.session_facts import SessionFacts
from accord.machine import clock

INVITES_MAX: Final = 32
"""Open invitations of one session; the one that ends first makes room."""
INVITE_SECONDS: Final = 24 * 3600
INVITE_SECONDS_MAX: Final = 7 * 24 * 3600


def make_invite(
    facts: SessionFacts, role: Role, seconds: float, now: Callable[[], float] = clock.seconds
) -> tuple[str, float]:
    """Return a new code and when it ends, in seconds since 1970."""
    _forget_old(facts, now())
    while len(facts.invites) >= INVITES_MAX:
        del facts.invites[min(facts.invites, key=lambda one: facts.invites[one]["until"])]
    code = secrets.token_urlsafe(24)
    until = now() + min(seconds, INVITE_SECONDS_MAX)
    facts.invites[_hash(code)] = {"role": role, "until": until}
    return code, until


def has_invite(facts: SessionFacts, code: str, now: Callable[[], float] = clock.seconds) -> bool:
    """Whether a code is valid."""
    invite = facts.invites.get(_hash(code))
    return invite is not None and invite["until"] > now()


def use_invite(
    facts: SessionFacts, code: str, mine: Role | None, now: Callable[[], float] = clock.seconds
) -> Role | None:
    """Use a code up; return the role that somebody has then, None if it is not valid."""
    _forget_old(facts, now())
    invite: dict[str, Any] | None = facts.invites.pop(_hash(code), None)
    if invite is None:
        return None
    role: Role = invite["role"]
    return mine if mine is not None and includes(mine, role) else role


def _forget_old(facts: SessionFacts, now: float) -> None:
    for key in [key for key, one in facts.invites.items() if one["until"] <= now]:
        del facts.invites[key]


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()
