"""An engine in one SQLite file, for a gateway on one machine."""

from accord.gateway.engine.sqlite.engine import SqliteEngine

__all__ = ["SqliteEngine"]
