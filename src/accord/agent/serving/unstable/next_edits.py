"""Suggestions of the next edit while the user types: what an agent registers for them.

The protocol had this for some months of 2026 and has dropped it; it is served only to those who
ask for it by `Agent(next_edits=True)`.  Types are those of v2, whatever version is spoken.

    @agent.on_suggest
    async def suggest(request: SuggestRequest) -> list[NesSuggestion]: ...
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from accord.errors import LocalProtocolError

if TYPE_CHECKING:
    from accord.schema.v2.next_edit import NesSuggestion, StartNesRequest, SuggestNesRequest

DocumentEvent = Literal["didOpen", "didChange", "didClose", "didSave", "didFocus"]
Context = Literal[
    "recentFiles", "relatedSnippets", "editHistory", "userActions", "openFiles", "diagnostics"
]
DOCUMENT_EVENTS = ("didOpen", "didChange", "didClose", "didSave", "didFocus")
BOUNDED_CONTEXTS = ("recentFiles", "editHistory", "userActions")
CONTEXTS = (*BOUNDED_CONTEXTS, "relatedSnippets", "openFiles", "diagnostics")
# Every side understands this one, and it counts where nothing was agreed.
DEFAULT_ENCODING = "utf-16"


@dataclass(frozen=True, slots=True)
class NextEditSession:
    """A session for suggestions.  `kinds` are those that the client can show."""

    id: str
    start: StartNesRequest
    position_encoding: str
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class SuggestRequest:
    """A place where a suggestion is wanted."""

    session: NextEditSession
    wanted: SuggestNesRequest


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a suggestion; a reason only where it was not taken."""

    session: NextEditSession
    suggestion_id: str
    accepted: bool
    reason: str | None = None


SuggestHandler = Callable[[SuggestRequest], Awaitable["Sequence[NesSuggestion]"]]
# Both are called in wire order and must not wait for anything.
DocumentHandler = Callable[[NextEditSession, Any], None]
SettledHandler = Callable[[Settled], None]


@dataclass(slots=True)
class NextEdits:
    """What an agent has registered.  Guards: a client is asked for nothing that nobody takes."""

    suggest: SuggestHandler | None = None
    settled: SettledHandler | None = None
    documents: dict[str, DocumentHandler] = field(default_factory=dict)
    sync_kind: str = "full"
    contexts: dict[str, int | None] = field(default_factory=dict)
    encodings: tuple[str, ...] = (DEFAULT_ENCODING,)

    def add_document(self, event: str, handler: DocumentHandler, sync_kind: str) -> None:
        """Take an event of documents."""
        if event not in DOCUMENT_EVENTS:
            raise LocalProtocolError(f"no such document event: {event!r}")
        if event == "didChange":
            self.sync_kind = sync_kind
        self.documents[event] = handler

    def want(self, context: str, max_count: int | None) -> None:
        """Ask for context with each request."""
        if context not in CONTEXTS:
            raise LocalProtocolError(f"no such context: {context!r}")
        if max_count is not None and context not in BOUNDED_CONTEXTS:
            raise LocalProtocolError(f"{context} has no bound")
        self.contexts[context] = max_count

    def use_encodings(self, encodings: Iterable[str]) -> None:
        """Understand other positions besides the default ones."""
        self.encodings = tuple(dict.fromkeys((*encodings, DEFAULT_ENCODING)))

    def offer(self) -> dict[str, Any]:
        """The capability `nes` as it is on the wire."""
        events: dict[str, Any] = {event: {} for event in self.documents}
        if "didChange" in events:
            events["didChange"] = {"syncKind": self.sync_kind}
        contexts = {
            name: {} if count is None else {"maxCount": count}
            for name, count in self.contexts.items()
        }
        offer: dict[str, Any] = {}
        if events:
            offer["events"] = {"document": events}
        if contexts:
            offer["context"] = contexts
        return offer
