"""Being a client: starting agents, talking to them, and serving what they ask for."""

from accord.client.client import Client
from accord.client.connection.capabilities import AgentCapabilities
from accord.client.connection.extensions import Extensions
from accord.client.connection.implementation import Implementation
from accord.client.people import (
    Author,
    Member,
    People,
    PeopleEvent,
    SessionPeople,
    author_of,
)
from accord.client.session.session import PromptTurn, Reply, Session
from accord.client.wire.wire_interface import AuthMethod, SessionInfo, SessionPage

__all__ = [
    "AgentCapabilities",
    "AuthMethod",
    "Author",
    "Client",
    "Extensions",
    "Implementation",
    "Member",
    "People",
    "PeopleEvent",
    "PromptTurn",
    "Reply",
    "Session",
    "SessionInfo",
    "SessionPage",
    "SessionPeople",
    "author_of",
]
