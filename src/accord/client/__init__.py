"""Being a client: starting agents, talking to them, and serving what they ask for."""

from accord.client.capabilities import AgentCapabilities
from accord.client.client import Client
from accord.client.extensions import Extensions
from accord.client.handshake import Implementation
from accord.client.session import Session
from accord.client.turn import PromptTurn, Reply
from accord.client.wire import AuthMethod, SessionInfo, SessionPage

__all__ = [
    "AgentCapabilities",
    "AuthMethod",
    "Client",
    "Extensions",
    "Implementation",
    "PromptTurn",
    "Reply",
    "Session",
    "SessionInfo",
    "SessionPage",
]
