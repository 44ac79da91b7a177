"""Logging in and out, and asking who is logged in."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from accord.schema.struct import (
    ES,
    UNSET,
    E,
    Omit,
    Patch,
    UnknownVariant,
    UnstableStruct,
    WireStruct,
    Z,
)
from accord.schema.v2.identifiers import AuthMethodId
from accord.schema.v2.mcp import EnvVariable

AuthState: TypeAlias = Literal["authenticated", "unauthenticated", "not_required", "unknown"] | str


class AuthMethodAgent(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="agent"):
    """A login that the agent runs itself when `auth/login` names it."""

    method_id: AuthMethodId
    name: str
    description: E[Patch[str]] = UNSET


class AuthMethodTerminal(WireStruct, frozen=True, kw_only=True, tag_field="type", tag="terminal"):
    """A login in a terminal: the agent's own command with these arguments; never `auth/login`."""

    method_id: AuthMethodId
    name: str
    description: E[Patch[str]] = UNSET
    args: Z[Omit[list[str]]] = UNSET
    env: Z[Omit[list[EnvVariable]]] = UNSET


if TYPE_CHECKING:
    AuthMethod: TypeAlias = AuthMethodTerminal | AuthMethodAgent | UnknownVariant
else:
    AuthMethod = AuthMethodTerminal | AuthMethodAgent


class LoginAuthRequest(WireStruct, frozen=True, kw_only=True):
    """Log in by an advertised method that is not a terminal one."""

    method_id: AuthMethodId


class LoginAuthResponse(WireStruct, frozen=True, kw_only=True):
    """Empty: the login succeeded."""


class LogoutAuthRequest(WireStruct, frozen=True, kw_only=True):
    """Ask the agent to forget its credentials."""


class LogoutAuthResponse(WireStruct, frozen=True, kw_only=True):
    """Empty: the agent has forgotten the credentials."""


class AuthAccount(UnstableStruct, frozen=True, kw_only=True):
    """An account to show to the user; no key, and nothing for logs."""

    label: str
    active: E[Patch[bool]] = UNSET
    name: E[Patch[str]] = UNSET
    email: E[Patch[str]] = UNSET
    organization: E[Patch[str]] = UNSET


class AuthStatusRequest(UnstableStruct, frozen=True, kw_only=True):
    """Ask whether a login is needed; asking changes nothing."""


class AuthStatusResponse(UnstableStruct, frozen=True, kw_only=True):
    """The state to act on, and accounts to show."""

    state: AuthState
    accounts: ES[Omit[list[AuthAccount]]] = UNSET


class AuthStatusUpdateNotification(UnstableStruct, frozen=True, kw_only=True):
    """The answer that `auth/status` would give now has changed to this."""

    state: AuthState
    accounts: ES[Omit[list[AuthAccount]]] = UNSET
