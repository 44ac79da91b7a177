"""Logging in and out.

Must not know: how a login is run; the agent does it, or a terminal the client opens.
"""

from typing import Literal, TypeAlias

from accord.schema.struct import ES, UNSET, E, Omit, Patch, UnstableStruct, WireStruct, Z

AuthMethodId: TypeAlias = str
AuthState: TypeAlias = Literal["authenticated", "unauthenticated", "not_required", "unknown"] | str


class AuthMethod(WireStruct, frozen=True, kw_only=True):
    """A way to log in.

    `type` "terminal": the client runs the agent's program again with `args` and `env` added.
    Any other type, and none: the agent does it when asked by `authenticate`.
    """

    type: E[Omit[Literal["terminal"] | str]] = UNSET
    id: AuthMethodId
    name: str
    description: E[Patch[str]] = UNSET
    args: Z[Omit[list[str]]] = UNSET
    env: Z[Omit[dict[str, str]]] = UNSET


class AuthenticateRequest(WireStruct, frozen=True, kw_only=True):
    """Log in by one of the advertised methods, not a terminal one."""

    method_id: AuthMethodId


class AuthenticateResponse(WireStruct, frozen=True, kw_only=True):
    """Empty: the login succeeded."""


class LogoutRequest(WireStruct, frozen=True, kw_only=True):
    """Ask the agent to forget its credentials."""


class LogoutResponse(WireStruct, frozen=True, kw_only=True):
    """The credentials are gone."""


class AuthAccount(UnstableStruct, frozen=True, kw_only=True):
    """An account, for display only; keep it out of logs."""

    label: str
    active: E[Patch[bool]] = UNSET
    name: E[Patch[str]] = UNSET
    email: E[Patch[str]] = UNSET
    organization: E[Patch[str]] = UNSET


class AuthStatusRequest(UnstableStruct, frozen=True, kw_only=True):
    """Ask whether a login is needed; changes nothing."""


class AuthStatusResponse(UnstableStruct, frozen=True, kw_only=True):
    """Whether a login is needed; a state that is not understood means unknown."""

    state: AuthState
    accounts: ES[Omit[list[AuthAccount]]] = UNSET


class AuthStatusUpdateNotification(UnstableStruct, frozen=True, kw_only=True):
    """The login state changed."""

    state: AuthState
    accounts: ES[Omit[list[AuthAccount]]] = UNSET
