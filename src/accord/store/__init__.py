"""The store of sessions: its interface, and an implementation in memory."""

from accord.store.memory import MemoryStore
from accord.store.session_store import Page, SessionLog, SessionRecord, SessionStore

__all__ = ["MemoryStore", "Page", "SessionLog", "SessionRecord", "SessionStore"]
