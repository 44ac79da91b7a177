"""Where sessions rest: one small interface, and the store that keeps them in memory."""

from accord.store.interface import Page, SessionLog, SessionRecord, SessionStore
from accord.store.memory import MemoryStore

__all__ = ["MemoryStore", "Page", "SessionLog", "SessionRecord", "SessionStore"]
