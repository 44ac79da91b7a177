"""Accord: everything between a coding agent and the program a person sits in front of.

An agent      Agent  Turn  Choice  FormField
A client      Client  Session  PromptTurn  Reply  Update  Transcript
Permissions   Permissions  PermissionRequest  PermissionOption  Decision  Rule  Grants
Content       TextContent  ImageContent  AudioContent  ResourceLink  EmbeddedResource
Bounds        Limits
Errors        AccordError
                ProtocolError: LocalProtocolError  RemoteProtocolError  VersionMismatch
                RequestFailed: AuthenticationRequired  NotFound  MethodMissing
                               RequestCancelled  RateLimited
                ConnectionLost: LimitExceeded
                SpawnFailed
                RequestError, to be raised in a handler

`help(accord.Agent)` and its like say more; docs/ has tutorials, guides and a reference.

The public names are written out below.  Each is imported when it is first used: an editor starts
an agent many times a day, and an agent has no use for the client's half of the package.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from accord.version import __version__ as __version__

if TYPE_CHECKING:
    from accord.agent import Agent, Turn
    from accord.agent.elicitation import FormField
    from accord.agent.options import Choice
    from accord.client import Client, PromptTurn, Reply, Session
    from accord.client.asking import Decision, PermissionOption, PermissionRequest
    from accord.client.grants import Grants
    from accord.client.permissions import Permissions
    from accord.client.policy import Rule
    from accord.connection import Limits
    from accord.errors import (
        AccordError,
        AuthenticationRequired,
        ConnectionLost,
        LimitExceeded,
        LocalProtocolError,
        MethodMissing,
        NotFound,
        ProtocolError,
        RateLimited,
        RemoteProtocolError,
        RequestCancelled,
        RequestError,
        RequestFailed,
        SpawnFailed,
        VersionMismatch,
    )
    from accord.schema.v2 import (
        AudioContent,
        EmbeddedResource,
        ImageContent,
        ResourceLink,
        TextContent,
    )
    from accord.transcript import Transcript, Update

_PLACES = {
    "accord.agent": ("Agent", "Turn"),
    "accord.agent.elicitation": ("FormField",),
    "accord.agent.options": ("Choice",),
    "accord.client": ("Client", "PromptTurn", "Reply", "Session"),
    "accord.client.asking": ("Decision", "PermissionOption", "PermissionRequest"),
    "accord.client.grants": ("Grants",),
    "accord.client.permissions": ("Permissions",),
    "accord.client.policy": ("Rule",),
    "accord.connection": ("Limits",),
    "accord.errors": (
        "AccordError",
        "AuthenticationRequired",
        "ConnectionLost",
        "LimitExceeded",
        "LocalProtocolError",
        "MethodMissing",
        "NotFound",
        "ProtocolError",
        "RateLimited",
        "RemoteProtocolError",
        "RequestCancelled",
        "RequestError",
        "RequestFailed",
        "SpawnFailed",
        "VersionMismatch",
    ),
    "accord.schema.v2": (
        "AudioContent",
        "EmbeddedResource",
        "ImageContent",
        "ResourceLink",
        "TextContent",
    ),
    "accord.transcript": ("Transcript", "Update"),
}
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    place = _PLACE_OF.get(name)
    if place is None:
        raise AttributeError(f"module 'accord' has no attribute {name!r}")
    value: object = getattr(import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, imported or not, so that `help(accord)` and completion show them."""
    return sorted({*globals(), *__all__})


__all__ = [
    "AccordError",
    "Agent",
    "AudioContent",
    "AuthenticationRequired",
    "Choice",
    "Client",
    "ConnectionLost",
    "Decision",
    "EmbeddedResource",
    "FormField",
    "Grants",
    "ImageContent",
    "LimitExceeded",
    "Limits",
    "LocalProtocolError",
    "MethodMissing",
    "NotFound",
    "PermissionOption",
    "PermissionRequest",
    "Permissions",
    "PromptTurn",
    "ProtocolError",
    "RateLimited",
    "RemoteProtocolError",
    "Reply",
    "RequestCancelled",
    "RequestError",
    "RequestFailed",
    "ResourceLink",
    "Rule",
    "Session",
    "SpawnFailed",
    "TextContent",
    "Transcript",
    "Turn",
    "Update",
    "VersionMismatch",
]
