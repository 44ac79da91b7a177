"""The store of sessions: its interface, and an implementation in memory."""

from accord.store.interface import Page, SessionLog, SessionRecord, SessionStore
from accord.store.memory import MemoryStore

__all__ = ["MemoryStore", "Page", "SessionLog", "SessionRecord", "SessionStore"]
