"""One JSON-RPC conversation over one transport, in order, bounded and cancellable."""

from accord.connection.connection import Connection
from accord.connection.handler import Handler, IncomingRequest
from accord.connection.limits import Limits

__all__ = ["Connection", "Handler", "IncomingRequest", "Limits"]
